//! ECMA-262 regular expressions, as JSON Schema uses them → expressions of whole strings.
//!
//! Takes a `pattern` and gives an expression over characters (`Class`, `Literal`, `Seq`, `Alt`,
//! `Repeat` and `And`, as UTF-8) for the strings in which the pattern matches *somewhere*: `b+` is
//! `Σ* "b" Σ*`, `^a$` is `"a"`. The language is exact; what can't be turned into such an expression
//! is refused by name.
//!
//! A pattern means what it means under the flag `u`: it matches Unicode scalar values, and a lone
//! surrogate matches nothing, since no string has one. What is a syntax error under `u` but not
//! without it (Annex B of the standard: `\-`, a lone `{`, `[\w-x]`) is read as without it, since
//! schemas are full of that. Letters that other dialects give a meaning to (`\A`, `\Z`, `\pL`) are
//! the exception: those are errors. Captures and laziness don't change which strings match.
//!
//! `syntax` reads a pattern into expressions as far as it is free of assertions, and into `nodes`
//! where it holds some; `solve` removes these with the help of `algebra`, `narrow`, `forms`,
//! `behind` and `tempered`; `reverse` turns patterns around whose lookbehind is long. Nothing
//! recurses along the nesting but through assertions, whose depth is limited, and counted
//! repetition stays counted.

mod algebra;
mod behind;
mod error;
mod forms;
mod narrow;
mod nodes;
mod reverse;
mod solve;
mod syntax;
mod tempered;
#[cfg(test)]
mod tests;

pub(in crate::frontend::json_schema) use error::PatternError;

use algebra::Algebra;

use crate::grammar::GrammarBuilder;
use crate::index::ExprId;

/// The whole strings, as values (no quotes, no escapes), in which a pattern matches somewhere.
pub(in crate::frontend::json_schema) fn search(
    pattern: &str,
    builder: &mut GrammarBuilder,
) -> Result<ExprId, PatternError> {
    let mut algebra = Algebra::new(builder);
    let parsed = syntax::parse(pattern, &mut algebra).and_then(|parsed| match parsed.refused {
        Some(error) => Err(error),
        None => solve::search(parsed.root, parsed.nodes, pattern.len(), &mut algebra),
    });
    parsed.map_err(|error| error.in_characters(pattern))
}

/// Whether a pattern is a regular expression at all, enforceable or not.
#[cfg(test)]
fn check(pattern: &str) -> Result<(), PatternError> {
    let mut builder = GrammarBuilder::new();
    match syntax::parse(pattern, &mut Algebra::new(&mut builder)) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.in_characters(pattern)),
    }
}
