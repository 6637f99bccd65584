//! URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570).
//!
//! Hosts are generic: names are not looked at as domains, so that `999.999.999.999` is one.

use super::ip;
use super::pen::{Pen, Ranges};
use crate::index::ExprId;

/// What stands beside ASCII in URIs: in any part, and in queries.
type Beyond = (&'static Ranges, &'static Ranges);

/// Nothing.
pub(super) const ASCII: Beyond = (&[], &[]);
/// `ucschar`, and `iprivate` too.
pub(super) const UNICODE: Beyond = (UCS, UCS_AND_PRIVATE);

const UCS: &Ranges = &[
    ('\u{a0}', '\u{d7ff}'),
    ('\u{f900}', '\u{fdcf}'),
    ('\u{fdf0}', '\u{ffef}'),
    ('\u{10000}', '\u{1fffd}'),
    ('\u{20000}', '\u{2fffd}'),
    ('\u{30000}', '\u{3fffd}'),
    ('\u{40000}', '\u{4fffd}'),
    ('\u{50000}', '\u{5fffd}'),
    ('\u{60000}', '\u{6fffd}'),
    ('\u{70000}', '\u{7fffd}'),
    ('\u{80000}', '\u{8fffd}'),
    ('\u{90000}', '\u{9fffd}'),
    ('\u{a0000}', '\u{afffd}'),
    ('\u{b0000}', '\u{bfffd}'),
    ('\u{c0000}', '\u{cfffd}'),
    ('\u{d0000}', '\u{dfffd}'),
    ('\u{e1000}', '\u{efffd}'),
];

// U+D7FF and U+E000 are neighbours: there are no characters between them.
const UCS_AND_PRIVATE: &Ranges = &[
    ('\u{a0}', '\u{fdcf}'),
    ('\u{fdf0}', '\u{ffef}'),
    ('\u{10000}', '\u{1fffd}'),
    ('\u{20000}', '\u{2fffd}'),
    ('\u{30000}', '\u{3fffd}'),
    ('\u{40000}', '\u{4fffd}'),
    ('\u{50000}', '\u{5fffd}'),
    ('\u{60000}', '\u{6fffd}'),
    ('\u{70000}', '\u{7fffd}'),
    ('\u{80000}', '\u{8fffd}'),
    ('\u{90000}', '\u{9fffd}'),
    ('\u{a0000}', '\u{afffd}'),
    ('\u{b0000}', '\u{bfffd}'),
    ('\u{c0000}', '\u{cfffd}'),
    ('\u{d0000}', '\u{dfffd}'),
    ('\u{e1000}', '\u{efffd}'),
    ('\u{f0000}', '\u{ffffd}'),
    ('\u{100000}', '\u{10fffd}'),
];

