//! Counters that can't run out within a token, taken away.
//!
//! Inside `[a-z]{0,10000}` every state has its own count, though for a token of at most L bytes the
//! counts past L are all alike: at most L repetitions fit into it. [`RegexSet::clamped`] makes such
//! states equal, so that a long counted text has one mask and one split, not one a character.
//!
//! In an intersection it takes more. After some bytes each part may be able to go on, and yet they
//! have no text in common, as `a{0,9}` and `(a{8})*` have none after nine of them. What is right is
//! this: let B be the intersection A with all upper bounds of at least n in its parts (not in what
//! is excluded) taken away. A ⊆ B, and they have the same texts of up to n bytes, since no bound of
//! n is passed in fewer (empty repetitions can be left out). Let every state of B have a text of at
//! most d bytes, and n ≥ L + d. Then after any w of at most L bytes A and B go on alike: whether w
//! is a text is the same, and if B goes on after w, it does so to a text wv of at most L + d bytes,
//! which is one of A too. So B's states are walked once, as far as they are few; d is the longest
//! of the shortest ways from them to an end.

use rustc_hash::FxHashMap;

use super::literal::Piece;
use super::meet::{Meet, TooLarge};
use super::node::{Node, RegexSet, UNBOUNDED};
use super::search::Limits;
use crate::index::RegexId;

/// The most states that are walked to find the longest way to an end.
const MAX_STATES: usize = 256;
/// The most steps of searches on that walk.
const MAX_STEPS: usize = 1 << 12;

