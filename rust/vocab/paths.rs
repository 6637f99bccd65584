//! From a token up the trie, and sets of nodes.
//!
//! A walk that looks at some tokens only, far from each other, goes from each straight up to what
//! it has in common with the one before, instead of down past all that is not meant.

use super::trie::Trie;
use crate::index::{Id, NodeId, TokenId};

/// Where tokens end in a trie, and what each of its nodes is a child of.
#[derive(Debug)]
pub struct Paths {
    /// For each token its node; the root for those that are not text.
    nodes: Vec<NodeId>,
    /// For each node its parent; the root's is itself.
    parents: Vec<NodeId>,
}

impl Paths {
    /// The paths of a trie of tokens below `width`.
    pub fn build(trie: &Trie, width: usize) -> Self {
        let mut nodes = vec![Trie::ROOT; width];
        let mut parents = vec![Trie::ROOT; trie.len()];
        // The open nodes, each with the end of its subtree.
        let mut open = vec![(Trie::ROOT, trie.end(Trie::ROOT))];
        for node in (1..trie.len()).map(NodeId::new) {
            while open.last().is_some_and(|&(_, end)| end <= node) {
                open.pop();
            }
            parents[node.index()] = open.last().map_or(Trie::ROOT, |&(parent, _)| parent);
            for &token in trie.tokens_at(node) {
                nodes[token.index()] = node;
            }
            open.push((node, trie.end(node)));
        }
        Self { nodes, parents }
    }

    /// The node that a node is a child of.
    #[inline]
    pub fn parent(&self, node: NodeId) -> NodeId {
        self.parents[node.index()]
    }

    /// Where a text token ends.
    #[inline]
    pub fn node(&self, token: TokenId) -> NodeId {
        self.nodes[token.index()]
    }

    /// The nodes where some text tokens end.
    pub fn nodes_of(&self, tokens: impl Iterator<Item = TokenId>) -> NodeSet {
        let mut set = self.no_nodes();
        tokens.for_each(|token| set.insert(self.nodes[token.index()]));
        set
    }

    /// The empty set of nodes.
    pub fn no_nodes(&self) -> NodeSet {
        NodeSet(vec![0; self.parents.len().div_ceil(64)])
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        (self.nodes.capacity() + self.parents.capacity()) * size_of::<NodeId>()
    }
}

/// A set of nodes.
#[derive(Clone, Debug)]
pub struct NodeSet(Vec<u64>);

impl NodeSet {
    /// Adds a node.
    #[inline]
    pub fn insert(&mut self, node: NodeId) {
        self.0[node.index() / 64] |= 1 << (node.index() % 64);
    }

    /// Whether a node is in the set.
    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        self.0[node.index() / 64] >> (node.index() % 64) & 1 == 1
    }

    /// The first node of the set from `node` on.
    #[inline]
    pub fn next_from(&self, node: NodeId) -> Option<NodeId> {
        let mut word = node.index() / 64;
        let mut rest = self.0.get(word)? & !0 << (node.index() % 64);
        while rest == 0 {
            word += 1;
            rest = *self.0.get(word)?;
        }
        Some(NodeId::new(word * 64 + rest.trailing_zeros() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_up_from_tokens() {
        let words: [&[u8]; 5] = [b"a", b"abc", b"abd", b"b", b"b"];
        let sorted: Vec<(&[u8], TokenId)> = words.into_iter().zip((1..).map(TokenId)).collect();
        let trie = Trie::build(&sorted);
        let paths = Paths::build(&trie, 8);
        let set = paths.nodes_of([TokenId(2), TokenId(5)].into_iter());
        let abc = trie.find(b"abc").unwrap();
        assert_eq!(set.next_from(Trie::ROOT), Some(abc));
        assert_eq!(set.next_from(NodeId(abc.0 + 1)), trie.find(b"b"));
        assert_eq!(set.next_from(NodeId(trie.find(b"b").unwrap().0 + 1)), None);
        assert_eq!(paths.parent(abc), trie.find(b"ab").unwrap());
        assert_eq!(paths.parent(trie.find(b"a").unwrap()), Trie::ROOT);
    }
}
