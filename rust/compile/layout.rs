//! Productions → flat arrays, without what is not used.

use std::sync::Arc;

use super::bnf::Bnf;
use super::regular::Regular;
use crate::earley::{OrderPlan, Program, Sym};
use crate::error::GrammarError;
use crate::grammar::{Grammar, TokenTerminal};
use crate::index::{
    ExprId, Id, IndexVec, LexemeId, NonterminalId, RegexId, SymbolId, TokenTerminalId,
};
use crate::lexer::Lexer;

/// A regular terminal.
#[derive(Clone, Debug)]
pub struct Lexeme {
    /// The lexer state at its start.
    pub start: RegexId,
    /// What `expected()` calls it.
    pub name: LexemeName,
}

/// What a lexeme is called.
///
/// PERF: few are ever asked for. Writing them all out took 2 % of the instructions of first masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LexemeName {
    /// It merges several parts.
    None,
    /// As the symbol that it is.
    Symbol(SymbolId),
    /// By its text.
    Expr(ExprId),
}

/// A grammar ready to be run: immutable, shared by all matchers.
#[derive(Clone, Debug)]
pub struct CompiledGrammar {
    /// What it was compiled from.
    pub source: Arc<Grammar>,
    /// The productions.
    pub program: Arc<Program>,
    /// The lexemes; none matches the empty text.
    pub lexemes: IndexVec<LexemeId, Lexeme>,
    /// The token terminals.
    pub tokens: IndexVec<TokenTerminalId, TokenTerminal>,
    /// The lexer in its first state; whoever runs it takes a copy.
    pub lexer: Lexer,
}

impl CompiledGrammar {
    /// The terminal's name or text; empty where several were merged.
    pub fn lexeme_name(&self, lexeme: LexemeId) -> String {
        match self.lexemes[lexeme].name {
            LexemeName::None => String::new(),
            LexemeName::Symbol(symbol) => self.source.symbols[symbol].name.to_string(),
            LexemeName::Expr(expr) => self.source.print_expr(expr),
        }
    }

    /// Bytes of memory held, without the source.
    pub fn memory_bytes(&self) -> usize {
        self.program.memory_bytes() + self.lexemes.len() * 48 + self.lexer.memory_bytes()
    }
}

pub(super) fn lay_out(
    source: &Arc<Grammar>,
    regular: Regular,
    bnf: &Bnf,
) -> Result<CompiledGrammar, GrammarError> {
    let mut numbers: Vec<Option<NonterminalId>> = vec![None; bnf.productions.len()];
    let mut used = 0;
    for (id, right_hand_sides) in bnf.productions.iter_enumerated() {
        if !right_hand_sides.is_empty() || bnf.orders.contains_key(&id) {
            numbers[id.index()] = Some(NonterminalId::new(used));
            used += 1;
        }
    }
    let mut lexemes = IndexVec::new();
    let mut lexeme_numbers: Vec<Option<LexemeId>> = vec![None; bnf.lexemes.len()];
    let mut symbol_of = |symbol: Sym| match symbol {
        Sym::Lexeme(id) => Sym::Lexeme(*lexeme_numbers[id.index()].get_or_insert_with(|| {
            let lexeme = &bnf.lexemes[id];
            lexemes.push(Lexeme { start: lexeme.regex, name: lexeme.name })
        })),
        Sym::Token(id) => Sym::Token(id),
        Sym::Nonterminal(id) => Sym::Nonterminal(
            numbers[id.index()].expect("pruned productions hold no empty nonterminal"),
        ),
    };
    let mut program = Program::new(used, numbers[bnf.start.index()], bnf.accepts_empty);
    for (id, right_hand_sides) in bnf.productions.iter_enumerated() {
        let Some(head) = numbers[id.index()] else { continue };
        for symbols in right_hand_sides {
            program.push(head, symbols.iter().map(|&symbol| symbol_of(symbol)));
        }
        if let Some(order) = bnf.orders.get(&id) {
            let mut order = order.clone();
            order.symbols_mut().for_each(|symbol| *symbol = symbol_of(*symbol));
            let plan = OrderPlan::new(order)?.expect("pruned orders can be completed");
            program.push_order(head, plan);
        }
    }
    Ok(CompiledGrammar {
        source: Arc::clone(source),
        program: Arc::new(program),
        lexemes,
        tokens: bnf.tokens.clone(),
        lexer: Lexer::new(regular.regexes.into_set()),
    })
}
