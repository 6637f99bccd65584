//! What all grammars of a vocabulary share: splits, and what it takes to make more of them. A cache
//! bounded in bytes.
//!
//! Keyed by what a lexer state is (a hash of its structure, the same in every grammar) and the
//! subtree. Each time that a quarter of the bound has been filled, what was not used for the last three
//! is dropped: what many grammars use stays, what only a grammar of long ago used goes. Whoever
//! still uses a split keeps it alive until done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::Split;
use super::closure::Units;
use super::counts::Counts;
use super::recent::{AGES, Recent};
use crate::index::NodeId;

/// The most bytes of splits that a vocabulary keeps, unless it is told another number.
const LIMIT: usize = 24 << 20;
/// Bytes that an entry of a table takes.
const ENTRY: usize = 64;

/// A bounded cache of splits.
#[derive(Debug)]
pub struct SplitStore {
    splits: Recent<(u128, NodeId), Arc<Split>>,
    units: Recent<u128, Units>,
    counts: Recent<(u128, NodeId), Countable>,
    /// Bytes by the number of turns since they were used.
    ages: [AtomicUsize; AGES],
    /// Counts the turns.
    turn: Mutex<u64>,
    limit: AtomicUsize,
}

impl Default for SplitStore {
    fn default() -> Self {
        Self {
            splits: Recent::default(),
            units: Recent::default(),
            counts: Recent::default(),
            ages: Default::default(),
            turn: Mutex::new(0),
            limit: AtomicUsize::new(LIMIT),
        }
    }
}

/// Whether what is repeated in an expression can be counted in tokens.
#[derive(Clone, Debug)]
pub(super) enum Countable {
    /// How often it is.
    Yes(Arc<Counts>),
    /// A token may have more than one count, or too many would have to be read.
    No,
}

impl Countable {
    fn memory_bytes(&self) -> usize {
        match self {
            Self::Yes(counts) => counts.memory_bytes(),
            Self::No => 0,
        }
    }
}

impl SplitStore {
    /// A split that is known.
    pub fn get(&self, identity: u128, node: NodeId) -> Option<Arc<Split>> {
        self.splits.get(&(identity, node), |split, age| self.again(split.kept_bytes(), age))
    }

    /// Keeps a split for others; gives the one that is kept.
    pub fn insert(&self, identity: u128, node: NodeId, split: Split) -> Arc<Split> {
        self.make_room(split.memory_bytes());
        self.splits.insert((identity, node), Arc::new(split))
    }

    /// What is known of the atoms that an expression has as texts.
    pub(super) fn units(&self, identity: u128) -> Option<Units> {
        self.units.get(&identity, |_, age| self.again(0, age))
    }

    pub(super) fn insert_units(&self, identity: u128, units: Units) {
        self.make_room(0);
        self.units.insert(identity, units);
    }

    /// The counts of an expression without bounds below a node, if they are known.
    pub(super) fn counts(&self, identity: u128, node: NodeId) -> Option<Countable> {
        let again = |counts: &Countable, age| self.again(counts.memory_bytes(), age);
        self.counts.get(&(identity, node), again)
    }

    pub(super) fn insert_counts(&self, identity: u128, node: NodeId, counts: Countable) {
        self.make_room(counts.memory_bytes());
        self.counts.insert((identity, node), counts);
    }

    /// Counts an entry that is to come, behind a new turn if it is time for one.
    fn make_room(&self, bytes: usize) {
        let bytes = bytes + ENTRY;
        let full =
            |store: &Self| store.ages[0].load(Ordering::Relaxed) + bytes > store.limit() / AGES;
        if full(self) {
            let mut turn = self.turn.lock();
            // Another thread may have been faster.
            if full(self) {
                *turn += 1;
                self.splits.turn(*turn);
                self.units.turn(*turn);
                self.counts.turn(*turn);
                // What hangs on splits that stay is bounded too.
                self.splits.each(|split| split.turn(*turn));
                let mut younger = 0;
                for age in &self.ages {
                    younger = age.swap(younger, Ordering::Relaxed);
                }
            }
        }
        self.grow(bytes);
    }

    /// Counts an entry that is used again, so many turns after the last time.
    fn again(&self, bytes: usize, age: usize) {
        let bytes = bytes + ENTRY;
        let old = &self.ages[age];
        old.store(old.load(Ordering::Relaxed).saturating_sub(bytes), Ordering::Relaxed);
        self.grow(bytes);
    }

    /// Counts bytes that a kept split has come to hold.
    pub(super) fn grow(&self, bytes: usize) {
        self.ages[0].fetch_add(bytes, Ordering::Relaxed);
    }

    /// The most bytes that are kept.
    pub fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the most bytes that are kept; what is too much goes when more comes.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.ages.iter().map(|age| age.load(Ordering::Relaxed)).sum()
    }
}
