//! Regex nodes, hash-consed: equal expressions have equal ids.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::automata::Automata;
use super::identity::Identity;
use super::meet::{self, Meet};
use crate::byteset::ByteSet;
use crate::index::{IndexVec, RegexId};

/// The expression without any text. No other node has an empty language.
pub const DEAD: RegexId = RegexId(0);
/// The expression whose only text is the empty one.
pub const EPSILON: RegexId = RegexId(1);

/// No upper bound of a repetition.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// How many shared heads in a row the alternatives of an `Or` are factored by. Deeper common
/// prefixes stay unfactored: the language is the same, and no recursion follows the input.
const FACTOR_DEPTH: u32 = 64;

/// An expression; parts have smaller ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// No text.
    Dead,
    /// The empty text.
    Epsilon,
    /// One byte of a set.
    Bytes(ByteSet),
    /// One after the other; the first part is neither a `Concat` nor trivial.
    Concat(RegexId, RegexId),
    /// One of these, at least two, sorted; none is an `Or` or dead.
    Or(Box<[RegexId]>),
    /// `min` to `max` times ([`UNBOUNDED`] for no bound). If the part is nullable, `min` is 0.
    Repeat(RegexId, u32, u32),
    /// An intersection and difference that has a text.
    And(Meet),
    /// A state of one of the set's automata, not one that only accepts.
    State { automaton: u32, state: u32 },
}

/// What is known of a node beside its structure.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
struct Facts {
    /// A hash of the structure: the same in every set of expressions.
    identity: u128,
    /// The bytes its texts start with; maybe more if not `exact`.
    first: ByteSet,
    /// The least bytes of intervals whose bytes have the same derivative.
    cuts: ByteSet,
    /// Whether the empty text belongs to it.
    nullable: bool,
    /// Whether its texts start with every byte of `first`.
    exact: bool,
    /// Whether it repeats nothing: its texts are few or short.
    finite: bool,
    /// Whether it is known to have infinitely many texts.
    infinite: bool,
    /// The largest bound of a repetition in it, `UNBOUNDED` not counted.
    largest_count: u32,
    /// How deep a derivative has to go down: the nesting, but for last parts of sequences.
    depth: u32,
    /// No text has fewer bytes.
    least: u32,
}

/// A set of expressions that share parts.
#[derive(Clone, Debug)]
pub struct RegexSet {
    pub(super) nodes: IndexVec<RegexId, Node>,
    facts: IndexVec<RegexId, Facts>,
    /// All nodes, to find equal ones.
    known: HashTable<RegexId>,
    pub(super) automata: Automata,
    /// Derivatives that are known, by the least byte with the same one.
    pub(super) memo: FxHashMap<(RegexId, u8), RegexId>,
    /// Intersections that turned out to have no text.
    pub(super) dead: FxHashSet<Meet>,
    /// How many bytes take every state after an expression to an end; `None` if it is not known.
    pub(super) ways: FxHashMap<RegexId, Option<u32>>,
    /// How many more steps searches for a text may take.
    pub(super) allowance: usize,
}

impl Default for RegexSet {
    fn default() -> Self {
        let mut set = Self {
            nodes: IndexVec::new(),
            facts: IndexVec::new(),
            known: HashTable::new(),
            automata: Automata::default(),
            memo: FxHashMap::default(),
            dead: FxHashSet::default(),
            ways: FxHashMap::default(),
            allowance: meet::ALLOWANCE,
        };
        set.intern(Node::Dead);
        set.intern(Node::Epsilon);
        set
    }
}

impl RegexSet {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes beyond the two constants.
    pub fn is_empty(&self) -> bool {
        self.len() == 2
    }

    /// Whether the empty text belongs to an expression.
    #[inline]
    pub fn is_nullable(&self, id: RegexId) -> bool {
        self.facts[id].nullable
    }

    /// The bytes that texts of an expression start with, and maybe more unless
    /// [`Self::is_first_exact`].
    #[inline]
    pub fn first(&self, id: RegexId) -> &ByteSet {
        &self.facts[id].first
    }

    /// Whether texts start with every byte of [`Self::first`]: it is not known where an
    /// intersection stands at the beginning.
    #[inline]
    pub fn is_first_exact(&self, id: RegexId) -> bool {
        self.facts[id].exact
    }

    /// The least bytes of intervals whose bytes an expression can't tell apart at its beginning;
    /// 0 may be left out.
    #[inline]
    pub(super) fn cuts(&self, id: RegexId) -> &ByteSet {
        &self.facts[id].cuts
    }

    /// No text of the expression has fewer bytes.
    pub(super) fn least(&self, id: RegexId) -> u32 {
        self.facts[id].least
    }

