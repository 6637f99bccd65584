//! The parts of a pattern that hold anchors, and those around them, until the whole is known.

use std::ops::Index;

use crate::grammar::{Expr, GrammarBuilder};
use crate::index::ExprId;
use crate::span::Span;

/// A part of a pattern: free of anchors, or a node of [`Nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Plain(ExprId),
    Node(usize),
}

/// A part of a pattern with an anchor inside.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// `^` or `\A`; `line` is the place of a `^` that holds at line breaks, too.
    Start {
        line: Option<Span>,
    },
    /// `$` or `\z`.
    End {
        line: Option<Span>,
    },
    Concat(Piece, Piece),
    Alt(Box<[Piece]>),
    Repeat {
        piece: Piece,
        min: u32,
        max: Option<u32>,
    },
}

/// The nodes of a pattern; the parts of a node stand before it.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// Which anchors a node holds, itself included.
    holds: Vec<Holds>,
}

/// Which anchors there are in a piece.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Holds {
    pub(super) start: bool,
    pub(super) end: bool,
}

impl Nodes {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), holds: Vec::new() }
    }

    pub(super) fn push(&mut self, node: Node) -> Piece {
        let holds = match &node {
            Node::Start { .. } => Holds { start: true, end: false },
            Node::End { .. } => Holds { start: false, end: true },
            Node::Concat(left, right) => self.holds_any(&[*left, *right]),
            Node::Alt(parts) => self.holds_any(parts),
            Node::Repeat { piece, .. } => self.holds_any(&[*piece]),
        };
        self.nodes.push(node);
        self.holds.push(holds);
        Piece::Node(self.nodes.len() - 1)
    }

    /// One after the other. Runs of plain pieces become one expression.
    pub(super) fn concat(&mut self, pieces: &[Piece], builder: &mut GrammarBuilder) -> Piece {
        let mut run = Vec::with_capacity(pieces.len());
        let mut after: Option<Piece> = None;
        // From the right, so that each node holds its first piece and the rest.
        for &piece in pieces.iter().rev() {
            match piece {
                Piece::Plain(expr) if is_empty(expr, builder) => {}
                Piece::Plain(expr) => run.push(expr),
                Piece::Node(_) => {
                    after = self.prepend_run(&mut run, after, builder);
                    after = Some(match after {
                        Some(rest) => self.push(Node::Concat(piece, rest)),
                        None => piece,
                    });
                }
            }
        }
        match self.prepend_run(&mut run, after, builder) {
            Some(piece) => piece,
            None => Piece::Plain(builder.empty()),
        }
    }

    fn prepend_run(
        &mut self,
        run: &mut Vec<ExprId>,
        after: Option<Piece>,
        builder: &mut GrammarBuilder,
    ) -> Option<Piece> {
        if run.is_empty() {
            return after;
        }
        run.reverse();
        let plain = Piece::Plain(builder.seq(run));
        run.clear();
        Some(match after {
            Some(rest) => self.push(Node::Concat(plain, rest)),
            None => plain,
        })
    }

    /// One of the pieces.
    pub(super) fn alt(&mut self, pieces: &[Piece], builder: &mut GrammarBuilder) -> Piece {
        let plain: Vec<ExprId> = pieces.iter().filter_map(Piece::plain).collect();
        if plain.len() == pieces.len() {
            return Piece::Plain(builder.alt(&plain));
        }
        self.push(Node::Alt(pieces.into()))
    }

    /// The piece `min` to `max` times.
    pub(super) fn repeat(
        &mut self,
        piece: Piece,
        min: u32,
        max: Option<u32>,
        builder: &mut GrammarBuilder,
    ) -> Piece {
        match piece {
            _ if max == Some(0) => Piece::Plain(builder.empty()),
            Piece::Plain(expr) => Piece::Plain(builder.repeat(expr, min, max)),
            Piece::Node(_) => self.push(Node::Repeat { piece, min, max }),
        }
    }

    /// Which anchors a piece holds.
    pub(super) fn holds(&self, piece: Piece) -> Holds {
        match piece {
            Piece::Plain(_) => Holds::default(),
            Piece::Node(node) => self.holds[node],
        }
    }

    fn holds_any(&self, pieces: &[Piece]) -> Holds {
        let mut any = Holds::default();
        for &piece in pieces {
            let Holds { start, end } = self.holds(piece);
            any.start |= start;
            any.end |= end;
        }
        any
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Node> {
        self.nodes.iter()
    }
}

impl Index<usize> for Nodes {
    type Output = Node;
    fn index(&self, node: usize) -> &Node {
        &self.nodes[node]
    }
}

impl Piece {
    fn plain(&self) -> Option<ExprId> {
        match self {
            Self::Plain(expr) => Some(*expr),
            Self::Node(_) => None,
        }
    }
}

fn is_empty(expr: ExprId, builder: &GrammarBuilder) -> bool {
    matches!(builder.expr(expr), Expr::Literal(bytes) if bytes.is_empty())
}
