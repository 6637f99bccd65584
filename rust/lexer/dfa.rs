//! The lazy DFA: nodes are states, transitions are derived when first taken.

use rustc_hash::FxHashMap;

use super::node::{DEAD, RegexSet};
use crate::byteset::ByteSet;
use crate::index::{Id, RegexId};
use crate::transitions::Transitions;

/// A set of expressions with the transitions between them, filled on demand.
#[derive(Clone, Debug)]
pub struct Lexer {
    regexes: RegexSet,
    /// For each byte the class of bytes that no expression tells from it.
    classes: Box<[u8; 256]>,
    /// How many classes there are.
    class_count: usize,
    /// Transitions by class.
    transitions: Transitions,
    /// The bytes that states can go on with, where the expressions don't say.
    exact_first: FxHashMap<RegexId, ByteSet>,
    /// States with their large counters clamped, by the logarithm of the limit as far as one was
    /// asked for.
    clamped: Vec<FxHashMap<RegexId, RegexId>>,
}

impl Lexer {
    /// The lexer of finished expressions.
    pub fn new(mut regexes: RegexSet) -> Self {
        regexes.begin_reading();
        let classes = regexes.byte_classes();
        let class_count = classes.count();
        Self {
            regexes,
            classes: Box::new(*classes.table()),
            class_count,
            transitions: Transitions::new(class_count),
            exact_first: FxHashMap::default(),
            clamped: Vec::new(),
        }
    }

    /// A state that goes on exactly as `state` does for `limit` bytes, without counters of more
    /// than the next power of two.
    pub fn clamp(&mut self, state: RegexId, limit: u32) -> RegexId {
        if self.regexes.largest_count(state) <= limit {
            return state;
        }
        // A power of two, so that few limits are told apart.
        let logarithm = limit.max(1).next_power_of_two().trailing_zeros().min(31) as usize;
        if self.clamped.len() <= logarithm {
            self.clamped.resize_with(logarithm + 1, FxHashMap::default);
        }
        self.regexes.clamped(state, 1 << logarithm, &mut self.clamped[logarithm])
    }

    /// The expressions.
    pub fn regexes(&self) -> &RegexSet {
        &self.regexes
    }

    /// The expressions, to make more of them out of the bytes that these tell apart.
    pub fn regexes_mut(&mut self) -> &mut RegexSet {
        &mut self.regexes
    }

    /// The class of a byte: bytes of one class lead to the same state from everywhere.
    #[inline]
    pub fn class(&self, byte: u8) -> u8 {
        self.classes[usize::from(byte)]
    }

    /// The number of byte classes.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The state after `byte`, or [`DEAD`].
    #[inline]
    pub fn step(&mut self, state: RegexId, byte: u8) -> RegexId {
        let class = self.class(byte);
        match self.transitions.get(state.index(), class) {
            Some(next) => RegexId(next),
            None => self.derive(state, byte, class),
        }
    }

    #[cold]
    fn derive(&mut self, state: RegexId, byte: u8, class: u8) -> RegexId {
        if !self.regexes.first(state).contains(byte) {
            return DEAD;
        }
        let next = self.regexes.after_first(state).unwrap_or_else(|| {
            self.regexes.forget();
            // What is too hard to search counts as dead, so that no illegal text gets through.
            self.regexes.derivative(state, byte).unwrap_or(DEAD)
        });
        self.transitions.set(state.index(), class, next.0);
        next
    }

    /// The state after some bytes, or [`DEAD`].
    pub fn run(&mut self, state: RegexId, bytes: &[u8]) -> RegexId {
        let mut state = state;
        for &byte in bytes {
            if state == DEAD {
                break;
            }
            state = self.step(state, byte);
        }
        state
    }

    /// Whether a lexeme may end in a state.
    #[inline]
    pub fn accepts(&self, state: RegexId) -> bool {
        self.regexes.is_nullable(state)
    }

    /// The bytes that a state can go on with; where an intersection comes next maybe more.
    #[inline]
    pub fn first(&self, state: RegexId) -> &ByteSet {
        self.regexes.first(state)
    }

