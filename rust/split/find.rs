//! Finding a split with nothing to start from but the vocabulary.
//!
//! Takes a lexer state and a subtree; gives the [`Split`]. Which way is taken depends on how many
//! tokens have to be read: few are walked one by one, most are told by their atoms.

use super::closure::{self, Closure, Units};
use super::walk::{Everything, Found, Shortcuts, Visit, walk, walk_few, walk_nodes};
use super::{Closures, Ends, MAX_FEW, MAX_READ, Split, TokenSet, starts_many};
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::Lexer;
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{atoms_with_bytes, bytes_of_atoms};
use crate::vocab::bits::TokenBits;
use crate::vocab::trie::Trie;

/// Where a closure leaves no more than one of so many tokens they are read, without a look at what
/// happens.
const FEW_READ: usize = 20;

/// Tokens by what is to be done to know whether they are alive; all others are dead.
struct Reading {
    /// They are alive.
    alive: TokenBits,
    /// They have to be read.
    read: TokenBits,
}

impl Reading {
    /// The tokens that are not within a closure's atoms are read.
    fn of_closure(
        vocabulary: &Vocabulary,
        lexer: &Lexer,
        state: RegexId,
        closure: Closure,
    ) -> Self {
        // Tokens with an atom that occurs nowhere are dead, or the lexeme ends before it.
        let alphabet = atoms_with_bytes(&lexer.regexes().alphabet(state));
        let read = vocabulary.atoms.tokens_with(alphabet & !closure.atoms);
        Self { alive: vocabulary.atoms.tokens_within(closure.atoms), read }
    }
}

impl Split {
    /// Splits the tokens below `root` (a node and its depth) from a lexer state.
    pub fn new(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        closures: &mut Closures,
        root: (NodeId, u32),
        state: RegexId,
        shortcuts: bool,
    ) -> Self {
        let trie = &vocabulary.trie;
        let mut found = Found::default();
        let mut closure_of = |lexer: &mut Lexer, state: RegexId, height: u32, tokens: usize| {
            let state = lexer.clamp(state, height);
            closure::find_if_worth(closures, lexer, state, tokens)
        };
        let mut base = None;
        let mut overlap = Closure::default();
        if shortcuts {
            let whole = root.0 == Trie::ROOT;
            let mut closure = Closure::default();
            if whole && starts_many(trie, lexer.first(state)) {
                closure = steady(vocabulary, lexer, state);
                if closure.atoms != 0 {
                    let reading = Reading::of_closure(vocabulary, lexer, state, closure);
                    if !reading.read.has_more_than(vocabulary.len() / FEW_READ) {
                        return Self::of_reading(vocabulary, lexer, state, &reading, closure);
                    }
                }
                if let Some(split) = Self::of_places(vocabulary, lexer, state) {
                    return split;
                }
            }
            if closure.atoms == 0 {
                if let Some(split) = Self::of_few(vocabulary, lexer, root, state) {
                    return split;
                }
                closure = closure_of(lexer, state, u32::MAX, usize::MAX);
            }
            if whole && closure.atoms != 0 {
                let reading = Reading::of_closure(vocabulary, lexer, state, closure);
                if !reading.read.has_more_than(MAX_READ) {
                    return Self::of_reading(vocabulary, lexer, state, &reading, closure);
                }
            }
            if closure.accepts {
                overlap = closure;
            }
            if root.0 == Trie::ROOT && closure.atoms != 0 {
                base = Some((closure, vocabulary.atoms.tokens_within(closure.atoms)));
            }
            let shortcuts = Shortcuts {
                atoms: &vocabulary.atoms,
                covered: base.as_ref().map(|(closure, _)| *closure),
                closure: closure_of,
            };
            walk(lexer, trie, root, state, Some(shortcuts), &mut found);
        } else {
            walk(lexer, trie, root, state, Everything::None, &mut found);
        }
        let alive = found.alive.iter().flat_map(|range| trie.slice(range)).copied();
        let base = base.map(|(_, bits)| bits);
        let inside = TokenSet::new(alive, found.alive.count(), vocabulary, base);
        Self::from_parts(inside, overlap, trie, found)
    }

