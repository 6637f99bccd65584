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

/// The steps that all searches in a set of expressions may take while it is being built.
pub(super) const ALLOWANCE: usize = 1 << 19;
/// The steps that one search may take.
const MAX_STEPS: usize = 1 << 17;
/// Counts of up to this many are walked through.
const FEW: u32 = 4;
/// How many sets of exceptions a new one is compared with.
const COMPARED: usize = 32;

/// An intersection that a search has met.
struct Open {
    meet: Meet,
    left: Left,
}

/// What is still to be tried.
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
    /// Least left to read first; then those met first.
    queue: BinaryHeap<Reverse<(u32, usize)>>,
    seen: FxHashMap<Meet, usize>,
    /// Those that take something away, by what they take it from.
    exceptions: FxHashMap<Box<[RegexId]>, Vec<usize>>,
    /// One, and another whose texts are texts of the first but for their first byte.
    edges: Vec<(usize, usize)>,
    /// One that is not looked at, and another that has its texts and more.
    covers: Vec<(usize, usize)>,
}

impl RegexSet {
    /// Lets searches take as many steps as they need: for expressions whose like has been found to
    /// be searched in time.
    pub(super) fn lift_bounds(&mut self) {
        self.allowance = usize::MAX;
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
        if let Some(all) = self.without_counts(&start.all)
            && self.meet(all, start.none)? == DEAD
        {
            self.dead.insert(start);
            return Ok(DEAD);
        }
        let mut search = Search::default();
        let mut steps = 0;
        self.open(&mut search, start, 0);
        while let Some(&Reverse((_, at))) = search.queue.peek() {
            let Some(next) = search.open[at].left.pop() else {
                search.queue.pop();
                continue;
            };
            if self.allowance != usize::MAX {
                if steps == MAX_STEPS || self.allowance == 0 {
                    return Err(TooLarge);
                }
                self.allowance -= 1;
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
    fn open(&mut self, search: &mut Search, meet: Meet, from: usize) {
        let number = search.open.len();
        if number > 0 {
            search.edges.push((from, number));
        }
        search.seen.insert(meet.clone(), number);
        let covering = self.covering(search, &meet);
        let left = if let Some(other) = covering {
            search.covers.push((number, other));
            Left::Bytes(ByteSet::EMPTY)
        } else {
            let least = meet.all.iter().map(|&part| self.least(part)).max();
            search.queue.push(Reverse((least.unwrap_or(0), number)));
            self.left(&meet)
        };
        search.open.push(Open { meet, left });
    }

    /// One that takes less away from the same; if there is none, it may be one for the next.
    fn covering(&self, search: &mut Search, meet: &Meet) -> Option<usize> {
        if meet.none == DEAD {
            return None;
        }
        let known = search.exceptions.entry(meet.all.clone()).or_default();
        let mut recent = known.iter().rev().take(COMPARED);
        let covering =
            recent.find(|&&other| self.is_choice_of(search.open[other].meet.none, meet.none));
        if let Some(&covering) = covering {
            return Some(covering);
        }
        known.push(search.open.len());
        None
    }

    /// Whether each alternative of `some` is one of `many`.
    fn is_choice_of(&self, some: RegexId, many: RegexId) -> bool {
        match (self.node(some), self.node(many)) {
            (Node::Or(some), Node::Or(many)) => {
                let mut many = many.iter();
                some.len() <= many.len() && some.iter().all(|one| many.any(|other| other == one))
            }
            (_, Node::Or(many)) => many.binary_search(&some).is_ok(),
            _ => some == many,
        }
    }

    /// What is to be tried of an intersection.
    fn left(&mut self, meet: &Meet) -> Left {
        let first = self.first_of(meet);
        for (index, &part) in meet.all.iter().enumerate() {
            if let Some(alternatives) = self.choices(part, &first) {
                return Left::Alternatives(index, alternatives);
            }
        }
        let mut cuts = *self.cuts(meet.none);
        cuts.insert(0);
        let cuts = meet.all.iter().fold(cuts, |cuts, &part| cuts.union(self.cuts(part)));
        Left::Bytes(first.intersection(&cuts))
    }

    /// The alternatives of an expression, if some start with the same byte of `first`.
    fn choices(&mut self, id: RegexId, first: &ByteSet) -> Option<Vec<RegexId>> {
        let (choice, tail) = match *self.node(id) {
            Node::Concat(head, tail) => (head, tail),
            _ => (id, EPSILON),
        };
        let Node::Or(parts) = self.node(choice) else { return None };
        let mut met = ByteSet::EMPTY;
        let alike = parts.iter().any(|&part| {
            let mut starts = *self.first(part);
            if self.is_nullable(part) {
                starts = starts.union(self.first(tail));
            }
            let starts = starts.intersection(first);
            let alike = met.intersects(&starts);
            met = met.union(&starts);
            alike
        });
        let parts = alike.then(|| parts.clone())?;
        Some(parts.iter().map(|&part| self.concat(part, tail)).collect())
    }

    /// Keeps what a search has found out that has come to a text from `at`; gives the intersection
    /// that it started from.
    fn keep(&mut self, search: Search, at: usize) -> RegexId {
        let Search { open, mut edges, covers, .. } = search;
        let alive = reaching(open.len(), &mut edges, [at]);
        edges.extend(covers);
        let unfinished =
            open.iter().enumerate().filter(|(index, open)| alive[*index] || !open.left.is_empty());
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
