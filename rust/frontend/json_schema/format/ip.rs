//! IP addresses: dotted decimals of RFC 2673, section 3.2, and IPv6 of RFC 4291, section 2.2.

use super::pen::Pen;
use crate::index::ExprId;

/// Four numbers up to 255, without leading zeros.
pub(super) fn v4(p: &Pen<'_>) -> ExprId {
    let small = p.seq(&[p.text("1"), p.times(p.digit(), 0, 2)]);
    dotted(p, p.alt(&[p.text("0"), small]))
}

/// The same, with leading zeros up to three digits.
pub(super) fn v4_with_zeros(p: &Pen<'_>) -> ExprId {
    dotted(p, p.seq(&[p.digits(0, 1), p.times(p.digit(), 0, 2)]))
}

/// Four numbers, given those that begin with 0 or 1.
fn dotted(p: &Pen<'_>, small: ExprId) -> ExprId {
    let digit = p.opt(p.digit());
    let two_hundreds = p.alt(&[
        p.seq(&[p.digits(0, 4), digit]),
        p.seq(&[p.text("5"), p.opt(p.digits(0, 5))]),
        p.digits(6, 9),
    ]);
    let number = p.alt(&[
        small,
        p.seq(&[p.text("2"), p.opt(two_hundreds)]),
        p.seq(&[p.digits(3, 9), digit]),
    ]);
    p.seq(&[number, p.times(p.seq(&[p.text("."), number]), 3, 3)])
}

/// An IPv6 address.
pub(super) fn v6(p: &Pen<'_>) -> ExprId {
    v6_with(p, v4(p), 1)
}

/// An IPv6 address of 8 groups, the last two of which may be `v4`, and `::` in place of `elided`
/// groups or more.
///
/// It is read group by group: what may follow depends on how many groups are still missing, and
/// on whether `::` has been seen.
pub(super) fn v6_with(p: &Pen<'_>, v4: ExprId, elided: usize) -> ExprId {
    let (colon, group) = (p.text(":"), p.times(p.hex(), 1, 4));
    // `after[n]`: at most n groups behind the `::`.
    let mut after = vec![p.text("")];
    let mut some = None;
    for missing in 1..8 {
        let more = match some {
            None => group,
            Some(some) => p.seq(&[group, p.opt(p.seq(&[colon, some]))]),
        };
        let more = if missing < 2 { more } else { p.alt(&[more, v4]) };
        some = Some(more);
        after.push(p.opt(more));
    }
    let elide =
        |missing: usize| missing.checked_sub(elided).map(|left| p.seq(&[colon, after[left]]));
    // Behind a group, without a `::` yet.
    let mut rest = p.text("");
    for missing in 1..8 {
        let mut next = vec![p.seq(&[group, rest])];
        next.extend(elide(missing));
        if missing == 2 {
            next.push(v4);
        }
        rest = p.seq(&[colon, p.alt(&next)]);
    }
    let elided_first = p.seq(&[p.text("::"), after[8 - elided]]);
    p.alt(&[elided_first, p.seq(&[group, rest])])
}
