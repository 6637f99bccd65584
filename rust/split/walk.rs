//! The walk of a machine over a trie: which tokens stay alive to their end.

use smallvec::{SmallVec, smallvec};

use super::closure::Closure;
use super::machine::{ByteMachine, is_dead};
use crate::byteset::ByteSet;
use crate::index::{NodeId, RegexId};
use crate::lexer::Lexer;
use crate::vocab::atoms::{AtomIndex, Atoms, atoms_with_byte};
use crate::vocab::paths::{NodeSet, Paths};
use crate::vocab::trie::Trie;

/// Subtrees with fewer tokens are walked without asking for closures.
const MIN_SUBTREE: usize = 32;

/// Room for the open nodes of most walks.
const TYPICAL_DEPTH: usize = 24;

/// Ranges of positions in a trie's order of tokens; neighbours are merged.
#[derive(Clone, Debug, Default)]
pub struct Ranges(SmallVec<[(u32, u32); 4]>);

impl Ranges {
    #[inline]
    pub(super) fn push(&mut self, (first, end): (u32, u32)) {
        if first == end {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.1 == first => last.1 = end,
            _ => self.0.push((first, end)),
        }
    }

    /// The ranges, first and end positions.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }

    /// How many positions there are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|(first, end)| (end - first) as usize).sum()
    }
}

/// A node below which a lexeme has ended, and its depth from the root of the trie.
pub type End = (NodeId, u32);

/// What a walk finds.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The tokens that stay alive, except those that `covered` says.
    pub alive: Ranges,
    /// The nodes with something below where the machine may end.
    pub ends: SmallVec<[End; 4]>,
    /// Whether there are more ends, in the subtrees that were not walked.
    pub hidden_ends: bool,
}

/// Subtrees need not be walked where a closure says what is in them.
pub struct Shortcuts<'a, F> {
    /// The atoms of the trie.
    pub atoms: &'a AtomIndex,
    /// Where all of a subtree's tokens are, as a whole, within the atoms of this closure, they are
    /// left out of `alive`: the caller knows about them. Only for walks from the trie's root.
    pub covered: Option<Closure>,
    /// Finds the closure of a state, with counters of repetition taken away that can't run out
    /// within so many bytes; so many tokens may be skipped by it.
    pub closure: F,
}

/// No shortcuts: a walk of every node.
pub type Everything<M> =
    Option<Shortcuts<'static, fn(&mut M, <M as ByteMachine>::State, u32, usize) -> Closure>>;

