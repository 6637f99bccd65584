//! A finished mask, kept small: most masks are a set that a split already holds, and a few more.

use std::sync::Arc;

use crate::index::TokenId;
use crate::split::{Split, TokenSet};
use crate::vocab::Vocabulary;
use crate::vocab::bits::{self, TokenBits};
use crate::vocab::trie::Trie;

/// A set of tokens.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// The inside tokens of a split, by reference.
    base: Option<Arc<Split>>,
    /// Tokens as bits.
    own: Option<TokenBits>,
    /// More tokens, one by one.
    list: Box<[TokenId]>,
}

impl Mask {
    /// Writes the mask over `out`, which has as many words as the vocabulary's masks.
    pub fn write(&self, out: &mut [u32]) {
        match (&self.own, self.base_bits()) {
            (Some(own), _) => out.copy_from_slice(own.words()),
            (None, Some(base)) => out.copy_from_slice(base.words()),
            (None, None) => out.fill(0),
        }
        for &token in &self.list {
            bits::insert(out, token);
        }
    }

    /// Bytes of memory held, what is shared aside.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.own.as_ref().map_or(0, |own| own.words().len() * 4)
            + self.list.len() * 4
    }

    fn base_bits(&self) -> Option<&TokenBits> {
        match &self.base.as_ref()?.inside {
            TokenSet::Bits(bits) => Some(bits),
            TokenSet::List(_) => None,
        }
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
        if self.bits.is_none() && self.bases.len() <= 1 {
            let mut mask = Mask { base: self.bases.pop(), own: None, list: Box::default() };
            if let Some(base) = mask.base_bits() {
                self.list.retain(|&token| !base.contains(token));
            }
            if self.list.len() <= vocabulary.mask_words() / 2 {
                self.list.sort_unstable();
                self.list.dedup();
                mask.list = self.list.into();
                return mask;
            }
            self.bases.extend(mask.base);
        }
        let mut own = self.bits.unwrap_or_else(|| TokenBits::new(vocabulary.width()));
        for base in self.bases {
            if let TokenSet::Bits(bits) = &base.inside {
                own.union(bits);
            }
        }
        self.list.into_iter().for_each(|token| own.insert(token));
        Mask { base: None, own: Some(own), list: Box::default() }
    }
}
