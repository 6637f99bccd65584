//! Splits: what the vocabulary looks like from one lexer state. Knows no rules.
//!
//! Takes a lexer state q and a subtree of the token trie; gives a [`Split`]: the tokens that stay
//! *inside* q's lexeme to their end (legal whatever the grammar says next), and the *crossings*,
//! where the lexeme ends within a token and the grammar has to say whether the remainder can
//! follow. All other tokens are dead. A split depends on the vocabulary and q alone, so all
//! grammars share it (see [`store`]): a JSON string is split once.

pub mod closure;
mod crossing;
pub mod machine;
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
use crate::vocab::bits::TokenBits;
use crate::vocab::trie::Trie;
use closure::Closure;
use walk::{End, Everything, Found, Shortcuts, walk};

/// Closures by lexer state.
pub type Closures = FxHashMap<RegexId, Closure>;

/// A set of tokens: as bits if it is large, as a list if it is small.
#[derive(Debug)]
pub enum TokenSet {
    /// Any order.
    List(Box<[TokenId]>),
    /// As wide as a mask.
    Bits(TokenBits),
}

impl TokenSet {
    /// The bits of a large set.
    pub fn bits(&self) -> Option<&TokenBits> {
        match self {
            Self::List(_) => None,
            Self::Bits(bits) => Some(bits),
        }
    }

    /// The tokens of `tokens`, `count` of them, and those of `base`.
    fn new(
        tokens: impl Iterator<Item = TokenId>,
        count: usize,
        vocabulary: &Vocabulary,
        base: Option<TokenBits>,
    ) -> Self {
        let list_limit = vocabulary.mask_words();
        if base.is_none() && count <= list_limit {
            return Self::List(tokens.collect());
        }
        let mut bits = base.unwrap_or_else(|| TokenBits::new(vocabulary.width()));
        tokens.for_each(|token| bits.insert(token));
        if bits.count() <= list_limit {
            Self::List(bits.iter().collect())
        } else {
            Self::Bits(bits)
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
    /// The bytes that may come next in a token after the lexeme's end.
    pub after: ByteSet,
    ends: Box<[End]>,
    hidden_ends: bool,
    /// By next byte; `None` where there are no such tokens.
    crossings: RwLock<FxHashMap<u8, Option<Arc<Crossing>>>>,
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
            let closure = closure_of(lexer, state, u32::MAX, usize::MAX);
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
        let dead = |lexer: &mut Lexer, token: TokenId| {
            let bytes = vocabulary.token_bytes(token);
            bytes.len() > reach && lexer.run(state, bytes) == lexer::DEAD
        };
        let inside = match &self.inside {
            TokenSet::List(list) => {
                TokenSet::List(list.iter().copied().filter(|&token| !dead(lexer, token)).collect())
            }
            TokenSet::Bits(bits) => {
                let mut bits = bits.clone();
                for token in vocabulary.longer_than(reach) {
                    if bits.contains(token) && dead(lexer, token) {
                        bits.remove(token);
                    }
                }
                TokenSet::Bits(bits)
            }
        };
        let trie = &vocabulary.trie;
        let mut still_ends = |&(node, depth): &End| {
            if depth as usize <= reach {
                return true;
            }
            // Some token goes on from the node; its beginning leads there.
            let token = trie.slice(trie.range_below(node))[0];
            let end = lexer.run(state, &vocabulary.token_bytes(token)[..depth as usize]);
            end != lexer::DEAD && lexer.accepts(end)
        };
        let found = Found {
            ends: self.ends.iter().copied().filter(|end| still_ends(end)).collect(),
            hidden_ends: self.hidden_ends,
            ..Found::default()
        };
        Self::from_parts(inside, self.overlap, trie, found)
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
        let mut after = ByteSet::EMPTY;
        for &(node, _) in &found.ends {
            trie.children(node).for_each(|child| after.insert(trie.byte(child)));
        }
        if found.hidden_ends {
            after.insert_range(0, 255);
        }
        Self {
            inside,
            overlap,
            after,
            ends: found.ends.into(),
            hidden_ends: found.hidden_ends,
            crossings: RwLock::default(),
        }
    }

    /// Whether the lexeme ends within no token.
    pub fn never_ends(&self) -> bool {
        self.ends.is_empty() && !self.hidden_ends
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
            let mut nodes = if self.hidden_ends {
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
        for &(node, depth) in &self.ends {
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
        let bytes = bytes.intersection(&self.after);
        let mut found = Vec::new();
        let mut missing = ByteSet::EMPTY;
        {
            let known = self.crossings.read();
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
        let mut known = self.crossings.write();
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

    /// Bytes of memory held, without the crossings.
    fn memory_bytes(&self) -> usize {
        let inside = match &self.inside {
            TokenSet::List(list) => list.len() * 4,
            TokenSet::Bits(bits) => bits.words().len() * 4,
        };
        size_of::<Self>() + inside + self.ends.len() * size_of::<End>()
    }
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
