//! What may come next, and why a token can't: for people.
//!
//! Runs the grammar without optimisations, so that the names are those of the user's terminals.
//! Where that would take long (large or very ambiguous grammars), the optimised one is run, and
//! what has no name there is told by the characters that may come.

use crate::byteset::ByteSet;
use crate::compile::LexemeName;
use crate::grammar::{SymbolKind, TokenRef};
use crate::index::{Id, StateId, TokenId};
use crate::matcher::{Matcher, Step};
use crate::recogniser::{DEAD, Recogniser};
use crate::vocab::bits::TokenBits;

/// Grammars are run without optimisations up to this size, and within this memory.
const MAX_EXPRESSIONS: usize = 10_000;
const MAX_REGEXES: usize = 50_000;
const MAX_DOTS: usize = 2_000;
const MAX_BYTES: usize = 8 << 20;

/// The most names that a message lists.
const MAX_NAMES: usize = 12;

impl Matcher {
    /// The terminals that may come next or are under way, readable; `end of text` where the text
    /// may end.
    pub fn expected(&self) -> Vec<String> {
        if self.is_finished() {
            return Vec::new();
        }
        let (recogniser, state) = self.readable();
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
        let (mut recogniser, mut state) = self.readable();
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

    /// A recogniser of the user's own terminals, and its state after the steps so far.
    fn readable(&self) -> (Recogniser, StateId) {
        let engine = self.engine();
        let optimised = engine.grammar();
        if optimised.source.exprs.len() <= MAX_EXPRESSIONS
            && optimised.lexer.regexes().len() <= MAX_REGEXES
        {
            let (plain, terminals) = engine.plain();
            let mut recogniser = Recogniser::new(plain);
            if plain.program.len() <= MAX_DOTS
                && let Some(state) = self.replay_on(&mut recogniser, terminals, MAX_BYTES)
            {
                return (recogniser, state);
            }
        }
        let mut recogniser = Recogniser::new(optimised);
        let state = self.replay_on(&mut recogniser, engine.terminals(), usize::MAX);
        (recogniser, state.unwrap_or(Recogniser::START))
    }

    /// The state after the steps so far; `None` if it takes more than `limit` bytes to find.
    fn replay_on(
        &self,
        recogniser: &mut Recogniser,
        terminals: &[TokenBits],
        limit: usize,
    ) -> Option<StateId> {
        let vocabulary = self.engine().vocabulary();
        let mut state = Recogniser::START;
        for step in self.steps().iter() {
            let (mut next, text): (StateId, &[u8]) = match step {
                Step::End(_) => continue,
                Step::Bytes(bytes) => (state, bytes),
                Step::Token(token) if vocabulary.is_special(token) => (DEAD, &[]),
                Step::Token(token) => (state, vocabulary.token_bytes(token)),
            };
            for &byte in text {
                next = recogniser.step(next, byte);
                if recogniser.memory_bytes() > limit {
                    return None;
                }
            }
            if let Step::Token(token) = step {
                for terminal in recogniser.token_terminals(state).to_vec() {
                    if terminals[terminal.index()].contains(token) {
                        let scanned = recogniser.step_token(state, terminal);
                        next = recogniser.union(next, scanned);
                    }
                }
            }
            state = next;
        }
        Some(state)
    }
}

/// The terminals that may come next or are under way in a state.
fn names(recogniser: &Recogniser, state: StateId) -> Vec<String> {
    let grammar = recogniser.grammar();
    let source = &grammar.source.symbols[grammar.source.start];
    let mut names: Vec<String> = recogniser
        .scans(state)
        .iter()
        .map(|scan| {
            let lexeme = grammar.lexemes[scan.lexeme].name;
            let start = LexemeName::Symbol(grammar.source.start);
            let whole = source.kind == SymbolKind::Terminal && lexeme == start;
            if lexeme == LexemeName::None || whole {
                describe(recogniser.lexer().first(scan.rest))
            } else {
                grammar.lexeme_name(scan.lexeme)
            }
        })
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

/// Bytes as a class, as in `[0-9a-f]`.
fn describe(bytes: &ByteSet) -> String {
    let mut shown = String::from("[");
    let all: Vec<u8> = bytes.iter().collect();
    for run in all.chunk_by(|a, b| a + 1 == *b) {
        let (first, last) = (run[0], run[run.len() - 1]);
        shown.extend(std::ascii::escape_default(first).map(char::from));
        if run.len() > 2 {
            shown.push('-');
        }
        if run.len() > 1 {
            shown.extend(std::ascii::escape_default(last).map(char::from));
        }
    }
    shown.push(']');
    shown
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
