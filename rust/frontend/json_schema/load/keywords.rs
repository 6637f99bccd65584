//! The members of a schema object → typed keywords.

use std::rc::Rc;

use super::Loader;
use super::dialect::{Dialect, Draft};
use super::documents::{Place, Source};
use super::references::Reference;
use super::tree::{Json, Node, Tree};
use super::value::{Count, constant, count};
use super::words::Word;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::model::{Keyword, Named, Schema, Type, Types};
use crate::frontend::json_schema::number::Decimal;
use crate::frontend::suggest::closest;
use crate::index::SchemaId;

type Result<T> = std::result::Result<T, GrammarError>;

impl Loader<'_> {
    /// Types a schema.
    pub(super) fn read(&mut self, place: Place, scope: u32) -> Result<Schema> {
        let source = Rc::clone(self.documents.source(place.document));
        let pointer = self.documents.pointer(place);
        match source.tree.json(place.node) {
            Json::Bool(true) => return Ok(Schema { pointer, keywords: vec![] }),
            Json::Bool(false) => {
                return Ok(Schema { pointer, keywords: vec![(Keyword::False, "false")] });
            }
            Json::Object => {}
            _ => {
                let message = format!(
                    "a schema must be an object or a boolean, not {}",
                    source.tree.shown(place.node)
                );
                return Err(self.documents.error(GrammarErrorKind::Syntax, place, message));
            }
        }
        let resource = self.documents.resource_of(place);
        let dialect = self.documents.resource(resource).dialect;
        let mut members = std::mem::take(&mut self.members);
        members.clear();
        let siblings = Siblings::of(&source.tree, place.node, dialect, &mut members);
        let mut reader =
            Reader { loader: self, source: &source, place, resource, scope, dialect, siblings };
        let mut keywords = Vec::with_capacity(members.len());
        let mut last = vec![];
        let read = members.iter().try_for_each(|&(word, node)| {
            let to = match word {
                Word::UnevaluatedItems | Word::UnevaluatedProperties => &mut last,
                _ => &mut keywords,
            };
            reader.keyword(word, node, &mut |keyword| to.push((keyword, word.name())))
        });
        self.members = members;
        read?;
        keywords.append(&mut last);
        Ok(Schema { pointer, keywords })
    }
}

/// The keywords of one schema that count, by word.
pub(super) struct Siblings([Option<Node>; Word::COUNT]);

impl Siblings {
    /// Gathers a schema's keywords, also in order.
    pub(super) fn of(
        tree: &Tree,
        schema: Node,
        dialect: Dialect,
        members: &mut Vec<(Word, Node)>,
    ) -> Self {
        let mut siblings = Self([None; Word::COUNT]);
        for node in tree.children(schema) {
            if let Some(word) = Word::of(tree.name(node))
                && word.is_of(dialect)
            {
                members.push((word, node));
                siblings.0[word as usize] = Some(node);
            }
        }
        if dialect.refs_stand_alone()
            && let Some(node) = siblings.get(Word::Ref)
        {
            members.clear();
            members.push((Word::Ref, node));
            siblings = Self([None; Word::COUNT]);
            siblings.0[Word::Ref as usize] = Some(node);
        }
        siblings
    }

    pub(super) fn get(&self, word: Word) -> Option<Node> {
        self.0[word as usize]
    }

    /// Whether a keyword that is there says nothing because of those beside it.
    pub(super) fn silence(&self, word: Word, tree: &Tree) -> bool {
        let has = |word| self.get(word).is_some();
        match word {
            Word::Then | Word::Else => !has(Word::If),
            Word::MinContains | Word::MaxContains => !has(Word::Contains),
            Word::AdditionalItems => self.tuple(tree).is_none(),
            Word::ExclusiveMinimum if self.is_boolean(word, tree) => !has(Word::Minimum),
            Word::ExclusiveMaximum if self.is_boolean(word, tree) => !has(Word::Maximum),
            _ => false,
        }
    }

