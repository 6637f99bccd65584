//! The recogniser byte by byte: lexer states and Earley rows together. Knows no model tokens.
//!
//! Takes a [`CompiledGrammar`]; gives [`StateId`]s: what is known after some bytes, interned, so
//! that loops in the text come back to states that are known. A state is
//!
//! - the *boundary*: the row at this very place, if a lexeme may end here (or nothing was read);
//! - the *scans* in the middle of a lexeme: (lexeme, what is left of it, row where it started).
//!
//! Guarantee: every state but [`DEAD`] can go on to a complete text, since the grammar is reduced
//! and no lexer state has an empty language. "Alive" is all that a mask needs to ask.
//!
//! Lexemes that end at the same byte lead to one row, the union: as in Earley's algorithm there is
//! one set a position, and the work grows with a power of the text's length, however ambiguous the
//! grammar. Scans that differ in their row alone are *not* united, though what follows them would
//! be the same: the union of rows of different places calls nonterminals under a new return
//! address, and where the rows alone come back to known ones (`WORD+`) the unions never would.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::byteset::ByteSet;
use crate::compile::CompiledGrammar;
use crate::earley::{Rows, Sym};
use crate::index::{ExpectedId, Id, LexemeId, RegexId, RowId, StateId, TokenTerminalId};
use crate::interner::SliceInterner;
use crate::lexer::{self, EPSILON, Lexer};
use crate::transitions::Transitions;

/// The state from which no text can be completed.
pub const DEAD: StateId = StateId(0);

/// A lexeme that is being matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scan {
    /// Which lexeme.
    pub lexeme: LexemeId,
    /// What is left of it.
    pub rest: RegexId,
    /// Where it started.
    pub row: RowId,
}

const _: () = assert!(size_of::<Scan>() == 12);

/// Lists of lexemes from this length on are looked through once for all rows that expect them.
const MANY_LEXEMES: usize = 8;

/// What the scan is that stands for a state's boundary in the interned slices.
const BOUNDARY: LexemeId = LexemeId(u32::MAX);

/// All states met so far, and the transitions between them.
#[derive(Clone, Debug)]
pub struct Recogniser {
    grammar: Arc<CompiledGrammar>,
    lexer: Lexer,
    rows: Rows,
    /// For each state its scans, sorted and each once; the boundary, if any, comes first as a scan
    /// of [`BOUNDARY`].
    states: SliceInterner<StateId, Scan>,
    /// Transitions by byte class.
    transitions: Transitions,
    /// For each list of terminals that a row expects the bytes that they start with.
    first: Vec<Option<ByteSet>>,
    /// For long lists of terminals that a row expects those that can start with one of some bytes.
    starting: FxHashMap<(ExpectedId, ByteSet), Box<[LexemeId]>>,
    starting_bytes: usize,
    /// Room for the scans of a state that is being found.
    room: Vec<Scan>,
}

impl Recogniser {
    /// The state before any byte.
    pub const START: StateId = StateId(1);

    /// The recogniser of a grammar, with nothing known but the start.
    pub fn new(grammar: &Arc<CompiledGrammar>) -> Self {
        let mut recogniser = Self {
            lexer: grammar.lexer.clone(),
            rows: Rows::new(Arc::clone(&grammar.program)),
            grammar: Arc::clone(grammar),
            states: SliceInterner::default(),
            transitions: Transitions::new(grammar.lexer.class_count()),
            first: Vec::new(),
            starting: FxHashMap::default(),
            starting_bytes: 0,
            room: Vec::new(),
        };
        recogniser.intern(None, &mut Vec::new());
        recogniser.intern(Some(Rows::START), &mut Vec::new());
        recogniser
    }

    /// The grammar.
    pub fn grammar(&self) -> &Arc<CompiledGrammar> {
        &self.grammar
    }

    /// The lexer, with what it has derived so far.
    pub fn lexer(&self) -> &Lexer {
        &self.lexer
    }

