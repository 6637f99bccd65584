//! Intersections and differences.
//!
//! No node but [`DEAD`] may be without a text, so an intersection becomes a node only when it is
//! known to have one: by the parts themselves, by the lengths of their texts, or by a search, whose
//! end is remembered. Until then it is a tuple of ordinary nodes.
//!
//! What is searched may be large (deciding it is hard in general), so expressions that are being
//! built have a bound, [`TooLarge`] past it.

use super::lengths::Fit;
use super::node::{DEAD, EPSILON, Node, RegexSet};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// Derivatives of parts are forgotten past this many.
const MEMO_LIMIT: usize = 1 << 16;

/// The search for a text of an intersection was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// The texts that belong to all of `all` and not to `none`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Meet {
    /// At least one, sorted, each once; none is an `And` or trivial.
    pub(super) all: Box<[RegexId]>,
    /// [`DEAD`] where nothing is taken away.
    pub(super) none: RegexId,
}

/// What is known of an intersection before a search.
pub(super) enum Simple {
    /// It is this expression.
    Known(RegexId),
    /// Whether it has a text is to be found out. It has not the empty one.
    Open(Meet),
}

impl RegexSet {
    /// The texts that belong to all of `all`, at least one, and to none of `none`.
    pub fn and(&mut self, all: &[RegexId], none: &[RegexId]) -> Result<RegexId, TooLarge> {
        let none = self.or(none);
        self.meet(all.to_vec(), none)
    }

    pub(super) fn meet(&mut self, all: Vec<RegexId>, none: RegexId) -> Result<RegexId, TooLarge> {
        match self.simplify(all, none) {
            Simple::Known(id) => Ok(id),
            Simple::Open(meet) => self.search(meet),
        }
    }

    /// The intersection of what is known to have a common text.
    pub(super) fn meet_with_text(&mut self, all: Vec<RegexId>, none: RegexId) -> RegexId {
        match self.simplify(all, none) {
            Simple::Known(id) => id,
            Simple::Open(meet) => self.intern(Node::And(meet)),
        }
    }

    /// One byte of each interval that an expression goes on alike with; not all need do so.
    pub(super) fn different_bytes(&self, id: RegexId) -> ByteSet {
        let mut cuts = *self.cuts(id);
        cuts.insert(0);
        self.first(id).intersection(&cuts)
    }

    /// The bytes that texts of all of `all` start with.
    pub(super) fn first_of(&self, meet: &Meet) -> ByteSet {
        meet.all
            .iter()
            .skip(1)
            .fold(*self.first(meet.all[0]), |set, &part| set.intersection(self.first(part)))
    }

    /// Whether the empty text belongs to an intersection.
    pub(super) fn accepts(&self, meet: &Meet) -> bool {
        !self.is_nullable(meet.none) && meet.all.iter().all(|&part| self.is_nullable(part))
    }

