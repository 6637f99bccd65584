//! Sets of numbers: formulas, and their normal form of intervals.
//!
//! Between two neighbouring bounds of a formula only its multiples tell numbers apart. A set is
//! therefore a list of intervals, ascending, each with a formula over multiples.

use std::rc::Rc;

use super::decimal::Decimal;
use super::residue::Residue;

/// A set of numbers as a formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::frontend::json_schema) enum NumberSet {
    All,
    Nothing,
    /// Whole numbers.
    Integer,
    /// From a bound on; exclusive: without the bound.
    Minimum {
        bound: Decimal,
        exclusive: bool,
    },
    /// Up to a bound.
    Maximum {
        bound: Decimal,
        exclusive: bool,
    },
    /// Multiples of a number greater than 0.
    MultipleOf(Decimal),
    /// These numbers: ascending, each once.
    Values(Rc<[Decimal]>),
    And(Rc<[NumberSet]>),
    Or(Rc<[NumberSet]>),
    Not(Rc<NumberSet>),
}

/// Numbers between two bounds for which a formula over multiples holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// The lower bound and whether it is excluded.
    pub(super) low: Option<(Decimal, bool)>,
    /// The upper bound and whether it is excluded.
    pub(super) high: Option<(Decimal, bool)>,
    pub(super) residue: Residue,
}

impl NumberSet {
    /// The numbers in all of the sets.
    pub(in crate::frontend::json_schema) fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::All => {}
                Self::Nothing => return Self::Nothing,
                Self::And(inner) => flat.extend(inner.iter().cloned()),
                part if flat.contains(&part) => {}
                part => flat.push(part),
            }
        }
        match flat.len() {
            0 => Self::All,
            1 => flat.swap_remove(0),
            _ => Self::And(flat.into()),
        }
    }

    /// The numbers in any of the sets.
    pub(in crate::frontend::json_schema) fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let (mut flat, mut values) = (Vec::new(), Vec::new());
        let mut add = |part: Self| match part {
            Self::Values(more) => values.extend_from_slice(&more),
            part => flat.push(part),
        };
        for part in parts {
            match part {
                Self::Nothing => {}
                Self::All => return Self::All,
                Self::Or(inner) => inner.iter().cloned().for_each(&mut add),
                part => add(part),
            }
        }
        if !values.is_empty() {
            flat.push(Self::of(values));
        }
        match flat.len() {
            0 => Self::Nothing,
            1 => flat.swap_remove(0),
            _ => Self::Or(flat.into()),
        }
    }

    /// These numbers.
    pub(in crate::frontend::json_schema) fn of(mut values: Vec<Decimal>) -> Self {
        values.sort_unstable();
        values.dedup();
        if values.is_empty() { Self::Nothing } else { Self::Values(values.into()) }
    }

    /// All other numbers.
    pub(in crate::frontend::json_schema) fn not(set: Self) -> Self {
        match set {
            Self::All => Self::Nothing,
            Self::Nothing => Self::All,
            Self::Not(inner) => (*inner).clone(),
            Self::Minimum { bound, exclusive } => Self::Maximum { bound, exclusive: !exclusive },
            Self::Maximum { bound, exclusive } => Self::Minimum { bound, exclusive: !exclusive },
            set => Self::Not(Rc::new(set)),
        }
    }

    /// Whether a number belongs to it.
    pub(super) fn contains(&self, number: &Decimal) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Integer => number.is_integer(),
            Self::Minimum { bound, exclusive: true } => number > bound,
            Self::Minimum { bound, exclusive: false } => number >= bound,
            Self::Maximum { bound, exclusive: true } => number < bound,
            Self::Maximum { bound, exclusive: false } => number <= bound,
            Self::MultipleOf(step) => super::residue::is_multiple(number, step),
            Self::Values(values) => values.binary_search(number).is_ok(),
            Self::And(parts) => parts.iter().all(|part| part.contains(number)),
            Self::Or(parts) => parts.iter().any(|part| part.contains(number)),
            Self::Not(part) => !part.contains(number),
        }
    }

    /// Whether it is known that no number belongs to it. A "no" may be wrong where it hangs on
    /// multiples.
    pub(in crate::frontend::json_schema) fn is_empty(&self) -> bool {
        self.intervals().iter().all(|interval| {
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

    /// The set as intervals, ascending, none of them plainly empty.
    pub(super) fn intervals(&self) -> Vec<Interval> {
        let mut points = Vec::new();
        self.collect_points(&mut points);
        points.sort_unstable();
        points.dedup();
        // The open intervals between the points, and the points: index 2i + 1 is point i.
        let mut found: Vec<Interval> = Vec::new();
        for index in 0..=2 * points.len() {
            let at = index / 2;
            let is_point = index % 2 == 1;
            let residue = if is_point {
                if self.contains(&points[at]) { Residue::All } else { Residue::Nothing }
            } else {
                self.between(&points, at)
            };
            let (low, high) = if is_point {
                (Some((points[at].clone(), false)), Some((points[at].clone(), false)))
            } else {
                let low = at.checked_sub(1).map(|at| (points[at].clone(), true));
                (low, points.get(at).map(|point| (point.clone(), true)))
            };
            if let Some(last) = found.last_mut()
                && last.meets(low.as_ref())
                && last.join(&residue, is_point, high.clone())
            {
                continue;
            }
            if residue != Residue::Nothing {
                found.push(Interval { low, high, residue });
            }
        }
        found
    }

    fn collect_points(&self, points: &mut Vec<Decimal>) {
        match self {
            Self::Minimum { bound, .. } | Self::Maximum { bound, .. } => points.push(bound.clone()),
            Self::Values(values) => points.extend_from_slice(values),
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.collect_points(points));
            }
            Self::Not(part) => part.collect_points(points),
            Self::All | Self::Nothing | Self::Integer | Self::MultipleOf(_) => {}
        }
    }

    /// What is left of the formula above `points[at - 1]` and below `points[at]`.
    fn between(&self, points: &[Decimal], at: usize) -> Residue {
        let above = |bound: &Decimal| at > 0 && points[at - 1] >= *bound;
        let truth = |holds: bool| if holds { Residue::All } else { Residue::Nothing };
        match self {
            Self::All => Residue::All,
            Self::Nothing | Self::Values(_) => Residue::Nothing,
            Self::Integer => Residue::multiple_of(&Decimal::from_i64(1)),
            Self::Minimum { bound, .. } => truth(above(bound)),
            Self::Maximum { bound, .. } => truth(!above(bound)),
            Self::MultipleOf(step) => Residue::multiple_of(step),
            Self::And(parts) => {
                Residue::and(parts.iter().map(|part| part.between(points, at)).collect())
            }
            Self::Or(parts) => {
                Residue::or(parts.iter().map(|part| part.between(points, at)).collect())
            }
            Self::Not(part) => part.between(points, at).negated(),
        }
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
    fn join(&mut self, residue: &Residue, is_point: bool, high: Option<(Decimal, bool)>) -> bool {
        let joins = if is_point {
            high.as_ref()
                .is_some_and(|(point, _)| *residue == Residue::All && self.residue.holds(point))
        } else if self.residue == *residue {
            true
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
            self.high = high;
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
