//! Deterministic automata over bytes, in one form each: equal languages are equal values.

/// A state of an [`Automaton`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AutomatonState {
    /// Whether a text may end here.
    pub accepts: bool,
    /// Inclusive byte ranges, sorted and disjoint, and the states they lead to.
    pub edges: Box<[(u8, u8, u32)]>,
}

/// A deterministic automaton: minimal, every state reachable from state 0 and able to accept,
/// states numbered in the order of a breadth-first walk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Automaton {
    states: Box<[AutomatonState]>,
}

impl Automaton {
    /// The states; a text starts in the first.
    pub fn states(&self) -> &[AutomatonState] {
        &self.states
    }
}
