//! Grammar IR → [`CompiledGrammar`]: one pass a file, in the order that [`compile`] lists them.
//!
//! Takes a [`Grammar`] whose names are resolved; gives flat arrays that the recogniser reads and
//! never changes. It knows no vocabulary. Every pass keeps the set of texts; the passes that only
//! make things faster can be switched off ([`CompileOptions`]), which tests do.

mod bnf;
mod components;
mod epsilon;
mod language;
mod layout;
mod levels;
mod linearise;
mod lower;
mod merge;
mod prune;
mod regexes;
mod regular;
mod units;

use std::sync::Arc;

pub(crate) use language::Languages;
pub use layout::{CompiledGrammar, Lexeme, LexemeName};
pub use regexes::Effort;
pub(crate) use regular::Known;

use crate::earley::left_nesting;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::Grammar;

/// Which optimisations to make, all by default, and how much may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each named")]
pub struct CompileOptions {
    /// Turn regular rules into single lexemes, and neighbouring nameless parts into one.
    pub fold: bool,
    /// Rewrite `A: A x A | y` to the left-recursive `A: A x B | B`, `B: y`.
    pub linearise: bool,
    /// Replace nonterminals that stand for one symbol by that symbol.
    pub collapse_units: bool,
    /// Make one level of the levels of precedence.
    pub merge_levels: bool,
    /// Make one production of those that differ in one short lexeme.
    pub merge_alternatives: bool,
    /// How much terminals may ask for.
    pub effort: Effort,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            fold: true,
            linearise: true,
            collapse_units: true,
            merge_levels: true,
            merge_alternatives: true,
            effort: Effort::default(),
        }
    }
}

impl CompileOptions {
    /// No optimisation: lexemes are the terminals that the user wrote.
    pub const PLAIN: Self = Self {
        fold: false,
        linearise: false,
        collapse_units: false,
        merge_levels: false,
        merge_alternatives: false,
        effort: Effort::USUAL,
    };
}

/// Grammars with at most this many nonterminals can't nest too deeply.
const FEW_NONTERMINALS: usize = 300;
/// About 500 rules deep, where the first mask takes a second.
const MAX_LEFT_NESTING: usize = 1 << 17;

/// Compiles a grammar.
///
/// # Errors
/// A grammar without any text, or one past a limit.
pub fn compile(
    grammar: &Arc<Grammar>,
    options: &CompileOptions,
) -> Result<CompiledGrammar, GrammarError> {
    compile_with(grammar, *options, None)
}

/// The same for a grammar of whose first expressions something is known.
pub(crate) fn compile_with(
    grammar: &Arc<Grammar>,
    options: CompileOptions,
    known: Option<&Known>,
) -> Result<CompiledGrammar, GrammarError> {
    // Every expression that is regular has a regex; terminals all have one.
    let mut regular = regular::find_regular(grammar, options.fold, options.effort, known)?;
    // Productions over lexemes, token terminals and nonterminals; groups and repetitions are gone.
    // Members stay tables: their productions are made when they are needed.
    let mut bnf = lower::lower(grammar, &mut regular, options.fold)?;
    // Every symbol is reachable and has a text.
    prune::prune(&mut bnf)?;
    // No right-hand side is empty; whether the empty text belongs to the grammar is a flag.
    if epsilon::eliminate_empty(&mut bnf)? {
        prune::prune(&mut bnf)?;
    }
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
        if linearise::linearise(&mut bnf) && options.collapse_units {
            units::collapse_units(&mut bnf);
        }
    }
    if options.merge_levels {
        // No left-recursive nonterminal has a left-recursive one as its only base.
        levels::merge_levels(&mut bnf);
    }
    if options.merge_alternatives {
        // No two productions of a nonterminal differ in one short lexeme alone.
        merge::merge_alternatives(&mut bnf, &mut regular.regexes);
    }
    prune::remove_unreachable(&mut bnf);
    let compiled = layout::lay_out(grammar, regular, &bnf)?;
    if compiled.program.nonterminals() > FEW_NONTERMINALS
        && left_nesting(&compiled.program) > MAX_LEFT_NESTING
    {
        return Err(GrammarError::new(
            GrammarErrorKind::Limit,
            "rules nest too deeply at their left ends: hundreds begin with one another, each with \
             something behind",
        )
        .with_hint("write the repetition with `*`, `+` or a count instead of a chain of rules"));
    }
    Ok(compiled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::gbnf;

    fn compiled(text: &str) -> Result<CompiledGrammar, GrammarError> {
        compile(&Arc::new(gbnf::parse(text, "root")?), &CompileOptions::default())
    }

    /// `root ::= r0`, `rᵢ ::= BODY` with the next rule's name for `@`, and a last rule.
    fn chain(length: usize, body: &str) -> String {
        let rule = |index: usize| {
            format!("r{index} ::= {}\n", body.replace('@', &format!("r{}", index + 1)))
        };
        let rules: String = (0..length).map(rule).collect();
        format!("root ::= r0\n{rules}r{length} ::= \"a\"\n")
    }

    #[test]
    fn rules_that_double_stay_small() {
        for body in ["@ @", "@ @ | \"\"", "@ | \"x\" @"] {
            assert!(compiled(&chain(60, body)).is_ok(), "{body}");
        }
    }

    #[test]
    fn nested_stars_are_one_star() {
        let text = format!("root ::= {}\"a\"{}", "(".repeat(10_000), ")*".repeat(10_000));
        let grammar = compiled(&text).unwrap();
        assert_eq!(grammar.lexemes.len(), 1);
    }

    #[test]
    fn deep_nesting_at_the_left_is_refused() {
        let error = compiled(&chain(1_000, "@ @ | \"\"")).unwrap_err();
        assert_eq!(error.kind(), GrammarErrorKind::Limit);
        assert!(compiled(&chain(50_000, "@ \"b\" | \"c\"")).is_ok());
    }

    #[test]
    fn grammars_without_texts_are_refused() {
        let error = compiled("root ::= \"a\" root").unwrap_err();
        assert_eq!(error.kind(), GrammarErrorKind::Empty);
    }
}
