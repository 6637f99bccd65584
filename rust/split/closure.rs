//! Sets of states that a machine does not leave, and the atoms it stays on.
//!
//! From a state inside a JSON string every plain character leads back into the string. If the
//! atoms of a token are all of that kind, the token is alive without being walked. [`find`] looks
//! for the greatest set of atoms it can for which a small set of states around the given one is
//! closed: every atom leads from every state of the set into the set.

use rustc_hash::FxHashMap;

use super::machine::{ByteMachine, is_dead};
use crate::index::RegexId;
use crate::lexer::{EPSILON, Lexer};
use crate::vocab::atoms::{Atoms, CHARACTERS, Sequence, ascii_groups, character_atom};

/// The most states of a closed set.
const MAX_STATES: usize = 8;

/// A closed set of states around a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closure {
    /// The atoms that lead from the set into the set. Tokens made of these alone stay alive.
    pub atoms: Atoms,
    /// Whether the machine may end in some state of the set.
    pub accepts: bool,
}

/// Closures that are not known yet are found only if they may spare so many tokens a walk.
const WORTH: usize = 256;

/// The closure of a state, if it is known or may spare many tokens; else an empty one.
pub(crate) fn find_if_worth<M: ByteMachine>(
    known: &mut FxHashMap<M::State, Closure>,
    machine: &mut M,
    state: M::State,
    tokens: usize,
) -> Closure {
    match known.get(&state) {
        Some(&closure) => closure,
        None if tokens < WORTH => Closure::default(),
        None => {
            let closure = find(machine, state);
            known.insert(state, closure);
            closure
        }
    }
}

/// The closure of a state that is alive.
pub fn find<M: ByteMachine>(machine: &mut M, start: M::State) -> Closure {
    if machine.ends_soon(start) {
        return Closure::default();
    }
    let mut atoms = Atom::all(machine);
    let mut targets = Vec::new();
    atoms.retain(|atom| atom.targets(machine, start, &mut targets));
    let mut others: Vec<M::State> = targets.into_iter().filter(|&state| state != start).collect();
    others.sort_unstable();
    others.dedup();
    if others.len() > MAX_STATES * 4 {
        return Closure::default();
    }
    // An atom like a quote or a backslash leads where most others can't follow. Kept, it would
    // drive them all out; so it goes first.
    let lost = |machine: &mut M, state: M::State| {
        atoms.iter().filter(|atom| !atom.targets(machine, state, &mut Vec::new())).count()
    };
    let poisonous: Vec<M::State> =
        others.into_iter().filter(|&state| lost(machine, state) * 4 > atoms.len()).collect();
    atoms.retain(|atom| {
        let mut targets = Vec::new();
        atom.targets(machine, start, &mut targets);
        !targets.iter().any(|target| poisonous.contains(target))
    });
    let mut states = vec![start];
    let mut next = 0;
    while let Some(&state) = states.get(next) {
        next += 1;
        atoms.retain(|atom| {
            let mut targets = Vec::new();
            if !atom.targets(machine, state, &mut targets) {
                return false;
            }
            targets.retain(|target| !states.contains(target));
            targets.sort_unstable();
            targets.dedup();
            let fits = states.len() + targets.len() <= MAX_STATES;
            if fits {
                states.extend(targets);
            }
            fits
        });
    }
    Closure {
        atoms: atoms.iter().fold(0, |set, atom| set | atom.bit()),
        accepts: states.iter().any(|&state| machine.accepts(state)),
    }
}

/// What atoms are to an expression that is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// The atoms all of whose texts are texts of the expression.
    pub atoms: Atoms,
    /// Whether no text of the expression begins another: then a text is cut in one way only.
    pub prefix_free: bool,
}

/// The most states of an expression that is asked whether its texts begin others.
const MAX_UNIT_STATES: usize = 64;

/// The atoms that are texts of what is left in a state.
pub fn units(lexer: &mut Lexer, state: RegexId) -> Units {
    let mut units = Units { atoms: 0, prefix_free: is_prefix_free(lexer, state) };
    let mut targets = Vec::new();
    for atom in Atom::all(lexer) {
        targets.clear();
        if atom.targets(lexer, state, &mut targets)
            && targets.iter().all(|&target| lexer.accepts(target))
        {
            units.atoms |= atom.bit();
        }
    }
    units
}

fn is_prefix_free(lexer: &mut Lexer, start: RegexId) -> bool {
    let mut states = vec![start];
    let mut next = 0;
    while let Some(&state) = states.get(next) {
        next += 1;
        if lexer.accepts(state) && state != EPSILON || states.len() > MAX_UNIT_STATES {
            return false;
        }
        let mut seen = [false; 256];
        for byte in lexer.first(state).iter() {
            if std::mem::replace(&mut seen[usize::from(lexer.class(byte))], true) {
                continue;
            }
            let target = lexer.step(state, byte);
            if !is_dead(target) && !states.contains(&target) {
                states.push(target);
            }
        }
    }
    true
}

