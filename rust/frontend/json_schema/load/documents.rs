//! The documents a schema may draw on, their resources (parts with URIs of their own) and the
//! anchors in these.
//!
//! The user's schema is read at once, a further document when a reference leads there. A document
//! is searched for identifiers only if it seems to have some below its root.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::check::for_each_schema;
use super::dialect::{self, Dialect, Draft};
use super::parse::parse;
use super::tree::{Json, Node, Tree};
use super::uri;
use super::words::Word;
use super::words::vocabulary::{ALL, CORE};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::limits::Limits;
use crate::frontend::json_schema::options::Options;

/// How many metaschemas may stand behind one another.
const MAX_METASCHEMAS: u32 = 8;

/// A document's tree.
pub(super) struct Source {
    pub(super) tree: Tree,
    /// Where it was found; empty for the user's schema.
    pub(super) uri: Box<str>,
}

/// Where a schema stands. Its text is a JSON pointer, behind the document's URI and a `#` if that
/// is not the user's; the default stands nowhere and has none.
#[derive(Clone, Default)]
pub(in crate::frontend::json_schema) struct Pointer(Option<(Rc<Source>, Node)>);

impl Pointer {
    /// Whether it is of a document.
    pub(in crate::frontend::json_schema) fn is_known(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((source, node)) = &self.0 else { return Ok(()) };
        if !source.uri.is_empty() {
            write!(f, "{}#", source.uri)?;
        }
        source.tree.write_pointer(*node, f)
    }
}

impl fmt::Debug for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// A node of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) document: u32,
    pub(super) node: Node,
}

/// A schema with a URI of its own, and what lies in it up to the next such schemas.
pub(super) struct Resource {
    pub(super) root: Place,
    /// What references in it are relative to; empty if nothing says.
    pub(super) base: Rc<str>,
    pub(super) dialect: Dialect,
    anchors: HashMap<Rc<str>, Node>,
    /// The anchors that are dynamic. The name of `$recursiveAnchor` is empty.
    pub(super) dynamic: Vec<(Rc<str>, Node)>,
}

impl Resource {
    /// The node an anchor names.
    pub(super) fn anchor(&self, name: &str) -> Option<Node> {
        self.anchors.get(name).copied()
    }

    /// Whether it has a dynamic anchor of this name.
    pub(super) fn is_dynamic(&self, name: &str) -> bool {
        self.dynamic.iter().any(|(anchor, _)| **anchor == *name)
    }

    /// All anchors, for hints.
    pub(super) fn anchors(&self) -> impl Iterator<Item = &str> {
        self.anchors.keys().map(|name| &**name)
    }
}

struct Document {
    source: Rc<Source>,
    /// The resource of its root.
    root: u32,
    /// The resources further in.
    inner: FxHashMap<Node, u32>,
    /// By node, whether identifiers were looked for; empty if there seem to be none.
    searched: Vec<bool>,
    /// By node, whether it was checked as a schema; empty until one is.
    checked: Vec<bool>,
}

/// See the module.
pub(super) struct Documents<'o> {
    read: Vec<Document>,
    resources: Vec<Resource>,
    by_uri: HashMap<Rc<str>, Place>,
    /// The user's resources, those read taken out, by URI.
    unread: HashMap<String, &'o str>,
    pub(super) limits: &'o Limits,
    /// A document with dynamic anchors was read.
    pub(super) dynamic: bool,
}

impl<'o> Documents<'o> {
    /// Reads the user's schema.
    pub(super) fn new(text: &str, options: &'o Options) -> Result<Self, GrammarError> {
        let unread = options
            .resources
            .iter()
            .map(|(uri, text)| (uri::resolve("", uri::split(uri).0), text.as_str()))
            .collect();
        let mut documents = Self {
            read: vec![],
            resources: vec![],
            by_uri: HashMap::new(),
            unread,
            limits: &options.limits,
            dynamic: false,
        };
        documents.read(text, "")?;
        Ok(documents)
    }

    /// The tree of a document.
    pub(super) fn source(&self, document: u32) -> &Rc<Source> {
        &self.read[document as usize].source
    }

    pub(super) fn resource(&self, resource: u32) -> &Resource {
        &self.resources[resource as usize]
    }

