//! Values in a schema: as constants of [`super::super::model`], and as counts.

use std::rc::Rc;

use super::tree::{Json, Node, Tree};
use crate::frontend::json_schema::model::Value;
use crate::frontend::json_schema::number::Decimal;

/// A number, if it has at most so many digits, written out without an exponent.
pub(super) fn number(tree: &Tree, node: Node, digits: usize) -> Option<Decimal> {
    let number = Decimal::parse(tree.text_of(node)).ok()?;
    (number.places() <= digits).then_some(number)
}

/// A node as a constant, or the number in it that has too many digits. Recursive: nesting is
/// limited.
pub(super) fn constant(tree: &Tree, node: Node, digits: usize) -> Result<Value, Node> {
    Ok(match tree.json(node) {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(_) => Value::Number(number(tree, node, digits).ok_or(node)?),
        Json::String(text) => Value::String(text.into()),
        Json::Array => Value::Array(
            tree.children(node)
                .map(|item| constant(tree, item, digits))
                .collect::<Result<_, _>>()?,
        ),
        Json::Object => Value::Object(
            tree.children(node)
                .map(|member| Ok((Rc::from(tree.name(member)), constant(tree, member, digits)?)))
                .collect::<Result<_, _>>()?,
        ),
    })
}

/// What a number is as a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// The greatest number stands for itself and all above.
    Of(u64),
    Negative,
    /// Not an integer.
    Fraction,
}

/// Reads a JSON number as a count: `2`, `2.0` and `20e-1` are the same.
pub(super) fn count(number: &str) -> Count {
    if number.len() < 19
        && let Ok(value) = number.parse()
    {
        return Count::Of(value);
    }
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    // An exponent too large for an i64 is like the largest.
    let limit = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    let exponent = exponent.parse().unwrap_or(limit);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    if significant.bytes().all(|digit| digit == b'0') {
        return Count::Of(0);
    }
    // How many digits stand before the point.
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(exponent);
    if usize::try_from(point).map_or(point < 0, |point| significant.len() > point) {
        return Count::Fraction;
    }
    if negative {
        return Count::Negative;
    }
    let significant = significant.trim_start_matches('0');
    let zeros = point.saturating_sub_unsigned(digits.trim_end_matches('0').len() as u64);
    let value = significant.parse().unwrap_or(u64::MAX);
    let scale = u32::try_from(zeros).ok().and_then(|zeros| 10_u64.checked_pow(zeros));
    Count::Of(scale.map_or(u64::MAX, |scale| value.saturating_mul(scale)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_many_spellings() {
        for (text, expected) in [
            ("0", Count::Of(0)),
            ("-0", Count::Of(0)),
            ("0.0e99999999999999999999", Count::Of(0)),
            ("2", Count::Of(2)),
            ("2.0", Count::Of(2)),
            ("20e-1", Count::Of(2)),
            ("0.02E+2", Count::Of(2)),
            ("1.50e2", Count::Of(150)),
            ("12345678901234567890", Count::Of(12_345_678_901_234_567_890)),
            ("18446744073709551616", Count::Of(u64::MAX)),
            ("1e19", Count::Of(10_000_000_000_000_000_000)),
            ("1e400", Count::Of(u64::MAX)),
            ("1e99999999999999999999", Count::Of(u64::MAX)),
            ("2.5", Count::Fraction),
            ("-2.5", Count::Fraction),
            ("1e-1", Count::Fraction),
            ("1e-99999999999999999999", Count::Fraction),
            ("-1", Count::Negative),
            ("-10e-1", Count::Negative),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }
}
