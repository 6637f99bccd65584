//! All values of a schema, where they are few: what `uniqueItems` can tell apart.
//!
//! Exact: either all values, or `None`. Objects have their properties in the order of the grammar's
//! texts, so that equal ones may come with their properties in different orders; [`canonical`] is
//! what they have in common.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::super::algebra::{
    Flags, Goal, Items, Known, List, Numbers, Properties, Result, Shape, Signed, Strings,
};
use super::Emitter;
use crate::frontend::json_schema::model::Value;

/// How many values there may be.
pub(super) const MAX_VALUES: usize = 512;
/// How many schemas are looked into, one inside the other.
const MAX_DEPTH: u32 = 16;
/// How many in all.
const MAX_LOOKS: u32 = 2_000;

/// An object's properties.
type Members = Vec<(Rc<str>, Value)>;

impl Emitter<'_> {
    /// The values of a goal, if they are few.
    pub(super) fn finite(&mut self, goal: &Goal) -> Result<Option<Vec<Value>>> {
        self.all_values(goal, 0, &mut 0)
    }

    fn all_values(
        &mut self,
        goal: &Goal,
        depth: u32,
        looks: &mut u32,
    ) -> Result<Option<Vec<Value>>> {
        *looks += 1;
        if depth > MAX_DEPTH || *looks > MAX_LOOKS {
            return Ok(None);
        }
        let algebra = &mut self.algebra;
        let flags = algebra.evaluate_all::<Flags>(goal)?;
        let mut values: Vec<Value> = flags.members().map(|(value, _)| value).collect();
        let numbers = algebra.evaluate_all::<Numbers>(goal)?;
        if !numbers.0.is_nothing() {
            let Some(numbers) = numbers.0.values(MAX_VALUES) else { return Ok(None) };
            values.extend(numbers.into_iter().map(Value::Number));
        }
        let strings = algebra.evaluate_all::<Strings>(goal)?;
        let Some(words) = strings.words(MAX_VALUES, algebra)? else { return Ok(None) };
        values.extend(words.iter().cloned().map(Value::String));
        for list in &*self.algebra.evaluate_all::<Items>(goal)?.0 {
            let Some(arrays) = self.all_arrays(list, depth, looks)? else { return Ok(None) };
            values.extend(arrays);
        }
        for shape in &*self.algebra.evaluate_all::<Properties>(goal)?.0 {
            for shape in self.algebra.put_together(shape)? {
                let Some(found) = self.all_objects(&shape, depth, looks)? else { return Ok(None) };
                values.extend(found);
            }
        }
        // Alternatives may have some in common.
        let mut seen = FxHashSet::default();
        values.retain(|value| seen.insert(value.clone()));
        Ok((values.len() <= MAX_VALUES).then_some(values))
    }

    /// The same for what must hold at once.
    fn values_of(
        &mut self,
        parts: Vec<Signed>,
        depth: u32,
        looks: &mut u32,
    ) -> Result<Option<Vec<Value>>> {
        match self.algebra.goal(parts)? {
            Some(goal) => self.all_values(&goal, depth + 1, looks),
            None => Ok(Some(Vec::new())),
        }
    }

    fn all_arrays(
        &mut self,
        list: &List,
        depth: u32,
        looks: &mut u32,
    ) -> Result<Option<Vec<Value>>> {
        if !list.contains.is_empty() {
            return Ok(None);
        }
        let places = self.places(list)?;
        let mut longest: Vec<Vec<Value>> = vec![Vec::new()];
        let mut all = Vec::new();
        for place in 0.. {
            if place as u64 >= list.min {
                all.extend(longest.iter().map(|array| Value::Array(array.as_slice().into())));
            }
            if list.max.is_some_and(|max| place as u64 >= max) {
                break;
            }
            let at = if place < places { place } else { usize::MAX - 1 };
            let values = self.values_of(Self::at(list, at), depth, looks)?;
            let Some(values) = values else { return Ok(None) };
            let mut longer = Vec::new();
            for array in &longest {
                for value in &values {
                    let same = |other| canonical(other) == canonical(value);
                    if !list.unique || !array.iter().any(same) {
                        longer.push(array.iter().chain([value]).cloned().collect());
                    }
                }
                // Where items go on for ever this ends it.
                if all.len() + longer.len() > MAX_VALUES {
                    return Ok(None);
                }
            }
            longest = longer;
            if longest.is_empty() {
                break;
            }
        }
        Ok(Some(all))
    }

    fn all_objects(
        &mut self,
        shape: &Shape,
        depth: u32,
        looks: &mut u32,
    ) -> Result<Option<Vec<Value>>> {
        if !shape.exists.is_empty() {
            return Ok(None);
        }
        let (names, _) = self.property_names(shape)?;
        if !self.is_closed(shape, depth, looks)? {
            return Ok(None);
        }
        let mut objects: Vec<Members> = vec![Vec::new()];
        for name in names {
            let named = shape.named.iter().filter(|(known, _)| *known == name);
            let mut parts: Vec<Signed> = named.map(|&(_, value)| value).collect();
            parts.extend(self.algebra.wide_values(shape, &Known::Name(&name))?);
            let values = if self.algebra.is_name_allowed(shape, &name)? {
                self.values_of(parts, depth, looks)?
            } else {
                Some(Vec::new())
            };
            let Some(values) = values else { return Ok(None) };
            let mut longer = Vec::new();
            for object in objects {
                for value in &values {
                    let member = (Rc::clone(&name), value.clone());
                    longer.push(object.iter().cloned().chain([member]).collect());
                }
                if !shape.required.contains(&name) {
                    longer.push(object);
                }
                if longer.len() > MAX_VALUES {
                    return Ok(None);
                }
            }
            objects = longer;
        }
        let count = |object: &Members| object.len() as u64;
        objects.retain(|object| {
            count(object) >= shape.min && shape.max.is_none_or(|max| count(object) <= max)
        });
        Ok(Some(objects.into_iter().map(|object| Value::Object(object.into())).collect()))
    }

    /// Whether it is known that an object has no other properties than those with names.
    fn is_closed(&mut self, shape: &Shape, depth: u32, looks: &mut u32) -> Result<bool> {
        if shape.max == Some(0)
            || shape.names.iter().any(|names| matches!(names, Strings::Words(_)))
        {
            return Ok(true);
        }
        let Some(patterns) = self.open_patterns(shape)? else { return Ok(false) };
        let closed = shape.is_closed_by_option();
        for (all, _) in self.cells(&patterns)? {
            if closed && all.is_empty() {
                continue;
            }
            let parts = self.algebra.wide_values(shape, &Known::Open(&all))?;
            let values = self.values_of(parts, depth, looks)?;
            if values.is_none_or(|values| !values.is_empty()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A value in the form that all equal ones have.
pub(super) fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        Value::Object(members) => {
            let mut members: Members =
                members.iter().map(|(name, value)| (Rc::clone(name), canonical(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into())
        }
        scalar => scalar.clone(),
    }
}