/// Walks all tokens below `root` from `start`, which is alive.
pub fn walk<M: ByteMachine, F: FnMut(&mut M, M::State, u32, usize) -> Closure>(
    machine: &mut M,
    trie: &Trie,
    root: (NodeId, u32),
    start: M::State,
    mut shortcuts: Option<Shortcuts<'_, F>>,
    found: &mut Found,
) {
    let (root, depth) = root;
    let end = trie.end(root);
    if let Some(shortcuts) = &mut shortcuts
        && shortcuts.covered.is_none()
        && trie.count_below(root) >= MIN_SUBTREE
    {
        let height = shortcuts.atoms.height(root).unwrap_or(u32::MAX);
        let closure = (shortcuts.closure)(machine, start, height, trie.count_below(root));
        if shortcuts.atoms.below_within(root, closure.atoms) {
            found.alive.push(trie.range_below(root));
            found.hidden_ends |= closure.accepts;
            return;
        }
    }
    // The states of the open nodes, each with the end of its subtree and atoms with which it stays
    // alive and does not end.
    let mut stack: SmallVec<[(NodeId, M::State, Atoms); TYPICAL_DEPTH]> = SmallVec::new();
    stack.push((end, start, 0));
    let mut node = NodeId(root.0 + 1);
    while node < end {
        while stack.last().is_some_and(|&(closed, ..)| closed <= node) {
            stack.pop();
        }
        let Some(&(_, state, atoms)) = stack.last() else { break };
        let behind = trie.end(node);
        let byte = trie.byte(node);
        let state = machine.step(state, byte);
        if is_dead(state) {
            node = behind;
            continue;
        }
        if let Some(shortcuts) = &shortcuts
            && let Some(closure) = shortcuts.covered
            && shortcuts.atoms.whole_within(node, closure.atoms)
        {
            found.hidden_ends |= closure.accepts;
            node = behind;
            continue;
        }
        found.alive.push(trie.range_at(node));
        let next = NodeId(node.0 + 1);
        if next == behind {
            node = next;
            continue;
        }
        if M::NOTES_ENDS && machine.accepts(state) {
            found.ends.push((node, depth + stack.len() as u32));
        }
        // What keeps a set of states keeps those that it leads to.
        let mut atoms =
            if byte.is_ascii() && atoms_with_byte(byte) & atoms != 0 { atoms } else { 0 };
        if let Some(shortcuts) = &mut shortcuts {
            if atoms != 0 && shortcuts.atoms.below_within(node, atoms) {
                found.alive.push(trie.range_below(node));
                node = behind;
                continue;
            }
            if trie.count_below(node) >= MIN_SUBTREE {
                let height = shortcuts.atoms.height(node).unwrap_or(u32::MAX);
                let closure = (shortcuts.closure)(machine, state, height, trie.count_below(node));
                if shortcuts.atoms.below_within(node, closure.atoms) {
                    found.alive.push(trie.range_below(node));
                    found.hidden_ends |= closure.accepts;
                    node = behind;
                    continue;
                }
                if closure.atoms != 0 && !(M::NOTES_ENDS && closure.accepts) {
                    atoms = closure.atoms;
                }
            }
        }
        stack.push((behind, state, atoms));
        node = next;
    }
}

/// Walks the tokens below a node from `start`; where few bytes go on, straight to the children that
/// they lead to.
pub fn walk_narrow(
    lexer: &mut Lexer,
    trie: &Trie,
    node: NodeId,
    start: RegexId,
    few: usize,
    found: &mut Found,
) {
    let mut open: SmallVec<[(NodeId, RegexId); TYPICAL_DEPTH]> = smallvec![(node, start)];
    while let Some((node, state)) = open.pop() {
        let first = *lexer.first(state);
        if first.len() > few {
            walk(lexer, trie, (node, 0), state, Everything::None, found);
            continue;
        }
        trie.children_in(node, &first, |child| {
            let next = lexer.step(state, trie.byte(child));
            if is_dead(next) {
                return;
            }
            found.alive.push(trie.range_at(child));
            if trie.is_leaf(child) {
                return;
            }
            if lexer.accepts(next) {
                found.ends.push((child, 0));
            }
            open.push((child, next));
        });
    }
}

/// Walks the tokens below `root`, which few are alive of, from each node straight to the children
/// that its state goes on with; `None` if more than `most` nodes are alive. Each state has
/// something with it, of which `step` gives the next.
///
/// PERF: a walk past all children, asking for closures where many tokens are below, took 30 to 280
/// µs for the names, numbers and dates that may come next, however few tokens these begin.
pub fn walk_few<T: Copy>(
    lexer: &mut Lexer,
    trie: &Trie,
    root: (NodeId, u32),
    start: (RegexId, T),
    most: usize,
    step: impl Fn(RegexId, T, u8) -> T,
    mut visit: impl FnMut(&Lexer, Visit<(RegexId, T)>),
) -> Option<()> {
    let mut open = vec![(root.0, root.1, start)];
    let mut alive = 0;
    while let Some((node, depth, state)) = open.pop() {
        if node != root.0 {
            visit(lexer, Visit { node, depth, state, listed: true });
        }
        if trie.is_leaf(node) {
            continue;
        }
        let before = open.len();
        let first = *lexer.first(state.0);
        trie.children_in(node, &first, |child| {
            let byte = trie.byte(child);
            let next = lexer.step(state.0, byte);
            if !is_dead(next) {
                open.push((child, depth + 1, (next, step(state.0, state.1, byte))));
            }
        });
        alive += open.len() - before;
        if alive > most {
            return None;
        }
        // The first child comes first.
        open[before..].reverse();
    }
    Some(())
}