/// `unreserved` and `sub-delims`: what names of hosts are made of.
const NAME: &Ranges = &[
    ('!', '!'),
    ('$', '$'),
    ('&', '.'),
    ('0', '9'),
    (';', ';'),
    ('=', '='),
    ('A', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('~', '~'),
];
/// Those and `:`.
const USER: &Ranges = &[
    ('!', '!'),
    ('$', '$'),
    ('&', '.'),
    ('0', ';'),
    ('=', '='),
    ('A', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('~', '~'),
];
/// `NAME` and `@`: `pchar` but for `:`.
const NO_COLON: &Ranges = &[
    ('!', '!'),
    ('$', '$'),
    ('&', '.'),
    ('0', '9'),
    (';', ';'),
    ('=', '='),
    ('@', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('~', '~'),
];
/// `pchar`.
const SEGMENT: &Ranges = &[
    ('!', '!'),
    ('$', '$'),
    ('&', '.'),
    ('0', ';'),
    ('=', '='),
    ('@', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('~', '~'),
];
/// `pchar` and `/`.
const PATH: &Ranges = &[
    ('!', '!'),
    ('$', '$'),
    ('&', ';'),
    ('=', '='),
    ('@', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('~', '~'),
];
/// `pchar`, `/` and `?`.
const QUERY: &Ranges = &[
    ('!', '!'),
    ('$', '$'),
    ('&', ';'),
    ('=', '='),
    ('?', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('~', '~'),
];

/// The parts that absolute and relative ones share.
struct Parts {
    scheme: ExprId,
    /// A path that begins with a slash, behind an authority or not.
    slashed: ExprId,
    /// A path that begins with a segment.
    rootless: ExprId,
    /// The same, without a colon in its first segment.
    no_scheme: ExprId,
    /// Query and fragment, if any.
    tail: ExprId,
}

/// `URI`, `IRI`.
pub(super) fn uri(p: &Pen<'_>, beyond: Beyond) -> ExprId {
    let parts = Parts::new(p, beyond);
    p.seq(&[parts.absolute(p), parts.tail])
}

/// `URI-reference`, `IRI-reference`.
pub(super) fn reference(p: &Pen<'_>, beyond: Beyond) -> ExprId {
    let parts = Parts::new(p, beyond);
    let relative = p.opt(p.alt(&[parts.slashed, parts.no_scheme]));
    p.seq(&[p.alt(&[parts.absolute(p), relative]), parts.tail])
}

impl Parts {
    fn new(p: &Pen<'_>, (beyond, in_queries): Beyond) -> Self {
        let percent = percent_encoded(p);
        let one = |ranges: &Ranges, beyond: &Ranges| {
            p.alt(&[p.class(&[ranges, beyond].concat()), percent])
        };
        let path = p.star(one(PATH, beyond));
        let from_slash = p.opt(p.seq(&[p.text("/"), path]));
        let rootless = p.seq(&[one(SEGMENT, beyond), path]);
        let no_scheme = p.seq(&[p.plus(one(NO_COLON, beyond)), from_slash]);
        let authority = authority(p, one(NAME, beyond), one(USER, beyond));
        let slashed = p.seq(&[
            p.text("/"),
            p.opt(p.alt(&[p.seq(&[p.text("/"), authority, from_slash]), rootless])),
        ]);
        let query = p.seq(&[p.text("?"), p.star(one(QUERY, in_queries))]);
        let fragment = p.seq(&[p.text("#"), p.star(one(QUERY, beyond))]);
        let letter = p.class(&[('A', 'Z'), ('a', 'z')]);
        let in_scheme = p.class(&[('+', '+'), ('-', '.'), ('0', '9'), ('A', 'Z'), ('a', 'z')]);
        Self {
            scheme: p.seq(&[letter, p.star(in_scheme), p.text(":")]),
            slashed,
            rootless,
            no_scheme,
            tail: p.seq(&[p.opt(query), p.opt(fragment)]),
        }
    }

    fn absolute(&self, p: &Pen<'_>) -> ExprId {
        p.seq(&[self.scheme, p.opt(p.alt(&[self.slashed, self.rootless]))])
    }
}

/// `authority`, given a character of names and one of `userinfo`.
fn authority(p: &Pen<'_>, name: ExprId, user: ExprId) -> ExprId {
    let future = p.seq(&[p.letter('v'), p.plus(p.hex()), p.text("."), p.plus(p.class(USER))]);
    let literal = p.seq(&[p.text("["), p.alt(&[ip::v6(p), future]), p.text("]")]);
    let host = p.alt(&[literal, p.star(name)]);
    let port = p.opt(p.seq(&[p.text(":"), p.star(p.digit())]));
    p.seq(&[p.opt(p.seq(&[p.star(user), p.text("@")])), host, port])
}

fn percent_encoded(p: &Pen<'_>) -> ExprId {
    p.seq(&[p.text("%"), p.times(p.hex(), 2, 2)])
}

/// What stands outside of braces, ASCII part, with the apostrophe that an erratum adds.
const LITERAL: &Ranges = &[
    ('!', '!'),
    ('#', '$'),
    ('&', ';'),
    ('=', '='),
    ('?', '['),
    (']', ']'),
    ('_', '_'),
    ('a', 'z'),
    ('~', '~'),
];

/// `URI-Template`, any level, reserved operators too.
pub(super) fn template(p: &Pen<'_>) -> ExprId {
    let percent = percent_encoded(p);
    let literal = p.class(&[LITERAL, UCS_AND_PRIVATE].concat());
    let operator = p.class(&[
        ('!', '!'),
        ('#', '#'),
        ('&', '&'),
        ('+', ','),
        ('.', '/'),
        (';', ';'),
        ('=', '='),
        ('?', '@'),
        ('|', '|'),
    ]);
    let in_names = p.class(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]);
    let name = p.list(p.plus(p.alt(&[in_names, percent])), p.text("."));
    let prefix = p.seq(&[p.text(":"), p.digits(1, 9), p.times(p.digit(), 0, 3)]);
    let variable = p.seq(&[name, p.opt(p.alt(&[prefix, p.text("*")]))]);
    let expression =
        p.seq(&[p.text("{"), p.opt(operator), p.list(variable, p.text(",")), p.text("}")]);
    p.star(p.alt(&[literal, percent, expression]))
}
