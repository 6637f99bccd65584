//! Strings as JSON spells them: a language of values → the language of their spellings.
//!
//! Reading a spelling is a function, so the spellings of an intersection are the intersection of
//! the spellings, and it is enough to replace each character by its spellings.

use super::Emitter;
use crate::frontend::json_schema::options::Escapes;
use crate::grammar::{Expr, GrammarBuilder};
use crate::index::ExprId;

/// Characters with an escape of two, and the letter of it (RFC 8259, section 7).
const SHORT: [(char, u8); 8] = [
    ('\u{8}', b'b'),
    ('\t', b't'),
    ('\n', b'n'),
    ('\u{c}', b'f'),
    ('\r', b'r'),
    ('"', b'"'),
    ('/', b'/'),
    ('\\', b'\\'),
];

impl Emitter<'_> {
    /// The spellings of one string, with quotes.
    pub(super) fn quoted(&mut self, word: &str) -> ExprId {
        let escapes = self.algebra.options.escapes;
        let builder = &mut self.algebra.builder;
        if escapes == Escapes::Minimal && word.chars().all(is_plain) {
            return builder.literal(&[b"\"", word.as_bytes(), b"\""].concat());
        }
        let expr = builder.literal(word.as_bytes());
        let spelled = literal(builder, word.as_bytes(), expr, escapes);
        let quote = builder.literal(b"\"");
        builder.seq(&[quote, spelled, quote])
    }

    /// The spellings of the strings of an expression, without quotes.
    pub(super) fn spell(&mut self, root: ExprId) -> ExprId {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.spelled.contains_key(&id) {
                stack.pop();
                continue;
            }
            let expr = self.algebra.builder.expr(id).clone();
            let known = stack.len();
            let missing = |part: &&ExprId| !self.spelled.contains_key(*part);
            match &expr {
                Expr::Seq(parts) | Expr::Alt(parts) => stack.extend(parts.iter().filter(missing)),
                Expr::Repeat { expr, .. } => stack.extend(Some(expr).into_iter().filter(missing)),
                Expr::And { all, none } => {
                    stack.extend(all.iter().chain(none.iter()).filter(missing));
                }
                _ => {}
            }
            if stack.len() > known {
                continue;
            }
            let of = |parts: &[ExprId]| -> Vec<ExprId> {
                parts.iter().map(|part| self.spelled[part]).collect()
            };
            let escapes = self.algebra.options.escapes;
            let builder = &mut self.algebra.builder;
            let spelled = match &expr {
                Expr::Literal(bytes) => literal(builder, bytes, id, escapes),
                Expr::Class(ranges) => class(builder, ranges, escapes),
                Expr::Seq(parts) => {
                    let parts = of(parts);
                    builder.seq(&parts)
                }
                Expr::Alt(parts) => {
                    let parts = of(parts);
                    builder.alt(&parts)
                }
                &Expr::Repeat { expr, min, max } => builder.repeat(self.spelled[&expr], min, max),
                Expr::And { all, none } => {
                    let (all, none) = (of(all), of(none));
                    builder.and(&all, &none)
                }
                // Languages of strings are made of the above.
                _ => id,
            };
            self.spelled.insert(id, spelled);
            stack.pop();
        }
        self.spelled[&root]
    }
}

/// The spellings of a text: its runs of plain characters stay literals.
fn literal(builder: &mut GrammarBuilder, bytes: &[u8], id: ExprId, escapes: Escapes) -> ExprId {
    let text = String::from_utf8_lossy(bytes);
    if escapes == Escapes::Minimal && text.chars().all(is_plain) {
        return id;
    }
    let mut parts = Vec::new();
    let mut run = String::new();
    for c in text.chars() {
        if escapes == Escapes::Minimal && is_plain(c) {
            run.push(c);
            continue;
        }
        if !run.is_empty() {
            parts.push(builder.literal(run.as_bytes()));
            run.clear();
        }
        parts.push(class(builder, &[(c, c)], escapes));
    }
    if !run.is_empty() {
        parts.push(builder.literal(run.as_bytes()));
    }
    builder.seq(&parts)
}

/// A string as errors and `print` show it.
pub(super) fn shown(word: &str) -> String {
    // PERF: most names are plain; the formatter of strings looks at each character in tables.
    if word.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
        ["\"", word, "\""].concat()
    } else {
        format!("{word:?}")
    }
}

/// Whether a character has itself as its only spelling.
fn is_plain(c: char) -> bool {
    c >= ' ' && !matches!(c, '"' | '\\' | '/')
}

