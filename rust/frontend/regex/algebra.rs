//! Expressions without anchors: sequences, alternatives and repetitions that simplify around the
//! empty text and around nothing, and the split of a language into the empty text and the rest.

use rustc_hash::FxHashMap;

use crate::grammar::{Expr, GrammarBuilder};
use crate::index::ExprId;

/// A plain expression in two parts.
#[derive(Clone, Copy)]
pub(super) struct Split {
    pub(super) can_be_empty: bool,
    /// The language without the empty text.
    pub(super) some: ExprId,
}

/// Builds expressions for [`super::anchors`].
pub(super) struct Algebra<'a> {
    builder: &'a mut GrammarBuilder,
    /// The expression without any text.
    pub(super) none: ExprId,
    /// The expression of the empty text.
    pub(super) empty: ExprId,
    /// The expressions that were split.
    splits: FxHashMap<ExprId, Split>,
}

impl<'a> Algebra<'a> {
    pub(super) fn new(builder: &'a mut GrammarBuilder) -> Self {
        let (none, empty) = (builder.alt(&[]), builder.empty());
        Self { builder, none, empty, splits: FxHashMap::default() }
    }

    /// Splits a plain expression, its parts first.
    pub(super) fn split(&mut self, root: ExprId) -> Split {
        let mut open = vec![root];
        while let Some(&expr) = open.last() {
            if self.splits.contains_key(&expr) {
                open.pop();
                continue;
            }
            let waiting = open.len();
            match self.builder.expr(expr).clone() {
                Expr::Seq(parts) | Expr::Alt(parts) => {
                    open.extend(parts.iter().filter(|part| !self.splits.contains_key(part)));
                }
                Expr::Repeat { expr, .. } if !self.splits.contains_key(&expr) => open.push(expr),
                _ => {}
            }
            if open.len() == waiting {
                let split = self.split_one(expr);
                self.splits.insert(expr, split);
                open.pop();
            }
        }
        self.splits[&root]
    }

    /// Splits an expression whose parts are split.
    fn split_one(&mut self, expr: ExprId) -> Split {
        match self.builder.expr(expr).clone() {
            Expr::Literal(bytes) if bytes.is_empty() => {
                Split { can_be_empty: true, some: self.none }
            }
            Expr::Seq(parts) if parts.iter().all(|part| self.splits[part].can_be_empty) => {
                // From the right: the first part that isn't empty is this one or a later one.
                let (mut some, mut rest) = (self.none, self.empty);
                for &part in parts.iter().rev() {
                    let here = self.seq(&[self.splits[&part].some, rest]);
                    some = self.alt(&[here, some]);
                    rest = self.seq(&[part, rest]);
                }
                Split { can_be_empty: true, some }
            }
            Expr::Alt(parts) if parts.iter().any(|part| self.splits[part].can_be_empty) => {
                let parts: Vec<_> = parts.iter().map(|part| self.splits[part].some).collect();
                Split { can_be_empty: true, some: self.alt(&parts) }
            }
            Expr::Repeat { expr: inner, min, max } => {
                let Split { can_be_empty, some } = self.splits[&inner];
                if can_be_empty {
                    let rest = self.times(inner, 0, max.map(|max| max - 1));
                    Split { can_be_empty: true, some: self.seq(&[some, rest]) }
                } else if min == 0 {
                    Split { can_be_empty: true, some: self.times(inner, 1, max) }
                } else {
                    Split { can_be_empty: false, some: expr }
                }
            }
            _ => Split { can_be_empty: false, some: expr },
        }
    }

    /// A sequence without its empty parts; nothing, if a part is nothing.
    pub(super) fn seq(&mut self, parts: &[ExprId]) -> ExprId {
        if parts.contains(&self.none) {
            return self.none;
        }
        let parts: Vec<_> = parts.iter().copied().filter(|&part| part != self.empty).collect();
        self.builder.seq(&parts)
    }

    /// Alternatives without those that are nothing; the empty text makes the rest optional.
    pub(super) fn alt(&mut self, parts: &[ExprId]) -> ExprId {
        let optional = parts.contains(&self.empty);
        let mut rest: Vec<ExprId> = Vec::with_capacity(parts.len());
        for &part in parts {
            // Neighbours only: equal alternatives of the user's stay as they are.
            if part != self.none && part != self.empty && rest.last() != Some(&part) {
                rest.push(part);
            }
        }
        match (optional, rest.is_empty()) {
            (true, true) => self.empty,
            (true, false) => {
                let rest = self.builder.alt(&rest);
                self.builder.repeat(rest, 0, Some(1))
            }
            (false, _) => self.builder.alt(&rest),
        }
    }

    pub(super) fn times(&mut self, expr: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if max == Some(0) || expr == self.empty || expr == self.none && min == 0 {
            self.empty
        } else if expr == self.none {
            self.none
        } else {
            self.builder.repeat(expr, min, max)
        }
    }
}
