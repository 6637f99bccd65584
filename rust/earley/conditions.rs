//! Conditions on items in their given order: of each condition one alternative has to hold.
//!
//! An alternative needs items at some places, and items exclude alternatives. Going through the
//! places, an alternative is out when it is excluded, or when a place that it needs was passed
//! over. What is left of the alternatives is a node of a diagram, with what each item of the next
//! place leads to, and passing over it. Nodes from which no condition could hold don't exist, and
//! nodes that go on alike are one, so that a diagram mostly has few nodes for each place: of `at
//! most one of n items` two.
//!
//! Conditions that no place has in common don't depend on each other: these are *parts* with
//! diagrams of their own, and what has been seen is a node of each. Where items are counted, or
//! marks are left to several places, everything is one part. Each node knows how many items may
//! come behind it, as far as that matters.
//!
//! (Knuth, *The Art of Computer Programming*, volume 4A, 7.1.4: such diagrams, of two ways at each
//! place.)

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cover::Links;
use super::given_order::GivenPlan;
use crate::error::{GrammarError, GrammarErrorKind};

/// No node, no part.
const NONE: u32 = u32::MAX;
/// An alternative that nothing takes away any more.
const SURE: u32 = u32::MAX;

/// The conditions of a plan, ready to be asked.
#[derive(Clone, Debug)]
pub(super) struct Conditions {
    parts: Vec<Part>,
    /// The part that each place belongs to.
    part_of: Vec<u32>,
    /// Whether there is a place in no part from each place on, or an item that repeats.
    is_free: Vec<bool>,
    /// Whether the one part holds all places, counts and marks.
    is_whole: bool,
}

#[derive(Clone, Debug)]
struct Part {
    first: u32,
    nodes: Vec<Node>,
}

/// What is left behind some places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// The node behind the part's next place: without any of its items, then with each of them.
    next: Box<[u32]>,
    /// The numbers of items that may come from here on, as bits. The last bit also stands for all
    /// greater numbers.
    counts: Box<[u64]>,
}

/// What items and their absence do to alternatives.
struct Effects {
    /// The condition of each alternative.
    condition: Vec<usize>,
    /// Whether it needs an item that does not exist.
    hopeless: Vec<bool>,
    /// For each place the alternatives that need it.
    needed_by: Vec<Vec<u32>>,
}

impl Conditions {
    /// The conditions of a plan; `None` if no text belongs to it.
    ///
    /// # Errors
    /// The conditions depend on each other in too many ways.
    pub(super) fn new(plan: &GivenPlan) -> Result<Option<Self>, GrammarError> {
        if plan.order().conditions.iter().any(|condition| condition.needs.is_empty()) {
            return Ok(None);
        }
        let effects = Effects::new(plan);
        let count = plan.count();
        let is_whole = plan.is_counted() || plan.all_missing() != 0;
        let of_parts = effects.parts(plan, is_whole);
        let mut part_of = vec![NONE; count];
        let mut parts = Vec::new();
        let mut steps = 0;
        for (conditions, places) in of_parts {
            for &place in &places {
                part_of[place] = parts.len() as u32;
            }
            let building = Building::new(plan, &effects, &conditions, &places, is_whole);
            match building.build(&mut steps)? {
                Some(part) => parts.push(part),
                None => return Ok(None),
            }
        }
        let mut is_free = vec![plan.repeats(); count + 1];
        for place in (0..count).rev() {
            is_free[place] = is_free[place + 1] || part_of[place] == NONE;
        }
        let all = Self { parts, part_of, is_free, is_whole };
        let first: Vec<u64> = all.first().collect();
        // There is at least one item.
        let (_, some) = all.after(plan, 0, 0, 0, &first);
        Ok(some.then_some(all))
    }

    /// Each part's node before the first place.
    pub(super) fn first(&self) -> impl Iterator<Item = u64> {
        self.parts.iter().map(|part| part.first.into())
    }

