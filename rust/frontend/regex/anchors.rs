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

use rustc_hash::FxHashMap;

use super::error::PatternError;
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

#[derive(Clone, Copy, Debug, Default)]
struct Holds {
    start: bool,
    end: bool,
}

impl Nodes {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), holds: Vec::new() }
    }

    pub(super) fn push(&mut self, node: Node) -> Piece {
        let holds = match &node {
            Node::Start { .. } => Holds { start: true, end: false },
            Node::End { .. } => Holds { start: false, end: true },
            Node::Concat(left, right) => self.holds_of(&[*left, *right]),
            Node::Alt(parts) => self.holds_of(parts),
            Node::Repeat { piece, .. } => self.holds_of(&[*piece]),
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

    fn holds_of(&self, pieces: &[Piece]) -> Holds {
        let mut all = Holds::default();
        for piece in pieces {
            if let Piece::Node(node) = piece {
                all.start |= self.holds[*node].start;
                all.end |= self.holds[*node].end;
            }
        }
        all
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

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Goal {
    node: usize,
    part: Part,
    context: Context,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    let node = match piece {
        Piece::Plain(expr) => return Ok(expr),
        Piece::Node(node) => node,
    };
    let none = builder.alt(&[]);
    let empty = builder.empty();
    let mut solver = Solver {
        nodes,
        none,
        empty,
        builder,
        solved: FxHashMap::default(),
        open: Vec::new(),
        plain: FxHashMap::default(),
        emptiness: Vec::new(),
    };
    let first = Goal { node, part: Part::Any, context: Context::WHOLE };
    solver.open.push(first);
    while let Some(&goal) = solver.open.last() {
        if solver.solved.contains_key(&goal) {
            solver.open.pop();
            continue;
        }
        let waiting = solver.open.len();
        match solver.attempt(goal)? {
            Some(expr) => {
                solver.solved.insert(goal, expr);
                solver.open.pop();
            }
            // Goals on its parts were added on top; it is its turn again after them.
            None => debug_assert!(solver.open.len() > waiting),
        }
    }
    Ok(solver.solved[&first])
}

struct Solver<'a> {
    nodes: &'a Nodes,
    builder: &'a mut GrammarBuilder,
    /// The expression without any text.
    none: ExprId,
    /// The expression of the empty text.
    empty: ExprId,
    solved: FxHashMap<Goal, ExprId>,
    open: Vec<Goal>,
    /// Plain expressions that were split.
    plain: FxHashMap<ExprId, Split>,
    /// For each node whether it can be empty; filled on first need.
    emptiness: Vec<Emptiness>,
}

/// A plain expression in two parts.
#[derive(Clone, Copy)]
struct Split {
    can_be_empty: bool,
    some: ExprId,
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
            match &nodes.nodes[node] {
                Node::Start { .. } | Node::End { .. } => return Ok(Some(self.none)),
                _ if !self.can_be_empty(Piece::Node(node), context)? => {
                    return Ok(self.need(Piece::Node(node), Part::Any, context));
                }
                _ => {}
            }
        }
        match &nodes.nodes[node] {
            Node::Start { line } => self.anchor(context.at_start, *line, "^").map(Some),
            Node::End { line } => self.anchor(context.at_end, *line, "$").map(Some),
            Node::Alt(parts) => {
                let exprs: Vec<_> =
                    parts.iter().map(|&piece| self.need(piece, part, context)).collect();
                let exprs: Option<Vec<_>> = exprs.into_iter().collect();
                Ok(exprs.map(|exprs| self.alt(&exprs)))
            }
            &Node::Concat(left, right) => self.concat(left, right, part, context),
            &Node::Repeat { piece, min, max } => self.repeat(piece, min, max, part, context),
        }
    }

    fn anchor(&self, holds: bool, line: Option<Span>, name: &str) -> Result<ExprId, PatternError> {
        match line {
            Some(span) if !holds => Err(line_anchor(span, name)),
            _ => Ok(if holds { self.empty } else { self.none }),
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
        let notices =
            context.at_start && self.holds(right).start || context.at_end && self.holds(left).end;
        if part == Part::Any && !notices {
            let left = self.need(left, Part::Any, before);
            let right = self.need(right, Part::Any, after);
            return Ok(both(left, right).map(|(left, right)| self.seq(&[left, right])));
        }
        let mut choices = Vec::with_capacity(4);
        if part == Part::Any
            && self.can_be_empty(left, context)?
            && self.can_be_empty(right, context)?
        {
            choices.push(Some(self.empty));
        }
        if self.can_be_empty(left, before)? {
            choices.push(self.need(right, Part::Some, context));
        }
        if self.can_be_empty(right, after)? {
            choices.push(self.need(left, Part::Some, context));
        }
        let left = self.need(left, Part::Some, before);
        let right = self.need(right, Part::Some, after);
        choices.push(both(left, right).map(|(left, right)| self.seq(&[left, right])));
        let choices: Option<Vec<_>> = choices.into_iter().collect();
        Ok(choices.map(|choices| self.alt(&choices)))
    }

    fn repeat(
        &mut self,
        piece: Piece,
        min: u32,
        max: Option<u32>,
        part: Part,
        context: Context,
    ) -> Result<Option<ExprId>, PatternError> {
        let holds = self.holds(piece);
        let notices = context.at_start && holds.start || context.at_end && holds.end;
        if part == Part::Any && !notices {
            let inner = self.need(piece, Part::Any, Context::INSIDE);
            return Ok(inner.map(|inner| self.times(inner, min, max)));
        }
        let (before, after) = (context.before_more(), context.after_some());
        let mut choices = Vec::with_capacity(3);
        if part == Part::Any && (min == 0 || self.can_be_empty(piece, context)?) {
            choices.push(Some(self.empty));
        }
        // Empty rounds, where they are possible at all, make up for missing ones.
        let fills = self.can_be_empty(piece, before)? || self.can_be_empty(piece, after)?;
        let least = if fills { 1 } else { min.max(1) };
        if least == 1 {
            choices.push(self.need(piece, Part::Some, context));
        }
        if max.is_none_or(|max| max >= 2) {
            let first = self.need(piece, Part::Some, before);
            let middle = self.need(piece, Part::Some, Context::INSIDE);
            let last = self.need(piece, Part::Some, after);
            let rounds = both(first, both(middle, last));
            choices.push(rounds.map(|(first, (middle, last))| {
                let middle = self.times(middle, least.max(2) - 2, max.map(|max| max - 2));
                self.seq(&[first, middle, last])
            }));
        }
        let choices: Option<Vec<_>> = choices.into_iter().collect();
        Ok(choices.map(|choices| self.alt(&choices)))
    }

    /// The solution for a piece, or `None` and a new open goal.
    fn need(&mut self, piece: Piece, part: Part, context: Context) -> Option<ExprId> {
        match (piece, part) {
            (Piece::Plain(expr), Part::Any) => Some(expr),
            (Piece::Plain(expr), Part::Some) => Some(self.split(expr).some),
            (Piece::Node(node), _) => {
                let goal = Goal { node, part, context };
                let solved = self.solved.get(&goal).copied();
                if solved.is_none() {
                    self.open.push(goal);
                }
                solved
            }
        }
    }

    fn holds(&self, piece: Piece) -> Holds {
        match piece {
            Piece::Plain(_) => Holds::default(),
            Piece::Node(node) => self.nodes.holds[node],
        }
    }

    fn can_be_empty(&mut self, piece: Piece, context: Context) -> Result<bool, PatternError> {
        let node = match piece {
            Piece::Plain(expr) => return Ok(self.split(expr).can_be_empty),
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
            match &self.nodes.nodes[node] {
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
        for node in &nodes.nodes {
            let of = |solver: &mut Self, piece: Piece| match piece {
                Piece::Node(node) => solver.emptiness[node],
                Piece::Plain(expr) => {
                    let bits = if solver.split(expr).can_be_empty { ALWAYS } else { 0 };
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

    /// Splits a plain expression, its parts first.
    fn split(&mut self, root: ExprId) -> Split {
        let mut open = vec![root];
        while let Some(&expr) = open.last() {
            if self.plain.contains_key(&expr) {
                open.pop();
                continue;
            }
            let waiting = open.len();
            match self.builder.expr(expr).clone() {
                Expr::Seq(parts) | Expr::Alt(parts) => {
                    open.extend(parts.iter().filter(|part| !self.plain.contains_key(part)));
                }
                Expr::Repeat { expr, .. } if !self.plain.contains_key(&expr) => open.push(expr),
                _ => {}
            }
            if open.len() == waiting {
                let split = self.split_one(expr);
                self.plain.insert(expr, split);
                open.pop();
            }
        }
        self.plain[&root]
    }

    /// Splits an expression whose parts are split.
    fn split_one(&mut self, expr: ExprId) -> Split {
        match self.builder.expr(expr).clone() {
            Expr::Literal(bytes) if bytes.is_empty() => {
                Split { can_be_empty: true, some: self.none }
            }
            Expr::Seq(parts) if parts.iter().all(|part| self.plain[part].can_be_empty) => {
                // From the right: the first part that isn't empty is this one or a later one.
                let (mut some, mut rest) = (self.none, self.empty);
                for &part in parts.iter().rev() {
                    let here = self.seq(&[self.plain[&part].some, rest]);
                    some = self.alt(&[here, some]);
                    rest = self.seq(&[part, rest]);
                }
                Split { can_be_empty: true, some }
            }
            Expr::Alt(parts) if parts.iter().any(|part| self.plain[part].can_be_empty) => {
                let parts: Vec<_> = parts.iter().map(|part| self.plain[part].some).collect();
                Split { can_be_empty: true, some: self.alt(&parts) }
            }
            Expr::Repeat { expr: inner, min, max } => {
                let Split { can_be_empty, some } = self.plain[&inner];
                if can_be_empty {
                    let rest = self.times(inner, 0, max.map(|max| max - 1));
                    Split { can_be_empty: true, some: self.seq(&[some, rest]) }
                } else if min == 0 {
                    Split { can_be_empty: true, some: self.times(inner, 1, max) }
                } else {
                    Split { can_be_empty: false, some: expr }
                }
            }
            _ => Split { can_be_empty: false, some: expr },
        }
    }

    /// A sequence without its empty parts; nothing, if a part is nothing.
    fn seq(&mut self, parts: &[ExprId]) -> ExprId {
        if parts.contains(&self.none) {
            return self.none;
        }
        let parts: Vec<_> = parts.iter().copied().filter(|&part| part != self.empty).collect();
        self.builder.seq(&parts)
    }

    /// Alternatives without those that are nothing; the empty text makes the rest optional.
    fn alt(&mut self, parts: &[ExprId]) -> ExprId {
        let optional = parts.contains(&self.empty);
        let mut rest: Vec<ExprId> = Vec::with_capacity(parts.len());
        for &part in parts {
            // Neighbours only: equal alternatives of the user's stay as they are.
            if part != self.none && part != self.empty && rest.last() != Some(&part) {
                rest.push(part);
            }
        }
        match (optional, rest.is_empty()) {
            (true, true) => self.empty,
            (true, false) => {
                let rest = self.builder.alt(&rest);
                self.builder.repeat(rest, 0, Some(1))
            }
            (false, _) => self.builder.alt(&rest),
        }
    }

    fn times(&mut self, expr: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if max == Some(0) || expr == self.empty || expr == self.none && min == 0 {
            self.empty
        } else if expr == self.none {
            self.none
        } else {
            self.builder.repeat(expr, min, max)
        }
    }
}

fn both<A, B>(left: Option<A>, right: Option<B>) -> Option<(A, B)> {
    left.zip(right)
}

fn is_empty(expr: ExprId, builder: &GrammarBuilder) -> bool {
    matches!(builder.expr(expr), Expr::Literal(bytes) if bytes.is_empty())
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
