//! The productions as the recogniser reads them: flat arrays, no names.

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
    starts: IndexVec<NonterminalId, Vec<DotId>>,
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
            starts: vec![Vec::new(); nonterminals].into(),
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
    pub fn push(&mut self, nonterminal: NonterminalId, symbols: &[Sym]) {
        debug_assert!(!symbols.is_empty());
        let start = DotId::new(self.after.len());
        for &symbol in symbols {
            self.after.push(Some(symbol));
        }
        self.after.push(None);
        self.starts[nonterminal].push(start);
    }

    /// The symbol behind a dot.
    #[inline]
    pub fn after(&self, dot: DotId) -> Option<Sym> {
        self.after[dot]
    }

    /// The symbol behind a dot; `None` also for a dot that is in no production.
    #[inline]
    pub fn symbol(&self, dot: DotId) -> Option<Sym> {
        self.after.get(dot).copied().flatten()
    }

    /// Whether the symbol behind `dot` is the last of its production.
    #[inline]
    pub fn is_last(&self, dot: DotId) -> bool {
        self.after[self.next(dot)].is_none()
    }

    /// The dot behind the symbol behind `dot`.
    #[inline]
    pub fn next(&self, dot: DotId) -> DotId {
        DotId(dot.0 + 1)
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

    /// How many return addresses the first row has to tell apart, beyond one for each nonterminal.
    /// The time a row takes grows with more than this.
    pub fn left_nesting(&self) -> usize {
        match self.start.and_then(|dot| self.after(dot)) {
            Some(Sym::Nonterminal(start)) => super::predict::left_nesting(self, start),
            _ => 0,
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.len() * size_of::<Option<Sym>>() + self.len() / 2 * 4 + self.nonterminals() * 24
    }
}
