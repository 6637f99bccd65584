//! All keywords of all schemas that a schema leads to, for reports.

use rustc_hash::FxHashSet;

use super::keywords::Siblings;
use super::words::Word;
use super::{Loader, Pointer};
use crate::error::GrammarError;
use crate::frontend::json_schema::model::{Keyword, Schema};
use crate::index::SchemaId;

/// What a member of a schema is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frontend::json_schema) enum Role {
    /// A keyword that says what is valid.
    Keyword,
    /// A keyword of the draft that does not, or does not here.
    Annotation,
    /// No keyword of the schema's draft.
    Unknown,
}

impl Loader<'_> {
    /// Visits each schema that the root leads to once, each before those it leads to, and each of
    /// its members in the document's order.
    pub(in crate::frontend::json_schema) fn walk_all(
        &mut self,
        visit: &mut impl FnMut(SchemaId, &Pointer, &str, Role),
    ) -> Result<(), GrammarError> {
        let root = self.root()?;
        let (mut reached, mut shown) = (FxHashSet::default(), FxHashSet::default());
        let mut open = vec![root];
        let mut members = vec![];
        while let Some(id) = open.pop() {
            if !reached.insert(id) {
                continue;
            }
            let place = self.slots[id].place;
            let schema = self.schema(id)?;
            let start = open.len();
            for_each_child(&schema, |child| open.push(child));
            open[start..].reverse();
            // The same schema in another scope has the same members.
            if !shown.insert(place) {
                continue;
            }
            let source = self.documents.source(place.document);
            let dialect = self.documents.resource(self.documents.resource_of(place)).dialect;
            members.clear();
            let siblings = Siblings::of(&source.tree, place.node, dialect, &mut members);
            for node in source.tree.children(place.node) {
                let name = source.tree.name(node);
                let role = match Word::of(name).filter(|word| word.is_of(dialect)) {
                    None => Role::Unknown,
                    Some(word) if siblings.get(word).is_none() => Role::Annotation,
                    Some(word) if siblings.silence(word, &source.tree) => Role::Annotation,
                    Some(word) if word.is_assertion() => Role::Keyword,
                    Some(_) => Role::Annotation,
                };
                visit(id, &schema.pointer, name, role);
            }
        }
        Ok(())
    }
}

/// The schemas that a schema mentions, in order.
fn for_each_child(schema: &Schema, mut give: impl FnMut(SchemaId)) {
    for (keyword, _) in &schema.keywords {
        match keyword {
            Keyword::Properties(schemas)
            | Keyword::PatternProperties(schemas)
            | Keyword::DependentSchemas(schemas) => {
                schemas.iter().for_each(|&(_, schema)| give(schema));
            }
            Keyword::PrefixItems(schemas)
            | Keyword::AllOf(schemas)
            | Keyword::AnyOf(schemas)
            | Keyword::OneOf(schemas) => schemas.iter().for_each(|&schema| give(schema)),
            &(Keyword::AdditionalProperties { schema, .. }
            | Keyword::PropertyNames(schema)
            | Keyword::UnevaluatedProperties(schema)
            | Keyword::Items { schema, .. }
            | Keyword::Contains { schema, .. }
            | Keyword::UnevaluatedItems(schema)
            | Keyword::Not(schema)
            | Keyword::Ref(schema)) => give(schema),
            &Keyword::If { condition, then, otherwise } => {
                [Some(condition), then, otherwise].into_iter().flatten().for_each(&mut give);
            }
            Keyword::False
            | Keyword::Types(_)
            | Keyword::PlainNumbers
            | Keyword::Enum(_)
            | Keyword::Minimum { .. }
            | Keyword::Maximum { .. }
            | Keyword::MultipleOf(_)
            | Keyword::MinLength(_)
            | Keyword::MaxLength(_)
            | Keyword::Pattern(_)
            | Keyword::Format(_)
            | Keyword::Required(_)
            | Keyword::MinProperties(_)
            | Keyword::MaxProperties(_)
            | Keyword::DependentRequired(_)
            | Keyword::MinItems(_)
            | Keyword::MaxItems(_)
            | Keyword::UniqueItems
            | Keyword::Unsupported(_) => {}
        }
    }
}