    /// The lexer, to derive more.
    pub fn lexer_mut(&mut self) -> &mut Lexer {
        &mut self.lexer
    }

    /// The state after a byte, or [`DEAD`].
    #[inline]
    pub fn step(&mut self, state: StateId, byte: u8) -> StateId {
        match self.known_step(state, byte) {
            Some(next) => next,
            None => self.find_step(state, byte),
        }
    }

    /// The state after a byte, if the transition has been taken before.
    #[inline]
    pub fn known_step(&self, state: StateId, byte: u8) -> Option<StateId> {
        self.transitions.get(state.index(), self.lexer.class(byte)).map(StateId)
    }

    /// PERF: with lists made anew for each state, tokens of 600 JSON schemas took 0.44 µs to accept
    /// in the mean, 0.35 without.
    #[cold]
    fn find_step(&mut self, state: StateId, byte: u8) -> StateId {
        let mut scans = std::mem::take(&mut self.room);
        scans.clear();
        self.under_way_on(state, &ByteSet::of(byte), &mut scans);
        self.starting_on(state, &ByteSet::of(byte), &mut scans);
        let mut boundary: Option<RowId> = None;
        scans.retain_mut(|scan| {
            scan.rest = self.lexer.step(scan.rest, byte);
            if scan.rest == lexer::DEAD {
                return false;
            }
            if self.lexer.accepts(scan.rest) {
                let row = self.after(*scan);
                boundary = Some(match boundary {
                    Some(other) => self.rows.union(other, row),
                    None => row,
                });
            }
            scan.rest != EPSILON
        });
        let next = self.intern(boundary, &mut scans);
        self.room = scans;
        self.set_transition(state, byte, next);
        next
    }

    fn set_transition(&mut self, state: StateId, byte: u8, next: StateId) {
        self.transitions.set(state.index(), self.lexer.class(byte), next.0);
    }

    /// The row after a scan's lexeme.
    pub fn after(&mut self, scan: Scan) -> RowId {
        self.rows.goto(scan.row, Sym::Lexeme(scan.lexeme))
    }

    /// The state at a row, in the middle of nothing.
    pub fn state_at(&mut self, row: RowId) -> StateId {
        self.intern(Some(row), &mut Vec::new())
    }

    /// The state of some scans alone, without a boundary.
    pub fn state_of(&mut self, scans: &[Scan]) -> StateId {
        self.intern(None, &mut scans.to_vec())
    }

    /// A state that goes on exactly as `state` does for `limit` bytes, without larger counters of
    /// repetition in its scans (see [`Lexer::clamp`]).
    pub fn clamp(&mut self, state: StateId, limit: u32) -> StateId {
        let regexes = self.lexer.regexes();
        let (boundary, scans) = self.parts(state);
        if scans.iter().all(|scan| regexes.largest_count(scan.rest) <= limit) {
            return state;
        }
        let mut scans = scans.to_vec();
        for scan in &mut scans {
            scan.rest = self.lexer.clamp(scan.rest, limit);
        }
        self.intern(boundary, &mut scans)
    }

    /// All scans of a state: those under way, and those that start at its boundary.
    pub fn scans(&self, state: StateId) -> Vec<Scan> {
        self.all_scans(state).collect()
    }

    /// Adds those of the scans under way that can go on with one of the bytes.
    pub fn under_way_on(&self, state: StateId, bytes: &ByteSet, out: &mut impl Extend<Scan>) {
        let scans = self.parts(state).1.iter();
        out.extend(scans.filter(|scan| self.lexer.first(scan.rest).intersects(bytes)).copied());
    }