    /// Goes past a place, with an item of it or without; gives the node before. `None` if that
    /// can't be completed.
    pub(super) fn step(
        &self,
        plan: &GivenPlan,
        place: usize,
        item: Option<usize>,
        left: &mut [u64],
    ) -> Option<u64> {
        let part = self.part_of[place];
        if part == NONE {
            return Some(0);
        }
        let way = item.map_or(0, |item| 1 + item - plan.choices(place).start);
        let node = &mut left[part as usize];
        let next = self.parts[part as usize].nodes[*node as usize].next[way];
        (next != NONE).then(|| std::mem::replace(node, next.into()))
    }

    /// Takes back [`Self::step`].
    pub(super) fn undo(&self, place: usize, node: u64, left: &mut [u64]) {
        if let Some(left) = left.get_mut(self.part_of[place] as usize) {
            *left = node;
        }
    }

    /// Goes past all places up to an item, from a place on.
    pub(super) fn follow(&self, plan: &GivenPlan, from: usize, item: usize, left: &mut [u64]) {
        for place in from..plan.count() {
            if plan.choices(place).contains(&item) {
                self.step(plan, place, Some(item), left);
                return;
            }
            self.step(plan, place, None, left);
        }
    }

    /// Whether `count` items before a place can be all, and whether more can follow. `required` is
    /// 0 if no place from there on has to have an item, whatever the conditions say.
    pub(super) fn after(
        &self,
        plan: &GivenPlan,
        place: usize,
        required: u32,
        count: u64,
        left: &[u64],
    ) -> (bool, bool) {
        let mut nodes = self.parts.iter().zip(left).map(|(part, &node)| &part.nodes[node as usize]);
        if self.is_whole {
            let [Some(node), None] = [nodes.next(), nodes.next()] else { return (false, false) };
            let can = |fewest: u64, most: u64| node.has(fewest, most, plan, count);
            return (can(0, 0), can(1, u64::MAX));
        }
        let ends = required == 0 && nodes.clone().all(|node| node.counts[0] & 1 != 0);
        (ends, self.is_free[place] || nodes.any(|node| node.counts[0] & !1 != 0))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let node =
            |node: &Node| size_of::<Node>() + size_of_val(&*node.next) + size_of_val(&*node.counts);
        self.part_of.len() * 5
            + self.parts.iter().flat_map(|part| &part.nodes).map(node).sum::<usize>()
    }
}

impl Node {
    /// Whether between `fewest` and `most` items can follow `count` others.
    fn has(&self, fewest: u64, most: u64, plan: &GivenPlan, count: u64) -> bool {
        let order = plan.order();
        let max = order.max.map_or(u64::MAX, u64::from);
        let Some(most) = max.checked_sub(count).map(|left| left.min(most)) else { return false };
        let fewest = fewest.max(u64::from(order.min).saturating_sub(count));
        let is_set = |bit: u64| self.counts[bit as usize / 64] >> (bit % 64) & 1 == 1;
        let last = self.counts.len() as u64 * 64 - 1;
        if fewest > last && !plan.repeats() {
            return false;
        }
        (fewest.min(last)..=most.min(last)).any(is_set)
    }
}

impl Effects {
    fn new(plan: &GivenPlan) -> Self {
        let order = plan.order();
        let mut place_of: FxHashMap<u32, usize> = FxHashMap::default();
        for place in 0..plan.count() {
            place_of.extend(order.items[plan.choices(place).start].once.map(|once| (once, place)));
        }
        let mut effects = Self {
            condition: Vec::new(),
            hopeless: Vec::new(),
            needed_by: vec![Vec::new(); plan.count()],
        };
        for (index, condition) in order.conditions.iter().enumerate() {
            for needs in &condition.needs {
                let alternative = effects.condition.len() as u32;
                let mut hopeless = false;
                for once in needs {
                    match place_of.get(once) {
                        Some(&place) => effects.needed_by[place].push(alternative),
                        None => hopeless = true,
                    }
                }
                effects.condition.push(index);
                effects.hopeless.push(hopeless);
            }
        }
        effects
    }

