//! What may follow a lexeme's end within a token, for one next byte.

use crate::index::{NodeId, TokenId};
use crate::vocab::Vocabulary;
use crate::vocab::trie::Trie;

use super::walk::End;

/// Nodes with more tokens below are kept as references into the vocabulary's trie.
const BIG: usize = 2_000;

/// The tokens in which a lexeme ends and a given byte follows.
#[derive(Debug)]
pub struct Crossing {
    /// The tokens that end with that byte.
    pub ending: Box<[TokenId]>,
    /// What follows that byte in the others, merged: equal remainders share a path.
    pub remainders: Trie,
    /// Nodes of the vocabulary's trie after that byte with very many tokens below.
    pub big: Box<[End]>,
}

impl Crossing {
    /// Merges what is below the nodes (each with its depth).
    pub(super) fn new(vocabulary: &Vocabulary, nodes: &[End]) -> Self {
        let trie = &vocabulary.trie;
        let mut ending = Vec::new();
        let mut big = Vec::new();
        let mut remainders: Vec<(&[u8], TokenId)> = Vec::new();
        for &(node, depth) in nodes {
            ending.extend_from_slice(trie.tokens_at(node));
            if trie.count_below(node) > BIG {
                big.push((node, depth));
                continue;
            }
            for &token in trie.slice(trie.range_below(node)) {
                remainders.push((&vocabulary.token_bytes(token)[depth as usize..], token));
            }
        }
        remainders.sort_unstable();
        Self { ending: ending.into(), remainders: Trie::build(&remainders), big: big.into() }
    }

    /// Whether there are no such tokens.
    pub fn is_empty(&self) -> bool {
        self.ending.is_empty() && self.remainders.is_empty() && self.big.is_empty()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.ending.len() * 4
            + self.remainders.memory_bytes()
            + self.big.len() * size_of::<(NodeId, u32)>()
    }
}
