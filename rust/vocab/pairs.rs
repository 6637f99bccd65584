//! Where in a trie which two bytes stand next to each other.
//!
//! A text that can't be read without certain two bytes in a row is looked for where these stand:
//! `hipchat` at the few dozen nodes behind `pc`, though each of its letters is in thousands of tokens.

use std::ops::{Add, Range};

use super::paths::Paths;
use super::trie::Trie;
use crate::byteset::ByteSet;
use crate::index::{Id, NodeId};

/// The nodes of a trie by the byte that leads to them and the one before.
#[derive(Debug)]
pub struct PairIndex {
    /// For each pair where its nodes begin, with an end behind the last.
    starts: Vec<u32>,
    /// Those of each pair in the order of the trie.
    nodes: Vec<NodeId>,
    /// For each pair how many tokens are at and below the nodes of those before it.
    tokens: Vec<u32>,
    /// For each byte how much is at and below the nodes that it leads to, whatever is before it,
    with: Vec<Amount>,
    /// and those that come next after it.
    behind: Vec<Amount>,
}

/// How much there is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Nodes.
    pub nodes: u32,
    /// Tokens at and below them; more than once where a node is below another.
    pub tokens: u32,
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }
}

impl PairIndex {
    /// Indexes a trie.
    pub fn build(trie: &Trie, paths: &Paths) -> Self {
        let mut starts = vec![0u32; (1 << 16) + 1];
        let mut tokens = vec![0u32; (1 << 16) + 1];
        let mut with = vec![Amount::default(); 1 << 8];
        let mut behind = vec![Amount::default(); 1 << 8];
        // Each pair's counts stand where the next pair begins.
        for node in (1..trie.len()).map(NodeId::new) {
            let count = trie.count(node) as u32;
            let (parent, byte) = (paths.parent(node), trie.byte(node));
            let amount = Amount { nodes: 1, tokens: count };
            with[usize::from(byte)] = with[usize::from(byte)] + amount;
            if parent != Trie::ROOT {
                let before = trie.byte(parent);
                starts[pair(before, byte) + 1] += 1;
                tokens[pair(before, byte) + 1] += count;
                behind[usize::from(before)] = behind[usize::from(before)] + amount;
            }
        }
        for pair in 1..starts.len() {
            starts[pair] += starts[pair - 1];
            tokens[pair] += tokens[pair - 1];
        }
        let mut next = starts.clone();
        let mut nodes = vec![Trie::ROOT; starts[1 << 16] as usize];
        for node in (1..trie.len()).map(NodeId::new) {
            let parent = paths.parent(node);
            if parent != Trie::ROOT {
                let next = &mut next[pair(trie.byte(parent), trie.byte(node))];
                nodes[*next as usize] = node;
                *next += 1;
            }
        }
        Self { starts, nodes, tokens, with, behind }
    }

    /// The nodes that one of `bytes` leads to behind one of `before`, pair by pair.
    pub fn nodes(&self, before: &ByteSet, bytes: &ByteSet) -> impl Iterator<Item = NodeId> {
        Self::runs(before, bytes).flat_map(|pairs| {
            let (start, end) = (self.starts[pairs.start], self.starts[pairs.end]);
            self.nodes[start as usize..end as usize].iter().copied()
        })
    }

    /// How much is at and below these nodes.
    pub fn amount(&self, before: &ByteSet, bytes: &ByteSet) -> Amount {
        Self::runs(before, bytes).fold(Amount::default(), |amount, pairs| {
            amount
                + Amount {
                    nodes: self.starts[pairs.end] - self.starts[pairs.start],
                    tokens: self.tokens[pairs.end] - self.tokens[pairs.start],
                }
        })
    }

    /// How much is at and below the nodes that one of `bytes` leads to, whatever is before it.
    pub fn amount_with(&self, bytes: &ByteSet) -> Amount {
        bytes.iter().fold(Amount::default(), |sum, byte| sum + self.with[usize::from(byte)])
    }

    /// How much is at and below the nodes behind one of `bytes`, whatever leads to them.
    pub fn amount_behind(&self, bytes: &ByteSet) -> Amount {
        bytes.iter().fold(Amount::default(), |sum, byte| sum + self.behind[usize::from(byte)])
    }

    /// The pairs, those next to each other together.
    fn runs(before: &ByteSet, bytes: &ByteSet) -> impl Iterator<Item = Range<usize>> + use<> {
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for byte in before.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == byte => *last = byte,
                _ => runs.push((byte, byte)),
            }
        }
        let of_byte = move |byte| {
            let runs = runs.clone();
            runs.into_iter().map(move |(low, high)| pair(low, byte)..pair(high, byte) + 1)
        };
        bytes.iter().flat_map(of_byte)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        (self.starts.capacity() + self.tokens.capacity()) * 4
            + (self.with.capacity() + self.behind.capacity()) * size_of::<Amount>()
            + self.nodes.capacity() * size_of::<NodeId>()
    }
}

/// The number of a pair; those of one second byte are next to each other.
fn pair(before: u8, byte: u8) -> usize {
    usize::from(byte) << 8 | usize::from(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::TokenId;

    #[test]
    fn nodes_are_found_by_the_byte_before() {
        let words: [&[u8]; 6] = [b"ab", b"abab", b"ba", b"bb", b"cab", b"cb"];
        let sorted: Vec<(&[u8], TokenId)> = words.into_iter().zip((0..).map(TokenId)).collect();
        let trie = Trie::build(&sorted);
        let index = PairIndex::build(&trie, &Paths::build(&trie, 8));
        let set = |bytes: &[u8]| bytes.iter().copied().collect::<ByteSet>();
        let find = |before: &[u8], bytes: &[u8]| {
            let mut nodes: Vec<NodeId> = index.nodes(&set(before), &set(bytes)).collect();
            nodes.sort_unstable();
            nodes
        };
        let node = |bytes: &[u8]| trie.find(bytes).unwrap();
        assert_eq!(find(b"a", b"b"), [node(b"ab"), node(b"abab"), node(b"cab")]);
        assert_eq!(find(b"bc", b"a"), [node(b"aba"), node(b"ba"), node(b"ca")]);
        assert!(find(b"ac", b"c").is_empty());
        assert_eq!(index.amount(&set(b"a"), &set(b"b")), Amount { nodes: 3, tokens: 2 + 1 + 1 });
        assert_eq!(index.amount_with(&set(b"b")), Amount { nodes: 6, tokens: 8 });
        assert_eq!(index.amount_behind(&set(b"b")), index.amount(&set(b"b"), &ByteSet::ALL));
    }
}
