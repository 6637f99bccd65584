//! Sets of property names, as keywords give them.

use std::rc::Rc;

use super::{Algebra, Result, Strings};
use crate::frontend::json_schema::model::Named;
use crate::index::ExprId;

/// A set of property names.
#[derive(Clone, Debug)]
pub(in crate::frontend::json_schema) enum Names {
    /// All names.
    All,
    /// One name.
    One(Rc<str>),
    /// Those in which a pattern is found.
    Pattern(ExprId),
    /// Those in neither of two lists, of names and of patterns.
    Others(Named, Rc<[ExprId]>),
    /// Those in none of several sets.
    Rest(Rc<[Names]>),
    /// Those of a set of strings.
    In(Strings),
}

/// What is known of a name: which it is, or that it is none of those named anywhere, and which
/// patterns it matches.
pub(in crate::frontend::json_schema) enum Known<'a> {
    /// This one.
    Name(&'a str),
    /// None of those named; it belongs to these languages, and to no other that occurs.
    Open(&'a [ExprId]),
}

impl Names {
    /// The names in none of some sets.
    pub(super) fn rest(sets: &[Self]) -> Self {
        if sets.is_empty() {
            return Self::All;
        }
        let single = |set: &Self| match set {
            Self::One(name) => Some(Rc::clone(name)),
            _ => None,
        };
        let words: Rc<[Rc<str>]> = sets.iter().filter_map(single).collect();
        let others = sets.iter().filter(|set| !matches!(set, Self::One(_))).cloned();
        Self::Rest(others.chain([Self::In(Strings::Words(words))]).collect())
    }

    /// Whether a name belongs to it.
    pub(in crate::frontend::json_schema) fn contains(
        &self,
        name: &Known<'_>,
        algebra: &mut Algebra<'_>,
    ) -> Result<bool> {
        Ok(match (self, name) {
            (Self::All, _) | (Self::In(Strings::Except(_)), Known::Open(_)) => true,
            (Self::One(one), Known::Name(name)) => &**one == *name,
            (Self::One(_) | Self::In(Strings::Words(_)), Known::Open(_)) => false,
            (&Self::Pattern(pattern), name) => name.matches(pattern, algebra)?,
            (Self::Others(names, patterns), name) => {
                if let Known::Name(name) = name
                    && algebra.lists.has(names, name, |(known, _)| known)
                {
                    return Ok(false);
                }
                for &pattern in &**patterns {
                    if name.matches(pattern, algebra)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Rest(sets), name) => {
                for set in &**sets {
                    if set.contains(name, algebra)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::In(strings), Known::Name(name)) => strings.contains(name, algebra)?,
            (&Self::In(Strings::Regular(expr)), name) => name.matches(expr, algebra)?,
        })
    }

    /// Whether it plainly is the same set as another one.
    pub(super) fn is_plainly(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) => true,
            (Self::One(name), Self::One(other)) => name == other,
            (Self::Pattern(pattern), Self::Pattern(other)) => pattern == other,
            (Self::Others(names, patterns), Self::Others(other, others)) => {
                Rc::ptr_eq(names, other) && patterns == others
            }
            _ => false,
        }
    }

    /// Gives each name that it singles out, and each language.
    pub(in crate::frontend::json_schema) fn visit(
        &self,
        name: &mut impl FnMut(&Rc<str>),
        language: &mut impl FnMut(ExprId),
    ) {
        match self {
            Self::All => {}
            Self::One(one) => name(one),
            &Self::Pattern(pattern) => language(pattern),
            Self::Others(names, patterns) => {
                names.iter().for_each(|(known, _)| name(known));
                patterns.iter().for_each(|&pattern| language(pattern));
            }
            Self::Rest(sets) => sets.iter().for_each(|set| set.visit(name, language)),
            Self::In(Strings::Words(words) | Strings::Except(words)) => words.iter().for_each(name),
            &Self::In(Strings::Regular(expr)) => language(expr),
        }
    }
}

impl Known<'_> {
    fn matches(&self, language: ExprId, algebra: &mut Algebra<'_>) -> Result<bool> {
        match self {
            Self::Name(name) => Strings::Regular(language).contains(name, algebra),
            Self::Open(languages) => Ok(languages.contains(&language)),
        }
    }
}
