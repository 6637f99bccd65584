//! Patterns and expressions from right to left: lookbehind in the one is lookahead in the other.

use super::algebra::{Algebra, text};
use super::nodes::{Kind, Look, Nodes, Piece};
use crate::grammar::Expr;
use crate::index::ExprId;

impl Algebra<'_> {
    /// The strings of an expression, each from its last character to its first.
    pub(super) fn reverse(&mut self, root: ExprId) -> ExprId {
        for expr in self.inside_out(root, |algebra, expr| algebra.reversed.contains_key(&expr)) {
            let reversed = self.reverse_one(expr);
            self.reversed.insert(expr, reversed);
        }
        self.reversed[&root]
    }

    /// Reverses an expression whose parts are reversed.
    fn reverse_one(&mut self, expr: ExprId) -> ExprId {
        let map = |algebra: &Self, parts: &[ExprId]| -> Vec<ExprId> {
            parts.iter().map(|part| algebra.reversed[part]).collect()
        };
        match self.builder.expr(expr).clone() {
            Expr::Literal(bytes) => {
                let backwards: String = text(&bytes).chars().rev().collect();
                self.literal(&backwards)
            }
            Expr::Seq(parts) => {
                let mut parts = map(self, &parts);
                parts.reverse();
                self.seq(&parts)
            }
            Expr::Alt(parts) => {
                let parts = map(self, &parts);
                self.alt(&parts)
            }
            Expr::Repeat { expr, min, max } => self.repeat(self.reversed[&expr], min, max),
            Expr::And { all, none } => {
                let (all, none) = (map(self, &all), map(self, &none));
                self.and(&all, &none)
            }
            // A single character.
            _ => expr,
        }
    }
}

/// The pattern that matches the reversed strings.
pub(super) fn reverse(root: Piece, nodes: &Nodes, algebra: &mut Algebra<'_>) -> (Piece, Nodes) {
    let mut turned = Nodes::default();
    let mut pieces: Vec<Piece> = Vec::new();
    let turn = |piece: Piece, pieces: &[Piece], algebra: &mut Algebra<'_>| match piece {
        Piece::Plain(expr) => Piece::Plain(algebra.reverse(expr)),
        Piece::Node(node) => pieces[node],
    };
    for node in nodes.iter() {
        let kind = match &node.kind {
            Kind::Start => Kind::End,
            Kind::End => Kind::Start,
            Kind::Boundary { negated } => Kind::Boundary { negated: *negated },
            Kind::Look(look) => Kind::Look(Look {
                piece: turn(look.piece, &pieces, algebra),
                behind: !look.behind,
                negated: look.negated,
            }),
            Kind::Seq(parts) => {
                Kind::Seq(parts.iter().rev().map(|&part| turn(part, &pieces, algebra)).collect())
            }
            Kind::Alt(parts) => {
                Kind::Alt(parts.iter().map(|&part| turn(part, &pieces, algebra)).collect())
            }
            Kind::Repeat { piece, min, max } => {
                Kind::Repeat { piece: turn(*piece, &pieces, algebra), min: *min, max: *max }
            }
        };
        pieces.push(turned.push(node.at, kind, algebra));
    }
    (turn(root, &pieces, algebra), turned)
}
