//! Sets of numbers, as lists of intervals.
//!
//! Between two neighbouring bounds only multiples tell numbers apart. A set is therefore a list of
//! intervals, ascending, each with a formula over multiples; joining two lists takes one walk over
//! both, so that sets of many bounds stay as cheap as their bounds.

use std::rc::Rc;

use super::decimal::Decimal;
use super::residue::Residue;

/// A set of numbers: intervals, ascending, none of them plainly empty, no two of them plainly one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::frontend::json_schema) struct NumberSet(Rc<[Interval]>);

/// Numbers between two bounds for which a formula over multiples holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Interval {
    /// The lower bound and whether it is excluded.
    pub(super) low: Option<(Decimal, bool)>,
    /// The upper bound and whether it is excluded.
    pub(super) high: Option<(Decimal, bool)>,
    pub(super) residue: Residue,
}

/// A place between numbers: before a number, or behind it.
type Cut<'n> = (&'n Decimal, bool);

impl NumberSet {
    /// All numbers.
    pub(in crate::frontend::json_schema) fn all() -> Self {
        Self::between(None, None, Residue::All)
    }

    /// No number.
    pub(in crate::frontend::json_schema) fn nothing() -> Self {
        Self(Rc::new([]))
    }

    /// Whole numbers.
    pub(in crate::frontend::json_schema) fn integer() -> Self {
        Self::between(None, None, Residue::integer())
    }

    /// Multiples of a number greater than 0.
    pub(in crate::frontend::json_schema) fn multiple_of(step: &Decimal) -> Self {
        Self::between(None, None, Residue::multiple_of(step))
    }

    /// From a bound on; exclusive: without the bound.
    pub(in crate::frontend::json_schema) fn minimum(bound: Decimal, exclusive: bool) -> Self {
        Self::between(Some((bound, exclusive)), None, Residue::All)
    }

    /// Up to a bound; exclusive: without the bound.
    pub(in crate::frontend::json_schema) fn maximum(bound: Decimal, exclusive: bool) -> Self {
        Self::between(None, Some((bound, exclusive)), Residue::All)
    }

    /// These numbers.
    pub(in crate::frontend::json_schema) fn of(mut values: Vec<Decimal>) -> Self {
        values.sort_unstable();
        values.dedup();
        let point = |value: Decimal| Interval {
            low: Some((value.clone(), false)),
            high: Some((value, false)),
            residue: Residue::All,
        };
        Self(values.into_iter().map(point).collect())
    }

    fn between(
        low: Option<(Decimal, bool)>,
        high: Option<(Decimal, bool)>,
        residue: Residue,
    ) -> Self {
        Self(Rc::new([Interval { low, high, residue }]))
    }

    /// Whether it is plain that every number belongs to it.
    pub(in crate::frontend::json_schema) fn is_all(&self) -> bool {
        matches!(*self.0, [Interval { low: None, high: None, residue: Residue::All }])
    }

    /// Whether it is plain that no number belongs to it.
    pub(in crate::frontend::json_schema) fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers in both sets.
    pub(in crate::frontend::json_schema) fn and(self, other: Self) -> Self {
        if self.is_all() || other.is_nothing() {
            return other;
        }
        if other.is_all() || self.is_nothing() {
            return self;
        }
        self.join(&other, Residue::and)
    }

    /// The numbers in either set.
    pub(in crate::frontend::json_schema) fn or(self, other: Self) -> Self {
        if self.is_all() || other.is_nothing() {
            return self;
        }
        if other.is_all() || self.is_nothing() {
            return other;
        }
        self.join(&other, Residue::or)
    }

    /// All other numbers.
    pub(in crate::frontend::json_schema) fn not(self) -> Self {
        self.join(&Self::all(), |own, _| own.clone().negated())
    }

    /// A set that has, of each number, what `both` makes of what two sets say of it.
    fn join(&self, other: &Self, both: impl Fn(&Residue, &Residue) -> Residue) -> Self {
        let (mut left, mut right) = (Walk { rest: &self.0 }, Walk { rest: &other.0 });
        let mut joined: Vec<Interval> = Vec::new();
        let mut at: Option<Cut<'_>> = None;
        loop {
            let (own, own_end) = left.at(at);
            let (others, others_end) = right.at(at);
            let end = [own_end, others_end].into_iter().flatten().min();
            let mut residue = both(own, others);
            // The cuts before and behind a number have the number between them.
            if let (Some((low, false)), Some((high, true))) = (at, end)
                && low == high
            {
                residue = if residue.holds(low) { Residue::All } else { Residue::Nothing };
            }
            let low = at.map(|(bound, behind)| (bound.clone(), behind));
            let high = end.map(|(bound, behind)| (bound.clone(), !behind));
            let goes_on = joined
                .last_mut()
                .is_some_and(|last| last.meets(low.as_ref()) && last.join(&residue, high.as_ref()));
            if !goes_on && residue != Residue::Nothing {
                joined.push(Interval { low, high, residue });
            }
            if end.is_none() {
                return Self(joined.into());
            }
            at = end;
        }
    }

