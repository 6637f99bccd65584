//! IR → productions. Groups and repetitions become nonterminals; regular parts become lexemes.
//!
//! Repetitions with counts become O(log n) productions by halving: `x{0,8}` is
//! `x{0,4} | x{4} x{0,4}`. Members stay what they are: there are too many productions.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::bnf::{Bnf, BnfLexeme, Symbols};
use super::layout::LexemeName;
use super::regular::Regular;
use crate::earley::{Order, OrderItem, Sym};
use crate::error::GrammarError;
use crate::grammar::{Condition, Expr, Grammar, Members, SymbolKind, TokenTerminal};
use crate::index::{ExprId, IndexVec, LexemeId, NonterminalId, RegexId, TokenTerminalId};
use crate::lexer::{DEAD, EPSILON};

pub(super) fn lower(
    grammar: &Grammar,
    regular: &mut Regular,
    fold: bool,
) -> Result<Bnf, GrammarError> {
    let mut lower = Lower {
        grammar,
        regular,
        fold,
        productions: IndexVec::new(),
        orders: BTreeMap::new(),
        lexemes: IndexVec::new(),
        tokens: IndexVec::new(),
        lexeme_ids: FxHashMap::default(),
        nullable_lexemes: FxHashMap::default(),
        token_symbols: FxHashMap::default(),
        nonterminals: FxHashMap::default(),
        powers: FxHashMap::default(),
        ranges: FxHashMap::default(),
        open: Vec::new(),
    };
    let start = lower.fresh();
    let symbol = &grammar.symbols[grammar.start];
    let ignored = lower.regular.ignored;
    let mut first: Symbols = lower.lexeme(ignored, LexemeName::None)?.into_iter().collect();
    if symbol.kind == SymbolKind::Terminal || lower.regular.in_rule(symbol.body).is_some() {
        first.extend(lower.symbol(symbol.body, LexemeName::Symbol(grammar.start))?);
    } else {
        first.push(Sym::Nonterminal(lower.nonterminal(symbol.body)));
    }
    lower.productions[start].push(first);
    while let Some((expr, nonterminal)) = lower.open.pop() {
        lower.define(expr, nonterminal)?;
    }
    Ok(Bnf {
        start,
        accepts_empty: false,
        productions: lower.productions,
        orders: lower.orders,
        lexemes: lower.lexemes,
        tokens: lower.tokens,
    })
}

struct Lower<'a> {
    grammar: &'a Grammar,
    regular: &'a mut Regular,
    fold: bool,
    productions: IndexVec<NonterminalId, Vec<Symbols>>,
    orders: BTreeMap<NonterminalId, Order>,
    lexemes: IndexVec<LexemeId, BnfLexeme>,
    tokens: IndexVec<TokenTerminalId, TokenTerminal>,
    /// By regex, those of different names.
    lexeme_ids: FxHashMap<(RegexId, LexemeName), LexemeId>,
    /// Nonterminals for "this lexeme or nothing".
    nullable_lexemes: FxHashMap<LexemeId, NonterminalId>,
    /// Token terminals with ignored text behind them.
    token_symbols: FxHashMap<TokenTerminal, Sym>,
    nonterminals: FxHashMap<ExprId, NonterminalId>,
    /// Nonterminals for `x` exactly 2^k times.
    powers: FxHashMap<(Sym, u32), Sym>,
    /// Nonterminals for `x` zero to n times.
    ranges: FxHashMap<(Sym, u32), Sym>,
    /// Nonterminals whose productions are still to be made.
    open: Vec<(ExprId, NonterminalId)>,
}

