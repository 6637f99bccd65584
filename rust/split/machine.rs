//! What a trie walk needs of a recogniser: a state, a byte, the next state.

use std::hash::Hash;

use crate::index::{Id, RegexId, StateId};
use crate::lexer::Lexer;
use crate::recogniser::Recogniser;

/// A deterministic machine over bytes whose state 0 is dead and whose other states are alive.
pub trait ByteMachine {
    /// A state.
    type State: Id + Hash;

    /// Whether a walk has to note where the machine may end: what follows the end of a lexeme is
    /// for others to say, a recogniser goes on by itself.
    const NOTES_ENDS: bool;

    /// The state after a byte.
    fn step(&mut self, state: Self::State, byte: u8) -> Self::State;

    /// The class of a byte: bytes of one class lead to the same state from everywhere.
    fn class(&self, byte: u8) -> u8;

    /// Whether no state after a state can be come back to, as far as that is known.
    fn ends_soon(&self, state: Self::State) -> bool;

    /// Whether what the machine matches may end in a state.
    fn accepts(&self, state: Self::State) -> bool;
}

impl ByteMachine for Lexer {
    type State = RegexId;
    const NOTES_ENDS: bool = true;

    #[inline]
    fn step(&mut self, state: RegexId, byte: u8) -> RegexId {
        Self::step(self, state, byte)
    }

    #[inline]
    fn class(&self, byte: u8) -> u8 {
        Self::class(self, byte)
    }

    fn ends_soon(&self, state: RegexId) -> bool {
        self.regexes().is_finite(state)
    }

    #[inline]
    fn accepts(&self, state: RegexId) -> bool {
        Self::accepts(self, state)
    }
}

impl ByteMachine for Recogniser {
    type State = StateId;
    const NOTES_ENDS: bool = false;

    #[inline]
    fn step(&mut self, state: StateId, byte: u8) -> StateId {
        Self::step(self, state, byte)
    }

    #[inline]
    fn class(&self, byte: u8) -> u8 {
        self.lexer().class(byte)
    }

    fn ends_soon(&self, _: StateId) -> bool {
        false
    }

    #[inline]
    fn accepts(&self, state: StateId) -> bool {
        Self::accepts(self, state)
    }
}

/// Whether a state is dead.
#[inline]
pub fn is_dead(state: impl Id) -> bool {
    state.index() == 0
}
