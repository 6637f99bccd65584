//! Whether what stands in a schema is of the right kind, as the drafts' metaschemas have it.
//!
//! A schema is checked with all schemas in it, also those that nothing refers to, before it is
//! typed; so the readers of keywords need no errors of their own. All that is wrong is told at
//! once. What is not a keyword of the schema's draft is not looked at.
//!
//! More is taken than the metaschemas take where the meaning is plain: names listed twice or not at
//! all, an empty `enum`, and without a draft the older forms of a keyword.

use std::fmt::Write;

use super::dialect::{Dialect, Draft};
use super::documents::{Documents, Place};
use super::tree::{Json, Node, Tree};
use super::value::{Count, count};
use super::words::{Takes, Word};
use crate::error::{GrammarError, GrammarErrorKind, shortened};
use crate::frontend::suggest::closest;

/// How many faults are told; the others are counted.
const MAX_TOLD: usize = 20;

impl Documents<'_> {
    /// Checks a schema and all those in it.
    pub(super) fn check(&mut self, from: Place) -> Result<(), GrammarError> {
        if self.is_checked(from) {
            return Ok(());
        }
        let dialect = self.resource(self.resource_of(from)).dialect;
        let mut checked = self.take_checked(from.document);
        let mut checker =
            Checker { tree: &self.source(from.document).tree, told: vec![], untold: 0 };
        let mut open = vec![(from.node, dialect)];
        while let Some((node, outer)) = open.pop() {
            if std::mem::replace(&mut checked[node.0 as usize], true) {
                continue;
            }
            let start = open.len();
            let dialect = self.dialect_at(Place { node, ..from }).unwrap_or(outer);
            checker.schema(node, dialect, &mut |child| open.push((child, dialect)));
            // In the document's order.
            open[start..].reverse();
        }
        let Checker { mut told, untold, .. } = checker;
        self.keep_checked(from.document, checked);
        told.sort_by_key(|fault| fault.node);
        let Some(first) = told.first() else { return Ok(()) };
        let place = |fault: &Fault| Place { node: fault.node, ..from };
        if told.len() == 1 {
            let error = self.error(GrammarErrorKind::Syntax, place(first), &*first.message);
            return Err(match &first.hint {
                Some(hint) => error.with_hint(hint),
                None => error,
            });
        }
        let mut message = String::from("the schema has values of the wrong kind:");
        for fault in &told {
            let pointer = self.pointer(place(fault)).to_string();
            // Writing to a string does not fail.
            let _ = write!(message, "\n  {}: {}", shortened(&pointer), fault.message);
            if let Some(hint) = &fault.hint {
                let _ = write!(message, " ({hint})");
            }
        }
        if untold > 0 {
            let _ = write!(message, "\n  and {untold} more");
        }
        Err(self.error(GrammarErrorKind::Syntax, place(first), message))
    }
}

/// Gives the schemas in a keyword's value, where they are ones.
pub(super) fn for_each_schema(tree: &Tree, word: Word, value: Node, mut give: impl FnMut(Node)) {
    let json = tree.json(value);
    match word.takes() {
        Takes::Schema | Takes::SchemaOrFlag => give(value),
        Takes::SchemaOrSchemas if json != Json::Array => give(value),
        Takes::Schemas | Takes::SchemaOrSchemas if json == Json::Array => {
            tree.children(value).for_each(give);
        }
        Takes::Members if json == Json::Object => tree.children(value).for_each(give),
        Takes::SchemasOrNames if json == Json::Object => {
            tree.children(value).filter(|&member| tree.json(member) != Json::Array).for_each(give);
        }
        _ => {}
    }
}

/// A value of the wrong kind.
struct Fault {
    node: Node,
    message: String,
    hint: Option<String>,
}

struct Checker<'t> {
    tree: &'t Tree,
    told: Vec<Fault>,
    untold: usize,
}

