//! A set of tokens as bits: bit `i` of word `i / 32` is token `i`, the layout of masks.

use crate::index::{Id, TokenId};

/// A set of token ids below a fixed width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBits(Box<[u32]>);

impl TokenBits {
    /// The empty set of ids below `width`.
    pub fn new(width: usize) -> Self {
        Self(vec![0; width.div_ceil(32)].into())
    }

    /// The bits, 32 a word.
    pub fn words(&self) -> &[u32] {
        &self.0
    }

    /// Adds a token.
    #[inline]
    pub fn insert(&mut self, id: TokenId) {
        insert(&mut self.0, id);
    }

    /// Takes a token out.
    pub fn remove(&mut self, id: TokenId) {
        if let Some(word) = self.0.get_mut(id.index() / 32) {
            *word &= !(1 << (id.0 % 32));
        }
    }

    /// Whether the token is in the set.
    #[inline]
    pub fn contains(&self, id: TokenId) -> bool {
        self.0.get(id.index() / 32).is_some_and(|word| word >> (id.0 % 32) & 1 == 1)
    }

    /// Adds all tokens of another set of the same width.
    pub fn union(&mut self, other: &Self) {
        union(&mut self.0, &other.0);
    }

    /// Removes all tokens of another set of the same width.
    pub fn subtract(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&*other.0) {
            *word &= !other;
        }
    }

    /// Keeps only tokens of another set of the same width.
    pub fn intersect(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&*other.0) {
            *word &= other;
        }
    }

    /// How many tokens are in the set.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are more tokens than `most` in the set.
    pub fn has_more_than(&self, most: usize) -> bool {
        let mut left = most;
        self.0.iter().any(|word| {
            let (next, past) = left.overflowing_sub(word.count_ones() as usize);
            left = next;
            past
        })
    }

    /// The tokens in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> {
        iter(&self.0)
    }
}

/// Adds a token to a mask.
#[inline]
pub fn insert(words: &mut [u32], id: TokenId) {
    words[id.index() / 32] |= 1 << (id.0 % 32);
}

/// Takes a token out of a mask.
#[inline]
pub fn remove(words: &mut [u32], id: TokenId) {
    words[id.index() / 32] &= !(1 << (id.0 % 32));
}

/// Adds the tokens of one mask to another.
pub fn union(words: &mut [u32], other: &[u32]) {
    for (word, other) in words.iter_mut().zip(other) {
        *word |= other;
    }
}

/// The tokens of a mask in ascending order.
pub fn iter(words: &[u32]) -> impl Iterator<Item = TokenId> {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                TokenId(index as u32 * 32 + bit)
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_i_of_word_i_div_32_is_token_i() {
        let mut set = TokenBits::new(70);
        for id in [0, 31, 32, 69] {
            set.insert(TokenId(id));
        }
        assert_eq!(set.words(), [0x8000_0001, 1, 32]);
        assert_eq!(set.iter().map(|id| id.0).collect::<Vec<_>>(), [0, 31, 32, 69]);
        assert_eq!(set.count(), 4);
        assert!(!set.contains(TokenId(1000)));
    }
}
