//! How many characters texts have: what a counted length leaves to the rest of an intersection.
//!
//! In `P & C{m,n}`, where C is one character (a *unit*), most is decided without a search: the texts
//! of P are read as units (`readings.rs`). If P has no length of `m..=n` there is no text; if all
//! its lengths are, the counter says nothing and goes; a bound that P keeps by itself goes too, so
//! that states which differ in it alone become one; and if each length of the interval is known to
//! occur, so is a text.

use super::node::{DEAD, Node, RegexSet, UNBOUNDED};
use super::readings::Reading;
use super::units::{BETWEEN, Counter};
use crate::index::RegexId;

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
