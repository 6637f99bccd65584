//! Which conjunctions no value satisfies.
//!
//! A "yes" is always right. A "no" may be wrong, where the reason lies deep: such alternatives do
//! no harm, since the grammar's own reduction removes what can never be completed.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrays::List;
use super::domain::Domain;
use super::names::Known;
use super::objects::Shape;
use super::{Algebra, Flags, Goal, Items, Numbers, Properties, Result, Signed, Strings};
use crate::frontend::json_schema::limits::Limit;

/// How many levels of properties and items are looked into.
const MAX_LEVELS: u32 = 3;
/// Past this many words per discriminating property all pairs are compared.
const MAX_WORDS: usize = 64;
/// Values that are all different are counted up to here.
const MAX_COUNTED: usize = 512;

/// What is known of goals.
#[derive(Default)]
pub(super) struct Emptiness {
    known: FxHashMap<(Goal, u32), bool>,
    level: u32,
}

impl Algebra<'_> {
    /// Whether it is known that no value satisfies a goal.
    pub(in crate::frontend::json_schema) fn is_empty_goal(&mut self, goal: &Goal) -> Result<bool> {
        if goal.is_empty() || self.empty.level >= MAX_LEVELS {
            return Ok(false);
        }
        let key = (Rc::clone(goal), self.empty.level);
        if let Some(&known) = self.empty.known.get(&key) {
            return Ok(known);
        }
        // What is being evaluated further up is no cycle here: a property lies between.
        let open = std::mem::take(&mut self.open);
        self.empty.level += 1;
        let empty = self.find_empty(goal);
        self.empty.level -= 1;
        self.open = open;
        let empty = empty?;
        self.empty.known.insert(key, empty);
        Ok(empty)
    }

    fn find_empty(&mut self, goal: &Goal) -> Result<bool> {
        if !self.evaluate_all::<Flags>(goal)?.is_nothing() {
            return Ok(false);
        }
        if !self.evaluate_all::<Strings>(goal)?.is_empty(self)? {
            return Ok(false);
        }
        let numbers = self.evaluate_all::<Numbers>(goal)?;
        if !numbers.is_nothing() && !numbers.0.is_empty() {
            return Ok(false);
        }
        let items = self.evaluate_all::<Items>(goal)?;
        for list in &*items.0 {
            if !self.is_empty_array(list)? {
                return Ok(false);
            }
        }
        let properties = self.evaluate_all::<Properties>(goal)?;
        for shape in &*properties.0 {
            if !self.is_empty_object(shape)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_empty_conjunction(&mut self, parts: impl IntoIterator<Item = Signed>) -> Result<bool> {
        match self.goal(parts)? {
            Some(goal) => self.is_empty_goal(&goal),
            None => Ok(true),
        }
    }

    /// Whether it is known that no object has a shape.
    pub(super) fn is_empty_object(&mut self, shape: &Shape) -> Result<bool> {
        let least = shape.min.max(shape.required.len() as u64);
        if shape.max.is_some_and(|max| least > max) {
            return Ok(true);
        }
        let too_few = |names: &Strings| matches!(names, Strings::Words(words) if (words.len() as u64) < least);
        if shape.names.iter().any(too_few) {
            return Ok(true);
        }
        let mut by_name: FxHashMap<&str, Vec<Signed>> = FxHashMap::default();
        if !shape.required.is_empty() {
            for (name, value) in &shape.named {
                by_name.entry(name).or_default().push(*value);
            }
        }
        for name in &shape.required {
            if !self.is_name_allowed(shape, name)? {
                return Ok(true);
            }
            let mut parts = by_name.remove(&**name).unwrap_or_default();
            parts.extend(self.wide_values(shape, &Known::Name(name))?);
            if self.is_empty_conjunction(parts)? {
                return Ok(true);
            }
        }
        if shape.max == Some(0) && !shape.exists.is_empty() {
            return Ok(true);
        }
        if self.is_condition_empty(shape)? {
            return Ok(true);
        }
        for exists in &shape.exists {
            if let Some(value) = exists.value
                && self.is_empty_conjunction([value])?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the value of a property must be.
    fn value_of(&mut self, shape: &Shape, name: &str) -> Result<Vec<Signed>> {
        let of_name = shape.named.iter().filter(|(known, _)| &**known == name);
        let mut parts: Vec<Signed> = of_name.map(|&(_, value)| value).collect();
        parts.extend(self.wide_values(shape, &Known::Name(name))?);
        Ok(parts)
    }

    /// What the value of a property must be, for other reasons than its name alone.
    pub(in crate::frontend::json_schema) fn wide_values(
        &mut self,
        shape: &Shape,
        name: &Known<'_>,
    ) -> Result<Vec<Signed>> {
        let mut parts = Vec::new();
        for (names, value) in &shape.wide {
            if names.contains(name, self)? {
                parts.push(*value);
            }
        }
        Ok(parts)
    }

    /// Whether there may be a property of a name.
    pub(in crate::frontend::json_schema) fn is_name_allowed(
        &mut self,
        shape: &Shape,
        name: &str,
    ) -> Result<bool> {
        for names in &shape.names {
            if !names.contains(name, self)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether it is known that no array is in a list.
    pub(super) fn is_empty_array(&mut self, list: &List) -> Result<bool> {
        let mut least = list.min;
        for contains in &list.contains {
            if contains.max.is_some_and(|max| contains.min > max) {
                return Ok(true);
            }
            least = least.max(contains.min.saturating_add(if contains.min > 0 {
                contains.from as u64
            } else {
                0
            }));
        }
        if list.max.is_some_and(|max| least > max) {
            return Ok(true);
        }
        if list.unique && least > 1 {
            let everywhere =
                list.rules.iter().filter(|rule| (rule.from, rule.to) == (0, usize::MAX));
            let parts: Vec<Signed> = everywhere.map(|rule| rule.value).collect();
            if self.are_fewer(&parts, least)? {
                return Ok(true);
            }
        }
        for contains in list.contains.iter().filter(|contains| contains.min > 0) {
            // The items that count have to satisfy whatever holds for all.
            let everywhere = list
                .rules
                .iter()
                .filter(|rule| rule.from <= contains.from && rule.to == usize::MAX);
            let parts: Vec<Signed> =
                everywhere.map(|rule| rule.value).chain([contains.value]).collect();
            if self.is_empty_conjunction(parts)? {
                return Ok(true);
            }
        }
        // Places with the same rules need to be looked at once.
        let mut places: Vec<usize> = list.rules.iter().map(|rule| rule.from).collect();
        places.sort_unstable();
        places.dedup();
        for place in places.into_iter().filter(|&place| (place as u64) < least) {
            let rules = list.rules.iter().filter(|rule| rule.from <= place && place < rule.to);
            let parts: Vec<Signed> = rules.map(|rule| rule.value).collect();
            if self.is_empty_conjunction(parts)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether fewer values than these are all of this; only found of few, and none of them an
    /// array or object.
    fn are_fewer(&mut self, parts: &[Signed], than: u64) -> Result<bool> {
        let most = match usize::try_from(than - 1) {
            Ok(most) if most <= MAX_COUNTED && self.empty.level < MAX_LEVELS => most,
            _ => return Ok(false),
        };
        let Some(goal) = self.goal(parts.iter().copied())? else { return Ok(true) };
        if goal.is_empty() {
            return Ok(false);
        }
        let open = std::mem::take(&mut self.open);
        self.empty.level += 1;
        let found = self.count_scalars(&goal, most);
        self.empty.level -= 1;
        self.open = open;
        Ok(found?.is_some_and(|count| count <= most))
    }

    /// How many values there are, if none of them is an array or object, and at most about so many.
    fn count_scalars(&mut self, goal: &Goal, most: usize) -> Result<Option<usize>> {
        if !self.evaluate_all::<Items>(goal)?.is_nothing()
            || !self.evaluate_all::<Properties>(goal)?.is_nothing()
        {
            return Ok(None);
        }
        let flags = self.evaluate_all::<Flags>(goal)?.members().count();
        let Some(numbers) = self.evaluate_all::<Numbers>(goal)?.0.values(most) else {
            return Ok(None);
        };
        let strings = self.evaluate_all::<Strings>(goal)?;
        let words = strings.words(most, self)?;
        Ok(words.map(|words| flags + numbers.len() + words.len()))
    }

    /// For each set the other sets with which it may have an object in common, as far as a required
    /// property of few words tells: a tag such as `"type": {"const": "circle"}`.
    ///
    /// PERF: 200 tools in a `oneOf` are 40,000 pairs otherwise.
    pub(super) fn possibly_common(&mut self, sets: &[&Properties]) -> Result<Vec<Vec<usize>>> {
        let first = sets.first().and_then(|set| set.0.first());
        let tags = match first {
            Some(first) if sets.len() >= 4 && self.empty.level < MAX_LEVELS => {
                first.required.clone()
            }
            _ => Vec::new(),
        };
        for tag in tags {
            let mut by_word: FxHashMap<Rc<str>, Vec<usize>> = FxHashMap::default();
            let mut words: Vec<FxHashSet<Rc<str>>> = Vec::new();
            for (index, set) in sets.iter().enumerate() {
                let Some(found) = self.tag_words(set, &tag)? else { break };
                for word in &found {
                    by_word.entry(Rc::clone(word)).or_default().push(index);
                }
                words.push(found);
            }
            if words.len() < sets.len() {
                continue;
            }
            let common = words.iter().enumerate().map(|(index, words)| {
                let mut others: Vec<usize> =
                    words.iter().flat_map(|word| by_word[word].iter().copied()).collect();
                others.sort_unstable();
                others.dedup();
                others.retain(|&other| other != index);
                others
            });
            return Ok(common.collect());
        }
        let limits = &self.options.limits;
        let most = limits.get(Limit::OneOf);
        if sets.len() > most {
            let message =
                format!("`oneOf` has more than {most} alternatives that no property tells apart");
            let advice = "require a property whose `const` is different in each";
            return Err(limits.exceeded(Limit::OneOf, message, advice));
        }
        let all = |index: usize| (0..sets.len()).filter(move |&other| other != index).collect();
        Ok((0..sets.len()).map(all).collect())
    }

    /// The words that a property can be, if it is required and can be nothing else.
    fn tag_words(&mut self, set: &Properties, tag: &str) -> Result<Option<FxHashSet<Rc<str>>>> {
        let mut words = FxHashSet::default();
        for shape in &*set.0 {
            if !shape.required.iter().any(|name| &**name == tag) {
                return Ok(None);
            }
            let parts = self.value_of(shape, tag)?;
            let open = std::mem::take(&mut self.open);
            self.empty.level += 1;
            let found = self.only_words(&parts);
            self.empty.level -= 1;
            self.open = open;
            match found? {
                Some(found) => words.extend(found.iter().cloned()),
                None => return Ok(None),
            }
        }
        Ok(Some(words))
    }

    /// The words that values can be, if they are few and no value is anything else.
    fn only_words(&mut self, parts: &[Signed]) -> Result<Option<Rc<[Rc<str>]>>> {
        let Strings::Words(words) = self.evaluate_all::<Strings>(parts)? else { return Ok(None) };
        let only = words.len() <= MAX_WORDS
            && self.evaluate_all::<Flags>(parts)?.is_nothing()
            && self.evaluate_all::<Numbers>(parts)?.is_nothing()
            && self.evaluate_all::<Items>(parts)?.is_nothing()
            && self.evaluate_all::<Properties>(parts)?.is_nothing();
        Ok(only.then_some(words))
    }
}
