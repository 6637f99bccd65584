//! The grammar between lowering and layout: productions over symbols.

use std::collections::BTreeMap;
use std::fmt;

use smallvec::SmallVec;

use super::layout::LexemeName;
use crate::earley::{Order, Sym};
use crate::grammar::TokenTerminal;
use crate::index::{IndexVec, LexemeId, NonterminalId, RegexId, TokenTerminalId};

/// A right-hand side: most have few symbols.
///
/// PERF: with lists that hold their first items themselves, here and in the passes, compiling every
/// 150th schema of a sample takes 773 allocations in the mean, before 1,368, and 16 % fewer
/// instructions.
pub(super) type Symbols = SmallVec<[Sym; 4]>;

/// A lexeme of the productions.
#[derive(Clone, Debug)]
pub(super) struct BnfLexeme {
    /// What it matches; never the empty text.
    pub(super) regex: RegexId,
    pub(super) name: LexemeName,
}

/// Productions in Backus–Naur form.
#[derive(Clone, Debug)]
pub(super) struct Bnf {
    pub(super) start: NonterminalId,
    /// Whether the empty text belongs to the grammar, apart from the productions.
    pub(super) accepts_empty: bool,
    /// For each nonterminal its right-hand sides.
    pub(super) productions: IndexVec<NonterminalId, Vec<Symbols>>,
    /// The nonterminals that stand for items in any order; they have no productions, and none of
    /// them has the empty text.
    pub(super) orders: BTreeMap<NonterminalId, Order>,
    pub(super) lexemes: IndexVec<LexemeId, BnfLexeme>,
    pub(super) tokens: IndexVec<TokenTerminalId, TokenTerminal>,
}

impl fmt::Display for Bnf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, right_hand_sides) in self.productions.iter_enumerated() {
            for symbols in right_hand_sides {
                write!(f, "{}n{} →", if id == self.start { "*" } else { "" }, id.0)?;
                for symbol in symbols {
                    match symbol {
                        Sym::Lexeme(id) => write!(f, " l{}", id.0)?,
                        Sym::Token(id) => write!(f, " t{}", id.0)?,
                        Sym::Nonterminal(id) => write!(f, " n{}", id.0)?,
                    }
                }
                writeln!(f)?;
            }
        }
        for (id, order) in &self.orders {
            writeln!(f, "n{} → {order:?}", id.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::index::{ExprId, Id};
    use crate::lexer::EPSILON;

    /// A grammar from lines such as `0: a 1 | `, digits for nonterminals and letters for lexemes.
    pub(in crate::compile) fn parse(text: &str) -> Bnf {
        let mut productions = vec![];
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (_, alternatives) = line.split_once(':').unwrap();
            productions.push(
                alternatives
                    .split('|')
                    .map(|symbols| {
                        symbols
                            .split_whitespace()
                            .map(|symbol| match symbol.parse() {
                                Ok(id) => Sym::Nonterminal(NonterminalId::new(id)),
                                Err(_) => {
                                    Sym::Lexeme(LexemeId(u32::from(symbol.as_bytes()[0] - b'a')))
                                }
                            })
                            .collect()
                    })
                    .collect(),
            );
        }
        let lexemes = (b'a'..=b'z')
            .map(|c| BnfLexeme { regex: EPSILON, name: LexemeName::Expr(ExprId(u32::from(c))) })
            .collect::<Vec<_>>();
        Bnf {
            start: NonterminalId(0),
            accepts_empty: false,
            productions: productions.into(),
            orders: BTreeMap::new(),
            lexemes: lexemes.into(),
            tokens: IndexVec::new(),
        }
    }

    /// The inverse of [`parse`].
    pub(in crate::compile) fn print(bnf: &Bnf) -> String {
        let mut lines = String::new();
        for (id, right_hand_sides) in bnf.productions.iter_enumerated() {
            if right_hand_sides.is_empty() {
                continue;
            }
            let alternatives: Vec<String> = right_hand_sides
                .iter()
                .map(|symbols| {
                    let symbols: Vec<String> = symbols
                        .iter()
                        .map(|symbol| match symbol {
                            Sym::Lexeme(id) => match bnf.lexemes[*id].name {
                                LexemeName::Expr(ExprId(c)) => char::from(c as u8).to_string(),
                                _ => String::new(),
                            },
                            Sym::Token(id) => format!("t{}", id.0),
                            Sym::Nonterminal(id) => id.0.to_string(),
                        })
                        .collect();
                    symbols.join(" ")
                })
                .collect();
            lines.extend([&id.0.to_string(), ": ", &alternatives.join(" | "), "\n"]);
        }
        lines
    }

    #[test]
    fn display_shows_each_production() {
        assert_eq!(parse("0: a 0 | b").to_string(), "*n0 → l0 n0\n*n0 → l1\n");
    }
}
