//! Intersection and difference, with a real check for emptiness.
//!
//! The derivative of an intersection is the intersection of the derivatives, but whether it has any
//! text can't be told from its parts. [`RegexSet::and`] therefore looks for a text: it walks the
//! derivatives breadth first until one accepts, which is a few steps for what people write. What
//! was found is kept: states on the way to a text are alive, and if none is found all are dead. So
//! [`DEAD`] stays the only expression without any text.
//!
//! Within a search, states are pairs that may be empty; they become nodes only when they are known
//! to be alive.

use rustc_hash::{FxHashMap, FxHashSet};

use super::derive::Memo;
use super::node::{DEAD, EPSILON, Node, RegexSet};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// How many states are searched for a text, before it is taken for granted that there is one, and
/// [`RegexSet::is_overgrown`] says so: compiling refuses such grammars.
const MAX_STATES: usize = 1 << 15;
/// Derivatives are forgotten past this many.
const MEMO_LIMIT: usize = 1 << 16;

/// What all of some expressions have and another one has not. Sorted, none of them such a pair.
pub(super) type Pair = (Box<[RegexId]>, RegexId);

/// What is known of pairs, and of derivatives within searches.
#[derive(Clone, Debug, Default)]
pub(super) struct Searches {
    alive: FxHashSet<Pair>,
    dead: FxHashSet<Pair>,
    memo: Memo,
    overgrown: bool,
}

/// A pair, made simple.
enum Simple {
    Dead,
    /// An expression that is not a pair, and so has a text.
    Alive(RegexId),
    Pair(Pair),
}

impl RegexSet {
    /// The texts of all of `all` that are texts of none of `none`. `all` has at least one part.
    pub fn and(&mut self, all: &[RegexId], none: &[RegexId]) -> RegexId {
        let none = self.or(none);
        match self.simple(all, none) {
            Simple::Dead => DEAD,
            Simple::Alive(one) => one,
            Simple::Pair(pair) => self.checked(pair),
        }
    }

    /// What may follow a byte, without a lexer: for few steps.
    pub fn step(&mut self, id: RegexId, byte: u8) -> RegexId {
        let mut memo = std::mem::take(&mut self.searches.memo);
        let next = self.derivative(id, byte, byte, &mut memo);
        self.searches.memo = memo;
        next
    }

    /// Whether a search for a text was given up.
    pub fn is_overgrown(&self) -> bool {
        self.searches.overgrown
    }

    /// The derivative of an intersection from those of its parts.
    pub(super) fn and_derived(&mut self, all: &[RegexId], none: RegexId) -> RegexId {
        match self.simple(all, none) {
            Simple::Dead => DEAD,
            Simple::Alive(one) => one,
            Simple::Pair(pair) => self.checked(pair),
        }
    }

    pub(super) fn searches_memory(&self) -> usize {
        (self.searches.alive.capacity() + self.searches.dead.capacity()) * 48
            + self.searches.memo.capacity() * 16
    }

