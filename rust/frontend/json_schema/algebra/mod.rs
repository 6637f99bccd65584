//! The algebra of schemas: which values satisfy a conjunction of schemas and negated schemas.
//!
//! Takes schemas as `load` reads them; gives, for each JSON type by itself, the set of values in a
//! form without negation, which `emit` writes as grammar. A schema is a boolean formula over its
//! keywords; taken for one type, most keywords say nothing and fall away. `not` is pushed inward by
//! dual operators, so that only single keywords are ever negated.
//!
//! Sets by type ([`Domain`]): `null` and booleans are three bits ([`flags`]); numbers are a formula
//! over intervals and multiples ([`numbers`]); strings a regular language ([`strings`]); arrays and
//! objects a list of alternatives, each a conjunction of what its parts must be ([`arrays`],
//! [`objects`]). What the parts must be is again a conjunction of schemas ([`Goal`]), which is
//! looked into only when it is needed: this is how recursion ends.
//!
//! Sources: Attouche et al., *Witness Generation for JSON Schema*, PVLDB 15 (2022), for the normal
//! form; Habib et al., *Finding Data Compatibility Bugs with JSON Subschema Checks*, ISSTA 2021.
//!
//! A keyword that can't be enforced is noted and then true, negated or not, so that the set only
//! grows.

mod alternatives;
mod arrays;
mod conditions;
mod domain;
mod empty;
mod flags;
mod fold;
mod goals;
mod lists;
mod names;
mod numbers;
mod objects;
mod strings;
mod values;
mod why;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use arrays::{Items, List};
pub(super) use conditions::Condition;
pub(super) use domain::Domain;
pub(super) use flags::Flags;
pub(super) use goals::{Goal, Signed};
pub(super) use names::{Known, Names};
pub(super) use numbers::Numbers;
pub(super) use objects::{Exists, Properties, Shape};
pub(super) use strings::Strings;

use super::limits::Limit;
use super::load::Loader;
use super::model::{Keyword, Schema, Types};
use super::options::Options;
use super::{Finding, Status};
use crate::compile::Languages;
use crate::error::GrammarError;
use crate::grammar::GrammarBuilder;
use crate::index::{ExprId, Id, SchemaId};

/// Ids from here on are of schemas that the algebra made.
const FIRST_MADE: u32 = 1 << 30;

/// The result of an algebraic step.
pub(super) type Result<T> = std::result::Result<T, GrammarError>;

/// Schemas and what is known of them.
pub(super) struct Algebra<'a> {
    pub(super) options: &'a Options,
    pub(super) builder: GrammarBuilder,
    pub(super) languages: Languages,
    loader: Loader<'a>,
    read: FxHashMap<SchemaId, Rc<Schema>>,
    /// Schemas made from values and conjunctions, from [`FIRST_MADE`] on.
    made: Vec<Rc<Schema>>,
    by_value: FxHashMap<super::model::Value, SchemaId>,
    by_alternatives: FxHashMap<Rc<[SchemaId]>, SchemaId>,
    /// A schema for each `type` that is all a schema says.
    by_types: FxHashMap<Types, SchemaId>,
    /// The schema `false`, once it has been needed.
    never: Option<SchemaId>,
    memo: domain::Memo,
    /// What is being evaluated: coming back to it means a reference cycle without content.
    open: FxHashSet<domain::Key>,
    empty: empty::Emptiness,
    patterns: FxHashMap<Rc<str>, Option<ExprId>>,
    formats: FxHashMap<Rc<str>, Option<ExprId>>,
    lists: lists::Lists,
    /// Bytes of the patterns met so far.
    pattern_bytes: usize,
    merges: usize,
    work: usize,
    /// Whether whole numbers are written without fraction and exponent (draft 4).
    pub(super) plain_numbers: bool,
    /// The places and keywords of what can't be enforced.
    refused: FxHashSet<(String, String)>,
    /// What can't be enforced.
    pub(super) unsupported: Vec<Finding>,
    /// The first pattern that is none: an error, whatever may be ignored.
    pub(super) invalid: Option<GrammarError>,
}

impl<'a> Algebra<'a> {
    pub(super) fn new(loader: Loader<'a>, options: &'a Options) -> Self {
        Self {
            options,
            builder: GrammarBuilder::new(),
            languages: Languages::new(options.limits.effort()),
            loader,
            read: FxHashMap::default(),
            made: Vec::new(),
            by_value: FxHashMap::default(),
            by_alternatives: FxHashMap::default(),
            by_types: FxHashMap::default(),
            never: None,
            memo: domain::Memo::default(),
            open: FxHashSet::default(),
            empty: empty::Emptiness::default(),
            patterns: FxHashMap::default(),
            formats: FxHashMap::default(),
            lists: lists::Lists::default(),
            pattern_bytes: 0,
            merges: 0,
            work: 0,
            plain_numbers: false,
            refused: FxHashSet::default(),
            unsupported: Vec::new(),
            invalid: None,
        }
    }

