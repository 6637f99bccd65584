//! What a value must be: a conjunction of schemas and negated schemas.

use std::rc::Rc;

use super::{Algebra, Result};
use crate::frontend::json_schema::limits::Limit;
use crate::frontend::json_schema::model::{Keyword, Type};
use crate::index::SchemaId;

/// A schema, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::frontend::json_schema) struct Signed {
    pub(in crate::frontend::json_schema) schema: SchemaId,
    pub(in crate::frontend::json_schema) positive: bool,
}

impl Signed {
    pub(super) fn yes(schema: SchemaId) -> Self {
        Self { schema, positive: true }
    }

    pub(super) fn no(schema: SchemaId) -> Self {
        Self { schema, positive: false }
    }
}

/// All of these hold; sorted, each once. The empty conjunction is any value.
pub(in crate::frontend::json_schema) type Goal = Rc<[Signed]>;

impl Algebra<'_> {
    /// The conjunction of some schemas, in one form: without schemas that say nothing, references
    /// followed. `None` if it is plainly impossible.
    pub(in crate::frontend::json_schema) fn goal(
        &mut self,
        parts: impl IntoIterator<Item = Signed>,
    ) -> Result<Option<Goal>> {
        let mut goal = Vec::new();
        for mut part in parts {
            // A cycle of references alone is found when the schema is looked into.
            for _ in 0..self.options.limits.get(Limit::Depth) {
                match self.schema(part.schema)?.keywords[..] {
                    [(Keyword::Ref(target), _)] => part.schema = target,
                    // Below `not`, `properties` do not close an object by the option.
                    [(Keyword::Not(target), _)]
                        if part.positive || self.options.additional_properties =>
                    {
                        part = Signed { schema: target, positive: !part.positive };
                    }
                    [(Keyword::Types(types), _)] => {
                        // One for all schemas that say the same.
                        part.schema = *self.by_types.entry(types).or_insert(part.schema);
                        break;
                    }
                    _ => break,
                }
            }
            match (&self.schema(part.schema)?.keywords[..], part.positive) {
                ([], true) | ([(Keyword::False, _)], false) => {}
                ([], false) | ([(Keyword::False, _)], true) => return Ok(None),
                _ => goal.push(part),
            }
        }
        goal.sort_unstable();
        goal.dedup();
        if goal.windows(2).any(|pair| pair[0].schema == pair[1].schema) {
            return Ok(None);
        }
        Ok(Some(goal.into()))
    }

    /// The types that values of a goal may have as far as `type` says, as bits by [`Type`].
    pub(in crate::frontend::json_schema) fn types(&mut self, goal: &[Signed]) -> Result<u8> {
        let mut types = u8::MAX;
        for part in goal.iter().filter(|part| part.positive) {
            for (keyword, _) in &self.schema(part.schema)?.keywords {
                if let Keyword::Types(listed) = keyword {
                    types &= listed.types | u8::from(listed.integer) << Type::Number as u8;
                }
            }
        }
        Ok(types)
    }
}
