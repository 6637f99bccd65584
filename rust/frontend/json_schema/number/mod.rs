//! Sets of numbers → expressions for their spellings.

mod decimal;

pub(super) use decimal::Decimal;
