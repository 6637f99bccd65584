//! Sets of strings: finite ones, their complements, and regular languages.
//!
//! The languages are of the strings' values, as UTF-8; how they are spelled in JSON is not known
//! here.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::domain::{Domain, Key, Memo};
use super::{Algebra, Result};
use crate::error::{GrammarError, GrammarErrorKind, shortened};
use crate::frontend::json_schema::limits::Limit;
use crate::frontend::json_schema::model::{Keyword, Schema, Type, Value};
use crate::frontend::json_schema::{format, pattern};
use crate::grammar::{Expr, GrammarBuilder};
use crate::index::ExprId;

/// Words, each once.
type Words = Rc<[Rc<str>]>;

/// A set of strings.
#[derive(Clone, Debug)]
pub(in crate::frontend::json_schema) enum Strings {
    /// These.
    Words(Words),
    /// All but these.
    Except(Words),
    /// A regular language.
    Regular(ExprId),
}

impl Strings {
    /// Whether it is plain that every string belongs to it.
    pub(in crate::frontend::json_schema) fn is_all(&self) -> bool {
        matches!(self, Self::Except(words) if words.is_empty())
    }

    /// All other strings.
    pub(super) fn not(self, algebra: &mut Algebra<'_>) -> Self {
        match self {
            Self::Words(words) => Self::Except(words),
            Self::Except(words) => Self::Words(words),
            Self::Regular(expr) => {
                let any = any_string(&mut algebra.builder);
                Self::Regular(algebra.builder.and(&[any], &[expr]))
            }
        }
    }

    /// Whether a string belongs to it.
    pub(super) fn contains(&self, word: &str, algebra: &mut Algebra<'_>) -> Result<bool> {
        match self {
            Self::Words(words) => Ok(algebra.lists.has(words, word, |known| known)),
            Self::Except(words) => Ok(!algebra.lists.has(words, word, |known| known)),
            &Self::Regular(expr) => {
                algebra.languages.matches(&algebra.builder, expr, word.as_bytes())
            }
        }
    }

    /// Whether there is no string, exactly.
    pub(super) fn is_empty(&self, algebra: &mut Algebra<'_>) -> Result<bool> {
        match self {
            Self::Words(words) => Ok(words.is_empty()),
            Self::Except(_) => Ok(false),
            &Self::Regular(expr) => algebra.languages.is_empty(&algebra.builder, expr),
        }
    }

    /// The strings, if there are at most `limit`.
    pub(in crate::frontend::json_schema) fn words(
        &self,
        limit: usize,
        algebra: &mut Algebra<'_>,
    ) -> Result<Option<Words>> {
        match self {
            Self::Words(words) => Ok((words.len() <= limit).then(|| Rc::clone(words))),
            Self::Except(_) => Ok(None),
            &Self::Regular(expr) => {
                let words = algebra.languages.words(&algebra.builder, expr, limit)?;
                // Character classes have no texts but UTF-8.
                Ok(words.map(|words| {
                    words
                        .into_iter()
                        .filter_map(|word| String::from_utf8(word).ok())
                        .map(Rc::from)
                        .collect()
                }))
            }
        }
    }

    /// The set as an expression.
    pub(in crate::frontend::json_schema) fn expr(&self, builder: &mut GrammarBuilder) -> ExprId {
        match self {
            Self::Words(words) => alternatives(builder, words),
            Self::Except(words) => {
                let any = any_string(builder);
                if words.is_empty() {
                    return any;
                }
                let words = alternatives(builder, words);
                builder.and(&[any], &[words])
            }
            &Self::Regular(expr) => expr,
        }
    }

