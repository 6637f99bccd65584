//! A trie of token bytes as flat arrays in depth-first order.
//!
//! Takes tokens sorted by their bytes; several tokens may have the same bytes. Node 0 is the root.
//! The subtree of node `n` is the nodes `n..end(n)`, and its tokens are a contiguous slice of the
//! sorted tokens: skipping a subtree and naming all its tokens are both one step.

use rustc_hash::FxHashMap;

use crate::byteset::ByteSet;
use crate::index::{Id, NodeId, TokenId};

/// Token bytes as a trie.
#[derive(Clone, Debug)]
pub struct Trie {
    /// In depth-first order, with a sentinel behind the last.
    nodes: Vec<Node>,
    /// In the order of their bytes.
    tokens: Vec<TokenId>,
    /// For nodes with many children the child of each byte; 0 for none.
    tables: FxHashMap<NodeId, Box<[u32; 256]>>,
}

/// Nodes with at least this many children get a table.
const MANY_CHILDREN: usize = 24;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The node behind this one's subtree.
    end: u32,
    /// Position of the first token at or below this node.
    first: u32,
    /// The byte that leads here.
    byte: u8,
}

const _: () = assert!(size_of::<Node>() == 12);

impl Trie {
    /// The root: no byte read.
    pub const ROOT: NodeId = NodeId(0);

    /// Builds the trie of tokens that are sorted by their bytes.
    pub fn build(sorted: &[(&[u8], TokenId)]) -> Self {
        debug_assert!(sorted.is_sorted_by(|a, b| a.0 <= b.0));
        let mut nodes = vec![Node { end: 0, first: 0, byte: 0 }];
        // The nodes of the path to the token before.
        let mut path: Vec<u32> = vec![0];
        let mut before: &[u8] = &[];
        for (position, (bytes, _)) in sorted.iter().enumerate() {
            let shared = before.iter().zip(*bytes).take_while(|(a, b)| a == b).count();
            for &closed in &path[shared + 1..] {
                nodes[closed as usize].end = nodes.len() as u32;
            }
            path.truncate(shared + 1);
            for &byte in &bytes[shared..] {
                path.push(nodes.len() as u32);
                nodes.push(Node { end: 0, first: position as u32, byte });
            }
            before = bytes;
        }
        let end = nodes.len() as u32;
        for open in path {
            nodes[open as usize].end = end;
        }
        nodes.push(Node { end, first: sorted.len() as u32, byte: 0 });
        nodes.shrink_to_fit();
        let tokens = sorted.iter().map(|&(_, id)| id).collect();
        let mut trie = Self { nodes, tokens, tables: FxHashMap::default() };
        trie.fill_tables();
        trie
    }

    fn fill_tables(&mut self) {
        for node in (0..self.len()).map(NodeId::new) {
            // The subtree has more nodes than the node has children.
            let children = self.end(node).0 as usize - node.index() - 1;
            if children < MANY_CHILDREN || self.children(node).count() < MANY_CHILDREN {
                continue;
            }
            let mut table = Box::new([0; 256]);
            for child in self.children(node) {
                table[usize::from(self.byte(child))] = child.0;
            }
            self.tables.insert(node, table);
        }
    }

    /// The number of nodes, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether there is only the root.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// The byte that leads to a node.
    #[inline]
    pub fn byte(&self, node: NodeId) -> u8 {
        self.nodes[node.index()].byte
    }

    /// The node behind a node's subtree.
    #[inline]
    pub fn end(&self, node: NodeId) -> NodeId {
        NodeId(self.nodes[node.index()].end)
    }

    /// Whether nothing is below a node.
    #[inline]
    pub fn is_leaf(&self, node: NodeId) -> bool {
        self.end(node).0 == node.0 + 1
    }