    /// The alternatives that a place may take away.
    fn at<'p>(&'p self, plan: &'p GivenPlan, place: usize) -> impl Iterator<Item = u32> + 'p {
        let items = plan.order().items[plan.choices(place)].iter();
        let excluded = items.flat_map(|item| item.excludes.iter().copied());
        excluded.chain(self.needed_by[place].iter().copied())
    }

    /// The conditions and places of each part.
    fn parts(&self, plan: &GivenPlan, is_whole: bool) -> Vec<(Vec<usize>, Vec<usize>)> {
        let conditions = plan.order().conditions.len();
        if is_whole {
            return vec![((0..conditions).collect(), (0..plan.count()).collect())];
        }
        let mut links = Links::new(conditions);
        let mut of_place = vec![None; plan.count()];
        for (place, first) in of_place.iter_mut().enumerate() {
            for alternative in self.at(plan, place) {
                let condition = self.condition[alternative as usize];
                links.join(condition, *first.get_or_insert(condition));
            }
        }
        let mut number: FxHashMap<usize, usize> = FxHashMap::default();
        let mut parts: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for condition in 0..conditions {
            let part = *number.entry(links.root(condition)).or_insert(parts.len());
            if part == parts.len() {
                parts.push((Vec::new(), Vec::new()));
            }
            parts[part].0.push(condition);
        }
        for (place, condition) in of_place.into_iter().enumerate() {
            if let Some(condition) = condition {
                parts[number[&links.root(condition)]].1.push(place);
            }
        }
        parts
    }
}

/// The missing marks, and bits of the alternatives that are left.
type State = Box<[u64]>;

/// What the places from one on make of each bit.
struct Likes {
    /// Bits of one kind are treated alike, whichever conditions they are of; 0 are those that
    /// nothing takes away.
    kinds: Box<[u32]>,
    /// The first bit of its condition and kind; [`SURE`] for kind 0.
    first: Box<[u32]>,
}

/// A part being made.
struct Building<'p> {
    plan: &'p GivenPlan,
    places: &'p [usize],
    is_whole: bool,
    /// Before the first place.
    first: State,
    /// For each condition the bit that says that it surely holds, and those of its alternatives.
    conditions: Vec<Range<usize>>,
    /// For each place what is taken away without its items, then with each of them.
    taken: Vec<Vec<State>>,
}

impl<'p> Building<'p> {
    fn new(
        plan: &'p GivenPlan,
        effects: &Effects,
        conditions: &[usize],
        places: &'p [usize],
        is_whole: bool,
    ) -> Self {
        let own: FxHashSet<usize> = conditions.iter().copied().collect();
        let mut bits: FxHashMap<u32, usize> = FxHashMap::default();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut last = None;
        let mut bit = 0;
        for (alternative, condition) in effects.condition.iter().enumerate() {
            if !own.contains(condition) {
                continue;
            }
            if last.replace(condition) != Some(condition) {
                // The bit that says that it holds.
                ranges.push(bit..bit + 1);
                bit += 1;
            }
            bits.insert(alternative as u32, bit);
            bit += 1;
            if let Some(range) = ranges.last_mut() {
                range.end = bit;
            }
        }
        let words = 1 + bit.div_ceil(64);
        let set = |alternatives: &mut dyn Iterator<Item = u32>| -> State {
            let mut state = vec![0; words];
            for bit in alternatives.filter_map(|alternative| bits.get(&alternative)) {
                state[1 + bit / 64] |= 1 << (bit % 64);
            }
            state.into()
        };
        let mut first =
            set(&mut bits.keys().copied().filter(|&bit| !effects.hopeless[bit as usize]));
        first[0] = if is_whole { plan.all_missing().into() } else { 0 };
        let mut taken = Vec::new();
        for &place in places {
            let mut ways = vec![set(&mut effects.needed_by[place].iter().copied())];
            for item in plan.choices(place) {
                let mut way = set(&mut plan.order().items[item].excludes.iter().copied());
                way[0] = plan.sets(item).into();
                ways.push(way);
            }
            taken.push(ways);
        }
        Self { plan, places, is_whole, first, conditions: ranges, taken }
    }

