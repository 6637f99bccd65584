//! How many characters texts have: what a counted length leaves to the rest of an intersection.
//!
//! In `P & C{m,n}`, where C is one character (a *unit*), most is decided without a search. The
//! texts of P are read as units: for an expression and a *place* in a unit (0 is between two of
//! them), a [`Summary`] says to which places its texts lead and how many units they complete on the
//! way, as an interval. It is made of those of the parts. If P has no length of `m..=n` there is no
//! text; if all its lengths are, the counter says nothing and goes; a bound that P keeps by itself
//! goes too, so that states which differ in it alone become one; and if each length of the interval
//! is known to occur, so is a text.

use rustc_hash::FxHashMap;

use super::node::{DEAD, Node, RegexSet, UNBOUNDED};
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
struct End {
    place: u32,
    low: u32,
    high: u32,
    /// Whether each number of units of the interval occurs.
    exact: bool,
    /// Whether `low` occurs.
    least: bool,
}

/// What is known of an intersection by its lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It has no text.
    Dead,
    /// It has one.
    Alive,
    Open,
}

/// A pattern and a length at the beginning of an expression: `(P & x{m,n}) y`.
#[derive(Clone, Copy, Debug)]
pub struct CountedMeet {
    /// P.
    pub pattern: RegexId,
    /// y.
    pub tail: RegexId,
    /// x.
    pub unit: RegexId,
    /// n.
    pub max: u32,
    counter: Counter,
}

/// How an expression can be read as a sequence of units.
struct Reading {
    /// `None` if no text can.
    end: Option<End>,
    /// Whether all texts can.
    whole: bool,
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
    /// Takes what lengths say by themselves out of the intersection of `all`, sorted and none of
    /// them dead, without `none`. What is left has the same texts.
    pub(super) fn fit(&mut self, all: &mut Vec<RegexId>, none: &mut RegexId) -> Fit {
        if self.fit_counters(all) == Fit::Dead {
            return Fit::Dead;
        }
        if *none != DEAD {
            return self.fit_none(all, none);
        }
        if let &[first, second] = &all[..] {
            for (counter, other) in [(first, second), (second, first)] {
                if let Some(counter) = self.counter(counter)
                    && let Some(Reading { end: Some(end), .. }) = self.reading(counter, other)
                {
                    if end.least && counter.min <= end.low && end.low <= counter.max {
                        return Fit::Alive;
                    }
                    if end.exact {
                        let overlap = end.low <= counter.max && counter.min <= end.high;
                        return if overlap { Fit::Alive } else { Fit::Dead };
                    }
                }
            }
        }
        Fit::Open
    }

    fn fit_counters(&mut self, all: &mut Vec<RegexId>) -> Fit {
        let mut at = 0;
        let mut changed = false;
        while let Some(&here) = all.get(at).filter(|_| all.len() > 1) {
            at += 1;
            let Some(mut counter) = self.counter(here) else { continue };
            let (mut low, mut high, mut whole) = (0, UNBOUNDED, false);
            let mut index = 0;
            while let Some(&other) = all.get(index) {
                index += 1;
                if index == at {
                    continue;
                }
                if let Some(same) = self.counter(other)
                    && (same.unit, same.place) == (counter.unit, counter.place)
                {
                    // Two lengths become one.
                    counter.min = counter.min.max(same.min);
                    counter.max = counter.max.min(same.max);
                    index -= 1;
                    all.remove(index);
                    at -= usize::from(index < at);
                    continue;
                }
                let Some(reading) = self.reading(counter, other) else { continue };
                let Some(end) = reading.end else { return Fit::Dead };
                low = low.max(end.low);
                high = high.min(end.high);
                whole |= reading.whole;
            }
            if low > high || counter.min > counter.max || high < counter.min || low > counter.max {
                return Fit::Dead;
            }
            if low >= counter.min {
                counter.min = 0;
            }
            if high <= counter.max {
                counter.max = UNBOUNDED;
            }
            if whole && (counter.min, counter.max) == (0, UNBOUNDED) {
                at -= 1;
                all.remove(at);
                continue;
            }
            let made = self.of_counter(counter);
            changed |= made != here;
            all[at - 1] = made;
        }
        if changed {
            all.sort_unstable();
            all.dedup();
        }
        Fit::Open
    }

