//! Counters that can't run out within a token, taken away.
//!
//! Inside `[a-z]{0,10000}` every state has its own count, though for a token of at most L bytes the
//! counts past L are all alike: at most L repetitions fit into it. [`RegexSet::clamped`] makes such
//! states equal, so that a long counted text has one mask and one split, not one a character.

use rustc_hash::FxHashMap;

use super::node::{DEAD, EPSILON, Node, RegexSet, UNBOUNDED};
use crate::index::RegexId;

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
        self.rebuild(root, memo, large, |set, node, memo| match *node {
            Node::Concat(head, tail) => set.concat(memo[&head], memo[&tail]),
            Node::Or(ref parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| memo[part]).collect();
                set.or(&parts)
            }
            Node::Repeat(part, min, max) => {
                let max = if max > limit { UNBOUNDED } else { max };
                set.repeat_raw(memo[&part], min.min(limit + 1), max)
            }
            // They have no counters.
            Node::Dead => DEAD,
            Node::Epsilon => EPSILON,
            Node::Bytes(bytes) => set.bytes(bytes),
            Node::And(..) | Node::State(..) => unreachable!("their counters are not looked at"),
        })
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
}
