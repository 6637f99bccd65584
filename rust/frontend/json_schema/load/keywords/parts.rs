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
            Word::Properties => Keyword::Properties(self.named(word, node)?),
            Word::PatternProperties => Keyword::PatternProperties(self.named(word, node)?),
            Word::AdditionalProperties => {
                let mut known = |word| match self.siblings.get(word) {
                    Some(node) => self.named(word, node),
                    None => Ok(Rc::from([])),
                };
                let (names, patterns) = (known(Word::Properties)?, known(Word::PatternProperties)?);
                Keyword::AdditionalProperties { schema: self.child(node)?, names, patterns }
            }
            Word::PropertyNames => Keyword::PropertyNames(self.child(node)?),
            Word::Required => Keyword::Required(self.names(word, node)?),
            Word::MinProperties => Keyword::MinProperties(self.count(word, node)?),
            Word::MaxProperties => Keyword::MaxProperties(self.count(word, node)?),
            Word::DependentRequired => {
                self.expect(word, node, "an object", |json| json == Json::Object)?;
                let tree = &self.source.tree;
                let lists = tree.children(node);
                let lists = lists.map(|list| Ok((tree.name(list).into(), self.names(word, list)?)));
                Keyword::DependentRequired(lists.collect::<Result<_>>()?)
            }
            Word::DependentSchemas => Keyword::DependentSchemas(self.named(word, node)?),
            Word::UnevaluatedProperties => Keyword::UnevaluatedProperties(self.child(node)?),

            Word::PrefixItems => Keyword::PrefixItems(self.schemas(word, node)?),
            Word::Items => self.items(word, node)?,
            Word::AdditionalItems => match self.siblings.tuple(&self.source.tree) {
                Some(tuple) => {
                    let from = self.source.tree.children(tuple).count();
                    Keyword::Items { from, schema: self.child(node)? }
                }
                None => return Ok(None),
            },
            Word::Contains => {
                let bound =
                    |word| self.siblings.get(word).map(|node| self.count(word, node)).transpose();
                let (min, max) = (bound(Word::MinContains)?, bound(Word::MaxContains)?);
                Keyword::Contains {
                    schema: self.child(node)?,
                    min: min.unwrap_or(1),
                    max,
                    evaluates: self.dialect.draft != Draft::D2019,
                }
            }
            Word::MinItems => Keyword::MinItems(self.count(word, node)?),
            Word::MaxItems => Keyword::MaxItems(self.count(word, node)?),
            Word::UniqueItems => match self.source.tree.json(node) {
                Json::Bool(true) => Keyword::UniqueItems,
                Json::Bool(false) => return Ok(None),
                _ => return Err(self.wrong(word, node, "true or false")),
            },
            Word::UnevaluatedItems => Keyword::UnevaluatedItems(self.child(node)?),
            _ => return Ok(None),
        }))
    }

    fn names(&self, word: Word, node: Node) -> Result<Rc<[Rc<str>]>> {
        let tree = &self.source.tree;
        if word == Word::Required && matches!(tree.json(node), Json::Bool(_)) {
            return Err(self.wrong(word, node, "an array of names").with_hint(
                "say in the schema of the object which of its properties are required",
            ));
        }
        self.expect(word, node, "an array of names", |json| json == Json::Array)?;
        let names = tree.children(node).map(|name| match tree.string(name) {
            Some(text) => Ok(text.into()),
            None => Err(self.wrong(word, name, "an array of names, all of them strings")),
        });
        names.collect()
    }

    pub(super) fn dependencies(
        &mut self,
        word: Word,
        node: Node,
        give: &mut impl FnMut(Keyword),
    ) -> Result<()> {
        self.expect(word, node, "an object", |json| json == Json::Object)?;
        let tree = &self.source.tree;
        let (mut required, mut schemas) = (vec![], vec![]);
        for member in tree.children(node) {
            let name = tree.name(member).into();
            if tree.json(member) == Json::Array {
                required.push((name, self.names(word, member)?));
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

    fn items(&mut self, word: Word, node: Node) -> Result<Keyword> {
        let tree = &self.source.tree;
        let prefix = self.siblings.get(Word::PrefixItems);
        if tree.json(node) != Json::Array {
            let from = prefix.map_or(0, |prefix| tree.children(prefix).count());
            return Ok(Keyword::Items { from, schema: self.child(node)? });
        }
        if (self.dialect.draft == Draft::D2020 && !self.dialect.any) || prefix.is_some() {
            return Err(self
                .wrong(word, node, "a schema")
                .with_hint("schemas for the first items stand in `prefixItems`"));
        }
        Ok(Keyword::PrefixItems(self.schemas(word, node)?))
    }
}