    /// The same for lengths that are taken away.
    fn fit_none(&mut self, all: &[RegexId], none: &mut RegexId) -> Fit {
        let parts = match self.node(*none) {
            Node::Or(parts) => parts.to_vec(),
            _ => vec![*none],
        };
        let mut kept = Vec::with_capacity(parts.len());
        for &part in &parts {
            let Some(counter) = self.counter(part) else {
                if self.has_all_of(part, all) {
                    return Fit::Dead;
                }
                kept.push(part);
                continue;
            };
            let mut apart = false;
            for &other in all {
                let Some(reading) = self.reading(counter, other) else { continue };
                let Some(end) = reading.end else {
                    apart = true;
                    break;
                };
                if reading.whole && counter.min <= end.low && end.high <= counter.max {
                    return Fit::Dead;
                }
                apart |= end.high < counter.min || counter.max < end.low;
            }
            if !apart {
                kept.push(part);
            }
        }
        if kept.len() < parts.len() {
            *none = self.or(&kept);
        }
        Fit::Open
    }

    /// Whether an expression may start with any number of units, and end behind them, and one of
    /// others is read as units: what is left of a pattern that may match anywhere and has matched.
    fn has_all_of(&mut self, id: RegexId, others: &[RegexId]) -> bool {
        let &Node::Concat(head, tail) = self.node(id) else { return false };
        if !matches!(self.node(head), Node::Repeat(_, 0, UNBOUNDED)) || !self.is_nullable(tail) {
            return false;
        }
        let Some(counter) = self.counter(head) else { return false };
        others.iter().any(|&other| self.reading(counter, other).is_some_and(|it| it.whole))
    }

    /// For `(P & x{m,n}) y`, where all texts of P are made of x: P, y, x and n, and the numbers m to
    /// n as they are asked of [`Self::least_units`].
    pub fn counted_meet(&mut self, id: RegexId) -> Option<CountedMeet> {
        let (head, tail) = match *self.node(id) {
            Node::Concat(head, tail) => (head, tail),
            _ => (id, super::EPSILON),
        };
        let Node::And(meet) = self.node(head) else { return None };
        let &[first, second] = &meet.all[..] else { return None };
        if meet.none != DEAD {
            return None;
        }
        [(first, second), (second, first)].into_iter().find_map(|(length, pattern)| {
            let counter = self.counter(length)?;
            if counter.place != BETWEEN || counter.max == UNBOUNDED {
                return None;
            }
            self.reading(counter, pattern).is_some_and(|it| it.whole).then(|| CountedMeet {
                pattern,
                tail,
                unit: self.unit_of(counter),
                max: counter.max,
                counter,
            })
        })
    }

    /// The least number of units of the texts of an expression, to which what is left of the meet's
    /// pattern leads, if it is known that a text has so many, and that longer ones occur too where
    /// the meet asks for them.
    pub fn least_units(&mut self, meet: &CountedMeet, pattern: RegexId) -> Option<u32> {
        let end = self.reading(meet.counter, pattern)?.end?;
        let any_longer = end.exact && end.high == UNBOUNDED;
        (any_longer || end.least && meet.counter.min == 0).then_some(end.low)
    }

    /// How the texts of an expression are read from a counter's place on; `None` if it is not
    /// known.
    fn reading(&mut self, counter: Counter, id: RegexId) -> Option<Reading> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::EPSILON;

    /// Any character, and as JSON spells it.
    fn units(s: &mut RegexSet) -> [RegexId; 2] {
        let any = s.class(&[('\0', char::MAX)]);
        let raw = s.class(&[(' ', '!'), ('#', '['), (']', char::MAX)]);
        let short = s.class(&[('"', '"'), ('\\', '\\'), ('n', 'n')]);
        let escape = s.literal(b"\\");
        let escaped = s.concat(escape, short);
        [any, s.or(&[raw, escaped])]
    }

