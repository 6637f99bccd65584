//! Tokens by their number of characters.
//!
//! Knows only tokens that are UTF-8 as a whole: where others are meant, something has to be read.

use super::bits::TokenBits;
use crate::index::TokenId;

/// Up to so many characters, tokens of each number have bits of their own.
const FEW: usize = 32;

/// Which tokens have how many characters.
#[derive(Debug)]
pub struct CharacterCounts {
    /// At each place the tokens of at most so many characters.
    up_to: Vec<TokenBits>,
    /// Those of more, with the number of their characters, most first.
    longer: Vec<(u32, TokenId)>,
}

impl CharacterCounts {
    /// Counts the characters of tokens below `width`.
    pub fn build(tokens: &[(&[u8], TokenId)], width: usize) -> Self {
        let mut up_to = vec![TokenBits::new(width); FEW + 1];
        let mut longer = Vec::new();
        for &(bytes, id) in tokens {
            let count = if bytes.is_ascii() {
                bytes.len()
            } else {
                let Ok(text) = std::str::from_utf8(bytes) else { continue };
                text.chars().count()
            };
            match up_to.get_mut(count) {
                Some(bits) => bits.insert(id),
                None => longer.push((count as u32, id)),
            }
        }
        for count in 1..up_to.len() {
            let (fewer, bits) = up_to.split_at_mut(count);
            bits[0].union(&fewer[count - 1]);
        }
        longer.sort_unstable_by(|a, b| b.cmp(a));
        Self { up_to, longer }
    }

    /// The tokens of more than `most` characters, if few are of so many.
    pub fn longer_than(&self, most: u32) -> Option<impl Iterator<Item = TokenId>> {
        let longer = self.longer.iter().take_while(move |&&(count, _)| count > most);
        (most as usize >= FEW).then_some(longer.map(|&(_, id)| id))
    }

    /// Takes the tokens of more than `most` characters out of a set of tokens that are UTF-8.
    pub fn keep_up_to(&self, tokens: &mut TokenBits, most: u32) {
        match self.up_to.get(most as usize) {
            Some(few) => tokens.intersect(few),
            None => self.longer_than(most).into_iter().flatten().for_each(|id| tokens.remove(id)),
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.up_to.iter().map(|bits| bits.words().len() * 4).sum::<usize>()
            + self.longer.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let long = "é".repeat(40);
        let tokens: [&[u8]; 4] = [b"ab", "日本".as_bytes(), long.as_bytes(), b"\xc3"];
        let tokens: Vec<(&[u8], TokenId)> = tokens.into_iter().zip((0..).map(TokenId)).collect();
        let counts = CharacterCounts::build(&tokens, 4);
        let kept = |most| {
            let mut all = TokenBits::new(4);
            (0..3).for_each(|id| all.insert(TokenId(id)));
            counts.keep_up_to(&mut all, most);
            all.iter().map(|id| id.0).collect::<Vec<_>>()
        };
        assert!(kept(1).is_empty());
        assert_eq!(kept(2), [0, 1]);
        assert_eq!(kept(39), [0, 1]);
        assert_eq!(kept(40), [0, 1, 2]);
    }
}