    /// For the beginning and behind each place, what each bit is like from there on.
    fn likes(&self, steps: &mut usize) -> Result<Vec<Likes>, GrammarError> {
        let bits = self.conditions.last().map_or(0, |bits| bits.end);
        let mut kinds = vec![0_u32; bits];
        // A kind: how the next place treats it, and its kind behind that place.
        let mut known: FxHashMap<(usize, Vec<usize>, u32), u32> = FxHashMap::default();
        let mut all = vec![self.like(&kinds)];
        for (level, ways) in self.taken.iter().enumerate().rev() {
            self.count(bits, steps)?;
            let mut treated: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
            for (way, taken) in ways.iter().enumerate() {
                for (word, &set) in taken[1..].iter().enumerate() {
                    let bits = (0..64).filter(|bit| set >> bit & 1 == 1);
                    bits.for_each(|bit| treated.entry(64 * word + bit).or_default().push(way));
                }
            }
            for (bit, ways) in treated {
                let next = known.len() as u32 + 1;
                kinds[bit] = *known.entry((level, ways, kinds[bit])).or_insert(next);
            }
            all.push(self.like(&kinds));
        }
        all.reverse();
        Ok(all)
    }

    /// What bits of these kinds are like.
    fn like(&self, kinds: &[u32]) -> Likes {
        let mut like = vec![SURE; kinds.len()];
        for bits in &self.conditions {
            let mut first: FxHashMap<u32, u32> = FxHashMap::default();
            for bit in bits.clone().skip(1).filter(|&bit| kinds[bit] != 0) {
                like[bit] = *first.entry(kinds[bit]).or_insert(bit as u32);
            }
        }
        Likes { kinds: kinds.into(), first: like.into() }
    }

    /// Counts steps, of which there may be so many.
    fn count(&self, more: usize, steps: &mut usize) -> Result<(), GrammarError> {
        let most = self.plan.order().most_steps;
        *steps = steps.saturating_add(more);
        if *steps > most { Err(too_many(most)) } else { Ok(()) }
    }

    /// A state in its only form; `None` if some condition can't hold. Where one surely holds, or
    /// if another one does, its alternatives don't matter any more.
    fn normal(&self, state: &[u64], like: &Likes) -> Option<State> {
        let is_set = |bit: usize| state[1 + bit / 64] >> (bit % 64) & 1 == 1;
        let mut normal = vec![0; state.len()];
        let mut known: FxHashSet<Vec<u32>> = FxHashSet::default();
        normal[0] = state[0];
        for bits in &self.conditions {
            let mut set = |bit: usize| normal[1 + bit / 64] |= 1 << (bit % 64);
            let mut left = bits.clone().filter(|&bit| is_set(bit)).peekable();
            if left.peek()? == &bits.start || left.clone().any(|bit| like.first[bit] == SURE) {
                set(bits.start);
                continue;
            }
            let mut kinds: Vec<u32> = left.clone().map(|bit| like.kinds[bit]).collect();
            kinds.sort_unstable();
            kinds.dedup();
            if known.insert(kinds) {
                left.for_each(|bit| set(like.first[bit] as usize));
            } else {
                set(bits.start);
            }
        }
        Some(normal.into())
    }