impl RegexSet {
    /// An expression that goes on exactly as `root` does for `limit` bytes, with no counter greater
    /// than `limit` + 1.
    ///
    /// `x{m,n}` with n > limit can't be exhausted: n becomes unbounded. With m > limit it can't be
    /// completed either: m becomes limit + 1.
    pub fn clamped(
        &mut self,
        root: RegexId,
        limit: u32,
        memo: &mut FxHashMap<RegexId, RegexId>,
    ) -> RegexId {
        let large = |set: &Self, id| set.largest_count(id) > limit;
        let clamped = self.rebuild(root, memo, large, |set, id, memo| match set.node(id) {
            Node::Concat(head, tail) => Ok(set.concat(memo[head], memo[tail])),
            &Node::Literal(text, tail) => Ok(set.join(&[Piece::Text(text)], memo[&tail])),
            Node::Or(parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| memo[part]).collect();
                Ok(set.or(&parts))
            }
            &Node::Repeat(part, min, max) => {
                let max = if max > limit { UNBOUNDED } else { max };
                Ok(set.repeat_raw(memo[&part], min.min(limit + 1), max))
            }
            Node::And(meet) => {
                let meet = meet.clone();
                Ok(set.clamped_meet(id, &meet, limit).unwrap_or(id))
            }
            // They have no counters.
            Node::State { .. } | Node::Dead | Node::Epsilon | Node::Bytes(_) => Ok(id),
        });
        // Nothing else is searched.
        clamped.unwrap_or(root)
    }

    /// An intersection without its largest counters; `None` where that might change something.
    fn clamped_meet(&mut self, id: RegexId, meet: &Meet, limit: u32) -> Option<RegexId> {
        // The length of a string is likely to be larger by far than the counts in its pattern.
        let threshold = limit.max(self.largest_count(id) / 2);
        let mut bound = UNBOUNDED;
        let mut memo = FxHashMap::default();
        let all: Vec<RegexId> = meet
            .all
            .iter()
            .map(|&part| self.unbounded(part, threshold, &mut bound, &mut memo))
            .collect();
        if bound == UNBOUNDED {
            return None;
        }
        let relaxed = self.meet_with_text(all, meet.none);
        let way = match self.ways.get(&relaxed) {
            Some(&way) => way,
            None => self.find_ways(relaxed),
        };
        (way? <= bound - limit).then_some(relaxed)
    }

    /// The expression without its upper bounds of more than `threshold`; the least of them is
    /// written to `bound`.
    pub(super) fn unbounded(
        &mut self,
        root: RegexId,
        threshold: u32,
        bound: &mut u32,
        memo: &mut FxHashMap<RegexId, RegexId>,
    ) -> RegexId {
        let large = |set: &Self, id| set.largest_count(id) > threshold;
        let rebuilt = self.rebuild(root, memo, large, |set, id, memo| match set.node(id) {
            Node::Concat(head, tail) => Ok(set.concat(memo[head], memo[tail])),
            &Node::Literal(text, tail) => Ok(set.join(&[Piece::Text(text)], memo[&tail])),
            Node::Or(parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| memo[part]).collect();
                Ok(set.or(&parts))
            }
            &Node::Repeat(part, min, max) => {
                let open = max > threshold;
                if open {
                    *bound = max.min(*bound);
                }
                Ok(set.repeat_raw(memo[&part], min, if open { UNBOUNDED } else { max }))
            }
            Node::And(_) | Node::State { .. } | Node::Dead | Node::Epsilon | Node::Bytes(_) => {
                Ok(id)
            }
        });
        // Nothing is searched.
        rebuilt.unwrap_or(root)
    }

    /// The longest of the shortest ways to an end from all states after `root`; `None` if they are
    /// too many.
    fn find_ways(&mut self, root: RegexId) -> Option<u32> {
        let few = Limits { free: 0, allowance: MAX_STEPS, most: MAX_STEPS };
        let limits = std::mem::replace(&mut self.limits, few);
        let walked = self.walk(root);
        self.limits = limits;
        let (states, complete) = walked;
        let way = complete.then(|| self.longest_way(&states));
        // What is right for all states after the root is right for those after any of them.
        self.ways.extend(states.into_iter().map(|(state, _)| (state, way)));
        way
    }

    /// The states after `root`, each with those that a byte leads to, and whether these are all.
    fn walk(&mut self, root: RegexId) -> (Vec<(RegexId, Vec<usize>)>, bool) {
        let mut numbers = FxHashMap::from_iter([(root, 0)]);
        let mut states = vec![(root, Vec::new())];
        let mut at = 0;
        while let Some(&(state, _)) = states.get(at) {
            let mut after = Vec::new();
            for byte in self.different_bytes(state).iter() {
                self.forget();
                let next = match self.derivative(state, byte) {
                    Ok(super::DEAD) => continue,
                    Ok(next) => next,
                    Err(TooLarge) => return (states, false),
                };
                after.push(*numbers.entry(next).or_insert_with(|| {
                    states.push((next, Vec::new()));
                    states.len() - 1
                }));
            }
            if states.len() > MAX_STATES {
                return (states, false);
            }
            after.sort_unstable();
            after.dedup();
            states[at].1 = after;
            at += 1;
        }
        (states, true)
    }

    fn longest_way(&self, states: &[(RegexId, Vec<usize>)]) -> u32 {
        let mut ways: Vec<u32> = states
            .iter()
            .map(|&(state, _)| if self.is_nullable(state) { 0 } else { u32::MAX })
            .collect();
        loop {
            let mut changed = false;
            // Most lead to what was met later.
            for (at, (_, after)) in states.iter().enumerate().rev() {
                let next = after.iter().map(|&next| ways[next]).min().unwrap_or(u32::MAX);
                if next.saturating_add(1) < ways[at] {
                    ways[at] = next + 1;
                    changed = true;
                }
            }
            if !changed {
                return ways.into_iter().max().unwrap_or(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_alike_and_small_ones_stay() {
        let mut s = RegexSet::default();
        let mut memo = FxHashMap::default();
        let a = s.literal(b"a");
        let b = s.literal(b"b");
        let counted = |s: &mut RegexSet, min, max| {
            let many = s.repeat(a, min, Some(max));
            s.concat(many, b)
        };
        let (x, y) = (counted(&mut s, 0, 1000), counted(&mut s, 0, 999));
        assert_eq!(s.clamped(x, 10, &mut memo), s.clamped(y, 10, &mut memo));
        let (x, y) = (counted(&mut s, 500, 1000), counted(&mut s, 499, 999));
        assert_eq!(s.clamped(x, 10, &mut memo), s.clamped(y, 10, &mut memo));
        let small = counted(&mut s, 2, 10);
        assert_eq!(s.clamped(small, 10, &mut memo), small);
    }

    /// A lexer state: `pattern` with at most `max` letters.
    fn limited(s: &mut RegexSet, pattern: RegexId, max: u32) -> RegexId {
        let letter = s.class(&[('a', 'z')]);
        let letters = s.repeat(letter, 0, Some(max));
        s.and(&[pattern, letters], &[]).unwrap()
    }

    #[test]
    fn intersections_that_end_in_time_lose_their_counters() {
        let mut s = RegexSet::default();
        let letter = s.class(&[('a', 'z')]);
        let letters = s.repeat(letter, 0, None);
        let end = s.literal(b"xyz");
        let pattern = s.concat(letters, end);
        let [x, y, short] = [1000, 999, 18].map(|max| limited(&mut s, pattern, max));
        let mut memo = FxHashMap::default();
        let clamped = s.clamped(x, 16, &mut memo);
        assert_ne!(clamped, x);
        assert_eq!(s.clamped(y, 16, &mut memo), clamped);
        assert_eq!(s.largest_count(clamped), 0);
        // "xyz" may not fit behind 16 letters.
        assert_eq!(s.clamped(short, 16, &mut memo), short);
    }

    #[test]
    fn intersections_that_may_get_stuck_keep_their_counters() {
        let mut s = RegexSet::default();
        let unit = s.literal(b"aaaaaaaa");
        let units = s.repeat(unit, 0, None);
        let mut memo = FxHashMap::default();
        // After eight more letters there have to be sixteen.
        let nine = limited(&mut s, units, 9);
        assert_eq!(s.clamped(nine, 8, &mut memo), nine);
        let many = limited(&mut s, units, 100);
        let clamped = s.clamped(many, 8, &mut memo);
        assert_eq!(s.largest_count(clamped), 0);
    }
}
