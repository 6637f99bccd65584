//! One generation: accept tokens, give masks, go back, fork.
//!
//! A [`Matcher`] is a stack of interned states, one a step, and the steps themselves. Going back
//! is dropping the end of the stack; forking is copying it. It computes nothing itself: the caches
//! are its [`Engine`]'s, which may drop them; the matcher then finds its states again from its
//! steps.

mod explain;
mod steps;

pub use steps::{Step, Steps};

use std::sync::Arc;

use crate::error::MatchError;
use crate::index::{Id, StateId, TokenId};
use crate::mask::{Cache, Engine, Mask};
use crate::recogniser::{DEAD, Recogniser};
use crate::vocab::Vocabulary;

/// The most bytes that [`Matcher::forced_bytes`] gives.
const MAX_FORCED: usize = 1 << 16;

/// One generation. Cloning it is a fork: the copy goes on independently.
#[derive(Clone, Debug)]
pub struct Matcher {
    engine: Arc<Engine>,
    /// The generation of the caches that the states belong to.
    generation: u64,
    /// The state before the first step and after each.
    states: Vec<StateId>,
    steps: Steps,
}

impl Matcher {
    /// A matcher at the start of a text.
    pub fn new(engine: Arc<Engine>) -> Self {
        let generation = engine.read().generation;
        Self { engine, generation, states: vec![Recogniser::START], steps: Steps::default() }
    }

    /// The grammar and vocabulary.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The number of logits.
    pub fn width(&self) -> usize {
        self.vocabulary().width()
    }

    /// What was accepted so far.
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Bytes of memory held by this matcher alone: its steps and the states between them.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.states.capacity() * size_of::<StateId>()
            + self.steps.memory_bytes()
    }

    /// Overwrites `out` with the mask: bit `i` of word `i / 32` says whether token `i` is allowed.
    ///
    /// # Panics
    /// If `out` has not exactly `width.div_ceil(32)` words.
    pub fn fill_mask(&mut self, out: &mut [u32]) {
        assert_eq!(out.len(), self.vocabulary().mask_words(), "words of the mask");
        if self.is_finished() {
            out.fill(0);
            return;
        }
        self.with_mask(|mask| mask.write(out));
    }

    /// Lends the mask of a text that has not finished. States that allow the same tokens mostly
    /// have the same one.
    pub(crate) fn with_mask<R>(&mut self, read: impl FnOnce(&Arc<Mask>) -> R) -> R {
        {
            let cache = self.engine.read();
            if cache.generation == self.generation
                && let Some(mask) = cache.known_mask(self.state())
            {
                return read(mask);
            }
        }
        read(&self.update(Engine::mask))
    }

    /// Takes a token.
    ///
    /// # Errors
    /// The token is not allowed here; the state is as it was.
    pub fn accept(&mut self, token: u32) -> Result<(), MatchError> {
        if token as usize >= self.width() {
            return Err(MatchError::OutOfRange { token, width: self.width() });
        }
        if self.is_finished() {
            return Err(MatchError::Finished);
        }
        if self.try_accept(token) {
            Ok(())
        } else {
            Err(MatchError::NotAllowed { explanation: self.explain(token) })
        }
    }

    /// Takes a token if it is allowed here, and says whether it was.
    pub fn try_accept(&mut self, token: u32) -> bool {
        let id = TokenId(token);
        if token as usize >= self.width() || self.is_finished() {
            return false;
        }
        if self.vocabulary().is_eos(id) && self.is_accepting() {
            self.push(self.state(), Step::End(id));
            return true;
        }
        let next = self.after_token(id);
        if next == DEAD {
            return false;
        }
        self.push(next, Step::Token(id));
        true
    }

    /// Takes bytes that may come in any pieces; one step for [`Self::rollback`].
    ///
    /// # Errors
    /// The bytes can't follow here; the state is as it was.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), MatchError> {
        if self.is_finished() {
            return Err(MatchError::Finished);
        }
        let next = self.update(|_, cache, state| run(&mut cache.recogniser, state, bytes));
        if next == DEAD {
            return Err(MatchError::NotAllowed { explanation: self.explain_bytes(bytes) });
        }
        self.push(next, Step::Bytes(bytes));
        Ok(())
    }

    /// How many of the tokens would be accepted one after the other. The state stays as it is.
    pub fn validate(&mut self, tokens: &[u32]) -> usize {
        let before = self.steps.len();
        let accepted = tokens.iter().take_while(|&&token| self.try_accept(token)).count();
        self.truncate(before);
        accepted
    }

    /// Takes back the last `steps` steps (tokens, or calls of [`Self::accept_bytes`]).
    ///
    /// # Errors
    /// Fewer were accepted; the state is as it was.
    pub fn rollback(&mut self, steps: usize) -> Result<(), MatchError> {
        match self.steps.len().checked_sub(steps) {
            Some(rest) => {
                self.truncate(rest);
                Ok(())
            }
            None => Err(MatchError::Rollback { asked: steps, accepted: self.steps.len() }),
        }
    }

    /// Goes back to the start.
    pub fn reset(&mut self) {
        self.truncate(0);
    }

    /// Whether the text may end here: end of sequence is allowed.
    pub fn is_accepting(&mut self) -> bool {
        if self.is_finished() {
            return false;
        }
        {
            let cache = self.engine.read();
            if cache.generation == self.generation {
                return cache.recogniser.accepts(self.state());
            }
        }
        self.update(|_, cache, state| cache.recogniser.accepts(state))
    }

    /// Whether end of sequence was accepted.
    pub fn is_finished(&self) -> bool {
        self.steps.has_ended()
    }

    /// The longest continuation about which the grammar leaves no choice, at most 65,536 bytes.
    pub fn forced_bytes(&mut self) -> Vec<u8> {
        if self.is_finished() {
            return Vec::new();
        }
        self.update(|_, cache, mut state| {
            let recogniser = &mut cache.recogniser;
            let mut forced = Vec::new();
            while forced.len() < MAX_FORCED
                && !recogniser.accepts(state)
                && recogniser.token_terminals(state).is_empty()
            {
                let first = recogniser.first(state);
                let (1, Some(byte)) = (first.len(), first.iter().next()) else { break };
                forced.push(byte);
                state = recogniser.step(state, byte);
            }
            forced
        })
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.engine.vocabulary()
    }

    fn state(&self) -> StateId {
        self.states[self.states.len() - 1]
    }

    fn push(&mut self, state: StateId, step: Step<'_>) {
        self.states.push(state);
        self.steps.push(step);
    }

    fn truncate(&mut self, steps: usize) {
        self.steps.truncate(steps);
        self.states.truncate(steps + 1);
    }

    /// The state after a token that is not taken as end of sequence, or [`DEAD`].
    fn after_token(&mut self, token: TokenId) -> StateId {
        if self.engine.terminals().is_empty() {
            let text = text_of(self.vocabulary(), token);
            // The common case may be known already.
            let cache = self.engine.read();
            if cache.generation == self.generation
                && !text.is_empty()
                && let Some(known) = text.iter().try_fold(self.state(), |state, &byte| {
                    if state == DEAD {
                        Some(DEAD)
                    } else {
                        cache.recogniser.known_step(state, byte)
                    }
                })
            {
                return known;
            }
        }
        self.update(|engine, cache, state| step_token(engine, cache, state, token))
    }

    /// Runs `work` on the caches and the current state, which is found again if it was dropped.
    fn update<R>(&mut self, work: impl FnOnce(&Engine, &mut Cache, StateId) -> R) -> R {
        let Self { engine, generation, states, steps } = self;
        let mut cache = engine.write();
        if cache.generation != *generation {
            replay(engine, &mut cache, states, steps);
            *generation = cache.generation;
        }
        work(engine, &mut cache, states[states.len() - 1])
    }
}