    /// A hash of an expression's structure: equal in all sets, different for different languages
    /// (up to collisions of 128 bits).
    pub fn identity(&self, id: RegexId) -> u128 {
        self.facts[id].identity
    }

    /// The nesting of an expression, but for last parts of sequences.
    pub fn depth(&self, id: RegexId) -> u32 {
        self.facts[id].depth
    }

    /// Whether an expression repeats nothing, apart from optional parts.
    pub fn is_finite(&self, id: RegexId) -> bool {
        self.facts[id].finite
    }

    /// Whether an expression is known to have infinitely many texts; that of an intersection or an
    /// automaton is not.
    pub(super) fn is_infinite(&self, id: RegexId) -> bool {
        self.facts[id].infinite
    }

    /// The largest bound of a repetition in an expression, no bound not counted, nor those in what
    /// an intersection excludes.
    pub fn largest_count(&self, id: RegexId) -> u32 {
        self.facts[id].largest_count
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.len() * (size_of::<Node>() + size_of::<Facts>() + 16)
            + self.memo.capacity() * 16
            + self.dead.capacity() * 48
            + self.ways.capacity() * 16
            + self.automata.memory_bytes()
    }

    pub(super) fn node(&self, id: RegexId) -> &Node {
        &self.nodes[id]
    }

    /// All byte sets of the expressions, for the byte classes.
    pub(super) fn byte_sets(&self) -> impl Iterator<Item = &ByteSet> {
        let sets = self.nodes.iter().filter_map(|node| match node {
            Node::Bytes(set) => Some(set),
            _ => None,
        });
        sets.chain(self.automata.byte_sets())
    }

    /// One byte of a set.
    pub fn bytes(&mut self, set: ByteSet) -> RegexId {
        if set.is_empty() { DEAD } else { self.intern(Node::Bytes(set)) }
    }

    /// These bytes in a row.
    pub fn literal(&mut self, bytes: &[u8]) -> RegexId {
        self.literal_before(bytes, EPSILON)
    }

    /// These bytes in a row, and then `tail`.
    pub fn literal_before(&mut self, bytes: &[u8], tail: RegexId) -> RegexId {
        bytes.iter().rev().fold(tail, |rest, &byte| {
            let head = self.bytes([byte].into_iter().collect());
            self.concat_simple(head, rest)
        })
    }

    /// One expression after the other.
    pub fn concat(&mut self, head: RegexId, tail: RegexId) -> RegexId {
        if tail == EPSILON || head == DEAD {
            return head;
        }
        let Node::Concat(..) = self.nodes[head] else {
            return self.concat_simple(head, tail);
        };
        // The parts of `head`, to be put before `tail` one by one from the last.
        let mut parts = Vec::new();
        let mut rest = head;
        while let Node::Concat(first, second) = self.nodes[rest] {
            parts.push(first);
            rest = second;
        }
        parts.push(rest);
        parts.into_iter().rev().fold(tail, |tail, head| self.concat_simple(head, tail))
    }

    /// `head` is no `Concat`.
    fn concat_simple(&mut self, head: RegexId, tail: RegexId) -> RegexId {
        if head == DEAD || tail == DEAD {
            return DEAD;
        }
        if head == EPSILON {
            return tail;
        }
        if tail == EPSILON {
            return head;
        }
        let (next, rest) = match self.nodes[tail] {
            Node::Concat(next, rest) => (next, rest),
            _ => (tail, EPSILON),
        };
        if let Some(merged) = self.merge_repeats(head, next) {
            return self.concat(merged, rest);
        }
        self.intern(Node::Concat(head, tail))
    }

    /// `x{a,b} x{c,d}` is `x{a+c,b+d}`; a chain of optional parts becomes one counter.
    fn merge_repeats(&mut self, left: RegexId, right: RegexId) -> Option<RegexId> {
        let counts = |id: RegexId| match self.nodes[id] {
            Node::Repeat(part, min, max) => (part, min, max),
            _ => (id, 1, 1),
        };
        let (part, a, b) = counts(left);
        let (other, c, d) = counts(right);
        if part != other || part == left && other == right {
            return None;
        }
        let max = if b == UNBOUNDED || d == UNBOUNDED { UNBOUNDED } else { b.checked_add(d)? };
        Some(self.repeat_raw(part, a.checked_add(c)?, max))
    }

    /// One of the expressions.
    pub fn or(&mut self, parts: &[RegexId]) -> RegexId {
        self.or_factored(parts, 0)
    }

