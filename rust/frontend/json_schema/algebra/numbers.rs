//! Sets of numbers: intervals with formulas over multiples.

use rustc_hash::FxHashMap;

use super::domain::{Domain, Key, Memo};
use super::{Algebra, Result};
use crate::error::shortened;
use crate::frontend::json_schema::limits::Limit;
use crate::frontend::json_schema::model::{Keyword, Schema, Type, Value};
use crate::frontend::json_schema::number::NumberSet;

/// A set of numbers.
#[derive(Clone, Debug)]
pub(in crate::frontend::json_schema) struct Numbers(pub(in crate::frontend::json_schema) NumberSet);

impl Domain for Numbers {
    const NUMBER: u8 = 2;

    fn all() -> Self {
        Self(NumberSet::all())
    }

    fn nothing() -> Self {
        Self(NumberSet::nothing())
    }

    fn is_nothing(&self) -> bool {
        self.0.is_nothing()
    }

    fn and(self, other: Self, _: &mut Algebra<'_>) -> Result<Self> {
        Ok(Self(self.0.and(other.0)))
    }

    fn or(self, other: Self, _: &mut Algebra<'_>) -> Result<Self> {
        Ok(Self(self.0.or(other.0)))
    }

    fn keyword(
        algebra: &mut Algebra<'_>,
        schema: &Schema,
        (keyword, name): &(Keyword, &'static str),
        positive: bool,
        _: bool,
    ) -> Result<Option<Self>> {
        let set = match keyword {
            Keyword::Types(types) if types.contains(Type::Number) => NumberSet::all(),
            Keyword::Types(types) if types.integer => NumberSet::integer(),
            Keyword::Types(_) => NumberSet::nothing(),
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
            Keyword::Minimum { bound, exclusive } => NumberSet::minimum(bound.clone(), *exclusive),
            Keyword::Maximum { bound, exclusive } => NumberSet::maximum(bound.clone(), *exclusive),
            Keyword::MultipleOf(step) if step.is_manageable() => NumberSet::multiple_of(step),
            Keyword::MultipleOf(step) => {
                let step = step.to_string();
                let message =
                    format!("`multipleOf` {} needs more states than can be", shortened(&step));
                let error = algebra.options.limits.exceeded(Limit::MultipleStates, message, "");
                return Err(error.at_pointer(schema.pointer_to(name)));
            }
            _ => return Ok(None),
        };
        Ok(Some(Self(if positive { set } else { set.not() })))
    }

    fn memo(memo: &mut Memo) -> &mut FxHashMap<Key, Self> {
        &mut memo.numbers
    }
}
