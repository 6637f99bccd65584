//! Sets of numbers, as formulas over intervals and multiples.

use rustc_hash::FxHashMap;

use super::domain::{Domain, Key, Memo};
use super::{Algebra, Result};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::model::{Keyword, Schema, Type, Value};
use crate::frontend::json_schema::number::NumberSet;

/// A set of numbers.
#[derive(Clone, Debug)]
pub(in crate::frontend::json_schema) struct Numbers(pub(in crate::frontend::json_schema) NumberSet);

impl Domain for Numbers {
    const NUMBER: u8 = 2;

    fn all() -> Self {
        Self(NumberSet::All)
    }

    fn nothing() -> Self {
        Self(NumberSet::Nothing)
    }

    fn is_nothing(&self) -> bool {
        matches!(self.0, NumberSet::Nothing)
    }

    fn and(self, other: Self, _: &mut Algebra<'_>) -> Result<Self> {
        Ok(Self(NumberSet::and([self.0, other.0])))
    }

    fn or(self, other: Self, _: &mut Algebra<'_>) -> Result<Self> {
        Ok(Self(NumberSet::or([self.0, other.0])))
    }

    fn keyword(
        algebra: &mut Algebra<'_>,
        schema: &Schema,
        (keyword, name): &(Keyword, &'static str),
        positive: bool,
    ) -> Result<Option<Self>> {
        let set = match keyword {
            Keyword::Types(types) if types.contains(Type::Number) => NumberSet::All,
            Keyword::Types(types) if types.integer => NumberSet::Integer,
            Keyword::Types(_) => NumberSet::Nothing,
            Keyword::PlainNumbers => {
                algebra.plain_numbers = true;
                return Ok(None);
            }
            Keyword::Enum(values) => {
                let numbers = values.iter().filter_map(|value| match value {
                    Value::Number(number) => Some(number.clone()),
                    _ => None,
                });
                NumberSet::of(numbers.collect())
            }
            Keyword::Minimum { bound, exclusive } => {
                NumberSet::Minimum { bound: bound.clone(), exclusive: *exclusive }
            }
            Keyword::Maximum { bound, exclusive } => {
                NumberSet::Maximum { bound: bound.clone(), exclusive: *exclusive }
            }
            Keyword::MultipleOf(step) if step.is_manageable() => {
                NumberSet::MultipleOf(step.clone())
            }
            Keyword::MultipleOf(step) => {
                return Err(GrammarError::new(
                    GrammarErrorKind::Limit,
                    format!("`multipleOf` {step} has more than 15 digits"),
                )
                .at_pointer(schema.pointer_to(name)));
            }
            _ => return Ok(None),
        };
        Ok(Some(Self(if positive { set } else { NumberSet::not(set) })))
    }

    fn memo(memo: &mut Memo) -> &mut FxHashMap<Key, Self> {
        &mut memo.numbers
    }
}
