//! Return addresses, and interned sets of them.

use rustc_hash::FxHashMap;

use crate::index::{IndexVec, NonterminalId, ReturnId, ReturnSetId, RowId};

/// All return addresses and sets met so far. Address 0 is the root's, set 0 is empty.
#[derive(Clone, Debug)]
pub(super) struct Returns {
    addresses: IndexVec<ReturnId, (RowId, NonterminalId)>,
    /// For each address the set of it alone.
    only: IndexVec<ReturnId, Option<ReturnSetId>>,
    by_address: FxHashMap<(RowId, NonterminalId), ReturnId>,
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
            only: IndexVec::new(),
            by_address: FxHashMap::default(),
            sets: IndexVec::new(),
            by_set: FxHashMap::default(),
            unions: FxHashMap::default(),
            members: 0,
        };
        returns.intern(Vec::new());
        // No row calls the start symbol; the address only has to be different from all others.
        returns.addresses.push((RowId(u32::MAX), NonterminalId(u32::MAX)));
        returns.only.push(None);
        returns
    }

    /// The row that called, and the nonterminal that it called.
    pub(super) fn address(&self, id: ReturnId) -> (RowId, NonterminalId) {
        self.addresses[id]
    }

    /// The addresses of a set, sorted.
    pub(super) fn set(&self, id: ReturnSetId) -> &[ReturnId] {
        &self.sets[id]
    }

    /// The set of one address.
    pub(super) fn only(&mut self, address: ReturnId) -> ReturnSetId {
        if let Some(known) = self.only[address] {
            return known;
        }
        let set = self.intern(vec![address]);
        self.only[address] = Some(set);
        set
    }

    /// The set of the address of one call.
    pub(super) fn here(&mut self, row: RowId, nonterminal: NonterminalId) -> ReturnSetId {
        let address = *self.by_address.entry((row, nonterminal)).or_insert_with(|| {
            self.only.push(None);
            self.addresses.push((row, nonterminal))
        });
        self.only(address)
    }

    /// The addresses of both sets.
    pub(super) fn union(&mut self, left: ReturnSetId, right: ReturnSetId) -> ReturnSetId {
        // The empty set is 0.
        if left == right || right.0 == 0 {
            return left;
        }
        if left.0 == 0 {
            return right;
        }
        let pair = (left.min(right), left.max(right));
        if let Some(&known) = self.unions.get(&pair) {
            return known;
        }
        let mut members = self.sets[left].to_vec();
        members.extend_from_slice(&self.sets[right]);
        members.sort_unstable();
        members.dedup();
        let set = self.intern(members);
        self.unions.insert(pair, set);
        set
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.addresses.len() * 40
            + self.sets.len() * 64
            + self.members * 8
            + self.unions.capacity() * 13
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
