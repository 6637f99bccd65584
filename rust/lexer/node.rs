//! Regex nodes, hash-consed: equal expressions have equal ids.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use super::automata::Automata;
use super::classes::ByteClasses;
use super::facts::Facts;
use super::literal::{Text, Texts};
use super::meet::Meet;
use super::readings::Lengths;
use super::search::Limits;
use super::starts::Starts;
use super::units::Units;
use crate::byteset::ByteSet;
use crate::index::RegexId;
use crate::layered::Layered;

/// The expression without any text. No other node has an empty language.
pub const DEAD: RegexId = RegexId(0);
/// The expression whose only text is the empty one.
pub const EPSILON: RegexId = RegexId(1);

/// No upper bound of a repetition.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// An expression; parts have smaller ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// No text.
    Dead,
    /// The empty text.
    Epsilon,
    /// One byte of a set.
    Bytes(ByteSet),
    /// Bytes in a row and what follows them: no literal with room for more bytes, not a byte, and no
    /// repetition of the last of them. One byte alone is `Bytes`.
    Literal(Text, RegexId),
    /// One after the other; the first part is neither a `Concat` nor a literal nor trivial.
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

/// A set of expressions that share parts.
#[derive(Clone, Debug)]
pub struct RegexSet {
    pub(super) nodes: Layered<RegexId, Node>,
    pub(super) facts: Layered<RegexId, Facts>,
    /// The nodes that copies share, to find equal ones.
    known_shared: Arc<HashTable<RegexId>>,
    /// All others.
    known: HashTable<RegexId>,
    /// What the nodes that copies share tell apart.
    classes_shared: Arc<ByteClasses>,
    pub(super) texts: Texts,
    pub(super) starts: Starts,
    pub(super) automata: Automata,
    /// Derivatives that are known, by the least byte with the same one.
    pub(super) memo: FxHashMap<(RegexId, u8), RegexId>,
    /// Intersections that turned out to have no text.
    pub(super) dead: FxHashSet<Meet>,
    /// How many bytes take every state after an expression to an end; `None` if it is not known.
    pub(super) ways: FxHashMap<RegexId, Option<u32>>,
    pub(super) units: Units,
    pub(super) lengths: Lengths,
    pub(super) limits: Limits,
    /// Whether an intersection is in what another takes away.
    pub(super) takes_meets_away: bool,
    /// How many steps searches for a text have taken.
    pub(super) searched: u64,
}

