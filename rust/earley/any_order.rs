//! Items in any order: which may come next after some of them.
//!
//! What has been seen is which `once` and which marks, and the number of items where it can't be
//! told from these and matters.
//!
//! A state can be completed if the missing marks can be set by items that are still free, within
//! `max`. `min` needs no search: either items may repeat for ever, or the number of different
//! `once` is the most items there can be, whatever has been seen.

use rustc_hash::FxHashMap;

use super::cover::Cover;
use super::order::{Order, Step};
use crate::error::GrammarError;

/// An [`Order`] that can be completed, made ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct AnyPlan {
    order: Order,
    /// For each item its slot: below `slots` if it can be used once, with others of its `once`.
    slot: Vec<u32>,
    slots: u32,
    /// Whether some item can be used again and again.
    repeats: bool,
    cover: Cover,
}

impl AnyPlan {
    /// The plan of an order; `None` if no text belongs to it.
    ///
    /// # Errors
    /// What the items require of each other is past a limit.
    pub(super) fn new(mut order: Order) -> Result<Option<Self>, GrammarError> {
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
    pub(super) fn order(&self) -> &Order {
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
        self.slot.len() * 4 + self.cover.memory_bytes()
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
    use super::*;
    use crate::earley::order::tests::order;
    use crate::grammar::MemberOrder;

    #[test]
    fn orders_of_the_same_items_meet() {
        let items: &[(Option<u32>, &[u32])] = &[(Some(7), &[0]), (Some(4), &[]), (None, &[])];
        let plan = AnyPlan::new(order(MemberOrder::Any, items, 1, 0, None)).unwrap().unwrap();
        let after = |items: &[usize]| {
            items.iter().fold(plan.nothing(), |seen, &item| plan.with(&seen, item))
        };
        assert_eq!(after(&[0, 1]), after(&[1, 2, 2, 0, 2]));
        assert_ne!(after(&[0]), after(&[1]));
        assert_eq!(after(&[2]), plan.nothing());
    }
}
