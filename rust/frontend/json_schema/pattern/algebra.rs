//! Expressions of strings: smart constructors that keep what they build small, and facts about it.
//!
//! Sequences are flat, with literals side by side merged; next to Σ* (all strings), what can be
//! empty is dropped and repetitions shrink to what they need, so that `Σ* [a-z]+ Σ*` is
//! `Σ* [a-z] Σ*`. Alternatives are flat and without doubles, single characters among them one class.
//! Expressions must come from here, so that they hold nothing but characters.

use rustc_hash::{FxHashMap, FxHashSet};

use super::narrow::{Set, SetId};
use crate::frontend::classes;
use crate::grammar::{Expr, GrammarBuilder};
use crate::index::ExprId;

/// Sorted, disjoint, inclusive ranges of characters.
pub(super) type Ranges = Vec<(char, char)>;

/// From here on, doubles among alternatives are looked up.
const MANY: usize = 16;

/// Builds expressions of strings.
pub(super) struct Algebra<'b> {
    pub(super) builder: &'b mut GrammarBuilder,
    /// No string.
    pub(super) none: ExprId,
    /// The empty string.
    pub(super) empty: ExprId,
    /// Σ: any character.
    pub(super) any: ExprId,
    /// Σ*: all strings.
    pub(super) all: ExprId,
    facts: FxHashMap<ExprId, Facts>,
    /// What strings begin with; see [`super::narrow`].
    pub(super) sets: Vec<Set>,
    pub(super) narrowed: FxHashMap<(ExprId, SetId), ExprId>,
    pub(super) reversed: FxHashMap<ExprId, ExprId>,
}

/// What is known of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// The empty string belongs to it. Exact.
    pub(super) nullable: bool,
    /// No string of it is shorter, in characters.
    pub(super) min: u64,
    /// No string of it is longer; `None` if that is not known.
    pub(super) max: Option<u64>,
    /// How large it is, parts counted wherever they stand.
    pub(super) size: u64,
}

impl<'b> Algebra<'b> {
    pub(super) fn new(builder: &'b mut GrammarBuilder) -> Self {
        let (none, empty) = (builder.alt(&[]), builder.empty());
        let any = builder.class(&[(char::MIN, char::MAX)]);
        let all = builder.repeat(any, 0, None);
        Self {
            builder,
            none,
            empty,
            any,
            all,
            facts: FxHashMap::default(),
            sets: vec![Set::all()],
            narrowed: FxHashMap::default(),
            reversed: FxHashMap::default(),
        }
    }

    /// One character of the ranges.
    pub(super) fn class(&mut self, ranges: &[(char, char)]) -> ExprId {
        match ranges {
            [] => self.none,
            &[(low, high)] if low == high => self.literal(low.encode_utf8(&mut [0; 4])),
            _ => self.builder.class(ranges),
        }
    }

    pub(super) fn literal(&mut self, text: &str) -> ExprId {
        self.builder.literal(text.as_bytes())
    }

    /// The characters, if all strings of an expression are one character.
    pub(super) fn single(&self, expr: ExprId) -> Option<Ranges> {
        match self.builder.expr(expr) {
            Expr::Class(ranges) => Some(ranges.to_vec()),
            Expr::Literal(bytes) if bytes.len() <= 4 => {
                let mut chars = text(bytes).chars();
                let only = chars.next().filter(|_| chars.next().is_none())?;
                Some(vec![(only, only)])
            }
            _ => None,
        }
    }

    /// One after the other.
    pub(super) fn seq(&mut self, parts: &[ExprId]) -> ExprId {
        if let [one] = *parts {
            return one;
        }
        let mut flat: Vec<ExprId> = Vec::with_capacity(parts.len() + 4);
        // What is still to be put behind `flat`, from the last.
        let mut waiting: Vec<ExprId> = parts.iter().rev().copied().collect();
        while let Some(part) = waiting.pop() {
            if part == self.none {
                return self.none;
            }
            if let Expr::Seq(inner) = self.builder.expr(part) {
                waiting.extend(inner.iter().rev());
                continue;
            }
            if flat.last() == Some(&self.all) {
                match self.beside_all(part) {
                    Some(least) if least == part => flat.push(part),
                    Some(least) => waiting.push(least),
                    None => {}
                }
                continue;
            }
            if part == self.all {
                match flat.pop() {
                    None => flat.push(part),
                    Some(last) => match self.beside_all(last) {
                        Some(least) if least == last => flat.extend([last, part]),
                        Some(least) => waiting.extend([part, least]),
                        None => waiting.push(part),
                    },
                }
                continue;
            }
            if part == self.empty {
                continue;
            }
            if let (Some(&last), Expr::Literal(right)) = (flat.last(), self.builder.expr(part))
                && let Expr::Literal(left) = self.builder.expr(last)
            {
                let both = [&left[..], right].concat();
                flat.pop();
                flat.push(self.builder.literal(&both));
                continue;
            }
            flat.push(part);
        }
        self.builder.seq(&flat)
    }

