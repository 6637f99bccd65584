//! Items in any order: which may come next after some of them.
//!
//! Takes an [`AnyOrder`], the productions' form of [`grammar::Unordered`](crate::grammar::Unordered).
//! What has been seen is a slice of words: which `once` and which marks, and the number of items
//! where it can't be told from these and matters. Two beginnings that go on alike have equal words.
//!
//! Guarantee: no dead ends. [`OrderPlan::steps`] names an item only if what follows can be
//! completed: the missing marks can be set by items that are still free, within `max`.
//! `min` needs no search: either items may repeat for ever, or the number of different `once` is
//! the most items there can be, whatever has been seen.

use rustc_hash::FxHashMap;

use super::cover::Cover;
use super::program::Sym;
use crate::error::GrammarError;

/// At least one item, in any order: no two with the same `once`, all marks below `marks` set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyOrder {
    /// The items.
    pub items: Vec<OrderItem>,
    /// What stands between two items; `None` if there can be only one.
    pub separator: Option<Sym>,
    /// How many marks there are.
    pub marks: u32,
    /// At least this many items.
    pub min: u32,
    /// At most this many items.
    pub max: Option<u32>,
}

impl AnyOrder {
    /// The items' symbols and the separator.
    pub fn symbols(&self) -> impl Iterator<Item = Sym> {
        self.items.iter().map(|item| item.symbol).chain(self.separator)
    }

    /// The items' symbols and the separator, to be replaced by others.
    pub fn symbols_mut(&mut self) -> impl Iterator<Item = &mut Sym> {
        self.items.iter_mut().map(|item| &mut item.symbol).chain(&mut self.separator)
    }
}

/// An item of [`AnyOrder`]; never the empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// The item.
    pub symbol: Sym,
    /// Of all items with the same number at most one may occur, and that once.
    pub once: Option<u32>,
    /// The marks that it sets.
    pub marks: Box<[u32]>,
}

/// An [`AnyOrder`] that can be completed, made ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct OrderPlan {
    order: AnyOrder,
    /// For each item its slot: below `slots` if it can be used once, with others of its `once`.
    slot: Vec<u32>,
    slots: u32,
    /// Whether some item can be used again and again.
    repeats: bool,
    cover: Cover,
}

/// An item that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) item: usize,
    /// Whether it can be the last.
    pub(super) ends: bool,
    /// Whether a separator and another item can follow.
    pub(super) goes_on: bool,
}

impl OrderPlan {
    /// The plan of an order; `None` if no text belongs to it.
    ///
    /// # Errors
    /// What the items require of each other is past a limit.
    pub(crate) fn new(mut order: AnyOrder) -> Result<Option<Self>, GrammarError> {
        if order.separator.is_none() {
            order.max = Some(order.max.map_or(1, |max| max.min(1)));
        }
        if order.items.is_empty() || order.max.is_some_and(|max| max == 0 || max < order.min) {
            return Ok(None);
        }
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let mut slot = Vec::with_capacity(order.items.len());
        for item in &order.items {
            let next = numbers.len() as u32;
            slot.push(item.once.map(|once| *numbers.entry(once).or_insert(next)));
        }
        let slots = numbers.len() as u32;
        let mut all = slots;
        let slot: Vec<u32> = slot
            .into_iter()
            .map(|slot| {
                slot.unwrap_or_else(|| {
                    all += 1;
                    all - 1
                })
            })
            .collect();
        let repeats = all > slots;
        if !repeats && order.min > slots {
            return Ok(None);
        }
        // Where they can't make a difference they must not tell states apart.
        order.max = order.max.filter(|&max| repeats || max < slots);
        order.min = if order.min == 1 { 0 } else { order.min };
        let marks = order.items.iter().map(|item| &item.marks[..]);
        let Some(cover) =
            Cover::new(slot.iter().copied().zip(marks), order.marks, order.max.is_some())?
        else {
            return Ok(None);
        };
        let plan = Self { order, slot, slots, repeats, cover };
        let fewest: Option<u32> =
            (0..plan.cover.parts()).map(|part| plan.cover.fewest(part, |_| false, |_| false)).sum();
        let fits = fewest.is_some_and(|fewest| plan.order.max.is_none_or(|max| fewest <= max));
        Ok(fits.then_some(plan))
    }

