//! All keywords of all schemas that a schema leads to, for reports.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::Loader;
use super::dialect::Dialect;
use super::keywords::Siblings;
use super::tree::{Node, Tree, write_part};
use super::words::{Word, vocabulary};
use crate::error::GrammarError;
use crate::frontend::json_schema::model::{Keyword, Schema};
use crate::frontend::json_schema::{Finding, Status};
use crate::index::SchemaId;

impl Loader<'_> {
    /// Visits each schema that the root leads to once, each before those it leads to, and each of
    /// its members in the document's order. A keyword that can say what is valid counts as
    /// enforced: whether it is, is not known here.
    pub(in crate::frontend::json_schema) fn walk_all(
        &mut self,
        visit: &mut impl FnMut(SchemaId, Finding),
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
                let reason = silence(name, node, &siblings, dialect, &source.tree);
                let mut pointer = schema.pointer.to_string();
                pointer.push('/');
                // Writing to a string does not fail.
                let _ = write_part(name, &mut pointer);
                let status = match reason {
                    Some(_) => Status::Annotation,
                    None => Status::Enforced,
                };
                let reason = reason.unwrap_or_default().into_owned();
                visit(id, Finding { pointer, keyword: name.to_owned(), status, reason });
            }
        }
        Ok(())
    }
}

/// Why a member of a schema says nothing about what is valid, if so.
fn silence(
    name: &str,
    node: Node,
    siblings: &Siblings,
    dialect: Dialect,
    tree: &Tree,
) -> Option<Cow<'static, str>> {
    let Some(word) = Word::of(name) else {
        return Some("not a keyword of JSON Schema".into());
    };
    if !word.is_of(dialect) {
        return Some(if dialect.vocabularies == vocabulary::ALL {
            format!("not a keyword of {}", dialect.draft).into()
        } else {
            "not a keyword of the metaschema's vocabularies".into()
        });
    }
    if siblings.get(word) != Some(node) {
        return Some(format!("{} ignores what stands beside `$ref`", dialect.draft).into());
    }
    if let Some(missing) = siblings.missing(word, tree) {
        return Some(format!("says nothing without {missing}").into());
    }
    (!word.is_assertion()).then_some("describes, does not constrain".into())
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
            | Keyword::UniqueItems => {}
        }
    }
}
