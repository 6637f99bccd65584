//! The members of a schema object → typed keywords.
//!
//! Here are references and what applies schemas to the same value; [`values`] are the keywords for
//! values as a whole, numbers and strings, [`parts`] those for what objects and arrays hold.

mod parts;
mod values;

use std::rc::Rc;

use super::Loader;
use super::dialect::Dialect;
use super::documents::{Place, Source};
use super::references::Reference;
use super::tree::{Json, Node, Tree};
use super::words::Word;
use crate::error::GrammarError;
use crate::frontend::json_schema::model::{Keyword, Named, Schema};
use crate::index::SchemaId;

type Result<T> = std::result::Result<T, GrammarError>;

impl Loader<'_> {
    /// Types a schema.
    pub(super) fn read(&mut self, place: Place, scope: u32) -> Result<Schema> {
        self.documents.check(place)?;
        let source = Rc::clone(self.documents.source(place.document));
        let pointer = self.documents.pointer(place);
        match source.tree.json(place.node) {
            Json::Bool(true) => return Ok(Schema { pointer, keywords: vec![] }),
            Json::Bool(false) => {
                return Ok(Schema { pointer, keywords: vec![(Keyword::False, "false")] });
            }
            _ => {}
        }
        let resource = self.documents.resource_of(place);
        let dialect = self.documents.resource(resource).dialect;
        let mut members = std::mem::take(&mut self.members);
        members.clear();
        let siblings = Siblings::of(&source.tree, place.node, dialect, &mut members);
        let named = vec![];
        let mut reader = Reader {
            loader: self,
            source: &source,
            place,
            resource,
            scope,
            dialect,
            siblings,
            named,
        };
        let mut keywords = Vec::with_capacity(members.len());
        let mut last = vec![];
        let read = members.iter().try_for_each(|&(word, node)| {
            let to = match word {
                Word::UnevaluatedItems | Word::UnevaluatedProperties => &mut last,
                _ => &mut keywords,
            };
            reader.keyword(word, node, &mut |keyword| to.push((keyword, word.name())))
        });
        self.members = members;
        read?;
        keywords.append(&mut last);
        Ok(Schema { pointer, keywords })
    }
}

/// The keywords of one schema that count, by word.
pub(super) struct Siblings([Option<Node>; Word::COUNT]);

impl Siblings {
    /// Gathers a schema's keywords, also in order.
    pub(super) fn of(
        tree: &Tree,
        schema: Node,
        dialect: Dialect,
        members: &mut Vec<(Word, Node)>,
    ) -> Self {
        let mut siblings = Self([None; Word::COUNT]);
        for node in tree.children(schema) {
            if let Some(word) = Word::of(tree.name(node))
                && word.is_of(dialect)
            {
                members.push((word, node));
                siblings.0[word as usize] = Some(node);
            }
        }
        if dialect.refs_stand_alone()
            && let Some(node) = siblings.get(Word::Ref)
        {
            members.clear();
            members.push((Word::Ref, node));
            siblings = Self([None; Word::COUNT]);
            siblings.0[Word::Ref as usize] = Some(node);
        }
        siblings
    }

    pub(super) fn get(&self, word: Word) -> Option<Node> {
        self.0[word as usize]
    }

    /// The keyword without which one that is there says nothing.
    pub(super) fn missing(&self, word: Word, tree: &Tree) -> Option<&'static str> {
        let (missing, name) = match word {
            Word::Then | Word::Else => (self.get(Word::If).is_none(), "`if`"),
            Word::MinContains | Word::MaxContains => {
                (self.get(Word::Contains).is_none(), "`contains`")
            }
            Word::AdditionalItems => (self.tuple(tree).is_none(), "an array of `items`"),
            Word::ExclusiveMinimum if self.is_boolean(word, tree) => {
                (self.get(Word::Minimum).is_none(), "`minimum`")
            }
            Word::ExclusiveMaximum if self.is_boolean(word, tree) => {
                (self.get(Word::Maximum).is_none(), "`maximum`")
            }
            _ => return None,
        };
        missing.then_some(name)
    }

    fn is_boolean(&self, word: Word, tree: &Tree) -> bool {
        self.get(word).is_some_and(|node| matches!(tree.json(node), Json::Bool(_)))
    }

    /// `items` where it is an array.
    fn tuple(&self, tree: &Tree) -> Option<Node> {
        self.get(Word::Items).filter(|&node| tree.json(node) == Json::Array)
    }
}

