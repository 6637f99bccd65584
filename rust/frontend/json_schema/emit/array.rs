//! Arrays: a list → rules.
//!
//! Items at the first places have rules of their own, all others are alike. Where items of a kind
//! are counted (`contains`), the state between two items is the place and the counts.

use rustc_hash::FxHashMap;

use super::super::algebra::{List, Result, Signed};
use super::Emitter;
use crate::frontend::json_schema::limits::Limit;
use crate::grammar::SymbolKind;
use crate::index::{ExprId, SymbolId};
use crate::span::Span;

/// The place, as far as it matters, and how many items of each kind there have been.
type State = (usize, Vec<u64>);

impl Emitter<'_> {
    /// The arrays of a list; `None` if there are none.
    pub(super) fn array(&mut self, list: &List, depth: u32) -> Result<Option<ExprId>> {
        if list.max.is_some_and(|max| max < list.min) {
            return Ok(None);
        }
        if list.unique && list.max.is_none_or(|max| max > 1) {
            // If not, it follows from the rest, or that it can't be enforced has been noted.
            if let Some(arrays) = self.unique(list, depth)? {
                return Ok(Some(arrays));
            }
        }
        if list.contains.is_empty() { self.plain(list, depth) } else { self.counted(list, depth) }
    }

    /// What holds for the item at a place.
    pub(super) fn at(list: &List, place: usize) -> Vec<Signed> {
        let here = list.rules.iter().filter(|rule| rule.from <= place && place < rule.to);
        here.map(|rule| rule.value).collect()
    }

    /// How many places have rules that do not hold for all places behind.
    pub(super) fn places(&self, list: &List) -> Result<usize> {
        let places = list
            .rules
            .iter()
            .map(|rule| if rule.to == usize::MAX { rule.from } else { rule.to })
            .max()
            .unwrap_or(0);
        if places > self.limit(Limit::ItemPlaces) {
            return Err(self.more_than(Limit::ItemPlaces, "items of one array have own schemas"));
        }
        Ok(places)
    }

    fn plain(&mut self, list: &List, depth: u32) -> Result<Option<ExprId>> {
        let clip = |count: u64| u32::try_from(count).unwrap_or(u32::MAX - 1);
        let layout = self.layout(depth);
        let mut max = list.max;
        let mut items = Vec::new();
        for place in 0..self.places(list)? {
            if max.is_some_and(|max| place as u64 >= max) {
                break;
            }
            match self.value(Self::at(list, place), depth + 1)? {
                Some(item) => items.push(item),
                None => max = Some(place as u64),
            }
        }
        let own = items.len() as u64;
        let mut rest = None;
        if max.is_none_or(|max| max > own) {
            rest = self.value(Self::at(list, usize::MAX - 1), depth + 1)?;
        }
        if rest.is_none() {
            max = Some(max.map_or(own, |max| max.min(own)));
        }
        if max.is_some_and(|max| max < list.min) {
            return Ok(None);
        }
        let comma = layout.comma;
        let builder = &mut self.algebra.builder;
        // What follows the items with places of their own, from the last of them back.
        let mut tail = match rest {
            Some(rest) if own > 0 => {
                let more = builder.seq(&[comma, rest]);
                let most = max.map(|max| clip(max - own));
                builder.repeat(more, clip(list.min.saturating_sub(own)), most)
            }
            _ => builder.empty(),
        };
        for (place, &item) in items.iter().enumerate().skip(1).rev() {
            let here = builder.seq(&[comma, item, tail]);
            tail = if (place as u64) < list.min { here } else { builder.repeat(here, 0, Some(1)) };
        }
        let body = match (items.first(), rest) {
            (Some(&first), _) => Some(builder.seq(&[first, tail])),
            (None, Some(rest)) => {
                let more = builder.seq(&[comma, rest]);
                let least = clip(list.min.saturating_sub(1));
                let more = builder.repeat(more, least, max.map(|max| clip(max - 1)));
                Some(builder.seq(&[rest, more]))
            }
            (None, None) => None,
        };
        Ok(self.bracketed(body.filter(|_| max != Some(0)), list.min == 0, depth))
    }

    /// `[`, a body or nothing, `]`.
    pub(super) fn bracketed(
        &mut self,
        body: Option<ExprId>,
        empty: bool,
        depth: u32,
    ) -> Option<ExprId> {
        let layout = self.layout(depth);
        let mut alternatives = Vec::new();
        alternatives.extend(empty.then_some(layout.empty_array));
        if let Some(body) = body {
            let parts = [layout.open_array, body, layout.close_array];
            alternatives.push(self.algebra.builder.seq(&parts));
        }
        self.one_of(alternatives)
    }

    fn counted(&mut self, list: &List, depth: u32) -> Result<Option<ExprId>> {
        if list.contains.len() > self.limit(Limit::ItemKinds) {
            return Err(self.more_than(Limit::ItemKinds, "kinds of items are counted in one array"));
        }
        let clip = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        // Places from this one on are alike.
        let alike = self
            .places(list)?
            .max(clip(list.min))
            .max(list.max.map_or(0, clip))
            .max(list.contains.iter().map(|contains| contains.from).max().unwrap_or(0));
        let mut counted =
            Counted { list, depth, alike, states: FxHashMap::default(), open: Vec::new() };
        let start = (0, vec![0; list.contains.len()]);
        let empty = list.min == 0 && list.contains.iter().all(|contains| contains.min == 0);
        let mut first = Vec::new();
        for (item, state) in self.steps(&counted, &start)? {
            let rest = counted.symbol(self, state)?;
            first.push(self.algebra.builder.seq(&[item, rest]));
        }
        let comma = self.layout(depth).comma;
        while let Some((state, symbol)) = counted.open.pop() {
            let mut alternatives = Vec::new();
            let (place, counts) = &state;
            let enough = list.contains.iter().zip(counts).all(|(kind, &count)| count >= kind.min);
            if enough && *place as u64 >= list.min {
                alternatives.push(self.algebra.builder.empty());
            }
            for (item, next) in self.steps(&counted, &state)? {
                let rest = counted.symbol(self, next)?;
                alternatives.push(self.algebra.builder.seq(&[comma, item, rest]));
            }
            let body = self.algebra.builder.alt(&alternatives);
            self.algebra.builder.define(symbol, body);
        }
        let body = self.one_of(first);
        Ok(self.bracketed(body, empty, depth))
    }

    /// The items that may come in a state, and the states behind them.
    fn steps(&mut self, counted: &Counted<'_>, state: &State) -> Result<Vec<(ExprId, State)>> {
        let (place, counts) = state;
        let list = counted.list;
        if list.max.is_some_and(|max| *place as u64 >= max) {
            return Ok(Vec::new());
        }
        let at = if *place < counted.alike { *place } else { usize::MAX - 1 };
        let rules = Self::at(list, at);
        let kinds: Vec<usize> =
            (0..counts.len()).filter(|&kind| list.contains[kind].from <= *place).collect();
        let mut steps = Vec::new();
        for selection in 0..1u32 << kinds.len() {
            let mut parts = rules.clone();
            let mut next = counts.clone();
            let mut possible = true;
            for (index, &kind) in kinds.iter().enumerate() {
                let contains = &list.contains[kind];
                if selection >> index & 1 == 1 {
                    parts.push(contains.value);
                    next[kind] += 1;
                    // More than enough is enough; more than allowed is too much.
                    match contains.max {
                        Some(max) => possible &= next[kind] <= max,
                        None => next[kind] = next[kind].min(contains.min),
                    }
                } else if contains.max.is_some() {
                    let value = contains.value;
                    parts.push(Signed { positive: !value.positive, ..value });
                }
            }
            if possible && let Some(item) = self.value(parts, counted.depth + 1)? {
                steps.push((item, ((*place + 1).min(counted.alike), next)));
            }
        }
        Ok(steps)
    }
}

/// The states of an array that counts.
struct Counted<'l> {
    list: &'l List,
    depth: u32,
    alike: usize,
    states: FxHashMap<State, SymbolId>,
    open: Vec<(State, SymbolId)>,
}

impl Counted<'_> {
    /// What follows an item.
    fn symbol(&mut self, emitter: &mut Emitter<'_>, state: State) -> Result<ExprId> {
        if let Some(&known) = self.states.get(&state) {
            return Ok(emitter.algebra.builder.symbol(known));
        }
        if self.states.len() >= emitter.limit(Limit::ItemStates) {
            let message = "states of one array that counts its items";
            return Err(emitter.more_than(Limit::ItemStates, message));
        }
        let builder = &mut emitter.algebra.builder;
        let symbol = builder.declare("items", SymbolKind::Rule, Span::default());
        self.states.insert(state.clone(), symbol);
        self.open.push((state, symbol));
        Ok(builder.symbol(symbol))
    }
}