    /// What is left of a part next to Σ*; `None` for nothing.
    fn beside_all(&mut self, part: ExprId) -> Option<ExprId> {
        if self.is_nullable(part) {
            return None;
        }
        match *self.builder.expr(part) {
            Expr::Repeat { expr, min, max } if max != Some(min) => {
                Some(self.repeat(expr, min, Some(min)))
            }
            _ => Some(part),
        }
    }

    /// One of these.
    pub(super) fn alt(&mut self, parts: &[ExprId]) -> ExprId {
        if let [one] = *parts {
            return one;
        }
        let mut optional = false;
        let mut flat: Vec<ExprId> = Vec::with_capacity(parts.len());
        let mut seen = FxHashSet::default();
        let mut waiting: Vec<ExprId> = parts.iter().rev().copied().collect();
        while let Some(part) = waiting.pop() {
            match self.builder.expr(part) {
                Expr::Alt(inner) => waiting.extend(inner.iter().rev()),
                &Expr::Repeat { expr, min: 0, max: Some(1) } => {
                    optional = true;
                    waiting.push(expr);
                }
                _ if part == self.all => return part,
                _ if part == self.empty => optional = true,
                _ => {
                    if flat.len() == MANY && seen.is_empty() {
                        seen.extend(flat.iter().copied());
                    }
                    let new =
                        if flat.len() < MANY { !flat.contains(&part) } else { seen.insert(part) };
                    if new {
                        flat.push(part);
                    }
                }
            }
        }
        self.merge_singles(&mut flat);
        if optional && flat.iter().any(|&part| self.is_nullable(part)) {
            optional = false;
        }
        match (optional, flat.is_empty()) {
            (true, true) => self.empty,
            (true, false) => {
                let rest = self.builder.alt(&flat);
                let (expr, max) = match *self.builder.expr(rest) {
                    Expr::Repeat { expr, min: 1, max } => (expr, max),
                    _ => (rest, Some(1)),
                };
                self.builder.repeat(expr, 0, max)
            }
            (false, _) => self.builder.alt(&flat),
        }
    }

    /// Makes single characters among alternatives one class, at the place of the first.
    fn merge_singles(&mut self, parts: &mut Vec<ExprId>) {
        let singles: Vec<Option<Ranges>> = parts.iter().map(|&part| self.single(part)).collect();
        let mut places = singles.iter().enumerate().filter(|(_, single)| single.is_some());
        let (Some((first, _)), Some(_)) = (places.next(), places.next()) else {
            return;
        };
        let mut ranges: Ranges = singles.iter().flatten().flatten().copied().collect();
        classes::normalise(&mut ranges);
        parts[first] = self.class(&ranges);
        let mut at = 0;
        parts.retain(|_| {
            at += 1;
            at - 1 <= first || singles[at - 1].is_none()
        });
    }

    /// `min` to `max` times.
    pub(super) fn repeat(&mut self, expr: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if max == Some(0) || expr == self.empty || expr == self.none && min == 0 {
            return self.empty;
        }
        if expr == self.none || expr == self.all && min <= 1 {
            return expr;
        }
        self.builder.repeat(expr, min, max)
    }

    /// The strings of all of `all` that belong to none of `none`.
    pub(super) fn and(&mut self, all: &[ExprId], none: &[ExprId]) -> ExprId {
        let mut each: Vec<ExprId> = Vec::with_capacity(all.len());
        let mut not: Vec<ExprId> = Vec::with_capacity(none.len());
        for &part in all {
            match self.builder.expr(part) {
                Expr::And { all, none } => {
                    each.extend(all.iter());
                    not.extend(none.iter());
                }
                _ if part == self.none => return part,
                _ if part == self.all => {}
                _ => each.push(part),
            }
        }
        for &part in none {
            match self.builder.expr(part) {
                Expr::Alt(parts) => not.extend(parts.iter()),
                _ if part == self.all => return self.none,
                _ => not.push(part),
            }
        }
        for list in [&mut each, &mut not] {
            let mut seen = FxHashSet::default();
            list.retain(|&part| seen.insert(part));
        }
        if each.is_empty() {
            each.push(self.all);
        }
        if not.iter().any(|part| each.contains(part)) {
            return self.none;
        }
        if each.contains(&self.empty) {
            let nullable = each.iter().all(|&part| self.is_nullable(part))
                && !not.iter().any(|&part| self.is_nullable(part));
            return if nullable { self.empty } else { self.none };
        }
        self.builder.and(&each, &not)
    }