    /// What can't be enforced, in the order in which [`Loader::walk_all`] comes to it.
    pub(super) fn findings(&mut self) -> Result<Vec<Finding>> {
        let mut findings = std::mem::take(&mut self.unsupported);
        if findings.len() > 1 {
            let mut places: FxHashMap<String, usize> = FxHashMap::default();
            self.loader.walk_all(&mut |_, finding| {
                let next = places.len();
                places.entry(finding.pointer).or_insert(next);
            })?;
            findings.sort_by_cached_key(|finding| {
                // A keyword's member has its keyword's place.
                let mut pointers = std::iter::successors(Some(&*finding.pointer), |pointer| {
                    pointer.rsplit_once('/').map(|(above, _)| above)
                });
                pointers.find_map(|pointer| places.get(pointer).copied())
            });
        }
        Ok(findings)
    }

    /// The root schema.
    pub(super) fn root(&mut self) -> Result<SchemaId> {
        self.loader.root()
    }

    /// A schema's keywords.
    pub(super) fn schema(&mut self, id: SchemaId) -> Result<Rc<Schema>> {
        if id.0 >= FIRST_MADE {
            return Ok(Rc::clone(&self.made[(id.0 - FIRST_MADE) as usize]));
        }
        if let Some(known) = self.read.get(&id) {
            return Ok(Rc::clone(known));
        }
        let schema = self.loader.schema(id)?;
        self.read.insert(id, Rc::clone(&schema));
        Ok(schema)
    }

    /// A schema of these keywords.
    fn make(&mut self, keywords: Vec<(Keyword, &'static str)>) -> SchemaId {
        self.made.push(Rc::new(Schema::made(keywords)));
        SchemaId::new(FIRST_MADE as usize + self.made.len() - 1)
    }

    /// The schema `false`.
    pub(super) fn never(&mut self) -> SchemaId {
        if let Some(known) = self.never {
            return known;
        }
        let never = self.make(vec![(Keyword::False, "false")]);
        self.never = Some(never);
        never
    }

    /// A schema for values that satisfy one of several.
    pub(super) fn any_of(&mut self, schemas: &[SchemaId]) -> SchemaId {
        let schemas: Rc<[SchemaId]> = schemas.into();
        if let Some(&known) = self.by_alternatives.get(&schemas) {
            return known;
        }
        let made = self.make(vec![(Keyword::AnyOf(Rc::clone(&schemas)), "anyOf")]);
        self.by_alternatives.insert(schemas, made);
        made
    }

    /// Notes a keyword that can't be enforced.
    pub(super) fn refuse(&mut self, schema: &Schema, keyword: &str, reason: &str) {
        self.refuse_at(schema.pointer_to(keyword), keyword, reason);
    }

    /// The same for a part of its value.
    fn refuse_at(&mut self, pointer: String, keyword: &str, reason: &str) {
        if !self.refused.insert((pointer.clone(), keyword.to_owned())) {
            return;
        }
        self.unsupported.push(Finding {
            pointer,
            keyword: keyword.to_owned(),
            status: Status::Unsupported,
            reason: reason.to_owned(),
        });
    }

    /// Counts a step that may be repeated exponentially often, and what is copied in it.
    fn count_merge(&mut self, size: usize) -> Result<()> {
        const ADVICE: &str = "say the same with fewer alternatives side by side";
        self.merges += 1;
        self.work = self.work.saturating_add(size);
        let limits = &self.options.limits;
        let (merges, work) = (limits.get(Limit::Combinations), limits.get(Limit::Work));
        if self.merges > merges {
            let message = format!(
                "`anyOf`, `oneOf`, `not` and their like combine in more than {merges} ways"
            );
            return Err(limits.exceeded(Limit::Combinations, message, ADVICE));
        }
        if self.work > work {
            let message = format!(
                "more than {work} properties and items are looked at to combine `anyOf`, `oneOf`, \
                 `not` and their like"
            );
            return Err(limits.exceeded(Limit::Work, message, ADVICE));
        }
        Ok(())
    }

    /// An error with the place of a goal, if it has none.
    pub(super) fn located(&mut self, error: GrammarError, goal: &[Signed]) -> GrammarError {
        if error.pointer().is_some() {
            return error;
        }
        let place = goal.iter().find_map(|part| self.schema(part.schema).ok()?.place());
        match place {
            Some(place) => error.at_pointer(place),
            None => error,
        }
    }
}
