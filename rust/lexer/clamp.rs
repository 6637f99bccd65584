//! Counters that can't run out within a token, taken away.
//!
//! Inside `[a-z]{0,10000}` every state has its own count, though for a token of at most L bytes the
//! counts past L are all alike: at most L repetitions fit into it. [`RegexSet::clamped`] makes such
//! states equal, so that a long counted text has one mask and one split, not one a character.

use rustc_hash::FxHashMap;

use super::node::{Node, RegexSet, UNBOUNDED};
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
        let clamped = self.rebuild(root, memo, large, |set, id, memo| match set.node(id) {
            Node::Concat(head, tail) => Ok(set.concat(memo[head], memo[tail])),
            Node::Or(parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| memo[part]).collect();
                Ok(set.or(&parts))
            }
            &Node::Repeat(part, min, max) => {
                let max = if max > limit { UNBOUNDED } else { max };
                Ok(set.repeat_raw(memo[&part], min.min(limit + 1), max))
            }
            // The parts of an intersection must be completed by one text, which takes all of their
            // counters into account. The others have none.
            Node::And(_) | Node::State { .. } | Node::Dead | Node::Epsilon | Node::Bytes(_) => {
                Ok(id)
            }
        });
        // Nothing of this is searched.
        clamped.unwrap_or(root)
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
