//! Why no value satisfies a schema: the keywords that contradict each other, as deep as it goes.

use std::rc::Rc;

use super::goals::Signed;
use super::{Algebra, Result};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::model::{Keyword, Schema};
use crate::index::SchemaId;

/// How many keywords are tried one by one, and how many schemas are looked into.
const MAX_KEYWORDS: usize = 64;
const MAX_SCHEMAS: usize = 64;

impl Algebra<'_> {
    /// The error for a schema that no value satisfies.
    pub(in crate::frontend::json_schema) fn why_empty(&mut self, root: SchemaId) -> GrammarError {
        let (place, reason) = match self.contradiction(root) {
            Ok(Some(found)) => found,
            Ok(None) => (
                String::new(),
                "its keywords together leave none, or every value would have to contain another \
                 one without end, as where a required property leads back to its own schema"
                    .to_owned(),
            ),
            Err(error) => return error,
        };
        GrammarError::new(
            GrammarErrorKind::Empty,
            format!("no value satisfies the schema: {reason}"),
        )
        .at_pointer(place)
    }

    /// The deepest schema that is known to be empty and must be satisfied, and what makes it so.
    fn contradiction(&mut self, root: SchemaId) -> Result<Option<(String, String)>> {
        let mut id = root;
        for _ in 0..MAX_SCHEMAS {
            let schema = self.schema(id)?;
            if !self.is_never(id)? {
                return Ok(None);
            }
            let core = self.core(&schema)?;
            match self.needed(&core)? {
                Some(deeper) if deeper != id => id = deeper,
                _ => return Ok(Some((schema.pointer_to(""), describe(&core)))),
            }
        }
        Ok(None)
    }

    fn is_never(&mut self, schema: SchemaId) -> Result<bool> {
        match self.goal([Signed::yes(schema)])? {
            Some(goal) => self.is_empty_goal(&goal),
            None => Ok(true),
        }
    }

    /// As few of a schema's keywords as can't be satisfied together.
    fn core(&mut self, schema: &Rc<Schema>) -> Result<Vec<(Keyword, &'static str)>> {
        let mut core = schema.keywords.clone();
        if core.len() > MAX_KEYWORDS {
            return Ok(core);
        }
        for index in (0..core.len()).rev() {
            let mut fewer = core.clone();
            fewer.remove(index);
            let made = self.make(fewer.clone());
            if self.is_never(made)? {
                core = fewer;
            }
        }
        Ok(core)
    }

    /// A schema that one of the keywords needs a value for, and that has none.
    fn needed(&mut self, core: &[(Keyword, &'static str)]) -> Result<Option<SchemaId>> {
        let mut candidates = Vec::new();
        for (keyword, _) in core {
            match keyword {
                Keyword::Properties(properties) => {
                    candidates.extend(properties.iter().map(|&(_, schema)| schema));
                }
                Keyword::PrefixItems(schemas) | Keyword::AllOf(schemas) => {
                    candidates.extend_from_slice(schemas);
                }
                &(Keyword::Ref(schema) | Keyword::Items { schema, .. }) => candidates.push(schema),
                _ => {}
            }
        }
        for schema in candidates {
            if self.is_never(schema)? {
                return Ok(Some(schema));
            }
        }
        Ok(None)
    }
}

fn describe(core: &[(Keyword, &'static str)]) -> String {
    let names: Vec<String> = core.iter().map(|(_, name)| format!("`{name}`")).collect();
    match (core, &names[..]) {
        ([(Keyword::False, _)], _) => "the schema is `false`".to_owned(),
        ([(Keyword::Enum(values), _)], _) if values.is_empty() => "`enum` is empty".to_owned(),
        (_, [one]) => format!("{one} can't be satisfied"),
        (_, [first @ .., last]) => {
            format!("{} and {last} can't be satisfied together", first.join(", "))
        }
        (_, []) => "it contradicts itself".to_owned(),
    }
}