impl Default for RegexSet {
    fn default() -> Self {
        let mut set = Self {
            nodes: Layered::default(),
            facts: Layered::default(),
            known_shared: Arc::default(),
            known: HashTable::new(),
            classes_shared: Arc::default(),
            texts: Texts::default(),
            starts: Starts::default(),
            automata: Automata::default(),
            memo: FxHashMap::default(),
            dead: FxHashSet::default(),
            ways: FxHashMap::default(),
            units: Units::default(),
            lengths: Lengths::default(),
            limits: Limits::BUILDING,
            takes_meets_away: false,
            searched: 0,
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

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.own_len() * (size_of::<Node>() + size_of::<Facts>() + 16)
            + self.texts.bytes().len()
            + self.starts.memory_bytes()
            + self.memo.capacity() * 16
            + self.dead.capacity() * 48
            + self.ways.capacity() * 16
            + self.units.memory_bytes()
            + self.lengths.memory_bytes()
            + self.automata.memory_bytes()
    }

    pub(super) fn node(&self, id: RegexId) -> &Node {
        &self.nodes[id]
    }

    /// The bytes by what the expressions tell apart.
    ///
    /// PERF: what copies share is not looked through again: 2 % of the instructions of first masks.
    pub(super) fn byte_classes(&self) -> ByteClasses {
        let mut classes = ByteClasses::clone(&self.classes_shared);
        classes.single_out(self.texts.bytes());
        let sets = self.nodes.own().iter().filter_map(|node| match node {
            Node::Bytes(set) => Some(set),
            _ => None,
        });
        classes.refine(sets.chain(self.automata.byte_sets()));
        classes
    }

    /// One byte of a set.
    pub fn bytes(&mut self, set: ByteSet) -> RegexId {
        if set.is_empty() { DEAD } else { self.intern(Node::Bytes(set)) }
    }

    /// One expression after the other.
    pub fn concat(&mut self, head: RegexId, tail: RegexId) -> RegexId {
        if tail == EPSILON || head == DEAD {
            return head;
        }
        if !matches!(self.nodes[head], Node::Concat(..) | Node::Literal(..)) {
            return self.concat_simple(head, tail);
        }
        // The parts of `head` are put before `tail` one by one from the last.
        let (pieces, last) = self.pieces(head, usize::MAX);
        let tail = self.concat_simple(last, tail);
        self.join(&pieces, tail)
    }

    /// `head` is neither a `Concat` nor a literal.
    pub(super) fn concat_simple(&mut self, head: RegexId, tail: RegexId) -> RegexId {
        if head == DEAD || tail == DEAD {
            return DEAD;
        }
        if head == EPSILON {
            return tail;
        }
        if tail == EPSILON {
            return head;
        }
        if let Some(byte) = self.only_byte(head) {
            return self.literal_before(&[byte], tail);
        }
        self.concat_merging(head, tail)
    }

    /// The same for parts that are not empty; a byte has a repetition of it behind.
    pub(super) fn concat_merging(&mut self, head: RegexId, tail: RegexId) -> RegexId {
        let (next, rest) = match self.nodes[tail] {
            Node::Concat(next, rest) => (next, rest),
            Node::Literal(text, rest) => match self.nodes[head] {
                // One of more bytes that are repeated.
                Node::Repeat(part, ..) if self.only_byte(part) == Some(self.texts.get(text)[0]) => {
                    (part, self.literal_after(text, 1, rest))
                }
                _ => return self.intern(Node::Concat(head, tail)),
            },
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

    pub(super) fn or_factored(&mut self, parts: &[RegexId], depth: u32) -> RegexId {
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
        self.factor_heads(&mut flat, depth);
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
        if let Some(id) = self.find(&node) {
            return id;
        }
        let hash = hash_of(&node, &self.texts);
        if let Node::And(meet) = &node {
            self.takes_meets_away |= self.has_meets(meet.none);
        }
        let facts = self.facts_of(&node);
        self.facts.push(facts);
        let id = self.nodes.push(node);
        let (nodes, texts) = (&self.nodes, &self.texts);
        self.known.insert_unique(hash, id, |&id| hash_of(&nodes[id], texts));
        id
    }

    /// Makes room for more nodes.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.nodes.reserve(more);
        self.facts.reserve(more);
        let (nodes, texts) = (&self.nodes, &self.texts);
        self.known.reserve(more, |&id| hash_of(&nodes[id], texts));
    }

    /// Lets all later copies share the nodes that there are.
    pub(crate) fn share(&mut self) {
        self.classes_shared = Arc::new(self.byte_classes());
        self.nodes.share();
        self.facts.share();
        self.starts.share();
        self.known_shared = Arc::new(std::mem::take(&mut self.known));
    }

    /// The node, if it exists.
    pub(super) fn find(&self, node: &Node) -> Option<RegexId> {
        let hash = hash_of(node, &self.texts);
        let equal = |&id: &RegexId| match (node, &self.nodes[id]) {
            (&Node::Literal(text, tail), &Node::Literal(other, behind)) => {
                tail == behind && self.texts.get(text) == self.texts.get(other)
            }
            (node, other) => node == other,
        };
        self.known_shared.find(hash, equal).or_else(|| self.known.find(hash, equal)).copied()
    }
}

/// Of a literal its bytes count, not where they are.
fn hash_of(node: &Node, texts: &Texts) -> u64 {
    match node {
        &Node::Literal(text, tail) => {
            let mut hasher = FxHasher::default();
            hasher.write(texts.get(text));
            tail.hash(&mut hasher);
            hasher.finish()
        }
        node => FxBuildHasher.hash_one(node),
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
        assert!(matches!(s.node(all), Node::Literal(..)), "{:?}", s.node(all));
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
