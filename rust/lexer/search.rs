//! The search for a text of an intersection.
//!
//! It walks over what is left of an intersection byte by byte, those first that have the least left
//! to read, and ends at one that may end, or that is known to have a text.
//!
//! The parts of an intersection are not made deterministic on the way: one that is a choice of
//! several, some of which start alike, is taken apart, and each *alternative* is searched by
//! itself (Antimirov 1996, *Partial derivatives of regular expressions*). `.*a.{20}b` is left in a
//! million states, sets of its places; the search goes through its 23 places, with those of the
//! other parts. What is taken away has to be kept as a set. There, one that takes away more than
//! another with the same parts is not looked at (De Wulf et al. 2006, *Antichains*).
//!
//! Whatever a search finds out is kept, whether it ends well or not, so that all searches together
//! decide each intersection once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::meet::{Meet, Simple, TooLarge};
use super::node::{DEAD, EPSILON, Node, RegexSet, UNBOUNDED};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// Counts of up to this many are walked through.
const FEW: u32 = 4;
/// How many steps are taken before counts are left out.
const BEFORE_RELAXING: usize = 64;
/// How many sets of exceptions a new one is compared with.
const COMPARED: usize = 32;

/// How many steps searches may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Those of each search that are not counted.
    pub(super) free: usize,
    /// All others, together.
    pub(super) allowance: usize,
    /// The most of one search.
    pub(super) most: usize,
}

impl Limits {
    /// While expressions are made: past them there is an error.
    pub(super) const BUILDING: Self = Self { free: 0, allowance: 1 << 19, most: 1 << 17 };
    const READING: Self = Self { free: 1 << 13, allowance: 1 << 19, most: 1 << 17 };
}

/// An intersection that a search has met.
struct Open {
    meet: Meet,
    /// What is still to be tried; `None` if it has not been looked at.
    left: Option<Left>,
}

impl Open {
    fn is_finished(&self) -> bool {
        self.left.as_ref().is_some_and(Left::is_empty)
    }
}

/// What is to be tried of an intersection.
enum Left {
    Bytes(ByteSet),
    /// Alternatives of the part at this index.
    Alternatives(usize, Vec<RegexId>),
}

/// One of these.
enum Next {
    Byte(u8),
    Alternative(usize, RegexId),
}

impl Left {
    fn pop(&mut self) -> Option<Next> {
        match self {
            Self::Bytes(bytes) => bytes.pop().map(Next::Byte),
            Self::Alternatives(part, left) => left.pop().map(|one| Next::Alternative(*part, one)),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Alternatives(_, left) => left.is_empty(),
        }
    }
}

/// What a search has met.
#[derive(Default)]
struct Search {
    open: Vec<Open>,
    /// Least left to read first; then those that take away the fewest, and those met first.
    queue: BinaryHeap<Reverse<(u32, usize, usize)>>,
    seen: FxHashMap<Meet, usize>,
    /// Those that take something away, by what they take it from; with how many alternatives, the
    /// fewest first.
    exceptions: FxHashMap<Box<[RegexId]>, Vec<(usize, usize)>>,
    /// One, and another whose texts are texts of the first but for their first byte.
    edges: Vec<(usize, usize)>,
    /// One that is not looked at, and another that has its texts and more.
    covers: Vec<(usize, usize)>,
}

impl RegexSet {
    /// From now on all searches together take at most so many steps, and each a quarter of them.
    pub(crate) fn set_search_steps(&mut self, steps: usize) {
        self.limits = Limits { free: 0, allowance: steps, most: steps.div_ceil(4) };
    }

    /// From now on texts are read. What they need is far below these limits: only where much is
    /// taken away can a search be hard in their midst that was not when the expression was made.
    pub(super) fn begin_reading(&mut self) {
        self.limits = Limits::READING;
    }

