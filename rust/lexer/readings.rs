//! How texts are read as units, such as characters: to which places they lead, and by how many.
//!
//! For an expression and a *place* in a unit (0 is between two of them), a [`Summary`] says to which
//! places its texts lead and how many units they complete on the way, as an interval. It is made of
//! those of the parts, and kept.

use rustc_hash::FxHashMap;

use super::node::{Node, RegexSet, UNBOUNDED};
use super::units::{BETWEEN, Counter};
use crate::index::RegexId;

/// Summaries are forgotten past so many.
const MEMO_LIMIT: usize = 1 << 16;

/// How expressions are read, by unit, expression and place; `None` where it is not known.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths(FxHashMap<(u32, RegexId, u32), Option<Summary>>);

impl Lengths {
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.capacity() * 80
    }

    /// Forgets what can be found out again if it has become much.
    pub(super) fn forget(&mut self) {
        if self.0.len() > MEMO_LIMIT {
            self.0.clear();
        }
    }
}

/// How the texts of an expression are read as units.
#[derive(Clone, Debug)]
struct Summary {
    /// At most one for each place.
    ends: Vec<End>,
    /// Whether all its texts can be read.
    whole: bool,
}

/// Texts that lead to a place complete `low` to `high` units.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    place: u32,
    pub(super) low: u32,
    pub(super) high: u32,
    /// Whether each number of units of the interval occurs.
    pub(super) exact: bool,
    /// Whether `low` occurs.
    pub(super) least: bool,
}

/// How an expression can be read as a sequence of units.
pub(super) struct Reading {
    /// `None` if no text can.
    pub(super) end: Option<End>,
    /// Whether all texts can.
    pub(super) whole: bool,
}

impl Summary {
    const NONE: Self = Self { ends: Vec::new(), whole: false };

    /// Adds texts.
    fn add(&mut self, new: End) {
        match self.ends.iter_mut().find(|end| end.place == new.place) {
            Some(end) => {
                let (first, second) = if end.low <= new.low { (*end, new) } else { (new, *end) };
                *end = End {
                    low: first.low,
                    high: first.high.max(second.high),
                    exact: first.exact
                        && second.exact
                        && second.low <= first.high.saturating_add(1),
                    least: first.least || second.least && second.low == first.low,
                    ..new
                };
            }
            None => self.ends.push(new),
        }
    }
}

/// The length of `count` such parts, and whether it was too large to tell.
fn times(length: u32, count: u32) -> (u32, bool) {
    if length == 0 || count == 0 {
        return (0, false);
    }
    if length == UNBOUNDED || count == UNBOUNDED {
        return (UNBOUNDED, false);
    }
    length.checked_mul(count).map_or((UNBOUNDED, true), |length| (length, false))
}

impl End {
    /// The empty text.
    fn at(place: u32) -> Self {
        Self { place, low: 0, high: 0, exact: true, least: true }
    }

    /// `min` to `max` times.
    fn repeated(self, min: u32, max: u32) -> Self {
        let (low, low_lost) = times(self.low, min);
        let (high, high_lost) = times(self.high, max);
        // [m·low, m·high] and [(m+1)·low, (m+1)·high] touch; later ones are wider.
        let touch = min == max
            || u64::from(self.low) * (u64::from(min) + 1)
                <= u64::from(self.high) * u64::from(min) + 1;
        let least = (self.least || min == 0) && !low_lost;
        Self { low, high, exact: self.exact && touch && !low_lost && !high_lost, least, ..self }
    }

    fn then(self, next: Self) -> Self {
        let low = self.low.saturating_add(next.low);
        let high = self.high.saturating_add(next.high);
        let endless = self.high == UNBOUNDED || next.high == UNBOUNDED;
        Self {
            place: next.place,
            low,
            high,
            exact: self.exact && next.exact && (endless || high != UNBOUNDED) && low != UNBOUNDED,
            least: self.least && next.least && low != UNBOUNDED,
        }
    }
}

impl RegexSet {
    /// How the texts of an expression are read from a counter's place on; `None` if it is not
    /// known.
    pub(super) fn reading(&mut self, counter: Counter, id: RegexId) -> Option<Reading> {
        let key = (counter.unit, id, counter.place);
        if !self.lengths.0.contains_key(&key) {
            self.summarise(counter.unit, id, counter.place);
        }
        let summary = self.lengths.0[&key].as_ref()?;
        let end = summary.ends.iter().find(|end| end.place == BETWEEN).copied();
        let whole = summary.whole && summary.ends.iter().all(|end| end.place == BETWEEN);
        Some(Reading { end, whole })
    }

    /// An explicit stack replaces recursion: what is asked for is left there until its parts are
    /// known.
    fn summarise(&mut self, unit: u32, root: RegexId, place: u32) {
        let mut stack = vec![(root, place)];
        while let Some(&(id, place)) = stack.last() {
            if self.lengths.0.contains_key(&(unit, id, place)) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let mut parts = Parts { set: self, unit, missing: &mut stack };
            let summary = parts.summary(id, place);
            if stack.len() == before {
                stack.pop();
                self.lengths.0.insert((unit, id, place), summary);
            }
        }
    }
}