    /// A place as text.
    pub(super) fn pointer(&self, place: Place) -> Pointer {
        Pointer(Some((Rc::clone(self.source(place.document)), place.node)))
    }

    /// An error at a place.
    pub(super) fn error(
        &self,
        kind: GrammarErrorKind,
        place: Place,
        message: impl Into<String>,
    ) -> GrammarError {
        GrammarError::new(kind, message).at_pointer(self.pointer(place).to_string())
    }

    /// The resource a place lies in.
    pub(super) fn resource_of(&self, place: Place) -> u32 {
        let document = &self.read[place.document as usize];
        if document.inner.is_empty() {
            return document.root;
        }
        let mut at = Some(place.node);
        while let Some(node) = at {
            if let Some(&resource) = document.inner.get(&node) {
                return resource;
            }
            at = document.source.tree.parent(node);
        }
        document.root
    }

    /// The dialect of a resource, if a place is its root.
    pub(super) fn dialect_at(&self, place: Place) -> Option<Dialect> {
        let inner = &self.read[place.document as usize].inner;
        let resource = if inner.is_empty() { None } else { inner.get(&place.node) };
        resource.map(|&resource| self.resource(resource).dialect)
    }

    /// Whether a schema was checked.
    pub(super) fn is_checked(&self, place: Place) -> bool {
        let checked = &self.read[place.document as usize].checked;
        checked.get(place.node.0 as usize).is_some_and(|&checked| checked)
    }

    /// Which schemas of a document were checked, to be kept again.
    pub(super) fn take_checked(&mut self, document: u32) -> Vec<bool> {
        let document = &mut self.read[document as usize];
        match std::mem::take(&mut document.checked) {
            none if none.is_empty() => vec![false; document.source.tree.len()],
            checked => checked,
        }
    }

    pub(super) fn keep_checked(&mut self, document: u32, checked: Vec<bool>) {
        self.read[document as usize].checked = checked;
    }

    /// The schema of a URI without fragment, if there is a document for it.
    pub(super) fn find(&mut self, uri: &str) -> Result<Option<Place>, GrammarError> {
        if let Some(&place) = self.by_uri.get(uri) {
            return Ok(Some(place));
        }
        if let Some(text) = self.unread.remove(uri) {
            return self.read(text, uri).map(Some);
        }
        if let Some(text) = dialect::metaschema(uri) {
            return self.read(text, uri).map(Some);
        }
        // A document may name itself, or a part of it, otherwise than its key does.
        let mut unread: Vec<_> = self.unread.drain().collect();
        unread.sort_unstable();
        for (key, text) in unread {
            self.read(text, &key)?;
        }
        Ok(self.by_uri.get(uri).copied())
    }

    /// The URIs of the documents there are, for hints.
    pub(super) fn uris(&self) -> impl Iterator<Item = &str> {
        self.by_uri.keys().map(|uri| &**uri).filter(|uri| !uri.is_empty())
    }

    /// Looks for identifiers below a schema that stands where no keyword puts one. They set the
    /// base of references, but nothing can refer to them.
    pub(super) fn search_detached(&mut self, place: Place) -> Result<(), GrammarError> {
        let document = &self.read[place.document as usize];
        match document.searched.get(place.node.0 as usize) {
            None | Some(true) => Ok(()),
            Some(false) => self.search(place, false),
        }
    }

    fn read(&mut self, text: &str, uri: &str) -> Result<Place, GrammarError> {
        let source = Rc::new(Source { tree: parse(text, uri, self.limits)?, uri: uri.into() });
        let tree = &source.tree;
        let document = self.read.len() as u32;
        let root = Place { document, node: Node::ROOT };
        let resource = self.resources.len() as u32;
        let searched = if tree.identifiers.any { vec![false; tree.len()] } else { vec![] };
        self.read.push(Document {
            source: Rc::clone(&source),
            root: resource,
            inner: FxHashMap::default(),
            searched,
            checked: vec![],
        });
        // A document that names no draft is of the user's schema's.
        let dialect = match tree.get(Node::ROOT, Word::Schema.name()) {
            Some(node) => self.dialect(Place { document, node })?,
            None => self.resources.first().map_or(Dialect::ANY, |user| user.dialect),
        };
        let mut base: Rc<str> = uri.into();
        self.by_uri.entry(Rc::clone(&base)).or_insert(root);
        if let Some((id, _)) = id(tree, Node::ROOT, dialect)
            && let own = uri::split(id).0
            && !own.is_empty()
        {
            base = uri::resolve(uri, own).into();
            self.by_uri.entry(Rc::clone(&base)).or_insert(root);
        }
        self.resources.push(Resource {
            root,
            base,
            dialect,
            anchors: HashMap::new(),
            dynamic: vec![],
        });
        self.dynamic |= tree.identifiers.dynamic;
        if tree.identifiers.any {
            self.search(root, true)?;
        }
        Ok(root)
    }

