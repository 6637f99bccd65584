//! Members of which each comes at most once: which may come next after some of them.
//!
//! Takes an [`Order`], the productions' form of [`grammar::Members`](crate::grammar::Members). What
//! has been seen is a slice of words; two beginnings that go on alike have equal words. What the
//! words mean is up to the plan: `any_order` or `given_order`.
//!
//! Guarantee: no dead ends. [`OrderPlan::steps`] names an item only if what follows can be
//! completed.

use super::any_order::AnyPlan;
use super::given_order::GivenPlan;
use super::program::Sym;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::{Condition, MemberOrder};

/// At least one item: no two with the same `once`, all marks below `marks` set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// In which order the items come.
    pub order: MemberOrder,
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
    /// What holds of the items together; only in their given order.
    pub conditions: Vec<Condition>,
    /// How many steps through what is left of the conditions may be taken beforehand.
    pub most_steps: usize,
}

impl Order {
    /// The items' symbols and the separator.
    pub fn symbols(&self) -> impl Iterator<Item = Sym> {
        self.items.iter().flat_map(|item| item.symbols.iter().copied()).chain(self.separator)
    }

    /// The items' symbols and the separator, to be replaced by others.
    pub fn symbols_mut(&mut self) -> impl Iterator<Item = &mut Sym> {
        self.items.iter_mut().flat_map(|item| item.symbols.iter_mut()).chain(&mut self.separator)
    }

    /// Whether it is plain that all items in a row, each of them once, are a text. Then there is
    /// one; it needs no plan to say so.
    pub(crate) fn has_all_in_a_row(&self) -> bool {
        let count = self.items.len();
        let fits = self.min as usize <= count && self.max.is_none_or(|max| count <= max as usize);
        if count == 0 || !fits || !self.conditions.is_empty() || self.marks >= u64::BITS {
            return false;
        }
        let mut last = None;
        let mut missing = (1u64 << self.marks) - 1;
        for item in &self.items {
            if item.once.is_some() && item.once <= last {
                return false;
            }
            last = item.once.or(last);
            for &mark in item.marks.iter().filter(|&&mark| mark < self.marks) {
                missing &= !(1 << mark);
            }
        }
        (self.separator.is_some() || count == 1) && missing == 0
    }
}

/// An item of [`Order`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// The symbols of the item, at least one; none of them stands for the empty text.
    pub symbols: Box<[Sym]>,
    /// Of all items with the same number at most one may occur, and that once.
    pub once: Option<u32>,
    /// The marks that it sets.
    pub marks: Box<[u32]>,
    /// The alternatives of conditions that it excludes.
    pub excludes: Box<[u32]>,
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

/// An [`Order`] that can be completed, made ready to be asked.
#[derive(Clone, Debug)]
pub(crate) enum OrderPlan {
    Any(AnyPlan),
    Given(GivenPlan),
}

impl OrderPlan {
    /// The plan of an order; `None` if no text belongs to it.
    ///
    /// # Errors
    /// What the items require of each other is past a limit.
    pub(crate) fn new(mut order: Order) -> Result<Option<Self>, GrammarError> {
        if order.separator.is_none() {
            order.max = Some(order.max.map_or(1, |max| max.min(1)));
        }
        if order.items.is_empty() || order.max.is_some_and(|max| max == 0 || max < order.min) {
            return Ok(None);
        }
        Ok(match order.order {
            MemberOrder::Any if !order.conditions.is_empty() => {
                let message = "items in any order can't have conditions";
                return Err(GrammarError::new(GrammarErrorKind::Unsupported, message));
            }
            MemberOrder::Any => AnyPlan::new(order)?.map(Self::Any),
            MemberOrder::Given => GivenPlan::new(order)?.map(Self::Given),
        })
    }

    /// The items and the separator.
    pub(crate) fn order(&self) -> &Order {
        match self {
            Self::Any(plan) => plan.order(),
            Self::Given(plan) => plan.order(),
        }
    }

    /// Before the first item.
    pub(super) fn nothing(&self) -> Vec<u64> {
        match self {
            Self::Any(plan) => plan.nothing(),
            Self::Given(plan) => plan.nothing(),
        }
    }

    /// After one more item, which [`Self::steps`] has named.
    pub(super) fn with(&self, seen: &[u64], item: usize) -> Vec<u64> {
        match self {
            Self::Any(plan) => plan.with(seen, item),
            Self::Given(plan) => plan.with(seen, item),
        }
    }

