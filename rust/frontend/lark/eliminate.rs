//! A deterministic automaton → an expression, by elimination of states.
//!
//! Edges carry expressions. A state s goes when each way a → s → b has become an edge from a to
//! b, with the loop of s repeated in the middle. The state with the fewest ways goes first, which
//! keeps expressions small; they share their parts, and their number is limited.

use super::automaton::Automaton;
use super::ordered::{Effort, Refusal};
use crate::frontend::classes;
use crate::grammar::{Expr, GrammarBuilder};
use crate::index::ExprId;

/// The most states to eliminate, and the most edges to make on the way.
const MAX_STATES: usize = 100;
const MAX_EDGES: usize = 5_000;

/// The texts of an automaton. Takes from the effort that is left.
pub(super) fn to_expr(
    automaton: &Automaton,
    effort: &mut Effort,
    builder: &mut GrammarBuilder,
) -> Result<ExprId, Refusal> {
    let count = automaton.states.len();
    if count > MAX_STATES {
        return Err(Refusal::TooLarge);
    }
    effort.spend(count.pow(3))?;
    let (start, end) = (count, count + 1);
    let mut edges =
        Edges { size: count + 2, exprs: vec![None; (count + 2) * (count + 2)], made: 0 };
    let empty = builder.empty();
    edges.set(start, 0, empty);
    for (from, state) in automaton.states.iter().enumerate() {
        for (to, ranges) in targets(automaton, &state.next) {
            let expr = match ranges.as_slice() {
                &[(low, high)] if low == high => {
                    builder.literal(low.encode_utf8(&mut [0; 4]).as_bytes())
                }
                ranges => builder.class(ranges),
            };
            edges.set(from, to, expr);
        }
        if state.accepting {
            edges.set(from, end, empty);
        }
    }
    let mut left: Vec<usize> = (0..count).collect();
    while let Some(cheapest) = (0..left.len()).min_by_key(|&index| edges.ways(left[index])) {
        edges.eliminate(left.swap_remove(cheapest), builder);
        if edges.made > MAX_EDGES {
            return Err(Refusal::TooLarge);
        }
    }
    Ok(edges.get(start, end).unwrap_or_else(|| builder.alt(&[])))
}

/// The states after a state, each with all characters that lead there.
fn targets(automaton: &Automaton, next: &[Option<usize>]) -> Vec<(usize, Vec<(char, char)>)> {
    let mut targets: Vec<(usize, Vec<(char, char)>)> = Vec::new();
    for (symbol, to) in next.iter().enumerate() {
        let Some(to) = *to else { continue };
        let ranges = &automaton.symbols[symbol];
        match targets.iter_mut().find(|target| target.0 == to) {
            Some(target) => target.1.extend(ranges),
            None => targets.push((to, ranges.clone())),
        }
    }
    for target in &mut targets {
        classes::normalise(&mut target.1);
    }
    targets
}

struct Edges {
    size: usize,
    exprs: Vec<Option<ExprId>>,
    /// How many edges were made by elimination.
    made: usize,
}

impl Edges {
    fn get(&self, from: usize, to: usize) -> Option<ExprId> {
        self.exprs[from * self.size + to]
    }

    fn set(&mut self, from: usize, to: usize, expr: ExprId) {
        self.exprs[from * self.size + to] = Some(expr);
    }

    /// How many ways lead through a state.
    fn ways(&self, state: usize) -> usize {
        let others = || (0..self.size).filter(|&other| other != state);
        let before = others().filter(|&other| self.get(other, state).is_some()).count();
        let after = others().filter(|&other| self.get(state, other).is_some()).count();
        before * after
    }

    fn eliminate(&mut self, state: usize, builder: &mut GrammarBuilder) {
        let around = self.get(state, state).map(|expr| builder.repeat(expr, 0, None));
        for from in (0..self.size).filter(|&from| from != state) {
            let Some(before) = self.get(from, state) else { continue };
            for to in (0..self.size).filter(|&to| to != state) {
                let Some(after) = self.get(state, to) else { continue };
                let through = sequence(&[Some(before), around, Some(after)], builder);
                let edge = match self.get(from, to) {
                    Some(other) => builder.alt(&[other, through]),
                    None => through,
                };
                self.set(from, to, edge);
                self.made += 1;
            }
        }
        for other in 0..self.size {
            self.exprs[other * self.size + state] = None;
            self.exprs[state * self.size + other] = None;
        }
    }
}

/// The parts one after the other, without sequences in sequences and with literals joined.
fn sequence(parts: &[Option<ExprId>], builder: &mut GrammarBuilder) -> ExprId {
    let mut flat = Vec::new();
    for &part in parts.iter().flatten() {
        match builder.expr(part) {
            Expr::Literal(bytes) if bytes.is_empty() => {}
            Expr::Seq(inner) => flat.extend_from_slice(inner),
            _ => flat.push(part),
        }
    }
    let mut joined: Vec<ExprId> = Vec::with_capacity(flat.len());
    for part in flat {
        if let (Expr::Literal(next), Some(&last)) = (builder.expr(part), joined.last())
            && let Expr::Literal(text) = builder.expr(last)
        {
            let text = [text.as_ref(), next.as_ref()].concat();
            joined.pop();
            joined.push(builder.literal(&text));
        } else {
            joined.push(part);
        }
    }
    builder.seq(&joined)
}
