//! A JSON text as a tree: the nodes of the whole text in one vector, in the text's order.
//!
//! A node knows its parent, so JSON pointers need no storage, and where its subtree ends, so
//! siblings need no links. Strings are ranges of the text, or of a side buffer if they hold
//! escapes; numbers stay text. Names of an object are unique: of equal ones the last is kept.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

/// A node of a [`Tree`]; nodes of a subtree follow its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Node(pub(super) u32);

impl Node {
    pub(super) const ROOT: Self = Self(0);
}

/// A piece of the text, or of [`Tree::unescaped`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    pub(super) start: u32,
    /// The topmost bit says that the piece is of the side buffer.
    pub(super) end: u32,
}

impl Piece {
    pub(super) const UNESCAPED: u32 = 1 << 31;
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Piece),
    String(Piece),
    Array,
    /// With the number of its members.
    Object(u32),
    /// A member whose name occurs again later.
    Replaced,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// The member's name, if the parent is an object.
    pub(super) name: Piece,
    pub(super) parent: u32,
    /// Past the last node of the subtree.
    pub(super) end: u32,
}

/// A JSON value as it stands in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Json<'t> {
    Null,
    Bool(bool),
    Number(&'t str),
    String(&'t str),
    Array,
    Object,
}

/// Which identifying keywords seem to occur below the root; names of properties look alike.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Identifiers {
    /// `$id` or `id` below the root, or any `…nchor`.
    pub(super) any: bool,
    /// `$dynamicAnchor`, `$recursiveAnchor`.
    pub(super) dynamic: bool,
}

/// Objects and arrays with more children have an index.
pub(super) const MANY: u32 = 16;

/// A JSON text, read.
pub(super) struct Tree {
    pub(super) text: Box<str>,
    pub(super) unescaped: String,
    pub(super) entries: Vec<Entry>,
    pub(super) identifiers: Identifiers,
    /// The members of large objects, by the hash of their names. The hash is a keyed one: names
    /// come from the user.
    pub(super) indexes: FxHashMap<u32, HashTable<u32>>,
    pub(super) hasher: std::hash::RandomState,
    /// The items of large arrays that were asked for by index.
    pub(super) items: RefCell<FxHashMap<u32, Box<[Node]>>>,
}

impl Tree {
    pub(super) fn piece(&self, piece: Piece) -> &str {
        let Piece { start, end } = piece;
        if end & Piece::UNESCAPED == 0 {
            &self.text[start as usize..end as usize]
        } else {
            &self.unescaped[start as usize..(end & !Piece::UNESCAPED) as usize]
        }
    }

    /// How many bytes the names, strings and numbers in a node have, and one for each value.
    pub(super) fn text_bytes(&self, node: Node) -> usize {
        let entry = |at: u32| &self.entries[at as usize];
        let mut bytes = 0;
        for at in node.0..entry(node.0).end {
            bytes += 1 + self.piece(entry(at).name).len() + self.text_of(Node(at)).len();
        }
        bytes
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn json(&self, node: Node) -> Json<'_> {
        match self.entries[node.0 as usize].kind {
            Kind::Null | Kind::Replaced => Json::Null,
            Kind::Bool(value) => Json::Bool(value),
            Kind::Number(piece) => Json::Number(self.piece(piece)),
            Kind::String(piece) => Json::String(self.piece(piece)),
            Kind::Array => Json::Array,
            Kind::Object(_) => Json::Object,
        }
    }

    pub(super) fn string(&self, node: Node) -> Option<&str> {
        match self.json(node) {
            Json::String(value) => Some(value),
            _ => None,
        }
    }

    /// The text of a string or a number; empty for other nodes.
    pub(super) fn text_of(&self, node: Node) -> &str {
        match self.json(node) {
            Json::String(text) | Json::Number(text) => text,
            _ => "",
        }
    }

    /// The name of a member of an object; empty for other nodes.
    pub(super) fn name(&self, node: Node) -> &str {
        self.piece(self.entries[node.0 as usize].name)
    }

    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        (node != Node::ROOT).then(|| Node(self.entries[node.0 as usize].parent))
    }

    /// Items of an array or values of an object, in order; none for other nodes.
    pub(super) fn children(&self, node: Node) -> Children<'_> {
        Children { tree: self, next: node.0 + 1, end: self.entries[node.0 as usize].end }
    }

    /// The value of an object's member.
    pub(super) fn get(&self, node: Node, name: &str) -> Option<Node> {
        let Kind::Object(members) = self.entries[node.0 as usize].kind else { return None };
        if members <= MANY {
            return self.children(node).find(|&child| self.name(child) == name);
        }
        let index = self.indexes.get(&node.0)?;
        let hash = self.hasher.hash_one(name);
        index.find(hash, |&child| self.name(Node(child)) == name).map(|&child| Node(child))
    }

    /// An item of an array.
    pub(super) fn item(&self, array: Node, index: usize) -> Option<Node> {
        if index < MANY as usize {
            return self.children(array).nth(index);
        }
        self.with_items(array, |items| items.get(index).copied())
    }

    /// The place of an item in its array.
    fn index_of(&self, array: Node, item: Node) -> usize {
        match self.children(array).take(MANY as usize).position(|child| child == item) {
            Some(index) => index,
            // The items are in the order of their nodes.
            None => self.with_items(array, |items| items.partition_point(|&child| child < item)),
        }
    }

    fn with_items<T>(&self, array: Node, get: impl FnOnce(&[Node]) -> T) -> T {
        let mut known = self.items.borrow_mut();
        get(known.entry(array.0).or_insert_with(|| self.children(array).collect()))
    }

    /// Writes the JSON pointer of a node.
    pub(super) fn write_pointer(&self, node: Node, out: &mut impl Write) -> fmt::Result {
        let mut path = vec![];
        let mut at = node;
        while let Some(parent) = self.parent(at) {
            path.push((parent, at));
            at = parent;
        }
        for &(parent, at) in path.iter().rev() {
            out.write_char('/')?;
            if matches!(self.json(parent), Json::Array) {
                write!(out, "{}", self.index_of(parent, at))?;
                continue;
            }
            write_part(self.name(at), out)?;
        }
        Ok(())
    }

    /// A node's value for an error message, not too long.
    pub(super) fn shown(&self, node: Node) -> String {
        /// In characters.
        const LONGEST: usize = 40;
        let short = |text: &str| match text.char_indices().nth(LONGEST) {
            None => text.to_owned(),
            Some((at, _)) => format!("{}…", &text[..at]),
        };
        match self.json(node) {
            Json::Null => "null".to_owned(),
            Json::Bool(value) => value.to_string(),
            Json::Number(text) => short(text),
            Json::String(text) => format!("{:?}", short(text)),
            Json::Array => "an array".to_owned(),
            Json::Object => "an object".to_owned(),
        }
    }
}

/// Writes a name as a part of a JSON pointer.
pub(in crate::frontend::json_schema) fn write_part(
    name: &str,
    out: &mut impl Write,
) -> fmt::Result {
    for c in name.chars() {
        match c {
            '~' => out.write_str("~0")?,
            '/' => out.write_str("~1")?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}

/// See [`Tree::children`].
#[derive(Clone)]
pub(super) struct Children<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        while self.next < self.end {
            let node = Node(self.next);
            let entry = &self.tree.entries[node.0 as usize];
            self.next = entry.end;
            if !matches!(entry.kind, Kind::Replaced) {
                return Some(node);
            }
        }
        None
    }
}