    /// The words for which `keep` says yes.
    fn filtered(
        words: &Words,
        other: &Self,
        keep: bool,
        algebra: &mut Algebra<'_>,
    ) -> Result<Words> {
        let known: FxHashSet<&str> = match other {
            Self::Words(others) | Self::Except(others) => others.iter().map(|w| &**w).collect(),
            Self::Regular(_) => FxHashSet::default(),
        };
        let mut kept = Vec::new();
        for word in words.iter() {
            let belongs = match other {
                Self::Words(_) => known.contains(&**word),
                Self::Except(_) => !known.contains(&**word),
                Self::Regular(_) => other.contains(word, algebra)?,
            };
            if belongs == keep {
                kept.push(Rc::clone(word));
            }
        }
        Ok(kept.into())
    }
}

impl Domain for Strings {
    const NUMBER: u8 = 1;

    fn all() -> Self {
        Self::Except(Rc::new([]))
    }

    fn nothing() -> Self {
        Self::Words(Rc::new([]))
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Self::Words(words) if words.is_empty())
    }

    fn and(self, other: Self, algebra: &mut Algebra<'_>) -> Result<Self> {
        Ok(match (self, other) {
            (set, all) | (all, set) if all.is_all() => set,
            (Self::Words(words), other) | (other, Self::Words(words)) => {
                Self::Words(Self::filtered(&words, &other, true, algebra)?)
            }
            (Self::Except(words), Self::Except(others)) => Self::Except(union(&words, &others)),
            (Self::Except(words), regular) | (regular @ Self::Regular(_), Self::Except(words)) => {
                let words = Self::filtered(&words, &regular, true, algebra)?;
                let expr = regular.expr(&mut algebra.builder);
                if words.is_empty() {
                    return Ok(regular);
                }
                let words = alternatives(&mut algebra.builder, &words);
                Self::Regular(algebra.builder.and(&[expr], &[words]))
            }
            (Self::Regular(left), Self::Regular(right)) => {
                Self::Regular(intersect(&mut algebra.builder, left, right))
            }
        })
    }

    fn or(self, other: Self, algebra: &mut Algebra<'_>) -> Result<Self> {
        Ok(match (self, other) {
            (set, none) | (none, set) if none.is_nothing() => set,
            (Self::Words(words), Self::Words(others)) => Self::Words(union(&words, &others)),
            (Self::Except(words), other) | (other, Self::Except(words)) => {
                Self::Except(Self::filtered(&words, &other, false, algebra)?)
            }
            (left, right) => {
                let builder = &mut algebra.builder;
                let (left, right) = (left.expr(builder), right.expr(builder));
                Self::Regular(if left == right { left } else { builder.alt(&[left, right]) })
            }
        })
    }

    fn keyword(
        algebra: &mut Algebra<'_>,
        schema: &Schema,
        (keyword, name): &(Keyword, &'static str),
        positive: bool,
        _: bool,
    ) -> Result<Option<Self>> {
        let set = match keyword {
            Keyword::Types(types) if types.contains(Type::String) => Self::all(),
            Keyword::Types(_) => Self::nothing(),
            Keyword::Enum(values) => {
                let mut seen = FxHashSet::default();
                let words = values.iter().filter_map(|value| match value {
                    Value::String(word) if seen.insert(&**word) => Some(Rc::clone(word)),
                    _ => None,
                });
                Self::Words(words.collect())
            }
            &Keyword::MinLength(min) => length(&mut algebra.builder, min, None),
            &Keyword::MaxLength(max) => length(&mut algebra.builder, 0, Some(max)),
            Keyword::Pattern(pattern) => match algebra.pattern(schema, name, pattern)? {
                Some(expr) => Self::Regular(expr),
                None => return Ok(Some(Self::all())),
            },
            Keyword::Format(format) if algebra.options.formats => match algebra.format(format) {
                Some(expr) => Self::Regular(expr),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(if positive { set } else { set.not(algebra) }))
    }

    fn memo(memo: &mut Memo) -> &mut FxHashMap<Key, Self> {
        &mut memo.strings
    }
}

impl Algebra<'_> {
    /// The strings in which a pattern is found; `None` if it can't be enforced.
    pub(super) fn pattern(
        &mut self,
        schema: &Schema,
        keyword: &str,
        source: &Rc<str>,
    ) -> Result<Option<ExprId>> {
        // In `patternProperties` it is a member's name.
        let pointer = || match keyword {
            "pattern" => schema.pointer_to(keyword),
            _ => schema.pointer_to_member(keyword, source),
        };
        if let Some(&known) = self.patterns.get(source) {
            if known.is_none() {
                self.refuse_at(pointer(), keyword, "a pattern that can't be enforced");
            }
            return Ok(known);
        }
        self.pattern_bytes += source.len();
        let most = self.options.limits.get(Limit::PatternBytes);
        if self.pattern_bytes > most {
            let message = format!("patterns have more than {most} bytes in all");
            let error = self.options.limits.exceeded(Limit::PatternBytes, message, "");
            return Err(error.at_pointer(pointer()));
        }
        let found = match pattern::search(source, &mut self.builder) {
            Ok(expr) => Some(expr),
            Err(error) if error.unsupported => {
                let reason = format!("the pattern {:?}: {error}", shortened(source));
                self.refuse_at(pointer(), keyword, &reason);
                None
            }
            Err(error) => {
                let reason = format!(
                    "the pattern {:?} is not a regular expression: {error}",
                    shortened(source)
                );
                self.refuse_at(pointer(), keyword, &reason);
                let invalid = GrammarError::new(GrammarErrorKind::Syntax, reason)
                    .at_pointer(pointer())
                    .with_hint(error.hint);
                self.invalid.get_or_insert(invalid);
                None
            }
        };
        self.patterns.insert(Rc::clone(source), found);
        Ok(found)
    }

    fn format(&mut self, name: &Rc<str>) -> Option<ExprId> {
        if let Some(&known) = self.formats.get(name) {
            return known;
        }
        let found = format::expr(name, &mut self.builder);
        self.formats.insert(Rc::clone(name), found);
        found
    }
}

