//! Lists of alternatives that are kept beside each other instead of being put together.
//!
//! Putting ten lists of two alternatives together gives a thousand alternatives. Where they say
//! something of single properties only (that one is there, is not there, has a value for which a
//! schema holds) a shape keeps the lists as conditions: of each one alternative holds. What is
//! common to the alternatives of a list is said by the shape itself.
//!
//! A shape with conditions has one order of properties for all alternatives. Where they disagree on
//! it and are few, [`Algebra::put_together`] gives each its own.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::alternatives::{Alternative, check_count};
use super::names::{Known, Names};
use super::objects::Shape;
use super::{Algebra, Result, Signed};

/// Where alternatives disagree on the order of properties, so many have each its own.
const MOST_OWN_ORDERS: usize = 64;

/// Alternatives of which one holds. They say something of `named` and `required` properties, and
/// which names have been evaluated if they hold, and nothing else.
pub(in crate::frontend::json_schema) type Condition = Rc<[Shape]>;

/// Adds conditions that are not there yet.
pub(super) fn add_conditions(to: &mut Vec<Condition>, from: &[Condition]) {
    for new in from {
        if !to.iter().any(|known| Rc::ptr_eq(known, new)) {
            to.push(Rc::clone(new));
        }
    }
}

/// What belongs to a shape of each of two lists: one shape with conditions, or one for each of a
/// list that can't be a condition. `None` if neither list can be one.
pub(super) fn beside(
    left: &[Shape],
    right: &[Shape],
    algebra: &mut Algebra<'_>,
) -> Result<Option<Rc<[Shape]>>> {
    // Whether an object is closed then depends on the alternative.
    if !algebra.options.additional_properties {
        return Ok(None);
    }
    let ((left, one), (right, other)) = match (common(left), common(right)) {
        (Some(left), Some(right)) => (left, right),
        (None, Some(_)) if right.len() > 1 => {
            return each(left, algebra, |one, algebra| beside(one, right, algebra));
        }
        (Some(_), None) if left.len() > 1 => {
            return each(right, algebra, |one, algebra| beside(left, one, algebra));
        }
        _ => return Ok(None),
    };
    let mut shape = left.merge(&right);
    for alternatives in [one, other] {
        let says_nothing =
            alternatives.iter().any(Shape::is_any) && !alternatives.iter().any(Shape::is_annotated);
        if alternatives.is_empty() || says_nothing {
            continue;
        }
        let mut possible = Vec::new();
        for alternative in alternatives {
            algebra.count_merge(shape.size() + alternative.size())?;
            if !plain(&shape).merge(&alternative).is_empty(algebra)? {
                possible.push(alternative);
            }
        }
        match &possible[..] {
            [] => return Ok(Some(Rc::new([]))),
            [one] => shape = shape.merge(one),
            _ => shape.conditions.push(possible.into()),
        }
    }
    Ok(Some(Rc::new([shape])))
}

