//! A parsed Lark text: definitions and statements, with their bodies in one arena.
//!
//! The nodes of a body stand side by side, children before parents, the root last: every later
//! pass is a loop over a slice. Names and literals are kept as places in the text, undecoded.

use crate::span::Span;

/// A node's position in [`Ast::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

/// Children of a node: a range of [`Ast::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A part of a definition's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A rule or terminal.
    Name { span: Span, terminal: bool },
    /// A template with arguments, `name{a, b}`; the place is all of it.
    Call { span: Span, args: List },
    /// A string with quotes and flag.
    Str(Span),
    /// A regexp with slashes and flags.
    Regexp { span: Span, ordered: bool },
    /// `"a".."z"`.
    Range { low: Span, high: Span },
    /// One after the other.
    Seq(List),
    /// One of these.
    Alt(List),
    /// `min` to `max` times.
    Repeat { node: NodeId, min: u32, max: Option<u32> },
}

/// The nodes `first..=root`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) first: u32,
    pub(super) root: u32,
}

/// `name: body`.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: Span,
    pub(super) terminal: bool,
    /// The parameters of a template; none for anything else.
    pub(super) params: Vec<Span>,
    pub(super) body: Body,
    /// Whether a regexp in the body says which match comes first.
    pub(super) ordered: bool,
}

/// One name that an `%import` brings in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Import {
    pub(super) library: Span,
    /// The name in the library.
    pub(super) name: Span,
    /// The name here.
    pub(super) alias: Span,
}

/// Everything in one text.
#[derive(Debug, Default)]
pub(super) struct Ast {
    pub(super) nodes: Vec<Node>,
    pub(super) lists: Vec<NodeId>,
    pub(super) definitions: Vec<Definition>,
    pub(super) imports: Vec<Import>,
    /// The bodies of `%ignore` and whether they are ordered (see [`Definition::ordered`]).
    pub(super) ignores: Vec<(Body, bool)>,
    /// Names of `%declare`.
    pub(super) declared: Vec<Span>,
}

impl Ast {
    /// The children of a list.
    pub(super) fn list(&self, list: List) -> &[NodeId] {
        &self.lists[list.start as usize..list.end as usize]
    }
}
