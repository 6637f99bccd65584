//! Questions that a front end has about regular expressions while it builds a grammar.
//!
//! Takes expressions of a [`GrammarBuilder`] that refer to no symbol; says whether they have a
//! text, whether a text is theirs, and which texts they have if they are few. What was worked out
//! is kept, as a builder only ever adds.

use rustc_hash::FxHashMap;

use super::regular::regex;
use crate::error::GrammarError;
use crate::grammar::{Expr, GrammarBuilder};
use crate::index::{ExprId, RegexId};
use crate::lexer::{DEAD, RegexSet};

/// How many steps the search for the texts of an expression may take for each one allowed.
const STEPS_PER_WORD: usize = 64;

/// The regular expressions of a builder, as far as they have been asked about.
#[derive(Debug, Default)]
pub(crate) struct Languages {
    regexes: RegexSet,
    found: FxHashMap<ExprId, RegexId>,
}

impl Languages {
    /// Whether an expression has no text at all.
    pub(crate) fn is_empty(
        &mut self,
        builder: &GrammarBuilder,
        expr: ExprId,
    ) -> Result<bool, GrammarError> {
        Ok(self.regex(builder, expr)? == DEAD)
    }

    /// Whether a text belongs to an expression.
    pub(crate) fn matches(
        &mut self,
        builder: &GrammarBuilder,
        expr: ExprId,
        text: &[u8],
    ) -> Result<bool, GrammarError> {
        let mut rest = self.regex(builder, expr)?;
        for &byte in text {
            if rest == DEAD {
                return Ok(false);
            }
            rest = self.regexes.step(rest, byte);
        }
        Ok(self.regexes.is_nullable(rest))
    }

    /// All texts of an expression, if there are at most `limit`.
    pub(crate) fn words(
        &mut self,
        builder: &GrammarBuilder,
        expr: ExprId,
        limit: usize,
    ) -> Result<Option<Vec<Vec<u8>>>, GrammarError> {
        let root = self.regex(builder, expr)?;
        let mut words = Vec::new();
        let mut open = vec![(root, Vec::new())];
        let mut steps = 0;
        while let Some((rest, text)) = open.pop() {
            if self.regexes.is_nullable(rest) {
                words.push(text.clone());
            }
            for byte in self.regexes.first(rest).iter() {
                let next = self.regexes.step(rest, byte);
                if next != DEAD {
                    let mut longer = text.clone();
                    longer.push(byte);
                    open.push((next, longer));
                }
                steps += 1;
                // Every state leads to a text: more open ones than allowed are too many texts.
                if open.len() + words.len() > limit || steps > limit * STEPS_PER_WORD {
                    return Ok(None);
                }
            }
        }
        Ok(Some(words))
    }

    /// The regex of an expression; parts first, without recursion.
    fn regex(&mut self, builder: &GrammarBuilder, root: ExprId) -> Result<RegexId, GrammarError> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.found.contains_key(&id) {
                stack.pop();
                continue;
            }
            let expr = builder.expr(id);
            let parts: Vec<ExprId> = match expr {
                Expr::Seq(parts) | Expr::Alt(parts) => parts.to_vec(),
                Expr::Repeat { expr, .. } => vec![*expr],
                Expr::And { all, none } => all.iter().chain(none).copied().collect(),
                _ => Vec::new(),
            };
            let known = stack.len();
            stack.extend(parts.iter().filter(|part| !self.found.contains_key(part)));
            if stack.len() == known {
                let parts: Vec<RegexId> = parts.iter().map(|part| self.found[part]).collect();
                let made = regex(&mut self.regexes, expr, &parts)?;
                self.found.insert(id, made);
                stack.pop();
            }
        }
        Ok(self.found[&root])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_answers() {
        let mut b = GrammarBuilder::new();
        let mut languages = Languages::default();
        let (on, off) = (b.literal(b"on"), b.literal(b"off"));
        let either = b.alt(&[on, off]);
        let words = languages.words(&b, either, 10).unwrap().unwrap();
        assert_eq!(words.len(), 2);
        let any = b.class(&[('\0', char::MAX)]);
        let any = b.repeat(any, 0, None);
        assert_eq!(languages.words(&b, any, 64).unwrap(), None);
        let only_on = b.and(&[either], &[off]);
        assert_eq!(languages.words(&b, only_on, 10).unwrap().unwrap(), [b"on"]);
        let neither = b.and(&[only_on, off], &[]);
        assert!(languages.is_empty(&b, neither).unwrap());
        assert!(languages.matches(&b, any, "é".as_bytes()).unwrap());
        assert!(!languages.matches(&b, either, b"of").unwrap());
    }
}