impl Lower<'_> {
    fn fresh(&mut self) -> NonterminalId {
        self.productions.push(Vec::new())
    }

    /// The nonterminal of an expression that is not regular.
    fn nonterminal(&mut self, expr: ExprId) -> NonterminalId {
        if let Some(&known) = self.nonterminals.get(&expr) {
            return known;
        }
        let fresh = self.fresh();
        self.nonterminals.insert(expr, fresh);
        self.open.push((expr, fresh));
        fresh
    }

    /// Makes the productions of an expression.
    fn define(&mut self, expr: ExprId, nonterminal: NonterminalId) -> Result<(), GrammarError> {
        let grammar = self.grammar;
        match &grammar.exprs[expr] {
            Expr::Alt(parts) => {
                let mut merged = Vec::new();
                for &part in parts.iter() {
                    match self.regular.in_rule(part) {
                        Some(regex) if self.fold && !self.is_named(part) => merged.push(regex),
                        _ => {
                            let symbols = self.sequence(part)?;
                            self.productions[nonterminal].push(symbols);
                        }
                    }
                }
                if !merged.is_empty() {
                    let regex = self.regular.regexes.or(&merged);
                    let symbol = self.lexeme(regex, LexemeName::None)?;
                    self.productions[nonterminal].push(symbol.into_iter().collect());
                }
            }
            &Expr::Repeat { expr, min, max } => {
                let part = self.symbol(expr, LexemeName::None)?;
                let symbols = self.repeat(part, min, max);
                self.productions[nonterminal].push(symbols);
            }
            Expr::Symbol(symbol) => {
                let symbols = self.sequence(grammar.symbols[*symbol].body)?;
                self.productions[nonterminal].push(symbols);
            }
            Expr::Members(members) => {
                let needs_none =
                    |condition: &Condition| condition.needs.iter().any(|needs| needs.is_empty());
                if members.min == 0
                    && members.marks == 0
                    && members.conditions.iter().all(needs_none)
                {
                    self.productions[nonterminal].push(smallvec![]);
                }
                let order = self.order(members)?;
                let some = self.fresh();
                self.orders.insert(some, order);
                self.productions[nonterminal].push(smallvec![Sym::Nonterminal(some)]);
            }
            _ => {
                let symbols = self.sequence(expr)?;
                self.productions[nonterminal].push(symbols);
            }
        }
        Ok(())
    }

    /// Members, at least one.
    fn order(&mut self, members: &Members) -> Result<Order, GrammarError> {
        let mut items = Vec::with_capacity(members.items.len());
        for item in &members.items {
            let mut symbols = self.sequence(item.expr)?;
            if symbols.is_empty() {
                symbols.push(self.nothing());
            }
            let symbols = symbols.to_vec().into();
            let (marks, excludes) = (item.marks.clone(), item.excludes.clone());
            items.push(OrderItem { symbols, once: item.once, marks, excludes });
        }
        let separator = match self.symbol(members.separator, LexemeName::None)? {
            Some(separator) => separator,
            None => self.nothing(),
        };
        let Members { order, marks, min, max, .. } = *members;
        let conditions = members.conditions.to_vec();
        let most_steps = self.regular.regexes.condition_steps();
        let separator = Some(separator);
        Ok(Order { order, items, separator, marks, min, max, conditions, most_steps })
    }

    fn is_named(&self, expr: ExprId) -> bool {
        matches!(self.grammar.exprs[expr], Expr::Symbol(_))
    }

    /// The symbols of an expression, nested sequences flattened, nameless neighbours merged.
    fn sequence(&mut self, expr: ExprId) -> Result<Symbols, GrammarError> {
        let grammar = self.grammar;
        let mut symbols = Symbols::new();
        let mut merged: Option<RegexId> = None;
        let mut stack: SmallVec<[ExprId; 8]> = smallvec![expr];
        while let Some(part) = stack.pop() {
            let regex = self.regular.in_rule(part);
            if let (Some(regex), true) = (regex, self.fold && !self.is_named(part)) {
                let before = merged.unwrap_or(EPSILON);
                merged = Some(self.regular.regexes.concat(before, regex));
                continue;
            }
            if let Some(regex) = merged.take() {
                symbols.extend(self.lexeme(regex, LexemeName::None)?);
            }
            match &grammar.exprs[part] {
                Expr::Seq(parts) if regex.is_none() => stack.extend(parts.iter().rev().copied()),
                _ => symbols.extend(self.symbol(part, LexemeName::None)?),
            }
        }
        if let Some(regex) = merged {
            symbols.extend(self.lexeme(regex, LexemeName::None)?);
        }
        Ok(symbols)
    }

    /// The symbol of one part: none for the empty text.
    fn symbol(&mut self, expr: ExprId, name: LexemeName) -> Result<Option<Sym>, GrammarError> {
        let grammar = self.grammar;
        if let Some(regex) = self.regular.in_rule(expr) {
            let name = match &grammar.exprs[expr] {
                Expr::Symbol(symbol) => LexemeName::Symbol(*symbol),
                Expr::Literal(_) | Expr::Class(_) | Expr::Bytes(_) if name == LexemeName::None => {
                    LexemeName::Expr(expr)
                }
                _ => name,
            };
            return self.lexeme(regex, name);
        }
        match &grammar.exprs[expr] {
            Expr::Token(terminal) => Ok(Some(self.token(terminal)?)),
            _ => Ok(Some(Sym::Nonterminal(self.nonterminal(expr)))),
        }
    }

    /// A token terminal, with ignored text behind it.
    fn token(&mut self, terminal: &TokenTerminal) -> Result<Sym, GrammarError> {
        if let Some(&known) = self.token_symbols.get(terminal) {
            return Ok(known);
        }
        let token = Sym::Token(self.tokens.push(terminal.clone()));
        let ignored = self.lexeme(self.regular.ignored, LexemeName::None)?;
        let symbol = match ignored {
            None => token,
            Some(ignored) => {
                let fresh = self.fresh();
                self.productions[fresh].push(smallvec![token, ignored]);
                Sym::Nonterminal(fresh)
            }
        };
        self.token_symbols.insert(terminal.clone(), symbol);
        Ok(symbol)
    }

    /// A nonterminal for the empty text.
    fn nothing(&mut self) -> Sym {
        let empty = self.fresh();
        self.productions[empty].push(smallvec![]);
        Sym::Nonterminal(empty)
    }

    /// A lexeme; if it may be empty, a nonterminal for "the lexeme or nothing".
    fn lexeme(&mut self, regex: RegexId, name: LexemeName) -> Result<Option<Sym>, GrammarError> {
        if regex == EPSILON {
            return Ok(None);
        }
        let regexes = &mut self.regular.regexes;
        let nullable = regexes.is_nullable(regex);
        let regex = if nullable {
            let stripped = regexes.without_empty(regex);
            stripped.map_err(|error| regexes.searched_too_long(error))?
        } else {
            regex
        };
        if regex == DEAD && nullable {
            // An intersection that has the empty text alone.
            return Ok(None);
        }
        if regex == DEAD {
            // No production: the nonterminal is not productive and will be pruned.
            return Ok(Some(Sym::Nonterminal(self.fresh())));
        }
        let lexemes = &mut self.lexemes;
        let id = *self
            .lexeme_ids
            .entry((regex, name))
            .or_insert_with(|| lexemes.push(BnfLexeme { regex, name }));
        if !nullable {
            return Ok(Some(Sym::Lexeme(id)));
        }
        if let Some(&known) = self.nullable_lexemes.get(&id) {
            return Ok(Some(Sym::Nonterminal(known)));
        }
        let optional = self.fresh();
        self.productions[optional] = vec![smallvec![], smallvec![Sym::Lexeme(id)]];
        self.nullable_lexemes.insert(id, optional);
        Ok(Some(Sym::Nonterminal(optional)))
    }

    fn repeat(&mut self, part: Option<Sym>, min: u32, max: Option<u32>) -> Symbols {
        let Some(part) = part else { return Symbols::new() };
        let (exact, more) = match max {
            // One `x` less before a loop of at least one.
            None => (min.saturating_sub(1), None),
            Some(max) => (min, Some(max - min)),
        };
        let mut symbols = self.power(part, exact);
        match more {
            None => {
                let many = self.fresh();
                let base = if min == 0 { smallvec![] } else { smallvec![part] };
                self.productions[many] = vec![base, smallvec![Sym::Nonterminal(many), part]];
                symbols.push(Sym::Nonterminal(many));
            }
            Some(0) => {}
            Some(more) => symbols.push(self.at_most(part, more)),
        }
        symbols
    }

    /// `part` exactly `count` times.
    fn power(&mut self, part: Sym, count: u32) -> Symbols {
        let mut symbols = Symbols::new();
        let mut unit = part;
        for bit in 0..32 - count.leading_zeros() {
            if bit > 0 {
                unit = if let Some(&known) = self.powers.get(&(part, bit)) {
                    known
                } else {
                    let double = self.fresh();
                    self.productions[double] = vec![smallvec![unit, unit]];
                    self.powers.insert((part, bit), Sym::Nonterminal(double));
                    Sym::Nonterminal(double)
                };
            }
            if count >> bit & 1 == 1 {
                symbols.push(unit);
            }
        }
        symbols
    }

    /// `part` at most `count` times, `count` > 0. The recursion is log₂ `count` deep.
    fn at_most(&mut self, part: Sym, count: u32) -> Sym {
        if let Some(&known) = self.ranges.get(&(part, count)) {
            return known;
        }
        let range = self.fresh();
        self.ranges.insert((part, count), Sym::Nonterminal(range));
        self.productions[range] = if count == 1 {
            vec![smallvec![], smallvec![part]]
        } else {
            let few = self.at_most(part, count / 2);
            let rest = self.at_most(part, count - count / 2);
            let mut many = self.power(part, count / 2);
            many.push(rest);
            vec![smallvec![few], many]
        };
        Sym::Nonterminal(range)
    }
}
