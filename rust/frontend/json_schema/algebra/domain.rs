//! A schema as a formula over one JSON type.
//!
//! [`Algebra::evaluate`] walks the in-place keywords (`allOf`, `anyOf`, `oneOf`, `not`, `if`,
//! `$ref`) with the operators of a [`Domain`] and asks it for the meaning of all others.

use rustc_hash::FxHashMap;

use super::fold::Fold;
use super::{Algebra, Flags, Items, Numbers, Properties, Result, Signed, Strings};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::limits::Limit;
use crate::frontend::json_schema::model::{Keyword, Schema};
use crate::index::SchemaId;

/// Sets of values of one JSON type.
pub(in crate::frontend::json_schema) trait Domain: Clone {
    /// Tells the domains apart in memos.
    const NUMBER: u8;

    /// All values of the type.
    fn all() -> Self;
    /// No value.
    fn nothing() -> Self;
    /// Whether it is plain that there is no value.
    fn is_nothing(&self) -> bool;
    /// Whether it is one conjunction, or a formula: then putting it beside others makes no more
    /// alternatives.
    fn is_single(&self) -> bool {
        true
    }
    /// The values in both sets.
    fn and(self, other: Self, algebra: &mut Algebra<'_>) -> Result<Self>;
    /// The values in either set.
    fn or(self, other: Self, algebra: &mut Algebra<'_>) -> Result<Self>;

    /// The values for which a keyword holds, or does not; `None` if it says nothing of this type.
    /// With `collect` it also says which parts have been evaluated. In-place keywords never come
    /// here.
    fn keyword(
        algebra: &mut Algebra<'_>,
        schema: &Schema,
        keyword: &(Keyword, &'static str),
        positive: bool,
        collect: bool,
    ) -> Result<Option<Self>>;

    /// Adds `unevaluatedProperties` or `unevaluatedItems` to what the other keywords of its schema
    /// say (negated: what is left if the others hold and it does not).
    fn unevaluated(
        self,
        _algebra: &mut Algebra<'_>,
        _schema: &Schema,
        _keyword: &(Keyword, &'static str),
        _positive: bool,
    ) -> Result<Self> {
        Ok(self)
    }

    /// Whether a keyword is this type's `unevaluated…`.
    fn is_unevaluated(_keyword: &Keyword) -> bool {
        false
    }

    /// Forgets which parts have been evaluated.
    #[must_use]
    fn without_annotations(self) -> Self {
        self
    }

    /// The same as a mere condition, whose `properties` do not make others additional.
    #[must_use]
    fn into_condition(self) -> Self {
        self
    }

    /// For each of some sets those of the others with which it may have a value in common; `None`
    /// for a type whose sets are formulas, which need no such care.
    fn overlaps(_algebra: &mut Algebra<'_>, _sets: &[&Self]) -> Result<Option<Vec<Vec<usize>>>> {
        Ok(None)
    }

    /// The values for which exactly one schema holds.
    ///
    /// Lists of alternatives grow with each negation, so that one is only said of those that the
    /// others do not exclude already.
    fn one_of(algebra: &mut Algebra<'_>, schemas: &[SchemaId], collect: bool) -> Result<Self> {
        let mut branches: Vec<(SchemaId, Self)> = Vec::new();
        for &schema in schemas {
            let set: Self = algebra.evaluate(Signed::yes(schema), collect)?;
            if !set.is_nothing() {
                branches.push((schema, set));
            }
        }
        let sets: Vec<&Self> = branches.iter().map(|(_, set)| set).collect();
        let Some(overlaps) = Self::overlaps(algebra, &sets)? else {
            let schemas: Vec<SchemaId> = branches.iter().map(|&(schema, _)| schema).collect();
            return Self::one_of_formulas(algebra, &schemas, collect);
        };
        let mut exactly = Fold::union();
        for (index, others) in overlaps.into_iter().enumerate() {
            let mut set = branches[index].1.clone();
            for other in others {
                let not: Self = algebra.evaluate(Signed::no(branches[other].0), false)?;
                set = set.and(not, algebra)?;
            }
            exactly.push(set, algebra)?;
        }
        Ok(exactly.take(algebra)?.unwrap_or_else(Self::nothing))
    }

    /// The same for sets whose negation is no larger than they are.
    fn one_of_formulas(
        algebra: &mut Algebra<'_>,
        schemas: &[SchemaId],
        collect: bool,
    ) -> Result<Self> {
        Ok(Self::none_and_one(algebra, schemas, collect)?.1)
    }

    /// The values for which none of some schemas holds, and those for which exactly one does.
    fn none_and_one(
        algebra: &mut Algebra<'_>,
        schemas: &[SchemaId],
        collect: bool,
    ) -> Result<(Self, Self)> {
        match schemas {
            [] => Ok((Self::all(), Self::nothing())),
            &[schema] => {
                let no = algebra.evaluate(Signed::no(schema), collect)?;
                Ok((no, algebra.evaluate(Signed::yes(schema), collect)?))
            }
            _ => {
                let (left, right) = schemas.split_at(schemas.len() / 2);
                let left = Self::none_and_one(algebra, left, collect)?;
                let right = Self::none_and_one(algebra, right, collect)?;
                let one = left.1.and(right.0.clone(), algebra)?;
                let other = right.1.and(left.0.clone(), algebra)?;
                Ok((left.0.and(right.0, algebra)?, one.or(other, algebra)?))
            }
        }
    }

    /// Where known sets are kept.
    fn memo(memo: &mut Memo) -> &mut FxHashMap<Key, Self>;
}

/// A domain, a schema, its sign, and whether annotations are collected.
pub(in crate::frontend::json_schema) type Key = (u8, Signed, bool);

/// Sets that are known.
#[derive(Default)]
pub(in crate::frontend::json_schema) struct Memo {
    pub(super) flags: FxHashMap<Key, Flags>,
    pub(super) numbers: FxHashMap<Key, Numbers>,
    pub(super) strings: FxHashMap<Key, Strings>,
    pub(super) items: FxHashMap<Key, Items>,
    pub(super) properties: FxHashMap<Key, Properties>,
}

impl Algebra<'_> {
    /// The values of a type for which a schema holds, or does not. With `collect` it also says
    /// which of their parts have been evaluated.
    pub(in crate::frontend::json_schema) fn evaluate<D: Domain>(
        &mut self,
        signed: Signed,
        collect: bool,
    ) -> Result<D> {
        let key = (D::NUMBER, signed, collect);
        if let Some(known) = D::memo(&mut self.memo).get(&key) {
            return Ok(known.clone());
        }
        let schema = self.schema(signed.schema)?;
        if !self.open.insert(key) {
            return Err(GrammarError::new(
                GrammarErrorKind::Unsupported,
                "a schema refers to itself without any content between",
            )
            .at_pointer(schema.pointer_to(""))
            .with_hint("put the reference into a property or an item"));
        }
        let limits = &self.options.limits;
        let deepest = limits.get(Limit::Depth);
        if self.open.len() > deepest {
            let message = format!(
                "more than {deepest} references and combinations lead from one schema to another"
            );
            let error = limits.exceeded(Limit::Depth, message, "let fewer lead to others");
            return Err(error.at_pointer(schema.pointer_to("")));
        }
        let collect =
            collect || schema.keywords.iter().any(|(keyword, _)| D::is_unevaluated(keyword));
        let set: D = if signed.positive {
            self.conjunction(&schema, collect)
        } else {
            self.negation(&schema, collect)
        }
        .map_err(|error| match schema.place() {
            Some(place) if error.pointer().is_none() => error.at_pointer(place),
            _ => error,
        })?;
        self.open.remove(&key);
        D::memo(&mut self.memo).insert(key, set.clone());
        Ok(set)
    }

    /// The values of a type for which all of some schemas hold.
    pub(in crate::frontend::json_schema) fn evaluate_all<D: Domain>(
        &mut self,
        goal: &[Signed],
    ) -> Result<D> {
        let mut fold = Fold::intersection();
        for &part in goal {
            let part = self.evaluate(part, false)?;
            if fold.push(part, self)? {
                return Ok(D::nothing());
            }
        }
        Ok(fold.take(self)?.unwrap_or_else(D::all))
    }

    /// What a schema's own keywords say comes before what it takes from others, so that the order
    /// of its properties does, and so that alternatives fall away early.
    fn conjunction<D: Domain>(&mut self, schema: &Schema, collect: bool) -> Result<D> {
        let mut set = D::all();
        for step in [Step::Own, Step::Dependent, Step::InPlace] {
            for keyword in &schema.keywords {
                if set.is_nothing() {
                    return Ok(set);
                }
                if step_of(&keyword.0) != step || D::is_unevaluated(&keyword.0) {
                    continue;
                }
                if let Some(part) = self.keyword(schema, keyword, true, collect)? {
                    set = set.and(part, self)?;
                }
            }
        }
        for keyword in &schema.keywords {
            if D::is_unevaluated(&keyword.0) {
                set = set.unevaluated(self, schema, keyword, true)?;
            }
        }
        Ok(set)
    }

    fn negation<D: Domain>(&mut self, schema: &Schema, collect: bool) -> Result<D> {
        let mut set = D::nothing();
        for keyword in &schema.keywords {
            let part = if D::is_unevaluated(&keyword.0) {
                // The others hold and this one does not.
                let mut others = schema.clone();
                others.keywords.retain(|(other, _)| !D::is_unevaluated(other));
                let rest: D = self.conjunction(&others, collect)?;
                Some(rest.unevaluated(self, schema, keyword, false)?)
            } else {
                self.keyword(schema, keyword, false, collect)?
            };
            if let Some(part) = part {
                set = set.or(part, self)?;
            }
        }
        Ok(set.without_annotations().into_condition())
    }

    fn keyword<D: Domain>(
        &mut self,
        schema: &Schema,
        keyword: &(Keyword, &'static str),
        positive: bool,
        collect: bool,
    ) -> Result<Option<D>> {
        self.in_place(schema, keyword, positive, collect).map_err(|error| match schema.place() {
            Some(_) if error.pointer().is_none() => error.at_pointer(schema.pointer_to(keyword.1)),
            _ => error,
        })
    }

    fn in_place<D: Domain>(
        &mut self,
        schema: &Schema,
        keyword: &(Keyword, &'static str),
        positive: bool,
        collect: bool,
    ) -> Result<Option<D>> {
        let set = match (&keyword.0, positive) {
            (Keyword::False, true) => D::nothing(),
            (Keyword::False, false) => D::all(),
            (&Keyword::Ref(target), positive) => {
                self.evaluate(Signed { schema: target, positive }, collect)?
            }
            (Keyword::AllOf(parts), true) => self.each(parts, true, collect)?,
            (Keyword::AnyOf(parts), false) => self.each(parts, false, collect)?,
            (Keyword::AllOf(parts), false) => self.some(parts, false, collect)?,
            (Keyword::AnyOf(parts), true) if collect => self.some_together(parts)?,
            (Keyword::AnyOf(parts), true) => self.some(parts, true, collect)?,
            (Keyword::OneOf(parts), true) => D::one_of(self, parts, collect)?,
            (Keyword::OneOf(parts), false) => self.not_one_of(parts)?,
            (&Keyword::Not(schema), positive) => {
                let set: D = self.evaluate(Signed { schema, positive: !positive }, false)?;
                set.without_annotations().into_condition()
            }
            (&Keyword::If { condition, then, otherwise }, positive) => {
                if then.is_none() && otherwise.is_none() && !collect {
                    return Ok(None);
                }
                let mut branch = |holds: bool, schema: Option<SchemaId>| -> Result<D> {
                    let condition = Signed { schema: condition, positive: holds };
                    let set = self.evaluate::<D>(condition, collect)?.into_condition();
                    match schema {
                        Some(schema) => {
                            let part = self.evaluate(Signed { schema, positive }, collect)?;
                            set.and(part, self)
                        }
                        None if positive => Ok(set),
                        None => Ok(D::nothing()),
                    }
                };
                let (yes, no) = (branch(true, then)?, branch(false, otherwise)?);
                yes.or(no, self)?
            }
            _ => return D::keyword(self, schema, keyword, positive, collect),
        };
        Ok(Some(set))
    }

    fn each<D: Domain>(&mut self, parts: &[SchemaId], positive: bool, collect: bool) -> Result<D> {
        let mut fold = Fold::intersection();
        for &schema in parts {
            let part = self.evaluate(Signed { schema, positive }, collect)?;
            if fold.push(part, self)? {
                return Ok(D::nothing());
            }
        }
        Ok(fold.take(self)?.unwrap_or_else(D::all))
    }

    fn some<D: Domain>(&mut self, parts: &[SchemaId], positive: bool, collect: bool) -> Result<D> {
        let mut fold = Fold::union();
        for &schema in parts {
            let part = self.evaluate(Signed { schema, positive }, collect)?;
            fold.push(part, self)?;
        }
        Ok(fold.take(self)?.unwrap_or_else(D::nothing))
    }

    /// `anyOf` where it matters which of the schemas hold: every selection of them. That the others
    /// do not hold need not be said: what more they evaluate only allows more.
    fn some_together<D: Domain>(&mut self, parts: &[SchemaId]) -> Result<D> {
        let mut set = D::nothing();
        for &schema in parts {
            let part: D = self.evaluate(Signed::yes(schema), true)?;
            let both = set.clone().and(part.clone(), self)?;
            set = set.or(both, self)?.or(part, self)?;
        }
        Ok(set)
    }

    /// None of the schemas holds, or more than one.
    fn not_one_of<D: Domain>(&mut self, parts: &[SchemaId]) -> Result<D> {
        let twice: D = self.one_and_more(parts)?.1;
        let none = self.each(parts, false, false)?;
        twice.or(none, self)
    }

    /// The values for which one of the schemas holds at least, and those for which two do.
    fn one_and_more<D: Domain>(&mut self, parts: &[SchemaId]) -> Result<(D, D)> {
        match parts {
            [] => Ok((D::nothing(), D::nothing())),
            &[schema] => Ok((self.evaluate(Signed::yes(schema), false)?, D::nothing())),
            _ => {
                let (left, right) = parts.split_at(parts.len() / 2);
                let left: (D, D) = self.one_and_more(left)?;
                let right: (D, D) = self.one_and_more(right)?;
                let both = left.0.clone().and(right.0.clone(), self)?;
                let more = left.1.or(right.1, self)?.or(both, self)?;
                Ok((left.0.or(right.0, self)?, more))
            }
        }
    }
}

/// When a keyword is put beside the others of its schema.
#[derive(PartialEq, Eq)]
enum Step {
    Own,
    /// What forbids a property in one of its alternatives, which then says nothing more of it.
    Dependent,
    /// What applies other schemas to the same value.
    InPlace,
}

fn step_of(keyword: &Keyword) -> Step {
    match keyword {
        Keyword::DependentRequired(_) => Step::Dependent,
        Keyword::Ref(_)
        | Keyword::AllOf(_)
        | Keyword::AnyOf(_)
        | Keyword::OneOf(_)
        | Keyword::Not(_)
        | Keyword::If { .. }
        | Keyword::DependentSchemas(_) => Step::InPlace,
        _ => Step::Own,
    }
}