    /// The bytes that a state can go on with.
    pub fn exact_first(&mut self, state: RegexId) -> ByteSet {
        if self.regexes.is_first_exact(state) {
            return *self.regexes.first(state);
        }
        if let Some(&known) = self.exact_first.get(&state) {
            return known;
        }
        let first = self.regexes.first(state).iter();
        let exact = first.filter(|&byte| self.step(state, byte) != DEAD).collect();
        self.exact_first.insert(state, exact);
        exact
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.regexes.memory_bytes()
            + self.transitions.memory_bytes()
            + self.exact_first.capacity() * 40
            + self.clamped.iter().map(|memo| memo.capacity() * 9).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::EPSILON;

    fn run(lexer: &mut Lexer, start: RegexId, text: &[u8]) -> RegexId {
        text.iter().fold(start, |state, &byte| lexer.step(state, byte))
    }

    #[test]
    fn loops_come_back_to_their_state() {
        let mut s = RegexSet::default();
        let digit = s.class(&[('0', '9')]);
        let digits = s.repeat(digit, 1, None);
        let dot = s.literal(b".");
        let tail = s.concat(dot, digit);
        let number = s.concat(digits, tail);
        let mut lexer = Lexer::new(s);
        let q = run(&mut lexer, number, b"7");
        assert_eq!(run(&mut lexer, q, b"123"), q);
        assert_eq!(run(&mut lexer, q, b".5"), EPSILON);
        assert_eq!(run(&mut lexer, q, b".."), DEAD);
        assert!(!lexer.accepts(q));
        assert_eq!(lexer.class_count(), 3);
    }

    #[test]
    fn classes_are_canonical_utf8() {
        let mut s = RegexSet::default();
        let any = s.class(&[('\0', char::MAX)]);
        let mut lexer = Lexer::new(s);
        for text in ["a", "é", "日", "😀", "\u{d7ff}", "\u{e000}", "\u{10ffff}"] {
            assert_eq!(run(&mut lexer, any, text.as_bytes()), EPSILON, "{text}");
        }
        for bad in [&b"\xc0\x80"[..], b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80", b"\xff"] {
            assert_eq!(run(&mut lexer, any, bad), DEAD, "{bad:?}");
        }
    }

    #[test]
    fn blow_up_of_determinisation_stays_lazy() {
        let mut s = RegexSet::default();
        let ab = s.bytes([b'a', b'b'].into_iter().collect());
        let a = s.literal(b"a");
        let many = s.repeat(ab, 0, None);
        let twenty = s.repeat(ab, 20, Some(20));
        let tail = s.concat(a, twenty);
        let all = s.concat(many, tail);
        let mut lexer = Lexer::new(s);
        let q = run(&mut lexer, all, &b"ab".repeat(500));
        let q = run(&mut lexer, q, b"abbbbbbbbbbbbbbbbbbbb");
        assert!(lexer.accepts(q));
        assert!(lexer.regexes().len() < 20_000);
    }

    #[test]
    fn without_empty_takes_away_one_text() {
        let mut s = RegexSet::default();
        let a = s.literal(b"a");
        let star = s.repeat(a, 0, None);
        let b = s.literal(b"b");
        let maybe = s.repeat(b, 0, Some(1));
        let both = s.concat(star, maybe);
        let stripped = s.without_empty(both).unwrap();
        assert!(!s.is_nullable(stripped));
        let mut lexer = Lexer::new(s);
        for text in [&b"a"[..], b"b", b"aab"] {
            let q = run(&mut lexer, stripped, text);
            assert!(lexer.accepts(q), "{text:?}");
        }
        assert_eq!(run(&mut lexer, stripped, b"ba"), DEAD);
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let mut s = RegexSet::default();
        let (a, b) = (s.literal(b"a"), s.literal(b"b"));
        let mut left = a;
        for _ in 0..1_000 {
            let optional = s.repeat(left, 0, Some(1));
            left = s.concat(optional, b);
        }
        let stripped = s.without_empty(left).unwrap();
        let mut lexer = Lexer::new(s);
        assert_ne!(lexer.step(stripped, b'a'), DEAD);
    }
}
