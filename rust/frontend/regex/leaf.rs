//! Leaves of the syntax tree: one class, `.` or case-insensitive letter → expression.
//!
//! `regex-syntax` knows Unicode's tables, set operations and case folding, so each leaf goes
//! through its translator, alone. A leaf that is spelt the same under the same flags is translated
//! once for each pattern: `\w` is a list of some 770 ranges.

use regex_syntax::ast::Ast;
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use rustc_hash::FxHashMap;

use super::error::{PatternError, bytes};
use super::translate::Flags;
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;

/// The leaves of one pattern.
pub(super) struct Leaves<'p> {
    pattern: &'p str,
    known: FxHashMap<(&'p str, Flags), ExprId>,
}

impl<'p> Leaves<'p> {
    pub(super) fn new(pattern: &'p str) -> Self {
        Self { pattern, known: FxHashMap::default() }
    }

    /// The expression of a leaf: a literal, or one character or byte.
    pub(super) fn convert(
        &mut self,
        ast: &Ast,
        flags: Flags,
        builder: &mut GrammarBuilder,
    ) -> Result<ExprId, PatternError> {
        let span = bytes(ast.span());
        let key = (&self.pattern[span.start..span.end], flags);
        if let Some(&expr) = self.known.get(&key) {
            return Ok(expr);
        }
        let hir = TranslatorBuilder::new()
            .utf8(false)
            .unicode(flags.unicode)
            .case_insensitive(flags.ignore_case)
            .dot_matches_new_line(flags.dot_all)
            .crlf(flags.crlf)
            .build()
            .translate(self.pattern, ast)
            .map_err(|error| PatternError::from_class(&error))?;
        let expr = leaf_expr(&hir, builder);
        self.known.insert(key, expr);
        Ok(expr)
    }
}

fn leaf_expr(hir: &Hir, builder: &mut GrammarBuilder) -> ExprId {
    match hir.kind() {
        HirKind::Literal(literal) => builder.literal(&literal.0),
        HirKind::Class(Class::Unicode(class)) if !class.ranges().is_empty() => {
            let ranges: Vec<_> = class.iter().map(|range| (range.start(), range.end())).collect();
            builder.class(&ranges)
        }
        // ASCII is the same as bytes and as characters; one form lets equal classes be shared.
        HirKind::Class(Class::Bytes(class)) if !class.ranges().is_empty() && class.is_ascii() => {
            let ranges: Vec<_> =
                class.iter().map(|range| (range.start().into(), range.end().into())).collect();
            builder.class(&ranges)
        }
        HirKind::Class(Class::Bytes(class)) if !class.ranges().is_empty() => {
            let ranges: Vec<_> = class.iter().map(|range| (range.start(), range.end())).collect();
            builder.bytes(&ranges)
        }
        // An empty class such as `[a&&b]`: no text at all.
        HirKind::Class(_) => builder.alt(&[]),
        _ => unreachable!("the translation of one leaf is a literal or a class"),
    }
}
