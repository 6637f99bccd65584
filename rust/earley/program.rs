//! The productions as the recogniser reads them: flat arrays, no names.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::order::OrderPlan;
use crate::index::{DotId, Id, IndexVec, LexemeId, NonterminalId, TokenTerminalId};

/// A symbol of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sym {
    /// A regular terminal.
    Lexeme(LexemeId),
    /// A terminal that stands for model tokens.
    Token(TokenTerminalId),
    /// A nonterminal.
    Nonterminal(NonterminalId),
}

/// A reduced grammar without empty right-hand sides.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// For each dot the symbol behind it; `None` at a production's end.
    after: IndexVec<DotId, Option<Sym>>,
    /// For each nonterminal the first dots of its productions.
    starts: IndexVec<NonterminalId, SmallVec<[DotId; 4]>>,
    /// Members, whose productions are made by whoever runs the program.
    orders: Vec<OrderPlan>,
    /// The nonterminals that stand for them; they have no productions here.
    order_of: FxHashMap<NonterminalId, u32>,
    /// The dot before the start symbol; `None` if only the empty text belongs to the grammar.
    start: Option<DotId>,
    /// Whether the empty text belongs to the grammar.
    accepts_empty: bool,
}

impl Program {
    /// A program of nonterminals `0..nonterminals` without productions.
    pub fn new(nonterminals: usize, start: Option<NonterminalId>, accepts_empty: bool) -> Self {
        let mut program = Self {
            after: IndexVec::new(),
            starts: vec![SmallVec::new(); nonterminals].into(),
            orders: Vec::new(),
            order_of: FxHashMap::default(),
            start: None,
            accepts_empty,
        };
        if let Some(start) = start {
            // The production that calls the start symbol belongs to no nonterminal.
            program.start = Some(program.after.push(Some(Sym::Nonterminal(start))));
            program.after.push(None);
        }
        program
    }

    /// The dot before the start symbol; `None` if only the empty text belongs to the grammar.
    pub fn start(&self) -> Option<DotId> {
        self.start
    }

    /// Whether the empty text belongs to the grammar.
    pub fn accepts_empty(&self) -> bool {
        self.accepts_empty
    }

    /// Adds a production; `symbols` must not be empty.
    pub fn push(&mut self, nonterminal: NonterminalId, symbols: impl IntoIterator<Item = Sym>) {
        let start = DotId::new(self.after.len());
        for symbol in symbols {
            self.after.push(Some(symbol));
        }
        debug_assert!(start.index() < self.after.len());
        self.after.push(None);
        self.starts[nonterminal].push(start);
    }

    /// Makes a nonterminal without productions stand for members.
    pub(crate) fn push_order(&mut self, nonterminal: NonterminalId, order: OrderPlan) {
        debug_assert!(self.starts[nonterminal].is_empty());
        self.order_of.insert(nonterminal, self.orders.len() as u32);
        self.orders.push(order);
    }

    /// The number of the members that a nonterminal stands for.
    pub(super) fn order_of(&self, nonterminal: NonterminalId) -> Option<u32> {
        self.order_of.get(&nonterminal).copied()
    }

    /// Members.
    pub(super) fn order(&self, number: u32) -> &OrderPlan {
        &self.orders[number as usize]
    }

    /// The symbol behind a dot; `None` at a production's end, or for a dot that is in none.
    #[inline]
    pub fn symbol(&self, dot: DotId) -> Option<Sym> {
        self.after.get(dot).copied().flatten()
    }

    /// The first dots of a nonterminal's productions.
    #[inline]
    pub fn starts(&self, nonterminal: NonterminalId) -> &[DotId] {
        &self.starts[nonterminal]
    }

    /// The number of nonterminals.
    pub fn nonterminals(&self) -> usize {
        self.starts.len()
    }

    /// The number of dots.
    pub fn len(&self) -> usize {
        self.after.len()
    }

    /// Whether there are no productions.
    pub fn is_empty(&self) -> bool {
        self.after.is_empty()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.len() * size_of::<Option<Sym>>()
            + self.len() / 2 * 4
            + self.nonterminals() * 24
            + self.orders.iter().map(|order| order.memory_bytes() + 24).sum::<usize>()
    }
}
