//! Keywords for what objects and arrays hold.

use std::rc::Rc;

use super::{Reader, Result};
use crate::frontend::json_schema::load::dialect::Draft;
use crate::frontend::json_schema::load::tree::{Json, Node};
use crate::frontend::json_schema::load::words::Word;
use crate::frontend::json_schema::model::Keyword;

impl Reader<'_, '_> {
    /// What a keyword says, if it is one of these.
    pub(super) fn part(&mut self, word: Word, node: Node) -> Result<Option<Keyword>> {
        Ok(Some(match word {
            Word::Properties => Keyword::Properties(self.named(node)?),
            Word::PatternProperties => Keyword::PatternProperties(self.named(node)?),
            Word::AdditionalProperties => {
                let mut known = |word| match self.siblings.get(word) {
                    Some(node) => self.named(node),
                    None => Ok(Rc::from([])),
                };
                let (names, patterns) = (known(Word::Properties)?, known(Word::PatternProperties)?);
                Keyword::AdditionalProperties { schema: self.child(node)?, names, patterns }
            }
            Word::PropertyNames => Keyword::PropertyNames(self.child(node)?),
            Word::Required => Keyword::Required(self.names(node)?),
            Word::MinProperties => Keyword::MinProperties(self.count(node)),
            Word::MaxProperties => Keyword::MaxProperties(self.count(node)),
            Word::DependentRequired => {
                let tree = &self.source.tree;
                let lists = tree.children(node);
                let lists = lists.map(|list| Ok((tree.name(list).into(), self.names(list)?)));
                Keyword::DependentRequired(lists.collect::<Result<_>>()?)
            }
            Word::DependentSchemas => Keyword::DependentSchemas(self.named(node)?),
            Word::UnevaluatedProperties => Keyword::UnevaluatedProperties(self.child(node)?),

            Word::PrefixItems => Keyword::PrefixItems(self.schemas(node)?),
            Word::Items => self.items(node)?,
            Word::AdditionalItems => match self.siblings.tuple(&self.source.tree) {
                Some(tuple) => {
                    let from = self.source.tree.children(tuple).count();
                    Keyword::Items { from, schema: self.child(node)? }
                }
                None => return Ok(None),
            },
            Word::Contains => {
                let bound = |word| self.siblings.get(word).map(|node| self.count(node));
                let (min, max) = (bound(Word::MinContains), bound(Word::MaxContains));
                Keyword::Contains {
                    schema: self.child(node)?,
                    min: min.unwrap_or(1),
                    max,
                    evaluates: self.dialect.draft != Draft::D2019,
                }
            }
            Word::MinItems => Keyword::MinItems(self.count(node)),
            Word::MaxItems => Keyword::MaxItems(self.count(node)),
            Word::UniqueItems => match self.source.tree.json(node) {
                Json::Bool(true) => Keyword::UniqueItems,
                _ => return Ok(None),
            },
            Word::UnevaluatedItems => Keyword::UnevaluatedItems(self.child(node)?),
            _ => return Ok(None),
        }))
    }

    fn names(&mut self, node: Node) -> Result<Rc<[Rc<str>]>> {
        let tree = &self.source.tree;
        self.loader.count_literals(tree.text_bytes(node), self.at(node))?;
        Ok(tree.children(node).map(|name| tree.text_of(name).into()).collect())
    }

    pub(super) fn dependencies(
        &mut self,
        node: Node,
        give: &mut impl FnMut(Keyword),
    ) -> Result<()> {
        let tree = &self.source.tree;
        let (mut required, mut schemas) = (vec![], vec![]);
        for member in tree.children(node) {
            let name = tree.name(member).into();
            if tree.json(member) == Json::Array {
                required.push((name, self.names(member)?));
            } else {
                schemas.push((name, self.child(member)?));
            }
        }
        if !required.is_empty() {
            give(Keyword::DependentRequired(required.into()));
        }
        if !schemas.is_empty() {
            give(Keyword::DependentSchemas(schemas.into()));
        }
        Ok(())
    }

    fn items(&mut self, node: Node) -> Result<Keyword> {
        let tree = &self.source.tree;
        if tree.json(node) == Json::Array {
            return Ok(Keyword::PrefixItems(self.schemas(node)?));
        }
        let prefix = self.siblings.get(Word::PrefixItems);
        let from = prefix.map_or(0, |prefix| tree.children(prefix).count());
        Ok(Keyword::Items { from, schema: self.child(node)? })
    }
}
