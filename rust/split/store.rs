//! The splits that all grammars of a vocabulary share: a cache bounded in bytes.
//!
//! Keyed by what a lexer state is (a hash of its structure, the same in every grammar) and the
//! subtree. When the bound is passed everything is dropped; whoever still uses a split keeps it
//! alive until done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use super::Split;
use crate::index::NodeId;

/// The most bytes of splits that a vocabulary keeps.
const LIMIT: usize = 24 << 20;

/// A bounded cache of splits.
#[derive(Debug, Default)]
pub struct SplitStore {
    splits: RwLock<FxHashMap<(u128, NodeId), Arc<Split>>>,
    bytes: AtomicUsize,
}

impl SplitStore {
    /// A split that is known.
    pub fn get(&self, identity: u128, node: NodeId) -> Option<Arc<Split>> {
        self.splits.read().get(&(identity, node)).cloned()
    }

    /// Keeps a split for others; gives the one that is kept.
    pub fn insert(&self, identity: u128, node: NodeId, split: Split) -> Arc<Split> {
        let bytes = split.memory_bytes() + 64;
        let mut splits = self.splits.write();
        if self.bytes.load(Ordering::Relaxed) + bytes > LIMIT {
            splits.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        self.grow(bytes);
        Arc::clone(splits.entry((identity, node)).or_insert_with(|| Arc::new(split)))
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
