//! Grammar IR → [`CompiledGrammar`]: one pass a file, in the order that [`compile`] lists them.
//!
//! Takes a [`Grammar`] whose names are resolved; gives flat arrays that the recogniser reads and
//! never changes. It knows no vocabulary. Every pass keeps the set of texts; the passes that only
//! make things faster can be switched off ([`CompileOptions`]), which tests do.

mod bnf;
mod components;
mod epsilon;
mod layout;
mod linearise;
mod lower;
mod prune;
mod regular;
mod units;

use std::sync::Arc;

pub use layout::{CompiledGrammar, Lexeme};

use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::Grammar;

/// Which optimisations to make; all by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// Turn regular rules into single lexemes, and neighbouring nameless parts into one.
    pub fold: bool,
    /// Rewrite `A: A x A | y` to the left-recursive `A: A x B | B`, `B: y`.
    pub linearise: bool,
    /// Replace nonterminals that stand for one symbol by that symbol.
    pub collapse_units: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self { fold: true, linearise: true, collapse_units: true }
    }
}

impl CompileOptions {
    /// No optimisation: lexemes are the terminals that the user wrote.
    pub const PLAIN: Self = Self { fold: false, linearise: false, collapse_units: false };
}

/// Compiles a grammar.
///
/// # Errors
/// A grammar without any text, or one past a limit.
pub fn compile(
    grammar: &Arc<Grammar>,
    options: &CompileOptions,
) -> Result<CompiledGrammar, GrammarError> {
    // Every expression that is regular has a regex; terminals all have one.
    let mut regular = regular::find_regular(grammar, options.fold)?;
    // Productions over lexemes, token terminals and nonterminals; groups and repetitions are gone.
    let mut bnf = lower::lower(grammar, &mut regular, options.fold);
    // Every symbol is reachable and has a text.
    prune::prune(&mut bnf);
    // No right-hand side is empty; whether the empty text belongs to the grammar is a flag.
    epsilon::eliminate_empty(&mut bnf);
    prune::prune(&mut bnf);
    if !bnf.accepts_empty && bnf.productions[bnf.start].is_empty() {
        return Err(GrammarError::new(
            GrammarErrorKind::Empty,
            format!(
                "no text belongs to the grammar: `{}` can never be completed",
                grammar.symbols[grammar.start].name
            ),
        )
        .with_hint("give each recursive rule an alternative that does not refer back to it"));
    }
    if options.collapse_units {
        // No nonterminal other than the start stands for a single symbol only.
        units::collapse_units(&mut bnf);
    }
    if options.linearise {
        // No production starts and ends with its own nonterminal. New units may have come.
        linearise::linearise(&mut bnf);
        if options.collapse_units {
            units::collapse_units(&mut bnf);
        }
    }
    prune::prune(&mut bnf);
    Ok(layout::lay_out(grammar, regular, &bnf))
}
