//! The productions that a recogniser runs: the program's, and those of items in any order, made
//! when a row first predicts them.
//!
//! What has been seen of some items in any order is a *state*, and each state is a nonterminal N:
//! for every item that may come next it has the production `item`, if the text may end behind it,
//! and `item R`, if it may go on. R is a nonterminal of its own with the one production
//! `separator N'`, where N' is the state after the item; N' is only looked for when R is predicted.
//! States are interned, and all R that lead to one state share one production, so that rows that
//! have seen the same items in different orders are equal. A new state of n items costs O(n).

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::program::{Program, Sym};
use crate::index::{DotId, Id, IndexVec, NonterminalId, OrderStateId};
use crate::interner::SliceInterner;

/// A program and what has been added to it.
#[derive(Clone, Debug)]
pub(super) struct Productions {
    program: Arc<Program>,
    /// Dots behind the program's; see [`Program::symbol`].
    added: Vec<Option<Sym>>,
    /// First dots of added productions.
    starts: Vec<DotId>,
    /// For each nonterminal that has added productions their place in `starts`.
    places: FxHashMap<NonterminalId, Range<usize>>,
    /// What the nonterminals behind the program's stand for.
    nonterminals: Vec<Added>,
    /// The states: the number of the order, and what has been seen of it.
    seen: SliceInterner<OrderStateId, u64>,
    /// For each state its nonterminal and the place of `separator N` in `starts`.
    states: IndexVec<OrderStateId, State>,
}

/// What an added nonterminal stands for.
#[derive(Clone, Copy, Debug)]
enum Added {
    State(OrderStateId),
    /// What follows an item.
    Rest(OrderStateId, u32),
}

#[derive(Clone, Debug)]
struct State {
    nonterminal: NonterminalId,
    rest: Option<Range<usize>>,
}

impl Productions {
    pub(super) fn new(program: Arc<Program>) -> Self {
        Self {
            program,
            added: Vec::new(),
            starts: Vec::new(),
            places: FxHashMap::default(),
            nonterminals: Vec::new(),
            seen: SliceInterner::default(),
            states: IndexVec::new(),
        }
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    /// The symbol behind a dot; `None` at a production's end, or for a dot that is in none.
    #[inline]
    pub(super) fn symbol(&self, dot: DotId) -> Option<Sym> {
        match dot.index().checked_sub(self.program.len()) {
            None => self.program.symbol(dot),
            Some(index) => self.added.get(index).copied().flatten(),
        }
    }

    /// The dot behind the symbol behind `dot`.
    #[inline]
    #[expect(clippy::unused_self, reason = "reads as a question to the productions")]
    pub(super) fn next(&self, dot: DotId) -> DotId {
        DotId(dot.0 + 1)
    }

    /// Whether the symbol behind `dot` is the last of its production.
    #[inline]
    pub(super) fn is_last(&self, dot: DotId) -> bool {
        self.symbol(self.next(dot)).is_none()
    }

    /// The first dots of a nonterminal's productions, made if need be.
    pub(super) fn unfold(&mut self, nonterminal: NonterminalId) -> &[DotId] {
        match nonterminal.index().checked_sub(self.program.nonterminals()) {
            None => {
                if let Some(order) = self.program.order_of(nonterminal)
                    && !self.places.contains_key(&nonterminal)
                {
                    let mut seen = vec![u64::from(order)];
                    seen.extend(self.program.order(order).nothing());
                    let state = self.state(&seen, Some(nonterminal));
                    self.unfold_state(state);
                }
            }
            Some(_) if self.places.contains_key(&nonterminal) => {}
            Some(index) => match self.nonterminals[index] {
                Added::State(state) => self.unfold_state(state),
                Added::Rest(state, item) => self.unfold_rest(nonterminal, state, item as usize),
            },
        }
        self.starts(nonterminal)
    }

    /// The first dots of the productions of a nonterminal that has been unfolded.
    pub(super) fn starts(&self, nonterminal: NonterminalId) -> &[DotId] {
        match self.places.get(&nonterminal) {
            Some(place) => &self.starts[place.clone()],
            None => self.program.starts(nonterminal),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.added.capacity() * size_of::<Option<Sym>>()
            + self.starts.capacity() * 4
            + self.places.capacity() * 32
            + self.nonterminals.capacity() * size_of::<Added>()
            + self.seen.memory_bytes()
            + self.states.len() * size_of::<State>() * 2
    }

    /// The state of what has been seen; if it is new, with this nonterminal or another new one.
    fn state(&mut self, seen: &[u64], nonterminal: Option<NonterminalId>) -> OrderStateId {
        let (state, new) = self.seen.intern(seen);
        if new {
            let nonterminal =
                nonterminal.unwrap_or_else(|| self.add_nonterminal(Added::State(state)));
            self.states.push(State { nonterminal, rest: None });
        }
        state
    }

    fn add_nonterminal(&mut self, added: Added) -> NonterminalId {
        self.nonterminals.push(added);
        NonterminalId::new(self.program.nonterminals() + self.nonterminals.len() - 1)
    }

    fn add_production(&mut self, symbols: &[Sym]) {
        self.starts.push(DotId::new(self.program.len() + self.added.len()));
        self.added.extend(symbols.iter().copied().map(Some));
        self.added.push(None);
    }

    fn unfold_state(&mut self, state: OrderStateId) {
        let program = Arc::clone(&self.program);
        let seen = self.seen.get(state);
        let plan = program.order(seen[0] as u32);
        let from = self.starts.len();
        for step in plan.steps(&seen[1..]) {
            let item = plan.order().items[step.item].symbol;
            if step.ends {
                self.add_production(&[item]);
            }
            if step.goes_on {
                let rest = self.add_nonterminal(Added::Rest(state, step.item as u32));
                self.add_production(&[item, Sym::Nonterminal(rest)]);
            }
        }
        self.places.insert(self.states[state].nonterminal, from..self.starts.len());
    }

    fn unfold_rest(&mut self, rest: NonterminalId, state: OrderStateId, item: usize) {
        let program = Arc::clone(&self.program);
        let seen = self.seen.get(state);
        let plan = program.order(seen[0] as u32);
        let mut after = vec![seen[0]];
        after.extend(plan.with(&seen[1..], item));
        let state = self.state(&after, None);
        let place = match (&self.states[state].rest, plan.order().separator) {
            (Some(known), _) => known.clone(),
            (None, separator) => {
                let from = self.starts.len();
                let next = Sym::Nonterminal(self.states[state].nonterminal);
                // Without a separator there is but one item, and no rest.
                let symbols: Vec<Sym> = separator.into_iter().chain([next]).collect();
                self.add_production(&symbols);
                self.states[state].rest = Some(from..self.starts.len());
                from..self.starts.len()
            }
        };
        self.places.insert(rest, place);
    }
}
