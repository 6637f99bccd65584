//! Terminals whose matches have an order: lazy repetition and look-behind.
//!
//! `/".*?"/` is meant to end at the first quote. As a set of texts `.*?` is `.*`, which runs over
//! quotes; what makes the difference is that Python's engine prefers one match to all others, and
//! that Lark takes the preferred one. So here the language of a terminal R is
//!
//! ```text
//! { w : of all ways to match R at the start of w, the preferred one takes all of w }
//! ```
//!
//! which is regular again. A terminal is gathered as one [`Pattern`], `automaton.rs` turns it into
//! a deterministic automaton that keeps the order, and `eliminate.rs` that into an expression
//! without any order: `/".*?"/` becomes `"` `[^"\n]*` `"`, and `common.ESCAPED_STRING` becomes
//! `"` `([^"\\\n] | \\[^\n])*` `"`.
//!
//! The alternatives of a terminal as a whole (`A: /…/ | /…/`) don't compete: each is taken by
//! itself.

use std::cmp::Reverse;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition,
};

use super::automaton::{self, Automaton};
use super::eliminate;
use super::fault::Fault;
use super::literal::{Text, folded};
use super::python::{AFTER, NOT_AFTER};
use crate::error::GrammarErrorKind;
use crate::frontend::regex::RegexFlags;
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;
use crate::span::Span;

/// The deepest nesting of an ordered terminal.
const MAX_DEPTH: u32 = 200;
/// The most parts of an ordered terminal.
const MAX_SIZE: u32 = 20_000;

/// How much work the ordered terminals of a grammar may still cost, in small steps. A typical one
/// costs a few thousand.
#[derive(Debug)]
pub(super) struct Effort(usize);

impl Default for Effort {
    fn default() -> Self {
        Self(5_000_000)
    }
}

impl Effort {
    /// Takes from what is left.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Refusal> {
        self.0 = self.0.checked_sub(steps).ok_or(Refusal::TooLarge)?;
        Ok(())
    }
}

/// What a terminal matches, with the order of its matches.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// These don't compete with each other.
    alternatives: Vec<Hir>,
    size: u32,
    depth: u32,
}

impl Pattern {
    /// The empty text.
    pub(super) fn empty() -> Self {
        Self::literal(Hir::empty(), 0)
    }

    /// A string.
    pub(super) fn string(text: &Text) -> Self {
        let hir = if text.ignore_case {
            Hir::concat(text.value.chars().map(|c| class(&folded(c))).collect())
        } else {
            Hir::literal(text.value.as_bytes())
        };
        Self::literal(hir, text.value.len())
    }

    /// One character of a range.
    pub(super) fn range(range: (char, char)) -> Self {
        Self::literal(class(&[range]), 1)
    }

    /// A regexp that was rewritten and checked.
    pub(super) fn regexp(pattern: &str, flags: RegexFlags, span: Span) -> Result<Self, Fault> {
        let hir = ParserBuilder::new()
            .nest_limit(MAX_DEPTH)
            .case_insensitive(flags.i)
            .multi_line(flags.m)
            .dot_matches_new_line(flags.s)
            .build()
            .parse(pattern)
            .map_err(|_| Refusal::TooLarge.fault(span))?;
        Ok(Self::literal(hir, pattern.len()))
    }

    /// A literal that takes this many bytes. A regexp's own nesting is bounded by its parser.
    fn literal(hir: Hir, bytes: usize) -> Self {
        let size = u32::try_from(bytes).unwrap_or(u32::MAX);
        Self { alternatives: vec![hir], size, depth: 1 }
    }

    /// How many parts it has, literals counted in bytes.
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// One after the other.
    pub(super) fn concat<'p>(
        parts: impl Iterator<Item = &'p Self> + Clone,
    ) -> Result<Self, Refusal> {
        let (size, depth) = Self::measure(parts.clone())?;
        let hir = Hir::concat(parts.map(Self::single).collect());
        Ok(Self { alternatives: vec![hir], size, depth })
    }

    /// One of these.
    pub(super) fn alternation<'p>(
        parts: impl Iterator<Item = &'p Self> + Clone,
    ) -> Result<Self, Refusal> {
        let (size, depth) = Self::measure(parts.clone())?;
        let alternatives = parts.flat_map(|part| &part.alternatives).cloned().collect();
        Ok(Self { alternatives, size, depth })
    }

    /// The pattern `min` to `max` times, as often as possible.
    pub(super) fn repeat(&self, min: u32, max: Option<u32>) -> Result<Self, Refusal> {
        let (size, depth) = Self::measure(std::iter::once(self))?;
        let sub = Box::new(self.single());
        let hir = Hir::repetition(Repetition { min, max, greedy: true, sub });
        Ok(Self { alternatives: vec![hir], size, depth })
    }

    /// Size and depth of what is made of these parts.
    fn measure<'p>(parts: impl Iterator<Item = &'p Self>) -> Result<(u32, u32), Refusal> {
        let (size, depth) = parts.fold((1_u32, 0), |(size, depth), part| {
            (size.saturating_add(part.size), depth.max(part.depth))
        });
        if size > MAX_SIZE || depth >= MAX_DEPTH {
            Err(Refusal::TooLarge)
        } else {
            Ok((size, depth + 1))
        }
    }

    /// All alternatives as one expression. There they do compete, the longest first as in Lark.
    fn single(&self) -> Hir {
        let mut parts = self.alternatives.clone();
        parts.sort_by_key(|part| {
            let properties = part.properties();
            let longest = properties.maximum_len().unwrap_or(usize::MAX);
            Reverse((longest, properties.minimum_len().unwrap_or(0)))
        });
        Hir::alternation(parts)
    }
}

