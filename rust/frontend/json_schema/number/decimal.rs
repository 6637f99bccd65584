//! Exact decimal numbers of any size.

#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of digits are small and exponents limited"
)]

use std::cmp::Ordering;
use std::fmt;

/// More digits, or a greater exponent, than this are too much for a bound.
const MAX_DIGITS: usize = 10_000;
const MAX_EXPONENT: i64 = 100_000;

/// A decimal number, exact, in one form each: equal numbers are equal values (`1.0`, `1`, `10e-1`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::frontend::json_schema) struct Decimal {
    negative: bool,
    /// 0 to 9, without leading and trailing zeros; empty for zero.
    digits: Box<[u8]>,
    /// The number is ±0.d₁d₂d₃… × 10^exponent; 0 for zero.
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number (RFC 8259, section 6); an error says that it has too many digits.
    pub(in crate::frontend::json_schema) fn parse(text: &str) -> Result<Self, &'static str> {
        Self::read(text).ok_or("a number has too many digits")
    }

    fn read(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|c| c - b'0').collect();
        let exponent = power.checked_add(whole.len() as i64)?;
        Self::new(negative, &digits, exponent)
    }

    fn new(negative: bool, digits: &[u8], exponent: i64) -> Option<Self> {
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        let digits = &digits[zeros..];
        let end = digits.iter().rposition(|&digit| digit != 0).map_or(0, |at| at + 1);
        let digits = &digits[..end];
        if digits.is_empty() {
            return Some(Self::zero());
        }
        let exponent = exponent - zeros as i64;
        if digits.len() > MAX_DIGITS || exponent.abs() > MAX_EXPONENT {
            return None;
        }
        Some(Self { negative, digits: digits.into(), exponent })
    }

    /// 0.
    pub(super) fn zero() -> Self {
        Self { negative: false, digits: Box::default(), exponent: 0 }
    }

    /// How many digits it has, written out without an exponent.
    pub(in crate::frontend::json_schema) fn places(&self) -> usize {
        let digits = self.digits.len() as i64;
        let (whole, fraction) = (self.exponent.max(1), (digits - self.exponent).max(0));
        (whole + fraction).unsigned_abs() as usize
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether it is less than 0.
    pub(in crate::frontend::json_schema) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether it is a whole number.
    pub(in crate::frontend::json_schema) fn is_integer(&self) -> bool {
        self.digits.len() as i64 <= self.exponent || self.is_zero()
    }

    /// The number with the other sign.
    pub(super) fn negated(&self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self.clone() }
    }

    /// The number as a count, if it is one.
    pub(in crate::frontend::json_schema) fn to_u64(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        let zeros = self.exponent as usize - self.digits.len().min(self.exponent as usize);
        if self.exponent > 20 {
            return None;
        }
        self.digits
            .iter()
            .copied()
            .chain(std::iter::repeat_n(0, zeros))
            .try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit)))
    }

    /// The number as a small integer, if it is one.
    pub(super) fn to_i64(&self) -> Option<i64> {
        let magnitude = Self { negative: false, ..self.clone() }.to_u64()?;
        let magnitude = i64::try_from(magnitude).ok()?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    pub(super) fn from_i64(value: i64) -> Self {
        let digits: Vec<u8> = value.unsigned_abs().to_string().bytes().map(|c| c - b'0').collect();
        Self::new(value < 0, &digits, digits.len() as i64).unwrap_or_else(Self::zero)
    }

    /// The digits before the point, without leading zeros but for a single one, and those behind
    /// it, without trailing zeros; of the magnitude.
    pub(super) fn plain(&self) -> (Vec<u8>, Vec<u8>) {
        let places = usize::try_from(self.exponent).unwrap_or(0);
        let digits = |from: usize, to: usize| {
            (from..to).map(|at| self.digits.get(at).copied().unwrap_or(0)).collect::<Vec<u8>>()
        };
        if self.exponent <= 0 {
            let zeros = usize::try_from(-self.exponent).unwrap_or(0);
            let fraction = if self.is_zero() {
                Vec::new()
            } else {
                std::iter::repeat_n(0, zeros).chain(self.digits.iter().copied()).collect()
            };
            return (vec![0], fraction);
        }
        (digits(0, places), digits(places, self.digits.len().max(places)))
    }

    /// The digits, and the power of ten of the first: d₁.d₂d₃… × 10^power. Not for zero.
    pub(super) fn scientific(&self) -> (&[u8], i64) {
        (&self.digits, self.exponent - 1)
    }

    /// Whether divisibility by it can be worked out.
    pub(in crate::frontend::json_schema) fn is_manageable(&self) -> bool {
        let (digits, power) = self.scaled();
        digits.len() <= 15 && power.abs() <= 400
    }

    /// The digits as a number m without trailing zeros, and k, where the number is m × 10^k.
    pub(super) fn scaled(&self) -> (&[u8], i64) {
        (&self.digits, self.exponent - self.digits.len() as i64)
    }

    fn magnitude_cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

/// An exponent; `None` if it is out of all bounds.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let value: i64 = digits.parse().ok().filter(|&value| value <= MAX_EXPONENT * 2)?;
    Some(if negative { -value } else { value })
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude_cmp(other),
            (true, true) => other.magnitude_cmp(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        let digits: Vec<u8> = value.to_string().bytes().map(|c| c - b'0').collect();
        Self::new(false, &digits, digits.len() as i64).unwrap_or_else(Self::zero)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, power) = self.scientific();
        if self.is_zero() {
            return f.write_str("0");
        }
        let sign = if self.negative { "-" } else { "" };
        let text =
            |digits: &[u8]| -> String { digits.iter().map(|&d| char::from(d + b'0')).collect() };
        if power.abs() > 25 {
            let fraction = if digits.len() > 1 { "." } else { "" };
            return write!(f, "{sign}{}{fraction}{}e{power}", digits[0], text(&digits[1..]));
        }
        let (whole, fraction) = self.plain();
        let point = if fraction.is_empty() { "" } else { "." };
        write!(f, "{sign}{}{point}{}", text(&whole), text(&fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn equal_numbers_are_equal() {
        for (a, b) in [("1", "1.0"), ("10e-1", "1"), ("-0.0", "0"), ("1e2", "100"), ("0.5E+1", "5")]
        {
            assert_eq!(d(a), d(b));
        }
        assert_ne!(d("0.1"), d("0.10000000000000000000000000001"));
    }

    #[test]
    fn order_is_exact() {
        let sorted =
            ["-1e30", "-2", "-1.5", "-1e-9", "0", "1e-7", "0.5", "0.75", "9", "10", "1e21"];
        for pair in sorted.windows(2) {
            assert!(d(pair[0]) < d(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn parts_and_text() {
        assert_eq!(d("12.50").plain(), (vec![1, 2], vec![5]));
        assert_eq!(d("0.005").plain(), (vec![0], vec![0, 0, 5]));
        assert_eq!(d("1200").plain(), (vec![1, 2, 0, 0], vec![]));
        assert_eq!(d("-1200").to_i64(), Some(-1200));
        assert_eq!(d("18446744073709551615").to_u64(), Some(u64::MAX));
        assert_eq!(d("1.5").to_u64(), None);
        for text in ["0", "-12.5", "0.001", "1e30", "-1.25e-40", "100000"] {
            assert_eq!(d(text).to_string(), text);
        }
        assert!(Decimal::parse(&"1".repeat(20_000)).is_err());
        assert!(Decimal::parse("1e999999").is_err());
    }
}
