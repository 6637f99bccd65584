//! Intersections and differences, and the search for a text of theirs.
//!
//! No node but [`DEAD`] may be without a text, so an intersection becomes a node only when a text
//! has been found: the search walks over its derivatives, those first that have the least left to
//! read. It ends at one that may end, or that is known to have a text; if there is none, all that
//! it has met is remembered as dead. Derivatives are tuples of ordinary nodes until then.
//!
//! What is searched may be large (deciding it is hard in general), so expressions that are being
//! built have a bound, [`TooLarge`] past it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::node::{DEAD, EPSILON, Node, RegexSet, UNBOUNDED};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// The steps that all searches in a set of expressions may take while it is being built.
pub(super) const ALLOWANCE: usize = 1 << 19;
/// The steps that one search may take.
const MAX_STEPS: usize = 1 << 17;
/// The steps that one search may take in the midst of a text. Past them what is searched counts as
/// dead: no illegal text gets through, and there is no dead end, since the way to the text that was
/// found for the expression before is known; but legal texts may be refused.
const MAX_STEPS_RUNNING: usize = 20_000;
/// Counts of up to this many are walked through.
const FEW: u32 = 4;
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
enum Simple {
    /// It is this expression.
    Known(RegexId),
    /// Whether it has a text is to be found out. It has not the empty one.
    Open(Meet),
}

/// An intersection that a search has met.
struct Open {
    meet: Meet,
    /// The one it is a derivative of.
    from: usize,
    /// The bytes still to be tried.
    bytes: ByteSet,
}

impl RegexSet {
    /// The texts that belong to all of `all`, at least one, and to none of `none`.
    pub fn and(&mut self, all: &[RegexId], none: &[RegexId]) -> Result<RegexId, TooLarge> {
        let none = self.or(none);
        self.meet(all.to_vec(), none)
    }

    /// Lets searches take as many steps as they need: for expressions whose like has been found to
    /// be searched in time.
    pub(super) fn lift_bounds(&mut self) {
        self.allowance = usize::MAX;
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

    fn simplify(&mut self, mut all: Vec<RegexId>, mut none: RegexId) -> Simple {
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
        if self.accepts(&meet) {
            return Simple::Known(self.intern(Node::And(meet)));
        }
        let node = Node::And(meet);
        match (self.find(&node), node) {
            // What is known to have a text stays alive, whatever later searches gave up.
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
    }

    /// The derivatives of an intersection's parts.
    fn meet_after(&mut self, meet: &Meet, byte: u8) -> Result<Option<Simple>, TooLarge> {
        let mut all = Vec::with_capacity(meet.all.len());
        for &part in &meet.all {
            let derived = self.derivative(part, byte)?;
            if derived == DEAD {
                return Ok(None);
            }
            all.push(derived);
        }
        let none = self.derivative(meet.none, byte)?;
        Ok(Some(self.simplify(all, none)))
    }

    /// Expressions with all their texts and more, without the upper bounds of their repetitions;
    /// `None` if there are no large ones.
    ///
    /// If these have no text in common then those have none, and that is found out without
    /// walking through all combinations of counts.
    fn without_counts(&mut self, all: &[RegexId]) -> Option<Vec<RegexId>> {
        if all.iter().all(|&part| self.largest_count(part) <= FEW) {
            return None;
        }
        let (mut bound, mut memo) = (UNBOUNDED, FxHashMap::default());
        let parts: Vec<RegexId> =
            all.iter().map(|&part| self.unbounded(part, FEW, &mut bound, &mut memo)).collect();
        (bound != UNBOUNDED).then_some(parts)
    }

    /// The intersection as a node if it has a text, else [`DEAD`].
    ///
    /// Intersections within the parts are searched by calls from here; they are nested less deep
    /// than this one, and derivatives never nest deeper.
    fn search(&mut self, start: Meet) -> Result<RegexId, TooLarge> {
        if let Some(all) = self.without_counts(&start.all)
            && self.meet(all, start.none)? == DEAD
        {
            self.dead.insert(start);
            return Ok(DEAD);
        }
        let running = self.allowance == usize::MAX;
        let mut steps = if running { MAX_STEPS_RUNNING } else { MAX_STEPS };
        let mut seen: FxHashSet<Meet> = FxHashSet::default();
        let mut open: Vec<Open> = Vec::new();
        // Least left to read first; then those met first.
        let mut queue: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
        seen.insert(start.clone());
        self.open(start, 0, &mut open, &mut queue);
        while let Some(&Reverse((_, at))) = queue.peek() {
            let Some(byte) = open[at].bytes.pop() else {
                queue.pop();
                continue;
            };
            if running {
                if steps == 0 {
                    self.dead.insert(open.swap_remove(0).meet);
                    return Ok(DEAD);
                }
            } else {
                if steps == 0 || self.allowance == 0 {
                    return Err(TooLarge);
                }
                self.allowance -= 1;
            }
            steps -= 1;
            self.forget();
            match self.meet_after(&open[at].meet, byte)? {
                None | Some(Simple::Known(DEAD)) => {}
                Some(Simple::Known(_)) => return Ok(self.keep(&open, at)),
                Some(Simple::Open(meet)) => {
                    if !seen.contains(&meet) {
                        seen.insert(meet.clone());
                        self.open(meet, at, &mut open, &mut queue);
                    }
                }
            }
        }
        self.dead.extend(open.into_iter().map(|open| open.meet));
        Ok(DEAD)
    }

    fn open(
        &self,
        meet: Meet,
        from: usize,
        open: &mut Vec<Open>,
        queue: &mut BinaryHeap<Reverse<(u32, usize)>>,
    ) {
        let mut cuts = *self.cuts(meet.none);
        cuts.insert(0);
        let mut least = 0;
        for &part in &meet.all {
            cuts = cuts.union(self.cuts(part));
            least = least.max(self.least(part));
        }
        let bytes = self.first_of(&meet).intersection(&cuts);
        queue.push(Reverse((least, open.len())));
        open.push(Open { meet, from, bytes });
    }

    /// Makes nodes of an intersection that has a text and of those that led to it; gives the first.
    fn keep(&mut self, open: &[Open], at: usize) -> RegexId {
        let mut at = at;
        loop {
            let id = self.intern(Node::And(open[at].meet.clone()));
            if at == 0 {
                return id;
            }
            at = open[at].from;
        }
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

    /// `before* mark between{count}`: its automaton has 2^count states.
    fn blow_up(set: &mut RegexSet, mark: &[u8], count: u32) -> RegexId {
        let both = set.bytes([b'a', b'b'].into_iter().collect());
        let (many, few) = (set.repeat(both, 0, None), set.repeat(both, count, Some(count)));
        let mark = set.literal(mark);
        let tail = set.concat(mark, few);
        set.concat(many, tail)
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
    fn hard_searches_are_given_up() {
        let mut s = RegexSet::default();
        let (a, b) = (blow_up(&mut s, b"a", 20), blow_up(&mut s, b"b", 20));
        assert_eq!(s.and(&[a, b], &[]), Err(TooLarge));
        let (a, b) = (blow_up(&mut s, b"a", 8), blow_up(&mut s, b"b", 8));
        assert_eq!(s.and(&[a, b], &[]), Ok(DEAD));
        let c = blow_up(&mut s, b"b", 9);
        assert!(s.and(&[a, c], &[]).is_ok_and(|both| both != DEAD));
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
