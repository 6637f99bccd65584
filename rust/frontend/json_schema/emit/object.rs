//! Objects: a shape → members.
//!
//! The named properties come in their order, each at most once, then all others; or in any order.
//! The engine makes the productions for what has been seen of them when it is needed.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::algebra::{
    Condition, Domain, Exists, Known, Names, Result, Shape, Signed, Strings,
};
use super::Emitter;
use super::conditions::{Needs, Said, condition, needs};
use super::spelling::shown;
use crate::frontend::json_schema::limits::Limit;
use crate::frontend::json_schema::options::PropertyOrder;
use crate::grammar::{Member, MemberOrder, Members};
use crate::index::ExprId;

/// A pattern with at most this many names is a list of names.
const MAX_WORDS: usize = 64;

/// What a property may be.
#[derive(PartialEq, Eq)]
pub(super) struct Variant {
    /// Which of the properties that must exist it is.
    exists: u32,
    /// The alternatives of conditions that it excludes.
    excludes: Vec<u32>,
    /// Its text.
    expr: ExprId,
}

/// A named property.
pub(super) struct Slot {
    pub(super) variants: Vec<Variant>,
    required: bool,
    /// Whether its name has a place in the order; if not, it comes among the others.
    in_order: bool,
    /// The alternatives of conditions that need it.
    needed_by: Vec<u32>,
}

/// Named properties.
pub(super) type Slots = Vec<(Rc<str>, Slot)>;

/// How many properties count and what must be among them.
struct Bounds {
    /// Bits of all that must exist.
    exists: u32,
    min: usize,
    max: Option<usize>,
}

