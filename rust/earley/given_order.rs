//! Items in their order: the properties of an object as its schema lists them.
//!
//! Items with one `once` are the choices at one *place*; those without come behind all places, any
//! number of times. What has been seen is the place behind the last item, which marks have been
//! set, and the number of items where it can't be told from these and matters.
//!
//! A mark that all choices of one place set, and no others, says that the place can't be left out.
//! For the other marks there is a table: the fewest items from each place on, for each set of marks
//! that are still missing. More items than the fewest never hurt, up to one for each place (or any
//! number, where items repeat), so that two numbers answer whether a state can be completed.
//! Where there are conditions, diagrams answer that (`conditions`).

use super::conditions::Conditions;
use super::order::{Order, Step};
use crate::error::{GrammarError, GrammarErrorKind};

/// How large the table may be.
const MAX_TABLE: usize = 1 << 20;
/// The most marks that more than one place can set.
const MAX_SHARED: usize = 16;
/// Can't be completed.
const NEVER: u32 = u32::MAX;

/// An [`Order`] in its given order that can be completed.
#[derive(Clone, Debug)]
pub(crate) struct GivenPlan {
    /// The items sorted by place, those that repeat last.
    order: Order,
    places: Vec<Place>,
    /// For each item the shared marks that it sets.
    sets: Vec<u32>,
    /// How many marks are shared.
    shared: u32,
    /// The fewest items from a place on, for each set of missing shared marks.
    fewest: Vec<u32>,
    conditions: Option<Conditions>,
}

/// The choices at one place of the order.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The first item of it; those of the next place follow.
    start: u32,
    required: bool,
}

impl GivenPlan {
    /// The plan of an order; `None` if no text belongs to it.
    pub(super) fn new(mut order: Order) -> Result<Option<Self>, GrammarError> {
        order.items.sort_by_key(|item| item.once.map_or((1, 0), |once| (0, once)));
        let mut places: Vec<Place> = Vec::new();
        let mut repeating = order.items.len();
        for (index, item) in order.items.iter().enumerate() {
            if item.once.is_none() {
                repeating = index;
                break;
            }
            if index == 0 || order.items[index - 1].once != item.once {
                places.push(Place { start: index as u32, required: false });
            }
        }
        let count = places.len();
        places.push(Place { start: repeating as u32, required: false });
        let Some((sets, shared)) = own_marks(&order, &mut places) else { return Ok(None) };
        if shared.len() > MAX_SHARED || (count + 1) << shared.len() > MAX_TABLE {
            return Err(GrammarError::new(
                GrammarErrorKind::Limit,
                format!("{} requirements on items can be met by several items", shared.len()),
            )
            .with_hint("let fewer alternatives meet several requirements at once"));
        }
        let repeats = repeating < order.items.len();
        // Where they can't make a difference they must not tell states apart.
        order.max = order.max.filter(|&max| repeats || (max as usize) < count);
        order.min = if order.min == 1 { 0 } else { order.min };
        let shared = shared.len() as u32;
        let mut plan = Self { order, places, sets, shared, fewest: Vec::new(), conditions: None };
        plan.fewest = plan.table();
        if !plan.can_follow(0, plan.all_missing(), 0) {
            return Ok(None);
        }
        if !plan.order.conditions.is_empty() {
            plan.conditions = Conditions::new(&plan)?;
            if plan.conditions.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(plan))
    }

