//! Questions about the languages of regular expressions, for front ends that are building.
//!
//! Takes expressions of a [`GrammarBuilder`] that is still growing, without symbols, model tokens
//! and items in any order; tells whether they have a text at all, a given text, or few. Answers are
//! exact; what takes too long to find out is an error of the kind `Limit`. What is learned of one
//! expression is kept for the next.

use super::regexes::{Effort, MAX_DEPTH, Regexes, expr_part, own_size, too_deep};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::GrammarBuilder;
use crate::index::{ExprId, Id, RegexId};
use crate::lexer::DEAD;

/// What is known of the expressions of one builder.
#[derive(Debug, Default)]
pub(crate) struct Languages {
    regexes: Regexes,
    /// By expression the regex and its size.
    found: Vec<Option<(RegexId, u64)>>,
}

impl Languages {
    /// Nothing is known yet.
    pub(crate) fn new(effort: Effort) -> Self {
        let mut languages = Self::default();
        languages.regexes.set_effort(effort);
        languages
    }

    /// The regex of an expression: expressions of equal structure have equal ones, and only those
    /// without a text have [`DEAD`].
    pub(crate) fn regex(
        &mut self,
        builder: &GrammarBuilder,
        expr: ExprId,
    ) -> Result<RegexId, GrammarError> {
        if self.found.len() < builder.exprs().len() {
            self.found.resize(builder.exprs().len(), None);
        }
        // Expressions, each left there until its parts have regexes.
        let mut stack = vec![expr];
        while let Some(&at) = stack.last() {
            if self.found[at.index()].is_some() {
                stack.pop();
                continue;
            }
            let expr = builder.expr(at);
            let before = stack.len();
            let mut parts = Vec::new();
            let mut size = own_size(expr);
            for part in (0..).map_while(|index| expr_part(expr, index)) {
                match self.found[part.index()] {
                    Some((regex, part_size)) => {
                        parts.push(regex);
                        size += part_size;
                    }
                    None => stack.push(part),
                }
            }
            if stack.len() > before {
                continue;
            }
            self.regexes.check_size(size)?;
            let regex = match expr {
                crate::grammar::Expr::Symbol(_) => None,
                _ => self.regexes.make(expr, &parts)?,
            };
            let regex = regex.ok_or_else(|| {
                GrammarError::new(
                    GrammarErrorKind::Unsupported,
                    "what has no regular expression was asked for its texts",
                )
                .with_hint("rules, model tokens and items in any order can't be part of a pattern")
            })?;
            let depth = self.regexes.depth(regex);
            if depth > MAX_DEPTH {
                return Err(too_deep(depth));
            }
            self.found[at.index()] = Some((regex, size));
            stack.pop();
        }
        Ok(self.found[expr.index()].map_or(DEAD, |(regex, _)| regex))
    }

    /// Whether no text belongs to an expression.
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
        let regex = self.regex(builder, expr)?;
        let matches = self.regexes.matches(regex, text);
        matches.map_err(|error| self.regexes.searched_too_long(error))
    }

    /// All texts of an expression in ascending order, if there are at most `limit` (and not too
    /// long ones); else `None`.
    pub(crate) fn words(
        &mut self,
        builder: &GrammarBuilder,
        expr: ExprId,
        limit: usize,
    ) -> Result<Option<Vec<Vec<u8>>>, GrammarError> {
        let regex = self.regex(builder, expr)?;
        let words = self.regexes.words(regex, limit);
        words.map_err(|error| self.regexes.searched_too_long(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_follow_a_growing_builder() {
        let mut b = GrammarBuilder::new();
        let mut languages = Languages::default();
        let letter = b.class(&[('a', 'z'), ('é', 'é')]);
        let word = b.repeat(letter, 1, Some(3));
        assert_eq!(languages.is_empty(&b, word), Ok(false));
        let digits = b.class(&[('0', '9')]);
        let both = b.and(&[word, digits], &[]);
        assert_eq!(languages.is_empty(&b, both), Ok(true));
        let known = [b.literal(b"ab"), b.literal("é".as_bytes()), b.literal(b"abcd")];
        let known = b.alt(&known);
        let other = b.and(&[word], &[known]);
        for (text, is) in [("ab", false), ("abc", true), ("é", false), ("éz", true), ("", false)]
        {
            assert_eq!(languages.matches(&b, other, text.as_bytes()), Ok(is), "{text}");
        }
        let listed = b.and(&[known, word], &[]);
        let words = languages.words(&b, listed, 2).unwrap().unwrap();
        assert_eq!(words, [b"ab".to_vec(), "é".as_bytes().to_vec()]);
        assert_eq!(languages.words(&b, listed, 1), Ok(None));
        assert_eq!(languages.words(&b, both, 0), Ok(Some(vec![])));
    }

    #[test]
    fn large_and_infinite_languages_are_not_listed() {
        let mut b = GrammarBuilder::new();
        let mut languages = Languages::default();
        let any = b.class(&[('\0', char::MAX)]);
        let all = b.repeat(any, 0, None);
        let many = b.repeat(any, 1_000, Some(1_000_000));
        let a = b.literal(b"a");
        let long = b.repeat(a, 1_000, Some(1_000));
        let loops = b.repeat(long, 0, None);
        let meet = b.and(&[loops, all], &[a]);
        for expr in [all, many, loops, meet] {
            assert_eq!(languages.words(&b, expr, 100), Ok(None));
        }
        assert_eq!(languages.words(&b, long, 1), Ok(Some(vec![vec![b'a'; 1_000]])));
        let one = b.and(&[loops, long], &[]);
        assert_eq!(languages.words(&b, one, 1), Ok(Some(vec![vec![b'a'; 1_000]])));
    }

    #[test]
    fn nesting_and_sharing_have_limits() {
        let mut b = GrammarBuilder::new();
        let mut languages = Languages::default();
        let a = b.literal(b"a");
        let (mut deep, mut wide) = (a, a);
        for _ in 0..60_000 {
            let pair = b.seq(&[deep, a]);
            deep = b.repeat(pair, 0, None);
        }
        for _ in 0..60 {
            wide = b.seq(&[wide, wide]);
        }
        for expr in [deep, wide] {
            let error = languages.is_empty(&b, expr).unwrap_err();
            assert_eq!(error.kind(), GrammarErrorKind::Limit);
        }
    }
}
