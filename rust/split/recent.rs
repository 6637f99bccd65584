//! A map that forgets what has not been used for long.
//!
//! Time goes by in turns, which its owner counts. What is used is kept for this turn and the
//! [`AGES`]` - 1` after it; at each turn the oldest goes. A hit costs a look under a read lock, and
//! a write lock once a turn.

use std::hash::Hash;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

/// How many turns a value is kept for without being used.
pub(super) const AGES: usize = 4;

/// Values by key, shared by threads; cheap to copy, like an `Arc`.
#[derive(Debug)]
pub(super) struct Recent<K, V>(RwLock<Maps<K, V>>);

#[derive(Debug)]
struct Maps<K, V> {
    turn: u64,
    /// By the number of turns since they were used.
    ages: [FxHashMap<K, V>; AGES],
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self(RwLock::new(Maps { turn: 0, ages: Default::default() }))
    }
}

impl<K: Eq + Hash, V: Clone> Recent<K, V> {
    /// The value of a key. `again` hears of one that has not been used since the turn, and of how
    /// many turns ago it was.
    pub(super) fn get(&self, key: &K, again: impl FnOnce(&V, usize)) -> Option<V> {
        {
            let maps = self.0.read();
            if let Some(value) = maps.ages[0].get(key) {
                return Some(value.clone());
            }
            if !maps.ages[1..].iter().any(|age| age.contains_key(key)) {
                return None;
            }
        }
        let mut maps = self.0.write();
        for age in 1..AGES {
            if let Some((key, value)) = maps.ages[age].remove_entry(key) {
                again(&value, age);
                maps.ages[0].insert(key, value.clone());
                return Some(value);
            }
        }
        // Another thread was faster.
        maps.ages[0].get(key).cloned()
    }

    /// Keeps a value, if there is none for the key yet; gives the one that is kept.
    pub(super) fn insert(&self, key: K, value: V) -> V {
        self.0.write().ages[0].entry(key).or_insert(value).clone()
    }

    /// Forgets what has not been used for long, unless this is no new turn.
    pub(super) fn turn(&self, turn: u64) {
        let mut maps = self.0.write();
        if maps.turn < turn {
            maps.turn = turn;
            maps.ages.rotate_right(1);
            maps.ages[0] = FxHashMap::default();
        }
    }

    /// Visits all values.
    pub(super) fn each(&self, visit: impl FnMut(&V)) {
        let maps = self.0.read();
        maps.ages.iter().flat_map(FxHashMap::values).for_each(visit);
    }

    /// A sum over all values.
    pub(super) fn sum(&self, of: impl Fn(&V) -> usize) -> usize {
        let maps = self.0.read();
        maps.ages.iter().flat_map(FxHashMap::values).map(of).sum()
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
        recent.turn(2);
        for _ in 0..2 {
            assert_eq!(recent.get(&"a", |value, age| told.push((*value, age))), Some(1));
        }
        assert_eq!(told, [(1, 2)]);
        recent.turn(3);
        assert_eq!(recent.sum(|value| *value), 3);
        recent.turn(4);
        assert_eq!(recent.get(&"b", |_, _| ()), None);
        assert_eq!(recent.sum(|value| *value), 1);
        recent.turn(5);
        recent.turn(6);
        assert_eq!(recent.get(&"a", |_, _| ()), None);
    }
}
