//! What may follow a lexeme's end within a token, as far as rows that expect the same lexemes have
//! it in common.
//!
//! Takes a wide scan's crossings and the row after its lexeme; gives the tokens in which the lexeme
//! ends and one that the row expects begins and goes on to the token's end, and the bytes behind
//! which more may follow, which only the row tells.
//!
//! PERF: after white space every name of the vocabulary may follow, letter by letter: lists of tens
//! of thousands of tokens for each mask. Masks of `grammars/c_subset.gbnf` took 563 million
//! instructions, 534 with this, of `grammars/expressions.gbnf` 75 and 69.

use std::sync::Arc;

use smallvec::SmallVec;

use super::allow::{Allow, FEW_SCANS, TINY};
use crate::byteset::ByteSet;
use crate::index::{ExpectedId, NodeId, RegexId, StateId, TokenId};
use crate::recogniser::Scan;
use crate::split::{Crossing, Split};

/// What follows the end of a lexeme wherever the same lexemes are expected.
#[derive(Clone, Debug)]
pub(super) struct Follow {
    /// The tokens that end with the byte after the lexeme, or within a lexeme that began with it.
    pub(super) tokens: Arc<Split>,
    /// The bytes behind which other tokens may follow.
    pub(super) open: ByteSet,
}

impl Allow<'_> {
    /// What follows a lexeme that `rest` at a node is left of, by the lexemes expected after it in
    /// `state`, if that is known.
    pub(super) fn known_follow(
        &self,
        (rest, node): (RegexId, NodeId),
        expected: ExpectedId,
    ) -> Option<Follow> {
        self.cache.follows.get(&(rest, node, expected)).cloned()
    }

    /// Finds it out from the crossings.
    pub(super) fn find_follow(
        &mut self,
        (rest, node): (RegexId, NodeId),
        expected: ExpectedId,
        state: StateId,
        crossings: &[(u8, Arc<Crossing>)],
    ) -> Follow {
        let mut tokens: Vec<TokenId> = Vec::new();
        let mut open = ByteSet::EMPTY;
        for (byte, crossing) in crossings {
            tokens.extend_from_slice(&crossing.ending);
            let mut is_open = !crossing.big.is_empty();
            if crossing.remainders.len() <= TINY {
                is_open |= !crossing.remainders.is_empty();
            } else {
                let next = self.cache.recogniser.step(state, *byte);
                is_open |= self.cache.recogniser.has_boundary(next);
                let mut scans: SmallVec<[Scan; FEW_SCANS]> = SmallVec::new();
                self.cache.recogniser.under_way_on(next, &crossing.first, &mut scans);
                for scan in scans {
                    if self.is_narrow(scan) {
                        is_open = true;
                        continue;
                    }
                    let split = self.split_remainders(crossing, scan.rest);
                    tokens.extend(split.inside.iter());
                    is_open |= !split.never_ends();
                }
            }
            if is_open {
                open.insert(*byte);
            }
        }
        let tokens = Arc::new(Split::of_tokens(self.vocabulary, &tokens));
        let follow = Follow { tokens, open };
        self.cache.follow_bytes += follow.tokens.memory_bytes() + 64;
        self.cache.follows.insert((rest, node, expected), follow.clone());
        follow
    }
}
