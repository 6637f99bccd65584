//! Narrowing an expression to the strings that go on in a certain way: how assertions that look at
//! one character (`$`, `\b`, `(?=[a-z])`) become ordinary expressions.

use super::algebra::{Algebra, Ranges, common, text};
use crate::frontend::classes;
use crate::grammar::Expr;
use crate::index::ExprId;

/// How strings may begin: with one of these characters, or not at all (as the empty string).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) chars: Ranges,
    pub(super) end: bool,
}

/// A [`Set`] by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SetId(usize);

/// Deeper, and in more parts, expressions stay as they are and get an `And` around them.
const DEEP: u32 = 16;
const MANY_OPTIONAL: usize = 3;

impl Set {
    /// All strings.
    pub(super) fn all() -> Self {
        Self { chars: vec![(char::MIN, char::MAX)], end: true }
    }

    /// The other strings.
    pub(super) fn complement(&self) -> Self {
        Self { chars: classes::negate(&self.chars), end: !self.end }
    }

    fn union(mut self, other: Self) -> Self {
        self.chars.extend(other.chars);
        classes::normalise(&mut self.chars);
        Self { chars: self.chars, end: self.end || other.end }
    }
}

impl SetId {
    /// All strings.
    pub(super) const ALL: Self = Self(0);
}