/// The spellings of one character of the ranges.
fn class(builder: &mut GrammarBuilder, ranges: &[(char, char)], escapes: Escapes) -> ExprId {
    let contains = |c: char| ranges.iter().any(|&(low, high)| low <= c && c <= high);
    let mut parts = Vec::new();
    let raw = without(ranges, &[('\0', '\u{1f}'), ('"', '"'), ('\\', '\\')]);
    if !raw.is_empty() {
        parts.push(builder.class(&raw));
    }
    let mut letters: Vec<u8> =
        SHORT.iter().filter(|(c, _)| contains(*c)).map(|&(_, letter)| letter).collect();
    letters.sort_unstable();
    let mut escaped = Vec::new();
    if !letters.is_empty() {
        let letters: Vec<(char, char)> =
            letters.into_iter().map(|letter| (char::from(letter), char::from(letter))).collect();
        escaped.push(builder.class(&merged(letters)));
    }
    let in_hex = match escapes {
        Escapes::All => ranges.to_vec(),
        Escapes::Minimal => {
            let short: Vec<(char, char)> = SHORT.iter().map(|&(c, _)| (c, c)).collect();
            without(&without(ranges, &[(' ', char::MAX)]), &short)
        }
    };
    escaped.extend(hexadecimal(builder, &in_hex));
    if !escaped.is_empty() {
        let backslash = builder.literal(b"\\");
        let escaped = builder.alt(&escaped);
        parts.push(builder.seq(&[backslash, escaped]));
    }
    builder.alt(&parts)
}

fn merged(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    crate::frontend::classes::normalise(&mut ranges);
    ranges
}

/// The characters of some ranges that are in none of others; both sorted and disjoint.
fn without(ranges: &[(char, char)], others: &[(char, char)]) -> Vec<(char, char)> {
    let mut others = others.to_vec();
    crate::frontend::classes::normalise(&mut others);
    let kept = crate::frontend::classes::negate(&others);
    let mut left = Vec::new();
    for &(low, high) in ranges {
        for &(from, to) in &kept {
            let (from, to) = (low.max(from), high.min(to));
            if from <= to {
                left.push((from, to));
            }
        }
    }
    left
}

/// `uXXXX` for the characters of the ranges; two of them, with a backslash between, beyond U+FFFF.
fn hexadecimal(builder: &mut GrammarBuilder, ranges: &[(char, char)]) -> Option<ExprId> {
    let mut units: Vec<(u32, u32)> = Vec::new();
    let mut pairs: Vec<ExprId> = Vec::new();
    for &(low, high) in ranges {
        let (low, high) = (u32::from(low), u32::from(high));
        if low <= 0xffff {
            let top = high.min(0xffff);
            // No lone surrogates.
            if low < 0xd800 {
                units.push((low, top.min(0xd7ff)));
            }
            if top > 0xdfff {
                units.push((low.max(0xe000), top));
            }
        }
        if high > 0xffff {
            surrogates(builder, low.max(0x1_0000) - 0x1_0000, high - 0x1_0000, &mut pairs);
        }
    }
    let mut parts: Vec<ExprId> =
        units.into_iter().map(|(low, high)| digits(builder, low, high, 4)).collect();
    parts.append(&mut pairs);
    if parts.is_empty() {
        return None;
    }
    let u = builder.literal(b"u");
    let four = builder.alt(&parts);
    Some(builder.seq(&[u, four]))
}

/// Surrogate pairs of the offsets `low..=high` from U+10000.
fn surrogates(builder: &mut GrammarBuilder, low: u32, high: u32, pairs: &mut Vec<ExprId>) {
    let mut from = low;
    while from <= high {
        // As many leads as have all their trails, or a part of one lead's.
        let last_of_lead = from | 0x3ff;
        let to = if from.is_multiple_of(0x400) && high >= last_of_lead {
            ((high + 1) & !0x3ff) - 1
        } else {
            high.min(last_of_lead)
        };
        let lead = digits(builder, 0xd800 + (from >> 10), 0xd800 + (to >> 10), 4);
        let (first, last) =
            if from >> 10 == to >> 10 { (from & 0x3ff, to & 0x3ff) } else { (0, 0x3ff) };
        let trail = digits(builder, 0xdc00 + first, 0xdc00 + last, 4);
        let between = builder.literal(b"\\u");
        pairs.push(builder.seq(&[lead, between, trail]));
        from = to + 1;
    }
}

/// Hexadecimal numbers `low..=high` of `count` digits, in either case.
fn digits(builder: &mut GrammarBuilder, low: u32, high: u32, count: u32) -> ExprId {
    if count == 0 {
        return builder.empty();
    }
    let unit = 1u32 << (4 * (count - 1));
    let (first, last) = (low / unit, high / unit);
    let (low_rest, high_rest) = (low % unit, high % unit);
    let mut parts = Vec::new();
    let mut add = |builder: &mut GrammarBuilder, from: u32, to: u32, low: u32, high: u32| {
        let head = digit(builder, from, to);
        let rest = digits(builder, low, high, count - 1);
        parts.push(builder.seq(&[head, rest]));
    };
    if first == last {
        add(builder, first, last, low_rest, high_rest);
    } else {
        let (mut from, mut to) = (first, last);
        if low_rest > 0 {
            add(builder, first, first, low_rest, unit - 1);
            from += 1;
        }
        if high_rest < unit - 1 {
            add(builder, last, last, 0, high_rest);
            to -= 1;
        }
        if from <= to {
            add(builder, from, to, 0, unit - 1);
        }
    }
    builder.alt(&parts)
}

/// One hexadecimal digit of a range.
fn digit(builder: &mut GrammarBuilder, from: u32, to: u32) -> ExprId {
    let ranges = (from..=to).flat_map(|value| {
        let lower = char::from_digit(value, 16).unwrap_or('0');
        [(lower, lower), (lower.to_ascii_uppercase(), lower.to_ascii_uppercase())]
    });
    let ranges = merged(ranges.collect());
    builder.class(&ranges)
}
