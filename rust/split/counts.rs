//! Counted repetition: one look at the vocabulary for all bounds.
//!
//! In `x{m,n} y` a token either stays within the repetitions, having begun so many of them, or goes
//! on into `y` after so many. If texts of x and y can't be confused, each token has one such count,
//! and all that bounds do is to compare with it. Most tokens need not even be read: if every
//! character of theirs is an x, they have as many as characters.

use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use super::closure::{Closure, Units};
use super::walk::{End, Visit, walk_few, walk_nodes};
use super::{Ends, MAX_FEW, MAX_READ, Split, TokenSet};
use crate::byteset::ByteSet;
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::{Counted, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{Atoms, atoms_with_bytes};
use crate::vocab::trie::Trie;

/// How often something is repeated within tokens and before the ends of lexemes within them.
#[derive(Debug)]
pub(super) struct Counts {
    /// The atoms that are one repetition each.
    atoms: Atoms,
    /// Other tokens that stay alive, in ascending order.
    tokens: Vec<(TokenId, Count)>,
    /// The nodes where the lexeme may end.
    ends: Vec<(End, u32)>,
    /// All tokens that stay alive where there are no bounds; not kept if they are all in `tokens`.
    unbounded: TokenSet,
    /// Those within some bounds.
    bounded: RwLock<FxHashMap<(u32, u32), Arc<Ends>>>,
}

/// How many repetitions have begun.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// More may follow.
    Within(u32),
    /// No more follow.
    Behind(u32),
}

impl Count {
    /// The count after a byte, which comes between two repetitions or not; these begin with `first`.
    fn after(self, byte: u8, between: bool, first: &ByteSet) -> Self {
        match self {
            Self::Within(count) if between && first.contains(byte) => Self::Within(count + 1),
            Self::Within(count) if between => Self::Behind(count),
            count => count,
        }
    }

    fn fits(self, min: u32, max: Option<u32>) -> bool {
        let fits = |count| max.is_none_or(|max| count <= max);
        match self {
            Self::Within(count) => fits(count),
            Self::Behind(count) => count >= min && fits(count),
        }
    }
}

impl Counts {
    /// The counts of an expression without bounds; `None` if a token may have more than one, or if
    /// too many have to be read.
    pub(super) fn find(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        counted: Counted,
        units: Units,
    ) -> Option<Self> {
        if !units.prefix_free || units.atoms == 0 {
            return None;
        }
        let regexes = lexer.regexes();
        let others = atoms_with_bytes(&regexes.alphabet(counted.whole)) & !units.atoms;
        let read = vocabulary.atoms.tokens_with(others);
        if read.count() > MAX_READ {
            return None;
        }
        let first: ByteSet = *regexes.first(counted.part);
        let mut counts = Self::new(units.atoms);
        let nodes = vocabulary.paths.nodes_of(read.iter());
        let trie = &vocabulary.trie;
        let start = (counted.whole, Count::Within(0));
        let step = |state, count: Count, byte| count.after(byte, state == counted.whole, &first);
        let tree = (trie, &vocabulary.paths);
        walk_nodes(lexer, tree, &nodes, start, step, |lexer, visit| {
            counts.note(trie, lexer, visit);
        });
        counts.tokens.sort_unstable_by_key(|&(token, _)| token);
        let mut bits = vocabulary.atoms.tokens_within(units.atoms);
        counts.tokens.iter().for_each(|&(token, _)| bits.insert(token));
        counts.unbounded = TokenSet::of_bits(bits, vocabulary);
        Some(counts)
    }