    /// The split of all tokens, of which only those are read that a closure doesn't cover.
    fn of_reading(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        Reading { alive, read }: &Reading,
        closure: Closure,
    ) -> Self {
        let trie = &vocabulary.trie;
        let mut bits = alive.clone();
        let nodes = vocabulary.paths.nodes_of(read.iter());
        let mut ends = Vec::new();
        let tree = (trie, &vocabulary.paths);
        walk_nodes(
            lexer,
            tree,
            &nodes,
            (state, ()),
            |_, (), _| (),
            |lexer, Visit { node, depth, state: (state, ()), listed }| {
                if listed {
                    trie.tokens_at(node).iter().for_each(|&token| bits.insert(token));
                }
                if !trie.is_leaf(node) && lexer.accepts(state) {
                    ends.push((node, depth));
                }
            },
        );
        let inside = TokenSet::of_bits(bits, vocabulary);
        // Within what the closure covers the lexeme may end too.
        let overlap = if closure.accepts { closure } else { Closure::default() };
        Self { inside, overlap, ends: Ends::new(trie, ends, closure.accepts) }
    }

    /// The split of the tokens below `root`, if few of them are alive.
    fn of_few(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        root: (NodeId, u32),
        state: RegexId,
    ) -> Option<Self> {
        let trie = &vocabulary.trie;
        let mut alive: Vec<TokenId> = Vec::new();
        let mut ends = Vec::new();
        let start = (state, ());
        walk_few(
            lexer,
            trie,
            root,
            start,
            MAX_FEW,
            |_, (), _| (),
            |lexer, visit| {
                alive.extend_from_slice(trie.tokens_at(visit.node));
                if !trie.is_leaf(visit.node) && lexer.accepts(visit.state.0) {
                    ends.push((visit.node, visit.depth));
                }
            },
        )?;
        let count = alive.len();
        let inside = TokenSet::new(alive.into_iter(), count, vocabulary, None);
        Some(Self { inside, overlap: Closure::default(), ends: Ends::new(trie, ends, false) })
    }

    /// Splits remainders from a lexer state.
    pub(super) fn of_remainders(
        vocabulary: &Vocabulary,
        remainders: &Trie,
        lexer: &mut Lexer,
        state: RegexId,
    ) -> Self {
        let mut found = Found::default();
        walk(lexer, remainders, (Trie::ROOT, 0), state, Everything::None, &mut found);
        let alive = found.alive.iter().flat_map(|range| remainders.slice(range)).copied();
        let inside = TokenSet::new(alive, found.alive.count(), vocabulary, None);
        Self::from_parts(inside, Closure::default(), remainders, found)
    }

    fn from_parts(inside: TokenSet, overlap: Closure, trie: &Trie, found: Found) -> Self {
        Self { inside, overlap, ends: Ends::new(trie, found.ends.into_vec(), found.hidden_ends) }
    }
}

/// Atoms that a state stays alive with, as far as its shape tells.
fn steady(vocabulary: &Vocabulary, lexer: &mut Lexer, state: RegexId) -> Closure {
    let mut units = |lexer: &mut Lexer, part| units(vocabulary, lexer, part).atoms;
    let atoms = lexer.steady(state, &bytes_of_atoms, &mut units);
    let accepts = lexer.regexes().may_end_within(state, &bytes_of_atoms(atoms));
    Closure { atoms, accepts }
}

/// The atoms that are texts of an expression.
pub(super) fn units(vocabulary: &Vocabulary, lexer: &mut Lexer, part: RegexId) -> Units {
    let identity = lexer.regexes().identity(part);
    vocabulary.splits.units(identity).unwrap_or_else(|| {
        let units = closure::units(lexer, part);
        vocabulary.splits.insert_units(identity, units);
        units
    })
}
