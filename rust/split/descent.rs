//! A narrow lexer state below a node: what it goes on with, found by stepping down the trie.
//!
//! Takes a lexer state that few tokens can go on with; gives the tokens that stay inside the lexeme,
//! the nodes where it ends with tokens below, and the nodes where what is left of it is not narrow
//! any more. Knows no rows: a [`Descent`] is the same wherever the lexeme started.

use std::sync::Arc;

use super::walk::End;
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::{self, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::trie::Trie;

/// Subtrees with at most this many tokens are read whatever goes on.
const SMALL: usize = 16;
/// A state that goes on with at most this many tokens is narrow.
const NARROW_TOKENS: usize = 64;
/// A state that goes on with at most this many bytes is narrow.
const NARROW_BYTES: usize = 2;
/// Past this depth in the trie nothing is narrow.
const MAX_DEPTH: u32 = 64;

/// What a lexer state does below a node.
#[derive(Clone, Debug)]
pub enum Way {
    /// It is narrow.
    Narrow(Arc<Descent>),
    /// It is not.
    Wide,
}

/// What a narrow lexer state goes on with below a node.
#[derive(Debug, Default)]
pub struct Descent {
    /// The tokens that stay inside the lexeme to their end.
    pub tokens: Box<[TokenId]>,
    /// The nodes below which the lexeme has ended.
    pub ends: Box<[End]>,
    /// Where more may follow than is told here, and the state there.
    pub wide: Box<[(RegexId, End)]>,
}

impl Way {
    /// Finds out what a state does below a node with tokens below it.
    pub fn find(vocabulary: &Vocabulary, lexer: &mut Lexer, state: RegexId, at: End) -> Self {
        let trie = &vocabulary.trie;
        if !is_narrow(trie, lexer, state, at) {
            return Self::Wide;
        }
        let mut tokens = Vec::new();
        let mut ends = Vec::new();
        let mut wide = Vec::new();
        let mut open = vec![(state, at)];
        while let Some((state, (node, depth))) = open.pop() {
            let first = *lexer.first(state);
            trie.children_in(node, &first, |child| {
                let next = lexer.step(state, trie.byte(child));
                if next == lexer::DEAD {
                    return;
                }
                tokens.extend_from_slice(trie.tokens_at(child));
                if trie.is_leaf(child) {
                    return;
                }
                let at = (child, depth + 1);
                if lexer.accepts(next) {
                    ends.push(at);
                }
                if is_narrow(trie, lexer, next, at) {
                    open.push((next, at));
                } else {
                    wide.push((next, at));
                }
            });
        }
        Self::Narrow(Arc::new(Descent {
            tokens: tokens.into(),
            ends: ends.into(),
            wide: wide.into(),
        }))
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Narrow(descent) => {
                size_of::<Descent>()
                    + size_of_val(&*descent.tokens)
                    + size_of_val(&*descent.ends)
                    + size_of_val(&*descent.wide)
            }
            Self::Wide => 0,
        }
    }
}

/// Whether a lexer state can go on with few tokens below a node only.
fn is_narrow(trie: &Trie, lexer: &Lexer, state: RegexId, (node, depth): End) -> bool {
    if depth >= MAX_DEPTH {
        return false;
    }
    let first = lexer.first(state);
    if trie.count_below(node) <= SMALL || first.len() <= NARROW_BYTES {
        return true;
    }
    let mut tokens = 0;
    trie.children_in(node, first, |child: NodeId| tokens += trie.count(child));
    tokens <= NARROW_TOKENS
}
