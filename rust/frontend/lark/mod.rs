//! The Lark front end: a grammar in Lark's language → grammar IR.
//!
//! Takes the text, the name of the start rule and a way to get at library texts
//! (`%import common.INT`). What the grammar means is what it means to Lark's Earley parser with the
//! lexer `dynamic_complete`: terminals are regular languages that may end wherever they match, and
//! `%ignore` applies between the terminals of rules, never inside one. Literals in rules become
//! terminals of their own, named as they are written. Tree shaping (`?rule`, `!rule`, `_rule`,
//! `-> alias`) and priorities are checked and leave no trace: they choose between parses of a text
//! and never decide whether it is one.
//!
//! Where this departs from Lark, on purpose:
//! - A terminal may be empty or match the empty text.
//! - Inside brackets a line break needs no `|` after it.
//! - `A: /a|b/ "c"` is `a` or `b`, then `c`; Lark pastes the patterns together (`a|bc`).
//! - Alternatives of a terminal all count (`/a|ab/` matches `ab`), except where a lazy repetition or
//!   a look-behind makes the order of matches the point of the pattern: there the terminal
//!   stands for the texts that Python's engine prefers, so that `/".*?"/` ends at the first quote.
//! - An escape in a regexp is a literal character: `/\x2e/` is a dot.
//!
//! The work is split by stage: `lexer`, `parser` and `body` make an `ast`; `import` knows the texts
//! and whose names are whose; `lower` (rules) and `terminal` build the IR with `literal` and
//! `python` (regexps); `ordered`, `automaton` and `eliminate` serve the terminals whose matches have
//! an order. Everything is a loop or bounded: nesting costs no native stack. The front end knows no
//! lexer, no parser of the engine, and no vocabulary.

mod ast;
mod automaton;
mod body;
mod eliminate;
mod fault;
mod import;
mod lexer;
mod literal;
mod lower;
mod ordered;
mod parser;
mod python;
mod terminal;
#[cfg(test)]
mod tests;

use crate::error::GrammarError;
use crate::grammar::Grammar;

/// Reads a grammar in Lark's language.
///
/// `library` gives the text of a library by its name, such as `common`, and `None` where there is
/// none.
///
/// ```
/// use earmark::frontend::lark;
///
/// let text = r#"
///     start: "[" (NUMBER ("," NUMBER)*)? "]"
///     NUMBER: "0".."9"+
/// "#;
/// let grammar = lark::parse(text, "start", &|_| None).unwrap();
/// assert_eq!(grammar.symbols[grammar.start].name, "start");
/// ```
pub fn parse(
    text: &str,
    start: &str,
    library: &dyn Fn(&str) -> Option<String>,
) -> Result<Grammar, GrammarError> {
    lower::lower(import::Files::new(text, library)?, start)
}