    /// Whether a number belongs to it.
    #[cfg(test)]
    pub(super) fn contains(&self, number: &Decimal) -> bool {
        let mut walk = Walk { rest: &self.0 };
        walk.at(Some((number, false))).0.holds(number)
    }

    /// The intervals.
    pub(super) fn intervals(&self) -> &[Interval] {
        &self.0
    }

    /// Whether it is known that no number belongs to it. A "no" may be wrong where it hangs on
    /// multiples.
    pub(in crate::frontend::json_schema) fn is_empty(&self) -> bool {
        self.0.iter().all(|interval| {
            let Some((low, high)) = interval.integers() else { return false };
            interval.residue.needs_integers()
                && low.is_some_and(|low| {
                    high.is_some_and(|high| {
                        low > high
                            || high - low < 10_000
                                && !(low..=high)
                                    .any(|n| interval.residue.holds(&Decimal::from_i64(n)))
                    })
                })
        })
    }

    /// The numbers, if they are at most `limit`.
    pub(in crate::frontend::json_schema) fn values(&self, limit: usize) -> Option<Vec<Decimal>> {
        let mut values = Vec::new();
        for interval in self.intervals() {
            if let (Some((low, _)), Some((high, _))) = (&interval.low, &interval.high)
                && low == high
            {
                values.push(low.clone());
                continue;
            }
            if !interval.residue.needs_integers() {
                return None;
            }
            let (Some(low), Some(high)) = interval.integers()? else { return None };
            if high.checked_sub(low)? > 100_000 {
                return None;
            }
            values.extend(
                (low..=high).map(Decimal::from_i64).filter(|number| interval.residue.holds(number)),
            );
            if values.len() > limit {
                return None;
            }
        }
        (values.len() <= limit).then_some(values)
    }
}

/// Goes through a set from the least number up.
struct Walk<'n> {
    rest: &'n [Interval],
}

impl<'n> Walk<'n> {
    /// What the set says of the numbers behind a place (`None` before all of them), and the next
    /// place where it says something else, if there is one. Places only ascend.
    fn at(&mut self, place: Option<Cut<'_>>) -> (&'n Residue, Option<Cut<'n>>) {
        const NOTHING: &Residue = &Residue::Nothing;
        let cut = |bound: &'n (Decimal, bool), behind: bool| (&bound.0, behind);
        while let [first, rest @ ..] = self.rest {
            let low = first.low.as_ref().map(|low| cut(low, low.1));
            if low.is_some() && low > place {
                return (NOTHING, low);
            }
            let high = first.high.as_ref().map(|high| cut(high, !high.1));
            if high.is_none() || high > place {
                return (&first.residue, high);
            }
            self.rest = rest;
        }
        (NOTHING, None)
    }
}

impl Interval {
    /// Whether the interval ends where another one starts.
    fn meets(&self, low: Option<&(Decimal, bool)>) -> bool {
        match (&self.high, low) {
            (Some((high, excluded)), Some((low, other))) => high == low && excluded != other,
            _ => false,
        }
    }

    /// Goes on with what follows, if that is the same set: a point belongs to what is beside it if
    /// the formula says the same of it.
    fn join(&mut self, residue: &Residue, high: Option<&(Decimal, bool)>) -> bool {
        let joins = if self.residue == *residue {
            true
        } else if let (Some((end, true)), Some((point, false))) = (&self.high, high)
            && end == point
        {
            *residue == Residue::All && self.residue.holds(point)
        } else if let (Some((low, false)), Some((end, false))) = (&self.low, &self.high)
            && low == end
            && residue.holds(low)
        {
            // A single point before: it becomes the lower bound.
            self.residue = residue.clone();
            true
        } else {
            false
        };
        if joins {
            self.high = high.cloned();
        }
        joins
    }

    /// The least and the greatest whole number in it; `None` if they are too large to be told.
    fn integers(&self) -> Option<(Option<i64>, Option<i64>)> {
        let low = match &self.low {
            None => None,
            Some((bound, excluded)) => Some(ceiling(bound, *excluded)?),
        };
        let high = match &self.high {
            None => None,
            Some((bound, excluded)) => Some(-ceiling(&bound.negated(), *excluded)?),
        };
        Some((low, high))
    }
}

/// The least whole number that is at least a bound, or greater than it.
fn ceiling(bound: &Decimal, excluded: bool) -> Option<i64> {
    if bound.is_integer() {
        return bound.to_i64().map(|bound| bound + i64::from(excluded));
    }
    let (whole, _) = bound.plain();
    if whole.len() > 17 {
        return None;
    }
    let whole = whole.iter().fold(0i64, |sum, &digit| sum * 10 + i64::from(digit));
    Some(if bound.is_negative() { -whole } else { whole + 1 })
}
