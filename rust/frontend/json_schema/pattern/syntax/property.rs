//! `\p{…}`: Unicode properties, from the tables of `regex-syntax`.
//!
//! As in the standard the name is a general category, a binary property, or `Script=`,
//! `Script_Extensions=` or `General_Category=` with a value. Letter case and `_` in names are not
//! checked.

use regex_syntax::hir::{Class, HirKind};

use super::cursor::Cursor;
use crate::frontend::json_schema::pattern::algebra::Ranges;
use crate::frontend::json_schema::pattern::error::PatternError;

/// Reads the braces behind `\p`, or `\P` (which is not applied here).
pub(super) fn property(
    cursor: &mut Cursor<'_>,
    start: usize,
    letter: char,
) -> Result<Ranges, PatternError> {
    let braces = cursor.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let Some((name, _)) = braces else {
        return Err(PatternError::syntax(
            start,
            format!(r"`\{letter}` without a property in braces"),
            format!(r"write it as in `\{letter}{{L}}`, or `{letter}` for the letter"),
        ));
    };
    cursor.at += name.len() + 2;
    find(name).map_err(|hint| {
        PatternError::syntax(
            start,
            format!(r"unknown Unicode property in `\{letter}{{{name}}}`"),
            hint,
        )
    })
}

const HINT: &str = "write a general category such as `\\p{L}` or `\\p{Letter}`, a script as in \
                    `\\p{Script=Greek}`, or a binary property such as `\\p{Alphabetic}`";

/// The characters with a property, or a hint.
fn find(name: &str) -> Result<Ranges, String> {
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let found = match name.split_once('=') {
        Some((key, value)) if is_name(value) => match key {
            "General_Category" | "gc" => lookup(&format!("gc={value}")),
            "Script" | "sc" => lookup(&format!("sc={value}")),
            "Script_Extensions" | "scx" => lookup(&format!("scx={value}")),
            _ => None,
        },
        None if is_name(name) => lookup(&format!("gc={name}")).or_else(|| {
            // Without a key the tables also know scripts, which the standard doesn't.
            if lookup(&format!("sc={name}")).is_some() { None } else { lookup(name) }
        }),
        _ => None,
    };
    found.ok_or_else(|| {
        if is_name(name) && lookup(&format!("sc={name}")).is_some() {
            format!(r"write a script with its key: `\p{{Script={name}}}`")
        } else {
            HINT.to_owned()
        }
    })
}

fn lookup(name: &str) -> Option<Ranges> {
    // Surrogates are characters of no string.
    if ["gc=cs", "gc=surrogate"].contains(&name.to_ascii_lowercase().as_str()) {
        return Some(Vec::new());
    }
    let hir = regex_syntax::parse(&format!(r"\p{{{name}}}")).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.iter().map(|range| (range.start(), range.end())).collect())
        }
        // A property of a single character.
        HirKind::Literal(literal) => {
            let only = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(vec![(only, only)])
        }
        _ => None,
    }
}