    /// What may come next.
    pub(super) fn steps(&self, seen: &[u64]) -> Vec<Step> {
        match self {
            Self::Any(plan) => plan.steps(seen),
            Self::Given(plan) => plan.steps(seen),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let items = self.order().items.iter();
        let own = |item: &OrderItem| {
            size_of_val(&*item.symbols) + (item.marks.len() + item.excludes.len()) * 4
        };
        items.map(|item| own(item) + size_of::<OrderItem>()).sum::<usize>()
            + match self {
                Self::Any(plan) => plan.memory_bytes(),
                Self::Given(plan) => plan.memory_bytes(),
            }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::index::LexemeId;

    const SEPARATOR: Sym = Sym::Lexeme(LexemeId(99));

    pub(in crate::earley) fn order(
        order: MemberOrder,
        items: &[(Option<u32>, &[u32])],
        marks: u32,
        min: u32,
        max: Option<u32>,
    ) -> Order {
        let item = |(index, &(once, marks)): (usize, &(Option<u32>, &[u32]))| OrderItem {
            symbols: [Sym::Lexeme(LexemeId(index as u32))].into(),
            once,
            marks: marks.into(),
            excludes: [].into(),
        };
        let items = items.iter().enumerate().map(item).collect();
        let (conditions, most_steps) = (Vec::new(), usize::MAX);
        Order { order, items, separator: Some(SEPARATOR), marks, min, max, conditions, most_steps }
    }

    #[test]
    fn counts_tell_states_apart_only_where_they_matter() {
        let any: &[(Option<u32>, &[u32])] = &[(None, &[])];
        for kind in [MemberOrder::Any, MemberOrder::Given] {
            for (min, max, differ) in [(0, None, 0), (3, None, 3), (0, Some(5), 5)] {
                let plan = OrderPlan::new(order(kind, any, 0, min, max)).unwrap().unwrap();
                let mut seen = plan.with(&plan.nothing(), 0);
                let mut known = BTreeSet::from([seen.clone()]);
                for _ in 0..4 {
                    seen = plan.with(&seen, 0);
                    known.insert(seen.clone());
                }
                assert_eq!(known.len(), differ.max(1), "{kind:?} {min} {max:?}");
            }
        }
    }

    /// What was read: which items, and how many.
    type History = (BTreeSet<usize>, u32);

    /// The history after one more item; `None` if the item can't come.
    fn after(order: &Order, (items, count): &History, item: usize) -> Option<History> {
        let once = order.items[item].once;
        let used = once.is_some() && items.iter().any(|&other| order.items[other].once == once);
        // Those without a number come last.
        let number = |item: usize| order.items[item].once.unwrap_or(u32::MAX);
        let early = order.order == MemberOrder::Given
            && items.iter().any(|&other| number(other) > number(item));
        if used || early || order.max.is_some_and(|max| *count >= max) {
            return None;
        }
        let mut items = items.clone();
        items.insert(item);
        Some((items, count + 1))
    }

    fn is_complete(order: &Order, (items, count): &History) -> bool {
        let is_set = |mark| items.iter().any(|&item| order.items[item].marks.contains(&mark));
        let is_there = |once: &u32| items.iter().any(|&item| order.items[item].once == Some(*once));
        let mut number = 0;
        let mut holds = |needs: &[u32]| {
            let own = number;
            number += 1;
            let excluded = items.iter().any(|&item| order.items[item].excludes.contains(&own));
            !excluded && needs.iter().all(is_there)
        };
        // All are numbered, whether they hold or not.
        let condition_holds =
            |condition: &Condition| condition.needs.iter().filter(|needs| holds(needs)).count() > 0;
        *count >= order.min
            && order.max.is_none_or(|max| *count <= max)
            && (0..order.marks).all(is_set)
            && order.conditions.iter().all(condition_holds)
    }

    /// Whether at most `more` items make it complete.
    fn can_be_completed(order: &Order, history: &History, more: u32) -> bool {
        is_complete(order, history)
            || more > 0
                && nexts(order, history).any(|next| can_be_completed(order, &next, more - 1))
    }

    fn nexts(order: &Order, history: &History) -> impl Iterator<Item = History> {
        (0..order.items.len()).filter_map(|item| after(order, history, item))
    }

    /// How many more items are enough: three marks, or a `min` of three, and what four conditions
    /// need of four places.
    fn enough(order: &Order) -> u32 {
        if order.conditions.is_empty() { 3 } else { 7 }
    }

    fn check(order: &Order, plan: &OrderPlan, history: &History, seen: &[u64]) {
        let alive = |history: &History| can_be_completed(order, history, enough(order));
        let expected: Vec<Step> = (0..order.items.len())
            .filter_map(|item| {
                let next = after(order, history, item).filter(alive)?;
                let goes_on = nexts(order, &next).any(|next| alive(&next));
                Some(Step { item, ends: is_complete(order, &next), goes_on })
            })
            .collect();
        let mut steps = plan.steps(seen);
        // A plan may have put the items into another order.
        let number = |step: &Step| match plan.order().items[step.item].symbols[0] {
            Sym::Lexeme(id) => id.0 as usize,
            _ => unreachable!("lexemes number the items"),
        };
        let mut named: Vec<(Step, usize)> =
            steps.drain(..).map(|step| (Step { item: number(&step), ..step }, step.item)).collect();
        named.sort_by_key(|(step, _)| step.item);
        let steps: Vec<Step> = named.iter().map(|&(step, _)| step).collect();
        assert_eq!(steps, expected, "{order:?} after {history:?}");
        if history.1 < 4 {
            for (Step { item, goes_on, .. }, own) in named {
                let next = after(order, history, item).unwrap();
                if goes_on {
                    check(order, plan, &next, &plan.with(seen, own));
                }
            }
        }
    }

    /// Up to three conditions of up to three alternatives.
    fn add_conditions(order: &mut Order, below: &mut impl FnMut(u32) -> u32) {
        let mut alternatives = 0;
        for _ in 0..=below(3) {
            let needs: Box<[Box<[u32]>]> = (0..=below(3))
                .map(|_| (0..4).filter(|_| below(4) == 0).map(|place| place * 10).collect())
                .collect();
            alternatives += needs.len() as u32;
            order.conditions.push(Condition { needs });
        }
        for item in order.items.iter_mut().filter(|item| item.once.is_some()) {
            item.excludes = (0..alternatives).filter(|_| below(4) == 0).collect();
        }
    }

    /// Exactly one of 100 items, and another one if that is the last: few steps to find it out.
    #[test]
    fn conditions_of_many_items_are_small() {
        let items: Vec<(Option<u32>, &[u32])> =
            (0..101).map(|once| (Some(once), &[][..])).collect();
        let mut order = order(MemberOrder::Given, &items, 0, 0, None);
        let needs = |item: u32| if item == 99 { [99, 100].into() } else { [item].into() };
        order.conditions = vec![Condition { needs: (0..100).map(needs).collect() }];
        for item in 0..100 {
            order.items[item as usize].excludes = (0..100).filter(|&other| other != item).collect();
        }
        order.most_steps = 20_000;
        let plan = OrderPlan::new(order.clone()).unwrap().unwrap();
        let nothing = plan.nothing();
        assert_eq!(plan.steps(&nothing).len(), 100);
        for item in 0..100 {
            let expected = vec![Step { item: 100, ends: true, goes_on: false }];
            assert_eq!(plan.steps(&plan.with(&nothing, item)), expected);
            assert_eq!(plan.steps(&nothing)[item].ends, item != 99);
        }
        order.most_steps = 100;
        let error = OrderPlan::new(order).unwrap_err();
        assert_eq!(error.limit(), Some("condition_steps"));
    }

    #[test]
    fn agrees_with_trying_everything() {
        let mut state = 1_u32;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % bound
        };
        let (mut plans, mut plain) = (0, 0);
        for round in 0..6000 {
            let kind = if round % 2 == 0 { MemberOrder::Any } else { MemberOrder::Given };
            let sets: Vec<Vec<u32>> =
                (0..=below(4)).map(|_| (0..4).filter(|_| below(3) == 0).collect()).collect();
            let items: Vec<(Option<u32>, &[u32])> = sets
                .iter()
                .map(|marks| ((below(4) > 0).then(|| below(4) * 10), &marks[..]))
                .collect();
            let max = (below(2) == 0).then(|| below(5));
            let mut order = order(kind, &items, below(4), below(4), max);
            if kind == MemberOrder::Given && round % 4 == 1 {
                add_conditions(&mut order, &mut below);
            }
            let history = (BTreeSet::new(), 0);
            // The plan is of at least one item.
            let expected =
                nexts(&order, &history).any(|next| can_be_completed(&order, &next, enough(&order)));
            if order.has_all_in_a_row() {
                assert!(expected, "{order:?}");
                plain += 1;
            }
            match OrderPlan::new(order.clone()).unwrap() {
                Some(plan) => {
                    assert!(expected, "{order:?}");
                    plans += 1;
                    check(&order, &plan, &history, &plan.nothing());
                }
                None => assert!(!expected, "{order:?}"),
            }
        }
        assert!(plans > 1000, "only {plans} could be completed");
        assert!(plain > 100, "only {plain} of them are plain");
    }
}