impl Checker<'_> {
    /// Checks the keywords of a schema, and gives the schemas in it.
    fn schema(&mut self, schema: Node, dialect: Dialect, give: &mut impl FnMut(Node)) {
        let tree = self.tree;
        match tree.json(schema) {
            Json::Object => {}
            Json::Bool(_) => return,
            _ => {
                return self.fault(schema, "", |v| {
                    format!("a schema must be an object or a boolean, not {v}")
                });
            }
        }
        if dialect.refs_stand_alone()
            && let Some(reference) = tree.get(schema, Word::Ref.name())
        {
            return self.keyword(Word::Ref, reference, schema, dialect);
        }
        for value in tree.children(schema) {
            let Some(word) = Word::of(tree.name(value)).filter(|word| word.is_of(dialect)) else {
                continue;
            };
            self.keyword(word, value, schema, dialect);
            let flags = dialect.draft > Draft::D4 || word.takes() == Takes::SchemaOrFlag;
            for_each_schema(tree, word, value, |child| {
                if !flags && matches!(tree.json(child), Json::Bool(_)) {
                    let hint = "change `$schema`: booleans are schemas from draft 6 on";
                    self.fault(child, hint, |shown| {
                        format!("a schema of draft 4 must be an object, not {shown}")
                    });
                }
                give(child);
            });
        }
    }

    /// Checks a keyword's value, but not the schemas in it.
    fn keyword(&mut self, word: Word, value: Node, schema: Node, dialect: Dialect) {
        let tree = self.tree;
        let json = tree.json(value);
        match (word.takes(), json) {
            (Takes::Value | Takes::Schema | Takes::SchemaOrFlag, _)
            | (Takes::Flag, Json::Bool(_))
            | (Takes::Number, Json::Number(_))
            | (Takes::Values, Json::Array)
            | (Takes::Members, Json::Object)
            | (Takes::Text | Takes::Uri, Json::String(_)) => {}
            // Without a draft this may be anything.
            (Takes::Uri, _) if word == Word::OldId && dialect.any => {}
            (Takes::Uri, _) => self.wrong(word, value, "a URI reference", ""),
            (Takes::Text, _) => self.wrong(word, value, "a string", ""),
            (Takes::Flag, _) => self.wrong(word, value, "true or false", ""),
            (Takes::Number, _) => self.wrong(word, value, "a number", ""),
            (Takes::Values, _) => self.wrong(word, value, "an array", ""),
            (Takes::Anchor, Json::String(name)) if is_anchor(name, dialect) => {}
            (Takes::Anchor, _) => self.wrong(
                word,
                value,
                "a name of letters, digits, `-`, `_` and `.` that begins with a letter",
                "",
            ),
            (Takes::Count, Json::Number(text)) if matches!(count(text), Count::Of(_)) => {}
            (Takes::Count, _) => self.wrong(word, value, "a non-negative integer", ""),
            (Takes::Step, Json::Number(text)) if is_positive(text) => {}
            (Takes::Step, _) => self.wrong(word, value, "a number greater than 0", ""),
            (Takes::Flags, Json::Object) => {
                for member in tree.children(value) {
                    if !matches!(tree.json(member), Json::Bool(_)) {
                        self.wrong(word, member, "an object whose members are true or false", "");
                    }
                }
            }
            (Takes::Flags, _) => {
                self.wrong(word, value, "an object whose members are true or false", "");
            }
            (Takes::Types, _) => self.types(value),
            (Takes::Names, _) => self.names(word, value),
            (Takes::NameLists, Json::Object) => {
                tree.children(value).for_each(|list| self.names(word, list));
            }
            (Takes::SchemasOrNames, Json::Object) => {
                let lists = tree.children(value).filter(|&list| tree.json(list) == Json::Array);
                lists.for_each(|list| self.names(word, list));
            }
            (Takes::NameLists | Takes::SchemasOrNames, _) => {
                self.wrong(word, value, "an object", "");
            }
            (Takes::Members, _) => {
                self.wrong(word, value, "an object whose members are schemas", "");
            }
            (Takes::SchemaOrSchemas, Json::Array) => {
                let alone = dialect.draft == Draft::D2020 && !dialect.any;
                if alone || tree.get(schema, Word::PrefixItems.name()).is_some() {
                    let hint = "schemas for the first items stand in `prefixItems`";
                    self.wrong(word, value, "a schema", hint);
                }
            }
            (Takes::SchemaOrSchemas, _) => {}
            (Takes::Schemas, Json::Array) => {
                if tree.children(value).next().is_none() {
                    let name = word.name();
                    self.fault(value, "leave it out where it says nothing", |_| {
                        format!("`{name}` must list a schema at least")
                    });
                }
            }
            (Takes::Schemas, _) => self.wrong(word, value, "an array of schemas", ""),
            (Takes::Bound, _) => self.bound(word, value, dialect),
        }
    }

    /// An exclusive bound: a number, in draft 4 a boolean.
    fn bound(&mut self, word: Word, value: Node, dialect: Dialect) {
        let (must, hint) = match self.tree.json(value) {
            Json::Bool(_) if dialect.draft == Draft::D4 || dialect.any => return,
            Json::Bool(_) => ("a number", "it is a boolean in draft 4 only"),
            _ if dialect.draft == Draft::D4 => {
                ("true or false", "it is a number from draft 6 on: change `$schema`")
            }
            Json::Number(_) => return,
            _ => ("a number", ""),
        };
        self.wrong(word, value, must, hint);
    }

    fn names(&mut self, word: Word, list: Node) {
        let tree = self.tree;
        match tree.json(list) {
            Json::Array => {
                for name in tree.children(list) {
                    if tree.string(name).is_none() {
                        self.wrong(word, name, "an array of names, all of them strings", "");
                    }
                }
            }
            Json::Bool(_) if word == Word::Required => {
                let hint = "say in the schema of the object which of its properties are required";
                self.wrong(word, list, "an array of names", hint);
            }
            _ => self.wrong(word, list, "an array of names", ""),
        }
    }

    fn types(&mut self, value: Node) {
        let tree = self.tree;
        if tree.json(value) != Json::Array {
            return self.type_name(value);
        }
        tree.children(value).for_each(|name| self.type_name(name));
        if tree.children(value).next().is_none() {
            self.fault(value, "leave `type` out where any type will do", |_| {
                "`type` must list a type at least".to_owned()
            });
        }
    }

    fn type_name(&mut self, node: Node) {
        const KNOWN: [&str; 7] =
            ["null", "boolean", "number", "integer", "string", "array", "object"];
        let name = match self.tree.json(node) {
            Json::String(name) if KNOWN.contains(&name) => return,
            Json::String(name) => name,
            json => {
                let hint = match json {
                    Json::Null => "did you mean \"null\"?",
                    _ => "alternative schemas stand in `anyOf`",
                };
                let must = "the name of a type or an array of names";
                return self.wrong(Word::Type, node, must, hint);
            }
        };
        let hint = if self.told.len() < MAX_TOLD { type_hint(name, KNOWN) } else { String::new() };
        self.fault(node, &hint, |shown| format!("unknown type {shown}"));
    }

    fn wrong(&mut self, word: Word, node: Node, must: &str, hint: &str) {
        let name = word.name();
        self.fault(node, hint, |shown| format!("`{name}` must be {must}, not {shown}"));
    }

    /// Notes a fault; the message is made from the value.
    fn fault(&mut self, node: Node, hint: &str, message: impl FnOnce(&str) -> String) {
        if self.told.len() == MAX_TOLD {
            self.untold += 1;
            return;
        }
        let message = message(&self.tree.shown(node));
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        self.told.push(Fault { node, message, hint });
    }
}

