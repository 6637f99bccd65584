//! Conditions of a shape: what they say of each property, and which alternatives need it.
//!
//! Alternatives are numbered through all conditions of a shape, as in
//! [`Condition`].

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::algebra::{Algebra, Domain, Goal, Items, Properties, Result, Shape, Signed};
use super::Emitter;
use super::object::Slots;
use crate::frontend::json_schema::limits::Limit;
use crate::grammar::Condition;
use crate::index::ExprId;

/// For each alternative of a condition the numbers of the members that it needs.
pub(super) type Needs = Vec<Vec<u32>>;

/// No member has this number.
const IMPOSSIBLE: u32 = u32::MAX;

/// The conditions of a shape, without the numbers of members that are not known yet: only those of
/// properties that can't be there.
pub(super) fn needs(shape: &Shape, slots: &Slots) -> Vec<Needs> {
    let impossible = slots.iter().filter(|(_, slot)| slot.variants.is_empty());
    let impossible: Vec<&Rc<str>> = impossible.map(|(name, _)| name).collect();
    let needs = |alternative: &Shape| {
        let required = alternative.required.iter().filter(|name| impossible.contains(name));
        required.map(|_| IMPOSSIBLE).collect()
    };
    shape.conditions.iter().map(|condition| condition.iter().map(needs).collect()).collect()
}

/// As the grammar has it.
pub(super) fn condition(needs: Needs) -> Condition {
    Condition { needs: needs.into_iter().map(Vec::into_boxed_slice).collect() }
}

/// What the alternatives of a shape say, by property.
#[derive(Default)]
pub(super) struct Said {
    by_name: FxHashMap<Rc<str>, Vec<(u32, Signed)>>,
    needed_by: FxHashMap<Rc<str>, Vec<u32>>,
}

impl Said {
    pub(super) fn new(shape: &Shape) -> Self {
        let mut said = Self::default();
        let alternatives = shape.conditions.iter().flat_map(|condition| condition.iter());
        for (number, alternative) in (0..).zip(alternatives) {
            for (name, value) in &alternative.named {
                said.by_name.entry(Rc::clone(name)).or_default().push((number, *value));
            }
            for name in &alternative.required {
                said.needed_by.entry(Rc::clone(name)).or_default().push(number);
            }
        }
        said
    }

    /// What is said of a property's value, and by which alternatives, which are in order.
    pub(super) fn of(&self, name: &str) -> Option<&[(u32, Signed)]> {
        self.by_name.get(name).map(|said| &**said)
    }

    /// The alternatives that need a property, in order.
    pub(super) fn needed_by(&self, name: &str) -> Vec<u32> {
        self.needed_by.get(name).cloned().unwrap_or_default()
    }
}

/// Some of the values of a property.
pub(super) struct Cell {
    /// What they are.
    pub(super) parts: Vec<Signed>,
    /// What they are not, as far as it is said: so that no value is in two cells.
    pub(super) not: Vec<Signed>,
    /// The alternatives that say something else of them.
    pub(super) excludes: Vec<u32>,
}

impl Emitter<'_> {
    /// The objects of a shape with conditions, all alternatives put together.
    pub(super) fn put_together(&mut self, shape: &Shape, depth: u32) -> Result<Option<ExprId>> {
        let mut alternatives = Vec::new();
        for shape in self.algebra.put_together(shape)? {
            alternatives.extend(self.object(&shape, depth)?);
        }
        Ok(self.one_of(alternatives))
    }

    /// The values of a property by what alternatives say of them.
    pub(super) fn cells_of_values(
        &mut self,
        parts: &[Signed],
        said: &[(u32, Signed)],
    ) -> Result<Vec<Cell>> {
        let mut by_value: Vec<(Vec<Signed>, Vec<u32>)> = Vec::new();
        for of_one in said.chunk_by(|a, b| a.0 == b.0) {
            let values: Vec<Signed> = of_one.iter().map(|&(_, value)| value).collect();
            match by_value.iter_mut().find(|(known, _)| *known == values) {
                Some((_, alternatives)) => alternatives.push(of_one[0].0),
                None => by_value.push((values, vec![of_one[0].0])),
            }
        }
        let mut cells = vec![Cell { parts: parts.to_vec(), not: vec![], excludes: vec![] }];
        for (values, alternatives) in by_value {
            let mut split = Vec::new();
            for cell in cells {
                self.split(cell, &values, &alternatives, &mut split)?;
            }
            cells = split;
            if cells.len() > self.limit(Limit::Alternatives) {
                let message = "kinds of values of one property that conditions tell apart";
                return Err(self.more_than(Limit::Alternatives, message));
            }
        }
        for cell in &mut cells {
            cell.excludes.sort_unstable();
        }
        Ok(cells)
    }

    /// A cell's values for which something holds, and the others, for which alternatives do not.
    fn split(
        &mut self,
        cell: Cell,
        values: &[Signed],
        alternatives: &[u32],
        split: &mut Vec<Cell>,
    ) -> Result<()> {
        let Cell { parts, not, excludes } = cell;
        let algebra = &mut self.algebra;
        let without = [&excludes, alternatives].concat();
        if algebra.is_nothing([&parts, &not, values])? {
            split.push(Cell { parts, not, excludes: without });
            return Ok(());
        }
        let no = match *values {
            [value] => Some(Signed { positive: !value.positive, ..value }),
            _ => None,
        };
        let have = match no {
            Some(no) => !algebra.is_nothing([&parts, &not, &[no]])?,
            None => true,
        };
        if !have {
            // All of the cell's values are such.
            split.push(Cell { parts, not, excludes });
            return Ok(());
        }
        let mut known = Vec::new();
        for &other in &not {
            let other_holds = Signed { positive: !other.positive, ..other };
            if !algebra.is_nothing([values, &[other_holds], &[]])? {
                known.push(other);
            }
        }
        split.push(Cell { parts: [&parts, values].concat(), not: known, excludes });
        let mut not = not;
        if let Some(no) = no
            && algebra.is_small(no)?
        {
            not.push(no);
        }
        split.push(Cell { parts, not, excludes: without });
        Ok(())
    }
}

impl Algebra<'_> {
    /// Whether it is known that no value is all of this.
    fn is_nothing(&mut self, parts: [&[Signed]; 3]) -> Result<bool> {
        let goal: Option<Goal> = self.goal(parts.into_iter().flatten().copied())?;
        match goal {
            Some(goal) => self.is_empty_goal(&goal),
            None => Ok(true),
        }
    }

    /// Whether a schema or its negation says little of arrays and objects: negations of what says
    /// much of them are large, and only keep cells apart, which need not be.
    fn is_small(&mut self, part: Signed) -> Result<bool> {
        Ok(self.evaluate_all::<Items>(&[part])?.is_single()
            && self.evaluate_all::<Properties>(&[part])?.is_single())
    }
}
