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

use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::Lexer;
use crate::vocab::Vocabulary;
use crate::vocab::bits::TokenBits;
use crate::vocab::trie::Trie;
use closure::Closure;
use walk::{End, Found, Shortcuts, walk};

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

/// One lexer state × one subtree of the trie.
#[derive(Debug)]
pub struct Split {
    /// The tokens that stay inside the lexeme to their end.
    pub inside: TokenSet,
    /// The atoms that keep the lexeme in a closed set of states in some of which it may end; 0 if
    /// there is no such set. A byte of these both goes on with the lexeme and may follow its end.
    pub overlap: Closure,
    ends: Box<[End]>,
    hidden_ends: bool,
    crossings: RwLock<FxHashMap<u8, Arc<Crossing>>>,
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
        let mut closure_of = |lexer: &mut Lexer, state: RegexId| {
            *closures.entry(state).or_insert_with(|| closure::find(lexer, state))
        };
        let mut base = None;
        let mut overlap = Closure::default();
        if shortcuts {
            let closure = closure_of(lexer, state);
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
            walk(
                lexer,
                trie,
                root,
                state,
                None::<Shortcuts<'_, fn(&mut Lexer, RegexId) -> Closure>>,
                &mut found,
            );
        }
        let list_limit = vocabulary.mask_words();
        let inside = match base {
            None if found.alive.count() <= list_limit => TokenSet::List(
                found.alive.iter().flat_map(|range| trie.slice(range)).copied().collect(),
            ),
            base => {
                let mut bits =
                    base.map_or_else(|| TokenBits::new(vocabulary.width()), |(_, bits)| bits);
                for range in found.alive.iter() {
                    trie.slice(range).iter().for_each(|&token| bits.insert(token));
                }
                if bits.count() <= list_limit {
                    TokenSet::List(bits.iter().collect())
                } else {
                    TokenSet::Bits(bits)
                }
            }
        };
        Self {
            inside,
            overlap,
            ends: found.ends.into(),
            hidden_ends: found.hidden_ends,
            crossings: RwLock::default(),
        }
    }

    /// Whether the lexeme ends within no token.
    pub fn never_ends(&self) -> bool {
        self.ends.is_empty() && !self.hidden_ends
    }

    /// The tokens in which the lexeme ends and `byte` comes next. `root` and `state` are those the
    /// split was made for.
    pub fn crossing(
        &self,
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        root: (NodeId, u32),
        state: RegexId,
        byte: u8,
    ) -> Arc<Crossing> {
        if let Some(known) = self.crossings.read().get(&byte) {
            return Arc::clone(known);
        }
        let trie = &vocabulary.trie;
        let nodes = if self.hidden_ends {
            walk::nodes_after_end(lexer, trie, &vocabulary.atoms, root, state, byte)
        } else {
            let after = |&(node, depth): &End| Some((trie.child(node, byte)?, depth + 1));
            self.ends.iter().filter_map(after).collect()
        };
        let crossing = Arc::new(Crossing::new(vocabulary, &nodes));
        vocabulary.splits.grow(crossing.memory_bytes());
        Arc::clone(self.crossings.write().entry(byte).or_insert(crossing))
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
