//! How texts of expressions start: each way once, since states that differ in a counter start alike.
//!
//! PERF: a text of 90,000 characters under a `maxLength` took 36 MB with these sets in each node, and
//! takes 25 with their numbers.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::byteset::ByteSet;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StartId(u32);

impl StartId {
    /// The number of a start that is not known yet.
    pub(super) const NONE: Self = Self(u32::MAX);
}

/// All starts of a set of expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    items: Vec<Start>,
    known: HashTable<u32>,
}

impl Starts {
    #[inline]
    pub(super) fn get(&self, id: StartId) -> &Start {
        &self.items[id.0 as usize]
    }

    pub(super) fn add(&mut self, start: Start) -> StartId {
        // Few differ in their cuts alone.
        let hash = |start: &Start| FxBuildHasher.hash_one(start.first);
        let items = &self.items;
        let own = hash(&start);
        if let Some(&known) = self.known.find(own, |&id| items[id as usize] == start) {
            return StartId(known);
        }
        let id = items.len() as u32;
        self.items.push(start);
        let items = &self.items;
        self.known.insert_unique(own, id, |&id| hash(&items[id as usize]));
        StartId(id)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.items.len() * (size_of::<Start>() + 8)
    }
}
