//! Escapes: what stands behind a backslash.

use super::cursor::Cursor;
use super::groups::{self, Groups};
use super::property;
use crate::frontend::classes;
use crate::frontend::json_schema::pattern::algebra::{Ranges, word};
use crate::frontend::json_schema::pattern::error::PatternError;

/// What an escape means.
pub(super) enum Escape {
    /// A code point; a surrogate is no character of any string.
    Char(u32),
    Class(Ranges),
    Boundary {
        negated: bool,
    },
    /// A backreference that stands for a group of the pattern.
    Reference,
}

const DIGITS: &[(char, char)] = &[('0', '9')];
/// `WhiteSpace` and `LineTerminator` of the standard.
const SPACES: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{A0}', '\u{A0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200A}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202F}', '\u{202F}'),
    ('\u{205F}', '\u{205F}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{FEFF}', '\u{FEFF}'),
];

/// Reads an escape whose backslash, at `start`, has been read.
pub(super) fn escape<'p>(
    cursor: &mut Cursor<'p>,
    start: usize,
    in_class: bool,
    groups: &mut Option<Groups<'p>>,
) -> Result<Escape, PatternError> {
    let Some(letter) = cursor.next() else {
        return Err(PatternError::syntax(
            start,
            "the pattern ends with a backslash",
            r"write `\\` for a backslash",
        ));
    };
    let char = |c: char| Ok(Escape::Char(c.into()));
    match letter {
        'd' => Ok(Escape::Class(DIGITS.to_vec())),
        'D' => Ok(Escape::Class(classes::negate(DIGITS))),
        's' => Ok(Escape::Class(SPACES.to_vec())),
        'S' => Ok(Escape::Class(classes::negate(SPACES))),
        'w' => Ok(Escape::Class(word())),
        'W' => Ok(Escape::Class(classes::negate(&word()))),
        'b' if in_class => char('\u{8}'),
        'b' | 'B' if !in_class => Ok(Escape::Boundary { negated: letter == 'B' }),
        't' => char('\t'),
        'n' => char('\n'),
        'v' => char('\u{B}'),
        'f' => char('\u{C}'),
        'r' => char('\r'),
        'c' => Ok(Escape::Char(control(cursor, in_class))),
        'x' => Ok(Escape::Char(cursor.hexadecimal(2).unwrap_or('x'.into()))),
        'u' => unicode(cursor, start).map(Escape::Char),
        'p' | 'P' => {
            let mut ranges = property::property(cursor, start, letter)?;
            if letter == 'P' {
                ranges = classes::negate(&ranges);
            }
            Ok(Escape::Class(ranges))
        }
        '0'..='9' => {
            cursor.at -= 1;
            Ok(decimal(cursor, in_class, groups))
        }
        'k' if !in_class => {
            let groups = groups.get_or_insert_with(|| groups::scan(cursor.pattern));
            if groups.names.is_empty() {
                return char('k');
            }
            let name = cursor.rest().strip_prefix('<').and_then(|rest| rest.split_once('>'));
            match name {
                Some((name, _)) if groups.names.contains(&name) => {
                    cursor.at += name.len() + 2;
                    Ok(Escape::Reference)
                }
                _ => Err(PatternError::syntax(
                    start,
                    r"`\k` without the name of a group of this pattern",
                    r"write `\k<name>` for a backreference, or `k` for the letter",
                )),
            }
        }
        _ => match foreign(letter) {
            Some(hint) => {
                Err(PatternError::syntax(start, format!("unknown escape `\\{letter}`"), hint))
            }
            None => char(letter),
        },
    }
}

/// `\cA` and the like. Annex B: without a letter the backslash stands for itself.
fn control(cursor: &mut Cursor<'_>, in_class: bool) -> u32 {
    match cursor.peek() {
        Some(c) if c.is_ascii_alphabetic() || in_class && (c.is_ascii_digit() || c == '_') => {
            cursor.at += 1;
            u32::from(c) % 32
        }
        _ => {
            // The `c` is a character of its own.
            cursor.at -= 1;
            '\\'.into()
        }
    }
}

/// `\u0041`, `\u{41}` and surrogate pairs. Annex B: with too few digits it is a `u`.
fn unicode(cursor: &mut Cursor<'_>, start: usize) -> Result<u32, PatternError> {
    let mut ahead = *cursor;
    if ahead.eat("{") {
        if let Some(value) = ahead.number(16, usize::MAX)
            && ahead.eat("}")
        {
            *cursor = ahead;
            return u32::try_from(value).ok().filter(|&value| value <= 0x10_FFFF).ok_or_else(
                || {
                    PatternError::syntax(
                        start,
                        "this escape is not a character",
                        r"code points go up to `\u{10FFFF}`",
                    )
                },
            );
        }
        return Ok('u'.into());
    }
    let Some(high) = cursor.hexadecimal(4) else { return Ok('u'.into()) };
    if (0xD800..0xDC00).contains(&high) {
        let mut ahead = *cursor;
        if ahead.eat("\\u")
            && let Some(low) = ahead.hexadecimal(4)
            && (0xDC00..0xE000).contains(&low)
        {
            *cursor = ahead;
            return Ok(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
    }
    Ok(high)
}

/// A backreference, or (Annex B) a character in octal, or a digit.
fn decimal<'p>(cursor: &mut Cursor<'p>, in_class: bool, groups: &mut Option<Groups<'p>>) -> Escape {
    if !in_class && cursor.peek() != Some('0') {
        let groups = groups.get_or_insert_with(|| groups::scan(cursor.pattern));
        let mut ahead = *cursor;
        if ahead.number(10, usize::MAX).is_some_and(|group| group <= groups.count) {
            *cursor = ahead;
            return Escape::Reference;
        }
    }
    // Octal escapes go up to 377.
    let digits = if matches!(cursor.peek(), Some('0'..='3')) { 3 } else { 2 };
    match cursor.number(8, digits) {
        Some(value) => Escape::Char(value as u32),
        // 8 and 9 are no octal digits.
        None => Escape::Char(cursor.next().unwrap_or('8').into()),
    }
}

/// What to write for an escape of another dialect. Other letters stand for themselves (Annex B).
fn foreign(letter: char) -> Option<&'static str> {
    Some(match letter {
        'A' => "write `^` for the start of the string",
        'z' | 'Z' => "write `$` for the end of the string",
        'a' => r"write `\x07` for the bell character, or `a` for the letter",
        'e' => r"write `\x1B` for the escape character, or `e` for the letter",
        'G' | 'K' => "leave it out",
        'g' => "write the possible texts as alternatives, or `g` for the letter",
        'h' => r"write `[ \t]` for a blank, or `h` for the letter",
        'H' => r"write `[^ \t]` for all but blanks, or `H` for the letter",
        'N' => r"write `.` for all but line breaks, or `N` for the letter",
        'Q' | 'E' => r"escape each special character, as in `\.\*`",
        'R' => r"write `(?:\r\n|[\n\v\f\r\u2028\u2029])` for a line break, or `R` for the letter",
        'U' => r"write `\u{1F600}` for a character by its code point, or `U` for the letter",
        'X' => r"write `\P{M}\p{M}*` for a character with its marks, or `X` for the letter",
        _ => return None,
    })
}
