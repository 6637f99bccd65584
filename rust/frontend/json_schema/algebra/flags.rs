//! `null`, `true` and `false`: a set of three.

use rustc_hash::FxHashMap;

use super::domain::{Domain, Key, Memo};
use super::{Algebra, Result};
use crate::frontend::json_schema::model::{Keyword, Schema, Type, Value};

/// Some of `null`, `false` and `true`, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frontend::json_schema) struct Flags(u8);

impl Flags {
    const ALL: [(u8, Value, &'static str); 3] = [
        (1, Value::Null, "null"),
        (2, Value::Bool(false), "false"),
        (4, Value::Bool(true), "true"),
    ];

    /// The values and their texts.
    pub(in crate::frontend::json_schema) fn members(
        self,
    ) -> impl Iterator<Item = (Value, &'static str)> {
        let member = move |(bit, value, text)| (self.0 & bit != 0).then_some((value, text));
        Self::ALL.into_iter().filter_map(member)
    }
}

impl Domain for Flags {
    const NUMBER: u8 = 0;

    fn all() -> Self {
        Self(7)
    }

    fn nothing() -> Self {
        Self(0)
    }

    fn is_nothing(&self) -> bool {
        self.0 == 0
    }

    fn and(self, other: Self, _: &mut Algebra<'_>) -> Result<Self> {
        Ok(Self(self.0 & other.0))
    }

    fn or(self, other: Self, _: &mut Algebra<'_>) -> Result<Self> {
        Ok(Self(self.0 | other.0))
    }

    fn keyword(
        _: &mut Algebra<'_>,
        _: &Schema,
        (keyword, _): &(Keyword, &'static str),
        positive: bool,
        _: bool,
    ) -> Result<Option<Self>> {
        let holds = match keyword {
            Keyword::Types(types) => {
                let null = u8::from(types.contains(Type::Null));
                let boolean = if types.contains(Type::Boolean) { 6 } else { 0 };
                null | boolean
            }
            Keyword::Enum(values) => Self::ALL
                .into_iter()
                .filter(|(_, value, _)| values.contains(value))
                .fold(0, |set, (bit, ..)| set | bit),
            _ => return Ok(None),
        };
        Ok(Some(Self(if positive { holds } else { 7 & !holds })))
    }

    fn memo(memo: &mut Memo) -> &mut FxHashMap<Key, Self> {
        &mut memo.flags
    }
}
