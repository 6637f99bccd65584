//! The productions that a recogniser runs: the program's, and those of members (`order`), made when
//! a row first predicts them.
//!
//! What has been seen of some items is a *state*, and each state is a nonterminal N: for every item
//! that may come next it has the production `item`, if the text may end behind it, and one that
//! goes on with a separator and N', the state after the item. States are interned.
//!
//! In the given order few states follow an item, so that its productions `item` and
//! `item separator N'` are shared by all states that the item may come in: what was read before
//! does not tell rows apart. In any order each state has other states behind it: there the second
//! is `item R`, where R is a nonterminal of its own with the one production `separator N'`, and N'
//! is only looked for when R is predicted; all R that lead to one state share one production, so
//! that rows that have seen the same items in different orders are equal. A new state of n items
//! costs O(n).

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::order::{OrderItem, OrderPlan, Step};
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
    /// Items in their given order: the productions of an item and the state behind it.
    shared: FxHashMap<(OrderStateId, u32), Shared>,
}

/// The first dots of the productions of an item.
#[derive(Clone, Copy, Debug)]
struct Shared {
    ends: Option<DotId>,
    goes_on: Option<DotId>,
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
            shared: FxHashMap::default(),
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
            + self.shared.capacity() * 24
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

    /// Adds a production; gives its first dot.
    fn add(&mut self, symbols: impl IntoIterator<Item = Sym>) -> DotId {
        let start = DotId::new(self.program.len() + self.added.len());
        self.added.extend(symbols.into_iter().map(Some));
        self.added.push(None);
        start
    }

    fn unfold_state(&mut self, state: OrderStateId) {
        let program = Arc::clone(&self.program);
        let seen = self.seen.get(state).to_vec();
        let plan = program.order(seen[0] as u32);
        let from = self.starts.len();
        for step in plan.steps(&seen[1..]) {
            let Shared { ends, goes_on } = match plan {
                OrderPlan::Given(given) => {
                    let mut after = vec![seen[0]];
                    after.extend(given.with(&seen[1..], step.item));
                    self.shared(&after, step, plan)
                }
                OrderPlan::Any(any) => {
                    let symbols = any.order().items[step.item].symbols.iter().copied();
                    Shared {
                        ends: step.ends.then(|| self.add(symbols.clone())),
                        goes_on: step.goes_on.then(|| {
                            let rest = self.add_nonterminal(Added::Rest(state, step.item as u32));
                            self.add(symbols.chain([Sym::Nonterminal(rest)]))
                        }),
                    }
                }
            };
            self.starts.extend(ends);
            self.starts.extend(goes_on);
        }
        self.places.insert(self.states[state].nonterminal, from..self.starts.len());
    }

    /// The productions of an item with the state `after` behind it.
    fn shared(&mut self, after: &[u64], step: Step, plan: &OrderPlan) -> Shared {
        let after = self.state(after, None);
        let key = (after, step.item as u32);
        if let Some(&known) = self.shared.get(&key) {
            return known;
        }
        let OrderItem { symbols, .. } = &plan.order().items[step.item];
        let symbols = symbols.iter().copied();
        let next = [plan.order().separator, Some(Sym::Nonterminal(self.states[after].nonterminal))];
        let shared = Shared {
            ends: step.ends.then(|| self.add(symbols.clone())),
            goes_on: step.goes_on.then(|| self.add(symbols.chain(next.into_iter().flatten()))),
        };
        self.shared.insert(key, shared);
        shared
    }

    fn unfold_rest(&mut self, rest: NonterminalId, state: OrderStateId, item: usize) {
        let program = Arc::clone(&self.program);
        let seen = self.seen.get(state);
        let plan = program.order(seen[0] as u32);
        let mut after = vec![seen[0]];
        after.extend(plan.with(&seen[1..], item));
        let state = self.state(&after, None);
        let place = if let Some(known) = &self.states[state].rest {
            known.clone()
        } else {
            let from = self.starts.len();
            let next = Sym::Nonterminal(self.states[state].nonterminal);
            // Without a separator there is but one item, and no rest.
            let start = self.add(plan.order().separator.into_iter().chain([next]));
            self.starts.push(start);
            self.states[state].rest = Some(from..self.starts.len());
            from..self.starts.len()
        };
        self.places.insert(rest, place);
    }
}
