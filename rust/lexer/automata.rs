//! Automata among the expressions: a state is a node, a derivative is a look into a table.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::node::{DEAD, EPSILON, Node, RegexSet};
use crate::byteset::ByteSet;
use crate::grammar::Automaton;
use crate::index::RegexId;

/// The automata of a set of expressions; equal ones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Automata {
    all: Vec<(Arc<Automaton>, u128)>,
    known: FxHashMap<Arc<Automaton>, u32>,
}

impl Automata {
    /// A hash of an automaton, the same in every set.
    pub(super) fn identity(&self, automaton: u32) -> u128 {
        self.all[automaton as usize].1
    }

    /// The sets of bytes that lead from one state to another.
    pub(super) fn byte_sets(&self) -> impl Iterator<Item = ByteSet> {
        let mut sets = FxHashSet::default();
        for (automaton, _) in &self.all {
            add_edge_sets(automaton, &mut sets);
        }
        sets.into_iter()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let states = |automaton: &Automaton| {
            automaton.states().iter().map(|state| 32 + state.edges.len() * 8).sum::<usize>()
        };
        self.all.iter().map(|(automaton, _)| states(automaton)).sum()
    }
}

fn add_edge_sets(automaton: &Automaton, sets: &mut FxHashSet<ByteSet>) {
    for state in automaton.states() {
        let mut by_target: FxHashMap<u32, ByteSet> = FxHashMap::default();
        for &(low, high, target) in &state.edges {
            by_target.entry(target).or_insert(ByteSet::EMPTY).insert_range(low, high);
        }
        sets.extend(by_target.into_values());
    }
}

impl RegexSet {
    /// What an automaton accepts.
    pub fn automaton(&mut self, automaton: &Arc<Automaton>) -> RegexId {
        let index = match self.automata.known.get(automaton) {
            Some(&index) => index,
            None => {
                let half = |seed: u64| {
                    let mut hasher = std::hash::DefaultHasher::new();
                    (seed, automaton).hash(&mut hasher);
                    hasher.finish()
                };
                let index = self.automata.all.len() as u32;
                let identity = u128::from(half(2)) << 64 | u128::from(half(3));
                self.automata.all.push((Arc::clone(automaton), identity));
                self.automata.known.insert(Arc::clone(automaton), index);
                index
            }
        };
        self.state(index, 0)
    }

    pub(super) fn step_automaton(&mut self, automaton: u32, state: u32, byte: u8) -> RegexId {
        let edges = &self.automata.all[automaton as usize].0.states()[state as usize].edges;
        let at = edges.partition_point(|&(_, high, _)| high < byte);
        match edges.get(at) {
            Some(&(low, _, target)) if low <= byte => self.state(automaton, target),
            _ => DEAD,
        }
    }

    pub(super) fn edge_sets(&self, automaton: u32) -> FxHashSet<ByteSet> {
        let mut sets = FxHashSet::default();
        add_edge_sets(&self.automata.all[automaton as usize].0, &mut sets);
        sets
    }

    /// A state can always go on to a text, so it is never dead.
    fn state(&mut self, automaton: u32, state: u32) -> RegexId {
        let found = &self.automata.all[automaton as usize].0.states()[state as usize];
        if found.edges.is_empty() {
            return if found.accepts { EPSILON } else { DEAD };
        }
        let mut first = ByteSet::EMPTY;
        found.edges.iter().for_each(|&(low, high, _)| first.insert_range(low, high));
        let nullable = found.accepts;
        self.intern(Node::State(automaton, state), nullable, first)
    }
}
