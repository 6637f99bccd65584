//! Exact decimal numbers.

/// A decimal number, exact, in one form each: equal numbers are equal values (`1.0`, `1`, `10e-1`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::frontend::json_schema) struct Decimal {
    negative: bool,
    /// Without leading and trailing zeros; empty for zero.
    digits: Box<[u8]>,
    /// The number is ±0.d₁d₂d₃… × 10^exponent; 0 for zero.
    exponent: i64,
}
