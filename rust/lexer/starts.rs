//! How texts of expressions start: each way once, since states that differ in a counter start alike.
//!
//! PERF: a text of 90,000 characters under a `maxLength` took 36 MB with these sets in each node, and
//! takes 25 with their numbers.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::byteset::ByteSet;
use crate::index::Id;
use crate::layered::Layered;

/// How texts start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The bytes they start with; maybe more if it is not known exactly.
    pub(super) first: ByteSet,
    /// The least bytes of intervals whose bytes have the same derivative.
    pub(super) cuts: ByteSet,
}

impl Start {
    /// Of no text, or none but the empty one.
    pub(super) const NONE: Self = Self { first: ByteSet::EMPTY, cuts: ByteSet::EMPTY };

    /// With one byte of a set.
    pub(super) fn with(first: ByteSet) -> Self {
        Self { first, cuts: first.cuts() }
    }

    /// As one or the other.
    #[must_use]
    pub(super) fn or(&self, other: &Self) -> Self {
        Self { first: self.first.union(&other.first), cuts: self.cuts.union(&other.cuts) }
    }
}

/// A start's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StartId(u32);

impl StartId {
    /// The number of a start that is not known yet.
    pub(super) const NONE: Self = Self(u32::MAX);
}

impl Id for StartId {
    fn new(index: usize) -> Self {
        Self(index as u32)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// All starts of a set of expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    items: Layered<StartId, Start>,
    /// Those that copies share.
    known_shared: Arc<HashTable<StartId>>,
    /// All others.
    known: HashTable<StartId>,
}

impl Starts {
    #[inline]
    pub(super) fn get(&self, id: StartId) -> &Start {
        &self.items[id]
    }

    pub(super) fn add(&mut self, start: Start) -> StartId {
        // Few differ in their cuts alone.
        let hash = |start: &Start| FxBuildHasher.hash_one(start.first);
        let items = &self.items;
        let own = hash(&start);
        let equal = |&id: &StartId| items[id] == start;
        if let Some(&known) =
            self.known_shared.find(own, equal).or_else(|| self.known.find(own, equal))
        {
            return known;
        }
        let id = self.items.push(start);
        let items = &self.items;
        self.known.insert_unique(own, id, |&id| hash(&items[id]));
        id
    }

    /// Lets all later copies share the starts that there are.
    pub(super) fn share(&mut self) {
        self.items.share();
        self.known_shared = Arc::new(std::mem::take(&mut self.known));
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.items.own_len() * (size_of::<Start>() + 8)
    }
}
