//! Removes anchors: what an expression with `^` and `$` inside means where the whole text matches.
//!
//! Whether an anchor holds depends on where the expression that holds it begins and ends. So each
//! node has a language for each [`Context`]: does it begin at the start of the text, does it end at
//! the end? With x and y in sequence, y begins at the start of the text if the sequence does *and* x
//! matched the empty text; so the languages are split into the empty text and the rest:
//!
//! ```text
//! any(xy, c)  = ε if x and y can be empty in c, or some(xy, c)
//! some(xy, c) = some(y, c)                         if x can be empty before some y
//!             | some(x, c)                         if y can be empty after some x
//!             | some(x, c not at end) some(y, c not at start)
//! ```
//!
//! For example `a*^b`: `^b` needs the start of the text, so `a*` must be empty, and `b` is left.
//! Where neither neighbour holds an anchor that could notice, nothing is split: `^[a-z]*$` is
//! `[a-z]*`. Every goal (a node, its whole language or its non-empty part, a context) is worked out
//! once, with an explicit stack.

use super::algebra::Algebra;
use super::error::PatternError;
use super::nodes::{Node, Nodes, Piece};
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;
use crate::span::Span;

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Context {
    /// It begins at the start of the text.
    at_start: bool,
    /// It ends at the end of the text.
    at_end: bool,
}

impl Context {
    const WHOLE: Self = Self { at_start: true, at_end: true };
    const INSIDE: Self = Self { at_start: false, at_end: false };
    const ALL: [Self; 4] = [
        Self::INSIDE,
        Self { at_start: true, at_end: false },
        Self { at_start: false, at_end: true },
        Self::WHOLE,
    ];

    /// Something follows.
    fn before_more(self) -> Self {
        Self { at_end: false, ..self }
    }

    /// Something came before.
    fn after_some(self) -> Self {
        Self { at_start: false, ..self }
    }

    /// The place in [`Context::ALL`].
    fn index(self) -> usize {
        usize::from(self.at_start) + 2 * usize::from(self.at_end)
    }
}

/// What is asked of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Goal {
    node: usize,
    part: Part,
    context: Context,
}

impl Goal {
    /// How many goals a node has.
    const EACH: usize = 2 * Context::ALL.len();

    /// The place among all goals.
    fn index(self) -> usize {
        Self::EACH * self.node + 2 * self.context.index() + usize::from(self.part == Part::Some)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The whole language.
    Any,
    /// The language without the empty text.
    Some,
}

/// The expression of the whole pattern without anchors.
pub(super) fn remove(
    piece: Piece,
    nodes: &Nodes,
    builder: &mut GrammarBuilder,
) -> Result<ExprId, PatternError> {
    if let Piece::Plain(expr) = piece {
        return Ok(expr);
    }
    let mut solver = Solver {
        nodes,
        algebra: Algebra::new(builder),
        solved: vec![None; Goal::EACH * nodes.len()],
        open: Vec::new(),
        emptiness: Vec::new(),
    };
    loop {
        if let Some(expr) = solver.need(piece, Part::Any, Context::WHOLE) {
            return Ok(expr);
        }
        while let Some(&goal) = solver.open.last() {
            let waiting = solver.open.len();
            if solver.solved[goal.index()].is_some() {
                solver.open.pop();
            } else if let Some(expr) = solver.attempt(goal)? {
                solver.solved[goal.index()] = Some(expr);
                solver.open.pop();
            } else {
                // Goals on its parts were added on top; it is its turn again after them.
                debug_assert!(solver.open.len() > waiting);
            }
        }
    }
}

struct Solver<'a> {
    nodes: &'a Nodes,
    algebra: Algebra<'a>,
    /// The expressions of goals, by their index.
    solved: Vec<Option<ExprId>>,
    /// Goals to solve; those on top are needed for those below.
    open: Vec<Goal>,
    /// For each node whether it can be empty; filled on first need.
    emptiness: Vec<Emptiness>,
}

/// Whether a node can be empty, one bit for each context: if all its line anchors hold, and if those
/// that depend on characters around don't. Where the two differ the answer depends on those.
#[derive(Clone, Copy, Debug)]
struct Emptiness {
    at_most: u8,
    at_least: u8,
}