    /// An intersection that is met while reading; [`DEAD`] if the search for its text is given up.
    /// So no illegal text gets through and none hangs, and there is no dead end: the search ends at
    /// once where a text goes on as the one that was found before. Where intersections are taken
    /// away it would take away too little, and the error stays one.
    pub(super) fn meet_or_dead(
        &mut self,
        all: Vec<RegexId>,
        none: RegexId,
    ) -> Result<RegexId, TooLarge> {
        match self.meet(all, none) {
            Err(TooLarge) if self.limits.free > 0 && !self.takes_meets_away => Ok(DEAD),
            met => met,
        }
    }

    /// How many steps searches have taken.
    pub fn searched(&self) -> u64 {
        self.searched
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
    pub(super) fn search(&mut self, start: Meet) -> Result<RegexId, TooLarge> {
        let mut search = Search::default();
        let mut steps = 0;
        self.open(&mut search, start, 0);
        while let Some(&Reverse((.., at))) = search.queue.peek() {
            if search.open[at].left.is_none() {
                search.open[at].left = Some(self.begin(&mut search, at)?);
            }
            let Some(next) = search.open[at].left.as_mut().and_then(Left::pop) else {
                search.queue.pop();
                continue;
            };
            if steps >= self.limits.free {
                if steps >= self.limits.most || self.limits.allowance == 0 {
                    return Err(TooLarge);
                }
                self.limits.allowance -= 1;
            }
            if steps == BEFORE_RELAXING
                && let Some(all) = self.without_counts(&search.open[0].meet.all)
                && self.meet(all, search.open[0].meet.none)? == DEAD
            {
                break;
            }
            steps += 1;
            self.searched += 1;
            self.forget();
            let meet = &search.open[at].meet;
            let found = match next {
                Next::Byte(byte) => self.meet_after(meet, byte)?,
                Next::Alternative(part, alternative) => {
                    let mut all = meet.all.to_vec();
                    all[part] = alternative;
                    self.simplify(all, meet.none)
                }
            };
            match found {
                Simple::Known(DEAD) => {}
                Simple::Known(_) => return Ok(self.keep(search, at)),
                Simple::Open(meet) => match search.seen.get(&meet) {
                    Some(&known) => search.edges.push((at, known)),
                    None => self.open(&mut search, meet, at),
                },
            }
        }
        self.dead.extend(search.open.into_iter().map(|open| open.meet));
        Ok(DEAD)
    }

    /// Adds an intersection that has not been met.
    fn open(&self, search: &mut Search, meet: Meet, from: usize) {
        let number = search.open.len();
        if number > 0 {
            search.edges.push((from, number));
        }
        let taken = self.choice(&meet.none).len();
        if taken > 0 {
            let known = search.exceptions.entry(meet.all.clone()).or_default();
            let at = known.partition_point(|&(size, _)| size <= taken);
            known.insert(at, (taken, number));
        }
        let least = meet.all.iter().map(|&part| self.least(part)).max();
        search.queue.push(Reverse((least.unwrap_or(0), taken, number)));
        search.seen.insert(meet.clone(), number);
        search.open.push(Open { meet, left: None });
    }

    /// What is to be tried of an intersection that has been met.
    fn begin(&mut self, search: &mut Search, at: usize) -> Result<Left, TooLarge> {
        let meet = &search.open[at].meet;
        if let Some(other) = self.covering(search, meet) {
            search.covers.push((at, other));
            return Ok(Left::Bytes(ByteSet::EMPTY));
        }
        self.left(meet)
    }

    /// One that takes less away from the same.
    fn covering(&self, search: &Search, meet: &Meet) -> Option<usize> {
        let taken = self.choice(&meet.none).len();
        let known = search.exceptions.get(&meet.all)?.iter();
        let mut fewer = known.take(COMPARED).take_while(|&&(size, _)| size < taken);
        let covers = |other: usize| {
            let mut many = self.choice(&meet.none).iter();
            self.choice(&search.open[other].meet.none)
                .iter()
                .all(|one| many.any(|part| part == one))
        };
        fewer.find(|&&(_, other)| covers(other)).map(|&(_, other)| other)
    }

    /// The alternatives of an expression, sorted; none of [`DEAD`].
    fn choice<'a>(&'a self, id: &'a RegexId) -> &'a [RegexId] {
        match self.node(*id) {
            Node::Dead => &[],
            Node::Or(parts) => parts,
            _ => std::slice::from_ref(id),
        }
    }

    fn left(&mut self, meet: &Meet) -> Result<Left, TooLarge> {
        let first = self.first_of(meet);
        if let Some((index, alternatives)) = self.take_apart(meet, &first)? {
            return Ok(Left::Alternatives(index, alternatives));
        }
        let mut cuts = *self.cuts(meet.none);
        cuts.insert(0);
        let cuts = meet.all.iter().fold(cuts, |cuts, &part| cuts.union(self.cuts(part)));
        Ok(Left::Bytes(first.intersection(&cuts)))
    }

    /// A part of an intersection that has alternatives.
    fn take_apart(
        &mut self,
        meet: &Meet,
        first: &ByteSet,
    ) -> Result<Option<(usize, Vec<RegexId>)>, TooLarge> {
        for (index, &part) in meet.all.iter().enumerate() {
            if let Some(alternatives) = self.alternatives_of(part, first)? {
                return Ok(Some((index, alternatives)));
            }
        }
        Ok(None)
    }

    /// The alternatives of an expression, if some start with the same byte of `first`.
    ///
    /// Recursion goes into intersections within intersections.
    fn alternatives_of(
        &mut self,
        id: RegexId,
        first: &ByteSet,
    ) -> Result<Option<Vec<RegexId>>, TooLarge> {
        let (choice, tail) = match *self.node(id) {
            Node::Concat(head, tail) => (head, tail),
            _ => (id, EPSILON),
        };
        let mut alternatives = match self.node(choice) {
            Node::Or(parts) if self.start_alike(parts, tail, first) => parts.to_vec(),
            Node::And(meet) => {
                let meet = meet.clone();
                let Some((index, mut alternatives)) = self.take_apart(&meet, first)? else {
                    return Ok(None);
                };
                for alternative in &mut alternatives {
                    let mut all = meet.all.to_vec();
                    all[index] = *alternative;
                    *alternative = self.meet(all, meet.none)?;
                }
                alternatives
            }
            _ => return Ok(None),
        };
        for alternative in &mut alternatives {
            *alternative = self.concat(*alternative, tail);
        }
        Ok(Some(alternatives))
    }

    /// Whether two of the alternatives before a tail start with the same byte of `first`.
    fn start_alike(&self, parts: &[RegexId], tail: RegexId, first: &ByteSet) -> bool {
        let mut met = ByteSet::EMPTY;
        parts.iter().any(|&part| {
            let mut starts = *self.first(part);
            if self.is_nullable(part) {
                starts = starts.union(self.first(tail));
            }
            let starts = starts.intersection(first);
            let alike = met.intersects(&starts);
            met = met.union(&starts);
            alike
        })
    }

    /// Keeps what a search has found out that has come to a text from `at`; gives the intersection
    /// that it started from.
    fn keep(&mut self, search: Search, at: usize) -> RegexId {
        let Search { open, mut edges, covers, .. } = search;
        let alive = reaching(open.len(), &mut edges, [at]);
        edges.extend(covers);
        let unfinished =
            open.iter().enumerate().filter(|(index, open)| alive[*index] || !open.is_finished());
        let undecided = reaching(open.len(), &mut edges, unfinished.map(|(index, _)| index));
        let mut start = DEAD;
        for (index, open) in open.into_iter().enumerate().rev() {
            if alive[index] {
                start = self.intern(Node::And(open.meet));
            } else if !undecided[index] {
                self.dead.insert(open.meet);
            }
        }
        start
    }
}

/// Which of so many nodes some of `goals` can be reached from.
fn reaching(
    count: usize,
    edges: &mut [(usize, usize)],
    goals: impl IntoIterator<Item = usize>,
) -> Vec<bool> {
    edges.sort_unstable_by_key(|&(_, to)| to);
    let mut reaching = vec![false; count];
    let mut stack: Vec<usize> = goals.into_iter().collect();
    while let Some(goal) = stack.pop() {
        if std::mem::replace(&mut reaching[goal], true) {
            continue;
        }
        let first = edges.partition_point(|&(_, to)| to < goal);
        let before = edges[first..].iter().take_while(|&&(_, to)| to == goal);
        stack.extend(before.map(|&(from, _)| from));
    }
    reaching
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `.*first.{count}last` over a few letters.
    fn apart(s: &mut RegexSet, letters: &[u8], first: u8, count: u32, last: u8) -> RegexId {
        let letter = s.bytes(letters.iter().copied().collect());
        let (any, few) = (s.repeat(letter, 0, None), s.repeat(letter, count, Some(count)));
        let (first, last) = (s.literal(&[first]), s.literal(&[last]));
        let tail = s.concat(few, last);
        let tail = s.concat(first, tail);
        s.concat(any, tail)
    }

    /// The states after all texts of these letters of a length, as far as they are alive.
    fn walk(s: &mut RegexSet, root: RegexId, letters: &[u8], length: usize) -> usize {
        let mut states = vec![root];
        let mut met = 0;
        for _ in 0..length {
            let mut next = Vec::new();
            for &state in &states {
                for &letter in letters {
                    let after = s.derivative(state, letter).unwrap();
                    next.extend((after != DEAD).then_some(after));
                }
            }
            next.sort_unstable();
            next.dedup();
            met += next.len();
            states = next;
        }
        met
    }

    #[test]
    fn searches_go_through_places_not_through_sets_of_them() {
        let mut s = RegexSet::default();
        let (first, second) =
            (apart(&mut s, b"ab", b'a', 30, b'b'), apart(&mut s, b"ab", b'b', 40, b'b'));
        // Texts of an even length.
        let pair = s.bytes(b"ab".iter().copied().collect());
        let pair = s.repeat(pair, 2, Some(2));
        let even = s.repeat(pair, 0, None);
        let meet = s.and(&[first, second, even], &[]).unwrap();
        assert_ne!(meet, DEAD);
        let states = walk(&mut s, meet, b"ab", 12);
        assert!(states > 4000, "{states}");
        // The choices of places are tried one by one until one has a text.
        assert!(s.searched() < 50 * states as u64, "{} steps", s.searched());
    }

    #[test]
    fn what_has_no_text_is_found_out_in_few_steps() {
        let mut s = RegexSet::default();
        let (odd, all) =
            (apart(&mut s, b"ab", b'a', 21, b'b'), apart(&mut s, b"ab", b'a', 20, b'b'));
        let letter = s.bytes(b"ab".iter().copied().collect());
        let (two, three) = (s.repeat(letter, 2, Some(2)), s.repeat(letter, 3, Some(3)));
        let twos = s.repeat(two, 0, None);
        let threes = s.repeat(three, 0, None);
        let tail = s.concat(letter, threes);
        assert_eq!(s.and(&[odd, all, twos, threes, tail], &[]), Ok(DEAD));
        assert!(s.searched() < 100_000, "{} steps", s.searched());
    }

    #[test]
    fn sets_of_exceptions_that_take_away_more_are_not_looked_at() {
        let mut s = RegexSet::default();
        let letter = s.bytes(b"ab".iter().copied().collect());
        let any = s.repeat(letter, 0, None);
        let short = s.repeat(letter, 0, Some(30));
        let mut none = vec![short];
        for (first, last) in [(b'a', b'a'), (b'a', b'b'), (b'b', b'a'), (b'b', b'b')] {
            none.push(apart(&mut s, b"ab", first, 16, last));
        }
        // Every text of more than 17 letters has one letter or the other 17 before the last.
        assert_eq!(s.and(&[any], &none), Ok(DEAD));
        assert!(s.searched() < 20_000, "{} steps", s.searched());
    }

    /// Two words of so many letters, one with an even number of `a` and one with an odd one, that
    /// are the same: there are none, but to know it all words have to be looked at. Or `other`.
    fn equal_and_different(
        s: &mut RegexSet,
        count: u32,
        other: RegexId,
    ) -> Result<RegexId, TooLarge> {
        let (a, b) = (s.literal(b"a"), s.literal(b"b"));
        let bs = s.repeat(b, 0, None);
        let with_a = s.concat(a, bs);
        let pair = s.repeat(with_a, 2, Some(2));
        let pairs = s.repeat(pair, 0, None);
        let even = s.concat(bs, pairs);
        let odd = s.concat(with_a, pairs);
        let odd = s.concat(bs, odd);
        let letter = s.bytes(b"ab".iter().copied().collect());
        let word = s.repeat(letter, count, Some(count));
        let (even, odd) = (s.and(&[even, word], &[])?, s.and(&[odd, word], &[])?);
        let both = s.concat(even, odd);
        let both = s.or(&[both, other]);
        let any = s.repeat(letter, 0, None);
        let (first, second) =
            (apart(s, b"ab", b'a', count - 1, b'b'), apart(s, b"ab", b'b', count - 1, b'a'));
        let differs = [s.concat(first, any), s.concat(second, any)];
        s.and(&[both], &differs)
    }

    #[test]
    fn hard_searches_are_given_up() {
        let mut s = RegexSet::default();
        assert_eq!(equal_and_different(&mut s, 6, DEAD), Ok(DEAD));
        assert_eq!(equal_and_different(&mut s, 20, DEAD), Err(TooLarge));
    }

    #[test]
    fn reading_a_text_does_not_hang_in_hard_searches() {
        let mut s = RegexSet::default();
        let (other, ab) = (s.literal(b"c"), s.literal(b"ab"));
        let hard = equal_and_different(&mut s, 30, other).unwrap();
        let root = s.or(&[hard, ab]);
        assert_eq!(s.derivative(root, b'b'), Err(TooLarge));
        s.limits = Limits { free: 100, allowance: 1000, ..Limits::READING };
        let before = s.searched();
        assert_eq!(s.derivative(root, b'b'), Ok(DEAD));
        assert_eq!((s.limits.allowance, s.searched() - before), (0, 1100));
        // The other alternatives are not concerned.
        let b = s.literal(b"b");
        assert_eq!(s.derivative(root, b'a'), Ok(b));
        assert_eq!(s.derivative(root, b'c'), Ok(EPSILON));
        assert_eq!(s.searched() - before, 1200);
    }

    #[test]
    fn what_is_taken_away_is_never_too_little() {
        let mut s = RegexSet::default();
        let (other, letter) = (s.literal(b"c"), s.bytes(b"abc".iter().copied().collect()));
        let hard = equal_and_different(&mut s, 30, other).unwrap();
        let any = s.repeat(letter, 0, None);
        let root = s.and(&[any], &[hard]).unwrap();
        s.limits = Limits { free: 100, allowance: 0, ..Limits::READING };
        assert_eq!(s.derivative(root, b'a'), Err(TooLarge));
    }

    #[test]
    fn what_a_search_finds_out_is_kept() {
        let mut s = RegexSet::default();
        let a = apart(&mut s, b"ab", b'a', 9, b'b');
        let b = apart(&mut s, b"ab", b'b', 8, b'b');
        let before = s.searched();
        let meet = s.and(&[a, b], &[]).unwrap();
        assert_ne!(meet, DEAD);
        let once = s.searched() - before;
        assert!(once > 0);
        let mut state = meet;
        let mut after = s.searched();
        for &byte in b"ababababab" {
            state = s.derivative(state, byte).unwrap();
            after = s.searched();
        }
        assert_ne!(state, DEAD);
        assert!(after < 50 * once, "{once}, then {after}");
    }
}
