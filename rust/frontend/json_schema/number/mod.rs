//! stub
mod decimal;
use crate::error::GrammarError;
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;
pub(super) use decimal::Decimal;
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum NumberSet {
    All,
    Nothing,
    Integer,
    Minimum { bound: Decimal, exclusive: bool },
    Maximum { bound: Decimal, exclusive: bool },
    MultipleOf(Decimal),
    Value(Decimal),
}
impl NumberSet {
    pub(super) fn and(_: impl IntoIterator<Item = Self>) -> Self {
        unimplemented!()
    }
    pub(super) fn or(_: impl IntoIterator<Item = Self>) -> Self {
        unimplemented!()
    }
    pub(super) fn not(_: Self) -> Self {
        unimplemented!()
    }
    pub(super) fn is_empty(&self) -> bool {
        unimplemented!()
    }
    pub(super) fn values(&self, _: usize) -> Option<Vec<Decimal>> {
        unimplemented!()
    }
}
pub(super) struct NumberOptions {
    pub(super) max_digits: Option<u32>,
    pub(super) integer_fractions: bool,
}
pub(super) fn expr(
    _: &NumberSet,
    _: &NumberOptions,
    _: &mut GrammarBuilder,
) -> Result<ExprId, GrammarError> {
    unimplemented!()
}
