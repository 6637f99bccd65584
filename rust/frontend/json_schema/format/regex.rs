//! Regular expressions: patterns that `new RegExp(pattern, "u")` takes in any edition of ECMA-262
//! since 2018.
//!
//! Patterns are not a regular language, and some of their rules ask to compare numbers or names.
//! What is given here is a part of them, in which every pattern is valid:
//!
//! - groups nest up to [`DEPTH`] deep;
//! - `\1` to `\9` stand behind the beginning of that many groups; no digit follows them, or `\0`;
//! - at most one group has a name, of ASCII letters, digits, `$` and `_`; there is no `\k<…>`;
//! - `{n,m}` has n ≤ m where both have up to three digits, or m more digits than n;
//! - the ends of a range in a class are in order: both printable ASCII (punctuation escaped or
//!   not), both beyond ASCII and in different rows of the table [`ROWS`], both `\xHH`, both
//!   `\uHHHH` or both `\u{1HHHH}`, no surrogates;
//! - `\p{…}` knows the general categories, common scripts and common binary properties.

use super::pen::{Pen, Ranges};
use crate::frontend::classes::normalise;
use crate::index::ExprId;

/// How deep groups nest.
const DEPTH: usize = 3;

/// Characters beyond ASCII: the first of each row, within which ranges are left out.
#[rustfmt::skip]
const ROWS: &[char] = &[
    '\u{80}', '\u{c0}', '\u{c8}', '\u{d8}', '\u{e0}', '\u{f0}', '\u{f8}', '\u{100}', '\u{180}',
    '\u{250}', '\u{300}', '\u{370}', '\u{391}', '\u{39a}', '\u{3b1}', '\u{3ba}', '\u{3c9}',
    '\u{400}', '\u{410}', '\u{420}', '\u{430}', '\u{440}', '\u{450}', '\u{531}', '\u{561}',
    '\u{5d0}', '\u{5e0}', '\u{600}', '\u{621}', '\u{631}', '\u{641}', '\u{660}', '\u{669}',
    '\u{6f0}', '\u{6f9}', '\u{900}', '\u{940}', '\u{980}', '\u{e01}', '\u{e30}', '\u{e50}',
    '\u{1000}', '\u{1100}', '\u{2000}', '\u{2070}', '\u{3000}', '\u{3041}', '\u{3070}', '\u{30a1}',
    '\u{30d0}', '\u{3100}', '\u{4e00}', '\u{5000}', '\u{a000}', '\u{ac00}', '\u{b000}', '\u{e000}',
    '\u{ff00}', '\u{ff10}', '\u{ff19}', '\u{ff21}', '\u{ff3a}', '\u{ff41}', '\u{ff5a}', '\u{10000}',
    '\u{1f300}', '\u{1f600}', '\u{1f900}', '\u{20000}', '\u{10ffff}',
];

/// `SyntaxCharacter` and the slash: what a backslash may stand before to mean itself.
const SYNTAX: &Ranges = &[('$', '$'), ('(', '+'), ('.', '/'), ('?', '?'), ('[', '^'), ('{', '}')];
/// Characters of a pattern that mean themselves.
const PLAIN: &Ranges =
    &[('\0', '#'), ('%', '\''), (',', '-'), ('/', '>'), ('@', 'Z'), ('_', 'z'), ('~', char::MAX)];
/// Characters of a class that mean themselves wherever they stand.
const IN_CLASS: &Ranges = &[('\0', ','), ('.', '['), ('_', char::MAX)];

/// General categories.
#[rustfmt::skip]
const CATEGORIES: &[&str] = &[
    "C", "Cc", "Cf", "Cn", "Co", "Cs", "L", "LC", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me",
    "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk",
    "Sm", "So", "Z", "Zl", "Zp", "Zs", "Letter", "Lowercase_Letter", "Uppercase_Letter",
    "Modifier_Letter", "Other_Letter", "Mark", "Nonspacing_Mark", "Number", "Decimal_Number",
    "Punctuation", "Symbol", "Math_Symbol", "Currency_Symbol", "Separator", "Space_Separator",
    "Other", "Control",
];
/// Binary properties.
#[rustfmt::skip]
const PROPERTIES: &[&str] = &[
    "ASCII", "Alphabetic", "Any", "Assigned", "Emoji", "Emoji_Presentation", "Hex_Digit",
    "ID_Continue", "ID_Start", "Ideographic", "Lowercase", "Math", "Uppercase", "White_Space",
];
/// Scripts.
#[rustfmt::skip]
const SCRIPTS: &[&str] = &[
    "Arabic", "Armenian", "Bengali", "Bopomofo", "Common", "Cyrillic", "Devanagari", "Ethiopic",
    "Georgian", "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Inherited",
    "Kannada", "Katakana", "Khmer", "Lao", "Latin", "Malayalam", "Mongolian", "Myanmar", "Sinhala",
    "Syriac", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan",
];

