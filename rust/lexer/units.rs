//! What is counted: units, the places in them, and counted lengths as expressions.
//!
//! A unit is any expression of which no text begins another and that has few derivatives: a
//! character in UTF-8, or as JSON spells it. So a text is a sequence of units in one way at most,
//! and wherever it is cut, what came last of it is a place in a unit, or lies between two.

use rustc_hash::FxHashMap;

use super::node::{DEAD, EPSILON, Node, RegexSet, UNBOUNDED};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// The most places that a unit may have, and the deepest nesting.
const MAX_PLACES: usize = 64;
/// The most units.
const MAX_UNITS: usize = 256;
/// Which expressions are counters is forgotten past so many.
const MEMO_LIMIT: usize = 1 << 16;
/// The place between two units.
pub(super) const BETWEEN: u32 = 0;

/// The units among expressions, and what is counted by them.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    known: Vec<Unit>,
    /// `None` for what is no unit.
    numbers: FxHashMap<RegexId, Option<u32>>,
    counters: FxHashMap<RegexId, Option<Counter>>,
    /// The places of all units.
    places: usize,
}

impl Units {
    /// Bytes that may follow at a place, and the places behind them.
    pub(super) fn next(&self, unit: u32, place: u32) -> &[(ByteSet, u32)] {
        &self.known[unit as usize].places[place as usize].next
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.places * 128 + self.numbers.capacity() * 16 + self.counters.capacity() * 28
    }

    /// Forgets what can be found out again if it has become much.
    pub(super) fn forget(&mut self) {
        if self.counters.len() > MEMO_LIMIT {
            self.counters.clear();
        }
    }
}

/// An expression that is counted.
#[derive(Clone, Debug)]
struct Unit {
    expr: RegexId,
    places: Vec<Place>,
}

/// A place in a unit.
#[derive(Clone, Debug)]
struct Place {
    /// What is left of the unit.
    rest: RegexId,
    /// Bytes, and the place behind them.
    next: Vec<(ByteSet, u32)>,
}

/// `min` to `max` units are to be completed, the first from `place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) unit: u32,
    pub(super) place: u32,
    pub(super) min: u32,
    pub(super) max: u32,
}

impl RegexSet {
    /// The expression as a counted length, if it is one.
    pub(super) fn counter(&mut self, id: RegexId) -> Option<Counter> {
        if let Some(&known) = self.units.counters.get(&id) {
            return known;
        }
        let counter = self.find_counter(id);
        self.units.counters.insert(id, counter);
        counter
    }

    fn find_counter(&mut self, id: RegexId) -> Option<Counter> {
        let (pieces, last) = self.pieces(id, MAX_PLACES);
        let &Node::Repeat(unit, min, max) = self.node(last) else { return None };
        let unit = self.unit(unit)?;
        if pieces.is_empty() {
            return Some(Counter { unit, place: BETWEEN, min, max });
        }
        let rest = self.join(&pieces, EPSILON);
        let places = &self.units.known[unit as usize].places;
        let place = places.iter().skip(1).position(|place| place.rest == rest)? as u32 + 1;
        let max = if max == UNBOUNDED { UNBOUNDED } else { max.checked_add(1)? };
        Some(Counter { unit, place, min: min.checked_add(1)?, max })
    }

    pub(super) fn of_counter(&mut self, counter: Counter) -> RegexId {
        let Unit { expr, places } = &self.units.known[counter.unit as usize];
        let (expr, rest) = (*expr, places[counter.place as usize].rest);
        let max = (counter.max != UNBOUNDED).then_some(counter.max);
        if counter.place == BETWEEN {
            return self.repeat(expr, counter.min, max);
        }
        // Of the unit that has begun, one is completed.
        let more = self.repeat(expr, counter.min.saturating_sub(1), max.map(|max| max - 1));
        self.concat(rest, more)
    }

    /// What a counter counts.
    pub(super) fn unit_of(&self, counter: Counter) -> RegexId {
        self.units.known[counter.unit as usize].expr
    }

    /// The number of an expression as a unit, if it can be one.
    fn unit(&mut self, expr: RegexId) -> Option<u32> {
        if let Some(&known) = self.units.numbers.get(&expr) {
            return known;
        }
        let places = self.places(expr);
        let number = places.filter(|_| self.units.known.len() < MAX_UNITS).map(|places| {
            self.units.places += places.len();
            self.units.known.push(Unit { expr, places });
            self.units.known.len() as u32 - 1
        });
        self.units.numbers.insert(expr, number);
        number
    }

    fn places(&mut self, expr: RegexId) -> Option<Vec<Place>> {
        if self.is_nullable(expr) || self.depth(expr) as usize > MAX_PLACES {
            return None;
        }
        let mut places = vec![Place { rest: expr, next: Vec::new() }];
        let mut at = 0;
        while let Some(&Place { rest, .. }) = places.get(at) {
            let mut cuts = *self.cuts(rest);
            cuts.insert(0);
            // The place behind the interval that the last byte is of.
            let mut interval = None;
            for byte in self.first(rest).iter() {
                let start = cuts.last_up_to(byte);
                let to = match interval {
                    Some((known, to)) if known == start => to,
                    _ => {
                        let to = match self.derivative(rest, byte).ok()? {
                            EPSILON => Some(BETWEEN),
                            DEAD => None,
                            next if self.is_nullable(next) || next == expr => return None,
                            next => {
                                let known = places.iter().position(|place| place.rest == next);
                                if known.is_none() && places.len() == MAX_PLACES {
                                    return None;
                                }
                                Some(known.unwrap_or_else(|| {
                                    places.push(Place { rest: next, next: Vec::new() });
                                    places.len() - 1
                                }) as u32)
                            }
                        };
                        interval = Some((start, to));
                        to
                    }
                };
                let Some(to) = to else { continue };
                let next = &mut places[at].next;
                match next.iter_mut().find(|(_, known)| *known == to) {
                    Some((bytes, _)) => bytes.insert(byte),
                    None => next.push(([byte].into_iter().collect(), to)),
                }
            }
            at += 1;
        }
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_prefix_free() {
        let mut s = RegexSet::default();
        let any = s.class(&[('\0', char::MAX)]);
        let (raw, escape) = (s.class(&[('a', 'z')]), s.literal(b"\\n"));
        let spelled = s.or(&[raw, escape]);
        assert!(s.unit(any).is_some() && s.unit(spelled).is_some());
        let (a, ab) = (s.literal(b"a"), s.literal(b"ab"));
        let either = s.or(&[a, ab]);
        assert_eq!(s.unit(either), None);
        let many = s.repeat(a, 1, None);
        assert_eq!(s.unit(many), None);
        assert_eq!(s.unit(EPSILON), None);
    }
}