    /// Adds those of the scans that start at a state's boundary with one of the bytes.
    ///
    /// PERF: long lists of lexemes are looked through once for all rows that expect them: masks of
    /// `grammars/c_subset.gbnf` took 741 million instructions, 624 with this and less memory to ask for.
    pub fn starting_on(&mut self, state: StateId, bytes: &ByteSet, out: &mut impl Extend<Scan>) {
        let Self { grammar, lexer, rows, states, starting, starting_bytes, .. } = self;
        let Some(id) = parts(states.get(state)).0 else { return };
        let row = rows.row(id);
        let start = |lexeme: LexemeId| grammar.lexemes[lexeme].start;
        let scan = |&lexeme: &LexemeId| Scan { lexeme, rest: start(lexeme), row: id };
        let starts = |lexeme: &&LexemeId| lexer.first(start(**lexeme)).intersects(bytes);
        if row.lexemes.len() < MANY_LEXEMES {
            out.extend(row.lexemes.iter().filter(starts).map(scan));
            return;
        }
        let known = starting.entry((row.expected, *bytes)).or_insert_with(|| {
            let found: Box<[LexemeId]> = row.lexemes.iter().filter(starts).copied().collect();
            *starting_bytes += 64 + found.len() * size_of::<LexemeId>();
            found
        });
        out.extend(known.iter().map(scan));
    }

    fn all_scans(&self, state: StateId) -> impl Iterator<Item = Scan> {
        let (boundary, scans) = self.parts(state);
        let starting = boundary.into_iter().flat_map(move |row| {
            self.rows.row(row).lexemes.iter().map(move |&lexeme| Scan {
                lexeme,
                rest: self.grammar.lexemes[lexeme].start,
                row,
            })
        });
        scans.iter().copied().chain(starting)
    }

    /// Whether the text may end in a state.
    #[inline]
    pub fn accepts(&self, state: StateId) -> bool {
        self.boundary(state).is_some_and(|row| self.rows.row(row).accepts)
    }

    /// The bytes that a state can go on with.
    pub fn first(&mut self, state: StateId) -> ByteSet {
        let Self { states, lexer, .. } = self;
        let (boundary, scans) = parts(states.get(state));
        let under_way =
            scans.iter().fold(ByteSet::EMPTY, |set, scan| set.union(&lexer.exact_first(scan.rest)));
        match boundary {
            Some(row) => under_way.union(&self.first_of_row(row)),
            None => under_way,
        }
    }

    /// The bytes that the lexemes start with that a row expects.
    pub fn first_of_row(&mut self, row: RowId) -> ByteSet {
        let Self { rows, lexer, grammar, .. } = self;
        let row = rows.row(row);
        let index = row.expected.index();
        if let Some(Some(known)) = self.first.get(index) {
            return *known;
        }
        let first = row.lexemes.iter().fold(ByteSet::EMPTY, |set, &lexeme| {
            set.union(&lexer.exact_first(grammar.lexemes[lexeme].start))
        });
        if self.first.len() <= index {
            self.first.resize(index + 1, None);
        }
        self.first[index] = Some(first);
        first
    }

    /// The token terminals that may be scanned in a state.
    pub fn token_terminals(&self, state: StateId) -> &[TokenTerminalId] {
        match self.boundary(state) {
            Some(row) => &self.rows.row(row).tokens,
            None => &[],
        }
    }

    /// The state after a token terminal that [`Self::token_terminals`] names.
    pub fn step_token(&mut self, state: StateId, terminal: TokenTerminalId) -> StateId {
        match self.boundary(state) {
            Some(row) => {
                let row = self.rows.goto(row, Sym::Token(terminal));
                self.state_at(row)
            }
            None => DEAD,
        }
    }

