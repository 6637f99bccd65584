//! Lookbehind: which there is in a pattern, and what it asks of the character before.

use super::algebra::{Algebra, Ranges, common, word};
use super::error::PatternError;
use super::narrow::Set;
use super::nodes::{Kind, Look, Nodes, Piece};
use crate::frontend::classes;

/// The most kinds of characters that lookbehind tells apart.
const MAX_BLOCKS: usize = 16;

/// What a lookbehind for one character asks of the character before; `end` is the start of the
/// string here.
pub(super) fn set_behind(piece: Piece, nodes: &Nodes, algebra: &Algebra<'_>) -> Option<Set> {
    let nothing = Set { chars: Vec::new(), end: false };
    match piece {
        Piece::Plain(expr) if expr == algebra.none => Some(nothing),
        Piece::Plain(expr) if expr == algebra.empty => Some(Set::all()),
        Piece::Plain(expr) => Some(Set { chars: algebra.single(expr)?, end: false }),
        Piece::Node(node) => match &nodes[node].kind {
            Kind::Start => Some(Set { end: true, ..nothing }),
            Kind::Alt(parts) => {
                let mut set = nothing;
                for &part in parts {
                    let part = set_behind(part, nodes, algebra)?;
                    set.chars.extend(part.chars);
                    set.end |= part.end;
                }
                classes::normalise(&mut set.chars);
                Some(set)
            }
            _ => None,
        },
    }
}

/// The nodes below a piece, itself included.
fn reachable(root: Piece, nodes: &Nodes) -> Vec<usize> {
    let mut found = Vec::new();
    let mut waiting = vec![root];
    while let Some(piece) = waiting.pop() {
        if let Piece::Node(node) = piece {
            found.push(node);
            match &nodes[node].kind {
                Kind::Start | Kind::End | Kind::Boundary { .. } => {}
                Kind::Look(look) => waiting.push(look.piece),
                Kind::Seq(parts) | Kind::Alt(parts) => waiting.extend(parts.iter()),
                Kind::Repeat { piece, .. } => waiting.push(*piece),
            }
        }
    }
    found
}

/// Where the first lookbehind stands that is not for one character.
pub(super) fn long_lookbehind(root: Piece, nodes: &Nodes, algebra: &Algebra<'_>) -> Option<usize> {
    let is_behind = |kind: &Kind| matches!(kind, Kind::Look(Look { behind: true, .. }));
    if !nodes.iter().any(|node| is_behind(&node.kind)) {
        return None;
    }
    let long = reachable(root, nodes).into_iter().filter_map(|node| match &nodes[node].kind {
        Kind::Look(Look { piece, behind: true, .. }) => {
            set_behind(*piece, nodes, algebra).is_none().then_some(nodes[node].at)
        }
        _ => None,
    });
    long.min()
}

/// Anything may stand before a pattern, so `(?<=x)y` is found where `xy` is.
pub(super) fn without_leading_lookbehind(
    root: Piece,
    nodes: &mut Nodes,
    algebra: &mut Algebra<'_>,
) -> Piece {
    let Piece::Node(node) = root else { return root };
    let at = nodes[node].at;
    match nodes[node].kind.clone() {
        Kind::Look(Look { piece, behind: true, negated: false }) => {
            without_leading_lookbehind(piece, nodes, algebra)
        }
        Kind::Seq(mut parts) => {
            parts[0] = without_leading_lookbehind(parts[0], nodes, algebra);
            nodes.seq(at, &parts, algebra)
        }
        Kind::Alt(mut parts) => {
            for part in &mut parts {
                *part = without_leading_lookbehind(*part, nodes, algebra);
            }
            nodes.alt(at, &parts, algebra)
        }
        _ => root,
    }
}

/// The kinds of characters that the assertions under a node tell apart when they look back; none
/// if no assertion does.
pub(super) fn blocks(
    root: usize,
    nodes: &Nodes,
    algebra: &Algebra<'_>,
) -> Result<Vec<Ranges>, PatternError> {
    let mut blocks: Vec<Ranges> = Vec::new();
    for node in reachable(Piece::Node(root), nodes) {
        let chars = match &nodes[node].kind {
            Kind::Start => Vec::new(),
            Kind::Boundary { .. } => word(),
            Kind::Look(Look { piece, behind: true, .. }) => {
                set_behind(*piece, nodes, algebra).map(|set| set.chars).unwrap_or_default()
            }
            _ => continue,
        };
        if blocks.is_empty() {
            blocks.push(Set::all().chars);
        }
        let others = classes::negate(&chars);
        blocks = blocks
            .iter()
            .flat_map(|block| [common(block, &chars), common(block, &others)])
            .filter(|block| !block.is_empty())
            .collect();
        if blocks.len() > MAX_BLOCKS {
            return Err(PatternError::unsupported(
                nodes[node].at,
                "lookbehinds for too many kinds of characters",
                "use fewer lookbehinds",
            ));
        }
    }
    Ok(blocks)
}
