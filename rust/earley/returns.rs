//! Return addresses, and interned sets of them.
//!
//! An address is a row and a set of nonterminals that it called; completing it goes on with
//! whatever in that row waits for one of them. A set has at most one address of each row.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::index::{CalledId, IndexVec, NonterminalId, ReturnId, ReturnSetId, RowId};

/// The return address of the start symbol: completing it accepts the text.
pub(super) const ROOT: ReturnId = ReturnId(0);
/// The empty set of return addresses.
pub(super) const NOWHERE: ReturnSetId = ReturnSetId(0);
/// The empty set of nonterminals.
pub(super) const NOTHING: CalledId = CalledId(0);

/// Sets of nonterminals, interned.
#[derive(Clone, Debug)]
pub(super) struct CalledSets {
    sets: IndexVec<CalledId, Box<[NonterminalId]>>,
    by_set: FxHashMap<Box<[NonterminalId]>, CalledId>,
    members: usize,
}

impl CalledSets {
    pub(super) fn new() -> Self {
        let mut sets = Self { sets: IndexVec::new(), by_set: FxHashMap::default(), members: 0 };
        sets.intern(&[]);
        sets
    }

    /// The nonterminals of a set, sorted.
    pub(super) fn members(&self, id: CalledId) -> &[NonterminalId] {
        &self.sets[id]
    }

    /// The set of some nonterminals, sorted and each once.
    pub(super) fn intern(&mut self, members: &[NonterminalId]) -> CalledId {
        if let Some(&known) = self.by_set.get(members) {
            return known;
        }
        self.members += members.len();
        let members: Box<[NonterminalId]> = members.into();
        let id = self.sets.push(members.clone());
        self.by_set.insert(members, id);
        id
    }

    fn union(&mut self, left: CalledId, right: CalledId) -> CalledId {
        let mut members = self.sets[left].to_vec();
        members.extend_from_slice(&self.sets[right]);
        members.sort_unstable();
        members.dedup();
        self.intern(&members)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.sets.len() * 64 + self.members * 8
    }
}

/// All return addresses and sets of them met so far.
#[derive(Clone, Debug)]
pub(super) struct Returns {
    addresses: IndexVec<ReturnId, (RowId, CalledId)>,
    by_address: FxHashMap<(RowId, CalledId), ReturnId>,
    /// The sets of one address.
    only: FxHashMap<(RowId, CalledId), ReturnSetId>,
    sets: IndexVec<ReturnSetId, Box<[ReturnId]>>,
    by_set: FxHashMap<Box<[ReturnId]>, ReturnSetId>,
    unions: FxHashMap<(ReturnSetId, ReturnSetId), ReturnSetId>,
    /// Addresses in all sets together.
    members: usize,
}

impl Returns {
    pub(super) fn new() -> Self {
        let mut returns = Self {
            addresses: IndexVec::new(),
            by_address: FxHashMap::default(),
            only: FxHashMap::default(),
            sets: IndexVec::new(),
            by_set: FxHashMap::default(),
            unions: FxHashMap::default(),
            members: 0,
        };
        returns.intern(Vec::new());
        // No row calls the start symbol; the address only has to be different from all others.
        returns.addresses.push((RowId(u32::MAX), NOTHING));
        returns
    }

    /// The row that called, and what it called.
    pub(super) fn address(&self, id: ReturnId) -> (RowId, CalledId) {
        self.addresses[id]
    }

    /// The addresses of a set, sorted.
    pub(super) fn set(&self, id: ReturnSetId) -> &[ReturnId] {
        &self.sets[id]
    }

    /// The set of the root's address.
    pub(super) fn root(&mut self) -> ReturnSetId {
        self.intern(vec![ROOT])
    }

    /// The set of one address; the empty set if nothing was called.
    pub(super) fn here(&mut self, row: RowId, called: CalledId) -> ReturnSetId {
        if called == NOTHING {
            return NOWHERE;
        }
        if let Some(&known) = self.only.get(&(row, called)) {
            return known;
        }
        let address = self.address_of(row, called);
        let set = self.intern(vec![address]);
        self.only.insert((row, called), set);
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
        // Addresses of one row become one.
        let mut by_row: FxHashMap<RowId, CalledId> = FxHashMap::default();
        for &member in self.sets[left].iter().chain(&self.sets[right]) {
            let (row, more) = self.addresses[member];
            match by_row.entry(row) {
                Entry::Vacant(entry) => {
                    entry.insert(more);
                }
                Entry::Occupied(mut entry) => {
                    let union = called.union(*entry.get(), more);
                    entry.insert(union);
                }
            }
        }
        let mut members: Vec<ReturnId> =
            by_row.into_iter().map(|(row, called)| self.address_of(row, called)).collect();
        members.sort_unstable();
        let set = self.intern(members);
        self.unions.insert(pair, set);
        set
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.addresses.len() * 48
            + self.sets.len() * 64
            + self.members * 8
            + self.unions.capacity() * 13
    }

    fn address_of(&mut self, row: RowId, called: CalledId) -> ReturnId {
        if called == NOTHING {
            return ROOT;
        }
        *self.by_address.entry((row, called)).or_insert_with(|| self.addresses.push((row, called)))
    }

    fn intern(&mut self, members: Vec<ReturnId>) -> ReturnSetId {
        if let Some(&known) = self.by_set.get(&*members) {
            return known;
        }
        self.members += members.len();
        let members: Box<[ReturnId]> = members.into();
        let id = self.sets.push(members.clone());
        self.by_set.insert(members, id);
        id
    }
}