/// One character of ranges.
fn class(ranges: &[(char, char)]) -> Hir {
    let ranges = ranges.iter().map(|&(low, high)| ClassUnicodeRange::new(low, high));
    Hir::class(Class::Unicode(ClassUnicode::new(ranges)))
}

/// The texts of a pattern as an expression. `span` is where the pattern is used.
pub(super) fn expr(
    pattern: &Pattern,
    span: Span,
    effort: &mut Effort,
    builder: &mut GrammarBuilder,
) -> Result<ExprId, Fault> {
    let mut exprs = Vec::with_capacity(pattern.alternatives.len());
    for alternative in &pattern.alternatives {
        if !has_order(alternative) {
            exprs.push(unordered(alternative, builder));
            continue;
        }
        let automaton =
            Automaton::new(alternative, effort).map_err(|refusal| refusal.fault(span))?;
        if automaton.is_only_empty() {
            let message = "this lazy repetition only ever matches the empty text";
            return Err(Fault::new(GrammarErrorKind::Unsupported, span, message).with_hint(
                "a lazy repetition stops as soon as it can: drop its `?`, or put what ends it \
                 into the same terminal",
            ));
        }
        let expr = eliminate::to_expr(&automaton, effort, builder);
        exprs.push(expr.map_err(|refusal| refusal.fault(span))?);
    }
    Ok(builder.alt(&exprs))
}

/// Why a pattern can't be made an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    TooLarge,
    LookBehindAtStart,
    LookBehindOfMany,
}

impl Refusal {
    /// The fault, at the terminal's place.
    pub(super) fn fault(self, span: Span) -> Fault {
        match self {
            Self::TooLarge => {
                let message = "this terminal is too large for lazy repetition or look-behind";
                Fault::limit(span, message).with_hint(
                    "say what the text is instead, with a negated class such as `[^\"]*` in the \
                     place of `.*?`",
                )
            }
            Self::LookBehindAtStart => {
                let message = "a look-behind at the start of a terminal can't be enforced";
                Fault::unsupported(span, message)
                    .with_hint("it would depend on the text before: leave it out")
            }
            Self::LookBehindOfMany => {
                let message = "a look-behind of more than one character can't be enforced";
                Fault::unsupported(span, message)
                    .with_hint(r"look behind at one character or class: `(?<!\\)`")
            }
        }
    }
}

/// The kind of a group that stands for a look-behind: whether the character before must be in it.
pub(super) fn look_behind(capture: &Capture) -> Option<bool> {
    let name = capture.name.as_deref()?;
    if name.starts_with(NOT_AFTER) {
        Some(false)
    } else if name.starts_with(AFTER) {
        Some(true)
    } else {
        None
    }
}

/// Whether the order of matches changes what a pattern stands for.
fn has_order(hir: &Hir) -> bool {
    let mut stack = vec![hir];
    while let Some(hir) = stack.pop() {
        match hir.kind() {
            HirKind::Repetition(repetition) if !repetition.greedy => return true,
            HirKind::Capture(capture) if look_behind(capture).is_some() => return true,
            _ => stack.extend(hir.kind().subs()),
        }
    }
    false
}

/// A pattern all of whose matches count. Recursive, but nesting is limited.
fn unordered(hir: &Hir, builder: &mut GrammarBuilder) -> ExprId {
    match hir.kind() {
        // Anchors are refused before.
        HirKind::Empty | HirKind::Look(_) => builder.empty(),
        HirKind::Literal(literal) => builder.literal(&literal.0),
        HirKind::Class(class) => match automaton::ranges(class).as_slice() {
            [] => builder.alt(&[]),
            ranges => builder.class(ranges),
        },
        HirKind::Capture(capture) => unordered(&capture.sub, builder),
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            let expr = unordered(sub, builder);
            builder.repeat(expr, *min, *max)
        }
        HirKind::Concat(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| unordered(part, builder)).collect();
            builder.seq(&parts)
        }
        HirKind::Alternation(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| unordered(part, builder)).collect();
            builder.alt(&parts)
        }
    }
}
