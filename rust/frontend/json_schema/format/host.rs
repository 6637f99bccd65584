//! Host names of RFC 1123, section 2.1: labels of at most 63 letters, digits and hyphens, at most
//! 253 characters in all, no dot at the end.
//!
//! Labels that begin with `xn--` must be what Punycode makes of a valid label (RFC 5891, section
//! 4.4). Punycode counts with large numbers, so that its texts are not a language of any size that
//! could be used: those labels are left out. Other labels may have hyphens wherever RFC 1123 does.

use super::pen::{ALPHANUMERIC, Pen, Ranges};
use crate::index::ExprId;

const HYPHEN_TOO: &Ranges = &[('-', '-'), ('0', '9'), ('A', 'Z'), ('a', 'z')];
const NOT_N: &Ranges = &[('0', '9'), ('A', 'M'), ('O', 'Z'), ('a', 'm'), ('o', 'z')];
const NOT_X: &Ranges = &[('0', '9'), ('A', 'W'), ('Y', 'Z'), ('a', 'w'), ('y', 'z')];

/// A host name.
pub(super) fn hostname(p: &Pen<'_>) -> ExprId {
    let (any, inner) = (p.class(ALPHANUMERIC), p.class(HYPHEN_TOO));
    // What ends a label: at most so many characters, the last of them no hyphen.
    let some = |most: u32| p.seq(&[p.times(inner, 0, most - 1), any]);
    let rest = |most: u32| p.opt(some(most));
    let behind_xn = p.opt(p.alt(&[p.seq(&[any, rest(60)]), p.seq(&[p.text("-"), any, rest(59)])]));
    let behind_x = p.opt(p.alt(&[
        p.seq(&[p.class(NOT_N), rest(61)]),
        p.seq(&[p.text("-"), some(61)]),
        p.seq(&[p.letter('n'), behind_xn]),
    ]));
    let label = p.alt(&[p.seq(&[p.class(NOT_X), rest(62)]), p.seq(&[p.letter('x'), behind_x])]);
    let labels = p.list(label, p.text("."));
    p.and(&[labels, p.times(p.any(), 1, 253)], &[])
}