    fn or_factored(&mut self, parts: &[RegexId], depth: u32) -> RegexId {
        let mut flat = Vec::with_capacity(parts.len());
        for &part in parts {
            match &self.nodes[part] {
                Node::Dead => {}
                Node::Or(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.len() > 1 && flat[0] == EPSILON && flat[1..].iter().any(|&p| self.is_nullable(p)) {
            flat.remove(0);
        }
        if depth < FACTOR_DEPTH {
            self.factor_heads(&mut flat, depth);
        }
        match flat[..] {
            [] => return DEAD,
            [one] => return one,
            _ => {}
        }
        if let [EPSILON, one] = flat[..] {
            return self.repeat(one, 0, Some(1));
        }
        self.intern(Node::Or(flat.into()))
    }

    /// `ab|ac|d` becomes `a(b|c)|d`: alternatives of many words turn into a trie.
    fn factor_heads(&mut self, flat: &mut Vec<RegexId>, depth: u32) {
        let head = |id: RegexId| match self.nodes[id] {
            Node::Concat(head, _) => head,
            _ => id,
        };
        let mut heads: Vec<(RegexId, RegexId)> = flat.iter().map(|&id| (head(id), id)).collect();
        heads.sort_unstable();
        if heads.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            return;
        }
        flat.clear();
        for group in heads.chunk_by(|a, b| a.0 == b.0) {
            if let [(_, one)] = group {
                flat.push(*one);
                continue;
            }
            let tails: Vec<RegexId> = group
                .iter()
                .map(|&(head, id)| match self.nodes[id] {
                    Node::Concat(_, tail) if id != head => tail,
                    _ => EPSILON,
                })
                .collect();
            let tail = self.or_factored(&tails, depth + 1);
            flat.push(self.concat(group[0].0, tail));
        }
        flat.sort_unstable();
        flat.dedup();
    }

    /// `min` to `max` times.
    pub fn repeat(&mut self, part: RegexId, min: u32, max: Option<u32>) -> RegexId {
        let max = max.unwrap_or(UNBOUNDED);
        if max == 0 || part == EPSILON || part == DEAD && min == 0 {
            return EPSILON;
        }
        if part == DEAD || min == 1 && max == 1 {
            return part;
        }
        // `(x{a,b}){m,n}` is `x{am,bn}` where the counts leave no gaps.
        if let Node::Repeat(inner, a, b) = self.nodes[part] {
            // [ma, mb] and [(m+1)a, (m+1)b] must touch; later ones are wider.
            let next = u64::from(a) * (u64::from(min) + 1);
            let touch = u64::from(b) * u64::from(min) + 1 >= next || b == UNBOUNDED && min > 0;
            let no_gap = a <= 1 || min == max || touch;
            let low = a.checked_mul(min);
            let high = if b == UNBOUNDED || max == UNBOUNDED {
                Some(UNBOUNDED)
            } else {
                b.checked_mul(max)
            };
            if let (true, Some(low), Some(high)) = (no_gap, low, high) {
                return self.repeat_raw(inner, low, high);
            }
        }
        self.repeat_raw(part, min, max)
    }

    /// A repetition whose part is neither trivial nor to be merged with it.
    pub(super) fn repeat_raw(&mut self, part: RegexId, min: u32, max: u32) -> RegexId {
        if max == 0 || part == EPSILON {
            return EPSILON;
        }
        let min = if self.is_nullable(part) { 0 } else { min };
        if part == DEAD {
            return if min == 0 { EPSILON } else { DEAD };
        }
        if max == 1 && (min == 1 || self.is_nullable(part)) {
            return part;
        }
        self.intern(Node::Repeat(part, min, max))
    }

    pub(super) fn intern(&mut self, node: Node) -> RegexId {
        let hash = FxBuildHasher.hash_one(&node);
        if let Some(&id) = self.known.find(hash, |&id| self.nodes[id] == node) {
            return id;
        }
        self.facts.push(self.facts(&node));
        let id = self.nodes.push(node);
        let nodes = &self.nodes;
        self.known.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(&nodes[id]));
        id
    }

    /// A copy with room for more nodes.
    #[must_use]
    pub(crate) fn with_room(&self, more: usize) -> Self {
        let nodes = self.nodes.with_room(more);
        let mut known = self.known.clone();
        known.reserve(more, |&id| FxBuildHasher.hash_one(&nodes[id]));
        Self {
            facts: self.facts.with_room(more),
            automata: self.automata.clone(),
            memo: self.memo.clone(),
            dead: self.dead.clone(),
            ways: self.ways.clone(),
            nodes,
            known,
            ..*self
        }
    }

    /// The node, if it exists.
    pub(super) fn find(&self, node: &Node) -> Option<RegexId> {
        self.known.find(FxBuildHasher.hash_one(node), |&id| self.nodes[id] == *node).copied()
    }

    /// What is known of a node whose parts are known.
    fn facts(&self, node: &Node) -> Facts {
        let leaf = Facts {
            identity: self.hash(node),
            first: ByteSet::EMPTY,
            cuts: ByteSet::EMPTY,
            nullable: false,
            exact: true,
            finite: true,
            infinite: false,
            largest_count: 0,
            depth: 0,
            least: 0,
        };
        match node {
            Node::Dead => Facts { least: u32::MAX, ..leaf },
            Node::Epsilon => Facts { nullable: true, ..leaf },
            Node::Bytes(set) => Facts { first: *set, cuts: set.cuts(), least: 1, ..leaf },
            &Node::Concat(head, tail) => {
                let (head, tail) = (&self.facts[head], &self.facts[tail]);
                let through = head.nullable;
                Facts {
                    first: if through { head.first.union(&tail.first) } else { head.first },
                    cuts: if through { head.cuts.union(&tail.cuts) } else { head.cuts },
                    nullable: through && tail.nullable,
                    exact: head.exact && (!through || tail.exact),
                    finite: head.finite && tail.finite,
                    infinite: head.infinite || tail.infinite,
                    largest_count: head.largest_count.max(tail.largest_count),
                    depth: tail.depth.max(head.depth + 1),
                    least: head.least.saturating_add(tail.least),
                    ..leaf
                }
            }
            Node::Or(parts) => {
                let mut facts = Facts { least: u32::MAX, ..leaf };
                for part in parts.iter().map(|&part| &self.facts[part]) {
                    facts.first = facts.first.union(&part.first);
                    facts.cuts = facts.cuts.union(&part.cuts);
                    facts.nullable |= part.nullable;
                    facts.exact &= part.exact;
                    facts.finite &= part.finite;
                    facts.infinite |= part.infinite;
                    facts.largest_count = facts.largest_count.max(part.largest_count);
                    facts.depth = facts.depth.max(part.depth + 1);
                    facts.least = facts.least.min(part.least);
                }
                facts
            }
            &Node::Repeat(part, min, max) => {
                let part = &self.facts[part];
                let bound = if max == UNBOUNDED { min } else { max };
                Facts {
                    nullable: min == 0,
                    finite: max == 1 && part.finite,
                    // Another text than the empty one is repeated: none is if that is a surmise.
                    infinite: max == UNBOUNDED && part.exact || part.infinite,
                    largest_count: bound.max(part.largest_count),
                    depth: part.depth + 1,
                    least: part.least.saturating_mul(min),
                    identity: leaf.identity,
                    ..*part
                }
            }
            Node::And(meet) => {
                let none = &self.facts[meet.none];
                let mut facts = Facts {
                    first: self.first_of(meet),
                    cuts: none.cuts,
                    nullable: self.accepts(meet),
                    exact: false,
                    finite: false,
                    depth: none.depth + 1,
                    ..leaf
                };
                for part in meet.all.iter().map(|&part| &self.facts[part]) {
                    facts.cuts = facts.cuts.union(&part.cuts);
                    facts.finite |= part.finite;
                    facts.largest_count = facts.largest_count.max(part.largest_count);
                    facts.depth = facts.depth.max(part.depth + 1);
                    facts.least = facts.least.max(part.least);
                }
                facts
            }
            &Node::State { automaton, state } => {
                let state = self.automata.state(automaton, state);
                let mut facts =
                    Facts { nullable: state.accepts, exact: true, finite: false, ..leaf };
                facts.least = u32::from(!state.accepts);
                for &(low, high, _) in &state.edges {
                    facts.first.insert_range(low, high);
                    facts.cuts.insert(low);
                    if let Some(next) = high.checked_add(1) {
                        facts.cuts.insert(next);
                    }
                }
                facts
            }
        }
    }

    fn hash(&self, node: &Node) -> u128 {
        match node {
            Node::Dead => Identity::new(0).finish(),
            Node::Epsilon => Identity::new(1).finish(),
            Node::Bytes(set) => Identity::new(2).words(set.words()).finish(),
            &Node::Concat(head, tail) => {
                Identity::new(3).wide(self.identity(head)).wide(self.identity(tail)).finish()
            }
            Node::Or(parts) => self.hash_parts(Identity::new(4), parts).finish(),
            &Node::Repeat(part, min, max) => Identity::new(5)
                .wide(self.identity(part))
                .word(u64::from(min) << 32 | u64::from(max))
                .finish(),
            Node::And(meet) => {
                self.hash_parts(Identity::new(6), &meet.all).wide(self.identity(meet.none)).finish()
            }
            &Node::State { automaton, state } => Identity::new(7)
                .wide(self.automata.identity(automaton))
                .word(u64::from(state))
                .finish(),
        }
    }

    /// The order of parts follows ids, which differ between sets; that of their hashes does not.
    fn hash_parts(&self, hash: Identity, parts: &[RegexId]) -> Identity {
        let mut few = [0; 8];
        let mut many;
        let identities = if let Some(few) = few.get_mut(..parts.len()) {
            few
        } else {
            many = vec![0; parts.len()];
            &mut many[..]
        };
        for (identity, &part) in identities.iter_mut().zip(parts) {
            *identity = self.identity(part);
        }
        identities.sort_unstable();
        identities.iter().fold(hash, |hash, &identity| hash.wide(identity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Id;

    fn any(set: &mut RegexSet, bytes: &[u8]) -> RegexId {
        set.bytes(bytes.iter().copied().collect())
    }

    #[test]
    fn equal_expressions_are_one_node() {
        let mut s = RegexSet::default();
        let a = s.literal(b"ab");
        let b = s.literal(b"cd");
        assert_eq!(s.or(&[a, b, DEAD, a]), s.or(&[b, a]));
        assert_eq!(s.concat(a, DEAD), DEAD);
        assert_eq!(s.concat(EPSILON, a), a);
        let abcd = s.literal(b"abcd");
        assert_eq!(s.concat(a, b), abcd);
    }

    #[test]
    fn words_become_a_trie() {
        let mut s = RegexSet::default();
        let words: Vec<RegexId> =
            (0..1000).map(|i| s.literal(format!("n{i}").as_bytes())).collect();
        let all = s.or(&words);
        assert!(matches!(s.node(all), Node::Concat(..)), "{:?}", s.node(all));
    }

    #[test]
    fn nested_repetitions_are_one_counter() {
        let mut s = RegexSet::default();
        let a = any(&mut s, b"a");
        let mut r = a;
        for _ in 0..3 {
            r = s.repeat(r, 0, Some(50));
        }
        assert_eq!(s.node(r), &Node::Repeat(a, 0, 125_000));
        let star = s.repeat(a, 0, None);
        let mut nested = star;
        for _ in 0..5 {
            nested = s.repeat(nested, 0, None);
        }
        assert_eq!(nested, star);
        // (a{2,3}){0,2} has no text of length 1.
        let pair = s.repeat(a, 2, Some(3));
        let gap = s.repeat(pair, 0, Some(2));
        assert_eq!(s.node(gap), &Node::Repeat(pair, 0, 2));
        // (a{2}){3} is a{6}, (a{2,3}){2,4} is a{4,12}.
        let two = s.repeat(a, 2, Some(2));
        let six = s.repeat(two, 3, Some(3));
        assert_eq!(s.node(six), &Node::Repeat(a, 6, 6));
        let many = s.repeat(pair, 2, Some(4));
        assert_eq!(s.node(many), &Node::Repeat(a, 4, 12));
    }

    #[test]
    fn optional_chains_are_one_counter() {
        let mut s = RegexSet::default();
        let a = any(&mut s, b"abc");
        let optional = s.repeat(a, 0, Some(1));
        let chain = (0..60).fold(EPSILON, |rest, _| s.concat(optional, rest));
        assert_eq!(s.node(chain), &Node::Repeat(a, 0, 60));
    }

    #[test]
    fn identity_does_not_depend_on_the_order_of_building() {
        let mut s = RegexSet::default();
        let mut t = RegexSet::default();
        let (a, b) = (s.literal(b"ax"), s.literal(b"b"));
        let first = s.or(&[a, b]);
        let (b, a) = (t.literal(b"b"), t.literal(b"ax"));
        let second = t.or(&[a, b]);
        assert_eq!(s.identity(first), t.identity(second));
        assert_ne!(s.identity(first), t.identity(a));
    }

    #[test]
    fn long_common_prefixes_need_no_deep_recursion() {
        let mut s = RegexSet::default();
        let words: Vec<RegexId> = [b'x', b'y']
            .iter()
            .map(|&last| {
                let mut word = vec![b'a'; 100_000];
                word.push(last);
                s.literal(&word)
            })
            .collect();
        assert_ne!(s.or(&words), DEAD);
    }

    #[test]
    fn ids_are_dense() {
        let s = RegexSet::default();
        assert_eq!((DEAD.index(), EPSILON.index(), s.len()), (0, 1, 2));
        assert!(s.is_empty());
    }
}
