//! The GBNF front end: grammars in llama.cpp's notation → grammar IR.
//!
//! Takes a text of rules `name ::= alternatives` and the name of the rule to start from; gives a
//! grammar with one rule a symbol, in the order of the text. Every rule is checked, also those that
//! the start can't reach. Left recursion, rules without text and cycles of names are fine.
//!
//! Two passes, both linear, neither recursive: `lexer` splits the text into lexemes and builds
//! its literals and classes, `parser` declares all rules, so that they can refer to later ones,
//! and then reads their bodies. `escape` reads one character of a literal or class.
//!
//! Where the notation leaves room:
//! - A rule ends at a line break outside of groups, unless the next line that is not blank starts
//!   with `|`. Line breaks after `::=` and `|` never end a rule.
//! - An alternative may be empty: `space ::= | " "` is an optional blank.
//! - `.` and `[^…]` match line breaks, too. All escapes are characters: `\xE9` is `é`, as UTF-8.
//! - Repetition operators may follow each other, each applies to all that is before it.
//! - A defined name is defined once.

mod escape;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;

use crate::error::GrammarError;
use crate::grammar::{Grammar, GrammarBuilder};

/// Reads a GBNF grammar, to start from the rule `root`.
///
/// ```
/// let text = r#"
///     root  ::= item ("," item)*   # a list
///     item  ::= [0-9]+ | "-"
/// "#;
/// let grammar = earmark::frontend::gbnf::parse(text, "root").unwrap();
/// assert_eq!(
///     grammar.to_string(),
///     "*root ::= item (\",\" item)*\nitem ::= [0-9]+ | \"-\"\n"
/// );
/// ```
pub fn parse(text: &str, root: &str) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let lexemes = lexer::split(text, &mut builder)?;
    parser::parse(text, &lexemes, root, builder)
}