    /// The children of a node, in the order of their bytes.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let end = self.end(node);
        let mut next = NodeId(node.0 + 1);
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.end(child);
                child
            })
        })
    }

    /// The children that the bytes of a set lead to.
    pub fn children_in(&self, node: NodeId, bytes: &ByteSet, mut each: impl FnMut(NodeId)) {
        match self.tables.get(&node) {
            Some(table) => bytes
                .iter()
                .map(|byte| NodeId(table[usize::from(byte)]))
                .filter(|&child| child != Self::ROOT)
                .for_each(each),
            None => {
                for child in self.children(node) {
                    if bytes.contains(self.byte(child)) {
                        each(child);
                    }
                }
            }
        }
    }

    /// The child that a byte leads to.
    pub fn child(&self, node: NodeId, byte: u8) -> Option<NodeId> {
        if let Some(table) = self.tables.get(&node) {
            let child = table[usize::from(byte)];
            return (child != 0).then_some(NodeId(child));
        }
        self.children(node)
            .find(|&child| self.byte(child) >= byte)
            .filter(|&c| self.byte(c) == byte)
    }

    /// Positions (in the order of bytes) of the tokens that end at a node.
    #[inline]
    pub fn range_at(&self, node: NodeId) -> (u32, u32) {
        (self.nodes[node.index()].first, self.nodes[node.index() + 1].first)
    }

    /// Positions of the tokens that end below a node, not at it.
    #[inline]
    pub fn range_below(&self, node: NodeId) -> (u32, u32) {
        (self.nodes[node.index() + 1].first, self.nodes[self.end(node).index()].first)
    }

    /// How many tokens end below a node, not at it.
    #[inline]
    pub fn count_below(&self, node: NodeId) -> usize {
        let (first, end) = self.range_below(node);
        (end - first) as usize
    }

    /// How many tokens end at or below a node.
    #[inline]
    pub fn count(&self, node: NodeId) -> usize {
        (self.nodes[self.end(node).index()].first - self.nodes[node.index()].first) as usize
    }

    /// The tokens that end at a node.
    pub fn tokens_at(&self, node: NodeId) -> &[TokenId] {
        self.slice(self.range_at(node))
    }

    /// The tokens of a range of positions.
    #[inline]
    pub fn slice(&self, (first, end): (u32, u32)) -> &[TokenId] {
        &self.tokens[first as usize..end as usize]
    }

    /// The node of a byte string, if a token starts with it.
    pub fn find(&self, bytes: &[u8]) -> Option<NodeId> {
        bytes.iter().try_fold(Self::ROOT, |node, &byte| self.child(node, byte))
    }

    /// The trie of what is below some nodes, read from each of them on; what is equal is merged.
    #[must_use]
    pub fn merge_below(&self, roots: &[NodeId]) -> Self {
        let nodes = vec![Node { end: 0, first: 0, byte: 0 }];
        let mut merged = Self { nodes, tokens: vec![], tables: FxHashMap::default() };
        // The open nodes, each with the groups of source nodes that become its children.
        let mut open: Vec<(usize, std::vec::IntoIter<Vec<NodeId>>)> =
            vec![(0, self.child_groups(roots).into_iter())];
        while let Some((node, groups)) = open.last_mut() {
            let Some(group) = groups.next() else {
                let node = *node;
                merged.nodes[node].end = merged.nodes.len() as u32;
                open.pop();
                continue;
            };
            if let [source] = group[..] {
                self.copy_subtree(source, &mut merged);
                continue;
            }
            let first = merged.tokens.len() as u32;
            open.push((merged.nodes.len(), self.child_groups(&group).into_iter()));
            merged.nodes.push(Node { end: 0, first, byte: self.byte(group[0]) });
            for source in group {
                merged.tokens.extend_from_slice(self.tokens_at(source));
            }
        }
        let sentinel =
            Node { end: merged.nodes.len() as u32, first: merged.tokens.len() as u32, byte: 0 };
        merged.nodes.push(sentinel);
        merged
    }

    /// The children of all the nodes, those of one byte together, in the order of bytes.
    fn child_groups(&self, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
        let mut children: Vec<(u8, NodeId)> = nodes
            .iter()
            .flat_map(|&node| self.children(node).map(|child| (self.byte(child), child)))
            .collect();
        children.sort_unstable();
        let group = |group: &[(u8, NodeId)]| group.iter().map(|&(_, child)| child).collect();
        children.chunk_by(|a, b| a.0 == b.0).map(group).collect()
    }

    fn copy_subtree(&self, source: NodeId, target: &mut Self) {
        let shift = |at: u32, from: usize, to: usize| at - from as u32 + to as u32;
        let (first, _) = self.range_at(source);
        let tokens = target.tokens.len();
        let nodes = target.nodes.len();
        let end = self.end(source);
        for node in &self.nodes[source.index()..end.index()] {
            target.nodes.push(Node {
                end: shift(node.end, source.index(), nodes),
                first: shift(node.first, first as usize, tokens),
                byte: node.byte,
            });
        }
        target.tokens.extend_from_slice(self.slice((first, self.nodes[end.index()].first)));
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.tokens.capacity() * 4
            + self.tables.capacity() * (1024 + 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trie(words: &[&'static str]) -> Trie {
        let mut sorted: Vec<(&[u8], TokenId)> =
            words.iter().enumerate().map(|(i, w)| (w.as_bytes(), TokenId::new(i))).collect();
        sorted.sort_unstable();
        Trie::build(&sorted)
    }

    #[test]
    fn subtrees_are_ranges() {
        let t = trie(&["b", "ab", "a", "abc", "a", "ad"]);
        assert_eq!(t.len(), 6);
        let a = t.find(b"a").unwrap();
        assert_eq!(t.tokens_at(a), [TokenId(2), TokenId(4)]);
        assert_eq!(t.slice(t.range_below(a)), [TokenId(1), TokenId(3), TokenId(5)]);
        assert_eq!(t.children(a).map(|n| t.byte(n)).collect::<Vec<_>>(), b"bd");
        assert_eq!(t.count(Trie::ROOT), 6);
        assert!(t.find(b"abd").is_none());
        assert!(t.is_leaf(t.find(b"b").unwrap()));
    }

    #[test]
    fn merging_puts_equal_remainders_together() {
        // Below "x" and "y": "", "a", "ab" and "ab", "c".
        let t = trie(&["x", "xa", "xab", "yab", "yc"]);
        let roots = [t.find(b"x").unwrap(), t.find(b"y").unwrap()];
        let m = t.merge_below(&roots);
        assert_eq!(m.count(Trie::ROOT), 4);
        assert_eq!(m.tokens_at(m.find(b"ab").unwrap()), [TokenId(2), TokenId(3)]);
        assert_eq!(m.tokens_at(m.find(b"a").unwrap()), [TokenId(1)]);
        assert_eq!(m.tokens_at(m.find(b"c").unwrap()), [TokenId(4)]);
        assert_eq!(m.len(), 4);
        assert!(t.merge_below(&[]).is_empty());
    }

    #[test]
    fn an_empty_trie_is_a_root() {
        let t = trie(&[]);
        assert!(t.is_empty());
        assert_eq!(t.count(Trie::ROOT), 0);
    }
}
