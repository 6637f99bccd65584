//! Splits: what the vocabulary looks like from one lexer state. Knows no rules.
//!
//! Takes a lexer state q and a subtree of the token trie; gives a [`Split`]: the tokens that stay
//! *inside* q's lexeme to their end (legal whatever the grammar says next), and the *crossings*,
//! where the lexeme ends within a token and the grammar has to say whether the remainder can
//! follow. All other tokens are dead. A state that few tokens can go on with steps down the trie by
//! itself instead (see [`descent`]). A split depends on the vocabulary and q alone, so all
//! grammars share it (see [`store`]): a JSON string is split once.

pub mod closure;
mod counts;
mod crossing;
pub mod descent;
pub mod machine;
mod recent;
mod store;
pub mod walk;

pub use crossing::Crossing;
pub use store::SplitStore;

use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use crate::byteset::ByteSet;
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::{self, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{ascii_groups, atoms_with_bytes, bytes_of_atoms};
use crate::vocab::bits::TokenBits;
use crate::vocab::trie::Trie;
use closure::{Closure, Units};
use counts::Counts;
use store::Countable;
use walk::{End, Everything, Found, Shortcuts, Visit, walk, walk_few, walk_nodes};

/// If more tokens than this are to be read one by one, the whole trie is walked.
const MAX_READ: usize = 48_000;
/// Where no more tokens than this can go on, they are walked.
const FEW_TOKENS: usize = 2_000;
/// The most nodes that are walked straight, without asking what could be skipped.
const MAX_FEW: usize = 4_000;
/// The most steps to find out what exceptions change.
const MAX_DIFFERENCES: usize = 4_000;
/// Exceptions that begin with more bytes than this may begin anywhere.
const MAX_DIFFERING: usize = 128;
/// Sets that lack more than this of others have bits of their own.
const MAX_WITHOUT: usize = 256;

/// Closures by lexer state.
pub type Closures = FxHashMap<RegexId, Closure>;

/// A set of tokens: as bits if it is large, as a list if it is small.
#[derive(Debug)]
pub enum TokenSet {
    /// Any order.
    List(Box<[TokenId]>),
    /// As wide as a mask; others may hold the same.
    Bits {
        /// The tokens,
        bits: Arc<TokenBits>,
        /// and those of them that are not meant, in ascending order.
        without: Box<[TokenId]>,
    },
}

impl TokenSet {
    /// The tokens of `tokens`, `count` of them, and those of `base`.
    fn new(
        tokens: impl Iterator<Item = TokenId>,
        count: usize,
        vocabulary: &Vocabulary,
        base: Option<TokenBits>,
    ) -> Self {
        if base.is_none() && count <= vocabulary.mask_words() {
            return Self::List(tokens.collect());
        }
        let mut bits = base.unwrap_or_else(|| TokenBits::new(vocabulary.width()));
        tokens.for_each(|token| bits.insert(token));
        Self::of_bits(bits, vocabulary)
    }

    fn of_bits(bits: TokenBits, vocabulary: &Vocabulary) -> Self {
        if bits.count() <= vocabulary.mask_words() {
            Self::List(bits.iter().collect())
        } else {
            Self::Bits { bits: Arc::new(bits), without: Box::default() }
        }
    }

    /// Whether a token is in the set.
    fn contains(&self, token: TokenId) -> bool {
        match self {
            Self::List(list) => list.contains(&token),
            Self::Bits { .. } => self.contains_as_bits(token),
        }
    }

    /// The tokens of a small set.
    pub fn listed(&self) -> &[TokenId] {
        match self {
            Self::List(list) => list,
            Self::Bits { .. } => &[],
        }
    }

    /// Whether a token is one of a large set.
    pub fn contains_as_bits(&self, token: TokenId) -> bool {
        match self {
            Self::List(_) => false,
            Self::Bits { bits, without } => {
                bits.contains(token) && without.binary_search(&token).is_err()
            }
        }
    }

    /// The set without some of its tokens.
    ///
    /// PERF: the bits stay one for all sets that differ from them by a few tokens, as those of the
    /// names that an object has not had yet do.
    fn less(&self, dead: &[TokenId]) -> Self {
        match self {
            Self::List(list) => {
                Self::List(list.iter().copied().filter(|token| !dead.contains(token)).collect())
            }
            Self::Bits { bits, without } if without.len() + dead.len() <= MAX_WITHOUT => {
                let mut without = [&**without, dead].concat();
                without.sort_unstable();
                Self::Bits { bits: Arc::clone(bits), without: without.into() }
            }
            Self::Bits { bits, without } => {
                let mut bits = TokenBits::clone(bits);
                without.iter().chain(dead).for_each(|&token| bits.remove(token));
                Self::Bits { bits: Arc::new(bits), without: Box::default() }
            }
        }
    }

    /// Bytes of memory held, what others hold too left out.
    fn memory_bytes(&self) -> usize {
        match self {
            Self::List(list) => list.len() * 4,
            Self::Bits { bits, without } if Arc::strong_count(bits) == 1 => {
                (bits.words().len() + without.len()) * 4
            }
            Self::Bits { without, .. } => without.len() * 4,
        }
    }
}

/// One lexer state × one subtree of the trie.
#[derive(Debug)]
pub struct Split {
    /// The tokens that stay inside the lexeme to their end.
    pub inside: TokenSet,
    /// The atoms that keep the lexeme in a closed set of states in some of which it may end; 0 if
    /// there is no such set. A byte of these both goes on with the lexeme and may follow its end.
    pub overlap: Closure,
    ends: Arc<Ends>,
}

/// Where a lexeme ends within tokens.
#[derive(Debug)]
struct Ends {
    /// The bytes that may come next.
    after: ByteSet,
    /// In the order of the trie.
    nodes: Box<[End]>,
    /// Whether there are more.
    hidden: bool,
    /// By next byte; `None` where there are no such tokens.
    crossings: RwLock<FxHashMap<u8, Option<Arc<Crossing>>>>,
}

impl Ends {
    fn new(trie: &Trie, nodes: Vec<End>, hidden: bool) -> Arc<Self> {
        let mut after = ByteSet::EMPTY;
        for &(node, _) in &nodes {
            trie.children(node).for_each(|child| after.insert(trie.byte(child)));
        }
        if hidden {
            after.insert_range(0, 255);
        }
        Arc::new(Self { after, nodes: nodes.into(), hidden, crossings: RwLock::default() })
    }

    /// Those that are kept; the same ones if all are and no others need be looked for.
    fn retain(self: &Arc<Self>, trie: &Trie, keep: impl FnMut(&End) -> bool) -> Arc<Self> {
        let mut nodes = self.nodes.to_vec();
        nodes.retain(keep);
        if nodes.len() == self.nodes.len() && !self.hidden {
            Arc::clone(self)
        } else {
            Self::new(trie, nodes, self.hidden)
        }
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
                if let Some(split) = Self::of_others(vocabulary, lexer, state, &closures) {
                    return split;
                }
            }
            if closure.atoms == 0 {
                if let Some(split) = Self::of_few(vocabulary, lexer, root, state) {
                    return split;
                }
                closure = closure_of(lexer, state, u32::MAX, usize::MAX);
                if whole
                    && closure.atoms != 0
                    && let Some(split) = Self::of_others(vocabulary, lexer, state, &[closure])
                {
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

    /// The split of all tokens, those within one of the closures' atoms unread; `None` if too many
    /// others are to be read. If a closure accepts it is the only one.
    fn of_others(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        closures: &[Closure],
    ) -> Option<Self> {
        let trie = &vocabulary.trie;
        let atoms = &vocabulary.atoms;
        let (&closure, more) = closures.split_first()?;
        // Tokens with an atom that occurs nowhere are dead, or the lexeme ends before it.
        let alphabet = atoms_with_bytes(&lexer.regexes().alphabet(state));
        let mut read = atoms.tokens_with(alphabet & !closure.atoms);
        for closure in more {
            read.intersect(&atoms.tokens_with(alphabet & !closure.atoms));
        }
        if read.count() > MAX_READ {
            return None;
        }
        let nodes = vocabulary.paths.nodes_of(read.iter());
        let mut bits = atoms.tokens_within(closure.atoms);
        for closure in more {
            bits.union(&atoms.tokens_within(closure.atoms));
        }
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
        let overlap = if closure.accepts { closure } else { Closure::default() };
        let inside = TokenSet::of_bits(bits, vocabulary);
        Some(Self { inside, overlap, ends: Ends::new(trie, ends, closure.accepts) })
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

    /// The split of all tokens from `state`, made of this one, which is that of a state that goes on
    /// exactly as `state` does for `reach` bytes and allows at least as much after them (see
    /// [`Lexer::clamp`]): only longer tokens can differ.
    ///
    /// PERF: with a walk for each count of `[^"]{0,60}`, the masks of `grammars/chess.gbnf` on a
    /// vocabulary never used before took 190 µs in the mean, 24 with this.
    #[must_use]
    pub fn patched(
        &self,
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        reach: u32,
    ) -> Self {
        let reach = reach as usize;
        let is_dead = |lexer: &mut Lexer, token: TokenId| {
            lexer.run(state, vocabulary.token_bytes(token)) == lexer::DEAD
        };
        let longer = vocabulary.longer_than(reach);
        let dead: Vec<TokenId> = match &self.inside {
            TokenSet::List(list) => list
                .iter()
                .copied()
                .filter(|&token| {
                    vocabulary.token_bytes(token).len() > reach && is_dead(lexer, token)
                })
                .collect(),
            bits @ TokenSet::Bits { .. } => longer
                .filter(|&token| bits.contains_as_bits(token) && is_dead(lexer, token))
                .collect(),
        };
        let trie = &vocabulary.trie;
        let still_ends = |&(node, depth): &End| {
            if depth as usize <= reach {
                return true;
            }
            // Some token goes on from the node; its beginning leads there.
            let token = trie.slice(trie.range_below(node))[0];
            let end = lexer.run(state, &vocabulary.token_bytes(token)[..depth as usize]);
            end != lexer::DEAD && lexer.accepts(end)
        };
        let ends = self.ends.retain(trie, still_ends);
        Self { inside: self.inside.less(&dead), overlap: self.overlap, ends }
    }

    /// The split from `state`, made of this one, which is that of `whole`: what `state` is without
    /// its exceptions (see [`crate::lexer::RegexSet::with_exceptions`]). `None` if they differ in too much.
    ///
    /// PERF: with a walk for each object whose names may be any but those it knows, and for each
    /// letter of these, and another for each bound of a string, the masks of 600 JSON schemas took
    /// 15.7 µs in the mean, 294 in the worst of a hundred and 2,097 in the worst of a thousand; with
    /// this, `of_counted` and `of_others` 5.1, 50 and 275.
    pub fn with_exceptions(
        &self,
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        root: (NodeId, u32),
        state: RegexId,
        whole: RegexId,
    ) -> Option<Self> {
        let trie = &vocabulary.trie;
        let mut dead: Vec<TokenId> = Vec::new();
        // The nodes and subtrees where the lexeme does not end after all.
        let mut endless: Vec<(NodeId, NodeId)> = Vec::new();
        let mut open = vec![(root.0, state, whole)];
        let mut steps = 0;
        while let Some((node, state, whole)) = open.pop() {
            let bytes = lexer.regexes_mut().differing_bytes(state, whole);
            if bytes.len() > MAX_DIFFERING {
                return None;
            }
            trie.children_in(node, &bytes, |child| {
                steps += 1;
                let byte = trie.byte(child);
                let (state, whole) = (lexer.step(state, byte), lexer.step(whole, byte));
                if state == whole {
                    return;
                }
                if state == lexer::DEAD {
                    let (first, _) = trie.range_at(child);
                    let (_, end) = trie.range_below(child);
                    dead.extend_from_slice(trie.slice((first, end)));
                    endless.push((child, trie.end(child)));
                    return;
                }
                if lexer.accepts(whole) && !lexer.accepts(state) {
                    endless.push((child, NodeId(child.0 + 1)));
                }
                if !trie.is_leaf(child) {
                    open.push((child, state, whole));
                }
            });
            if steps > MAX_DIFFERENCES {
                return None;
            }
        }
        if let bits @ TokenSet::Bits { .. } = &self.inside {
            dead.retain(|&token| bits.contains_as_bits(token));
        }
        endless.sort_unstable();
        let still_ends = |&(node, _): &End| {
            let at = endless.partition_point(|&(_, end)| end <= node);
            endless.get(at).is_none_or(|&(first, _)| node < first)
        };
        let ends = self.ends.retain(trie, still_ends);
        Some(Self { inside: self.inside.less(&dead), overlap: self.overlap, ends })
    }

    /// Splits remainders from a lexer state.
    fn of_remainders(
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

    /// Whether the lexeme ends within no token.
    pub fn never_ends(&self) -> bool {
        self.ends.nodes.is_empty() && !self.ends.hidden
    }

    /// For each of `bytes` the tokens in which the lexeme ends and that byte comes next, those
    /// without such tokens left out. `root` and `state` are those the split was made for.
    pub fn crossings(
        &self,
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        root: (NodeId, u32),
        state: RegexId,
        bytes: &ByteSet,
    ) -> Vec<(u8, Arc<Crossing>)> {
        let trie = &vocabulary.trie;
        self.crossings_or(vocabulary, bytes, |missing| {
            let mut nodes = if self.ends.hidden {
                walk::nodes_after_end(lexer, trie, &vocabulary.atoms, root, state, missing)
            } else {
                self.nodes_after(trie, missing)
            };
            nodes.sort_by_key(|&(byte, _)| byte);
            group(&nodes, |nodes| Crossing::new(trie, nodes, true))
        })
    }

    /// The same for a split of a crossing's remainders.
    pub fn crossings_of_remainders(
        &self,
        vocabulary: &Vocabulary,
        remainders: &Trie,
        bytes: &ByteSet,
    ) -> Vec<(u8, Arc<Crossing>)> {
        self.crossings_or(vocabulary, bytes, |missing| {
            let mut nodes = self.nodes_after(remainders, missing);
            nodes.sort_by_key(|&(byte, _)| byte);
            group(&nodes, |nodes| Crossing::new(remainders, nodes, false))
        })
    }

    fn nodes_after(&self, trie: &Trie, bytes: &ByteSet) -> Vec<(u8, End)> {
        let mut nodes = Vec::new();
        for &(node, depth) in &self.ends.nodes {
            trie.children_in(node, bytes, |child| {
                nodes.push((trie.byte(child), (child, depth + 1)));
            });
        }
        nodes
    }

    fn crossings_or(
        &self,
        vocabulary: &Vocabulary,
        bytes: &ByteSet,
        find: impl FnOnce(&ByteSet) -> Vec<(u8, Crossing)>,
    ) -> Vec<(u8, Arc<Crossing>)> {
        let bytes = bytes.intersection(&self.ends.after);
        let mut found = Vec::new();
        let mut missing = ByteSet::EMPTY;
        {
            let known = self.ends.crossings.read();
            for byte in bytes.iter() {
                match known.get(&byte) {
                    Some(Some(crossing)) => found.push((byte, Arc::clone(crossing))),
                    Some(None) => {}
                    None => missing.insert(byte),
                }
            }
        }
        if missing.is_empty() {
            return found;
        }
        let new = find(&missing);
        let mut known = self.ends.crossings.write();
        for (byte, crossing) in new {
            vocabulary.splits.grow(crossing.memory_bytes());
            missing.remove(byte);
            let crossing = known.entry(byte).or_insert_with(|| Some(Arc::new(crossing)));
            found.extend(crossing.iter().map(|crossing| (byte, Arc::clone(crossing))));
        }
        for byte in missing.iter() {
            known.entry(byte).or_insert(None);
        }
        found
    }

    /// Forgets what hangs on it and has not been used for long.
    fn turn(&self, turn: u64) {
        self.ends.crossings.read().values().flatten().for_each(|crossing| crossing.turn(turn));
    }

    /// Bytes of memory held, what hangs on it included.
    fn kept_bytes(&self) -> usize {
        let crossings = self.ends.crossings.read();
        let kept = crossings.values().flatten().map(|crossing| crossing.kept_bytes());
        self.memory_bytes() + kept.sum::<usize>()
    }

    /// Bytes of memory held, without the crossings and what other splits hold too.
    fn memory_bytes(&self) -> usize {
        let own = Arc::strong_count(&self.ends) == 1;
        let ends =
            if own { size_of::<Ends>() + self.ends.nodes.len() * size_of::<End>() } else { 0 };
        size_of::<Self>() + self.inside.memory_bytes() + ends
    }
}

/// Whether the bytes begin many tokens.
fn starts_many(trie: &Trie, bytes: &ByteSet) -> bool {
    let mut count = 0;
    trie.children_in(Trie::ROOT, bytes, |child| count += trie.count(child));
    count > FEW_TOKENS
}

/// The split of the tokens below `root` from `state`, as one of many that differ in the bounds of a
/// repetition; `None` where there are no such.
pub fn of_counted(
    vocabulary: &Vocabulary,
    lexer: &mut Lexer,
    root: (NodeId, u32),
    state: RegexId,
) -> Option<Split> {
    let is_whole = root.0 == Trie::ROOT;
    if is_whole && !starts_many(&vocabulary.trie, lexer.first(state)) {
        return None;
    }
    let counted = lexer.regexes_mut().counted(state)?;
    let identity = lexer.regexes().identity(counted.whole);
    let known = vocabulary.splits.counts(identity, root.0);
    let counts = known.unwrap_or_else(|| {
        let units = units(vocabulary, lexer, counted.part);
        let counts = if is_whole {
            Counts::find(vocabulary, lexer, counted, units)
        } else {
            Counts::find_below(vocabulary, lexer, root, counted, units)
        };
        let counts = counts.map_or(Countable::No, |counts| Countable::Yes(Arc::new(counts)));
        vocabulary.splits.insert_counts(identity, root.0, counts.clone());
        counts
    });
    match counts {
        Countable::Yes(counts) => Some(counts.split(vocabulary, counted.min, counted.max)),
        Countable::No => None,
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
fn units(vocabulary: &Vocabulary, lexer: &mut Lexer, part: RegexId) -> Units {
    let identity = lexer.regexes().identity(part);
    vocabulary.splits.units(identity).unwrap_or_else(|| {
        let units = closure::units(lexer, part);
        vocabulary.splits.insert_units(identity, units);
        units
    })
}

/// Makes a crossing of the nodes of each byte; the nodes come in the order of bytes.
fn group(nodes: &[(u8, End)], crossing: impl Fn(&[End]) -> Crossing) -> Vec<(u8, Crossing)> {
    nodes
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| {
            let nodes: Vec<End> = group.iter().map(|&(_, node)| node).collect();
            (group[0].0, crossing(&nodes))
        })
        .collect()
}
