//! Keywords for values as a whole, for numbers and for strings, and the counts of the others.

use std::rc::Rc;

use super::{Reader, Result};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::load::dialect::Draft;
use crate::frontend::json_schema::load::tree::{Json, Node};
use crate::frontend::json_schema::load::value::{Count, constant, count};
use crate::frontend::json_schema::load::words::Word;
use crate::frontend::json_schema::model::{Keyword, Type, Types, Value};
use crate::frontend::json_schema::number::Decimal;
use crate::frontend::suggest::closest;

impl Reader<'_, '_> {
    /// What a keyword says, if it is one of these.
    pub(super) fn value(&self, word: Word, node: Node) -> Result<Option<Keyword>> {
        Ok(Some(match word {
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
                let Some(bound) = self.exclusive_bound(word, node)? else { return Ok(None) };
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
            _ => return Ok(None),
        }))
    }

    fn constant(&self, node: Node) -> Result<Value> {
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

    pub(super) fn count(&self, word: Word, node: Node) -> Result<u64> {
        if let Json::Number(text) = self.source.tree.json(node)
            && let Count::Of(value) = count(text)
        {
            return Ok(value);
        }
        Err(self.wrong(word, node, "a non-negative integer"))
    }

    pub(super) fn types(&self, node: Node, give: &mut impl FnMut(Keyword)) -> Result<()> {
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
        give(Keyword::Types(types));
        if types.integer && self.dialect.draft == Draft::D4 {
            give(Keyword::PlainNumbers);
        }
        Ok(())
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

    fn string(&self, word: Word, node: Node) -> Result<&str> {
        self.source.tree.string(node).ok_or_else(|| self.wrong(word, node, "a string"))
    }
}