/// The parts of an expression, to make its summary of theirs.
struct Parts<'a> {
    set: &'a RegexSet,
    unit: u32,
    /// Those whose summaries are to be made before.
    missing: &'a mut Vec<(RegexId, u32)>,
}

impl<'a> Parts<'a> {
    fn known(&mut self, id: RegexId, place: u32) -> Option<&'a Option<Summary>> {
        let known = self.set.lengths.0.get(&(self.unit, id, place));
        if known.is_none() {
            self.missing.push((id, place));
        }
        known
    }

    fn summary(&mut self, id: RegexId, place: u32) -> Option<Summary> {
        match self.set.node(id) {
            Node::Dead => Some(Summary { ends: Vec::new(), whole: true }),
            Node::Epsilon => Some(Summary { ends: vec![End::at(place)], whole: true }),
            Node::Bytes(set) => {
                let mut summary = Summary::NONE;
                let mut read = 0;
                for (bytes, to) in self.set.units.next(self.unit, place) {
                    let common = bytes.intersection(set).len();
                    if common > 0 {
                        let count = u32::from(*to == BETWEEN);
                        summary.add(End { low: count, high: count, ..End::at(*to) });
                        read += common;
                    }
                }
                summary.whole = read == set.len();
                Some(summary)
            }
            &Node::Literal(text, tail) => {
                let (mut at, mut count) = (place, 0);
                for &byte in self.set.texts.get(text) {
                    let mut next = self.set.units.next(self.unit, at).iter();
                    let Some(&(_, to)) = next.find(|(bytes, _)| bytes.contains(byte)) else {
                        return Some(Summary::NONE);
                    };
                    at = to;
                    count += u32::from(to == BETWEEN);
                }
                let tail = self.known(tail, at)?.as_ref()?;
                let first = End { low: count, high: count, ..End::at(at) };
                let ends = tail.ends.iter().map(|&second| first.then(second)).collect();
                Some(Summary { ends, whole: tail.whole })
            }
            &Node::Concat(head, tail) => {
                let head = self.known(head, place)?.as_ref()?;
                let mut summary = Summary { ends: Vec::new(), whole: head.whole };
                let mut unknown = false;
                for &first in &head.ends {
                    match self.known(tail, first.place) {
                        Some(Some(tail)) => {
                            tail.ends.iter().for_each(|&second| summary.add(first.then(second)));
                            summary.whole &= tail.whole;
                        }
                        _ => unknown = true,
                    }
                }
                (!unknown).then_some(summary)
            }
            Node::Or(parts) => {
                let mut summary = Summary { ends: Vec::new(), whole: true };
                let mut unknown = false;
                for &part in parts {
                    match self.known(part, place) {
                        Some(Some(part)) => {
                            part.ends.iter().for_each(|&end| summary.add(end));
                            summary.whole &= part.whole;
                        }
                        _ => unknown = true,
                    }
                }
                (!unknown).then_some(summary)
            }
            &Node::Repeat(part, min, max) => self.repeated(part, place, min, max),
            Node::And(meet) => self.common(&meet.all, place),
            // Its edges may lead anywhere.
            Node::State { .. } => None,
        }
    }

    fn repeated(&mut self, part: RegexId, place: u32, min: u32, max: u32) -> Option<Summary> {
        let once = self.known(part, place)?.as_ref()?;
        if once.ends.iter().all(|end| end.place == place) {
            let mut ends: Vec<End> = once.ends.iter().map(|end| end.repeated(min, max)).collect();
            if min == 0 && ends.is_empty() {
                ends.push(End::at(place));
            }
            return Some(Summary { ends, whole: once.whole });
        }
        // Texts lead from place to place: only which ones is looked at.
        let (mut reached, mut at) = (vec![place], 0);
        let (mut most, mut whole) = (0, true);
        while let Some(&from) = reached.get(at) {
            at += 1;
            let once = self.known(part, from)?.as_ref()?;
            whole &= once.whole;
            for end in &once.ends {
                most = most.max(end.high);
                if !reached.contains(&end.place) {
                    reached.push(end.place);
                }
            }
        }
        let (high, _) = times(most, max);
        let end = |place| End { high, exact: false, least: false, ..End::at(place) };
        Some(Summary { ends: reached.into_iter().map(end).collect(), whole })
    }

    fn common(&mut self, all: &[RegexId], place: u32) -> Option<Summary> {
        let mut common: Option<Summary> = None;
        let mut waiting = false;
        for &part in all {
            let Some(part) = self.known(part, place) else {
                waiting = true;
                continue;
            };
            let Some(part) = part else { continue };
            match &mut common {
                None => common = Some(part.clone()),
                Some(common) => {
                    common.whole |= part.whole;
                    common.ends.retain_mut(|end| {
                        let other = part.ends.iter().find(|other| other.place == end.place);
                        let Some(other) = other else { return false };
                        end.low = end.low.max(other.low);
                        end.high = end.high.min(other.high);
                        end.low <= end.high
                    });
                }
            }
        }
        let mut common = common.filter(|_| !waiting)?;
        common.ends.iter_mut().for_each(|end| (end.exact, end.least) = (false, false));
        Some(common)
    }
}
