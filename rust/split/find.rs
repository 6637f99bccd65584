//! Finding a split with nothing to start from but the vocabulary.
//!
//! Takes a lexer state and a subtree; gives the [`Split`]. Which way is taken depends on how many
//! tokens have to be read: few are walked one by one, most are told by their atoms.

use super::closure::{self, Closure, Units};
use super::escapes::{self, Reading};
use super::walk::{Everything, Found, Shortcuts, Visit, walk, walk_few, walk_nodes};
use super::{Closures, Ends, MAX_FEW, MAX_READ, Split, TokenSet, starts_many};
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::{self, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{ascii_groups, atoms_with_bytes, bytes_of_atoms};
use crate::vocab::trie::Trie;

/// If more tokens than this are to be read, it is looked for why so many.
const MANY_READ: usize = 7_000;

impl Reading {
    /// The tokens that are not within one of the closures' atoms are read.
    fn of_closures(
        vocabulary: &Vocabulary,
        lexer: &Lexer,
        state: RegexId,
        closures: &[Closure],
    ) -> Option<Self> {
        let atoms = &vocabulary.atoms;
        let (closure, more) = closures.split_first()?;
        // Tokens with an atom that occurs nowhere are dead, or the lexeme ends before it.
        let alphabet = atoms_with_bytes(&lexer.regexes().alphabet(state));
        let mut read = atoms.tokens_with(alphabet & !closure.atoms);
        let mut alive = atoms.tokens_within(closure.atoms);
        for closure in more {
            read.intersect(&atoms.tokens_with(alphabet & !closure.atoms));
            alive.union(&atoms.tokens_within(closure.atoms));
        }
        Some(Self { alive, read })
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
                let closures = steady(vocabulary, lexer, state);
                closure = closures.first().copied().unwrap_or_default();
                if closure.atoms != 0
                    && let Some(split) = Self::of_others(vocabulary, lexer, state, &closures)
                {
                    return split;
                }
            }
            if closure.atoms == 0 {
                if let Some(split) = Self::of_few(vocabulary, lexer, root, state) {
                    return split;
                }
                closure = closure_of(lexer, state, u32::MAX, usize::MAX);
                let closures = [closure];
                let closures = if closure.atoms == 0 { &[][..] } else { &closures };
                if whole && let Some(split) = Self::of_others(vocabulary, lexer, state, closures) {
                    return split;
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

    /// The split of all tokens, of which only those are read that closures don't cover, or in which
    /// something may happen; `None` if they are too many. If a closure accepts it is the only one.
    fn of_others(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        closures: &[Closure],
    ) -> Option<Self> {
        let covered = Reading::of_closures(vocabulary, lexer, state, closures);
        let overlap = closures.iter().find(|closure| closure.accepts).copied();
        let count = covered.as_ref().map_or(usize::MAX, |reading| reading.read.count());
        let mut best = covered.filter(|_| count <= MAX_READ);
        if count > MANY_READ && overlap.is_none() {
            let found = escapes::find(vocabulary, lexer, state);
            let found = found.filter(|found| found.read.count() < count.min(MAX_READ));
            best = found.or(best);
        }
        Some(Self::of_reading(vocabulary, lexer, state, best?, overlap))
    }

    /// The split of all tokens, of which some are read. Those that end within others are among them,
    /// but for those that `overlap` covers.
    fn of_reading(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        reading: Reading,
        overlap: Option<Closure>,
    ) -> Self {
        let trie = &vocabulary.trie;
        let Reading { alive: mut bits, read } = reading;
        let nodes = vocabulary.paths.nodes_of(read.iter());
        let mut ends = Vec::new();
        let mut visits = Vec::new();
        let step = |state, byte| Some(lexer.step(state, byte)).filter(|&next| next != lexer::DEAD);
        walk_nodes(trie, &vocabulary.paths, &nodes, state, step, |visit| visits.push(visit));
        for Visit { node, depth, state, listed } in visits {
            if listed {
                trie.tokens_at(node).iter().for_each(|&token| bits.insert(token));
            }
            if lexer.accepts(state) && !trie.is_leaf(node) {
                ends.push((node, depth));
            }
        }
        let inside = TokenSet::of_bits(bits, vocabulary);
        let ends = Ends::new(trie, ends, overlap.is_some());
        Self { inside, overlap: overlap.unwrap_or_default(), ends }
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
        Self { inside, overlap, ends: Ends::new(trie, found.ends, found.hidden_ends) }
    }
}

/// Atoms that a state stays alive with, as far as its shape tells; several where it stays alive
/// without any one of some atoms, and then it ends within none of them.
///
/// PERF: names without `hipchat` or `github` in them took 19 ms, walked by all tokens; now 8.
fn steady(vocabulary: &Vocabulary, lexer: &mut Lexer, state: RegexId) -> Vec<Closure> {
    let mut units = |lexer: &mut Lexer, part| units(vocabulary, lexer, part).atoms;
    let mut closure = |lexer: &mut Lexer, without| {
        let atoms = lexer.steady(state, without, &bytes_of_atoms, &mut units);
        let accepts = lexer.regexes().may_end_within(state, &bytes_of_atoms(atoms));
        Closure { atoms, accepts }
    };
    let whole = closure(lexer, 0);
    if whole.atoms != 0 {
        return vec![whole];
    }
    if !lexer.regexes().takes_away(state) {
        return Vec::new();
    }
    let mut closures: Vec<Closure> = ascii_groups().map(|(atom, _)| closure(lexer, atom)).collect();
    closures.retain(|closure| closure.atoms != 0 && !closure.accepts);
    closures
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