impl Emitter<'_> {
    /// The objects of a shape; `None` if there are none.
    pub(super) fn object(&mut self, shape: &Shape, depth: u32) -> Result<Option<ExprId>> {
        if shape.exists.len() > self.limit(Limit::UnnamedProperties) {
            let message = "properties must exist whose name is not given";
            return Err(self.more_than(Limit::UnnamedProperties, message));
        }
        let settled;
        let mut shape = shape;
        if !shape.conditions.is_empty() {
            match self.algebra.settled(shape)? {
                Some(shape) => settled = shape,
                None => return Ok(None),
            }
            shape = &settled;
        }
        let has_conditions = !shape.conditions.is_empty();
        let any = self.algebra.options.property_order == PropertyOrder::Any;
        if has_conditions && (any || self.algebra.has_own_orders(shape)?) {
            return self.put_together(shape, depth);
        }
        let Some(slots) = self.slots(shape, depth)? else { return Ok(None) };
        let names: Vec<Rc<str>> = slots.iter().map(|(name, _)| Rc::clone(name)).collect();
        let open = self.open_properties(shape, &names, depth)?;
        let conditions = if has_conditions { needs(shape, &slots) } else { Vec::new() };
        let slots: Vec<Slot> = slots
            .into_iter()
            .map(|(_, slot)| slot)
            .filter(|slot| !slot.variants.is_empty())
            .collect();
        let needed = slots.iter().filter(|slot| slot.required).count();
        let clip = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let (min, max) = (clip(shape.min), shape.max.map(clip));
        let bounds = Bounds {
            exists: (1 << shape.exists.len()) - 1,
            // There is at least one, where there are any.
            min: if min <= needed.max(1) { 0 } else { min },
            max: max.filter(|&max| !open.is_empty() || max < slots.len()),
        };
        if max.is_some_and(|max| max < needed || max < min) {
            return Ok(None);
        }
        if has_conditions && !self.is_given(&slots, &bounds) {
            return self.put_together(shape, depth);
        }
        let needs_none =
            |condition: &Condition| condition.iter().any(|one| one.required.is_empty());
        let empty = needed == 0
            && min == 0
            && bounds.exists == 0
            && shape.conditions.iter().all(needs_none);
        let body = self.properties(slots, &open, &bounds, conditions, depth);
        let layout = self.layout(depth);
        let mut alternatives = Vec::new();
        if empty {
            alternatives.push(layout.empty_object);
        }
        if let Some(body) = body.filter(|_| bounds.max != Some(0)) {
            let parts = [layout.open_object, body, layout.close_object];
            alternatives.push(self.algebra.builder.seq(&parts));
        }
        Ok((!alternatives.is_empty()).then(|| self.algebra.builder.alt(&alternatives)))
    }

    /// The named properties; `None` if one that must be there can't be.
    fn slots(&mut self, shape: &Shape, depth: u32) -> Result<Option<Slots>> {
        let mut by_name: FxHashMap<&str, Vec<Signed>> = FxHashMap::default();
        for (name, value) in &shape.named {
            by_name.entry(name).or_default().push(*value);
        }
        let said = Said::new(shape);
        let (order, in_order) = self.property_names(shape)?;
        let required: FxHashSet<&str> = shape.required.iter().map(|name| &**name).collect();
        let mut slots = Vec::new();
        for (index, name) in order.into_iter().enumerate() {
            self.check_size()?;
            let in_order = index < in_order;
            let required = required.contains(&*name);
            let known = Known::Name(&name);
            let mut parts = by_name.get(&*name).cloned().unwrap_or_default();
            parts.extend(self.algebra.wide_values(shape, &known)?);
            let mut variants = Vec::new();
            if self.algebra.is_name_allowed(shape, &name)? {
                variants = match said.of(&name) {
                    None => self.variants(&shape.exists, &known, &parts, &[], depth)?,
                    Some(said) => {
                        let mut variants = Vec::new();
                        for cell in self.cells_of_values(&parts, said)? {
                            let (exists, excludes) = (&shape.exists, &cell.excludes);
                            let parts = [cell.parts, cell.not].concat();
                            variants
                                .extend(self.variants(exists, &known, &parts, excludes, depth)?);
                        }
                        variants
                    }
                };
                if !variants.is_empty() {
                    let colon = self.layout(depth).colon;
                    let key = self.one_key(&name, colon);
                    for variant in &mut variants {
                        variant.expr = self.algebra.builder.seq(&[key, variant.expr]);
                    }
                }
            }
            if required && variants.is_empty() {
                return Ok(None);
            }
            let needed_by = said.needed_by(&name);
            slots.push((name, Slot { variants, required, in_order, needed_by }));
        }
        Ok(Some(slots))
    }

    /// The names that a shape speaks of, and how many of them have a place in the order: they come
    /// first.
    pub(super) fn property_names(&mut self, shape: &Shape) -> Result<(Vec<Rc<str>>, usize)> {
        let mut order: Vec<Rc<str>> = Vec::new();
        let mut seen: FxHashSet<Rc<str>> = FxHashSet::default();
        let mut add = |name: &Rc<str>| {
            if seen.insert(Rc::clone(name)) {
                order.push(Rc::clone(name));
            }
        };
        if !shape.conditions.is_empty() {
            self.algebra.names_in_order(shape).iter().for_each(&mut add);
        }
        shape.named.iter().for_each(|(name, _)| add(name));
        shape.required.iter().for_each(&mut add);
        for alternative in shape.conditions.iter().flat_map(|condition| condition.iter()) {
            alternative.named.iter().for_each(|(name, _)| add(name));
        }
        let in_order = order.len();
        let mut add = |name: &Rc<str>| {
            if seen.insert(Rc::clone(name)) {
                order.push(Rc::clone(name));
            }
        };
        let mut languages = Vec::new();
        for names in names_of(shape) {
            names.visit(&mut add, &mut |language| languages.push(language));
        }
        for strings in &shape.names {
            match strings {
                Strings::Words(words) => words.iter().for_each(&mut add),
                &Strings::Regular(language) => languages.push(language),
                Strings::Except(_) => {}
            }
        }
        languages.sort_unstable();
        languages.dedup();
        for language in languages {
            if let Some(words) = Strings::Regular(language).words(MAX_WORDS, &mut self.algebra)? {
                words.iter().for_each(&mut add);
            }
        }
        Ok((order, in_order))
    }

    /// The values of a property, by which of the properties that must exist it is taken for.
    fn variants(
        &mut self,
        exists: &[Exists],
        name: &Known<'_>,
        parts: &[Signed],
        excludes: &[u32],
        depth: u32,
    ) -> Result<Vec<Variant>> {
        let mut variants: Vec<Variant> = Vec::new();
        // What asks for nothing but a name is taken along.
        let (mut free, mut costly) = (0, Vec::new());
        for (index, exists) in exists.iter().enumerate() {
            if exists.names.contains(name, &mut self.algebra)? {
                match exists.value {
                    None => free |= 1 << index,
                    Some(value) => costly.push((1 << index, value)),
                }
            }
        }
        for selection in 0..1u32 << costly.len() {
            let chosen = costly.iter().enumerate().filter(|(at, _)| selection >> at & 1 == 1);
            let bits = chosen.clone().fold(free, |bits, (_, (bit, _))| bits | bit);
            let parts = parts.iter().copied().chain(chosen.map(|(_, &(_, value))| value));
            if let Some(expr) = self.value(parts, depth + 1)? {
                let excludes = excludes.to_vec();
                variants.push(Variant { exists: bits, excludes, expr });
            }
        }
        Ok(variants)
    }

    /// A name with its quotes and colon.
    fn key(&mut self, names: &Strings, depth: u32) -> ExprId {
        let colon = self.layout(depth).colon;
        if let Strings::Words(words) = names
            && let [word] = &words[..]
        {
            return self.one_key(word, colon);
        }
        let builder = &mut self.algebra.builder;
        let quote = builder.literal(b"\"");
        let body = if let Strings::Except(words) = names {
            // What is left out are names with their colons, which are there already.
            let any = Strings::all().expr(builder);
            let any = self.spell(any);
            let any = self.algebra.builder.seq(&[quote, any, quote, colon]);
            let words: Vec<ExprId> = words.iter().map(|word| self.key_body(word, colon)).collect();
            self.algebra.builder.and(&[any], &words)
        } else {
            let expr = names.expr(builder);
            let spelled = self.spell(expr);
            self.algebra.builder.seq(&[quote, spelled, quote, colon])
        };
        self.terminal("name:", body)
    }

    fn key_body(&mut self, word: &str, colon: ExprId) -> ExprId {
        let spelled = self.quoted(word);
        self.algebra.builder.seq(&[spelled, colon])
    }

    /// The same for one name.
    fn one_key(&mut self, word: &str, colon: ExprId) -> ExprId {
        let body = self.key_body(word, colon);
        match self.terminals.get(&body) {
            Some(&known) => known,
            None => self.terminal(shown(word) + ":", body),
        }
    }

    /// The properties with a name that is none of the given ones. Names are told apart by which
    /// patterns they match; names whose values must be the same come together.
    fn open_properties(
        &mut self,
        shape: &Shape,
        names: &[Rc<str>],
        depth: u32,
    ) -> Result<Vec<Variant>> {
        if shape.names.iter().any(|names| matches!(names, Strings::Words(_))) {
            return Ok(Vec::new());
        }
        let Some(many) = self.open_patterns(shape)? else {
            return Err(self.more_than(Limit::NamePatterns, "patterns of names in one object"));
        };
        let closed = shape.is_closed_by_option();
        let mut groups: Vec<(Vec<Variant>, Vec<ExprId>)> = Vec::new();
        for (all, none) in self.cells(&many)? {
            if closed && all.is_empty() {
                continue;
            }
            let known = Known::Open(&all);
            let parts = self.algebra.wide_values(shape, &known)?;
            let variants = self.variants(&shape.exists, &known, &parts, &[], depth)?;
            if variants.is_empty() {
                continue;
            }
            let language = if all.is_empty() {
                let any = Strings::all().expr(&mut self.algebra.builder);
                self.algebra.builder.and(&[any], &none)
            } else {
                self.algebra.builder.and(&all, &none)
            };
            match groups.iter_mut().find(|(known, _)| *known == variants) {
                Some((_, languages)) => languages.push(language),
                None => groups.push((variants, vec![language])),
            }
        }
        let whole = groups.len() == 1 && groups[0].1.len() == 1 << many.len();
        let mut open = Vec::new();
        for (variants, languages) in groups {
            let mut language = if whole {
                Strings::all()
            } else {
                Strings::Regular(self.algebra.builder.alt(&languages))
            };
            for names in &shape.names {
                language = language.and(names.clone(), &mut self.algebra)?;
            }
            let language = language.and(Strings::Except(names.into()), &mut self.algebra)?;
            let key = self.key(&language, depth);
            for variant in variants {
                let expr = self.algebra.builder.seq(&[key, variant.expr]);
                open.push(Variant { expr, ..variant });
            }
        }
        Ok(open)
    }

    /// The patterns of more names than could be listed; `None` if there are too many.
    pub(super) fn open_patterns(&mut self, shape: &Shape) -> Result<Option<Vec<ExprId>>> {
        let mut patterns: Vec<ExprId> = Vec::new();
        for names in names_of(shape) {
            names.visit(&mut |_| {}, &mut |language| patterns.push(language));
        }
        patterns.sort_unstable();
        patterns.dedup();
        let mut many = Vec::new();
        for pattern in patterns {
            if Strings::Regular(pattern).words(MAX_WORDS, &mut self.algebra)?.is_none() {
                many.push(pattern);
            }
        }
        Ok((many.len() <= self.limit(Limit::NamePatterns)).then_some(many))
    }

    /// The ways in which a name can match some patterns and not others.
    pub(super) fn cells(&mut self, patterns: &[ExprId]) -> Result<Vec<(Vec<ExprId>, Vec<ExprId>)>> {
        let mut cells = vec![(Vec::new(), Vec::new())];
        for &pattern in patterns {
            let mut split = Vec::new();
            for (all, none) in cells {
                let (mut with, mut without): (Vec<ExprId>, Vec<ExprId>) =
                    (all.clone(), none.clone());
                with.push(pattern);
                without.push(pattern);
                split.push((with, none));
                split.push((all, without));
            }
            cells = Vec::new();
            for (all, none) in split {
                let possible = all.is_empty() || all.len() + none.len() == 1 || {
                    let language = self.algebra.builder.and(&all, &none);
                    !self.algebra.languages.is_empty(&self.algebra.builder, language)?
                };
                if possible {
                    cells.push((all, none));
                }
            }
        }
        Ok(cells)
    }

    /// At least one property: named ones in their order, then all others; or all in any order.
    fn properties(
        &mut self,
        slots: Vec<Slot>,
        open: &[Variant],
        bounds: &Bounds,
        conditions: Vec<Needs>,
        depth: u32,
    ) -> Option<ExprId> {
        if !self.is_given(&slots, bounds) {
            return self.members(MemberOrder::Any, &slots, open, bounds, conditions, depth);
        }
        let (mut slots, others): (Vec<Slot>, Vec<Slot>) =
            slots.into_iter().partition(|slot| slot.in_order);
        if others.is_empty() {
            return self.members(MemberOrder::Given, &slots, open, bounds, conditions, depth);
        }
        let required = others.iter().any(|slot| slot.required);
        let last = self.members(MemberOrder::Any, &others, open, bounds, Vec::new(), depth)?;
        let last = Variant { exists: 0, excludes: Vec::new(), expr: last };
        let needed_by = Vec::new();
        slots.push(Slot { variants: vec![last], required, in_order: true, needed_by });
        self.members(MemberOrder::Given, &slots, &[], bounds, conditions, depth)
    }

    /// Whether the named properties come in their order.
    fn is_given(&self, slots: &[Slot], bounds: &Bounds) -> bool {
        match self.algebra.options.property_order {
            PropertyOrder::Any => false,
            // Where the others have names they are members of their own, which are not counted
            // together with those in order.
            PropertyOrder::Schema => {
                slots.iter().all(|slot| slot.in_order)
                    || bounds.exists == 0 && bounds.min == 0 && bounds.max.is_none()
            }
        }
    }

    fn members(
        &mut self,
        order: MemberOrder,
        slots: &[Slot],
        open: &[Variant],
        bounds: &Bounds,
        mut conditions: Vec<Needs>,
        depth: u32,
    ) -> Option<ExprId> {
        let exists = bounds.exists.count_ones();
        let bits = |bits: u32| (0..exists).filter(move |bit| bits >> bit & 1 == 1);
        let mut items = Vec::with_capacity(slots.len() + open.len());
        // One mark for each that must exist, then one for each that is required.
        let mut marks = exists;
        for (once, slot) in slots.iter().enumerate() {
            let own = slot.required.then_some(marks);
            marks += u32::from(slot.required);
            for &Variant { exists, ref excludes, expr } in &slot.variants {
                let marks = bits(exists).chain(own).collect();
                let excludes = (&**excludes).into();
                items.push(Member { expr, once: Some(once as u32), marks, excludes });
            }
            let mut alternatives = conditions.iter_mut().flatten();
            let mut from = 0;
            for &alternative in &*slot.needed_by {
                let needs = alternatives.nth(alternative as usize - from);
                from = alternative as usize + 1;
                if let Some(needs) = needs {
                    needs.push(once as u32);
                }
            }
        }
        for &Variant { exists, expr, .. } in open {
            let (marks, excludes) = (bits(exists).collect(), [].into());
            items.push(Member { expr, once: None, marks, excludes });
        }
        if items.is_empty() {
            return None;
        }
        let separator = self.layout(depth).comma;
        let clip = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Some(self.algebra.builder.members(Members {
            order,
            items: items.into(),
            separator,
            marks,
            min: clip(bounds.min).max(1),
            max: bounds.max.map(clip),
            conditions: conditions.into_iter().map(condition).collect(),
        }))
    }

    /// One of some expressions; `None` of none.
    pub(super) fn one_of(&mut self, mut alternatives: Vec<ExprId>) -> Option<ExprId> {
        alternatives.sort_unstable();
        alternatives.dedup();
        (!alternatives.is_empty()).then(|| self.algebra.builder.alt(&alternatives))
    }
}

/// The sets of names that a shape tells apart.
fn names_of(shape: &Shape) -> impl Iterator<Item = &Names> {
    let wide = shape.wide.iter().map(|(names, _)| names);
    wide.chain(shape.exists.iter().map(|exists| &exists.names))
}
