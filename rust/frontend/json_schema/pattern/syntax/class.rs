//! Classes in brackets.

use super::cursor::Cursor;
use super::escape::{Escape, escape};
use super::groups::Groups;
use crate::frontend::classes;
use crate::frontend::json_schema::pattern::algebra::Ranges;
use crate::frontend::json_schema::pattern::error::PatternError;

/// A part of a class.
enum Item {
    Char(u32),
    Class(Ranges),
}

/// Reads a class whose `[`, at `start`, has been read.
pub(super) fn class<'p>(
    cursor: &mut Cursor<'p>,
    start: usize,
    groups: &mut Option<Groups<'p>>,
) -> Result<Ranges, PatternError> {
    let negated = cursor.eat("^");
    let mut ranges = Ranges::new();
    while !cursor.eat("]") {
        let at = cursor.at;
        let low = item(cursor, start, groups)?;
        if !cursor.rest().starts_with('-') || cursor.rest().starts_with("-]") {
            add(&mut ranges, low);
            continue;
        }
        cursor.at += 1;
        match (low, item(cursor, start, groups)?) {
            (Item::Char(low), Item::Char(high)) if low <= high => push(&mut ranges, low, high),
            (Item::Char(_), Item::Char(_)) => {
                return Err(PatternError::syntax(
                    at,
                    format!(
                        "reversed range `{}` in a character class",
                        &cursor.pattern[at..cursor.at]
                    ),
                    r"write the lower end first, or `\-` for a hyphen",
                ));
            }
            // Annex B: beside a class a hyphen is a hyphen.
            (low, high) => {
                add(&mut ranges, low);
                add(&mut ranges, Item::Char('-'.into()));
                add(&mut ranges, high);
            }
        }
    }
    classes::normalise(&mut ranges);
    Ok(if negated { classes::negate(&ranges) } else { ranges })
}

fn item<'p>(
    cursor: &mut Cursor<'p>,
    start: usize,
    groups: &mut Option<Groups<'p>>,
) -> Result<Item, PatternError> {
    let at = cursor.at;
    match cursor.next() {
        None => Err(PatternError::syntax(
            start,
            "unterminated character class",
            r"close it with `]`, or write `\[` for a bracket",
        )),
        Some('\\') => match escape(cursor, at, true, groups)? {
            Escape::Class(ranges) => Ok(Item::Class(ranges)),
            Escape::Char(char) => Ok(Item::Char(char)),
            Escape::Boundary { .. } | Escape::Reference => {
                unreachable!("neither is an escape of a class")
            }
        },
        Some(char) => Ok(Item::Char(char.into())),
    }
}

fn add(ranges: &mut Ranges, item: Item) {
    match item {
        Item::Char(char) => push(ranges, char, char),
        Item::Class(more) => ranges.extend(more),
    }
}

/// Adds a range of code points without the surrogates, which no string has.
fn push(ranges: &mut Ranges, low: u32, high: u32) {
    let is_surrogate = |code| (0xD800..0xE000).contains(&code);
    let low = if is_surrogate(low) { 0xE000 } else { low };
    let high = if is_surrogate(high) { 0xD7FF } else { high };
    if let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
        && low <= high
    {
        ranges.push((low, high));
    }
}