    fn table(&self) -> Vec<u32> {
        let last = self.places.len() - 1;
        let width = 1 << self.shared;
        let mut fewest = vec![NEVER; (last + 1) * width];
        for missing in 0..width {
            fewest[last * width + missing] = if missing == 0 {
                0
            } else {
                let after = self.sets[self.repeating()].iter().map(|&set| missing & !set as usize);
                let best = after.filter(|&after| after != missing);
                let best = best.map(|after| fewest[last * width + after]).min().unwrap_or(NEVER);
                best.saturating_add(1)
            };
        }
        for place in (0..last).rev() {
            for missing in 0..width {
                let after = |set: u32| fewest[(place + 1) * width + (missing & !set as usize)];
                let choices = &self.sets[self.choices(place)];
                let with = choices.iter().map(|&set| after(set).saturating_add(1)).min();
                let without = if self.places[place].required { NEVER } else { after(0) };
                fewest[place * width + missing] = with.unwrap_or(NEVER).min(without);
            }
        }
        fewest
    }

    /// All shared marks, as missing ones.
    pub(super) fn all_missing(&self) -> u32 {
        (1 << self.shared) - 1
    }

    /// How many places there are.
    pub(super) fn count(&self) -> usize {
        self.places.len() - 1
    }

    /// Whether one of a place's items has to come.
    pub(super) fn is_required(&self, place: usize) -> bool {
        self.places[place].required
    }

    /// The shared marks that an item sets.
    pub(super) fn sets(&self, item: usize) -> u32 {
        self.sets[item]
    }

    /// Whether some items can come again and again.
    pub(super) fn repeats(&self) -> bool {
        !self.repeating().is_empty()
    }

    /// Whether it matters how many items there are.
    pub(super) fn is_counted(&self) -> bool {
        self.order.max.is_some() || self.order.min > 0
    }

    /// The fewest items behind all places; `None` if the missing marks can't be set there.
    pub(super) fn fewest_behind(&self, missing: u32) -> Option<u32> {
        Some(self.fewest(self.count(), missing)).filter(|&fewest| fewest != NEVER)
    }

    /// The items at a place.
    pub(super) fn choices(&self, place: usize) -> std::ops::Range<usize> {
        self.places[place].start as usize..self.places[place + 1].start as usize
    }

    /// The items behind all places.
    fn repeating(&self) -> std::ops::Range<usize> {
        self.places[self.places.len() - 1].start as usize..self.order.items.len()
    }

    fn fewest(&self, place: usize, missing: u32) -> u32 {
        self.fewest[(place << self.shared) + missing as usize]
    }

    /// The most items from a place on.
    fn most(&self, place: usize) -> u64 {
        if self.repeating().is_empty() { (self.places.len() - 1 - place) as u64 } else { u64::MAX }
    }

    /// Whether `count` items before a place can be completed.
    fn can_follow(&self, place: usize, missing: u32, count: u64) -> bool {
        let fewest = self.fewest(place, missing);
        fewest != NEVER
            && count + u64::from(fewest) <= self.max()
            && self.most(place).saturating_add(count) >= u64::from(self.order.min)
    }

    fn max(&self) -> u64 {
        self.order.max.map_or(u64::MAX, u64::from)
    }

    /// The items and the separator.
    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    /// Before the first item.
    pub(super) fn nothing(&self) -> Vec<u64> {
        let first = self.conditions.iter().flat_map(Conditions::first);
        [0; 3].into_iter().chain(first).collect()
    }

    /// After one more item, which [`Self::steps`] has named.
    pub(super) fn with(&self, seen: &[u64], item: usize) -> Vec<u64> {
        // Behind the last place for items that repeat.
        let place = self.places.partition_point(|place| place.start as usize <= item);
        let place = place.min(self.places.len() - 1);
        let count = match (self.order.max, self.order.min) {
            (Some(_), _) => seen[0] + 1,
            (None, min) => (seen[0] + 1).min(min.into()),
        };
        let mut after = vec![count, place as u64, seen[2] | u64::from(self.sets[item])];
        if let Some(conditions) = &self.conditions {
            after.extend_from_slice(&seen[3..]);
            conditions.follow(self, seen[1] as usize, item, &mut after[3..]);
        }
        after
    }

