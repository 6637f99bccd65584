//! Sets of tokens: as bits if they are large, as a list if they are small.

use std::sync::Arc;

use crate::index::TokenId;
use crate::vocab::Vocabulary;
use crate::vocab::bits::TokenBits;

/// Sets that lack more than this of others have bits of their own.
const MAX_WITHOUT: usize = 256;

/// A set of tokens: as bits if it is large, as a list if it is small.
#[derive(Debug)]
pub enum TokenSet {
    /// Any order.
    List(Box<[TokenId]>),
    /// As wide as a mask; others may hold the same.
    Bits {
        /// The tokens,
        bits: Arc<TokenBits>,
        /// and those of them that are not meant, in ascending order.
        without: Box<[TokenId]>,
    },
}

impl TokenSet {
    /// The tokens of `tokens`, `count` of them, and those of `base`.
    pub(super) fn new(
        tokens: impl Iterator<Item = TokenId>,
        count: usize,
        vocabulary: &Vocabulary,
        base: Option<TokenBits>,
    ) -> Self {
        if base.is_none() && count <= vocabulary.mask_words() {
            return Self::List(tokens.collect());
        }
        let mut bits = base.unwrap_or_else(|| TokenBits::new(vocabulary.width()));
        tokens.for_each(|token| bits.insert(token));
        Self::of_bits(bits, vocabulary)
    }

    pub(super) fn of_bits(bits: TokenBits, vocabulary: &Vocabulary) -> Self {
        if bits.count() <= vocabulary.mask_words() {
            Self::List(bits.iter().collect())
        } else {
            Self::Bits { bits: Arc::new(bits), without: Box::default() }
        }
    }

    /// Whether a token is in the set.
    pub(super) fn contains(&self, token: TokenId) -> bool {
        match self {
            Self::List(list) => list.contains(&token),
            Self::Bits { .. } => self.contains_as_bits(token),
        }
    }

    /// The tokens of a small set.
    pub fn listed(&self) -> &[TokenId] {
        match self {
            Self::List(list) => list,
            Self::Bits { .. } => &[],
        }
    }

    /// The tokens, in any order.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> {
        let (bits, without) = match self {
            Self::List(_) => (None, &[][..]),
            Self::Bits { bits, without } => (Some(bits), &**without),
        };
        let meant = move |token: &TokenId| without.binary_search(token).is_err();
        let bits = bits.into_iter().flat_map(|bits| bits.iter()).filter(meant);
        self.listed().iter().copied().chain(bits)
    }

    /// Whether a token is one of a large set.
    pub fn contains_as_bits(&self, token: TokenId) -> bool {
        match self {
            Self::List(_) => false,
            Self::Bits { bits, without } => {
                bits.contains(token) && without.binary_search(&token).is_err()
            }
        }
    }

    /// The set without some of its tokens.
    ///
    /// PERF: the bits stay one for all sets that differ from them by a few tokens, as those of the
    /// names that an object has not had yet do.
    pub(super) fn less(&self, dead: &[TokenId]) -> Self {
        match self {
            Self::List(list) => {
                Self::List(list.iter().copied().filter(|token| !dead.contains(token)).collect())
            }
            Self::Bits { bits, without } if without.len() + dead.len() <= MAX_WITHOUT => {
                let mut without = [&**without, dead].concat();
                without.sort_unstable();
                Self::Bits { bits: Arc::clone(bits), without: without.into() }
            }
            Self::Bits { bits, without } => {
                let mut bits = TokenBits::clone(bits);
                without.iter().chain(dead).for_each(|&token| bits.remove(token));
                Self::Bits { bits: Arc::new(bits), without: Box::default() }
            }
        }
    }

    /// Bytes of memory held, what others hold too left out.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::List(list) => list.len() * 4,
            Self::Bits { bits, without } if Arc::strong_count(bits) == 1 => {
                (bits.words().len() + without.len()) * 4
            }
            Self::Bits { without, .. } => without.len() * 4,
        }
    }
}
