//! The parts of a pattern that hold assertions, and those around them.

use std::ops::Index;
use std::slice;

use super::algebra::Algebra;
use crate::index::ExprId;

/// A part of a pattern: free of assertions, or a node of [`Nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Plain(ExprId),
    Node(usize),
}

/// A part of a pattern with an assertion inside.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Where it begins in the pattern, in bytes.
    pub(super) at: usize,
    /// How many nodes are nested in it.
    pub(super) depth: u32,
    /// It matches nothing but the empty text: an assertion, or several.
    pub(super) zero_width: bool,
    /// An assertion in it looks at what came before: `^`, `\b` or lookbehind.
    pub(super) looks_back: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `^`
    Start,
    /// `$`
    End,
    /// `\b` and `\B`
    Boundary {
        negated: bool,
    },
    Look(Look),
    Seq(Box<[Piece]>),
    Alt(Box<[Piece]>),
    Repeat {
        piece: Piece,
        min: u32,
        max: Option<u32>,
    },
}

/// `(?=…)`, `(?!…)`, `(?<=…)` or `(?<!…)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) piece: Piece,
    pub(super) behind: bool,
    pub(super) negated: bool,
}

/// The nodes of a pattern; the parts of a node stand before it.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
}

impl Nodes {
    pub(super) fn push(&mut self, at: usize, kind: Kind, algebra: &Algebra<'_>) -> Piece {
        let parts = match &kind {
            Kind::Start | Kind::End | Kind::Boundary { .. } => &[],
            Kind::Look(Look { piece, .. }) | Kind::Repeat { piece, .. } => slice::from_ref(piece),
            Kind::Seq(parts) | Kind::Alt(parts) => &parts[..],
        };
        let depth = parts.iter().map(|&piece| self.depth(piece) + 1).max().unwrap_or(0);
        let zero_width = match kind {
            Kind::Seq(_) | Kind::Alt(_) => {
                parts.iter().all(|&piece| self.is_zero_width(piece, algebra))
            }
            Kind::Repeat { .. } => false,
            _ => true,
        };
        let looks_back = matches!(
            kind,
            Kind::Start | Kind::Boundary { .. } | Kind::Look(Look { behind: true, .. })
        ) || parts.iter().any(|&piece| self.looks_back(piece));
        self.nodes.push(Node { kind, at, depth, zero_width, looks_back });
        Piece::Node(self.nodes.len() - 1)
    }

    /// One after the other. Neighbours without assertions become one expression.
    pub(super) fn seq(&mut self, at: usize, parts: &[Piece], algebra: &mut Algebra<'_>) -> Piece {
        let mut pieces: Vec<Piece> = Vec::new();
        for run in parts.chunk_by(|left, right| left.plain().is_some() && right.plain().is_some()) {
            let plain: Vec<ExprId> = run.iter().filter_map(Piece::plain).collect();
            if plain.is_empty() {
                pieces.extend(run);
            } else {
                pieces.push(Piece::Plain(algebra.seq(&plain)));
            }
        }
        match pieces[..] {
            [] => Piece::Plain(algebra.empty),
            [one] => one,
            _ => self.push(at, Kind::Seq(pieces.into()), algebra),
        }
    }

    /// One of the pieces. Those without assertions become one expression.
    pub(super) fn alt(&mut self, at: usize, parts: &[Piece], algebra: &mut Algebra<'_>) -> Piece {
        let plain: Vec<ExprId> = parts.iter().filter_map(Piece::plain).collect();
        if plain.len() == parts.len() {
            return Piece::Plain(algebra.alt(&plain));
        }
        let mut pieces: Vec<Piece> =
            parts.iter().filter(|piece| piece.plain().is_none()).copied().collect();
        if !plain.is_empty() {
            pieces.insert(0, Piece::Plain(algebra.alt(&plain)));
        }
        self.push(at, Kind::Alt(pieces.into()), algebra)
    }

    /// The piece `min` to `max` times.
    pub(super) fn repeat(
        &mut self,
        at: usize,
        piece: Piece,
        (min, max): (u32, Option<u32>),
        algebra: &mut Algebra<'_>,
    ) -> Piece {
        match piece {
            _ if max == Some(0) => Piece::Plain(algebra.empty),
            Piece::Plain(expr) => Piece::Plain(algebra.repeat(expr, min, max)),
            // What holds once holds as often as one likes; what needn't hold says nothing.
            Piece::Node(_) if self.is_zero_width(piece, algebra) => {
                if min == 0 {
                    Piece::Plain(algebra.empty)
                } else {
                    piece
                }
            }
            Piece::Node(_) if (min, max) == (1, Some(1)) => piece,
            Piece::Node(_) => self.push(at, Kind::Repeat { piece, min, max }, algebra),
        }
    }

    pub(super) fn depth(&self, piece: Piece) -> u32 {
        match piece {
            Piece::Plain(_) => 0,
            Piece::Node(node) => self.nodes[node].depth,
        }
    }

    fn looks_back(&self, piece: Piece) -> bool {
        match piece {
            Piece::Plain(_) => false,
            Piece::Node(node) => self.nodes[node].looks_back,
        }
    }

    fn is_zero_width(&self, piece: Piece, algebra: &Algebra<'_>) -> bool {
        match piece {
            Piece::Plain(expr) => expr == algebra.empty,
            Piece::Node(node) => self.nodes[node].zero_width,
        }
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
    pub(super) fn plain(&self) -> Option<ExprId> {
        match self {
            Self::Plain(expr) => Some(*expr),
            Self::Node(_) => None,
        }
    }
}