    pub(super) fn simplify(&mut self, mut all: Vec<RegexId>, mut none: RegexId) -> Simple {
        for index in 0..all.len() {
            if let Node::And(inner) = &self.nodes[all[index]] {
                let inner = inner.clone();
                none = self.or(&[none, inner.none]);
                all[index] = inner.all[0];
                all.extend_from_slice(&inner.all[1..]);
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.first().is_none_or(|&least| least == DEAD) {
            return Simple::Known(DEAD);
        }
        let fit = self.fit(&mut all, &mut none);
        if fit == Fit::Dead {
            return Simple::Known(DEAD);
        }
        let nullable = all.iter().all(|&part| self.is_nullable(part));
        let mut meet = Meet { all: all.into(), none };
        let first = self.first_of(&meet);
        if first.is_empty() {
            let has = nullable && !self.is_nullable(none);
            return Simple::Known(if has { EPSILON } else { DEAD });
        }
        meet.none = self.relevant(none, &first, nullable);
        if meet.none == DEAD && meet.all.len() == 1 {
            return Simple::Known(meet.all[0]);
        }
        let taken_away = match &self.nodes[meet.none] {
            Node::Or(parts) => parts.iter().any(|part| meet.all.contains(part)),
            _ => meet.all.contains(&meet.none),
        };
        if taken_away {
            return Simple::Known(DEAD);
        }
        // PERF: without the third, names of properties but those that are declared, which nearly
        // all objects have, are searched for a text: 2 % of the instructions of first masks.
        if fit == Fit::Alive || self.accepts(&meet) || self.is_never_used_up(&meet) {
            return Simple::Known(self.intern(Node::And(meet)));
        }
        let node = Node::And(meet);
        match (self.find(&node), node) {
            (Some(known), _) => Simple::Known(known),
            (None, Node::And(meet)) if !self.dead.contains(&meet) => Simple::Open(meet),
            (None, _) => Simple::Known(DEAD),
        }
    }

    /// What of `none` can be a text of something that starts with `first`, or is empty only if
    /// `nullable`.
    fn relevant(&mut self, none: RegexId, first: &ByteSet, nullable: bool) -> RegexId {
        let part = |set: &Self, part: RegexId| {
            if set.first(part).intersects(first) {
                part
            } else if nullable && set.is_nullable(part) {
                EPSILON
            } else {
                DEAD
            }
        };
        match &self.nodes[none] {
            Node::Or(parts) => {
                let kept: Vec<RegexId> = parts.iter().map(|&id| part(self, id)).collect();
                if kept[..] == parts[..] { none } else { self.or(&kept) }
            }
            _ => part(self, none),
        }
    }

    /// Forgets derivatives if they have become many.
    pub(super) fn forget(&mut self) {
        if self.memo.len() > MEMO_LIMIT {
            self.memo.clear();
        }
        self.units.forget();
        self.lengths.forget();
    }

    /// The derivatives of an intersection's parts.
    pub(super) fn meet_after(&mut self, meet: &Meet, byte: u8) -> Result<Simple, TooLarge> {
        let mut all = Vec::with_capacity(meet.all.len());
        for &part in &meet.all {
            let derived = self.derivative(part, byte)?;
            if derived == DEAD {
                return Ok(Simple::Known(DEAD));
            }
            all.push(derived);
        }
        let none = self.derivative(meet.none, byte)?;
        Ok(self.simplify(all, none))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Lexer;

    fn words(set: &mut RegexSet, words: &[&str]) -> RegexId {
        let words: Vec<RegexId> = words.iter().map(|word| set.literal(word.as_bytes())).collect();
        set.or(&words)
    }

    fn letters(set: &mut RegexSet, min: u32, max: Option<u32>) -> RegexId {
        let letter = set.class(&[('a', 'z')]);
        set.repeat(letter, min, max)
    }

    #[test]
    fn trivial_intersections_are_their_parts() {
        let mut s = RegexSet::default();
        let (ab, c) = (s.literal(b"ab"), s.literal(b"c"));
        let any = letters(&mut s, 0, None);
        let both = s.or(&[ab, c]);
        assert_eq!(s.and(&[any], &[]), Ok(any));
        assert_eq!(s.and(&[any, any], &[DEAD]), Ok(any));
        assert_eq!(s.and(&[any, EPSILON], &[]), Ok(EPSILON));
        assert_eq!(s.and(&[any, EPSILON], &[any]), Ok(DEAD));
        assert_eq!(s.and(&[any, DEAD], &[]), Ok(DEAD));
        assert_eq!(s.and(&[ab], &[both]), Ok(DEAD));
        assert_eq!(s.and(&[ab], &[c]), Ok(ab));
        assert_eq!(s.and(&[ab, c], &[]), Ok(DEAD));
        // Nested ones are one.
        let long = letters(&mut s, 2, Some(5));
        let inner = s.and(&[any, long], &[c]).unwrap();
        let outer = s.and(&[inner], &[ab]).unwrap();
        assert_eq!(s.and(&[any, long], &[ab, c]), Ok(outer));
    }

    #[test]
    fn what_is_left_of_a_difference_is_shared() {
        let mut s = RegexSet::default();
        let name = letters(&mut s, 0, None);
        let known = words(&mut s, &["name", "names", "id"]);
        let other = s.and(&[name], &[known]).unwrap();
        let mut lexer = Lexer::new(s);
        assert_eq!(lexer.run(other, b"x"), name);
        assert_eq!(lexer.run(other, b"nab"), name);
        let end = lexer.run(other, b"names");
        assert!(!lexer.accepts(end));
        assert_eq!(lexer.run(other, b"namest"), name);
        assert!(lexer.accepts(other));
    }

    #[test]
    fn states_without_a_text_are_dead() {
        let mut s = RegexSet::default();
        let known = words(&mut s, &["ab", "ac", "b"]);
        let long = letters(&mut s, 2, Some(2));
        let not_ab = s.literal(b"ab");
        let meet = s.and(&[known, long], &[not_ab]).unwrap();
        let mut lexer = Lexer::new(s);
        assert_eq!(lexer.run(meet, b"b"), DEAD);
        assert_eq!(lexer.run(meet, b"ab"), DEAD);
        assert_eq!(lexer.run(meet, b"ac"), EPSILON);
        assert_eq!(lexer.first(meet).len(), 2);
        assert_eq!(lexer.exact_first(meet), [b'a'].into_iter().collect());
    }

    #[test]
    fn long_counters_are_searched_in_time() {
        let mut s = RegexSet::default();
        let any = s.class(&[('\0', char::MAX)]);
        let many = s.repeat(any, 0, Some(100_000));
        let few = s.repeat(any, 50_000, None);
        let (at, word) = (s.literal(b"@"), letters(&mut s, 1, None));
        let tail = s.concat(at, word);
        let mail = s.concat(word, tail);
        assert_ne!(s.and(&[many, mail], &[]), Ok(DEAD));
        assert_ne!(s.and(&[few, mail], &[]), Ok(DEAD));
        assert!(s.and(&[few, many, mail], &[]).is_ok_and(|both| both != DEAD));
    }

    #[test]
    fn identity_does_not_depend_on_the_order_of_building() {
        let build = |order: bool| {
            let mut s = RegexSet::default();
            let first = |s: &mut RegexSet| letters(s, 3, None);
            let second = |s: &mut RegexSet| words(s, &["abcd", "xyzzy", "qq"]);
            let (a, b) = if order {
                let a = first(&mut s);
                (a, second(&mut s))
            } else {
                let b = second(&mut s);
                (first(&mut s), b)
            };
            let none = s.literal(b"abcd");
            let meet = s.and(&[a, b], &[none]).unwrap();
            s.identity(meet)
        };
        assert_eq!(build(true), build(false));
    }

    #[test]
    fn the_empty_text_can_be_taken_away() {
        let mut s = RegexSet::default();
        let (any, short) = (letters(&mut s, 0, Some(7)), letters(&mut s, 0, Some(5)));
        let b = s.literal(b"bb");
        let meet = s.and(&[any, short], &[b]).unwrap();
        assert!(s.is_nullable(meet));
        let stripped = s.without_empty(meet).unwrap();
        assert!(!s.is_nullable(stripped));
        let mut lexer = Lexer::new(s);
        let end = lexer.run(stripped, b"b");
        assert!(lexer.accepts(end));
        let end = lexer.run(stripped, b"bb");
        assert!(!lexer.accepts(end));
    }
}
