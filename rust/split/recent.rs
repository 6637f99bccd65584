//! A map that forgets what has not been used for long.
//!
//! Time goes by in turns, which its owner counts. What is used is kept for this turn and the next;
//! at each turn the rest goes. A hit costs a look under a read lock, and a write lock once a turn.

use std::hash::Hash;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

/// Values by key, shared by threads; cheap to copy, like an `Arc`.
#[derive(Debug)]
pub(super) struct Recent<K, V>(RwLock<Maps<K, V>>);

#[derive(Debug)]
struct Maps<K, V> {
    turn: u64,
    /// Used since the turn.
    now: FxHashMap<K, V>,
    /// Used in the turn before, and not since.
    before: FxHashMap<K, V>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        let maps = Maps { turn: 0, now: FxHashMap::default(), before: FxHashMap::default() };
        Self(RwLock::new(maps))
    }
}

impl<K: Eq + Hash, V: Clone> Recent<K, V> {
    /// The value of a key. `again` hears of one that has not been used since the turn.
    pub(super) fn get(&self, key: &K, again: impl FnOnce(&V)) -> Option<V> {
        {
            let maps = self.0.read();
            if let Some(value) = maps.now.get(key) {
                return Some(value.clone());
            }
            if !maps.before.contains_key(key) {
                return None;
            }
        }
        let mut maps = self.0.write();
        if let Some((key, value)) = maps.before.remove_entry(key) {
            again(&value);
            maps.now.insert(key, value.clone());
            return Some(value);
        }
        // Another thread was faster.
        maps.now.get(key).cloned()
    }

    /// Keeps a value, if there is none for the key yet; gives the one that is kept.
    pub(super) fn insert(&self, key: K, value: V) -> V {
        self.0.write().now.entry(key).or_insert(value).clone()
    }

    /// Forgets what has not been used since the turn before, unless this is no new turn.
    pub(super) fn turn(&self, turn: u64) {
        let mut maps = self.0.write();
        if maps.turn < turn {
            maps.turn = turn;
            maps.before = std::mem::take(&mut maps.now);
        }
    }

    /// Visits all values.
    pub(super) fn each(&self, visit: impl FnMut(&V)) {
        let maps = self.0.read();
        maps.now.values().chain(maps.before.values()).for_each(visit);
    }

    /// A sum over all values.
    pub(super) fn sum(&self, of: impl Fn(&V) -> usize) -> usize {
        let maps = self.0.read();
        maps.now.values().chain(maps.before.values()).map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let recent = Recent::default();
        let mut told = Vec::new();
        assert_eq!(recent.insert("a", 1), 1);
        assert_eq!(recent.insert("b", 2), 2);
        assert_eq!(recent.insert("a", 3), 1);
        recent.turn(1);
        recent.turn(1);
        assert_eq!(recent.get(&"a", |value| told.push(*value)), Some(1));
        assert_eq!(recent.get(&"a", |value| told.push(*value)), Some(1));
        assert_eq!(told, [1]);
        recent.turn(2);
        assert_eq!(recent.get(&"b", |_| ()), None);
        assert_eq!(recent.sum(|value| *value), 1);
        recent.turn(3);
        assert_eq!(recent.get(&"a", |_| ()), None);
    }
}