impl Solver<'_> {
    /// Solves a goal, or adds the goals it needs and gives `None`.
    fn attempt(&mut self, goal: Goal) -> Result<Option<ExprId>, PatternError> {
        let Goal { node, part, context } = goal;
        let nodes = self.nodes;
        if part == Part::Some {
            match &nodes[node] {
                Node::Start { .. } | Node::End { .. } => return Ok(Some(self.algebra.none)),
                _ if !self.can_be_empty(Piece::Node(node), context)? => {
                    return Ok(self.need(Piece::Node(node), Part::Any, context));
                }
                _ => {}
            }
        }
        match &nodes[node] {
            Node::Start { line } => self.anchor(context.at_start, *line, "^").map(Some),
            Node::End { line } => self.anchor(context.at_end, *line, "$").map(Some),
            Node::Alt(parts) => {
                let exprs: Vec<_> =
                    parts.iter().map(|&piece| self.need(piece, part, context)).collect();
                let exprs: Option<Vec<_>> = exprs.into_iter().collect();
                Ok(exprs.map(|exprs| self.algebra.alt(&exprs)))
            }
            &Node::Concat(left, right) => self.concat(left, right, part, context),
            &Node::Repeat { piece, min, max } => self.repeat(piece, min, max, part, context),
        }
    }

    fn anchor(&self, holds: bool, line: Option<Span>, name: &str) -> Result<ExprId, PatternError> {
        match line {
            Some(span) if !holds => Err(line_anchor(span, name)),
            _ => Ok(if holds { self.algebra.empty } else { self.algebra.none }),
        }
    }

    fn concat(
        &mut self,
        left: Piece,
        right: Piece,
        part: Part,
        context: Context,
    ) -> Result<Option<ExprId>, PatternError> {
        let (before, after) = (context.before_more(), context.after_some());
        // Only an anchor can notice whether its neighbour is empty, and only at that end of the text.
        let notices = context.at_start && self.nodes.holds(right).start
            || context.at_end && self.nodes.holds(left).end;
        if part == Part::Any && !notices {
            let left = self.need(left, Part::Any, before);
            let right = self.need(right, Part::Any, after);
            return Ok(both(left, right).map(|(left, right)| self.algebra.seq(&[left, right])));
        }
        let mut choices = Vec::with_capacity(4);
        if part == Part::Any
            && self.can_be_empty(left, context)?
            && self.can_be_empty(right, context)?
        {
            choices.push(Some(self.algebra.empty));
        }
        if self.can_be_empty(left, before)? {
            choices.push(self.need(right, Part::Some, context));
        }
        if self.can_be_empty(right, after)? {
            choices.push(self.need(left, Part::Some, context));
        }
        let left = self.need(left, Part::Some, before);
        let right = self.need(right, Part::Some, after);
        choices.push(both(left, right).map(|(left, right)| self.algebra.seq(&[left, right])));
        let choices: Option<Vec<_>> = choices.into_iter().collect();
        Ok(choices.map(|choices| self.algebra.alt(&choices)))
    }

    fn repeat(
        &mut self,
        piece: Piece,
        min: u32,
        max: Option<u32>,
        part: Part,
        context: Context,
    ) -> Result<Option<ExprId>, PatternError> {
        let holds = self.nodes.holds(piece);
        let notices = context.at_start && holds.start || context.at_end && holds.end;
        if part == Part::Any && !notices {
            let inner = self.need(piece, Part::Any, Context::INSIDE);
            return Ok(inner.map(|inner| self.algebra.times(inner, min, max)));
        }
        let (before, after) = (context.before_more(), context.after_some());
        let mut choices = Vec::with_capacity(3);
        if part == Part::Any && (min == 0 || self.can_be_empty(piece, context)?) {
            choices.push(Some(self.algebra.empty));
        }
        // Empty rounds, where they are possible at all, make up for missing ones.
        let fills = self.can_be_empty(piece, before)? || self.can_be_empty(piece, after)?;
        let least = if fills { 1 } else { min.max(1) };
        if least == 1 {
            choices.push(self.need(piece, Part::Some, context));
        }
        if max.is_none_or(|max| max >= 2) {
            let head = self.need(piece, Part::Some, before);
            let middle = self.need(piece, Part::Some, Context::INSIDE);
            let tail = self.need(piece, Part::Some, after);
            let rounds = both(head, both(middle, tail));
            choices.push(rounds.map(|(head, (middle, tail))| {
                let middle = self.algebra.times(middle, least.max(2) - 2, max.map(|max| max - 2));
                self.algebra.seq(&[head, middle, tail])
            }));
        }
        let choices: Option<Vec<_>> = choices.into_iter().collect();
        Ok(choices.map(|choices| self.algebra.alt(&choices)))
    }

    /// The solution for a piece, or `None` and a new open goal.
    fn need(&mut self, piece: Piece, part: Part, context: Context) -> Option<ExprId> {
        match (piece, part) {
            (Piece::Plain(expr), Part::Any) => Some(expr),
            (Piece::Plain(expr), Part::Some) => Some(self.algebra.split(expr).some),
            (Piece::Node(node), _) => {
                // Without an anchor for that end, it makes no difference where the end is.
                let holds = self.nodes.holds(piece);
                let at_start = context.at_start && holds.start;
                let at_end = context.at_end && holds.end;
                let goal = Goal { node, part, context: Context { at_start, at_end } };
                let solved = self.solved[goal.index()];
                if solved.is_none() {
                    self.open.push(goal);
                }
                solved
            }
        }
    }

    fn can_be_empty(&mut self, piece: Piece, context: Context) -> Result<bool, PatternError> {
        let node = match piece {
            Piece::Plain(expr) => return Ok(self.algebra.split(expr).can_be_empty),
            Piece::Node(node) => node,
        };
        if self.emptiness.is_empty() {
            self.fill_emptiness();
        }
        let Emptiness { at_most, at_least } = self.emptiness[node];
        let bit = 1 << context.index();
        if (at_most ^ at_least) & bit == 0 {
            return Ok(at_least & bit != 0);
        }
        // Some line anchor decides; any one below the node may be shown.
        let mut below = vec![node];
        while let Some(node) = below.pop() {
            let mut add = |piece: &Piece| {
                if let Piece::Node(node) = piece {
                    below.push(*node);
                }
            };
            match &self.nodes[node] {
                Node::Start { line: Some(span) } => return Err(line_anchor(*span, "^")),
                Node::End { line: Some(span) } => return Err(line_anchor(*span, "$")),
                Node::Start { .. } | Node::End { .. } => {}
                Node::Concat(left, right) => [left, right].into_iter().for_each(add),
                Node::Alt(parts) => parts.iter().for_each(add),
                Node::Repeat { piece, .. } => add(piece),
            }
        }
        Ok(false)
    }

    fn fill_emptiness(&mut self) {
        const ALWAYS: u8 = 0b1111;
        let nodes = self.nodes;
        for node in nodes.iter() {
            let of = |solver: &mut Self, piece: Piece| match piece {
                Piece::Node(node) => solver.emptiness[node],
                Piece::Plain(expr) => {
                    let bits = if solver.algebra.split(expr).can_be_empty { ALWAYS } else { 0 };
                    Emptiness { at_most: bits, at_least: bits }
                }
            };
            let emptiness = match node {
                Node::Start { line } => anchor_emptiness(|context| context.at_start, *line),
                Node::End { line } => anchor_emptiness(|context| context.at_end, *line),
                &Node::Concat(left, right) => {
                    let (left, right) = (of(self, left), of(self, right));
                    Emptiness {
                        at_most: left.at_most & right.at_most,
                        at_least: left.at_least & right.at_least,
                    }
                }
                Node::Alt(parts) => {
                    let mut any = Emptiness { at_most: 0, at_least: 0 };
                    for &piece in parts {
                        let one = of(self, piece);
                        any.at_most |= one.at_most;
                        any.at_least |= one.at_least;
                    }
                    any
                }
                Node::Repeat { min: 0, .. } => Emptiness { at_most: ALWAYS, at_least: ALWAYS },
                &Node::Repeat { piece, .. } => of(self, piece),
            };
            self.emptiness.push(emptiness);
        }
    }
}

fn both<A, B>(left: Option<A>, right: Option<B>) -> Option<(A, B)> {
    left.zip(right)
}

fn anchor_emptiness(holds: fn(Context) -> bool, line: Option<Span>) -> Emptiness {
    let mut at_least = 0;
    for context in Context::ALL {
        at_least |= u8::from(holds(context)) << context.index();
    }
    let at_most = if line.is_some() { 0b1111 } else { at_least };
    Emptiness { at_most, at_least }
}

fn line_anchor(span: Span, name: &str) -> PatternError {
    PatternError::unsupported(
        span,
        format!("multi-line anchor `{name}` within the text"),
        "write the line break where it stands, such as `\\n`, and turn off `m`",
    )
}