/// Finds the states between steps again.
fn replay(engine: &Engine, cache: &mut Cache, states: &mut Vec<StateId>, steps: &Steps) {
    let mut state = Recogniser::START;
    states.clear();
    states.push(state);
    for step in steps.iter() {
        state = match step {
            Step::End(_) => state,
            Step::Bytes(bytes) => run(&mut cache.recogniser, state, bytes),
            Step::Token(token) => step_token(engine, cache, state, token),
        };
        states.push(state);
    }
    Engine::make_room(cache);
}

/// The bytes of a token that is text, none of one that is not.
fn text_of(vocabulary: &Vocabulary, token: TokenId) -> &[u8] {
    if vocabulary.is_special(token) { &[] } else { vocabulary.token_bytes(token) }
}

/// The state after some bytes.
fn run(recogniser: &mut Recogniser, state: StateId, bytes: &[u8]) -> StateId {
    let mut state = state;
    for &byte in bytes {
        if state == DEAD {
            break;
        }
        state = recogniser.step(state, byte);
    }
    state
}

/// The state after a token, read as its text and by the token terminals that ask for it.
fn step_token(engine: &Engine, cache: &mut Cache, state: StateId, token: TokenId) -> StateId {
    let text = text_of(engine.vocabulary(), token);
    let recogniser = &mut cache.recogniser;
    let mut next = if text.is_empty() { DEAD } else { run(recogniser, state, text) };
    for terminal in recogniser.token_terminals(state).to_vec() {
        if engine.terminals()[terminal.index()].contains(token) {
            let scanned = recogniser.step_token(state, terminal);
            next = recogniser.union(next, scanned);
        }
    }
    next
}
