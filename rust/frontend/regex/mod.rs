//! The regex front end: a pattern in the syntax of Rust's `regex` crate → grammar IR.
//!
//! Takes a pattern and gives a grammar with one terminal, whose texts are those that the pattern
//! matches from end to end: `a|b` means exactly `a` or `b`, as `^(a|b)$` does. Lazy quantifiers and
//! captures don't change which texts match, so they leave no trace. Anchors keep their exact
//! meaning wherever they stand (`a*^b` is `b`); what an Earley engine can't enforce, such as
//! lookaround, backreferences and word boundaries, is refused by name.
//!
//! The work is split by stage: `regex-syntax` parses, `translate` walks its syntax tree, `leaf`
//! turns classes into ranges of characters, `nodes` keeps what stands around anchors and `anchors`
//! removes them with the help of `algebra`; `error` words what went wrong. No stage recurses along
//! the nesting of the pattern, and counted repetition stays counted. The front end knows no
//! vocabulary and no automaton.
//!
//! Beyond the `regex` crate `{,5}` is `{0,5}`, and groups may nest without limit. Case folding is
//! Unicode's simple one, character by character: `(?i)k` also matches the Kelvin sign, `(?i)ß`
//! never `ss`. `(?-u:\xFF)` and its like match bytes that are not UTF-8.

mod algebra;
mod anchors;
mod error;
mod leaf;
mod nodes;
#[cfg(test)]
mod tests;
mod translate;

use regex_syntax::ast::parse::ParserBuilder;

pub(crate) use error::PatternError;

use crate::error::GrammarError;
use crate::grammar::{Grammar, GrammarBuilder, SymbolKind};
use crate::index::ExprId;
use crate::span::Span;

/// How a pattern is read before it sets flags of its own (`(?i)`).
#[derive(Clone, Copy, Debug)]
// They are independent of each other, as in the regex syntax itself.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct RegexFlags {
    /// Letters match in both cases (simple case folding).
    pub(crate) i: bool,
    /// `^` and `$` also hold at line breaks.
    pub(crate) m: bool,
    /// `.` matches a line feed, too.
    pub(crate) s: bool,
    /// Classes are of Unicode characters, not of ASCII and bytes.
    pub(crate) u: bool,
    /// Blanks and `#` comments in the pattern are ignored.
    pub(crate) x: bool,
    /// The ends of the pattern are the ends of the text. If not, any anchor is refused.
    pub(crate) anchors: bool,
}

impl Default for RegexFlags {
    /// The defaults of the `regex` crate.
    fn default() -> Self {
        Self { i: false, m: false, s: false, u: true, x: false, anchors: true }
    }
}

/// Reads a pattern as a grammar: its texts are those that the whole pattern matches.
///
/// ```
/// let grammar = earmark::frontend::regex::parse(r"^[0-9]{3}-(?i:x|yz)?$").unwrap();
/// assert_eq!(grammar.to_string(), "*regex ::= [0-9]{3} \"-\" ([Xx] | ([Yy] [Zz]))?\n");
/// ```
pub fn parse(pattern: &str) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let whole = Span::new(0, pattern.len());
    let symbol = builder.declare("regex", SymbolKind::Terminal, whole);
    let body = into_expr(pattern, RegexFlags::default(), &mut builder)
        .map_err(|error| error.into_grammar_error(pattern))?;
    builder.define(symbol, body);
    Ok(builder.finish(symbol))
}

/// Adds what a pattern matches from end to end to a grammar under construction.
pub(crate) fn into_expr(
    pattern: &str,
    flags: RegexFlags,
    builder: &mut GrammarBuilder,
) -> Result<ExprId, PatternError> {
    if let Some(expr) = plain_words(pattern, flags, builder) {
        return Ok(expr);
    }
    // Nesting needs no limit: neither the parser nor anything below recurses along it.
    let ast = ParserBuilder::new()
        .nest_limit(u32::MAX)
        .ignore_whitespace(flags.x)
        .empty_min_range(true)
        .build()
        .parse(pattern)
        .map_err(|error| PatternError::from_syntax(&error))?;
    let (piece, nodes) = translate::translate(pattern, &ast, flags, builder)?;
    anchors::remove(piece, &nodes, builder)
}

/// A pattern without any operator but `|`, such as a list of names.
///
/// PERF: the general way costs 70 ns a byte, mostly for the syntax tree. A list of 10,000 names of
/// 89 KB took 7 ms, now 1 ms. Lists are what large patterns are made of.
fn plain_words(pattern: &str, flags: RegexFlags, builder: &mut GrammarBuilder) -> Option<ExprId> {
    let is_operator = |byte| {
        matches!(byte, b'(' | b')' | b'*' | b'+' | b'.' | b'?' | b'['..=b'^' | b'{' | b'}' | b'$')
    };
    if flags.i || flags.x || pattern.bytes().any(is_operator) {
        return None;
    }
    let words: Vec<_> = pattern.split('|').map(|word| builder.literal(word.as_bytes())).collect();
    Some(builder.alt(&words))
}
