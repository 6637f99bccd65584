//! Return addresses, and interned sets of them.
//!
//! An address is a context (the items of a row that call nonterminals) and a set of nonterminals
//! that it called; completing it goes on with whatever in that context waits for one of them. A
//! set has at most one address of each context.

use rustc_hash::FxHashMap;

use crate::index::{CalledId, ContextId, IndexVec, NonterminalId, ReturnId, ReturnSetId};
use crate::interner::SliceInterner;

/// The return address of the start symbol: completing it accepts the text.
pub(super) const ROOT: ReturnId = ReturnId(0);
/// The empty set of return addresses.
pub(super) const NOWHERE: ReturnSetId = ReturnSetId(0);
/// The empty set of nonterminals.
pub(super) const NOTHING: CalledId = CalledId(0);

/// Sets of nonterminals, interned.
#[derive(Clone, Debug)]
pub(super) struct CalledSets(SliceInterner<CalledId, NonterminalId>);

impl CalledSets {
    pub(super) fn new() -> Self {
        let mut sets = Self(SliceInterner::default());
        sets.intern(&[]);
        sets
    }

    /// The nonterminals of a set, sorted.
    pub(super) fn members(&self, id: CalledId) -> &[NonterminalId] {
        self.0.get(id)
    }

    /// The set of some nonterminals, sorted and each once.
    pub(super) fn intern(&mut self, members: &[NonterminalId]) -> CalledId {
        self.0.intern(members).0
    }

    /// The nonterminals of all sets, of which there is at least one.
    fn union_of(&mut self, mut sets: impl Iterator<Item = CalledId> + Clone) -> CalledId {
        if let (Some(only), None) = (sets.clone().next(), sets.clone().nth(1)) {
            return only;
        }
        let mut members: Vec<NonterminalId> =
            sets.by_ref().flat_map(|set| self.members(set)).copied().collect();
        members.sort_unstable();
        members.dedup();
        self.intern(&members)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// All return addresses and sets of them met so far.
#[derive(Clone, Debug)]
pub(super) struct Returns {
    addresses: IndexVec<ReturnId, (ContextId, CalledId)>,
    by_address: FxHashMap<(ContextId, CalledId), ReturnId>,
    /// The sets of one address.
    only: FxHashMap<(ContextId, CalledId), ReturnSetId>,
    sets: SliceInterner<ReturnSetId, ReturnId>,
    unions: FxHashMap<(ReturnSetId, ReturnSetId), ReturnSetId>,
}

impl Returns {
    pub(super) fn new() -> Self {
        let mut returns = Self {
            addresses: IndexVec::new(),
            by_address: FxHashMap::default(),
            only: FxHashMap::default(),
            sets: SliceInterner::default(),
            unions: FxHashMap::default(),
        };
        returns.sets.intern(&[]);
        // No context calls the start symbol; the address only has to be different from all others.
        returns.addresses.push((ContextId(u32::MAX), NOTHING));
        returns
    }

    /// The context that called, and what it called.
    pub(super) fn address(&self, id: ReturnId) -> (ContextId, CalledId) {
        self.addresses[id]
    }

    /// The addresses of a set, sorted.
    pub(super) fn set(&self, id: ReturnSetId) -> &[ReturnId] {
        self.sets.get(id)
    }

    /// The set of the root's address.
    pub(super) fn root(&mut self) -> ReturnSetId {
        self.sets.intern(&[ROOT]).0
    }

    /// The set of one address; the empty set if nothing was called.
    pub(super) fn here(&mut self, context: ContextId, called: CalledId) -> ReturnSetId {
        if called == NOTHING {
            return NOWHERE;
        }
        if let Some(&known) = self.only.get(&(context, called)) {
            return known;
        }
        let address = self.address_of(context, called);
        let set = self.sets.intern(&[address]).0;
        self.only.insert((context, called), set);
        set
    }

    /// The addresses of both sets.
    pub(super) fn union(
        &mut self,
        called: &mut CalledSets,
        left: ReturnSetId,
        right: ReturnSetId,
    ) -> ReturnSetId {
        if left == right || right == NOWHERE {
            return left;
        }
        if left == NOWHERE {
            return right;
        }
        let pair = (left.min(right), left.max(right));
        if let Some(&known) = self.unions.get(&pair) {
            return known;
        }
        let set = self.union_of(called, &[left, right]);
        self.unions.insert(pair, set);
        set
    }

    /// The addresses of all sets; in one go, since the union of many grows with each.
    pub(super) fn union_of(
        &mut self,
        called: &mut CalledSets,
        sets: &[ReturnSetId],
    ) -> ReturnSetId {
        let mut members: Vec<(ContextId, CalledId)> = sets
            .iter()
            .flat_map(|&set| self.sets.get(set))
            .map(|&address| self.addresses[address])
            .collect();
        members.sort_unstable();
        members.dedup();
        // Addresses of one context become one.
        let mut ids: Vec<ReturnId> = Vec::new();
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            let all = called.union_of(group.iter().map(|&(_, called)| called));
            ids.push(self.address_of(group[0].0, all));
        }
        ids.sort_unstable();
        self.sets.intern(&ids).0
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.addresses.len() * 48 + self.sets.memory_bytes() + self.unions.capacity() * 13
    }

    fn address_of(&mut self, context: ContextId, called: CalledId) -> ReturnId {
        if called == NOTHING {
            return ROOT;
        }
        *self
            .by_address
            .entry((context, called))
            .or_insert_with(|| self.addresses.push((context, called)))
    }
}
