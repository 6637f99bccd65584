//! Alternatives that start alike, put together: many words become a trie.

use super::node::{EPSILON, Node, RegexSet};
use crate::index::RegexId;

/// How many shared heads in a row the alternatives of an `Or` are factored by. Deeper common
/// prefixes stay unfactored: the language is the same, and no recursion follows the input.
const MAX_DEPTH: u32 = 64;

/// What alternatives may have in common at their beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Head {
    Byte(u8),
    Part(RegexId),
}

impl RegexSet {
    /// `ab|ac|d` becomes `a(b|c)|d`: alternatives of many words turn into a trie.
    pub(super) fn factor_heads(&mut self, flat: &mut Vec<RegexId>, depth: u32) {
        if depth == MAX_DEPTH {
            return;
        }
        let mut heads: Vec<(Head, RegexId)> = flat.iter().map(|&id| (self.head(id), id)).collect();
        heads.sort_unstable();
        if heads.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            return;
        }
        flat.clear();
        for group in heads.chunk_by(|a, b| a.0 == b.0) {
            let head = match *group {
                [(_, one)] => {
                    flat.push(one);
                    continue;
                }
                [(Head::Byte(_), _), ..] => {
                    let word = self.factor_bytes(group, depth);
                    flat.push(word);
                    continue;
                }
                [(Head::Part(head), _), ..] => head,
                [] => continue,
            };
            let tails: Vec<RegexId> = group
                .iter()
                .map(|&(_, id)| match self.nodes[id] {
                    Node::Concat(_, tail) if id != head => tail,
                    _ => EPSILON,
                })
                .collect();
            let tail = self.or_factored(&tails, depth + 1);
            flat.push(self.concat(head, tail));
        }
        flat.sort_unstable();
        flat.dedup();
    }

    /// What alternatives with it are put together by.
    fn head(&self, id: RegexId) -> Head {
        match &self.nodes[id] {
            &Node::Concat(head, _) => Head::Part(head),
            &Node::Literal(text, _) => Head::Byte(self.texts.get(text)[0]),
            Node::Bytes(set) => set.only().map_or(Head::Part(id), Head::Byte),
            _ => Head::Part(id),
        }
    }

    /// Alternatives that all start with the same byte: the bytes that they share, and then what
    /// follows them in each.
    fn factor_bytes(&mut self, group: &[(Head, RegexId)], depth: u32) -> RegexId {
        let mut shared: Option<Vec<u8>> = None;
        for &(_, id) in group {
            let bytes = self.first_bytes(id);
            let alike = match &shared {
                Some(known) => known.iter().zip(&bytes).take_while(|(a, b)| a == b).count(),
                None => bytes.len(),
            };
            shared.get_or_insert(bytes).truncate(alike);
        }
        let shared = shared.unwrap_or_default();
        let tails: Vec<RegexId> = group
            .iter()
            .map(|&(_, id)| match self.nodes[id] {
                Node::Literal(text, tail) => self.literal_after(text, shared.len() as u32, tail),
                _ => EPSILON,
            })
            .collect();
        let tail = self.or_factored(&tails, depth + 1);
        self.literal_before(&shared, tail)
    }

    /// The bytes that an expression starts with as a literal, or is.
    fn first_bytes(&self, id: RegexId) -> Vec<u8> {
        match self.nodes[id] {
            Node::Literal(text, _) => self.texts.get(text).to_vec(),
            _ => self.only_byte(id).into_iter().collect(),
        }
    }
}