    fn text(s: &mut RegexSet, parts: &[RegexId]) -> RegexId {
        parts.iter().rev().fold(EPSILON, |tail, &head| s.concat(head, tail))
    }

    #[test]
    fn lengths_that_are_kept_anyway_are_left_out() {
        let mut s = RegexSet::default();
        for unit in units(&mut s) {
            let (a, n) = (s.class(&[('a', 'z'), ('é', 'é')]), s.literal(b"\\n"));
            let word = s.repeat(a, 2, Some(4));
            let end = s.repeat(n, 1, Some(1));
            let word = text(&mut s, &[word, end]);
            let counted = |s: &mut RegexSet, min, max| s.repeat(unit, min, max);
            let long = counted(&mut s, 0, Some(9));
            assert_eq!(s.and(&[word, long], &[]), Ok(word));
            let short = counted(&mut s, 0, Some(2));
            assert_eq!(s.and(&[word, short], &[]), Ok(DEAD));
            // Only the upper bound is left.
            let (first, second) = (counted(&mut s, 1, Some(4)), counted(&mut s, 0, Some(4)));
            let both = s.and(&[word, first], &[]).unwrap();
            assert_eq!(s.and(&[word, second], &[]), Ok(both));
            assert_ne!(both, DEAD);
            let most = counted(&mut s, 3, None);
            assert_eq!(s.and(&[word], &[most]), Ok(DEAD));
        }
        assert_eq!(s.searched(), 0);
    }

    #[test]
    fn choices_of_places_need_no_search() {
        let mut s = RegexSet::default();
        for unit in units(&mut s) {
            let (a, b) = (s.literal(b"a"), s.literal(b"b"));
            let (any, few) = (s.repeat(unit, 0, None), s.repeat(unit, 20, Some(20)));
            let pattern = text(&mut s, &[any, a, few, b, any]);
            let length = s.repeat(unit, 0, Some(24));
            let mut state = s.and(&[pattern, length], &[]).unwrap();
            for &byte in b"abaaabbbabab" {
                state = s.derivative(state, byte).unwrap();
                assert_ne!(state, DEAD);
            }
        }
        assert_eq!(s.searched(), 0);
    }

    #[test]
    fn what_is_left_of_a_pattern_has_a_least_length() {
        let mut s = RegexSet::default();
        for unit in units(&mut s) {
            let (a, b, quote) = (s.literal(b"a"), s.literal(b"b"), s.literal(b"\""));
            let [any, many_a, many_b] =
                [(unit, 0), (a, 1), (b, 1)].map(|(x, n)| s.repeat(x, n, None));
            let somewhere = text(&mut s, &[any, a, a, any]);
            let pair = s.concat(many_a, many_b);
            let pairs = s.repeat(pair, 0, Some(9));
            let words = s.concat(pairs, many_a);
            for (pattern, min, least) in [
                (somewhere, 0, Some(2)),
                (somewhere, 5, Some(2)),
                (words, 0, Some(1)),
                (words, 5, None),
            ] {
                let length = s.repeat(unit, min, Some(12));
                let both = s.and(&[pattern, length], &[]).unwrap();
                let state = s.concat(both, quote);
                let meet = s.counted_meet(state).unwrap();
                assert_eq!(
                    (meet.pattern, meet.tail, meet.unit, meet.max),
                    (pattern, quote, unit, 12)
                );
                assert_eq!(s.least_units(&meet, pattern), least);
            }
        }
    }

    #[test]
    fn gaps_between_lengths_are_searched() {
        let mut s = RegexSet::default();
        let unit = s.class(&[('a', 'z')]);
        let pair = s.literal(b"ab");
        let pairs = s.repeat(pair, 0, None);
        for (min, max, alive) in [(3, 3, false), (3, 4, true), (7, 7, false), (500, 500, true)] {
            let counted = s.repeat(unit, min, Some(max));
            let both = s.and(&[pairs, counted], &[]).unwrap();
            assert_eq!(both != DEAD, alive, "{min}..={max}");
        }
        assert!(s.searched() > 0);
    }
}