/// What was meant by the name of a type that is none.
fn type_hint(name: &str, known: [&str; 7]) -> String {
    let near = match name {
        "any" => return "leave `type` out where any type will do".to_owned(),
        "int" | "long" => Some("integer"),
        "float" | "double" | "decimal" => Some("number"),
        "bool" => Some("boolean"),
        "str" | "text" | "date" => Some("string"),
        "list" | "tuple" | "set" => Some("array"),
        "dict" | "map" | "struct" => Some("object"),
        "none" | "None" | "nil" => Some("null"),
        name => closest(name, known),
    };
    match near {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("the types are {}", known.join(", ")),
    }
}

/// Whether a JSON number is greater than 0; also one too large to calculate with.
fn is_positive(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    !mantissa.starts_with('-') && mantissa.bytes().any(|digit| matches!(digit, b'1'..=b'9'))
}

/// Whether a draft takes a name for an anchor.
fn is_anchor(name: &str, dialect: Dialect) -> bool {
    let latest = dialect.draft == Draft::D2020;
    let colons = dialect.any || !latest;
    name.bytes().enumerate().all(|(at, byte)| match byte {
        b'A'..=b'Z' | b'a'..=b'z' => true,
        b'_' => at > 0 || latest,
        b'0'..=b'9' | b'-' | b'.' => at > 0,
        b':' => at > 0 && colons,
        _ => false,
    }) && !name.is_empty()
}
