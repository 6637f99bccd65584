//! Formats of a few lines: UUIDs (RFC 4122), JSON pointers (RFC 6901), relative JSON pointers.

use super::pen::Pen;
use crate::index::ExprId;

/// A UUID of any version and variant.
pub(super) fn uuid(p: &Pen<'_>) -> ExprId {
    let (hex, hyphen) = (p.hex(), p.text("-"));
    let four = p.seq(&[p.times(hex, 4, 4), hyphen]);
    p.seq(&[p.times(hex, 8, 8), hyphen, p.times(four, 3, 3), p.times(hex, 12, 12)])
}

/// Nothing, or a slash and anything in which `0` or `1` follows each tilde.
pub(super) fn json_pointer(p: &Pen<'_>) -> ExprId {
    let escape = p.seq(&[p.text("~"), p.digits(0, 1)]);
    let other = p.class(&[('\0', '}'), ('\u{7f}', char::MAX)]);
    p.opt(p.seq(&[p.text("/"), p.star(p.alt(&[other, escape]))]))
}

/// How many levels up, and a JSON pointer or `#`. Only later drafts know `+1` and `-1` between.
pub(super) fn relative_json_pointer(p: &Pen<'_>) -> ExprId {
    let number = p.alt(&[p.text("0"), p.seq(&[p.digits(1, 9), p.star(p.digit())])]);
    p.seq(&[number, p.alt(&[p.text("#"), json_pointer(p)])])
}
