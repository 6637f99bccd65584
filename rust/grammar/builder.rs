//! Builds a [`Grammar`]: interns equal expressions and keeps children before parents.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::{Automaton, Expr, Grammar, Members, Symbol, SymbolKind, TokenTerminal};
use crate::index::{ExprId, SymbolId};
use crate::layered::Layered;
use crate::span::Span;

/// The body of a symbol that is declared only.
const UNDEFINED: ExprId = ExprId(u32::MAX);

/// Collects symbols and expressions; [`GrammarBuilder::finish`] gives the grammar.
#[derive(Clone, Debug, Default)]
pub struct GrammarBuilder {
    exprs: Layered<ExprId, Expr>,
    /// Ids by the hash of their expression: those that copies share, and the others.
    known_shared: Arc<HashTable<ExprId>>,
    known: HashTable<ExprId>,
    symbols: Layered<SymbolId, Symbol>,
    ignore: Vec<ExprId>,
}

impl GrammarBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The expression with this id.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id]
    }

    /// A literal; empty bytes are the empty text.
    pub fn literal(&mut self, bytes: &[u8]) -> ExprId {
        self.add(Expr::Literal(bytes.into()))
    }

    /// The empty text.
    pub fn empty(&mut self) -> ExprId {
        self.literal(b"")
    }

    /// One character of the ranges, which must be sorted and disjoint.
    pub fn class(&mut self, ranges: &[(char, char)]) -> ExprId {
        debug_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
        self.add(Expr::Class(ranges.into()))
    }

    /// One byte of the ranges, which must be sorted and disjoint.
    pub fn bytes(&mut self, ranges: &[(u8, u8)]) -> ExprId {
        debug_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
        self.add(Expr::Bytes(ranges.into()))
    }

    /// One token of the model.
    pub fn token(&mut self, terminal: TokenTerminal) -> ExprId {
        self.add(Expr::Token(terminal))
    }

    /// A reference to a symbol.
    pub fn symbol(&mut self, symbol: SymbolId) -> ExprId {
        self.add(Expr::Symbol(symbol))
    }

    /// A sequence; a single part is itself.
    pub fn seq(&mut self, parts: &[ExprId]) -> ExprId {
        match parts {
            [] => self.empty(),
            [one] => *one,
            _ => self.add(Expr::Seq(parts.into())),
        }
    }

    /// Alternatives; a single one is itself, none is the grammar without any text.
    pub fn alt(&mut self, parts: &[ExprId]) -> ExprId {
        match parts {
            [one] => *one,
            _ => self.add(Expr::Alt(parts.into())),
        }
    }

    /// `min` to `max` repetitions.
    pub fn repeat(&mut self, expr: ExprId, min: u32, max: Option<u32>) -> ExprId {
        debug_assert!(max.is_none_or(|max| min <= max));
        match (min, max) {
            (1, Some(1)) => expr,
            (_, Some(0)) => self.empty(),
            _ => self.add(Expr::Repeat { expr, min, max }),
        }
    }

    /// The texts of all of `all` (at least one) that belong to none of `none`; regular parts only.
    pub fn and(&mut self, all: &[ExprId], none: &[ExprId]) -> ExprId {
        debug_assert!(!all.is_empty());
        match (all, none) {
            ([one], []) => *one,
            _ => self.add(Expr::And { all: all.into(), none: none.into() }),
        }
    }

    /// What an automaton accepts.
    pub fn automaton(&mut self, automaton: Automaton) -> ExprId {
        self.add(Expr::Automaton(Arc::new(automaton)))
    }

    /// Members between separators.
    pub fn members(&mut self, members: Members) -> ExprId {
        self.add(Expr::Members(Arc::new(members)))
    }

    /// All expressions so far.
    pub fn exprs(&self) -> &Layered<ExprId, Expr> {
        &self.exprs
    }

    /// Makes room for more expressions.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.exprs.reserve(more);
        let exprs = &self.exprs;
        self.known.reserve(more, |&id| FxBuildHasher.hash_one(&exprs[id]));
    }

    /// Lets all later copies share the expressions and symbols that there are; all symbols must
    /// have been defined.
    pub(crate) fn share(&mut self) {
        self.exprs.share();
        self.symbols.share();
        self.known_shared = Arc::new(std::mem::take(&mut self.known));
    }

    /// Announces a symbol, so that bodies can refer to it before it is defined.
    pub fn declare(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        kind: SymbolKind,
        span: Span,
    ) -> SymbolId {
        self.symbols.push(Symbol { name: name.into(), kind, body: UNDEFINED, span })
    }

    /// Gives a declared symbol its body.
    pub fn define(&mut self, symbol: SymbolId, body: ExprId) {
        self.symbols.own_mut(symbol).body = body;
    }

    /// Lets an expression stand between the terminals of rules.
    pub fn ignore(&mut self, expr: ExprId) {
        self.ignore.push(expr);
    }

    /// The grammar. Every declared symbol must have been defined.
    ///
    /// # Panics
    /// If a declared symbol has no body: a front end reports undefined names itself.
    pub fn finish(self, start: SymbolId) -> Grammar {
        assert!(
            self.symbols.own().iter().all(|symbol| symbol.body != UNDEFINED),
            "the front end defines each symbol that it declares"
        );
        Grammar { exprs: self.exprs, symbols: self.symbols, start, ignore: self.ignore }
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        let hash = |expr: &Expr| FxBuildHasher.hash_one(expr);
        let (exprs, own) = (&self.exprs, hash(&expr));
        let equal = |&id: &ExprId| exprs[id] == expr;
        let known = self.known_shared.find(own, equal).or_else(|| self.known.find(own, equal));
        if let Some(&known) = known {
            return known;
        }
        let id = self.exprs.push(expr);
        let exprs = &self.exprs;
        self.known.insert_unique(own, id, |&id| hash(&exprs[id]));
        id
    }
}