/// Any string.
pub(in crate::frontend::json_schema) fn any_string(builder: &mut GrammarBuilder) -> ExprId {
    let any = builder.class(&[(char::MIN, char::MAX)]);
    builder.repeat(any, 0, None)
}

fn length(builder: &mut GrammarBuilder, min: u64, max: Option<u64>) -> Strings {
    // Longer texts than this do not exist.
    let clip = |count: u64| u32::try_from(count).unwrap_or(u32::MAX - 1).min(u32::MAX - 1);
    if max.is_some_and(|max| min > max) {
        return Strings::nothing();
    }
    let max = max.filter(|&max| max < u64::from(u32::MAX - 1)).map(clip);
    if min == 0 && max.is_none() {
        return Strings::all();
    }
    let any = builder.class(&[(char::MIN, char::MAX)]);
    Strings::Regular(builder.repeat(any, clip(min), max))
}

fn alternatives(builder: &mut GrammarBuilder, words: &[Rc<str>]) -> ExprId {
    let words: Vec<ExprId> = words.iter().map(|word| builder.literal(word.as_bytes())).collect();
    builder.alt(&words)
}

fn union(words: &Words, others: &Words) -> Words {
    if words.is_empty() {
        return Rc::clone(others);
    }
    let known: FxHashSet<&str> = words.iter().map(|word| &**word).collect();
    let new = others.iter().filter(|word| !known.contains(&***word));
    words.iter().chain(new).map(Rc::clone).collect()
}