    /// Looks for identifiers in a schema and all those in it.
    fn search(&mut self, from: Place, register: bool) -> Result<(), GrammarError> {
        let document = from.document;
        let source = Rc::clone(self.source(document));
        let tree = &source.tree;
        let mut open = vec![(from.node, self.resource_of(from))];
        while let Some((node, outer)) = open.pop() {
            if tree.json(node) != Json::Object {
                continue;
            }
            let searched = &mut self.read[document as usize].searched[node.0 as usize];
            if std::mem::replace(searched, true) {
                continue;
            }
            let resource = self.identify(Place { document, node }, tree, outer, register)?;
            let dialect = self.resources[resource as usize].dialect;
            let start = open.len();
            for child in tree.children(node) {
                let Some(word) = Word::of(tree.name(child)).filter(|word| word.is_of(dialect))
                else {
                    continue;
                };
                for_each_schema(tree, word, child, |schema| open.push((schema, resource)));
            }
            // Errors are told in the order of the document.
            open[start..].reverse();
        }
        Ok(())
    }

    /// Notes a schema's identifiers and says which resource it lies in.
    fn identify(
        &mut self,
        place: Place,
        tree: &Tree,
        outer: u32,
        register: bool,
    ) -> Result<u32, GrammarError> {
        let Place { document, node } = place;
        let mut resource = outer;
        let mut dialect = self.resources[outer as usize].dialect;
        let is_root = self.resources[outer as usize].root == place;
        if !is_root
            && let Some(named) = tree.get(node, Word::Schema.name())
            && (tree.get(node, "$id").is_some() || tree.get(node, "id").is_some())
        {
            dialect = self.dialect(Place { document, node: named })?;
        }
        if let Some((id, sure)) = id(tree, node, dialect) {
            let (own, fragment) = uri::split(id);
            if !own.is_empty() && !is_root {
                let base: Rc<str> = uri::resolve(&self.resources[outer as usize].base, own).into();
                if register {
                    let known = *self.by_uri.entry(Rc::clone(&base)).or_insert(place);
                    // Real schemas of draft 4 repeat each `id`: there the first one counts.
                    let is_other = known.document == document && known.node != node;
                    if is_other && dialect.draft != Draft::D4 && sure {
                        return Err(self.ambiguous("`$id`", &base, known, place));
                    }
                }
                if sure {
                    resource = self.resources.len() as u32;
                    self.read[document as usize].inner.insert(node, resource);
                    self.resources.push(Resource {
                        root: place,
                        base,
                        dialect,
                        anchors: HashMap::new(),
                        dynamic: vec![],
                    });
                }
            }
            if let Some(name) = fragment
                && !name.is_empty()
                && !name.starts_with('/')
            {
                self.anchor(resource, name, place, register)?;
            }
        }
        for word in [Word::Anchor, Word::DynamicAnchor] {
            if word.is_of(dialect)
                && let Some(name) = tree.get(node, word.name()).and_then(|node| tree.string(node))
            {
                self.anchor(resource, name, place, register)?;
                if word == Word::DynamicAnchor && register {
                    self.resources[resource as usize].dynamic.push((name.into(), node));
                }
            }
        }
        if register
            && Word::RecursiveAnchor.is_of(dialect)
            && self.resources[resource as usize].root == place
            && let Some(value) = tree.get(node, Word::RecursiveAnchor.name())
            && tree.json(value) == Json::Bool(true)
        {
            self.resources[resource as usize].dynamic.push(("".into(), node));
        }
        Ok(resource)
    }

