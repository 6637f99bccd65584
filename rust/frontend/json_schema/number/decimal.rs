//! Exact decimal numbers.

use std::cmp::Ordering;

/// A decimal number, exact, in one form each: equal numbers are equal values (`1.0`, `1`, `10e-1`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::frontend::json_schema) struct Decimal {
    negative: bool,
    /// Without leading and trailing zeros; empty for zero.
    digits: Box<[u8]>,
    /// The number is ±0.d₁d₂d₃… × 10^exponent; 0 for zero.
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number; an error is an exponent out of all range.
    pub(in crate::frontend::json_schema) fn parse(text: &str) -> Result<Self, String> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
        let Some(first) = all.iter().position(|&digit| digit != 0) else {
            return Ok(Self { negative: false, digits: Box::default(), exponent: 0 });
        };
        let last = all.iter().rposition(|&digit| digit != 0).unwrap_or(first);
        let point =
            i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_sub_unsigned(first as u64);
        let exponent = exponent
            .parse::<i64>()
            .ok()
            .and_then(|exponent| exponent.checked_add(point))
            .ok_or_else(|| "the exponent is too large".to_owned())?;
        Ok(Self { negative, digits: all[first..=last].into(), exponent })
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        Self::parse(&value.to_string()).unwrap_or(Self {
            negative: false,
            digits: Box::default(),
            exponent: 0,
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |of: &Self| match (of.digits.is_empty(), of.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        sign(self).cmp(&sign(other)).then_with(|| {
            let size =
                self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
            if self.negative { size.reverse() } else { size }
        })
    }
}