    /// `None` if no text belongs to the part.
    fn build(&self, steps: &mut usize) -> Result<Option<Part>, GrammarError> {
        let likes = self.likes(steps)?;
        let Some(first) = self.normal(&self.first, &likes[0]) else { return Ok(None) };
        // Forwards: the states before each place, and where each way leads.
        let mut layer = vec![first];
        let mut ways_of: Vec<Vec<u32>> = Vec::new();
        for (level, ways) in self.taken.iter().enumerate() {
            let mut known: FxHashMap<State, u32> = FxHashMap::default();
            let mut following: Vec<State> = Vec::new();
            let mut leads = Vec::with_capacity(layer.len() * ways.len());
            for state in &layer {
                for (way, taken) in ways.iter().enumerate() {
                    self.count(state.len(), steps)?;
                    if way == 0 && self.plan.is_required(self.places[level]) {
                        leads.push(NONE);
                        continue;
                    }
                    let after = state.iter().zip(taken).map(|(state, taken)| state & !taken);
                    let after = self.normal(&after.collect::<Vec<u64>>(), &likes[level + 1]);
                    leads.push(after.map_or(NONE, |after| {
                        *known.entry(after).or_insert_with_key(|after| {
                            following.push(after.clone());
                            following.len() as u32 - 1
                        })
                    }));
                }
            }
            layer = following;
            ways_of.push(leads);
        }
        // Backwards: what can be completed, equal nodes once.
        let mut nodes = Nodes::default();
        let mut ids: Vec<u32> = Vec::new();
        for state in &layer {
            let counts = self.last(state[0] as u32);
            let node = counts.map(|counts| Node { next: Box::new([]), counts });
            ids.push(node.map_or(NONE, |node| nodes.id(node)));
        }
        for (leads, ways) in ways_of.iter().zip(&self.taken).rev() {
            let id = |&lead: &u32| ids.get(lead as usize).copied().unwrap_or(NONE);
            ids = leads
                .chunks(ways.len())
                .map(|leads| nodes.behind(leads.iter().map(id).collect()))
                .collect();
        }
        let first = ids.first().copied().unwrap_or(NONE);
        Ok((first != NONE).then_some(Part { first, nodes: nodes.nodes }))
    }

    /// How many items may come behind all places.
    fn last(&self, missing: u32) -> Option<Box<[u64]>> {
        let none = Box::new([1]);
        if !self.is_whole {
            return Some(none);
        }
        let fewest = self.plan.fewest_behind(missing)? as usize;
        if !self.plan.repeats() {
            return Some(if self.plan.is_counted() { self.counts([0]) } else { none });
        }
        // Any number from the fewest on.
        Some(if self.plan.is_counted() {
            self.counts(fewest..)
        } else {
            Box::new([if fewest == 0 { 3 } else { 2 }])
        })
    }

    /// Counts as bits, enough of them to tell apart all that can differ.
    fn counts(&self, counts: impl IntoIterator<Item = usize>) -> Box<[u64]> {
        let words = (self.plan.count() + self.plan.all_missing().count_ones() as usize) / 64 + 1;
        let mut bits = vec![0; words];
        for count in counts.into_iter().take_while(|&count| count < words * 64) {
            bits[count / 64] |= 1 << (count % 64);
        }
        bits.into()
    }
}

/// Nodes, equal ones once.
#[derive(Default)]
struct Nodes {
    nodes: Vec<Node>,
    known: FxHashMap<Node, u32>,
}

impl Nodes {
    fn id(&mut self, node: Node) -> u32 {
        *self.known.entry(node).or_insert_with_key(|node| {
            self.nodes.push(node.clone());
            self.nodes.len() as u32 - 1
        })
    }

    /// The node before a place, by where each way leads; [`NONE`] if all lead nowhere.
    fn behind(&mut self, next: Box<[u32]>) -> u32 {
        let mut counts: Vec<u64> = Vec::new();
        for (way, &node) in next.iter().enumerate().filter(|&(_, &node)| node != NONE) {
            let after = &self.nodes[node as usize].counts;
            counts.resize(after.len(), 0);
            let mut carry = 0;
            for (bits, &after) in counts.iter_mut().zip(after) {
                if way == 0 {
                    *bits |= after;
                } else {
                    *bits |= after << 1 | carry;
                    carry = after >> 63;
                }
            }
            // The last bit, and 1 where nothing else is told apart, also stand for more.
            if let Some(last) = counts.last_mut() {
                *last |= carry << 63;
            }
        }
        if counts.is_empty() { NONE } else { self.id(Node { next, counts: counts.into() }) }
    }
}

fn too_many(most: usize) -> GrammarError {
    GrammarError::new(
        GrammarErrorKind::Limit,
        format!(
            "conditions on which items there are depend on each other in more than {most} ways"
        ),
    )
    .with_hint("let fewer conditions say something of the same properties")
    .past_limit("condition_steps")
}
