//! Which tokens need not be read: in those that are not, nothing can happen.
//!
//! Takes a lexer state; gives the tokens that stay alive from it without being read, and those that
//! have to be read; all others are dead. The states around the given one are explored by atoms. An
//! *event* is a step after which a token may be dead or its lexeme ended. To come to one a token
//! has to hold certain atoms: those on all ways to it. In `.*` without `hipchat` they are those of
//! the letters of `hipchat`, which few tokens have all of, though nearly each has some.
//!
//! What a counted length leaves (`P & x{0,100}`) is not explored with its counter, by which all
//! states differ, but without; tokens that may be too long are read.

use super::closure::Atom;
use super::find::units;
use crate::byteset::ByteSet;
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::{CountedMeet, DEAD, EPSILON, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{AtomIndex, Atoms, STRAY, atoms_with_byte, atoms_with_bytes};
use crate::vocab::bits::TokenBits;
use crate::vocab::trie::Trie;

/// The most states that are explored.
const MAX_STATES: usize = 24;
/// What happens only in one of so many tokens need not be known better.
const FEW: usize = 300;

/// Tokens by what is to be done to know whether they are alive.
pub(super) struct Reading {
    /// They are alive.
    pub(super) alive: TokenBits,
    /// They have to be read.
    pub(super) read: TokenBits,
    /// Where most of them come to.
    pub(super) home: Option<Home>,
}

/// A state that most others lead back to, and what may happen behind it.
pub(super) struct Home {
    state: RegexId,
    alphabet: Atoms,
    needs: Vec<Need>,
}

impl Home {
    /// Whether nothing can happen from a state on in rests of tokens that hold these atoms.
    ///
    /// PERF: reading names without `hipchat` or `github` took 57 million instructions, with this 45.
    #[inline]
    pub(super) fn is_quiet(&self, state: RegexId, atoms: Atoms) -> bool {
        let may_be = |need: &Need| need.before & !atoms == 0 && need.events & atoms != 0;
        state == self.state && atoms & !self.alphabet == 0 && !self.needs.iter().any(may_be)
    }
}

/// What is explored: what is left of a pattern before a tail.
struct Explored {
    states: Vec<State>,
    /// From a state by an atom to another.
    edges: Vec<(usize, Atoms, usize)>,
    /// For each state the atoms by which something happens.
    events: Vec<Atoms>,
}

/// Something happens in tokens that hold all atoms of `before`, one of `events`, and more
/// characters than `length`.
struct Need {
    before: Atoms,
    events: Atoms,
    length: u32,
}

#[derive(Clone, Copy)]
struct State {
    /// What is left of the pattern.
    rest: RegexId,
    /// The least number of characters before it.
    length: u32,
    /// The atoms on the way on which it was found.
    before: Atoms,
}

/// The tokens to be read from a state.
pub(super) fn find(vocabulary: &Vocabulary, lexer: &mut Lexer, start: RegexId) -> Option<Reading> {
    let meet = lexer.regexes_mut().counted_meet(start);
    let (pattern, tail) = meet.map_or((start, EPSILON), |meet| (meet.pattern, meet.tail));
    let alphabet = atoms_with_bytes(&lexer.regexes().alphabet(start)) & !STRAY;
    let known = match &meet {
        Some(meet) => units(vocabulary, lexer, meet.unit).atoms,
        None => !0,
    };
    let explored = Explored::find(&vocabulary.atoms, lexer, (pattern, tail), alphabet, known);
    let most = match &meet {
        Some(meet) => Some(most_characters(lexer, meet, &explored)?),
        None => None,
    };
    let read = tokens_to_read(vocabulary, lexer, start, &explored, most);
    let mut alive = vocabulary.atoms.tokens_within(alphabet);
    alive.subtract(&read);
    // Tokens that are dead at once.
    let trie = &vocabulary.trie;
    let mut read = read;
    for child in trie.children(Trie::ROOT) {
        let byte = trie.byte(child);
        if atoms_with_byte(byte) & alphabet != 0 && lexer.step(start, byte) == DEAD {
            for &token in below(trie, child) {
                alive.remove(token);
                read.remove(token);
            }
        }
    }
    let home = if meet.is_none() { explored.home(alphabet) } else { None };
    Some(Reading { alive, read, home })
}

fn below(trie: &Trie, node: NodeId) -> &[TokenId] {
    trie.slice((trie.range_at(node).0, trie.range_below(node).1))
}

/// How many characters a token may have that is not too long, whatever it leads to.
fn most_characters(lexer: &mut Lexer, meet: &CountedMeet, explored: &Explored) -> Option<u32> {
    let mut least = 0;
    for state in &explored.states {
        least = least.max(lexer.regexes_mut().least_units(meet, state.rest)?);
    }
    meet.max.checked_sub(least)
}

impl Explored {
    /// Explores what is left of `pattern` before `tail`, by the atoms of `known`; others are events,
    /// and so is what few tokens may come to.
    fn find(
        index: &AtomIndex,
        lexer: &mut Lexer,
        (pattern, tail): (RegexId, RegexId),
        alphabet: Atoms,
        known: Atoms,
    ) -> Self {
        let behind = if tail == EPSILON { ByteSet::EMPTY } else { *lexer.first(tail) };
        let behind = atoms_with_bytes(&behind);
        let tail_may_be_empty = lexer.accepts(tail);
        let mut atoms = Atom::all(lexer);
        atoms.retain(|atom| atom.bit() & alphabet != 0);
        // The start comes again as another state if it is come back to.
        let mut all = Self { states: Vec::new(), edges: Vec::new(), events: Vec::new() };
        all.states.push(State { rest: pattern, length: 0, before: 0 });
        let mut targets = Vec::new();
        let mut at = 0;
        while let Some(&State { rest, .. }) = all.states.get(at) {
            let may_end = lexer.accepts(rest);
            let mut events = 0;
            for atom in &atoms {
                let bit = atom.bit();
                targets.clear();
                let happens = bit & known == 0
                    || may_end && bit & behind != 0
                    || !atom.targets(lexer, rest, &mut targets)
                    || tail_may_be_empty && targets.iter().any(|&target| lexer.accepts(target));
                targets.sort_unstable();
                targets.dedup();
                if happens || !targets.iter().all(|&target| all.edge(index, at, bit, target)) {
                    events |= bit;
                }
            }
            all.events.push(events);
            at += 1;
        }
        all
    }

    /// Adds an edge; false if it leads to a new state, of which there are too many or to which few
    /// tokens come.
    fn edge(&mut self, index: &AtomIndex, from: usize, bit: Atoms, rest: RegexId) -> bool {
        let State { length, before, .. } = self.states[from];
        let before = before | bit;
        let known = self.states[1..].iter().position(|state| state.rest == rest);
        let to = match known {
            Some(at) => at + 1,
            None if self.states.len() == MAX_STATES => return false,
            None if from != 0
                && !index.tokens_with_all(before).has_more_than(index.width() / FEW) =>
            {
                return false;
            }
            None => {
                self.states.push(State { rest, length: length + 1, before });
                self.states.len() - 1
            }
        };
        self.edges.push((from, bit, to));
        true
    }

    /// What a token that comes from a state has to hold for something to happen, behind its first
    /// character if that is the start.
    fn needs(&self, from: usize) -> Vec<Need> {
        let before = self.atoms_before(from);
        let mut all: Vec<Need> = (1..self.states.len())
            .map(|at| {
                let length = if from == 0 { self.states[at].length } else { 0 };
                Need { before: before[at], events: self.events[at], length }
            })
            .collect();
        all.sort_unstable_by_key(|need| (need.before.count_ones(), need.length));
        let mut needs: Vec<Need> = Vec::new();
        for mut need in all {
            for other in &needs {
                if other.before & !need.before == 0 && other.length <= need.length {
                    need.events &= !other.events;
                }
            }
            if need.events != 0 {
                needs.push(need);
            }
        }
        needs
    }

    /// For each state the atoms on all ways to it from another.
    fn atoms_before(&self, from: usize) -> Vec<Atoms> {
        let mut before = vec![!0; self.states.len()];
        before[from] = 0;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &(from, bit, to) in &self.edges {
                let common = before[to] & (before[from] | bit);
                changed |= common != before[to];
                before[to] = common;
            }
        }
        before
    }

    /// The state that most edges lead to, if one does; the start is never one.
    fn home(&self, alphabet: Atoms) -> Option<Home> {
        let mut edges = vec![0; self.states.len()];
        self.edges.iter().for_each(|&(_, _, to)| edges[to] += 1);
        let home = (1..edges.len()).max_by_key(|&at| edges[at])?;
        Some(Home { state: self.states[home].rest, alphabet, needs: self.needs(home) })
    }
}