/// A pattern.
pub(super) fn regex(p: &Pen<'_>) -> ExprId {
    let class = class(p);
    let name = p.seq(&[
        p.class(&[('$', '$'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        p.star(p.class(&[('$', '$'), ('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])),
        p.text(">"),
    ]);
    let escape = p.alt(&[character_escape(p), class_escape(p), p.digit()]);
    let atom = p.alt(&[p.class(PLAIN), p.text("."), p.seq(&[p.text("\\"), escape]), class]);
    let quantifier = p.opt(quantifier(p));
    let edge = p.class(&[('B', 'B'), ('b', 'b')]);
    let flat = p.alt(&[
        p.seq(&[atom, quantifier]),
        p.class(&[('$', '$'), ('^', '^'), ('|', '|')]),
        p.seq(&[p.text("\\"), edge]),
    ]);
    let look = p.seq(&[p.opt(p.text("<")), p.class(&[('!', '!'), ('=', '=')])]);
    let other = p.alt(&[p.text(":"), p.seq(&[p.text("<"), name])]);
    let other = p.opt(p.seq(&[p.text("?"), other]));
    let look = p.seq(&[p.text("?"), look]);
    // Alternatives may be empty, so that a disjunction is any row of terms and bars.
    let mut body = p.star(flat);
    for _ in 0..DEPTH {
        let closed = p.seq(&[body, p.text(")")]);
        let group = p.alt(&[p.seq(&[other, closed, quantifier]), p.seq(&[look, closed])]);
        body = p.star(p.alt(&[flat, p.seq(&[p.text("("), group])]));
    }
    p.and(&[body, references(p)], &[two_names(p)])
}

/// Texts in which `\n` stands behind the beginnings of n capturing groups, and before no digit.
///
/// They are read piece by piece: an escape, a class, the beginning of a group or one character.
/// A `?` only stands behind a whole piece, so that `(?` is never read as a capturing group.
fn references(p: &Pen<'_>) -> ExprId {
    let escaped = p.seq(&[p.text("\\"), p.class(&[('\0', '/'), (':', char::MAX)])]);
    let look = p.class(&[('!', '!'), ('=', '=')]);
    let plain_group = p.alt(&[p.text(":"), p.seq(&[p.opt(p.text("<")), look])]);
    let plain_group = p.seq(&[p.text("(?"), plain_group]);
    let other = p.class(&[('\0', '\''), (')', '/'), (':', '>'), ('@', 'Z'), (']', char::MAX)]);
    let piece = p.alt(&[escaped, skipped_class(p, escaped), plain_group, other]);
    let question = p.text("?");
    let usual = p.seq(&[p.alt(&[piece, p.digit()]), p.star(question)]);
    let behind_reference = p.seq(&[p.alt(&[piece, question]), p.star(question)]);
    let capture = p.seq(&[p.text("("), p.opt(p.seq(&[p.text("?<"), no_look(p)]))]);

    let reference = |groups: u8| p.seq(&[p.text("\\"), p.digits(0, groups)]);
    let row = |reference: ExprId| p.alt(&[usual, p.seq(&[p.plus(reference), behind_reference])]);
    // Nine groups are enough for any reference.
    let last = reference(9);
    let capture_later = p.seq(&[p.star(last), capture]);
    let mut rest = p.seq(&[p.star(p.alt(&[row(last), capture_later])), p.star(last)]);
    for groups in (0..9).rev() {
        let reference = reference(groups);
        let next = p.opt(p.seq(&[capture, rest]));
        rest = p.seq(&[p.star(row(reference)), p.star(reference), next]);
    }
    rest
}

/// A class, which may have any characters but `]` alone, and no digit behind `\0`.
fn skipped_class(p: &Pen<'_>, escaped: ExprId) -> ExprId {
    let no_digit = p.class(&[('\0', '/'), (':', '['), ('^', char::MAX)]);
    let piece = p.alt(&[no_digit, escaped]);
    let zero = p.text("\\0");
    let row = p.alt(&[p.digit(), piece, p.seq(&[p.plus(zero), piece])]);
    p.seq(&[p.text("["), p.star(row), p.star(zero), p.text("]")])
}

/// What follows `(?<` if that begins a named group: neither `=` nor `!`.
fn no_look(p: &Pen<'_>) -> ExprId {
    p.class(&[('\0', ' '), ('"', '<'), ('>', char::MAX)])
}

/// Texts with two groups that have names.
fn two_names(p: &Pen<'_>) -> ExprId {
    let anything = p.star(p.any());
    let named = p.seq(&[p.text("(?<"), no_look(p)]);
    p.seq(&[anything, named, anything, named, anything])
}

/// Behind a backslash: one character, inside of classes or not.
fn character_escape(p: &Pen<'_>) -> ExprId {
    let hex = p.hex();
    let control = p.seq(&[p.text("c"), p.class(&[('A', 'Z'), ('a', 'z')])]);
    let code = p.alt(&[p.times(hex, 1, 5), p.seq(&[p.text("10"), p.times(hex, 4, 4)])]);
    let code = p.seq(&[p.text("{"), p.star(p.text("0")), code, p.text("}")]);
    p.alt(&[
        p.class(SYNTAX),
        p.class(&[('f', 'f'), ('n', 'n'), ('r', 'r'), ('t', 't'), ('v', 'v')]),
        control,
        p.seq(&[p.text("x"), p.times(hex, 2, 2)]),
        p.seq(&[p.text("u"), p.alt(&[p.times(hex, 4, 4), code])]),
    ])
}

/// Behind a backslash: a set of characters.
fn class_escape(p: &Pen<'_>) -> ExprId {
    let words = |words: &[&str]| words.iter().map(|word| p.text(word)).collect::<Vec<_>>();
    let key = p.alt(&words(&["Script=", "sc=", "Script_Extensions=", "scx="]));
    let script = p.seq(&[key, p.alt(&words(SCRIPTS))]);
    let category = p.opt(p.alt(&words(&["General_Category=", "gc="])));
    let category = p.seq(&[category, p.alt(&words(CATEGORIES))]);
    let property = p.alt(&[&[category, script][..], &words(PROPERTIES)].concat());
    p.alt(&[
        p.class(&[('D', 'D'), ('S', 'S'), ('W', 'W'), ('d', 'd'), ('s', 's'), ('w', 'w')]),
        p.seq(&[p.class(&[('P', 'P'), ('p', 'p')]), p.text("{"), property, p.text("}")]),
    ])
}

/// `[…]`.
///
/// A hyphen means itself at both ends and right behind a range; a `^` anywhere but at the start.
fn class(p: &Pen<'_>) -> ExprId {
    let hyphen = p.opt(p.text("-"));
    let own = p.class(&[('-', '-'), ('0', '0'), ('b', 'b')]);
    let escape = p.alt(&[character_escape(p), class_escape(p), own]);
    let single = p.alt(&[p.class(IN_CLASS), p.seq(&[p.text("\\"), escape])]);
    let item = p.alt(&[single, p.seq(&[range(p), hyphen])]);
    let items = p.seq(&[p.star(p.alt(&[item, p.text("^")])), hyphen]);
    let any = p.seq(&[hyphen, items]);
    let no_caret = p.opt(p.alt(&[p.seq(&[p.text("-"), items]), p.seq(&[item, items])]));
    let inner = p.alt(&[p.seq(&[p.text("^"), any]), no_caret]);
    p.seq(&[p.text("["), inner, p.text("]")])
}

/// A range of a class, its ends in order.
fn range(p: &Pen<'_>) -> ExprId {
    let (hyphen, backslash) = (p.text("-"), p.text("\\"));
    let mut ranges = Vec::new();
    // Ends may not be any of `\`, `]` and `-`, unless escaped.
    let plain = |c: char| !matches!(c, '\\' | ']' | '-');
    let syntax = |c: char| SYNTAX.iter().any(|&(low, high)| (low..=high).contains(&c));
    for low in ' '..='~' {
        // A `^` may only begin a range escaped: it could stand first.
        let starts = [
            (plain(low) && low != '^').then(|| p.text(low.encode_utf8(&mut [0; 4]))),
            syntax(low).then(|| p.seq(&[backslash, p.text(low.encode_utf8(&mut [0; 4]))])),
        ];
        let starts: Vec<ExprId> = starts.into_iter().flatten().collect();
        if starts.is_empty() {
            continue;
        }
        let from = |ranges: &Ranges| -> Vec<(char, char)> {
            let rest = ranges.iter().filter(|range| range.1 >= low);
            rest.map(|&(start, end)| (start.max(low), end)).collect()
        };
        let mut ends = vec![p.class(&from(&[(' ', ','), ('.', '['), ('^', char::MAX)]))];
        let escaped = from(SYNTAX);
        if !escaped.is_empty() {
            ends.push(p.seq(&[backslash, p.class(&escaped)]));
        }
        ranges.push(p.seq(&[p.alt(&starts), hyphen, p.alt(&ends)]));
    }
    for row in ROWS.windows(2) {
        let before =
            p.class(&[(row[0], char::from_u32(u32::from(row[1]) - 1).unwrap_or('\u{d7ff}'))]);
        ranges.push(p.seq(&[before, hyphen, p.class(&[(row[1], char::MAX)])]));
    }
    let two = ordered(p, HEX, 2, p.text("-\\x"));
    ranges.push(p.seq(&[p.text("\\x"), two]));
    ranges.push(code_range(p));
    p.alt(&ranges)
}

/// `\uHHHH-\uHHHH` without surrogates, and `\u{1HHHH}-\u{1HHHH}`: one relation, two spellings.
fn code_range(p: &Pen<'_>) -> ExprId {
    let hex = p.hex();
    let braces = p.times(hex, 4, 4);
    let braces = [p.text("{1"), braces, p.text("}-\\u{1"), braces, p.text("}")];
    let no_surrogate = p.alt(&[
        p.seq(&[
            p.class(&[('0', '9'), ('A', 'C'), ('E', 'F'), ('a', 'c'), ('e', 'f')]),
            p.times(hex, 3, 3),
        ]),
        p.seq(&[p.letter('d'), p.digits(0, 7), p.times(hex, 2, 2)]),
    ]);
    let short = [no_surrogate, p.text("-\\u"), no_surrogate];
    let shape = p.alt(&[p.seq(&braces), p.seq(&short)]);
    let between = p.alt(&[p.text("-\\u"), p.text("}-\\u{1")]);
    let relation = ordered(p, HEX, 4, between);
    let relation = p.seq(&[p.opt(p.text("{1")), relation, p.opt(p.text("}"))]);
    p.seq(&[p.text("\\u"), p.and(&[shape, relation], &[])])
}

/// `*`, `+`, `?` and counts, greedy or not.
fn quantifier(p: &Pen<'_>) -> ExprId {
    let (digit, comma) = (p.digit(), p.text(","));
    let mut counts = vec![p.seq(&[p.plus(digit), p.opt(comma)])];
    for digits in 1..=3 {
        counts.push(ordered(p, DECIMAL, digits, comma));
        let more = p.times(digit, digits, 9);
        counts.push(p.seq(&[p.times(digit, digits, digits), comma, p.digits(1, 9), more]));
    }
    let count = p.seq(&[p.text("{"), p.alt(&counts), p.text("}")]);
    let quantifier = p.alt(&[p.class(&[('*', '+'), ('?', '?')]), count]);
    p.seq(&[quantifier, p.opt(p.text("?"))])
}

/// Digits in order of their value; a hexadecimal digit has two spellings.
type Digits = &'static [&'static Ranges];

#[rustfmt::skip]
const DECIMAL: Digits = &[
    &[('0', '0')], &[('1', '1')], &[('2', '2')], &[('3', '3')], &[('4', '4')], &[('5', '5')],
    &[('6', '6')], &[('7', '7')], &[('8', '8')], &[('9', '9')],
];
#[rustfmt::skip]
const HEX: Digits = &[
    &[('0', '0')], &[('1', '1')], &[('2', '2')], &[('3', '3')], &[('4', '4')], &[('5', '5')],
    &[('6', '6')], &[('7', '7')], &[('8', '8')], &[('9', '9')], &[('A', 'A'), ('a', 'a')],
    &[('B', 'B'), ('b', 'b')], &[('C', 'C'), ('c', 'c')], &[('D', 'D'), ('d', 'd')],
    &[('E', 'E'), ('e', 'e')], &[('F', 'F'), ('f', 'f')],
];

/// Two numbers of `count` digits each, the first no greater than the second.
///
/// The first digit in which they differ is smaller: for each place an intersection of relations of
/// one digit, since a list of all pairs would be long.
fn ordered(p: &Pen<'_>, digits: Digits, count: u32, between: ExprId) -> ExprId {
    let class = |digits: &[&Ranges]| {
        let mut ranges = digits.concat();
        normalise(&mut ranges);
        p.class(&ranges)
    };
    let any = class(digits);
    let relation = |place: u32, partner: &dyn Fn(usize) -> Option<ExprId>| {
        let (before, after) =
            (p.times(any, place, place), p.times(any, count - 1 - place, count - 1 - place));
        let pairs: Vec<ExprId> = (0..digits.len())
            .filter_map(|digit| {
                let second = partner(digit)?;
                Some(p.seq(&[p.class(digits[digit]), after, between, before, second]))
            })
            .collect();
        p.seq(&[before, p.alt(&pairs), after])
    };
    let mut equal = Vec::new();
    let mut alternatives = Vec::new();
    for place in 0..count {
        // In the last place they may be equal, too.
        let first = usize::from(place + 1 < count);
        let smaller = relation(place, &|digit| {
            let greater = &digits[digit + first..];
            (!greater.is_empty()).then(|| class(greater))
        });
        alternatives.push(p.and(&[&equal[..], &[smaller]].concat(), &[]));
        equal.push(relation(place, &|digit| Some(p.class(digits[digit]))));
    }
    p.alt(&alternatives)
}
