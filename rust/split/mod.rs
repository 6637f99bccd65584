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
mod find;
mod hub;
pub mod machine;
mod passages;
mod places;
mod recent;
mod relatives;
mod store;
mod tokens;
pub mod walk;

pub use crossing::Crossing;
pub use relatives::{differ_little, of_counted};
pub use store::SplitStore;
pub use tokens::TokenSet;

use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

use crate::byteset::ByteSet;
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::Lexer;
use crate::vocab::Vocabulary;
use crate::vocab::trie::Trie;
use closure::Closure;
use walk::End;

/// If more tokens than this are to be read one by one, the whole trie is walked.
const MAX_READ: usize = 48_000;
/// Where no more tokens than this can go on, they are walked.
const FEW_TOKENS: usize = 2_000;
/// The most nodes that are walked straight, without asking what could be skipped.
const MAX_FEW: usize = 4_000;

/// Closures by lexer state.
pub type Closures = FxHashMap<RegexId, Closure>;

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
    /// Tokens that a lexeme stays inside of to their end, whatever it is.
    pub fn of_tokens(vocabulary: &Vocabulary, tokens: &[TokenId]) -> Self {
        let inside = TokenSet::new(tokens.iter().copied(), tokens.len(), vocabulary, None);
        let ends = Ends::new(&vocabulary.trie, Vec::new(), false);
        Self { inside, overlap: Closure::default(), ends }
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
    pub fn memory_bytes(&self) -> usize {
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
