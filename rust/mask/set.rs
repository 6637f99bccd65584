//! A finished mask, kept small: most masks are a set that a split already holds, and a few more.

use std::sync::Arc;

use crate::index::TokenId;
use crate::split::{Split, TokenSet};
use crate::vocab::Vocabulary;
use crate::vocab::bits::{self, TokenBits};
use crate::vocab::trie::Trie;

/// Room for more tokens than this is given back.
const MAX_ROOM: usize = 1 << 14;
/// Lists up to this long are copied. PERF: longer ones, as the 1,110 numbers of Llama 3's
/// vocabulary, became bits of a mask's own, which took 3 to 15 µs for their memory.
const SHORT: usize = 64;
/// More splits than this are united when the mask is made, not when it is written.
const MAX_BASES: usize = 3;

/// A set of tokens.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// Splits whose inside tokens are meant, by reference.
    bases: Vec<Arc<Split>>,
    /// What their bits have too much.
    without: Box<[TokenId]>,
    /// Tokens as bits.
    own: Option<TokenBits>,
    /// More tokens, one by one.
    list: Box<[TokenId]>,
}

impl Mask {
    /// Writes the mask over `out`, which has as many words as the vocabulary's masks.
    pub fn write(&self, out: &mut [u32]) {
        let bases = self.bases.iter().filter_map(|base| match &base.inside {
            TokenSet::Bits { bits, .. } => Some(&**bits),
            TokenSet::List(_) => None,
        });
        let mut parts = self.own.iter().chain(bases);
        match parts.next() {
            Some(first) => out.copy_from_slice(first.words()),
            None => out.fill(0),
        }
        for part in parts {
            bits::union(out, part.words());
        }
        for &token in &self.without {
            bits::remove(out, token);
        }
        for base in &self.bases {
            base.inside.listed().iter().for_each(|&token| bits::insert(out, token));
        }
        for &token in &self.list {
            bits::insert(out, token);
        }
    }

    /// Bytes of memory held, what is shared aside.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.own.as_ref().map_or(0, |own| own.words().len() * 4)
            + (self.list.len() + self.without.len() + 2 * self.bases.len()) * 4
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
    /// A collector that uses memory of an earlier one.
    ///
    /// PERF: lists that grow from nothing took 6 % of the time of masks that are found.
    pub(super) fn with_room(mut room: Vec<TokenId>) -> Self {
        room.clear();
        Self { list: room, ..Self::default() }
    }

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
            TokenSet::List(list) if list.len() <= SHORT || self.bases.len() >= MAX_BASES => {
                self.add_list(list);
            }
            _ if self.bases.iter().any(|base| Arc::ptr_eq(base, split)) => {}
            _ => self.bases.push(Arc::clone(split)),
        }
    }

    /// Adds the tokens of a range of a trie's positions.
    pub(super) fn add_range(&mut self, trie: &Trie, range: (u32, u32)) {
        self.add_list(trie.slice(range));
    }

    /// The mask, and the memory for another collector.
    pub(super) fn finish(mut self, vocabulary: &Vocabulary) -> (Mask, Vec<TokenId>) {
        let limit = vocabulary.mask_words() / 4;
        let known = |bases: &[Arc<Split>], token| {
            bases.iter().any(|base| base.inside.contains_as_bits(token))
        };
        if self.bits.is_none() && self.bases.len() <= MAX_BASES && self.list.len() <= 4 * limit {
            // Few of them are in the bases too, and writing them twice does no harm.
            if self.list.len() > limit && !self.bases.is_empty() {
                self.list.retain(|&token| !known(&self.bases, token));
            }
            if self.list.len() <= limit {
                let mut without: Vec<TokenId> = Vec::new();
                for base in &self.bases {
                    let TokenSet::Bits { without: some, .. } = &base.inside else { continue };
                    without.extend(some.iter().filter(|&&token| !known(&self.bases, token)));
                }
                let list = self.list.as_slice().into();
                let mask = Mask { bases: self.bases, without: without.into(), own: None, list };
                return (mask, self.list);
            }
        }
        let mut own = self.bits.unwrap_or_else(|| TokenBits::new(vocabulary.width()));
        for base in &self.bases {
            let TokenSet::Bits { bits, without } = &base.inside else {
                self.list.extend(base.inside.listed());
                continue;
            };
            let absent: Vec<TokenId> =
                without.iter().copied().filter(|&token| !own.contains(token)).collect();
            own.union(bits);
            for token in absent {
                own.remove(token);
            }
        }
        self.list.iter().for_each(|&token| own.insert(token));
        let mask = Mask { own: Some(own), ..Mask::default() };
        // What a mask of very many tokens took is not kept.
        self.list.shrink_to(MAX_ROOM);
        (mask, self.list)
    }
}