    /// The items and the separator.
    pub(crate) fn order(&self) -> &AnyOrder {
        &self.order
    }

    /// Before the first item.
    pub(super) fn nothing(&self) -> Vec<u64> {
        vec![0; 1 + words(self.slots) + words(self.order.marks)]
    }

    /// After one more item, which [`Self::steps`] has named.
    pub(super) fn with(&self, seen: &[u64], item: usize) -> Vec<u64> {
        let mut seen = seen.to_vec();
        if self.slot[item] < self.slots {
            insert(&mut seen[1..], self.slot[item]);
        }
        let marks = &mut seen[1 + words(self.slots)..];
        self.order.items[item]
            .marks
            .iter()
            .filter(|&&mark| mark < self.order.marks)
            .for_each(|&mark| insert(marks, mark));
        if self.repeats {
            seen[0] += 1;
            if self.order.max.is_none() {
                seen[0] = seen[0].min(self.order.min.into());
            }
        }
        seen
    }

    /// What may come next.
    pub(super) fn steps(&self, seen: &[u64]) -> Vec<Step> {
        let (used, marks) = seen[1..].split_at(words(self.slots));
        let is_used = |slot: u32| slot < self.slots && contains(used, slot);
        let is_set = |mark: u32| contains(marks, mark);
        let used_slots: u32 = used.iter().map(|word| word.count_ones()).sum();
        let count = if self.repeats { seen[0] } else { used_slots.into() };
        // The state can be completed, as all that are named.
        let fewest: Vec<u32> = (0..self.cover.parts())
            .map(|part| self.cover.fewest(part, is_set, is_used).unwrap_or(u32::MAX))
            .collect();
        let in_all: u64 = fewest.iter().copied().map(u64::from).sum();
        let max = self.order.max.map_or(u64::MAX, u64::from);
        let mut steps = Vec::new();
        for (item, &slot) in self.slot.iter().enumerate() {
            if is_used(slot) {
                continue;
            }
            let is_used = |other| other == slot && slot < self.slots || is_used(other);
            let missing = self.cover.places(item).iter().try_fold(in_all, |missing, &place| {
                let after = self.cover.fewest_after(place, is_set, is_used)?;
                Some(missing - u64::from(fewest[place.part]) + u64::from(after))
            });
            let Some(missing) = missing else { continue };
            if count + 1 + missing > max {
                continue;
            }
            let ends = missing == 0 && count + 1 >= self.order.min.into();
            let some_left = self.repeats || used_slots + 1 < self.slots;
            let goes_on = missing > 0 || some_left && count + 2 <= max;
            steps.push(Step { item, ends, goes_on });
        }
        steps
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.order.items.iter().map(|item| item.marks.len() * 4).sum::<usize>()
            + self.order.items.len() * size_of::<OrderItem>()
            + self.slot.len() * 4
            + self.cover.memory_bytes()
    }
}

fn words(bits: u32) -> usize {
    bits.div_ceil(64) as usize
}

fn contains(words: &[u64], bit: u32) -> bool {
    words[bit as usize / 64] >> (bit % 64) & 1 == 1
}