    /// What may come next.
    pub(super) fn steps(&self, seen: &[u64]) -> Vec<Step> {
        let (count, from) = (seen[0] + 1, seen[1] as usize);
        let missing = self.all_missing() & !(seen[2] as u32);
        let mut steps = Vec::new();
        if let Some(conditions) = &self.conditions {
            let mut left = seen[3..].to_vec();
            if !self.steps_in_places(conditions, from, count, missing, &mut left, &mut steps) {
                return steps;
            }
        }
        let mut add = |item: usize, behind: usize| {
            let missing = missing & !self.sets[item];
            if self.can_follow(behind, missing, count) {
                let fewest = self.fewest(behind, missing);
                let ends = fewest == 0 && count >= self.order.min.into();
                let goes_on =
                    self.most(behind) > 0 && count + u64::from(fewest.max(1)) <= self.max();
                steps.push(Step { item, ends, goes_on });
            }
        };
        let from = if self.conditions.is_some() { self.count() } else { from };
        for place in from..self.count() {
            self.choices(place).for_each(|item| add(item, place + 1));
            if self.places[place].required {
                return steps;
            }
        }
        self.repeating().for_each(|item| add(item, self.places.len() - 1));
        steps
    }

    /// What may come next at the places, where there are conditions; whether what is behind them
    /// may come too.
    fn steps_in_places(
        &self,
        conditions: &Conditions,
        from: usize,
        count: u64,
        missing: u32,
        left: &mut [u64],
        steps: &mut Vec<Step>,
    ) -> bool {
        for place in from..self.count() {
            for item in self.choices(place) {
                let Some(old) = conditions.step(self, place, Some(item), left) else { continue };
                let required = self.fewest(place + 1, missing & !self.sets[item]);
                let (ends, goes_on) = conditions.after(self, place + 1, required, count, left);
                if ends || goes_on {
                    steps.push(Step { item, ends, goes_on });
                }
                conditions.undo(place, old, left);
            }
            if self.is_required(place) || conditions.step(self, place, None, left).is_none() {
                return false;
            }
        }
        true
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.conditions.as_ref().map_or(0, Conditions::memory_bytes)
            + (self.sets.len() + self.fewest.len()) * 4
            + self.places.len() * size_of::<Place>()
    }
}

/// Finds the places that are required; gives for each item the other marks that it sets, numbered
/// anew, and those marks. `None` if some mark is never set.
fn own_marks(order: &Order, places: &mut [Place]) -> Option<(Vec<u32>, Vec<u32>)> {
    let items = order.items.len();
    if order.marks == 0 {
        return Some((vec![0; items], Vec::new()));
    }
    let place_of = |item: usize| places.partition_point(|place| place.start as usize <= item) - 1;
    // For each mark the place that sets it, how many of its items do, and whether others do too.
    let mut setters: Vec<Option<(usize, u32, bool)>> = vec![None; order.marks as usize];
    for (index, item) in order.items.iter().enumerate() {
        let place = place_of(index);
        for &mark in item.marks.iter().filter(|&&mark| mark < order.marks) {
            let setter = setters[mark as usize].get_or_insert((place, 0, false));
            setter.1 += u32::from(setter.0 == place);
            setter.2 |= setter.0 != place;
        }
    }
    let mut number = vec![None; setters.len()];
    let mut shared = Vec::new();
    for (mark, setter) in setters.into_iter().enumerate() {
        let (place, count, others) = setter?;
        let next = places.get(place + 1).map(|next| next.start);
        if !others && next.is_some_and(|next| next - places[place].start == count) {
            places[place].required = true;
        } else {
            number[mark] = Some(shared.len() as u32);
            shared.push(mark as u32);
        }
    }
    let bit = |mark: u32| number.get(mark as usize).copied().flatten();
    let set = |marks: &[u32]| {
        marks.iter().filter_map(|&mark| bit(mark)).fold(0u32, |set, bit| set | 1 << bit.min(31))
    };
    Some((order.items.iter().map(|item| set(&item.marks)).collect(), shared))
}
