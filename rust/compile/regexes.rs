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
/// The most character ranges in all classes together.
const MAX_CLASS_RANGES: usize = 1 << 21;

/// How much terminals may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Steps of all searches for texts that several patterns have in common.
    pub search_steps: usize,
    /// Parts of one terminal, shared ones counted each time. (`A: B B`, `B: C C`, … doubles with
    /// each line.)
    pub terminal_parts: usize,
    /// Steps through what is left of the conditions on the members of one object.
    pub condition_steps: usize,
}

impl Effort {
    /// What is usual.
    pub const USUAL: Self =
        Self { search_steps: 1 << 19, terminal_parts: 1 << 21, condition_steps: 1 << 19 };
}

impl Default for Effort {
    fn default() -> Self {
        Self::USUAL
    }
}

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
    effort: Effort,
}

impl Regexes {
    /// Sets how much may be asked for from now on.
    pub(super) fn condition_steps(&self) -> usize {
        self.effort.condition_steps
    }

    pub(super) fn set_effort(&mut self, effort: Effort) {
        self.effort = effort;
        self.set.set_search_steps(effort.search_steps);
    }

    /// Refuses a terminal of too many parts.
    pub(super) fn check_size(&self, size: u64) -> Result<(), GrammarError> {
        let most = self.effort.terminal_parts;
        if size <= most as u64 {
            return Ok(());
        }
        let message =
            format!("a terminal has more than {most} parts, shared ones counted each time");
        Err(limit(message).past_limit("terminal_parts"))
    }

    /// A search for a text of an intersection was given up.
    pub(super) fn searched_too_long(&self, TooLarge: TooLarge) -> GrammarError {
        let steps = self.effort.search_steps;
        GrammarError::new(
            GrammarErrorKind::Limit,
            format!(
                "the intersection of patterns is too large: of {steps} steps to find a text of it, \
                 a quarter for each, none is left"
            ),
        )
        .with_hint("use fewer patterns at once, or smaller counts of repetition in them")
        .past_limit("search_steps")
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
                let met = set.and(all, none);
                met.map_err(|error| self.searched_too_long(error))?
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

pub(super) fn too_deep(depth: u32) -> GrammarError {
    limit(format!("a terminal is nested {depth} deep; the limit is {MAX_DEPTH}"))
}

fn limit(message: String) -> GrammarError {
    GrammarError::new(GrammarErrorKind::Limit, message)
        .with_hint("write it with fewer nested groups, or as rules")
}
