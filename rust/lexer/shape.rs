//! What the shape of an expression says about the bytes of its texts, without deriving anything.

use super::dfa::Lexer;
use super::node::{DEAD, Node, RegexSet, UNBOUNDED};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// Expressions are looked into this deep.
const DEPTH: u32 = 12;
/// At most so many expressions are looked at to see whether a text may end.
const MAX_LOOKS: u32 = 2_000;

impl RegexSet {
    /// All bytes that texts of an expression may hold, and maybe more.
    pub fn alphabet(&self, root: RegexId) -> ByteSet {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![root];
        let mut bytes = ByteSet::EMPTY;
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Dead | Node::Epsilon => {}
                Node::Bytes(set) => bytes = bytes.union(set),
                Node::State { .. } => {
                    bytes.insert_range(0, 0xff);
                    return bytes;
                }
                &Node::Concat(head, tail) => {
                    // The ends of words are long lists of these.
                    match self.node(head) {
                        Node::Bytes(set) => bytes = bytes.union(set),
                        _ if seen.insert(head) => stack.push(head),
                        _ => {}
                    }
                    stack.extend(seen.insert(tail).then_some(tail));
                }
                Node::Or(parts) => stack.extend(parts.iter().filter(|&&part| seen.insert(part))),
                Node::Repeat(part, ..) => stack.extend(seen.insert(*part).then_some(*part)),
                Node::And(meet) => stack.extend(meet.all.iter().filter(|&&part| seen.insert(part))),
            }
        }
        bytes
    }

    /// Whether an expression may have a text of these bytes alone; false if it surely has none.
    pub fn may_end_within(&self, id: RegexId, bytes: &ByteSet) -> bool {
        self.may_end(id, bytes, 4 * DEPTH, &mut { MAX_LOOKS })
    }

    fn may_end(&self, id: RegexId, bytes: &ByteSet, depth: u32, looks: &mut u32) -> bool {
        if depth == 0 || *looks == 0 {
            return true;
        }
        *looks -= 1;
        let mut may = |part: RegexId| self.may_end(part, bytes, depth - 1, looks);
        match self.node(id) {
            Node::Dead => false,
            Node::Epsilon | Node::State { .. } => true,
            Node::Bytes(set) => set.intersects(bytes),
            // The ends of texts tell most.
            &Node::Concat(head, tail) => may(tail) && may(head),
            Node::Or(parts) => parts.iter().any(|&part| may(part)),
            &Node::Repeat(part, min, _) => min == 0 || may(part),
            Node::And(meet) => meet.all.iter().all(|&part| may(part)),
        }
    }

    /// The expression without what is taken away from its beginning; `None` where nothing is.
    pub fn with_exceptions(&mut self, id: RegexId) -> Option<RegexId> {
        let (head, tail) = match *self.node(id) {
            Node::Concat(head, tail) => (head, tail),
            _ => (id, super::EPSILON),
        };
        let Node::And(meet) = self.node(head) else { return None };
        if meet.none == DEAD {
            return None;
        }
        let all = meet.all.to_vec();
        let whole = self.meet_with_text(all, DEAD);
        Some(self.concat(whole, tail))
    }

    /// Some bytes, such that `id` and `whole` go on alike with all others, where `whole` is what
    /// [`Self::with_exceptions`] said of `id`, or both came from such by the same bytes.
    pub fn differing_bytes(&mut self, id: RegexId, whole: RegexId) -> ByteSet {
        let (head, tail) = match *self.node(id) {
            Node::Concat(head, tail) => (head, tail),
            _ => (id, super::EPSILON),
        };
        if self.with_exceptions(id) == Some(whole)
            && let Node::And(meet) = self.node(head)
        {
            let mut bytes = *self.first(meet.none);
            if self.is_nullable(meet.none) {
                // What follows the exceptions' end follows that of others.
                bytes = bytes.union(self.first(tail));
            }
            return bytes;
        }
        self.first(id).union(self.first(whole))
    }

    /// For `x{m,n} y`, with `x{0,} y`: the latter, x, m and n, where no text of y starts as one of
    /// x does and neither is empty.
    pub fn counted(&mut self, id: RegexId) -> Option<Counted> {
        let &Node::Concat(head, tail) = self.node(id) else { return None };
        let &Node::Repeat(part, min, max) = self.node(head) else { return None };
        let apart = !self.first(part).intersects(self.first(tail));
        if min == 0 && max == UNBOUNDED
            || self.is_nullable(part)
            || self.is_nullable(tail)
            || !apart
        {
            return None;
        }
        let many = self.repeat_raw(part, 0, UNBOUNDED);
        let whole = self.concat(many, tail);
        let max = (max != UNBOUNDED).then_some(max);
        Some(Counted { whole, part, min, max })
    }
}

/// A counted repetition at the beginning of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The expression without the bounds.
    pub whole: RegexId,
    /// What is repeated.
    pub part: RegexId,
    /// At least so often.
    pub min: u32,
    /// At most so often.
    pub max: Option<u32>,
}

impl Lexer {
    /// Groups of texts, as bits, that an expression stays alive with however they follow each other.
    /// `units` says of a state which groups are among its texts as a whole.
    ///
    /// Each rule takes from the shape of an expression something it goes on at least as: a
    /// repetition without bound goes on with what is repeated; a sequence as its beginning does; a
    /// choice as any of its parts; and what is infinite whatever came before outlives all finite
    /// exceptions.
    pub fn steady(
        &mut self,
        state: RegexId,
        units: &mut impl FnMut(&mut Self, RegexId) -> u64,
    ) -> u64 {
        self.steady_within(state, units, DEPTH)
    }

    fn steady_within(
        &mut self,
        state: RegexId,
        units: &mut impl FnMut(&mut Self, RegexId) -> u64,
        depth: u32,
    ) -> u64 {
        if depth == 0 {
            return 0;
        }
        match self.regexes().node(state).clone() {
            Node::Repeat(part, _, UNBOUNDED) => units(self, part),
            Node::Dead | Node::Epsilon | Node::Bytes(_) | Node::State { .. } | Node::Repeat(..) => {
                0
            }
            Node::Concat(head, tail) => {
                let found = self.steady_within(head, units, depth - 1);
                if found != 0 {
                    return found;
                }
                let found = self.steady_within(tail, units, depth - 1);
                if found == 0 || self.regexes().is_nullable(head) {
                    return found;
                }
                match *self.regexes().node(head) {
                    Node::Repeat(part, ..) => found & units(self, part),
                    _ => found & units(self, head),
                }
            }
            Node::Or(parts) => {
                let most = 2 * DEPTH as usize;
                let mut best = 0u64;
                for &part in parts.iter().take(most) {
                    let found = self.steady_within(part, units, depth - 1);
                    if found.count_ones() > best.count_ones() {
                        best = found;
                    }
                }
                best
            }
            Node::And(meet) => match meet.all[..] {
                [one] if self.regexes().is_finite(meet.none) => {
                    self.steady_within(one, units, depth - 1)
                }
                _ => 0,
            },
        }
    }
}
