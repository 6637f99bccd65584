//! A finished mask, kept small: most masks are a set that a split already holds, and a few more.

use std::sync::Arc;

use crate::index::TokenId;
use crate::split::{Split, TokenSet};
use crate::vocab::Vocabulary;
use crate::vocab::bits::{self, TokenBits};
use crate::vocab::trie::Trie;

/// More splits than this are united when the mask is made, not when it is written.
const MAX_BASES: usize = 3;

/// A set of tokens.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// Splits whose inside tokens are meant, by reference.
    bases: Vec<Arc<Split>>,
    /// Tokens as bits.
    own: Option<TokenBits>,
    /// More tokens, one by one.
    list: Box<[TokenId]>,
}

impl Mask {
    /// Writes the mask over `out`, which has as many words as the vocabulary's masks.
    pub fn write(&self, out: &mut [u32]) {
        let mut parts =
            self.own.iter().chain(self.bases.iter().filter_map(|base| base.inside.bits()));
        match parts.next() {
            Some(first) => out.copy_from_slice(first.words()),
            None => out.fill(0),
        }
        for part in parts {
            bits::union(out, part.words());
        }
        for &token in &self.list {
            bits::insert(out, token);
        }
    }

    /// Bytes of memory held, what is shared aside.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.own.as_ref().map_or(0, |own| own.words().len() * 4)
            + (self.list.len() + 2 * self.bases.len()) * 4
    }
}

/// Collects the tokens of a mask.
#[derive(Debug, Default)]
pub(super) struct Collector {
    bases: Vec<Arc<Split>>,
    bits: Option<TokenBits>,
    list: Vec<TokenId>,
}

impl Collector {
    /// How many tokens were added one by one, repeated ones included.
    pub(super) fn listed(&self) -> usize {
        self.list.len()
    }

    pub(super) fn add_list(&mut self, tokens: &[TokenId]) {
        self.list.extend_from_slice(tokens);
    }

    pub(super) fn add_bits(&mut self, bits: &TokenBits) {
        match &mut self.bits {
            Some(own) => own.union(bits),
            None => self.bits = Some(bits.clone()),
        }
    }

    pub(super) fn add_split(&mut self, split: &Arc<Split>) {
        match &split.inside {
            TokenSet::List(list) => self.add_list(list),
            TokenSet::Bits(_) if self.bases.iter().any(|base| Arc::ptr_eq(base, split)) => {}
            TokenSet::Bits(_) => self.bases.push(Arc::clone(split)),
        }
    }

    /// Adds the tokens of a range of a trie's positions.
    pub(super) fn add_range(&mut self, trie: &Trie, range: (u32, u32)) {
        self.add_list(trie.slice(range));
    }

    pub(super) fn finish(mut self, vocabulary: &Vocabulary) -> Mask {
        let limit = vocabulary.mask_words() / 4;
        if self.bits.is_none() && self.bases.len() <= MAX_BASES && self.list.len() <= 4 * limit {
            let known = |token| {
                self.bases.iter().filter_map(|base| base.inside.bits()).any(|b| b.contains(token))
            };
            self.list.retain(|&token| !known(token));
            if self.list.len() <= limit {
                return Mask { bases: self.bases, own: None, list: self.list.into() };
            }
        }
        let mut own = self.bits.unwrap_or_else(|| TokenBits::new(vocabulary.width()));
        for bits in self.bases.iter().filter_map(|base| base.inside.bits()) {
            own.union(bits);
        }
        self.list.into_iter().for_each(|token| own.insert(token));
        Mask { bases: Vec::new(), own: Some(own), list: Box::default() }
    }
}
