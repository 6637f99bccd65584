//! Masks by state, of which those that nobody asked for again are forgotten first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use super::set::Mask;
use crate::index::StateId;

/// Bytes that an entry of the table takes.
const ENTRY: usize = 48;

/// Masks that are known.
#[derive(Debug, Default)]
pub(super) struct KnownMasks {
    masks: FxHashMap<StateId, Known>,
    bytes: usize,
}

#[derive(Debug)]
struct Known {
    mask: Arc<Mask>,
    /// Whether it was asked for since it was found, or since masks were forgotten.
    asked: AtomicBool,
}

impl KnownMasks {
    /// The mask of a state.
    pub(super) fn get(&self, state: StateId) -> Option<&Arc<Mask>> {
        let known = self.masks.get(&state)?;
        // Mostly it has been: then threads share the line that it is in.
        if !known.asked.load(Ordering::Relaxed) {
            known.asked.store(true, Ordering::Relaxed);
        }
        Some(&known.mask)
    }

    /// Keeps a mask; `shared` if another state has it too.
    pub(super) fn insert(&mut self, state: StateId, mask: Arc<Mask>, shared: bool) {
        self.bytes += ENTRY + if shared { 0 } else { mask.memory_bytes() };
        self.masks.insert(state, Known { mask, asked: AtomicBool::new(false) });
    }

    /// Forgets the masks that nobody asked for again since the last time.
    pub(super) fn forget(&mut self) {
        self.masks.retain(|_, known| std::mem::take(known.asked.get_mut()));
        self.masks.shrink_to_fit();
        let mut counted = FxHashSet::default();
        let masks = self.masks.values().map(|known| &known.mask);
        let bytes = masks.filter(|mask| counted.insert(Arc::as_ptr(mask)));
        self.bytes =
            self.masks.len() * ENTRY + bytes.map(|mask| mask.memory_bytes()).sum::<usize>();
    }

    /// Bytes of memory held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_that_are_asked_for_again_stay() {
        let mut known = KnownMasks::default();
        let mask = Arc::new(Mask::default());
        known.insert(StateId(1), Arc::clone(&mask), false);
        known.insert(StateId(2), mask, true);
        known.insert(StateId(3), Arc::new(Mask::default()), false);
        let all = known.memory_bytes();
        assert!(known.get(StateId(2)).is_some() && known.get(StateId(3)).is_some());
        known.forget();
        assert_eq!(known.memory_bytes(), all - ENTRY);
        assert!(known.get(StateId(1)).is_none() && known.get(StateId(2)).is_some());
        known.forget();
        assert!(known.get(StateId(2)).is_some() && known.get(StateId(3)).is_none());
        known.forget();
        known.forget();
        assert_eq!(known.memory_bytes(), 0);
    }
}