struct Reader<'r, 'o> {
    loader: &'r mut Loader<'o>,
    source: &'r Source,
    place: Place,
    resource: u32,
    scope: u32,
    dialect: Dialect,
    siblings: Siblings,
    /// Lists that several keywords need.
    named: Vec<(Node, Named)>,
}

impl Reader<'_, '_> {
    /// Gives what a member of the schema says: mostly one keyword, or nothing.
    fn keyword(&mut self, word: Word, node: Node, give: &mut impl FnMut(Keyword)) -> Result<()> {
        let keyword = match word {
            Word::Ref | Word::DynamicRef | Word::RecursiveRef => {
                Keyword::Ref(self.reference(word, node)?)
            }
            Word::AllOf => Keyword::AllOf(self.schemas(node)?),
            Word::AnyOf => Keyword::AnyOf(self.schemas(node)?),
            Word::OneOf => Keyword::OneOf(self.schemas(node)?),
            Word::Not => Keyword::Not(self.child(node)?),
            Word::If => {
                let condition = self.child(node)?;
                let mut branch =
                    |word| self.siblings.get(word).map(|node| self.child(node)).transpose();
                let (then, otherwise) = (branch(Word::Then)?, branch(Word::Else)?);
                Keyword::If { condition, then, otherwise }
            }
            Word::Type => {
                self.types(node, give);
                return Ok(());
            }
            Word::Dependencies => return self.dependencies(node, give),
            // What is left is said with another keyword, or about the schema, or for people.
            _ => match self.value(word, node)? {
                Some(keyword) => keyword,
                None => match self.part(word, node)? {
                    Some(keyword) => keyword,
                    None => return Ok(()),
                },
            },
        };
        give(keyword);
        Ok(())
    }

    fn at(&self, node: Node) -> Place {
        Place { node, ..self.place }
    }

    /// A sub-schema.
    fn child(&mut self, node: Node) -> Result<SchemaId> {
        let place = self.at(node);
        self.loader.enter(place, self.scope)
    }

    fn schemas(&mut self, node: Node) -> Result<Rc<[SchemaId]>> {
        let source = self.source;
        source.tree.children(node).map(|schema| self.child(schema)).collect()
    }

    fn named(&mut self, node: Node) -> Result<Named> {
        if let Some((_, known)) = self.named.iter().find(|(known, _)| *known == node) {
            return Ok(Rc::clone(known));
        }
        let tree = &self.source.tree;
        let bytes = tree.children(node).map(|schema| tree.name(schema).len()).sum();
        self.loader.count_literals(bytes, self.at(node))?;
        let schemas = tree.children(node);
        let named: Named = schemas
            .map(|schema| Ok((tree.name(schema).into(), self.child(schema)?)))
            .collect::<Result<_>>()?;
        self.named.push((node, Rc::clone(&named)));
        Ok(named)
    }

    fn reference(&mut self, word: Word, node: Node) -> Result<SchemaId> {
        let text = self.source.tree.text_of(node);
        let (resource, scope) = (self.resource, self.scope);
        let reference = Reference { place: self.at(node), text, resource, scope };
        match word {
            Word::DynamicRef => self.loader.dynamic(reference),
            Word::RecursiveRef => self.loader.recursive(reference),
            _ => self.loader.reference(reference),
        }
    }
}