    /// A state that goes on as either state does.
    pub fn union(&mut self, left: StateId, right: StateId) -> StateId {
        if left == right || right == DEAD {
            return left;
        }
        if left == DEAD {
            return right;
        }
        let boundary = match (self.boundary(left), self.boundary(right)) {
            (Some(a), Some(b)) => Some(self.rows.union(a, b)),
            (a, b) => a.or(b),
        };
        let mut scans = [self.parts(left).1, self.parts(right).1].concat();
        self.intern(boundary, &mut scans)
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are no states: never.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Bytes of memory held, the grammar's own aside.
    pub fn memory_bytes(&self) -> usize {
        self.lexer.memory_bytes()
            + self.rows.memory_bytes()
            + self.states.memory_bytes()
            + self.transitions.memory_bytes()
            + self.first.capacity() * size_of::<Option<ByteSet>>()
            + self.starting_bytes
    }

    /// A state's boundary and its scans under way.
    fn parts(&self, state: StateId) -> (Option<RowId>, &[Scan]) {
        parts(self.states.get(state))
    }

    /// Whether a lexeme may end, or nothing has been read, in a state.
    pub fn has_boundary(&self, state: StateId) -> bool {
        self.boundary(state).is_some()
    }

    /// What a row expects: the same for rows that expect the same.
    pub fn expected(&self, row: RowId) -> ExpectedId {
        self.rows.row(row).expected
    }

    fn boundary(&self, state: StateId) -> Option<RowId> {
        self.parts(state).0
    }

    fn intern(&mut self, boundary: Option<RowId>, scans: &mut Vec<Scan>) -> StateId {
        scans.sort_unstable();
        scans.dedup();
        if let Some(row) = boundary {
            scans.insert(0, Scan { lexeme: BOUNDARY, rest: lexer::DEAD, row });
        }
        self.states.intern(scans).0
    }
}

/// The boundary and the scans of a state as it is interned.
fn parts(state: &[Scan]) -> (Option<RowId>, &[Scan]) {
    match state {
        [Scan { lexeme: BOUNDARY, row, .. }, scans @ ..] => (Some(*row), scans),
        scans => (None, scans),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{CompileOptions, compile};
    use crate::grammar::{GrammarBuilder, SymbolKind};
    use crate::span::Span;

    /// `S: WORD+ "."` with `WORD: [a-z]+`: words may end anywhere.
    fn words() -> Recogniser {
        let mut b = GrammarBuilder::new();
        let start = b.declare("start", SymbolKind::Rule, Span::default());
        let word = b.declare("WORD", SymbolKind::Terminal, Span::default());
        let letter = b.class(&[('a', 'z')]);
        let letters = b.repeat(letter, 1, None);
        b.define(word, letters);
        let word = b.symbol(word);
        let words = b.repeat(word, 1, None);
        let end = b.literal(b".");
        let body = b.seq(&[words, end]);
        b.define(start, body);
        let grammar = compile(&Arc::new(b.finish(start)), &CompileOptions::PLAIN).unwrap();
        Recogniser::new(&Arc::new(grammar))
    }

    #[test]
    fn ambiguous_ends_come_back_to_one_state() {
        let mut r = words();
        let run = |r: &mut Recogniser, text: &[u8]| {
            text.iter().fold(Recogniser::START, |state, &byte| r.step(state, byte))
        };
        let state = run(&mut r, b"abc");
        assert_eq!(run(&mut r, b"abcdefghijklmnop"), state);
        assert!(r.len() < 10, "{} states", r.len());
        let end = run(&mut r, b"abc.");
        assert!(r.accepts(end) && !r.accepts(state));
        assert_eq!(run(&mut r, b"."), DEAD);
        assert!(r.first(end).is_empty());
    }

    #[test]
    fn scans_of_one_lexeme_from_several_rows_stay_apart() {
        // A lexeme `a+` that the start calls in one way and a later row in another.
        let grammar = crate::frontend::gbnf::parse(
            "root ::= word \"x\" root | word word \"y\" root | \"z\"\nword ::= \"a\"+",
            "root",
        );
        let options = CompileOptions { linearise: false, ..CompileOptions::default() };
        let grammar = compile(&Arc::new(grammar.unwrap()), &options).unwrap();
        let mut r = Recogniser::new(&Arc::new(grammar));
        let mut accepts = |text: &[u8]| {
            let end = text.iter().fold(Recogniser::START, |state, &byte| r.step(state, byte));
            r.accepts(end)
        };
        assert!(accepts(b"aaxz") && accepts(b"aayz") && accepts(b"aaxaayaxz"));
        assert!(!accepts(b"ayz"));
    }
}