/// A node that [`walk_nodes`] or [`walk_few`] comes to.
#[derive(Clone, Copy, Debug)]
pub struct Visit<S> {
    /// The node.
    pub node: NodeId,
    /// How many bytes lead to it.
    pub depth: u32,
    /// The state there.
    pub state: S,
    /// Whether it is one of those that were asked for; else it is on the way to one.
    pub listed: bool,
}

/// Goes from the root to some nodes only, in the order of the trie, as far as the state is alive.
/// Each state has something with it, of which `step` gives the next.
///
/// PERF: a walk past all that is not meant takes a millisecond and more, since a few of the tokens
/// below nearly every node near the root are.
pub fn walk_nodes<T: Copy>(
    lexer: &mut Lexer,
    (trie, paths): (&Trie, &Paths),
    nodes: &NodeSet,
    start: (RegexId, T),
    step: impl Fn(RegexId, T, u8) -> T,
    mut visit: impl FnMut(&Lexer, Visit<(RegexId, T)>),
) {
    let mut open = vec![(Trie::ROOT, trie.end(Trie::ROOT), start)];
    let mut way: Vec<NodeId> = Vec::with_capacity(TYPICAL_DEPTH);
    let mut from = NodeId(1);
    while let Some(listed) = nodes.next_from(from) {
        from = NodeId(listed.0 + 1);
        while open.last().is_some_and(|&(_, end, _)| end <= listed) {
            open.pop();
        }
        let Some(&(top, _, mut state)) = open.last() else { break };
        way.clear();
        let mut node = listed;
        while node != top {
            way.push(node);
            node = paths.parent(node);
        }
        for &node in way.iter().rev() {
            let byte = trie.byte(node);
            let next = lexer.step(state.0, byte);
            if is_dead(next) {
                from = trie.end(node);
                break;
            }
            state = (next, step(state.0, state.1, byte));
            let depth = open.len() as u32;
            open.push((node, trie.end(node), state));
            visit(lexer, Visit { node, depth, state, listed: node == listed });
        }
    }
}

/// The nodes below `root` that one of `bytes` leads to from a place where the machine may end, each
/// with its byte.
pub fn nodes_after_end<M: ByteMachine>(
    machine: &mut M,
    trie: &Trie,
    atoms: &AtomIndex,
    root: (NodeId, u32),
    start: M::State,
    bytes: &ByteSet,
) -> Vec<(u8, End)> {
    let wanted = bytes.iter().fold(0, |set: Atoms, byte| set | atoms_with_byte(byte));
    let (root, depth) = root;
    let end = trie.end(root);
    let mut nodes = Vec::new();
    let mut stack: Vec<(NodeId, M::State)> = vec![(end, start)];
    let mut node = NodeId(root.0 + 1);
    while node < end {
        while stack.last().is_some_and(|&(closed, _)| closed <= node) {
            stack.pop();
        }
        let Some(&(_, state)) = stack.last() else { break };
        let behind = trie.end(node);
        let byte = trie.byte(node);
        if stack.len() > 1 && bytes.contains(byte) && machine.accepts(state) {
            nodes.push((byte, (node, depth + stack.len() as u32)));
        }
        if trie.is_leaf(node) || !atoms.below_holds(node, wanted) {
            node = behind;
            continue;
        }
        let state = machine.step(state, byte);
        if is_dead(state) {
            node = behind;
            continue;
        }
        stack.push((behind, state));
        node = NodeId(node.0 + 1);
    }
    nodes
}