    /// Whether the empty string belongs to an expression.
    pub(super) fn is_nullable(&mut self, expr: ExprId) -> bool {
        match self.builder.expr(expr) {
            Expr::Literal(bytes) => bytes.is_empty(),
            Expr::Class(_) => false,
            Expr::Repeat { min: 0, .. } => true,
            _ => self.facts(expr).nullable,
        }
    }

    /// The facts of an expression, those of its parts first.
    pub(super) fn facts(&mut self, root: ExprId) -> Facts {
        if let Some(&facts) = self.facts.get(&root) {
            return facts;
        }
        for expr in self.inside_out(root, |algebra, expr| algebra.facts.contains_key(&expr)) {
            let facts = self.facts_of_one(expr);
            self.facts.insert(expr, facts);
        }
        self.facts[&root]
    }

    /// An expression and all its parts, parts first, without those that are known.
    pub(super) fn inside_out(
        &self,
        root: ExprId,
        known: impl Fn(&Self, ExprId) -> bool,
    ) -> Vec<ExprId> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut waiting = vec![root];
        while let Some(expr) = waiting.pop() {
            if known(self, expr) || !seen.insert(expr) {
                continue;
            }
            found.push(expr);
            match self.builder.expr(expr) {
                Expr::Seq(parts) | Expr::Alt(parts) => waiting.extend(parts.iter()),
                Expr::Repeat { expr, .. } => waiting.push(*expr),
                Expr::And { all, none } => waiting.extend(all.iter().chain(none.iter())),
                _ => {}
            }
        }
        // Parts have smaller ids.
        found.sort_unstable();
        found
    }

    /// The facts of an expression whose parts' are known.
    fn facts_of_one(&self, expr: ExprId) -> Facts {
        let leaf =
            |length| Facts { nullable: length == 0, min: length, max: Some(length), size: 1 };
        let of = |part: &ExprId| self.facts[part];
        match self.builder.expr(expr) {
            Expr::Literal(bytes) => leaf(text(bytes).chars().count() as u64),
            Expr::Seq(parts) => parts.iter().map(of).fold(leaf(0), |left, right| Facts {
                nullable: left.nullable && right.nullable,
                min: left.min.saturating_add(right.min),
                max: left.max.zip(right.max).and_then(|(left, right)| left.checked_add(right)),
                size: left.size.saturating_add(right.size),
            }),
            Expr::Alt(parts) => parts
                .iter()
                .map(of)
                .reduce(|left, right| Facts {
                    nullable: left.nullable || right.nullable,
                    min: left.min.min(right.min),
                    max: left.max.zip(right.max).map(|(left, right)| left.max(right)),
                    size: left.size.saturating_add(right.size),
                })
                .unwrap_or(Facts { nullable: false, ..leaf(0) }),
            Expr::Repeat { expr, min, max } => {
                let part = of(expr);
                Facts {
                    nullable: *min == 0 || part.nullable,
                    min: part.min.saturating_mul(u64::from(*min)),
                    max: part.max.zip(*max).and_then(|(part, max)| part.checked_mul(max.into())),
                    size: part.size.saturating_add(1),
                }
            }
            Expr::And { all, none } => Facts {
                nullable: all.iter().all(|part| of(part).nullable)
                    && !none.iter().any(|part| of(part).nullable),
                min: all.iter().map(|part| of(part).min).max().unwrap_or(0),
                max: all.iter().filter_map(|part| of(part).max).min(),
                size: all
                    .iter()
                    .chain(none.iter())
                    .fold(1, |size, part| of(part).size.saturating_add(size)),
            },
            // A class; there are no other leaves in strings.
            _ => leaf(1),
        }
    }
}

/// The text of a literal; all literals here are texts.
pub(super) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// `\w`
pub(super) fn word() -> Ranges {
    vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]
}

/// The characters of both.
pub(super) fn common(left: &[(char, char)], right: &[(char, char)]) -> Ranges {
    let (mut i, mut j) = (0, 0);
    let mut both = Ranges::new();
    while let (Some(&(a, b)), Some(&(c, d))) = (left.get(i), right.get(j)) {
        if a.max(c) <= b.min(d) {
            both.push((a.max(c), b.min(d)));
        }
        if b < d {
            i += 1;
        } else {
            j += 1;
        }
    }
    both
}