impl Algebra<'_> {
    /// The number of a set. There are few in a pattern.
    pub(super) fn set(&mut self, set: Set) -> SetId {
        SetId(self.sets.iter().position(|known| *known == set).unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        }))
    }

    /// The strings of both sets.
    pub(super) fn intersection(&mut self, left: SetId, right: SetId) -> SetId {
        let (a, b) = (&self.sets[left.0], &self.sets[right.0]);
        let both = Set { chars: common(&a.chars, &b.chars), end: a.end && b.end };
        self.set(both)
    }

    pub(super) fn is_nothing(&self, set: SetId) -> bool {
        self.sets[set.0].chars.is_empty() && !self.sets[set.0].end
    }

    /// Whether the empty string belongs to a set.
    pub(super) fn has_end(&self, set: SetId) -> bool {
        self.sets[set.0].end
    }

    /// A set without the empty string.
    pub(super) fn without_end(&mut self, set: SetId) -> SetId {
        let chars = self.sets[set.0].chars.clone();
        self.set(Set { chars, end: false })
    }

    /// The set of an expression that only says how strings begin, such as `[a-z] Σ*`.
    pub(super) fn as_set(&self, expr: ExprId) -> Option<Set> {
        if expr == self.all {
            return Some(Set::all());
        }
        if expr == self.empty {
            return Some(Set { chars: Vec::new(), end: true });
        }
        match self.builder.expr(expr) {
            Expr::Seq(parts) if parts.len() == 2 && parts[1] == self.all => {
                Some(Set { chars: self.single(parts[0])?, end: false })
            }
            // No recursion: alternatives are flat.
            Expr::Alt(parts) => parts.iter().try_fold(
                Set { chars: Vec::new(), end: false },
                |set, &part| match self.builder.expr(part) {
                    Expr::Seq(_) => Some(set.union(self.as_set(part)?)),
                    _ => None,
                },
            ),
            &Expr::Repeat { expr, min: 0, max: Some(1) } => {
                let set = match self.builder.expr(expr) {
                    Expr::Seq(_) | Expr::Alt(_) => self.as_set(expr)?,
                    _ => return None,
                };
                Some(Set { end: true, ..set })
            }
            _ => None,
        }
    }

    /// The strings of an expression that begin as the set says.
    pub(super) fn narrow(&mut self, expr: ExprId, set: SetId) -> ExprId {
        self.narrow_below(expr, set, 0)
    }

    /// The strings of an expression but the empty one.
    pub(super) fn without_empty(&mut self, expr: ExprId) -> ExprId {
        if !self.is_nullable(expr) {
            return expr;
        }
        let some = self.without_end(SetId::ALL);
        self.narrow(expr, some)
    }

    /// The strings of an expression that end with one of the characters.
    pub(super) fn ending_in(&mut self, expr: ExprId, chars: &[(char, char)]) -> ExprId {
        let set = self.set(Set { chars: chars.to_vec(), end: false });
        let reversed = self.reverse(expr);
        let narrowed = self.narrow(reversed, set);
        if narrowed == reversed { expr } else { self.reverse(narrowed) }
    }

    fn narrow_below(&mut self, expr: ExprId, set: SetId, depth: u32) -> ExprId {
        if set == SetId::ALL {
            return expr;
        }
        if self.sets[set.0].chars.is_empty() {
            return if self.has_end(set) && self.is_nullable(expr) {
                self.empty
            } else {
                self.none
            };
        }
        if let Some(&known) = self.narrowed.get(&(expr, set)) {
            return known;
        }
        let narrowed = if depth < DEEP { self.narrow_parts(expr, set, depth + 1) } else { None };
        let narrowed = narrowed.unwrap_or_else(|| {
            let Set { chars, end } = self.sets[set.0].clone();
            let first = self.class(&chars);
            let mut strings = self.seq(&[first, self.all]);
            if end {
                strings = self.alt(&[self.empty, strings]);
            }
            self.and(&[expr, strings], &[])
        });
        self.narrowed.insert((expr, set), narrowed);
        narrowed
    }

    /// Narrows by narrowing parts; `None` where that would make the expression too large.
    fn narrow_parts(&mut self, expr: ExprId, set: SetId, depth: u32) -> Option<ExprId> {
        let narrowed = match self.builder.expr(expr).clone() {
            Expr::Literal(bytes) => {
                let Set { chars, end } = &self.sets[set.0];
                let fits = text(&bytes).chars().next().map_or(*end, |first| {
                    chars.iter().any(|&(low, high)| low <= first && first <= high)
                });
                if fits { expr } else { self.none }
            }
            Expr::Class(ranges) => {
                let both = common(&ranges, &self.sets[set.0].chars);
                self.class(&both)
            }
            Expr::Alt(parts) => {
                let parts: Vec<_> =
                    parts.iter().map(|&part| self.narrow_below(part, set, depth)).collect();
                self.alt(&parts)
            }
            Expr::Seq(parts) => {
                let optional = parts.iter().take_while(|&&part| self.is_nullable(part)).count();
                if optional > MANY_OPTIONAL {
                    return None;
                }
                // Each part up to the first that can't be empty may be the one that begins.
                let some = self.without_end(set);
                let mut choices = Vec::with_capacity(optional + 2);
                for at in 0..parts.len().min(optional + 1) {
                    let mut rest = vec![self.narrow_below(parts[at], some, depth)];
                    rest.extend(&parts[at + 1..]);
                    choices.push(self.seq(&rest));
                }
                if optional == parts.len() && self.has_end(set) {
                    choices.push(self.empty);
                }
                self.alt(&choices)
            }
            Expr::Repeat { expr, min, max } => {
                if self.is_nullable(expr) {
                    return None;
                }
                let some = self.without_end(set);
                let first = self.narrow_below(expr, some, depth);
                if first == expr && min > 0 {
                    return Some(self.repeat(expr, min, max));
                }
                if first == expr {
                    let least = u32::from(!self.has_end(set));
                    return Some(self.repeat(expr, least, max));
                }
                let rest = self.repeat(expr, min.max(1) - 1, max.map(|max| max - 1));
                let rounds = self.seq(&[first, rest]);
                if min == 0 && self.has_end(set) { self.alt(&[self.empty, rounds]) } else { rounds }
            }
            Expr::And { all, none } => {
                let mut all = all.to_vec();
                all[0] = self.narrow_below(all[0], set, depth);
                self.and(&all, &none)
            }
            _ => return None,
        };
        Some(narrowed)
    }
}
