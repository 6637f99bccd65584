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

use super::limits::Limit;
use super::model::Schema;
use super::options::Options;
use crate::error::GrammarError;
use crate::index::{IndexVec, SchemaId};
use documents::{Documents, Place};
use scope::Scopes;
use tree::Node;
use words::Word;

pub(super) use documents::Pointer;
pub(super) use tree::write_part;

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
    /// Bytes of the names and constants in the schemas read.
    literal_bytes: usize,
    /// The keywords of the schema being read; here to be reused.
    members: Vec<(Word, Node)>,
}

impl<'o> Loader<'o> {
    /// Reads the text and finds its draft.
    pub(super) fn new(text: &str, options: &'o Options) -> Result<Self, GrammarError> {
        Ok(Self {
            documents: Documents::new(text, options)?,
            slots: IndexVec::new(),
            unscoped: Vec::new(),
            scoped: FxHashMap::default(),
            scopes: Scopes::new(),
            literal_bytes: 0,
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
            scope = self.enter_scope(scope, place)?;
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
        let most = self.documents.limits.get(Limit::ScopedSchemas);
        if self.scoped.len() >= most {
            let message = format!("dynamic references give more than {most} schemas");
            return Err(self.exceeded(Limit::ScopedSchemas, place, message));
        }
        let id = self.slots.push(slot);
        self.scoped.insert((place, scope), id);
        Ok(id)
    }

    /// The scope in a schema that is reached from a scope.
    fn enter_scope(&mut self, scope: u32, place: Place) -> Result<u32, GrammarError> {
        let number = self.documents.resource_of(place);
        let most = self.documents.limits.get(Limit::Scopes);
        let entered = self.scopes.enter(scope, number, self.documents.resource(number), most);
        entered.ok_or_else(|| {
            let message = format!("dynamic anchors give more than {most} scopes");
            self.exceeded(Limit::Scopes, place, message)
        })
    }

    /// Counts bytes that a grammar spells out, for what stands at a place.
    fn count_literals(&mut self, bytes: usize, place: Place) -> Result<(), GrammarError> {
        self.literal_bytes += bytes;
        let most = self.documents.limits.get(Limit::LiteralBytes);
        if self.literal_bytes <= most {
            return Ok(());
        }
        let message = format!("names and constants have more than {most} bytes in all");
        Err(self.exceeded(Limit::LiteralBytes, place, message))
    }

    /// The error for what is past a limit at a place.
    fn exceeded(&self, limit: Limit, place: Place, message: String) -> GrammarError {
        let error = self.documents.limits.exceeded(limit, message, "");
        error.at_pointer(self.documents.pointer(place).to_string())
    }
}