/// Each shape of a list with another list beside it, on the side where it belongs: what is on the
/// left comes first in the order of properties.
fn each(
    shapes: &[Shape],
    algebra: &mut Algebra<'_>,
    with_others: impl Fn(&[Shape], &mut Algebra<'_>) -> Result<Option<Rc<[Shape]>>>,
) -> Result<Option<Rc<[Shape]>>> {
    let mut all = Vec::new();
    for shape in shapes {
        match with_others(std::slice::from_ref(shape), algebra)? {
            Some(shapes) => all.extend(shapes.iter().cloned()),
            None => return Ok(None),
        }
    }
    check_count(all.len(), algebra)?;
    Ok(Some(all.into()))
}

/// The conditions without what has been evaluated.
pub(super) fn without_evaluated(conditions: &[Condition]) -> Vec<Condition> {
    let without = |condition: &Condition| {
        if condition.iter().any(Shape::is_annotated) {
            condition.iter().map(Shape::without_annotations).collect()
        } else {
            Rc::clone(condition)
        }
    };
    conditions.iter().map(without).collect()
}

/// A shape without its conditions.
fn plain(shape: &Shape) -> Shape {
    Shape { conditions: Vec::new(), ..shape.clone() }
}

/// What all shapes of a list say, and what each says beside that, if it is no more than a condition
/// can say; no alternatives for a list of one.
fn common(shapes: &[Shape]) -> Option<(Shape, Vec<Shape>)> {
    let [first, others @ ..] = shapes else { return None };
    if others.is_empty() {
        return Some((first.clone(), Vec::new()));
    }
    let is_common = |other: &Shape| {
        other.names.is_empty()
            && other.exists.is_empty()
            && other.evaluated.iter().all(|names| matches!(names, Names::One(_)))
            && (other.min, other.max, other.closed) == (first.min, first.max, first.closed)
            && other.wide.len() == first.wide.len()
            && other
                .wide
                .iter()
                .zip(&first.wide)
                .all(|(one, other)| one.1 == other.1 && one.0.is_plainly(&other.0))
            && other.conditions.len() == first.conditions.len()
            && other.conditions.iter().zip(&first.conditions).all(|(a, b)| Rc::ptr_eq(a, b))
    };
    if !shapes.iter().all(is_common) {
        return None;
    }
    let mut named: FxHashMap<&(Rc<str>, Signed), usize> = FxHashMap::default();
    let mut required: FxHashMap<&Rc<str>, usize> = FxHashMap::default();
    for shape in shapes {
        shape.named.iter().for_each(|entry| *named.entry(entry).or_default() += 1);
        shape.required.iter().for_each(|name| *required.entry(name).or_default() += 1);
    }
    let says = |entry: &(Rc<str>, Signed)| named[entry] == shapes.len();
    let requires = |name: &Rc<str>| required[name] == shapes.len();
    let part = |shape: &Shape, common: bool| {
        let named = shape.named.iter().filter(|entry| says(entry) == common).cloned();
        let required = shape.required.iter().filter(|name| requires(name) == common).cloned();
        (named.collect(), required.collect())
    };
    let (own, needed) = part(first, true);
    let base = Shape { named: own, required: needed, evaluated: Vec::new(), ..first.clone() };
    let rest = |shape: &Shape| {
        let (named, required) = part(shape, false);
        Shape { named, required, evaluated: shape.evaluated.clone(), ..Shape::default() }
    };
    Some((base, shapes.iter().map(rest).collect()))
}

/// The names of some lists in an order that agrees with each list, if there is one; otherwise in
/// the order in which they first come.
fn in_one_order(lists: &[Vec<Rc<str>>]) -> Vec<Rc<str>> {
    let mut number: FxHashMap<&Rc<str>, usize> = FxHashMap::default();
    let mut names: Vec<&Rc<str>> = Vec::new();
    let mut edges: FxHashSet<(usize, usize)> = FxHashSet::default();
    for list in lists {
        let mut before = None;
        for name in list {
            let own = *number.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
            edges.extend(before.map(|before| (before, own)));
            before = Some(own);
        }
    }
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    let mut waits_for = vec![0; names.len()];
    for (before, own) in edges {
        after[before].push(own);
        waits_for[own] += 1;
    }
    let mut ready: BTreeSet<usize> = (0..names.len()).filter(|&own| waits_for[own] == 0).collect();
    let mut order = Vec::new();
    while let Some(own) = ready.pop_first() {
        order.push(own);
        for &next in &after[own] {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.insert(next);
            }
        }
    }
    if order.len() < names.len() {
        order = (0..names.len()).collect();
    }
    order.into_iter().map(|own| Rc::clone(names[own])).collect()
}

