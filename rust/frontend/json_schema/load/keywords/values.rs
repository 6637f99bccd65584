//! Keywords for values as a whole, for numbers and for strings, and the counts of the others.

use std::rc::Rc;

use super::{Reader, Result};
use crate::error::GrammarError;
use crate::frontend::json_schema::load::dialect::Draft;
use crate::frontend::json_schema::load::tree::{Json, Node};
use crate::frontend::json_schema::load::value::{Count, constant, count, number};

use crate::frontend::json_schema::limits::Limit;
use crate::frontend::json_schema::load::words::Word;
use crate::frontend::json_schema::model::{Keyword, Type, Types, Value};
use crate::frontend::json_schema::number::Decimal;

impl Reader<'_, '_> {
    /// What a keyword says, if it is one of these.
    pub(super) fn value(&mut self, word: Word, node: Node) -> Result<Option<Keyword>> {
        Ok(Some(match word {
            Word::Enum => {
                self.count_strings(node)?;
                let tree = &self.source.tree;
                let values = tree.children(node).map(|value| self.constant(value));
                Keyword::Enum(values.collect::<Result<_>>()?)
            }
            Word::Const => {
                self.count_strings(node)?;
                Keyword::Enum(Rc::new([self.constant(node)?]))
            }

            Word::Minimum => {
                let exclusive = self.excludes(Word::ExclusiveMinimum);
                Keyword::Minimum { bound: self.number(node)?, exclusive }
            }
            Word::Maximum => {
                let exclusive = self.excludes(Word::ExclusiveMaximum);
                Keyword::Maximum { bound: self.number(node)?, exclusive }
            }
            Word::ExclusiveMinimum | Word::ExclusiveMaximum => {
                // Draft 4 excludes with a boolean.
                if matches!(self.source.tree.json(node), Json::Bool(_)) {
                    return Ok(None);
                }
                let bound = self.number(node)?;
                if word == Word::ExclusiveMinimum {
                    Keyword::Minimum { bound, exclusive: true }
                } else {
                    Keyword::Maximum { bound, exclusive: true }
                }
            }
            Word::MultipleOf => Keyword::MultipleOf(self.number(node)?),

            Word::MinLength => Keyword::MinLength(self.count(node)),
            Word::MaxLength => Keyword::MaxLength(self.count(node)),
            Word::Pattern => Keyword::Pattern(self.source.tree.text_of(node).into()),
            Word::Format => Keyword::Format(self.source.tree.text_of(node).into()),
            _ => return Ok(None),
        }))
    }

    fn count_strings(&mut self, node: Node) -> Result<()> {
        let bytes = self.source.tree.text_bytes(node);
        self.loader.count_literals(bytes, self.at(node))
    }

    fn constant(&self, node: Node) -> Result<Value> {
        let most = self.loader.documents.limits.get(Limit::NumberDigits);
        constant(&self.source.tree, node, most).map_err(|number| self.too_long(number))
    }

    fn number(&self, node: Node) -> Result<Decimal> {
        let most = self.loader.documents.limits.get(Limit::NumberDigits);
        number(&self.source.tree, node, most).ok_or_else(|| self.too_long(node))
    }

    fn too_long(&self, number: Node) -> GrammarError {
        let most = self.loader.documents.limits.get(Limit::NumberDigits);
        let shown = self.source.tree.shown(number);
        let message = format!("the number {shown} has more than {most} digits, written out");
        self.loader.exceeded(Limit::NumberDigits, self.at(number), message)
    }

    pub(super) fn count(&self, node: Node) -> u64 {
        match count(self.source.tree.text_of(node)) {
            Count::Of(value) => value,
            Count::Negative | Count::Fraction => 0,
        }
    }

    pub(super) fn types(&self, node: Node, give: &mut impl FnMut(Keyword)) {
        let mut types = Types { types: 0, integer: false };
        let tree = &self.source.tree;
        let mut add = |name| match tree.text_of(name) {
            "null" => types.types |= 1 << Type::Null as u8,
            "boolean" => types.types |= 1 << Type::Boolean as u8,
            "number" => types.types |= 1 << Type::Number as u8,
            "string" => types.types |= 1 << Type::String as u8,
            "array" => types.types |= 1 << Type::Array as u8,
            "object" => types.types |= 1 << Type::Object as u8,
            _ => types.integer = true,
        };
        match tree.json(node) {
            Json::Array => tree.children(node).for_each(add),
            _ => add(node),
        }
        types.integer &= !types.contains(Type::Number);
        give(Keyword::Types(types));
        if types.integer && self.dialect.draft == Draft::D4 {
            give(Keyword::PlainNumbers);
        }
    }

    /// Whether a boolean, as draft 4 has them, says that a bound is excluded.
    fn excludes(&self, word: Word) -> bool {
        let flag = self.siblings.get(word).map(|node| self.source.tree.json(node));
        flag == Some(Json::Bool(true))
    }
}