fn insert(words: &mut [u64], bit: u32) {
    words[bit as usize / 64] |= 1 << (bit % 64);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::index::LexemeId;

    const SEPARATOR: Sym = Sym::Lexeme(LexemeId(99));

    fn order(items: &[(Option<u32>, &[u32])], marks: u32, min: u32, max: Option<u32>) -> AnyOrder {
        let item = |(index, &(once, marks)): (usize, &(Option<u32>, &[u32]))| OrderItem {
            symbol: Sym::Lexeme(LexemeId(index as u32)),
            once,
            marks: marks.into(),
        };
        let items = items.iter().enumerate().map(item).collect();
        AnyOrder { items, separator: Some(SEPARATOR), marks, min, max }
    }

    #[test]
    fn orders_of_the_same_items_meet() {
        let order = order(&[(Some(7), &[0]), (Some(4), &[]), (None, &[])], 1, 0, None);
        let plan = OrderPlan::new(order).unwrap().unwrap();
        let after = |items: &[usize]| {
            items.iter().fold(plan.nothing(), |seen, &item| plan.with(&seen, item))
        };
        assert_eq!(after(&[0, 1]), after(&[1, 2, 2, 0, 2]));
        assert_ne!(after(&[0]), after(&[1]));
        assert_eq!(after(&[2]), plan.nothing());
    }

    #[test]
    fn counts_tell_states_apart_only_where_they_matter() {
        let any: &[(Option<u32>, &[u32])] = &[(None, &[])];
        for (min, max, differ) in [(0, None, 0), (3, None, 3), (0, Some(5), 5)] {
            let plan = OrderPlan::new(order(any, 0, min, max)).unwrap().unwrap();
            let mut seen = plan.nothing();
            let mut known = BTreeSet::from([seen.clone()]);
            for _ in 0..5 {
                seen = plan.with(&seen, 0);
                known.insert(seen.clone());
            }
            assert_eq!(known.len(), differ + 1, "{min} {max:?}");
        }
    }

    /// What was read: which items, and how many.
    type History = (BTreeSet<usize>, u32);

    /// The history after one more item; `None` if the item can't come.
    fn after(order: &AnyOrder, (items, count): &History, item: usize) -> Option<History> {
        let once = order.items[item].once;
        let used = once.is_some() && items.iter().any(|&other| order.items[other].once == once);
        if used || order.max.is_some_and(|max| *count >= max) {
            return None;
        }
        let mut items = items.clone();
        items.insert(item);
        Some((items, count + 1))
    }

    fn is_complete(order: &AnyOrder, (items, count): &History) -> bool {
        let is_set = |mark| items.iter().any(|&item| order.items[item].marks.contains(&mark));
        *count >= order.min
            && order.max.is_none_or(|max| *count <= max)
            && (0..order.marks).all(is_set)
    }

    /// Whether at most `more` items make it complete.
    fn can_be_completed(order: &AnyOrder, history: &History, more: u32) -> bool {
        is_complete(order, history)
            || more > 0
                && nexts(order, history).any(|next| can_be_completed(order, &next, more - 1))
    }

    fn nexts(order: &AnyOrder, history: &History) -> impl Iterator<Item = History> {
        (0..order.items.len()).filter_map(|item| after(order, history, item))
    }

    fn check(order: &AnyOrder, plan: &OrderPlan, history: &History, seen: &[u64]) {
        // Three marks, or a `min` of three, need no more.
        let alive = |history: &History| can_be_completed(order, history, 3);
        let expected: Vec<Step> = (0..order.items.len())
            .filter_map(|item| {
                let next = after(order, history, item).filter(alive)?;
                let goes_on = nexts(order, &next).any(|next| alive(&next));
                Some(Step { item, ends: is_complete(order, &next), goes_on })
            })
            .collect();
        let steps = plan.steps(seen);
        assert_eq!(steps, expected, "{order:?} after {history:?}");
        if history.1 < 4 {
            for Step { item, goes_on, .. } in steps {
                let next = after(order, history, item).unwrap();
                if goes_on {
                    check(order, plan, &next, &plan.with(seen, item));
                }
            }
        }
    }

    #[test]
    fn agrees_with_trying_everything() {
        let mut state = 1_u32;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % bound
        };
        let mut plans = 0;
        for _ in 0..3000 {
            let sets: Vec<Vec<u32>> =
                (0..=below(4)).map(|_| (0..4).filter(|_| below(3) == 0).collect()).collect();
            let items: Vec<(Option<u32>, &[u32])> = sets
                .iter()
                .map(|marks| ((below(4) > 0).then(|| below(4) * 10), &marks[..]))
                .collect();
            let max = (below(2) == 0).then(|| below(5));
            let order = order(&items, below(4), below(4), max);
            let history = (BTreeSet::new(), 0);
            // The plan is of at least one item.
            let expected = nexts(&order, &history).any(|next| can_be_completed(&order, &next, 3));
            match OrderPlan::new(order.clone()).unwrap() {
                Some(plan) => {
                    assert!(expected, "{order:?}");
                    plans += 1;
                    check(&order, &plan, &history, &plan.nothing());
                }
                None => assert!(!expected, "{order:?}"),
            }
        }
        assert!(plans > 500, "only {plans} could be completed");
    }
}
