//! The automata among expressions: each equal one once, and what is known of it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::identity::Identity;
use super::node::{EPSILON, Node, RegexSet};
use crate::byteset::ByteSet;
use crate::grammar::{Automaton, AutomatonState};
use crate::index::RegexId;

/// The automata of a set of expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Automata {
    known: Vec<(Arc<Automaton>, u128)>,
    numbers: FxHashMap<u128, u32>,
    /// The bytes of edges, each set once.
    byte_sets: Vec<ByteSet>,
    ranges: FxHashSet<(u8, u8)>,
    edges: usize,
}

impl Automata {
    pub(super) fn state(&self, automaton: u32, state: u32) -> &AutomatonState {
        &self.known[automaton as usize].0.states()[state as usize]
    }

    /// A hash of what an automaton is.
    pub(super) fn identity(&self, automaton: u32) -> u128 {
        self.known[automaton as usize].1
    }

    pub(super) fn byte_sets(&self) -> impl Iterator<Item = &ByteSet> {
        self.byte_sets.iter()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let states: usize = self.known.iter().map(|(one, _)| one.states().len()).sum();
        states * size_of::<AutomatonState>() + self.edges * 12
    }

    fn add(&mut self, automaton: &Arc<Automaton>) -> u32 {
        let identity = hash(automaton);
        if let Some(&known) = self.numbers.get(&identity) {
            return known;
        }
        for state in automaton.states() {
            self.edges += state.edges.len();
            for &(low, high, _) in &state.edges {
                if self.ranges.insert((low, high)) {
                    let mut set = ByteSet::EMPTY;
                    set.insert_range(low, high);
                    self.byte_sets.push(set);
                }
            }
        }
        let number = self.known.len() as u32;
        self.known.push((Arc::clone(automaton), identity));
        self.numbers.insert(identity, number);
        number
    }
}

fn hash(automaton: &Automaton) -> u128 {
    let mut hash = Identity::new(automaton.states().len() as u64);
    for state in automaton.states() {
        hash = hash.word((state.edges.len() as u64) << 1 | u64::from(state.accepts));
        for &(low, high, to) in &state.edges {
            hash = hash.word(u64::from(to) << 16 | u64::from(low) << 8 | u64::from(high));
        }
    }
    hash.finish()
}

impl RegexSet {
    /// What an automaton accepts.
    pub fn automaton(&mut self, automaton: &Arc<Automaton>) -> RegexId {
        if automaton.states().is_empty() {
            return super::DEAD;
        }
        let number = self.automata.add(automaton);
        self.state(number, 0)
    }

    /// What is left to an automaton in one of its states.
    pub(super) fn state(&mut self, automaton: u32, state: u32) -> RegexId {
        let here = self.automata.state(automaton, state);
        if here.edges.is_empty() {
            debug_assert!(here.accepts, "every state of an automaton can accept");
            return EPSILON;
        }
        self.intern(Node::State { automaton, state })
    }

    /// The expression after a byte; `None` where there is no edge.
    pub(super) fn state_after(&mut self, automaton: u32, state: u32, byte: u8) -> Option<RegexId> {
        let edges = &self.automata.state(automaton, state).edges;
        let at = edges.partition_point(|&(_, high, _)| high < byte);
        let &(low, _, to) = edges.get(at)?;
        (low <= byte).then(|| self.state(automaton, to))
    }
}
