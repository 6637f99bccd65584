//! What a matcher allows, ready for the candidates of each token.

use std::sync::Arc;

use super::candidates::{Candidate, allows_most, forbid, keep, places};
use crate::mask::Mask;
use crate::matcher::Matcher;
use crate::vocab::bits;

/// Room for a mask in the forms in which candidates are cut by it.
///
/// Nearly all tokens are allowed within a string, and the mask is mostly that of an earlier token.
/// The few others are listed once; while the mask is the same, its bits are not even written.
pub(super) struct Allowed {
    width: usize,
    /// Bit `i` of word `i / 32` is token `i`.
    words: Vec<u32>,
    /// The tokens that the mask `listed` forbids, in ascending order.
    forbidden: Vec<u32>,
    listed: Option<Arc<Mask>>,
}

impl Allowed {
    /// For masks of `width` tokens.
    pub(super) fn new(width: usize) -> Self {
        Self { width, words: vec![0; width.div_ceil(32)], forbidden: Vec::new(), listed: None }
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
            ends.iter().for_each(|&id| bits::insert(&mut self.words, id));
        } else {
            let mask = matcher.with_mask(Arc::clone);
            let known = self.listed.as_ref().is_some_and(|listed| Arc::ptr_eq(listed, &mask));
            if complete && known && forbid(candidates, &self.forbidden) {
                return Ok(candidates.len());
            }
            mask.write(&mut self.words);
            if complete && !known && allows_most(&self.words) {
                self.list(mask);
                if forbid(candidates, &self.forbidden) {
                    return Ok(candidates.len());
                }
            }
        }
        match keep(candidates, &self.words, self.width) {
            0 => Err(self.words.iter().map(|word| word.count_ones() as usize).sum()),
            kept => Ok(kept),
        }
    }

    /// Lists what a mask, of which the bits are written, forbids.
    fn list(&mut self, mask: Arc<Mask>) {
        // Behind the last token there are bits that mean nothing.
        let tokens = places(self.words.iter().map(|word| !word));
        let tokens = tokens.take_while(|&token| token < self.width).map(|token| token as u32);
        self.forbidden.clear();
        self.forbidden.extend(tokens);
        self.listed = Some(mask);
    }
}