    /// The counts in what is left of tokens below a node, all of which is read; `None` if one may
    /// have more than one, or if there are too many.
    ///
    /// PERF: below a quote, each of the bounds of `"x{m,n}"` took 200 to 500 µs.
    pub(super) fn find_below(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        root: (NodeId, u32),
        counted: Counted,
        units: Units,
    ) -> Option<Self> {
        let trie = &vocabulary.trie;
        if !units.prefix_free || trie.count_below(root.0) > MAX_FEW {
            return None;
        }
        let first: ByteSet = *lexer.regexes().first(counted.part);
        let mut counts = Self::new(0);
        let start = (counted.whole, Count::Within(0));
        let step = |state, count: Count, byte| count.after(byte, state == counted.whole, &first);
        walk_few(lexer, trie, root, start, usize::MAX, step, |lexer, visit| {
            counts.note(trie, lexer, visit);
        })?;
        Some(counts)
    }

    fn new(atoms: Atoms) -> Self {
        Self {
            atoms,
            tokens: Vec::new(),
            ends: Vec::new(),
            unbounded: TokenSet::List(Box::default()),
            bounded: RwLock::default(),
        }
    }

    fn note(&mut self, trie: &Trie, lexer: &Lexer, visit: Visit<(RegexId, Count)>) {
        let Visit { node, depth, state: (state, count), listed } = visit;
        if listed {
            self.tokens.extend(trie.tokens_at(node).iter().map(|&token| (token, count)));
        }
        if let Count::Behind(count) = count
            && lexer.accepts(state)
            && !trie.is_leaf(node)
        {
            self.ends.push(((node, depth), count));
        }
    }

    /// The split for some bounds.
    pub(super) fn split(&self, vocabulary: &Vocabulary, min: u32, max: Option<u32>) -> Split {
        let inside = if self.atoms == 0 {
            let fits = self.tokens.iter().filter(|(_, count)| count.fits(min, max));
            let count = fits.clone().count();
            TokenSet::new(fits.map(|&(token, _)| token), count, vocabulary, None)
        } else {
            self.inside(vocabulary, min, max)
        };
        let ends = self.ends(vocabulary, min, max);
        Split { inside, overlap: Closure::default(), ends }
    }

    /// PERF: bits of their own for each of the bounds took 150,000 instructions, and the memory.
    fn inside(&self, vocabulary: &Vocabulary, min: u32, max: Option<u32>) -> TokenSet {
        let unfit = self.tokens.iter().filter(|(_, count)| !count.fits(min, max));
        let mut unfit: Vec<TokenId> = unfit.map(|&(token, _)| token).collect();
        let is_counted = |token| self.tokens.binary_search_by_key(&token, |&(id, _)| id).is_ok();
        if let Some(max) = max {
            let Some(longer) = vocabulary.characters.longer_than(max) else {
                let mut bits = vocabulary.atoms.tokens_within(self.atoms);
                vocabulary.characters.keep_up_to(&mut bits, max);
                let fits = self.tokens.iter().filter(|(_, count)| count.fits(min, Some(max)));
                fits.for_each(|&(token, _)| bits.insert(token));
                return TokenSet::of_bits(bits, vocabulary);
            };
            unfit.extend(
                longer.filter(|&token| self.unbounded.contains(token) && !is_counted(token)),
            );
        }
        self.unbounded.less(&unfit)
    }

    /// The ends within some bounds; bounds that make no difference lead to the same ones.
    fn ends(&self, vocabulary: &Vocabulary, min: u32, max: Option<u32>) -> Arc<Ends> {
        let most = self.ends.iter().map(|&(_, count)| count).max().unwrap_or(0);
        let (min, max) = (min.min(most + 1), max.map_or(most, |max| max.min(most)));
        if let Some(known) = self.bounded.read().get(&(min, max)) {
            return Arc::clone(known);
        }
        let fits = |&&(_, count): &&(End, u32)| Count::Behind(count).fits(min, Some(max));
        let nodes = self.ends.iter().filter(fits).map(|&(end, _)| end).collect();
        let ends = Ends::new(&vocabulary.trie, nodes, false);
        Arc::clone(self.bounded.write().entry((min, max)).or_insert(ends))
    }

    /// Bytes of memory held.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.unbounded.memory_bytes()
            + self.tokens.capacity() * size_of::<(TokenId, Count)>()
            + self.ends.capacity() * size_of::<(End, u32)>()
    }
}
