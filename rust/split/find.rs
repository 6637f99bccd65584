//! Finding a split with nothing to start from but the vocabulary.
//!
//! Takes a lexer state and a subtree; gives the [`Split`]. Which way is taken depends on how many
//! tokens have to be read: few are walked one by one, most are told by their atoms.

use super::closure::{self, Closure, Units};
use super::escapes::{self, Reading};
use super::walk::{Everything, Found, Shortcuts, Visit, walk, walk_few, walk_nodes};
use super::{Closures, Ends, MAX_FEW, MAX_READ, Split, TokenSet, starts_many};
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::Lexer;
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{atoms_with_bytes, bytes_of_atoms};
use crate::vocab::trie::Trie;

/// Where a state stays alive with fewer atoms, walks end soon.
const WIDE: u32 = 40;
/// Where a closure leaves no more than one of so many tokens they are read, without a look at what
/// happens.
const FEW_READ: usize = 20;
/// If more nodes than one for so many tokens are to be read, it is looked for why so many.
const FEW_VISITS: usize = 3;

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
        Self { alive: vocabulary.atoms.tokens_within(closure.atoms), read, home: None }
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
                    let overlap = closure.accepts.then_some(closure);
                    if !reading.read.has_more_than(vocabulary.len() / FEW_READ)
                        && let Some(split) = Self::of_reading(
                            vocabulary,
                            lexer,
                            state,
                            &reading,
                            overlap,
                            usize::MAX,
                        )
                    {
                        return split;
                    }
                }
                if let Some(split) = Self::of_places(vocabulary, lexer, state) {
                    return split;
                }
                if closure.atoms != 0
                    && let Some(split) = Self::of_others(vocabulary, lexer, state, closure)
                {
                    return split;
                }
            }
            if closure.atoms == 0 {
                if let Some(split) = Self::of_few(vocabulary, lexer, root, state) {
                    return split;
                }
                closure = closure_of(lexer, state, u32::MAX, usize::MAX);
                if whole && let Some(split) = Self::of_others(vocabulary, lexer, state, closure) {
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

    /// The split of all tokens, of which only those are read that a closure doesn't cover, or in
    /// which something may happen; `None` if they are too many.
    ///
    /// PERF: where many are not covered by a closure, it is looked for what happens (see
    /// [`escapes`]): masks of `(\S+\s+){0,9}\S+` of at most 120 characters, of twelve characters with
    /// a digit and of names without a word took 9, 6 and 10 ms, now 4, 2 and 8.
    fn of_others(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        closure: Closure,
    ) -> Option<Self> {
        let covered = Reading::of_closure(vocabulary, lexer, state, closure);
        let overlap = closure.accepts.then_some(closure);
        // Whether more tokens than a closure tells may stay alive whatever they hold.
        let wide = if closure.atoms == 0 {
            lexer.regexes_mut().counted_meet(state).is_some()
        } else {
            closure.atoms.count_ones() >= WIDE && !closure.accepts
        };
        let few = if wide { vocabulary.len() / FEW_VISITS } else { usize::MAX };
        let readable = closure.atoms != 0 && covered.read.count() <= MAX_READ;
        if readable
            && let Some(split) = Self::of_reading(vocabulary, lexer, state, &covered, overlap, few)
        {
            return Some(split);
        }
        if !wide {
            return None;
        }
        let found = escapes::find(vocabulary, lexer, state);
        let found = found.filter(|found| found.read.count() < covered.read.count().min(MAX_READ));
        let reading = found.or_else(|| readable.then_some(covered))?;
        Self::of_reading(vocabulary, lexer, state, &reading, overlap, usize::MAX)
    }

    /// The split of all tokens, of which some are read, at most so many of the nodes that lead to
    /// them. The lexeme ends within no others but for those that `overlap` covers.
    fn of_reading(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        Reading { alive, read, home }: &Reading,
        overlap: Option<Closure>,
        most: usize,
    ) -> Option<Self> {
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
            most,
            |_, (), _| (),
            |lexer, visit| {
                let Visit { node, depth, state: (state, ()), listed } = visit;
                if listed {
                    trie.tokens_at(node).iter().for_each(|&token| bits.insert(token));
                }
                if trie.is_leaf(node) {
                    return true;
                }
                if lexer.accepts(state) {
                    ends.push((node, depth));
                }
                let below = vocabulary.atoms.below(node);
                let is_quiet = home.as_ref().is_some_and(|home| home.is_quiet(state, below));
                if is_quiet {
                    for &token in trie.slice(trie.range_below(node)) {
                        bits.insert(token);
                    }
                }
                !is_quiet
            },
        )?;
        let inside = TokenSet::of_bits(bits, vocabulary);
        let ends = Ends::new(trie, ends, overlap.is_some());
        Some(Self { inside, overlap: overlap.unwrap_or_default(), ends })
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