/// The tokens in which something may happen, or which are longer than `most` characters.
fn tokens_to_read(
    vocabulary: &Vocabulary,
    lexer: &mut Lexer,
    start: RegexId,
    explored: &Explored,
    most: Option<u32>,
) -> TokenBits {
    let Vocabulary { trie, atoms, characters, .. } = vocabulary;
    // Parts of characters are no atoms to explore by.
    let mut read = atoms.tokens_with(STRAY);
    let without_longer = |tokens: &mut TokenBits, most: u32| {
        let mut short = tokens.clone();
        characters.keep_up_to(&mut short, most);
        tokens.subtract(&short);
    };
    for Need { before, events, length } in explored.needs(0) {
        let mut tokens = atoms.tokens_with(events);
        if before != 0 {
            tokens.intersect(&atoms.tokens_with_all(before));
        }
        if length > 1 {
            without_longer(&mut tokens, length);
        }
        read.union(&tokens);
    }
    for child in trie.children(Trie::ROOT) {
        let byte = trie.byte(child);
        if atoms_with_byte(byte) & explored.events[0] != 0 && lexer.step(start, byte) != DEAD {
            for &token in below(trie, child) {
                read.insert(token);
            }
        }
    }
    if let Some(most) = most {
        let mut long = atoms.tokens_within(!STRAY);
        without_longer(&mut long, most);
        read.union(&long);
    }
    read
}