impl Algebra<'_> {
    /// The names that a shape and its conditions give, in the order in which it has its properties;
    /// without those that are only there to be forbidden.
    pub(in crate::frontend::json_schema) fn names_in_order(
        &mut self,
        shape: &Shape,
    ) -> Vec<Rc<str>> {
        let never = Signed::yes(self.never());
        let named = |shape: &Shape| -> Vec<Rc<str>> {
            let named = shape.named.iter().filter(|(_, value)| *value != never);
            named.map(|(name, _)| Rc::clone(name)).collect()
        };
        let alternatives = || shape.conditions.iter().flat_map(|condition| condition.iter());
        let lists = [
            vec![named(shape)],
            alternatives().map(named).collect(),
            vec![shape.required.clone()],
            alternatives().map(|alternative| alternative.required.clone()).collect(),
        ];
        let mut seen: FxHashSet<Rc<str>> = FxHashSet::default();
        let names = lists.into_iter().flat_map(|lists| in_one_order(&lists));
        names.filter(|name| seen.insert(Rc::clone(name))).collect()
    }

    /// A shape whose conditions say only what the shape itself leaves open: without alternatives
    /// that are known to be impossible beside it, and without what it says already. `None` if no
    /// alternative of some condition can hold.
    pub(in crate::frontend::json_schema) fn settled(
        &mut self,
        shape: &Shape,
    ) -> Result<Option<Shape>> {
        let mut settled = plain(shape);
        let mut conditions = Vec::new();
        for condition in &shape.conditions {
            let mut possible = Vec::new();
            for alternative in &**condition {
                self.count_merge(settled.size() + alternative.size())?;
                let mut news = alternative.without_annotations().news(&settled, self)?;
                if settled.merge(&news).is_empty(self)? {
                    continue;
                }
                news.required.retain(|name| !settled.required.contains(name));
                possible.push(news);
            }
            match &possible[..] {
                [] => return Ok(None),
                some if some.iter().any(Shape::is_any) => {}
                [one] => settled = settled.merge(one),
                _ => conditions.push(Shape::reduce(possible).into()),
            }
        }
        Ok(Some(Shape { conditions, ..settled }))
    }

    /// Names that only alternatives of a shape's conditions have evaluated, with those
    /// alternatives; names that the same ones have evaluated are together.
    pub(super) fn evaluated_if(&mut self, shape: &Shape) -> Result<Vec<(Vec<Rc<str>>, Condition)>> {
        let alternatives: Vec<&Shape> =
            shape.conditions.iter().flat_map(|condition| condition.iter()).collect();
        let mut order: Vec<&Rc<str>> = Vec::new();
        let mut by_name: FxHashMap<&Rc<str>, Vec<usize>> = FxHashMap::default();
        for (number, alternative) in alternatives.iter().enumerate() {
            self.count_merge(alternative.size())?;
            for names in &alternative.evaluated {
                let Names::One(name) = names else { continue };
                let numbers = by_name.entry(name).or_default();
                if numbers.is_empty() {
                    order.push(name);
                }
                numbers.push(number);
            }
        }
        let mut groups: Vec<(Vec<Rc<str>>, Vec<usize>)> = Vec::new();
        let mut known: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        for name in order {
            let mut evaluated = false;
            for names in &shape.evaluated {
                evaluated = evaluated || names.contains(&Known::Name(name), self)?;
            }
            if evaluated {
                continue;
            }
            let numbers = by_name.remove(name).unwrap_or_default();
            let group = *known.entry(numbers).or_insert_with_key(|numbers| {
                groups.push((Vec::new(), numbers.clone()));
                groups.len() - 1
            });
            groups[group].0.push(Rc::clone(name));
        }
        let with_alternatives = |(names, numbers): (Vec<Rc<str>>, Vec<usize>)| {
            let shapes = numbers.iter().map(|&number| alternatives[number].without_annotations());
            (names, shapes.collect())
        };
        Ok(groups.into_iter().map(with_alternatives).collect())
    }

    /// Whether the alternatives of a shape's conditions, put together, would be few and not all
    /// have their properties in the order that the shape has them in.
    pub(in crate::frontend::json_schema) fn has_own_orders(
        &mut self,
        shape: &Shape,
    ) -> Result<bool> {
        let ways = shape.conditions.iter().map(|condition| condition.len());
        if ways.fold(1, usize::saturating_mul) > MOST_OWN_ORDERS {
            return Ok(false);
        }
        let order = self.names_in_order(shape);
        let place: FxHashMap<&str, usize> =
            order.iter().enumerate().map(|(place, name)| (&**name, place)).collect();
        let own = plain(shape);
        for alternative in shape.conditions.iter().flat_map(|condition| condition.iter()) {
            self.count_merge(own.size() + alternative.size())?;
            let names = self.names_in_order(&own.merge(alternative));
            if !names.iter().map(|name| place[&**name]).is_sorted() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether it is known that no alternative of some condition can hold.
    pub(super) fn is_condition_empty(&mut self, shape: &Shape) -> Result<bool> {
        if shape.conditions.is_empty() {
            return Ok(false);
        }
        let own = plain(shape);
        for condition in &shape.conditions {
            let mut possible = false;
            for alternative in &**condition {
                self.count_merge(own.size() + alternative.size())?;
                possible = !own.merge(alternative).is_empty(self)?;
                if possible {
                    break;
                }
            }
            if !possible {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The shapes that a shape with conditions stands for, without any.
    pub(in crate::frontend::json_schema) fn put_together(
        &mut self,
        shape: &Shape,
    ) -> Result<Vec<Shape>> {
        let mut all = vec![plain(shape)];
        for condition in &shape.conditions {
            let mut longer = Vec::new();
            for one in &all {
                for alternative in &**condition {
                    self.count_merge(one.size() + alternative.size())?;
                    let both = one.merge(&alternative.news(one, self)?);
                    if !both.is_empty(self)? {
                        longer.push(both);
                    }
                }
            }
            all = Shape::reduce(longer);
            check_count(all.len(), self)?;
        }
        Ok(all)
    }
}
