//! What may follow a lexeme's end within a token, for one next byte.

use std::sync::Arc;

use super::Split;
use super::recent::Recent;
use super::walk::End;
use crate::byteset::ByteSet;
use crate::index::{RegexId, TokenId};
use crate::lexer::Lexer;
use crate::vocab::Vocabulary;
use crate::vocab::trie::Trie;

/// Nodes with more tokens below are kept as references into the vocabulary's trie.
const BIG: usize = 2_000;

/// The tokens in which a lexeme ends and a given byte follows.
#[derive(Debug)]
pub struct Crossing {
    /// The tokens that end with that byte.
    pub ending: Box<[TokenId]>,
    /// What follows that byte in the others, merged: equal remainders share a path.
    pub remainders: Trie,
    /// The bytes that remainders start with.
    pub first: ByteSet,
    /// Nodes of the vocabulary's trie after that byte with very many tokens below.
    pub big: Box<[End]>,
    /// Splits of the remainders by the lexer state that reads them.
    splits: Recent<u128, Arc<Split>>,
}

impl Crossing {
    /// Merges what is below the nodes of a trie (each with its depth). Only in the vocabulary's
    /// own trie can a node be kept as a reference.
    pub(super) fn new(trie: &Trie, nodes: &[End], is_vocabulary: bool) -> Self {
        let mut ending = Vec::new();
        let mut big = Vec::new();
        let mut small = Vec::new();
        for &(node, depth) in nodes {
            ending.extend_from_slice(trie.tokens_at(node));
            if is_vocabulary && trie.count_below(node) > BIG {
                big.push((node, depth));
            } else if !trie.is_leaf(node) {
                small.push(node);
            }
        }
        let remainders = trie.merge_below(&small);
        let first = remainders.children(Trie::ROOT).map(|node| remainders.byte(node)).collect();
        let splits = Recent::default();
        Self { ending: ending.into(), remainders, first, big: big.into(), splits }
    }

    /// The remainders split by a lexer state.
    pub fn split(&self, vocabulary: &Vocabulary, lexer: &mut Lexer, state: RegexId) -> Arc<Split> {
        let identity = lexer.regexes().identity(state);
        if let Some(known) = self.splits.get(&identity, |_, _| ()) {
            return known;
        }
        let split = Arc::new(Split::of_remainders(vocabulary, &self.remainders, lexer, state));
        vocabulary.splits.grow(split.memory_bytes());
        self.splits.insert(identity, split)
    }

    /// Forgets splits that have not been used for long.
    pub(super) fn turn(&self, turn: u64) {
        self.splits.turn(turn);
        self.splits.each(|split| split.turn(turn));
    }

    /// Bytes of memory held, the splits included.
    pub(super) fn kept_bytes(&self) -> usize {
        self.memory_bytes() + self.splits.sum(|split| split.kept_bytes())
    }

    /// Bytes of memory held, without the splits.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.ending.len() * 4
            + self.remainders.memory_bytes()
            + self.big.len() * size_of::<End>()
    }
}