    fn anchor(
        &mut self,
        resource: u32,
        name: &str,
        place: Place,
        register: bool,
    ) -> Result<(), GrammarError> {
        if !register {
            return Ok(());
        }
        let anchors = &mut self.resources[resource as usize].anchors;
        let known = *anchors.entry(name.into()).or_insert(place.node);
        if known == place.node {
            return Ok(());
        }
        let known = Place { node: known, ..place };
        Err(self.ambiguous("anchor", name, known, place))
    }

    /// The error for two schemas of one name.
    fn ambiguous(&self, what: &str, name: &str, known: Place, place: Place) -> GrammarError {
        let first = self.pointer(known).to_string();
        let message =
            format!("two schemas have the {what} {name:?}, this one and that at {first:?}");
        self.error(GrammarErrorKind::Syntax, place, message)
            .with_hint("let each schema of a document have a name of its own")
    }

    /// The dialect that the value of a `$schema` names.
    fn dialect(&self, place: Place) -> Result<Dialect, GrammarError> {
        let tree = &self.source(place.document).tree;
        let Some(named) = tree.string(place.node) else {
            let message = format!("`$schema` must be a URI, not {}", tree.shown(place.node));
            return Err(self.error(GrammarErrorKind::Syntax, place, message));
        };
        let mut uri = named.to_owned();
        let mut vocabularies = None;
        for step in 0..MAX_METASCHEMAS {
            if let Some(dialect) = Dialect::of_metaschema(&uri) {
                return Ok(Dialect {
                    vocabularies: vocabularies.unwrap_or(dialect.vocabularies),
                    ..dialect
                });
            }
            let Some((key, text)) = self.text_of(uri::split(&uri).0) else { break };
            let metaschema = parse(text, &key, self.limits)?;
            // Its own metaschema's vocabularies are those the metaschema is written in.
            if step == 0
                && let Some(node) = metaschema.get(Node::ROOT, Word::Vocabulary.name())
            {
                vocabularies = Some(self.vocabularies(&metaschema, node, place)?);
            }
            let next = metaschema
                .get(Node::ROOT, Word::Schema.name())
                .and_then(|node| metaschema.string(node));
            next.unwrap_or("http://json-schema.org/schema").clone_into(&mut uri);
        }
        let message = format!("unknown draft {:?}", tree.shown(place.node).trim_matches('"'));
        Err(self.error(GrammarErrorKind::Unsupported, place, message).with_hint(
            "drafts 4, 6, 7, 2019-09 and 2020-12 are known; a metaschema of your own is passed \
             among the resources",
        ))
    }

    /// The text of one of the user's resources, read or not.
    fn text_of(&self, uri: &str) -> Option<(String, &str)> {
        let uri = uri::resolve("", uri);
        let text = match self.unread.get(&uri) {
            Some(text) => text,
            None => &*self.source(self.by_uri.get(&*uri)?.document).tree.text,
        };
        Some((uri, text))
    }

    fn vocabularies(
        &self,
        metaschema: &Tree,
        list: Node,
        place: Place,
    ) -> Result<u8, GrammarError> {
        let mut vocabularies = CORE;
        for node in metaschema.children(list) {
            let uri = metaschema.name(node);
            match dialect::vocabulary_of(uri) {
                Some(vocabulary) => vocabularies |= vocabulary,
                None if metaschema.json(node) == Json::Bool(false) => {}
                None => {
                    let message = format!("the metaschema requires the unknown vocabulary {uri:?}");
                    return Err(self.error(GrammarErrorKind::Unsupported, place, message));
                }
            }
        }
        debug_assert!(vocabularies <= ALL);
        Ok(vocabularies)
    }
}

/// A schema's identifier, and whether it surely is one: without a draft, `id` may be anything.
fn id(tree: &Tree, node: Node, dialect: Dialect) -> Option<(&str, bool)> {
    if dialect.refs_stand_alone() && tree.get(node, Word::Ref.name()).is_some() {
        return None;
    }
    let string = |name| tree.get(node, name).and_then(|id| tree.string(id));
    if dialect.draft == Draft::D4 {
        return Some((string("id")?, true));
    }
    match string("$id") {
        Some(id) => Some((id, true)),
        None if dialect.any => Some((string("id")?, false)),
        None => None,
    }
}
