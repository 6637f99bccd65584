//! JSON text of a schema → typed [`Schema`]s, read by need.
//!
//! The text becomes a [`tree`] at once; a schema in it gets an id when another mentions it, and is
//! typed when it is asked for, so definitions that nothing uses cost only their parse. References
//! are resolved to ids here; drafts, vocabularies and the older forms of keywords end here. What a
//! schema's keywords mean together, and whether a pattern or a format is known, is not known here.
//!
//! The same schema reached twice has the same id, so recursion ends. Where `$dynamicRef` or
//! `$recursiveRef` make a schema's meaning depend on the way to it, the id stands for the schema
//! *in a [`scope`]*: that makes dynamic references static, exactly.

mod check;
mod dialect;
mod documents;
mod keywords;
mod parse;
mod references;
mod scope;
mod tree;
mod uri;
mod value;
mod walk;
mod words;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::model::Schema;
use super::options::Options;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::index::{IndexVec, SchemaId};
use documents::{Documents, Place};
use scope::Scopes;
use tree::Node;
use words::Word;

pub(super) use documents::Pointer;

/// The most schemas in scopes other than the empty one.
const MAX_SCOPED: usize = 200_000;

/// A schema that has an id.
struct Slot {
    place: Place,
    scope: u32,
    schema: Option<Rc<Schema>>,
}

/// A schema's document and those it refers to.
pub(super) struct Loader<'o> {
    documents: Documents<'o>,
    slots: IndexVec<SchemaId, Slot>,
    /// By document and node, the id in the empty scope and one more; 0 for none.
    unscoped: Vec<Vec<u32>>,
    scoped: FxHashMap<(Place, u32), SchemaId>,
    scopes: Scopes,
    /// The keywords of the schema being read; here to be reused.
    members: Vec<(Word, Node)>,
}

impl<'o> Loader<'o> {
    /// Reads the text and finds its draft.
    pub(super) fn new(text: &str, options: &'o Options) -> Result<Self, GrammarError> {
        Ok(Self {
            documents: Documents::new(text, &options.resources)?,
            slots: IndexVec::new(),
            unscoped: Vec::new(),
            scoped: FxHashMap::default(),
            scopes: Scopes::new(),
            members: Vec::new(),
        })
    }

    /// The user's schema.
    pub(super) fn root(&mut self) -> Result<SchemaId, GrammarError> {
        self.enter(Place { document: 0, node: Node::ROOT }, Scopes::EMPTY)
    }

    /// A schema's keywords.
    pub(super) fn schema(&mut self, id: SchemaId) -> Result<Rc<Schema>, GrammarError> {
        if let Some(schema) = &self.slots[id].schema {
            return Ok(Rc::clone(schema));
        }
        let Slot { place, scope, .. } = self.slots[id];
        let schema = Rc::new(self.read(place, scope)?);
        self.slots[id].schema = Some(Rc::clone(&schema));
        Ok(schema)
    }

    /// The id of a schema that is reached from a scope.
    fn enter(&mut self, place: Place, scope: u32) -> Result<SchemaId, GrammarError> {
        let mut scope = scope;
        if self.documents.dynamic {
            let resource = self.documents.resource_of(place);
            scope = self.scopes.enter(scope, resource, self.documents.resource(resource))?;
        }
        let slot = Slot { place, scope, schema: None };
        if scope == Scopes::EMPTY {
            let document = place.document as usize;
            if document >= self.unscoped.len() {
                self.unscoped.resize(document + 1, vec![]);
            }
            let ids = &mut self.unscoped[document];
            if ids.is_empty() {
                ids.resize(self.documents.source(place.document).tree.len(), 0);
            }
            let known = &mut ids[place.node.0 as usize];
            if *known == 0 {
                *known = self.slots.push(slot).0 + 1;
            }
            return Ok(SchemaId(*known - 1));
        }
        if let Some(&known) = self.scoped.get(&(place, scope)) {
            return Ok(known);
        }
        if self.scoped.len() == MAX_SCOPED {
            let message = format!("dynamic references give more than {MAX_SCOPED} schemas");
            return Err(GrammarError::new(GrammarErrorKind::Limit, message));
        }
        let id = self.slots.push(slot);
        self.scoped.insert((place, scope), id);
        Ok(id)
    }
}
