//! `uniqueItems`, as far as a grammar can tell: over a finite set of items.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::algebra::{Goal, List, Result, Signed};
use super::Emitter;
use super::finite::canonical;
use crate::frontend::json_schema::model::Value;
use crate::grammar::{Member, MemberOrder, Members};
use crate::index::ExprId;

/// How many arrays may be listed one by one.
const MAX_ARRAYS: usize = 2_000;

impl Emitter<'_> {
    /// The arrays of a list without equal items; `None` if they are those without that condition,
    /// because it can't be enforced (then that is noted) or because it follows from the rest.
    pub(super) fn unique(&mut self, list: &List, depth: u32) -> Result<Option<ExprId>> {
        let own = self.places(list)?;
        let tail = self.algebra.goal(Self::at(list, usize::MAX - 1))?;
        let mut places = Vec::new();
        for place in 0..own {
            match self.algebra.goal(Self::at(list, place))? {
                Some(goal) => places.push(goal),
                None => break,
            }
        }
        let ends = places.len() < own
            || tail.is_none()
            || {
                let tail = tail.clone().unwrap_or_else(|| Rc::new([]));
                self.algebra.is_empty_goal(&tail)?
            }
            || list.max.is_some_and(|max| max <= places.len() as u64);
        if ends {
            if let Some(max) = list.max {
                places.truncate(usize::try_from(max).unwrap_or(usize::MAX));
            }
            if self.are_apart(&places)? {
                return Ok(None);
            }
            if list.contains.is_empty()
                && let Some(arrays) = self.listed(list, &places, depth)?
            {
                return Ok(Some(arrays));
            }
        } else if let Some(tail) = tail
            && places.iter().all(|place| *place == tail)
            && let Some(arrays) = self.any_order(list, &tail, depth)?
        {
            return Ok(Some(arrays));
        }
        if let Some(schema) = &list.unique_at {
            let reason = "no grammar can tell that items differ, but for at most 512 values";
            self.algebra.refuse(schema, "uniqueItems", reason);
        }
        Ok(None)
    }

    /// Arrays with a body, and the empty one; an expression without any text if there are none.
    fn arrays(&mut self, body: Option<ExprId>, empty: bool, depth: u32) -> ExprId {
        match self.bracketed(body, empty, depth) {
            Some(arrays) => arrays,
            None => self.algebra.builder.alt(&[]),
        }
    }

    /// Whether no two of some goals have a value in common.
    fn are_apart(&mut self, goals: &[Goal]) -> Result<bool> {
        if goals.len() > 16 {
            return Ok(false);
        }
        for (index, goal) in goals.iter().enumerate() {
            for other in &goals[..index] {
                let both: Vec<Signed> = goal.iter().chain(&**other).copied().collect();
                if let Some(both) = self.algebra.goal(both)?
                    && !self.algebra.is_empty_goal(&both)?
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Items of one finite set, each at most once.
    fn any_order(&mut self, list: &List, goal: &Goal, depth: u32) -> Result<Option<ExprId>> {
        let Some(values) = self.finite(goal)? else { return Ok(None) };
        // What belongs to a kind is only known of these for sure.
        let is_scalar = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
        if !list.contains.is_empty() && !values.iter().all(is_scalar) {
            return Ok(None);
        }
        // Marks say that there is one of a kind, not how many.
        let countable = |min: u64, max: Option<u64>| min <= 1 && max.is_none();
        if !list.contains.iter().all(|kind| countable(kind.min, kind.max) && kind.from == 0) {
            return Ok(None);
        }
        let kinds: Vec<Signed> =
            list.contains.iter().filter(|kind| kind.min > 0).map(|kind| kind.value).collect();
        let mut items = Vec::new();
        // Equal ones may be written in several ways.
        let mut numbers: FxHashMap<Value, u32> = FxHashMap::default();
        for value in &values {
            let next = numbers.len() as u32;
            let once = *numbers.entry(canonical(value)).or_insert(next);
            let only = self.algebra.only(value);
            let Some(expr) = self.value([Signed { schema: only, positive: true }], depth + 1)?
            else {
                continue;
            };
            let mut marks = Vec::new();
            for (mark, &kind) in kinds.iter().enumerate() {
                let both = [kind, Signed { schema: only, positive: true }];
                if let Some(goal) = self.algebra.goal(both)?
                    && !self.algebra.is_empty_goal(&goal)?
                {
                    marks.push(mark as u32);
                }
            }
            items.push(Member {
                expr,
                once: Some(once as u32),
                marks: marks.into(),
                excludes: [].into(),
            });
        }
        let clip = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let separator = self.layout(depth).comma;
        let body = (!items.is_empty()).then(|| {
            self.algebra.builder.members(Members {
                order: MemberOrder::Any,
                items: items.into(),
                separator,
                marks: kinds.len() as u32,
                min: clip(list.min).max(1),
                max: list.max.map(clip),
                conditions: [].into(),
            })
        });
        let empty = list.min == 0 && kinds.is_empty();
        Ok(Some(self.arrays(body, empty, depth)))
    }

    /// Arrays of few places with few values each, one by one.
    fn listed(&mut self, list: &List, places: &[Goal], depth: u32) -> Result<Option<ExprId>> {
        let mut arrays: Vec<Vec<Value>> = vec![Vec::new()];
        let mut all = arrays.clone();
        for place in places {
            let Some(values) = self.finite(place)? else { return Ok(None) };
            let mut longer = Vec::new();
            for array in &arrays {
                for value in &values {
                    let same = |other| canonical(other) == canonical(value);
                    if array.iter().any(same) {
                        continue;
                    }
                    longer.push(array.iter().chain([value]).cloned().collect::<Vec<Value>>());
                }
            }
            all.extend(longer.iter().cloned());
            arrays = longer;
            if all.len() > MAX_ARRAYS {
                return Ok(None);
            }
        }
        let comma = self.layout(depth).comma;
        let mut bodies = Vec::new();
        for array in all.iter().filter(|array| !array.is_empty() && array.len() as u64 >= list.min)
        {
            let mut parts = Vec::new();
            for value in array {
                let schema = self.algebra.only(value);
                if !parts.is_empty() {
                    parts.push(comma);
                }
                parts.extend(self.value([Signed { schema, positive: true }], depth + 1)?);
            }
            bodies.push(self.algebra.builder.seq(&parts));
        }
        let body = self.one_of(bodies);
        Ok(Some(self.arrays(body, list.min == 0, depth)))
    }
}
