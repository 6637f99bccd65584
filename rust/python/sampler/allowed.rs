//! What a matcher allows, ready for the candidates of each token.

use std::sync::Arc;

use super::candidates::{Candidate, allows_most, forbid, keep, places};
use crate::mask::Mask;
use crate::matcher::Matcher;
use crate::vocab::bits;

/// Room for a mask in the forms in which candidates are cut by it.
///
/// Nearly all tokens are allowed within a string, and the mask is mostly that of an earlier token.
/// The few others are listed once for each mask; while it is known, its bits are not even written.
///
/// PERF: 123,000 of 128,256 allowed, the caches emptied as by a model's pass: this adds 16 µs to
/// the 240 of a sample by the default chain; with the mask written and read each time, 50.
pub(super) struct Allowed {
    width: usize,
    /// Bit `i` of word `i / 32` is token `i`.
    words: Vec<u32>,
    /// The tokens that some masks forbid, in ascending order; the mask listed last is first.
    lists: Vec<(Arc<Mask>, Box<[u32]>)>,
}

/// So many masks' lists are kept: those of names, of values, and of items of arrays differ.
const MAX_LISTS: usize = 4;

impl Allowed {
    /// For masks of `width` tokens.
    pub(super) fn new(width: usize) -> Self {
        Self { width, words: vec![0; width.div_ceil(32)], lists: Vec::new() }
    }

    /// Takes away the candidates that `matcher` does not allow and says how many are left, at the
    /// front and in their order, or how many tokens are allowed if none is left. Ids are unique.
    ///
    /// Where nearly all are allowed, the few others stay where they are and are made impossible.
    pub(super) fn keep(
        &mut self,
        matcher: &mut Matcher,
        candidates: &mut [Candidate],
    ) -> Result<usize, usize> {
        let complete = candidates.len() == self.width;
        if matcher.is_finished() {
            // llama.cpp goes on sampling if it is asked to: the text has ended, and stays so.
            self.words.fill(0);
            let ends = matcher.engine().vocabulary().eos();
            for &id in ends {
                bits::insert(&mut self.words, id);
            }
        } else {
            let mask = matcher.with_mask(Arc::clone);
            let known = self.lists.iter().find(|(listed, _)| Arc::ptr_eq(listed, &mask));
            if complete && known.is_some_and(|(_, list)| forbid(candidates, list)) {
                return Ok(candidates.len());
            }
            mask.write(&mut self.words);
            if complete && known.is_none() && allows_most(&self.words) {
                let list = self.forbidden();
                let in_order = forbid(candidates, &list);
                self.lists.truncate(MAX_LISTS - 1);
                self.lists.insert(0, (mask, list));
                if in_order {
                    return Ok(candidates.len());
                }
            }
        }
        match keep(candidates, &self.words, self.width) {
            0 => Err(self.words.iter().map(|word| word.count_ones() as usize).sum()),
            kept => Ok(kept),
        }
    }

    /// The tokens whose bits are 0.
    fn forbidden(&self) -> Box<[u32]> {
        // Behind the last token there are bits that mean nothing.
        let tokens = places(self.words.iter().map(|word| !word));
        tokens.take_while(|&token| token < self.width).map(|token| token as u32).collect()
    }
}