/// The texts of both expressions. Lengths are taken into repetitions where that is easy, since two
/// counters in an intersection make many states.
fn intersect(builder: &mut GrammarBuilder, left: ExprId, right: ExprId) -> ExprId {
    if left == right {
        return left;
    }
    for (counted, other) in [(left, right), (right, left)] {
        let Some((min, max)) = any_of_length(builder, counted) else { continue };
        if let Some((part, low, high)) = repetition(builder, other)
            && is_one_character(builder, part)
        {
            let high = match (high, max) {
                (Some(high), Some(max)) => Some(high.min(max)),
                (high, max) => high.or(max),
            };
            let low = low.max(min);
            return match high {
                Some(high) if high < low => builder.alt(&[]),
                _ => builder.repeat(part, low, high),
            };
        }
        let (shortest, longest) = lengths(builder, other);
        let (min, max) = (u64::from(min), max.map(u64::from));
        if shortest >= min && max.is_none_or(|max| longest.is_some_and(|long| long <= max)) {
            return other;
        }
        if longest.is_some_and(|longest| longest < min) || max.is_some_and(|max| shortest > max) {
            return builder.alt(&[]);
        }
    }
    builder.and(&[left, right], &[])
}

/// `x{m,n}`; `x` itself is `x{1,1}`.
fn repetition(builder: &GrammarBuilder, expr: ExprId) -> Option<(ExprId, u32, Option<u32>)> {
    match builder.expr(expr) {
        &Expr::Repeat { expr, min, max } => Some((expr, min, max)),
        Expr::Class(_) => Some((expr, 1, Some(1))),
        _ => None,
    }
}

fn is_one_character(builder: &GrammarBuilder, expr: ExprId) -> bool {
    matches!(builder.expr(expr), Expr::Class(ranges) if !ranges.is_empty())
}

/// The bounds of a length that is all an expression says.
fn any_of_length(builder: &GrammarBuilder, expr: ExprId) -> Option<(u32, Option<u32>)> {
    let (part, min, max) = repetition(builder, expr)?;
    let any = [(char::MIN, char::MAX)];
    matches!(builder.expr(part), Expr::Class(ranges) if **ranges == any).then_some((min, max))
}

/// Bounds of the lengths of an expression's texts, in characters; not always the tightest.
fn lengths(builder: &GrammarBuilder, root: ExprId) -> (u64, Option<u64>) {
    let mut memo: FxHashMap<ExprId, (u64, Option<u64>)> = FxHashMap::default();
    let mut stack = vec![root];
    while let Some(&id) = stack.last() {
        let parts: &[ExprId] = match builder.expr(id) {
            Expr::Seq(parts) | Expr::Alt(parts) => parts,
            Expr::Repeat { expr, .. } => std::slice::from_ref(expr),
            Expr::And { all, .. } => all,
            _ => &[],
        };
        let known = stack.len();
        stack.extend(parts.iter().filter(|part| !memo.contains_key(part)));
        if stack.len() > known {
            continue;
        }
        let of = |part: &ExprId| memo[part];
        let found = match builder.expr(id) {
            Expr::Literal(bytes) => {
                let count = String::from_utf8_lossy(bytes).chars().count() as u64;
                (count, Some(count))
            }
            Expr::Seq(parts) => parts.iter().map(of).fold((0u64, Some(0)), |sum, part| {
                let longest = sum.1.zip(part.1).map(|(a, b): (u64, u64)| a.saturating_add(b));
                (sum.0.saturating_add(part.0), longest)
            }),
            Expr::Alt(parts) => {
                let shortest = parts.iter().map(|part| of(part).0).min().unwrap_or(0);
                let mut longest = parts.iter().map(|part| of(part).1);
                (shortest, longest.try_fold(0, |most, part| Some(most.max(part?))))
            }
            Expr::And { all, .. } => {
                let shortest = all.iter().map(|part| of(part).0).max().unwrap_or(0);
                (shortest, all.iter().filter_map(|part| of(part).1).min())
            }
            &Expr::Repeat { expr, min, max } => {
                let (shortest, longest) = memo[&expr];
                let most = max.and_then(|max| longest?.checked_mul(u64::from(max)));
                (shortest.saturating_mul(u64::from(min)), most)
            }
            Expr::Class(_) => (1, Some(1)),
            _ => (0, None),
        };
        memo.insert(id, found);
        stack.pop();
    }
    memo[&root]
}