    fn is_boolean(&self, word: Word, tree: &Tree) -> bool {
        self.get(word).is_some_and(|node| matches!(tree.json(node), Json::Bool(_)))
    }

    /// `items` where it is an array.
    fn tuple(&self, tree: &Tree) -> Option<Node> {
        self.get(Word::Items).filter(|&node| tree.json(node) == Json::Array)
    }
}

struct Reader<'r, 'o> {
    loader: &'r mut Loader<'o>,
    source: &'r Source,
    place: Place,
    resource: u32,
    scope: u32,
    dialect: Dialect,
    siblings: Siblings,
}

impl Reader<'_, '_> {
    /// Gives what a member of the schema says.
    fn keyword(&mut self, word: Word, node: Node, give: &mut impl FnMut(Keyword)) -> Result<()> {
        give(match word {
            Word::Ref => Keyword::Ref(self.reference(word, node)?),
            Word::DynamicRef | Word::RecursiveRef => Keyword::Ref(self.reference(word, node)?),

            Word::Type => {
                let types = self.types(node)?;
                give(Keyword::Types(types));
                if types.integer && self.dialect.draft == Draft::D4 {
                    give(Keyword::PlainNumbers);
                }
                return Ok(());
            }
            Word::Enum => {
                self.expect(word, node, "an array", |json| json == Json::Array)?;
                let tree = &self.source.tree;
                let values = tree.children(node).map(|value| self.constant(value));
                Keyword::Enum(values.collect::<Result<_>>()?)
            }
            Word::Const => Keyword::Enum(Rc::new([self.constant(node)?])),

            Word::Minimum => {
                let exclusive = self.excludes(Word::ExclusiveMinimum);
                Keyword::Minimum { bound: self.number(word, node)?, exclusive }
            }
            Word::Maximum => {
                let exclusive = self.excludes(Word::ExclusiveMaximum);
                Keyword::Maximum { bound: self.number(word, node)?, exclusive }
            }
            Word::ExclusiveMinimum | Word::ExclusiveMaximum => {
                let Some(bound) = self.exclusive_bound(word, node)? else { return Ok(()) };
                if word == Word::ExclusiveMinimum {
                    Keyword::Minimum { bound, exclusive: true }
                } else {
                    Keyword::Maximum { bound, exclusive: true }
                }
            }
            Word::MultipleOf => {
                let step = self.number(word, node)?;
                if step <= Decimal::from(0) {
                    return Err(self.wrong(word, node, "a number greater than 0"));
                }
                Keyword::MultipleOf(step)
            }

            Word::MinLength => Keyword::MinLength(self.count(word, node)?),
            Word::MaxLength => Keyword::MaxLength(self.count(word, node)?),
            Word::Pattern => Keyword::Pattern(self.string(word, node)?.into()),
            Word::Format => Keyword::Format(self.string(word, node)?.into()),

            Word::Properties => Keyword::Properties(self.named(word, node)?),
            Word::PatternProperties => Keyword::PatternProperties(self.named(word, node)?),
            Word::AdditionalProperties => {
                let mut known = |word| match self.siblings.get(word) {
                    Some(node) => self.named(word, node),
                    None => Ok(Rc::from([])),
                };
                let (names, patterns) = (known(Word::Properties)?, known(Word::PatternProperties)?);
                Keyword::AdditionalProperties { schema: self.child(node)?, names, patterns }
            }
            Word::PropertyNames => Keyword::PropertyNames(self.child(node)?),
            Word::Required => Keyword::Required(self.names(word, node)?),
            Word::MinProperties => Keyword::MinProperties(self.count(word, node)?),
            Word::MaxProperties => Keyword::MaxProperties(self.count(word, node)?),
            Word::DependentRequired => {
                self.expect(word, node, "an object", |json| json == Json::Object)?;
                let tree = &self.source.tree;
                let lists = tree.children(node);
                let lists = lists.map(|list| Ok((tree.name(list).into(), self.names(word, list)?)));
                Keyword::DependentRequired(lists.collect::<Result<_>>()?)
            }
            Word::DependentSchemas => Keyword::DependentSchemas(self.named(word, node)?),
            Word::Dependencies => return self.dependencies(word, node, give),
            Word::UnevaluatedProperties => Keyword::UnevaluatedProperties(self.child(node)?),

            Word::PrefixItems => Keyword::PrefixItems(self.schemas(word, node)?),
            Word::Items => self.items(word, node)?,
            Word::AdditionalItems => match self.siblings.tuple(&self.source.tree) {
                Some(tuple) => {
                    let from = self.source.tree.children(tuple).count();
                    Keyword::Items { from, schema: self.child(node)? }
                }
                None => return Ok(()),
            },
            Word::Contains => {
                let bound =
                    |word| self.siblings.get(word).map(|node| self.count(word, node)).transpose();
                let (min, max) = (bound(Word::MinContains)?, bound(Word::MaxContains)?);
                Keyword::Contains {
                    schema: self.child(node)?,
                    min: min.unwrap_or(1),
                    max,
                    evaluates: self.dialect.draft != Draft::D2019,
                }
            }
            Word::MinItems => Keyword::MinItems(self.count(word, node)?),
            Word::MaxItems => Keyword::MaxItems(self.count(word, node)?),
            Word::UniqueItems => match self.source.tree.json(node) {
                Json::Bool(true) => Keyword::UniqueItems,
                Json::Bool(false) => return Ok(()),
                _ => return Err(self.wrong(word, node, "true or false")),
            },
            Word::UnevaluatedItems => Keyword::UnevaluatedItems(self.child(node)?),

            Word::AllOf => Keyword::AllOf(self.schemas(word, node)?),
            Word::AnyOf => Keyword::AnyOf(self.schemas(word, node)?),
            Word::OneOf => Keyword::OneOf(self.schemas(word, node)?),
            Word::Not => Keyword::Not(self.child(node)?),
            Word::If => {
                let condition = self.child(node)?;
                let mut branch =
                    |word| self.siblings.get(word).map(|node| self.child(node)).transpose();
                let (then, otherwise) = (branch(Word::Then)?, branch(Word::Else)?);
                Keyword::If { condition, then, otherwise }
            }

            // Said with another keyword, or about the schema, or for people.
            Word::Then
            | Word::Else
            | Word::MinContains
            | Word::MaxContains
            | Word::Schema
            | Word::Id
            | Word::OldId
            | Word::Anchor
            | Word::DynamicAnchor
            | Word::RecursiveAnchor
            | Word::Vocabulary
            | Word::Comment
            | Word::Defs
            | Word::Definitions
            | Word::ContentSchema
            | Word::ContentEncoding
            | Word::ContentMediaType
            | Word::Title
            | Word::Description
            | Word::Default
            | Word::Examples
            | Word::ReadOnly
            | Word::WriteOnly
            | Word::Deprecated => return Ok(()),
        });
        Ok(())
    }

