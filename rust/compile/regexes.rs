//! One expression → its regex, given those of its parts; and the limits that regexes have.

use std::ops::{Deref, DerefMut};

use crate::byteset::ByteSet;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::Expr;
use crate::index::{ExprId, RegexId};
use crate::lexer::{EPSILON, RegexSet, TooLarge};

/// The deepest nesting. Nested alternatives are copied into the level above, so the cost grows with
/// the square of this.
pub(super) const MAX_DEPTH: u32 = 250;
/// The most parts, shared ones counted each time. (`A: B B`, `B: C C`, … doubles with each line.)
pub(super) const MAX_SIZE: u64 = 1 << 21;
/// The most character ranges in all classes together.
const MAX_CLASS_RANGES: usize = 1 << 21;

/// The part of an expression that comes at `index`, those that an intersection excludes last;
/// symbols have none.
pub(super) fn expr_part(expr: &Expr, index: usize) -> Option<ExprId> {
    match expr {
        Expr::Seq(parts) | Expr::Alt(parts) => parts.get(index).copied(),
        Expr::And { all, none } => {
            all.get(index).or_else(|| none.get(index.checked_sub(all.len())?)).copied()
        }
        Expr::Repeat { expr, .. } => (index == 0).then_some(*expr),
        Expr::Literal(_)
        | Expr::Class(_)
        | Expr::Bytes(_)
        | Expr::Token(_)
        | Expr::Symbol(_)
        | Expr::Automaton(_) => None,
        Expr::Members(members) => match members.items.get(index) {
            Some(item) => Some(item.expr),
            None => (index == members.items.len()).then_some(members.separator),
        },
    }
}

/// What an expression itself adds to the number of parts.
pub(super) fn own_size(expr: &Expr) -> u64 {
    match expr {
        Expr::Literal(bytes) => bytes.len() as u64,
        _ => 1,
    }
}

/// Regexes being made of expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Regexes {
    set: RegexSet,
    class_ranges: usize,
}

impl Regexes {
    /// A copy with room for more nodes.
    pub(super) fn with_room(&self, nodes: usize) -> Self {
        Self { set: self.set.with_room(nodes), ..*self }
    }

    pub(super) fn into_set(self) -> RegexSet {
        self.set
    }

    /// The regex of an expression whose parts have these regexes; `None` for a model token and for
    /// members.
    pub(super) fn make(
        &mut self,
        expr: &Expr,
        parts: &[RegexId],
    ) -> Result<Option<RegexId>, GrammarError> {
        let set = &mut self.set;
        Ok(Some(match expr {
            Expr::Literal(bytes) => set.literal(bytes),
            Expr::Class(ranges) => {
                self.class_ranges += ranges.len();
                if self.class_ranges > MAX_CLASS_RANGES {
                    return Err(GrammarError::new(
                        GrammarErrorKind::Limit,
                        format!("the character classes have more than {MAX_CLASS_RANGES} ranges"),
                    ));
                }
                set.class(ranges)
            }
            Expr::Bytes(ranges) => {
                let mut bytes = ByteSet::EMPTY;
                ranges.iter().for_each(|&(low, high)| bytes.insert_range(low, high));
                set.bytes(bytes)
            }
            Expr::Seq(_) => parts.iter().rev().fold(EPSILON, |rest, &part| set.concat(part, rest)),
            Expr::Alt(_) => set.or(parts),
            &Expr::Repeat { min, max, .. } => set.repeat(parts[0], min, max),
            Expr::And { all, .. } => {
                let (all, none) = parts.split_at(all.len());
                set.and(all, none).map_err(intersection_too_large)?
            }
            Expr::Automaton(automaton) => set.automaton(automaton),
            Expr::Symbol(_) => parts[0],
            Expr::Token(_) | Expr::Members(_) => return Ok(None),
        }))
    }
}

impl Deref for Regexes {
    type Target = RegexSet;

    fn deref(&self) -> &RegexSet {
        &self.set
    }
}

impl DerefMut for Regexes {
    fn deref_mut(&mut self) -> &mut RegexSet {
        &mut self.set
    }
}

/// A search for a text of an intersection was given up.
pub(super) fn intersection_too_large(TooLarge: TooLarge) -> GrammarError {
    GrammarError::new(GrammarErrorKind::Limit, "the intersection of patterns is too large")
        .with_hint("use fewer patterns at once, or smaller counts of repetition in them")
}

pub(super) fn too_many_parts() -> GrammarError {
    limit(format!("a terminal has more than {MAX_SIZE} parts, shared ones counted each time"))
}

pub(super) fn too_deep(depth: u32) -> GrammarError {
    limit(format!("a terminal is nested {depth} deep; the limit is {MAX_DEPTH}"))
}

fn limit(message: String) -> GrammarError {
    GrammarError::new(GrammarErrorKind::Limit, message)
        .with_hint("write it with fewer nested groups, or as rules")
}
