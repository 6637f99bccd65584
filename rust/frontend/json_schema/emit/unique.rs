//! `uniqueItems`, as far as a grammar can tell: over a finite set of items.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::algebra::{Goal, List, Result, Signed};
use super::Emitter;
use super::finite::canonical;
use crate::frontend::json_schema::limits::Limit;
use crate::frontend::json_schema::model::Value;
use crate::grammar::{Member, MemberOrder, Members, SymbolKind};
use crate::index::{ExprId, SymbolId};
use crate::span::Span;

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
            let most = places.len();
            if let Some(arrays) = self.followed(list, &places, most, depth)? {
                return Ok(Some(arrays));
            }
        } else if let Some(tail) = tail {
            let alike = places.iter().all(|place| *place == tail);
            if alike && let Some(arrays) = self.any_order(list, &tail, depth)? {
                return Ok(Some(arrays));
            }
            places.push(tail);
            let most = usize::try_from(list.max.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
            if let Some(arrays) = self.followed(list, &places, most, depth)? {
                return Ok(Some(arrays));
            }
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
        // Equal ones may be written in several ways.
        let mut numbers = Numbers::default();
        for value in &values {
            number(&mut numbers, value);
        }
        let Some(members) = self.members_of_kinds(list, &numbers)? else { return Ok(None) };
        let mut kinds: Vec<&FxHashSet<u32>> = Vec::new();
        for (kind, members) in list.contains.iter().zip(&members) {
            // Marks say that there is one of a kind, not how many.
            if kind.min > 1 || kind.max.is_some_and(|max| max < members.len() as u64) {
                return Ok(None);
            }
            kinds.extend((kind.min == 1).then_some(members));
        }
        let mut items = Vec::new();
        for value in &values {
            let once = number(&mut numbers, value);
            let only = Signed { schema: self.algebra.only(value), positive: true };
            let Some(expr) = self.value([only], depth + 1)? else { continue };
            let marks = (0..).zip(&kinds).filter(|(_, members)| members.contains(&once));
            items.push(Member {
                expr,
                once: Some(once),
                marks: marks.map(|(mark, _)| mark).collect(),
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

    /// For each kind that a list counts the numbers of the values that belong to it; `None` if that
    /// is not known for sure.
    fn members_of_kinds(
        &mut self,
        list: &List,
        numbers: &Numbers,
    ) -> Result<Option<Vec<FxHashSet<u32>>>> {
        let is_scalar = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
        let is_sure =
            numbers.keys().all(is_scalar) && list.contains.iter().all(|kind| kind.from == 0);
        if !list.contains.is_empty() && !is_sure {
            return Ok(None);
        }
        let mut kinds = Vec::new();
        for kind in &list.contains {
            let mut members = FxHashSet::default();
            for (value, &number) in numbers {
                let only = Signed { schema: self.algebra.only(value), positive: true };
                if let Some(goal) = self.algebra.goal([kind.value, only])?
                    && !self.algebra.is_empty_goal(&goal)?
                {
                    members.insert(number);
                }
            }
            kinds.push(members);
        }
        Ok(Some(kinds))
    }

    /// At most so many items of finite sets, each place's own (the last one's for all places
    /// behind), where what has been before makes few states.
    fn followed(
        &mut self,
        list: &List,
        goals: &[Goal],
        most: usize,
        depth: u32,
    ) -> Result<Option<ExprId>> {
        let mut numbers = Numbers::default();
        let mut places = Vec::new();
        for goal in goals {
            let Some(values) = self.finite(goal)? else { return Ok(None) };
            let mut items = Vec::new();
            for value in &values {
                let only = Signed { schema: self.algebra.only(value), positive: true };
                if let Some(item) = self.value([only], depth + 1)? {
                    items.push((number(&mut numbers, value), item));
                }
            }
            places.push(items);
        }
        let Some(members) = self.members_of_kinds(list, &numbers)? else { return Ok(None) };
        let kinds = list.contains.iter().zip(members);
        let kinds = kinds.map(|(kind, members)| (members, kind.min, kind.max)).collect();
        let followed = Followed { places, kinds, min: list.min, most };
        let Some(states) = followed.states(self.limit(Limit::ItemStates)) else { return Ok(None) };
        let comma = self.layout(depth).comma;
        let builder = &mut self.algebra.builder;
        let symbols: FxHashMap<&[u32], SymbolId> = states
            .iter()
            .map(|used| (&**used, builder.declare("items", SymbolKind::Rule, Span::default())))
            .collect();
        let mut first = Vec::new();
        for used in &states {
            let mut alternatives = Vec::new();
            for (item, with) in followed.next(used) {
                if let Some(&symbol) = symbols.get(&*with) {
                    let rest = builder.symbol(symbol);
                    alternatives.push(builder.seq(&[item, rest]));
                } else {
                    alternatives.push(item);
                }
            }
            if used.is_empty() {
                first.clone_from(&alternatives);
            }
            for item in &mut alternatives {
                *item = builder.seq(&[comma, *item]);
            }
            alternatives.extend(followed.may_end(used).then(|| builder.empty()));
            let body = builder.alt(&alternatives);
            builder.define(symbols[&**used], body);
        }
        let body = self.one_of(first);
        Ok(Some(self.arrays(body, followed.may_end(&[]), depth)))
    }
}

/// Values, each in the form that all equal ones have, with a number.
type Numbers = FxHashMap<Value, u32>;

/// The number of a value.
fn number(numbers: &mut Numbers, value: &Value) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(canonical(value)).or_insert(next)
}

/// Arrays of finite sets, by the numbers of the values that there have been.
struct Followed {
    /// What may come at each place; the last of them also for all places behind.
    places: Vec<Vec<(u32, ExprId)>>,
    /// The values of each kind that counts, at least and at most how many there are.
    kinds: Vec<(FxHashSet<u32>, u64, Option<u64>)>,
    min: u64,
    most: usize,
}

impl Followed {
    fn may_end(&self, used: &[u32]) -> bool {
        used.len() as u64 >= self.min
            && self.kinds.iter().all(|(members, min, _)| count(members, used) >= *min)
    }

    /// The items that may follow, and the values used with each of them.
    fn next(&self, used: &[u32]) -> Vec<(ExprId, Vec<u32>)> {
        let place = used.len().min(self.places.len().saturating_sub(1));
        let mut next = Vec::new();
        for &(number, item) in self.places.get(place).into_iter().flatten() {
            let Err(at) = used.binary_search(&number) else { continue };
            let mut with = used.to_vec();
            with.insert(at, number);
            let is_full = with.len() >= self.most;
            let too_many = self
                .kinds
                .iter()
                .any(|(members, _, max)| max.is_some_and(|max| count(members, &with) > max));
            if !too_many && with.len() <= self.most && (!is_full || self.may_end(&with)) {
                next.push((item, with));
            }
        }
        next
    }

    /// The sets of values behind which more may follow, sorted each; `None` if there are more than
    /// `limit`.
    fn states(&self, limit: usize) -> Option<Vec<Vec<u32>>> {
        let mut states = vec![Vec::new()];
        let mut known: FxHashSet<Vec<u32>> = FxHashSet::default();
        let mut seen = 0;
        while seen < states.len() {
            for (_, with) in self.next(&states[seen]) {
                if with.len() < self.most && known.insert(with.clone()) {
                    states.push(with);
                }
            }
            if states.len() > limit {
                return None;
            }
            seen += 1;
        }
        Some(states)
    }
}

/// How many values of a kind have been used.
fn count(members: &FxHashSet<u32>, used: &[u32]) -> u64 {
    used.iter().filter(|number| members.contains(number)).count() as u64
}
