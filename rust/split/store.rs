//! What all grammars of a vocabulary share: splits, and what it takes to make more of them. A cache
//! bounded in bytes.
//!
//! Keyed by what a lexer state is (a hash of its structure, the same in every grammar) and the
//! subtree. When the bound is passed everything is dropped; whoever still uses a split keeps it
//! alive until done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use super::Split;
use super::closure::Units;
use super::counts::Counts;
use crate::index::NodeId;

/// The most bytes of splits that a vocabulary keeps.
const LIMIT: usize = 24 << 20;
/// Bytes that an entry of a table takes.
const ENTRY: usize = 64;

/// A bounded cache of splits.
#[derive(Debug, Default)]
pub struct SplitStore {
    known: RwLock<Known>,
    bytes: AtomicUsize,
}

/// Whether what is repeated in an expression can be counted in tokens.
#[derive(Clone, Debug)]
pub(super) enum Countable {
    /// How often it is.
    Yes(Arc<Counts>),
    /// A token may have more than one count, or too many would have to be read.
    No,
}

#[derive(Debug, Default)]
struct Known {
    splits: FxHashMap<(u128, NodeId), Arc<Split>>,
    units: FxHashMap<u128, Units>,
    counts: FxHashMap<u128, Countable>,
}

impl SplitStore {
    /// A split that is known.
    pub fn get(&self, identity: u128, node: NodeId) -> Option<Arc<Split>> {
        self.known.read().splits.get(&(identity, node)).cloned()
    }

    /// Keeps a split for others; gives the one that is kept.
    pub fn insert(&self, identity: u128, node: NodeId, split: Split) -> Arc<Split> {
        let bytes = split.memory_bytes();
        let keep = |known: &mut Known| {
            let kept = known.splits.entry((identity, node)).or_insert_with(|| Arc::new(split));
            Arc::clone(kept)
        };
        self.keep(bytes, keep)
    }

    /// What is known of the atoms that an expression has as texts.
    pub(super) fn units(&self, identity: u128) -> Option<Units> {
        self.known.read().units.get(&identity).copied()
    }

    pub(super) fn insert_units(&self, identity: u128, units: Units) {
        self.keep(0, |known| known.units.insert(identity, units));
    }

    /// The counts of an expression without bounds, if they are known.
    pub(super) fn counts(&self, identity: u128) -> Option<Countable> {
        self.known.read().counts.get(&identity).cloned()
    }

    pub(super) fn insert_counts(&self, identity: u128, counts: Countable) {
        let bytes = match &counts {
            Countable::Yes(counts) => counts.memory_bytes(),
            Countable::No => 0,
        };
        self.keep(bytes, |known| known.counts.insert(identity, counts));
    }

    fn keep<T>(&self, bytes: usize, keep: impl FnOnce(&mut Known) -> T) -> T {
        let bytes = bytes + ENTRY;
        let mut known = self.known.write();
        if self.bytes.load(Ordering::Relaxed) + bytes > LIMIT {
            *known = Known::default();
            self.bytes.store(0, Ordering::Relaxed);
        }
        self.grow(bytes);
        keep(&mut known)
    }

    /// Counts bytes that a kept split has come to hold.
    pub(super) fn grow(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
