//! Sets as lists of alternatives: what is common to sets of arrays and sets of objects.

use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::{Algebra, Result};
use crate::frontend::json_schema::limits::Limit;

/// So many alternatives are kept in one list, even if they are those of two put together.
const FEW: usize = 4;
/// More pairs of alternatives than these are only put together where they can't be kept apart.
const MOST_PAIRS: usize = 64;

/// A conjunction, one of several in a list.
pub(super) trait Alternative: Clone {
    /// Whether everything of the type belongs to it, and nothing has been evaluated.
    fn is_any(&self) -> bool;
    /// Whether it says that parts have been evaluated.
    fn is_annotated(&self) -> bool;
    /// How much there is to copy.
    fn size(&self) -> usize;
    /// The same without what has been evaluated.
    fn without_annotations(&self) -> Self;
    /// What holds for both.
    fn merge(&self, other: &Self) -> Self;
    /// Whether it is known that nothing belongs to it.
    fn is_empty(&self, algebra: &mut Algebra<'_>) -> Result<bool>;

    /// The alternative without what another one says already.
    fn news(&self, _said: &Self, _algebra: &mut Algebra<'_>) -> Result<Self> {
        Ok(self.clone())
    }

    /// What belongs to one of each of two lists, the two kept beside each other; `None` if that
    /// can't be said.
    fn beside(
        _left: &[Self],
        _right: &[Self],
        _algebra: &mut Algebra<'_>,
    ) -> Result<Option<Rc<[Self]>>> {
        Ok(None)
    }

    /// Whether it has lists that are kept beside it.
    fn has_conditions(&self) -> bool {
        false
    }

    /// Takes away alternatives that others include.
    fn reduce(alternatives: Vec<Self>) -> Vec<Self> {
        alternatives
    }
}

/// Adds what a list does not have yet, so that what is said twice is kept once.
pub(super) fn add_new<T: Clone + Eq + Hash>(to: &mut Vec<T>, from: &[T]) {
    /// Shorter lists are searched.
    const FEW: usize = 8;
    if from.len() <= 1 || to.len() <= FEW {
        for new in from {
            if !to.contains(new) {
                to.push(new.clone());
            }
        }
        return;
    }
    let known: FxHashSet<&T> = to.iter().collect();
    let new: Vec<T> = from.iter().filter(|new| !known.contains(new)).cloned().collect();
    to.extend(new);
}

/// A list of alternatives, as long as it may be.
pub(super) fn limited<T>(alternatives: Vec<T>, algebra: &Algebra<'_>) -> Result<Rc<[T]>> {
    check_count(alternatives.len(), algebra)?;
    Ok(alternatives.into())
}

/// Whether there may be so many alternatives.
pub(super) fn check_count(count: usize, algebra: &Algebra<'_>) -> Result<()> {
    let limits = &algebra.options.limits;
    let most = limits.get(Limit::Alternatives);
    if count <= most {
        return Ok(());
    }
    let message = format!("an object or array has more than {most} alternatives");
    let advice = "say the same with fewer alternatives side by side";
    Err(limits.exceeded(Limit::Alternatives, message, advice))
}

/// The alternatives that are not known to be empty.
pub(super) fn possible<T: Alternative>(
    alternatives: Vec<T>,
    algebra: &mut Algebra<'_>,
) -> Result<Rc<[T]>> {
    check_count(alternatives.len(), algebra)?;
    let mut kept = Vec::new();
    for alternative in alternatives {
        if !alternative.is_empty(algebra)? {
            kept.push(alternative);
        }
    }
    limited(kept, algebra)
}

/// What belongs to both sets.
pub(super) fn intersection<T: Alternative>(
    left: Rc<[T]>,
    right: Rc<[T]>,
    algebra: &mut Algebra<'_>,
) -> Result<Rc<[T]>> {
    match (&*left, &*right) {
        ([], _) => return Ok(left),
        (_, []) => return Ok(right),
        ([one], _) if one.is_any() => return Ok(right),
        (_, [one]) if one.is_any() => return Ok(left),
        ([one], [other]) => return Ok(Rc::new([one.merge(other)])),
        _ => {}
    }
    let pairs = left.len() * right.len();
    let has_conditions = |set: &[T]| matches!(set, [one] if one.has_conditions());
    if (pairs > MOST_PAIRS || has_conditions(&left) || has_conditions(&right))
        && let Some(set) = T::beside(&left, &right, algebra)?
    {
        return Ok(set);
    }
    let mut both = Vec::new();
    for one in &*left {
        for other in &*right {
            algebra.count_merge(one.size() + other.size())?;
            let merged = one.merge(&other.news(one, algebra)?);
            if !merged.is_empty(algebra)? {
                both.push(merged);
            }
        }
    }
    let both = T::reduce(both);
    if both.len() > FEW.max(left.len() + right.len())
        && pairs <= MOST_PAIRS
        && let Some(set) = T::beside(&left, &right, algebra)?
    {
        return Ok(set);
    }
    limited(both, algebra)
}

/// What belongs to either set.
pub(super) fn union<T: Alternative>(
    left: Rc<[T]>,
    right: Rc<[T]>,
    algebra: &Algebra<'_>,
) -> Result<Rc<[T]>> {
    if left.is_empty() {
        return Ok(right);
    }
    if right.is_empty() {
        return Ok(left);
    }
    // What has been evaluated is not to be lost.
    if !left.iter().chain(&*right).any(T::is_annotated) {
        for set in [&left, &right] {
            if set.iter().any(T::is_any) {
                return Ok(Rc::clone(set));
            }
        }
    }
    check_count(left.len() + right.len(), algebra)?;
    Ok(left.iter().chain(&*right).cloned().collect())
}

/// Whether something may belong to both sets.
pub(super) fn meet<T: Alternative>(
    left: &[T],
    right: &[T],
    algebra: &mut Algebra<'_>,
) -> Result<bool> {
    for one in left {
        for other in right {
            algebra.count_merge(one.size() + other.size())?;
            if !one.merge(other).is_empty(algebra)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The set without what has been evaluated.
pub(super) fn without_annotations<T: Alternative>(set: Rc<[T]>) -> Rc<[T]> {
    if set.iter().any(T::is_annotated) {
        set.iter().map(T::without_annotations).collect()
    } else {
        set
    }
}
