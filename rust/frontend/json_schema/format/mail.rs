//! Mail addresses: `Mailbox` of RFC 5321, section 4.1.2, and of RFC 6531, section 3.3.
//!
//! Of address literals there are those of IPv4 and IPv6: their tags have to be registered, and no
//! other is. The limits of section 4.5.3.1 are those of software, not of the syntax: there are
//! longer local parts.

use super::pen::{ALPHANUMERIC, Pen, Ranges};
use super::{idn, ip};
use crate::index::ExprId;

/// `atext` of RFC 5322.
const ATOM: &Ranges = &[
    ('!', '!'),
    ('#', '\''),
    ('*', '+'),
    ('-', '-'),
    ('/', '9'),
    ('=', '='),
    ('?', '?'),
    ('A', 'Z'),
    ('^', '~'),
];
/// `qtextSMTP`.
const QUOTED: &Ranges = &[(' ', '!'), ('#', '['), (']', '~')];

/// An address in ASCII.
pub(super) fn email(p: &Pen<'_>) -> ExprId {
    let local = local_part(p, p.class(ATOM), p.class(QUOTED));
    p.seq(&[local, p.text("@"), p.alt(&[domain(p), literal(p)])])
}

/// An address with any characters beyond ASCII before the `@`, and an international domain.
pub(super) fn idn_email(p: &Pen<'_>) -> ExprId {
    let wide = |ranges: &Ranges| p.class(&[ranges, &[('\u{80}', char::MAX)]].concat());
    let local = local_part(p, wide(ATOM), wide(QUOTED));
    p.seq(&[local, p.text("@"), p.alt(&[domain(p), literal(p), idn::domain(p, idn::FULL_STOP)])])
}

fn local_part(p: &Pen<'_>, atom: ExprId, quoted: ExprId) -> ExprId {
    let atoms = p.list(p.plus(atom), p.text("."));
    let pair = p.seq(&[p.text("\\"), p.class(&[(' ', '~')])]);
    let quoted = p.seq(&[p.text("\""), p.star(p.alt(&[quoted, pair])), p.text("\"")]);
    p.alt(&[atoms, quoted])
}

/// Labels of letters, digits and hyphens: a letter or digit stands first, last and beside dots.
fn domain(p: &Pen<'_>) -> ExprId {
    let run = p.plus(p.class(ALPHANUMERIC));
    p.list(run, p.alt(&[p.plus(p.text("-")), p.text(".")]))
}

/// An address in brackets. Its decimals may have leading zeros, unlike those elsewhere.
fn literal(p: &Pen<'_>) -> ExprId {
    let v4 = ip::v4_with_zeros(p);
    let tag = p.seq(&[p.letter('i'), p.letter('p'), p.letter('v'), p.text("6:")]);
    let v6 = p.seq(&[tag, ip::v6_with(p, v4, 2)]);
    p.seq(&[p.text("["), p.alt(&[v4, v6]), p.text("]")])
}