    fn at(&self, node: Node) -> Place {
        Place { node, ..self.place }
    }

    /// The error for a value of the wrong kind.
    fn wrong(&self, word: Word, node: Node, must: &str) -> GrammarError {
        let shown = self.source.tree.shown(node);
        let message = format!("`{}` must be {must}, not {shown}", word.name());
        self.loader.documents.error(GrammarErrorKind::Syntax, self.at(node), message)
    }

    fn expect(
        &self,
        word: Word,
        node: Node,
        must: &str,
        is: impl Fn(Json<'_>) -> bool,
    ) -> Result<()> {
        if is(self.source.tree.json(node)) { Ok(()) } else { Err(self.wrong(word, node, must)) }
    }

    /// A sub-schema.
    fn child(&mut self, node: Node) -> Result<SchemaId> {
        let place = self.at(node);
        self.loader.enter(place, self.scope)
    }

    fn schemas(&mut self, word: Word, node: Node) -> Result<Rc<[SchemaId]>> {
        self.expect(word, node, "an array of schemas", |json| json == Json::Array)?;
        let source = self.source;
        source.tree.children(node).map(|schema| self.child(schema)).collect()
    }

    fn named(&mut self, word: Word, node: Node) -> Result<Named> {
        self.expect(word, node, "an object whose members are schemas", |json| {
            json == Json::Object
        })?;
        let tree = &self.source.tree;
        let schemas = tree.children(node);
        schemas.map(|schema| Ok((tree.name(schema).into(), self.child(schema)?))).collect()
    }

    fn reference(&mut self, word: Word, node: Node) -> Result<SchemaId> {
        let source = self.source;
        let Some(text) = source.tree.string(node) else {
            return Err(self.wrong(word, node, "a URI reference"));
        };
        let (resource, scope) = (self.resource, self.scope);
        let reference = Reference { place: self.at(node), text, resource, scope };
        match word {
            Word::DynamicRef => self.loader.dynamic(reference),
            Word::RecursiveRef => self.loader.recursive(reference),
            _ => self.loader.reference(reference),
        }
    }

    fn string(&self, word: Word, node: Node) -> Result<&str> {
        self.source.tree.string(node).ok_or_else(|| self.wrong(word, node, "a string"))
    }

    fn constant(&self, node: Node) -> Result<crate::frontend::json_schema::model::Value> {
        constant(&self.source.tree, node).ok_or_else(|| {
            let message = "a number in this value is too large or too small";
            self.loader.documents.error(GrammarErrorKind::Limit, self.at(node), message)
        })
    }

    fn number(&self, word: Word, node: Node) -> Result<Decimal> {
        let Json::Number(text) = self.source.tree.json(node) else {
            return Err(self.wrong(word, node, "a number"));
        };
        Decimal::parse(text).map_err(|_| {
            let message = format!("`{}` is a number too large or too small", word.name());
            self.loader.documents.error(GrammarErrorKind::Limit, self.at(node), message)
        })
    }

    fn count(&self, word: Word, node: Node) -> Result<u64> {
        if let Json::Number(text) = self.source.tree.json(node)
            && let Count::Of(value) = count(text)
        {
            return Ok(value);
        }
        Err(self.wrong(word, node, "a non-negative integer"))
    }

    fn names(&self, word: Word, node: Node) -> Result<Rc<[Rc<str>]>> {
        let tree = &self.source.tree;
        if word == Word::Required && matches!(tree.json(node), Json::Bool(_)) {
            return Err(self.wrong(word, node, "an array of names").with_hint(
                "say in the schema of the object which of its properties are required",
            ));
        }
        self.expect(word, node, "an array of names", |json| json == Json::Array)?;
        let names = tree.children(node).map(|name| match tree.string(name) {
            Some(text) => Ok(text.into()),
            None => Err(self.wrong(word, name, "an array of names, all of them strings")),
        });
        names.collect()
    }

    fn types(&self, node: Node) -> Result<Types> {
        let mut types = Types { types: 0, integer: false };
        let tree = &self.source.tree;
        if tree.json(node) == Json::Array {
            for name in tree.children(node) {
                self.add_type(name, &mut types)?;
            }
            if types.types == 0 && !types.integer {
                let message = "`type` must list a type at least";
                let error =
                    self.loader.documents.error(GrammarErrorKind::Syntax, self.at(node), message);
                return Err(error.with_hint("leave `type` out where any type will do"));
            }
        } else {
            self.add_type(node, &mut types)?;
        }
        types.integer &= !types.contains(Type::Number);
        Ok(types)
    }

    fn add_type(&self, node: Node, types: &mut Types) -> Result<()> {
        let kind = match self.source.tree.json(node) {
            Json::String("null") => Type::Null,
            Json::String("boolean") => Type::Boolean,
            Json::String("number") => Type::Number,
            Json::String("string") => Type::String,
            Json::String("array") => Type::Array,
            Json::String("object") => Type::Object,
            Json::String("integer") => {
                types.integer = true;
                return Ok(());
            }
            json => return Err(self.unknown_type(node, json)),
        };
        types.types |= 1 << kind as u8;
        Ok(())
    }

    fn unknown_type(&self, node: Node, json: Json<'_>) -> GrammarError {
        const KNOWN: [&str; 7] =
            ["null", "boolean", "number", "integer", "string", "array", "object"];
        let shown = self.source.tree.shown(node);
        let Json::String(name) = json else {
            let error = self.wrong(Word::Type, node, "the name of a type or an array of names");
            let hint = match json {
                Json::Null => "did you mean \"null\"?",
                _ => "alternative schemas stand in `anyOf`",
            };
            return error.with_hint(hint);
        };
        let message = format!("unknown type {shown}");
        let error = self.loader.documents.error(GrammarErrorKind::Syntax, self.at(node), message);
        let near = match name {
            "any" => return error.with_hint("leave `type` out where any type will do"),
            "int" | "long" => Some("integer"),
            "float" | "double" | "decimal" => Some("number"),
            "bool" => Some("boolean"),
            "str" | "text" | "date" => Some("string"),
            "list" | "tuple" | "set" => Some("array"),
            "dict" | "map" | "struct" => Some("object"),
            "none" | "None" | "nil" => Some("null"),
            name => closest(name, KNOWN),
        };
        error.with_hint(match near {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("the types are {}", KNOWN.join(", ")),
        })
    }

    /// Whether booleans are taken beside a bound to exclude it.
    fn takes_boolean_bounds(&self) -> bool {
        self.dialect.draft == Draft::D4 || self.dialect.any
    }

    fn excludes(&self, word: Word) -> bool {
        self.takes_boolean_bounds()
            && self
                .siblings
                .get(word)
                .is_some_and(|node| self.source.tree.json(node) == Json::Bool(true))
    }

    /// An exclusive bound that is a number.
    fn exclusive_bound(&self, word: Word, node: Node) -> Result<Option<Decimal>> {
        let is_boolean = matches!(self.source.tree.json(node), Json::Bool(_));
        if is_boolean && self.takes_boolean_bounds() {
            return Ok(None);
        }
        if self.dialect.draft == Draft::D4 {
            let error = self.wrong(word, node, "true or false");
            return Err(error.with_hint("it is a number from draft 6 on: change `$schema`"));
        }
        if is_boolean {
            let error = self.wrong(word, node, "a number");
            return Err(error.with_hint("it is a boolean in draft 4 only"));
        }
        self.number(word, node).map(Some)
    }

    fn dependencies(
        &mut self,
        word: Word,
        node: Node,
        give: &mut impl FnMut(Keyword),
    ) -> Result<()> {
        self.expect(word, node, "an object", |json| json == Json::Object)?;
        let tree = &self.source.tree;
        let (mut required, mut schemas) = (vec![], vec![]);
        for member in tree.children(node) {
            let name = tree.name(member).into();
            if tree.json(member) == Json::Array {
                required.push((name, self.names(word, member)?));
            } else {
                schemas.push((name, self.child(member)?));
            }
        }
        if !required.is_empty() {
            give(Keyword::DependentRequired(required.into()));
        }
        if !schemas.is_empty() {
            give(Keyword::DependentSchemas(schemas.into()));
        }
        Ok(())
    }

    fn items(&mut self, word: Word, node: Node) -> Result<Keyword> {
        let tree = &self.source.tree;
        let prefix = self.siblings.get(Word::PrefixItems);
        if tree.json(node) != Json::Array {
            let from = prefix.map_or(0, |prefix| tree.children(prefix).count());
            return Ok(Keyword::Items { from, schema: self.child(node)? });
        }
        if (self.dialect.draft == Draft::D2020 && !self.dialect.any) || prefix.is_some() {
            return Err(self
                .wrong(word, node, "a schema")
                .with_hint("schemas for the first items stand in `prefixItems`"));
        }
        Ok(Keyword::PrefixItems(self.schemas(word, node)?))
    }
}