    fn simple(&mut self, all: &[RegexId], none: RegexId) -> Simple {
        let mut flat = Vec::with_capacity(all.len());
        let mut excluded = vec![none];
        for &part in all {
            match self.node(part) {
                Node::Dead => return Simple::Dead,
                Node::And(inner, none) => {
                    flat.extend_from_slice(inner);
                    excluded.push(*none);
                }
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let none = if excluded.len() == 1 { none } else { self.or(&excluded) };
        let nullable = flat.iter().all(|&part| self.is_nullable(part));
        if flat.contains(&EPSILON) {
            let accepts = nullable && !self.is_nullable(none);
            return if accepts { Simple::Alive(EPSILON) } else { Simple::Dead };
        }
        let first = flat[1..]
            .iter()
            .fold(*self.first(flat[0]), |set, &part| set.intersection(self.first(part)));
        if first.is_empty() && !(nullable && !self.is_nullable(none)) {
            return Simple::Dead;
        }
        // What has no text in common with the others takes nothing away.
        let matters = nullable && self.is_nullable(none) || self.first(none).intersects(&first);
        let none = if matters { none } else { DEAD };
        match flat[..] {
            [one] if none == DEAD => Simple::Alive(one),
            [one] if one == none => Simple::Dead,
            _ => Simple::Pair((flat.into(), none)),
        }
    }

    /// The node of a pair, or [`DEAD`].
    fn checked(&mut self, pair: Pair) -> RegexId {
        if self.searches.dead.contains(&pair) {
            return DEAD;
        }
        if !self.is_pair_nullable(&pair)
            && !self.searches.alive.contains(&pair)
            && !self.search(&pair)
        {
            return DEAD;
        }
        let nullable = self.is_pair_nullable(&pair);
        let first = self.pair_first(&pair);
        self.intern(Node::And(pair.0, pair.1), nullable, first)
    }

    fn is_pair_nullable(&self, (all, none): &Pair) -> bool {
        all.iter().all(|&part| self.is_nullable(part)) && !self.is_nullable(*none)
    }

    /// The bytes that all parts start with; some may lead to nothing.
    fn pair_first(&self, (all, _): &Pair) -> ByteSet {
        all[1..].iter().fold(*self.first(all[0]), |set, &part| set.intersection(self.first(part)))
    }

    /// Whether a pair has a text.
    fn search(&mut self, start: &Pair) -> bool {
        let classes = self.representatives(start);
        let mut met: FxHashSet<Pair> = FxHashSet::default();
        let mut queue: Vec<Pair> = vec![start.clone()];
        met.insert(start.clone());
        // For each pair met its predecessor, so that the way to a text is known to be alive.
        let mut parents: Vec<Option<u32>> = vec![None];
        let mut at = 0;
        while at < queue.len() {
            let (all, none) = queue[at].clone();
            let first = self.pair_first(&queue[at]);
            for &byte in classes.iter().filter(|&&byte| first.contains(byte)) {
                match self.step_pair(&all, none, byte) {
                    Simple::Dead => {}
                    Simple::Alive(_) => {
                        self.mark_alive(&queue, &parents, at);
                        return true;
                    }
                    Simple::Pair(pair) => {
                        if self.searches.dead.contains(&pair) || met.contains(&pair) {
                            continue;
                        }
                        if self.is_pair_nullable(&pair) || self.searches.alive.contains(&pair) {
                            self.mark_alive(&queue, &parents, at);
                            return true;
                        }
                        met.insert(pair.clone());
                        queue.push(pair);
                        parents.push(Some(at as u32));
                    }
                }
            }
            at += 1;
            if queue.len() > MAX_STATES {
                self.searches.overgrown = true;
                return true;
            }
        }
        self.searches.dead.extend(queue);
        false
    }

    fn mark_alive(&mut self, queue: &[Pair], parents: &[Option<u32>], at: usize) {
        let mut next = Some(at as u32);
        while let Some(index) = next {
            self.searches.alive.insert(queue[index as usize].clone());
            next = parents[index as usize];
        }
    }

    fn step_pair(&mut self, all: &[RegexId], none: RegexId, byte: u8) -> Simple {
        let mut memo = std::mem::take(&mut self.searches.memo);
        let mut derived = Vec::with_capacity(all.len());
        for &part in all {
            let next = self.derivative(part, byte, byte, &mut memo);
            derived.push(next);
            if next == DEAD {
                break;
            }
        }
        let none = self.derivative(none, byte, byte, &mut memo);
        if memo.len() > MEMO_LIMIT {
            memo.clear();
        }
        self.searches.memo = memo;
        self.simple(&derived, none)
    }

    /// One byte of each class that the parts of a pair tell apart.
    fn representatives(&self, (all, none): &Pair) -> Vec<u8> {
        let mut seen: FxHashSet<RegexId> = FxHashSet::default();
        let mut sets: FxHashSet<ByteSet> = FxHashSet::default();
        let mut stack: Vec<RegexId> = all.iter().copied().chain([*none]).collect();
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.node(id) {
                Node::Bytes(set) => {
                    sets.insert(*set);
                }
                Node::State(automaton, _) => sets.extend(self.edge_sets(*automaton)),
                node => stack.extend(node.parts()),
            }
        }
        let mut classes: FxHashMap<Vec<bool>, u8> = FxHashMap::default();
        let sets: Vec<ByteSet> = sets.into_iter().collect();
        for byte in (0..=255u8).rev() {
            let signature: Vec<bool> = sets.iter().map(|set| set.contains(byte)).collect();
            if signature.contains(&true) {
                classes.insert(signature, byte);
            }
        }
        let mut bytes: Vec<u8> = classes.into_values().collect();
        bytes.sort_unstable();
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Lexer;

    fn any(s: &mut RegexSet) -> RegexId {
        let any = s.class(&[('\0', char::MAX)]);
        s.repeat(any, 0, None)
    }

    #[test]
    fn differences_become_what_they_are_taken_from() {
        let mut s = RegexSet::default();
        let all = any(&mut s);
        let words = [s.literal(b"ab"), s.literal(b"cd")];
        let others = s.and(&[all], &words);
        let mut lexer = Lexer::new(s);
        assert_eq!(lexer.step(others, b'x'), all);
        assert_eq!(lexer.run(others, b"ax"), all);
        let ab = lexer.run(others, b"ab");
        assert!(!lexer.accepts(ab));
        assert_eq!(lexer.run(others, b"abc"), all);
    }

    #[test]
    fn empty_intersections_are_dead() {
        let mut s = RegexSet::default();
        let all = any(&mut s);
        let (a, b) = (s.literal(b"a"), s.literal(b"b"));
        let starts = s.concat(a, all);
        let ends = s.concat(all, b);
        let both = s.and(&[starts, ends], &[]);
        assert_ne!(both, DEAD);
        let only = s.repeat(a, 1, None);
        assert_eq!(s.and(&[only, ends], &[]), DEAD);
        assert_eq!(s.and(&[only], &[starts]), DEAD);
        let three = s.repeat(a, 3, Some(5));
        let even = s.literal(b"aa");
        let even = s.repeat(even, 0, None);
        let four = s.and(&[three, even], &[]);
        let mut lexer = Lexer::new(s);
        let end = lexer.run(four, b"aaaa");
        assert!(lexer.accepts(end));
        // Five are too many and nothing else is even: dead at once.
        assert_eq!(lexer.run(four, b"aaaaa"), DEAD);
    }

    #[test]
    fn long_counters_are_not_walked() {
        let mut s = RegexSet::default();
        let all = any(&mut s);
        let a = s.literal(b"a");
        let starts = s.concat(a, all);
        let class = s.class(&[('\0', char::MAX)]);
        let counted = s.repeat(class, 0, Some(100_000));
        let before = s.len();
        let both = s.and(&[starts, counted], &[]);
        assert_ne!(both, DEAD);
        assert!(s.len() - before < 50);
    }
}
