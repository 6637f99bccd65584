//! What may come next, and why a token can't: for people.
//!
//! Runs the grammar without optimisations, so that the names are those of the user's terminals.

use crate::grammar::TokenRef;
use crate::index::{Id, StateId, TokenId};
use crate::matcher::{Matcher, Step, run};
use crate::recogniser::{DEAD, Recogniser};

/// The most names that a message lists.
const MAX_NAMES: usize = 12;

impl Matcher {
    /// The terminals that may come next or are under way, readable; `end of text` where the text
    /// may end.
    pub fn expected(&self) -> Vec<String> {
        if self.is_finished() {
            return Vec::new();
        }
        let mut recogniser = Recogniser::new(&self.engine().plain().0);
        let state = self.replay_plain(&mut recogniser);
        names(&recogniser, state)
    }

    /// Why a token can't come here: where inside it the grammar is left, and what was expected
    /// there. If it can come, says so.
    pub fn explain(&self, token: u32) -> String {
        let vocabulary = self.engine().vocabulary();
        let id = TokenId(token);
        let shown = crate::grammar::quote(vocabulary.token_bytes(id));
        if token as usize >= vocabulary.width() {
            return format!(
                "token {token} is out of range: the vocabulary has ids 0 to {}",
                vocabulary.width() - 1
            );
        }
        if self.is_finished() {
            return format!("token {token} {shown} can't come after the end of the sequence");
        }
        if self.clone().try_accept(token) {
            return format!("token {token} {shown} is allowed here");
        }
        let expected = list(&self.expected());
        if vocabulary.is_eos(id) {
            return format!(
                "token {token} {shown} ends the sequence, but the text is not complete; \
                 expected {expected}"
            );
        }
        if vocabulary.is_special(id) {
            return format!(
                "token {token} {shown} is special, and no token terminal asks for it here; \
                 expected {expected}"
            );
        }
        if vocabulary.token_bytes(id).is_empty() {
            return format!("token {token} has no bytes; expected {expected}");
        }
        format!("token {token} {}", self.explain_bytes(vocabulary.token_bytes(id)))
    }

    /// Where inside the bytes the grammar is left, and what was expected there.
    pub fn explain_bytes(&self, bytes: &[u8]) -> String {
        let shown = crate::grammar::quote(bytes);
        let mut recogniser = Recogniser::new(&self.engine().plain().0);
        let mut state = self.replay_plain(&mut recogniser);
        for (at, &byte) in bytes.iter().enumerate() {
            let next = recogniser.step(state, byte);
            if next == DEAD {
                let bad = crate::grammar::quote(&bytes[at..=at]);
                let expected = list(&names(&recogniser, state));
                return format!(
                    "{shown} can't come here: at its byte {at}, {bad}, expected {expected}"
                );
            }
            state = next;
        }
        format!("{shown} can come here")
    }

    /// How many of the bytes can follow here.
    pub fn accepted_prefix(&mut self, bytes: &[u8]) -> usize {
        if self.is_finished() {
            return 0;
        }
        self.update(|_, cache, mut state| {
            bytes
                .iter()
                .take_while(|&&byte| {
                    state = cache.recogniser.step(state, byte);
                    state != DEAD
                })
                .count()
        })
    }

    fn replay_plain(&self, recogniser: &mut Recogniser) -> StateId {
        let vocabulary = self.engine().vocabulary();
        let terminals = &self.engine().plain().1;
        let mut state = Recogniser::START;
        for step in self.steps() {
            state = match step {
                Step::End(_) => state,
                Step::Bytes(bytes) => run(recogniser, state, bytes),
                &Step::Token(token) => {
                    let mut next = if vocabulary.is_special(token) {
                        DEAD
                    } else {
                        run(recogniser, state, vocabulary.token_bytes(token))
                    };
                    for terminal in recogniser.token_terminals(state).to_vec() {
                        if terminals[terminal.index()].contains(token) {
                            let scanned = recogniser.step_token(state, terminal);
                            next = recogniser.union(next, scanned);
                        }
                    }
                    next
                }
            };
        }
        state
    }
}

/// The terminals that may come next or are under way in a state.
fn names(recogniser: &Recogniser, state: StateId) -> Vec<String> {
    let grammar = recogniser.grammar();
    let mut names: Vec<String> = recogniser
        .scans(state)
        .iter()
        .map(|scan| grammar.lexemes[scan.lexeme].name.clone())
        .filter(|name| !name.is_empty())
        .collect();
    for &terminal in recogniser.token_terminals(state) {
        let terminal = &grammar.tokens[terminal];
        let name = match &terminal.token {
            TokenRef::Name(name) => name.clone(),
            TokenRef::Id(id) => format!("<[{id}]>"),
        };
        names.push(if terminal.negated { format!("!{name}") } else { name });
    }
    names.sort();
    names.dedup();
    if recogniser.accepts(state) {
        names.push("end of text".to_owned());
    }
    names
}

fn list(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        _ if names.len() > MAX_NAMES => {
            let rest = names.len() - MAX_NAMES;
            format!("{} or {rest} others", names[..MAX_NAMES].join(", "))
        }
        _ => names.join(" or "),
    }
}
