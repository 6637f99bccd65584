//! International domain names: U-labels of RFC 5890 to 5893 and labels of ASCII, with any of the
//! four dots that RFC 3490 knows.
//!
//! A name is what all of these have: characters of RFC 5892, each beside those its rules ask for;
//! labels and names that are short enough; the directions of RFC 5893. What a label may not have is
//! subtracted: a mark or a hyphen first, a hyphen last, two of them third and fourth. (That Arabic-Indic digits do not mix with the extended ones
//! follows from the directions.)
//!
//! Not regular in any size that could be used, and so not there: labels in punycode are left out;
//! a label has at most 57 characters, since it would have more than 63 in punycode otherwise, but
//! one with characters from all over Unicode may still be too long; normalisation form C is not
//! checked. A few rarities are left out to keep the classes small: a mark behind a hyphen or
//! another neutral character, marks of foreign scripts in labels from right to left, joiners in
//! labels from left to right beside such labels.

use super::idn_tables::{
    ARABIC_NUMBER, EUROPEAN_NUMBER, GREEK, HEBREW, JOINS_AFTER, JOINS_BEFORE, JOINS_BOTH,
    KANA_OR_HAN, LABEL, MARK, NEUTRAL, RIGHT_TO_LEFT, TRANSPARENT, VIRAMA,
};
use super::pen::{Pen, Ranges};
use crate::frontend::classes::{negate, normalise};
use crate::index::ExprId;

/// The dot of ASCII, which separates the labels of mail domains.
pub(super) const FULL_STOP: &Ranges = &[('.', '.')];
/// Full stop, ideographic, fullwidth and halfwidth ideographic full stop.
const DOTS: &Ranges =
    &[('.', '.'), ('\u{3002}', '\u{3002}'), ('\u{ff0e}', '\u{ff0e}'), ('\u{ff61}', '\u{ff61}')];
/// Zero width non-joiner and joiner.
const JOINERS: &Ranges = &[('\u{200c}', '\u{200d}')];
/// Hebrew punctuation geresh and gershayim.
const GERESH: &Ranges = &[('\u{5f3}', '\u{5f4}')];
/// What needs certain neighbours, besides those: middle dot and Greek lower numeral sign.
const PLACED: &Ranges = &[('\u{b7}', '\u{b7}'), ('\u{375}', '\u{375}')];
/// Letters, digits and hyphens of ASCII.
const LDH: &Ranges = &[('-', '-'), ('0', '9'), ('A', 'Z'), ('a', 'z')];

/// A host name.
pub(super) fn hostname(p: &Pen<'_>) -> ExprId {
    domain(p, DOTS)
}

/// Labels with dots of these kinds between them.
pub(super) fn domain(p: &Pen<'_>, dots: &Ranges) -> ExprId {
    let dot = p.class(dots);
    let label = p.alt(&[p.times(p.class(LABEL), 1, 57), p.times(p.class(LDH), 1, 63)]);
    let labels = p.list(label, dot);
    let placed = p.list(p.plus(unit(p)), dot);
    let short = p.times(p.any(), 1, 253);
    p.and(&[labels, placed, directed(p, dot), with_kana(p, dot), short], &[misplaced(p, dot)])
}

/// Names in which a label with a Katakana middle dot has Kana or Han as well.
fn with_kana(p: &Pen<'_>, dot: ExprId) -> ExprId {
    let any = p.star(p.class(&others(&[DOTS])));
    let without_dot = p.star(p.class(&others(&[DOTS, &[('\u{30fb}', '\u{30fb}')]])));
    p.list(p.alt(&[without_dot, p.seq(&[any, p.class(KANA_OR_HAN), any])]), dot)
}

/// A character that may stand anywhere, or one that needs others beside it together with those.
fn unit(p: &Pen<'_>) -> ExprId {
    let plain = p.class(&others(&[PLACED, GERESH, JOINERS, DOTS]));
    let middle_dots = p.seq(&[p.text("l"), p.plus(p.text("\u{b7}l"))]);
    let numeral = p.seq(&[p.plus(p.text("\u{375}")), p.class(GREEK)]);
    let geresh = p.seq(&[p.class(HEBREW), p.plus(p.class(GERESH))]);
    let conjunct = p.seq(&[p.class(VIRAMA), p.class(JOINERS)]);
    let marks = p.star(p.class(TRANSPARENT));
    let gap = p.seq(&[marks, p.text("\u{200c}"), marks]);
    let more = p.star(p.seq(&[p.class(JOINS_BOTH), gap]));
    let joined = p.seq(&[p.class(JOINS_AFTER), gap, more, p.class(JOINS_BEFORE)]);
    p.alt(&[plain, middle_dots, numeral, geresh, conjunct, joined])
}

/// Names without any character from right to left, and those whose labels obey the Bidi rule.
fn directed(p: &Pen<'_>, dot: ExprId) -> ExprId {
    let without = p.star(p.class(&others(&[RIGHT_TO_LEFT, ARABIC_NUMBER])));

    let marks = p.star(p.class(TRANSPARENT));
    let inner = [RIGHT_TO_LEFT, TRANSPARENT, NEUTRAL, JOINERS];
    let until = |digits: &Ranges| {
        let inner = p.star(p.class(&union(&[&inner[..], &[digits]].concat())));
        p.seq(&[inner, p.class(&union(&[RIGHT_TO_LEFT, digits]))])
    };
    let right_to_left = p.seq(&[
        p.class(RIGHT_TO_LEFT),
        p.opt(p.alt(&[until(ARABIC_NUMBER), until(EUROPEAN_NUMBER)])),
        marks,
    ]);

    let outside = [RIGHT_TO_LEFT, ARABIC_NUMBER, JOINERS, DOTS];
    let except = |more: &[&Ranges]| p.class(&others(&[&outside[..], more].concat()));
    let left_to_right = p.seq(&[
        except(&[EUROPEAN_NUMBER, NEUTRAL]),
        p.opt(p.seq(&[p.star(except(&[])), except(&[NEUTRAL])])),
    ]);
    p.alt(&[without, p.list(p.alt(&[right_to_left, left_to_right]), dot)])
}

/// Names with a label that has something where it may not.
fn misplaced(p: &Pen<'_>, dot: ExprId) -> ExprId {
    let anything = p.star(p.any());
    let before = p.opt(p.seq(&[anything, dot]));
    let after = p.opt(p.seq(&[dot, anything]));
    let inner = p.class(&others(&[DOTS]));
    let bad_start =
        p.alt(&[p.class(&union(&[MARK, &[('-', '-')]])), p.seq(&[inner, inner, p.text("--")])]);
    p.alt(&[
        p.seq(&[before, bad_start, anything]),
        p.seq(&[anything, p.text("-"), after]),
        p.seq(&[anything, p.class(NEUTRAL), p.class(MARK), anything]),
    ])
}

fn union(classes: &[&Ranges]) -> Vec<(char, char)> {
    let mut ranges = classes.concat();
    normalise(&mut ranges);
    ranges
}

fn others(classes: &[&Ranges]) -> Vec<(char, char)> {
    negate(&union(classes))
}
