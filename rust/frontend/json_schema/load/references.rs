//! Where references lead.

use super::documents::Place;
use super::tree::{Json, Node, Tree};
use super::words::Word;
use super::{Loader, uri};
use crate::error::{GrammarError, GrammarErrorKind, shortened};
use crate::frontend::suggest::closest;
use crate::index::SchemaId;

/// Where a reference stands.
#[derive(Clone, Copy)]
pub(super) struct Reference<'t> {
    /// The place of its text.
    pub(super) place: Place,
    pub(super) text: &'t str,
    /// The resource and the scope it stands in.
    pub(super) resource: u32,
    pub(super) scope: u32,
}

impl Loader<'_> {
    /// The schema that a `$ref` leads to.
    pub(super) fn reference(&mut self, of: Reference<'_>) -> Result<SchemaId, GrammarError> {
        let place = self.target(of)?;
        self.enter(place, of.scope)
    }

    /// The schema that a `$dynamicRef` leads to: if that is a dynamic anchor, the one of this name
    /// that was met first.
    pub(super) fn dynamic(&mut self, of: Reference<'_>) -> Result<SchemaId, GrammarError> {
        let place = self.target(of)?;
        let fragment = uri::split(of.text).1.map(uri::decoded).unwrap_or_default();
        if fragment.is_empty() {
            return self.enter(place, of.scope);
        }
        self.first_of(place, &fragment, of)
    }

    /// The schema that a `$recursiveRef` leads to: the same for the anchor without name.
    pub(super) fn recursive(&mut self, of: Reference<'_>) -> Result<SchemaId, GrammarError> {
        let place = self.target(of)?;
        self.first_of(place, "", of)
    }

    fn first_of(
        &mut self,
        place: Place,
        name: &str,
        of: Reference<'_>,
    ) -> Result<SchemaId, GrammarError> {
        let resource = self.documents.resource(self.documents.resource_of(place));
        let is_dynamic = resource.is_dynamic(name);
        let bound = self.scopes.bound(of.scope, name).filter(|_| is_dynamic);
        self.enter(bound.unwrap_or(place), of.scope)
    }

    fn target(&mut self, of: Reference<'_>) -> Result<Place, GrammarError> {
        let (own, fragment) = uri::split(of.text);
        let resource = self.documents.resource(of.resource);
        let root = if own.is_empty() {
            resource.root
        } else {
            let uri = uri::resolve(&resource.base, own);
            match self.documents.find(&uri)? {
                Some(place) => place,
                None => return Err(self.missing_document(of, &uri)),
            }
        };
        let fragment = uri::decoded(fragment.unwrap_or_default());
        if fragment.is_empty() {
            return Ok(root);
        }
        if fragment.starts_with('/') {
            let tree = &self.documents.source(root.document).tree;
            let node = match follow(tree, root.node, &fragment) {
                Ok(node) => node,
                Err(stop) => return Err(self.broken_pointer(of, root, &fragment, &stop)),
            };
            let place = Place { node, ..root };
            self.documents.search_detached(place)?;
            return Ok(place);
        }
        let resource = self.documents.resource(self.documents.resource_of(root));
        match resource.anchor(&fragment) {
            Some(node) => Ok(Place { node, ..root }),
            None => Err(self.missing_anchor(of, root, &fragment)),
        }
    }

    fn broken(&self, of: Reference<'_>, why: &str) -> GrammarError {
        let message =
            format!("the reference {:?} leads nowhere: {}", shortened(of.text), shortened(why));
        self.documents.error(GrammarErrorKind::Undefined, of.place, message)
    }

    fn broken_pointer(
        &self,
        of: Reference<'_>,
        root: Place,
        fragment: &str,
        stop: &Stop,
    ) -> GrammarError {
        let tree = &self.documents.source(root.document).tree;
        let at = self.documents.pointer(Place { node: stop.at, ..root });
        let place = match at.to_string() {
            pointer if pointer.is_empty() => "the schema".to_owned(),
            pointer => format!("{pointer:?}"),
        };
        let missing = &stop.missing;
        let why = match tree.json(stop.at) {
            Json::Object => format!("{place} has no {missing:?}"),
            Json::Array => {
                format!("{place} has {} items and no {missing:?}", tree.children(stop.at).count())
            }
            _ => format!("{place} is {} and has no {missing:?}", tree.shown(stop.at)),
        };
        let error = self.broken(of, &why);
        let names = tree.children(stop.at).map(|child| tree.name(child));
        if let Some(near) = closest(missing, names) {
            let start = &fragment[..stop.start];
            let uri = uri::split(of.text).0;
            return error.with_hint(format!("did you mean \"{uri}#{start}/{}\"?", escaped(near)));
        }
        // Generators number `$id`s like pointers, and go on referring from the document's root.
        let whole = Place { node: Node::ROOT, ..root };
        if root != whole
            && let Ok(node) = follow(tree, whole.node, fragment)
        {
            let (inner, outer) =
                (self.documents.pointer(root), self.documents.pointer(Place { node, ..root }));
            return error.with_hint(format!(
                "the identifier at \"{inner}\" makes this relative to it; without it, \"{outer}\" \
                 is meant"
            ));
        }
        error
    }

    fn missing_anchor(&self, of: Reference<'_>, root: Place, name: &str) -> GrammarError {
        let error = self.broken(of, &format!("no anchor {name:?} is there"));
        let tree = &self.documents.source(root.document).tree;
        for list in [Word::Defs, Word::Definitions] {
            if let Some(list) = tree.get(root.node, list.name())
                && tree.get(list, name).is_some()
            {
                let list = tree.name(list);
                let name = escaped(name);
                return error.with_hint(format!("did you mean \"#/{list}/{name}\"?"));
            }
        }
        let resource = self.documents.resource(self.documents.resource_of(root));
        let mut anchors: Vec<_> = resource.anchors().collect();
        anchors.sort_unstable();
        match closest(name, anchors) {
            Some(near) => error.with_hint(format!("did you mean \"#{near}\"?")),
            None => error,
        }
    }

    fn missing_document(&self, of: Reference<'_>, uri: &str) -> GrammarError {
        let error = self.broken(of, &format!("there is no document {uri:?}"));
        let resource = self.documents.resource(of.resource);
        let tree = &self.documents.source(resource.root.document).tree;
        let root = resource.root.node;
        // A pointer without its `#`, or the bare name of a definition.
        if let Some(path) = of.text.strip_prefix('/')
            && let Ok(_) = follow(tree, root, of.text)
        {
            return error.with_hint(format!("did you mean \"#/{path}\"?"));
        }
        for list in [Word::Defs, Word::Definitions] {
            if let Some(list) = tree.get(root, list.name())
                && tree.get(list, of.text).is_some()
            {
                let (list, name) = (tree.name(list), escaped(of.text));
                return error.with_hint(format!("did you mean \"#/{list}/{name}\"?"));
            }
        }
        let mut uris: Vec<_> = self.documents.uris().collect();
        uris.sort_unstable();
        if let Some(near) = closest(uri, uris) {
            return error.with_hint(format!("did you mean {near:?}?"));
        }
        error.with_hint(format!(
            "nothing is fetched: pass the document as resources={{{:?}: …}}, or put it under \
             `$defs`",
            shortened(uri)
        ))
    }
}

/// Where following a pointer ended too early.
struct Stop {
    at: Node,
    /// The part that is not there, and where it starts in the pointer.
    missing: String,
    start: usize,
}

/// The node that a JSON pointer leads to.
fn follow(tree: &Tree, from: Node, pointer: &str) -> Result<Node, Stop> {
    let mut at = from;
    let mut start = 0;
    for part in pointer.split('/').skip(1) {
        let name =
            if part.contains('~') { &part.replace("~1", "/").replace("~0", "~") } else { part };
        let next = match tree.json(at) {
            Json::Object => tree.get(at, name),
            Json::Array if part == "0" || !part.starts_with(['0', '+']) => {
                part.parse().ok().and_then(|index| tree.item(at, index))
            }
            _ => None,
        };
        at = next.ok_or_else(|| Stop { at, missing: name.to_owned(), start })?;
        start += 1 + part.len();
    }
    Ok(at)
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