pub(super) enum Atom {
    Ascii(Atoms, &'static [u8]),
    /// A group of [`CHARACTERS`]: for each of its sequences the bytes at each place.
    Characters(Atoms, Vec<Vec<Vec<u8>>>),
}

impl Atom {
    /// All atoms, with bytes that a machine tells apart.
    ///
    /// PERF: looking for the bytes of characters that are told apart again for each state took 42 %
    /// of the instructions of exploring states.
    pub(super) fn all<M: ByteMachine>(machine: &M) -> Vec<Self> {
        let ascii = ascii_groups().filter(|(_, bytes)| !bytes.is_empty());
        let characters = CHARACTERS.iter().enumerate().map(|(group, &(length, sequences))| {
            let of_sequence = |&(low, high, follow_low, follow_high): &Sequence| {
                let more = std::iter::repeat_n((0x80, 0xbf), length - 2);
                let ranges = [(low, high), (follow_low, follow_high)].into_iter().chain(more);
                ranges.map(|(low, high)| different_bytes(machine, low, high)).collect()
            };
            Self::Characters(character_atom(group), sequences.iter().map(of_sequence).collect())
        });
        ascii.map(|(bit, bytes)| Self::Ascii(bit, bytes)).chain(characters).collect()
    }

    pub(super) fn bit(&self) -> Atoms {
        match self {
            Self::Ascii(bit, _) | Self::Characters(bit, _) => *bit,
        }
    }

    /// Adds the states after the atom's texts; false if one of them is dead.
    pub(super) fn targets<M: ByteMachine>(
        &self,
        machine: &mut M,
        state: M::State,
        targets: &mut Vec<M::State>,
    ) -> bool {
        match self {
            Self::Ascii(_, bytes) => bytes.iter().all(|&byte| {
                let next = machine.step(state, byte);
                targets.push(next);
                !is_dead(next)
            }),
            Self::Characters(_, sequences) => sequences.iter().all(|places| {
                let mut states = vec![state];
                for bytes in places {
                    states = distinct_steps(machine, &states, bytes);
                    if states.iter().any(|&state| is_dead(state)) {
                        return false;
                    }
                }
                targets.extend_from_slice(&states);
                true
            }),
        }
    }
}

/// One byte of each class in a range.
fn different_bytes<M: ByteMachine>(machine: &M, low: u8, high: u8) -> Vec<u8> {
    let mut seen = [false; 256];
    let is_new = |byte: &u8| !std::mem::replace(&mut seen[usize::from(machine.class(*byte))], true);
    (low..=high).filter(is_new).collect()
}

/// The states after some bytes, each once; they end with a dead one.
fn distinct_steps<M: ByteMachine>(
    machine: &mut M,
    states: &[M::State],
    bytes: &[u8],
) -> Vec<M::State> {
    let mut next: Vec<M::State> = Vec::new();
    for &byte in bytes {
        for &state in states {
            let target = machine.step(state, byte);
            if !next.contains(&target) {
                next.push(target);
            }
            if is_dead(target) {
                return next;
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::{Lexer, RegexSet};
    use crate::vocab::atoms::atoms_with_byte;

    /// The inside of a JSON string: plain characters, or `\` and one of a few; then a quote.
    fn string() -> (Lexer, crate::index::RegexId) {
        let mut s = RegexSet::default();
        let plain = s.class(&[(' ', '!'), ('#', '['), (']', char::MAX)]);
        let backslash = s.literal(b"\\");
        let escaped = s.bytes(b"\"\\nt".iter().copied().collect());
        let escape = s.concat(backslash, escaped);
        let either = s.or(&[plain, escape]);
        let many = s.repeat(either, 0, None);
        let quote = s.literal(b"\"");
        let rest = s.concat(many, quote);
        (Lexer::new(s), rest)
    }

    #[test]
    fn plain_characters_stay_in_a_string() {
        let (mut lexer, q) = string();
        let closure = find(&mut lexer, q);
        for byte in b"aZ0 {}:,." {
            assert_ne!(closure.atoms & atoms_with_byte(*byte), 0, "{}", char::from(*byte));
        }
        for byte in b"\"\\\n" {
            assert_eq!(closure.atoms & atoms_with_byte(*byte), 0, "{}", char::from(*byte));
        }
        for group in 0..CHARACTERS.len() {
            assert_ne!(closure.atoms & character_atom(group), 0);
        }
        assert!(!closure.accepts);
    }

    #[test]
    fn a_first_letter_leads_into_the_loop() {
        let mut s = RegexSet::default();
        let letter = s.class(&[('a', 'z')]);
        let word = s.repeat(letter, 1, None);
        let mut lexer = Lexer::new(s);
        let closure = find(&mut lexer, word);
        assert!(closure.accepts);
        assert_ne!(closure.atoms & atoms_with_byte(b'q'), 0);
        assert_eq!(closure.atoms & (atoms_with_byte(b'Q') | character_atom(1)), 0);
    }

    #[test]
    fn some_characters_of_a_length_are_not_all() {
        let mut s = RegexSet::default();
        let some = s.class(&[('a', 'z'), ('à', 'ÿ')]);
        let many = s.repeat(some, 0, None);
        let mut lexer = Lexer::new(s);
        assert_eq!(find(&mut lexer, many).atoms & character_atom(1), 0);
    }
}
