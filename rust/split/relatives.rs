//! Splits made of those of other states that go on nearly alike: without exceptions, with other
//! bounds of a repetition, or none.

use std::sync::Arc;

use super::counts::Counts;
use super::find::units;
use super::store::Countable;
use super::walk::End;
use super::{Split, TokenSet, starts_many};
use crate::index::{NodeId, RegexId, TokenId};
use crate::lexer::{self, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::trie::Trie;

/// The most steps to find out what exceptions change.
const MAX_DIFFERENCES: usize = 4_000;
/// Exceptions that begin with more bytes than this may begin anywhere.
const MAX_DIFFERING: usize = 128;

impl Split {
    /// The split of all tokens from `state`, made of this one, which is that of a state that goes on
    /// exactly as `state` does for `reach` bytes and allows at least as much after them (see
    /// [`Lexer::clamp`]): only longer tokens can differ.
    ///
    /// PERF: with a walk for each count of `[^"]{0,60}`, the masks of `grammars/chess.gbnf` on a
    /// vocabulary never used before took 190 µs in the mean, 24 with this.
    #[must_use]
    pub fn patched(
        &self,
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        state: RegexId,
        reach: u32,
    ) -> Self {
        let reach = reach as usize;
        let is_dead = |lexer: &mut Lexer, token: TokenId| {
            lexer.run(state, vocabulary.token_bytes(token)) == lexer::DEAD
        };
        let longer = vocabulary.longer_than(reach);
        let dead: Vec<TokenId> = match &self.inside {
            TokenSet::List(list) => list
                .iter()
                .copied()
                .filter(|&token| {
                    vocabulary.token_bytes(token).len() > reach && is_dead(lexer, token)
                })
                .collect(),
            bits @ TokenSet::Bits { .. } => longer
                .filter(|&token| bits.contains_as_bits(token) && is_dead(lexer, token))
                .collect(),
        };
        let trie = &vocabulary.trie;
        let still_ends = |&(node, depth): &End| {
            if depth as usize <= reach {
                return true;
            }
            // Some token goes on from the node; its beginning leads there.
            let token = trie.slice(trie.range_below(node))[0];
            let end = lexer.run(state, &vocabulary.token_bytes(token)[..depth as usize]);
            end != lexer::DEAD && lexer.accepts(end)
        };
        let ends = self.ends.retain(trie, still_ends);
        Self { inside: self.inside.less(&dead), overlap: self.overlap, ends }
    }

    /// The split from `state`, made of this one, which is that of `whole`: what `state` is without
    /// its exceptions (see [`crate::lexer::RegexSet::with_exceptions`]). `None` if they differ in too much.
    ///
    /// PERF: with a walk for each object whose names may be any but those it knows, and for each
    /// letter of these, and another for each bound of a string, the masks of 600 JSON schemas took
    /// 15.7 µs in the mean, 294 in the worst of a hundred and 2,097 in the worst of a thousand; with
    /// this, `of_counted` and `of_others` 5.1, 50 and 275.
    pub fn with_exceptions(
        &self,
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        root: (NodeId, u32),
        state: RegexId,
        whole: RegexId,
    ) -> Option<Self> {
        let trie = &vocabulary.trie;
        let mut dead: Vec<TokenId> = Vec::new();
        // The nodes and subtrees where the lexeme does not end after all.
        let mut endless: Vec<(NodeId, NodeId)> = Vec::new();
        let mut open = vec![(root.0, state, whole)];
        let mut steps = 0;
        while let Some((node, state, whole)) = open.pop() {
            let bytes = lexer.regexes_mut().differing_bytes(state, whole);
            if bytes.len() > MAX_DIFFERING {
                return None;
            }
            trie.children_in(node, &bytes, |child| {
                steps += 1;
                let byte = trie.byte(child);
                let (state, whole) = (lexer.step(state, byte), lexer.step(whole, byte));
                if state == whole {
                    return;
                }
                if state == lexer::DEAD {
                    let (first, _) = trie.range_at(child);
                    let (_, end) = trie.range_below(child);
                    dead.extend_from_slice(trie.slice((first, end)));
                    endless.push((child, trie.end(child)));
                    return;
                }
                if lexer.accepts(whole) && !lexer.accepts(state) {
                    endless.push((child, NodeId(child.0 + 1)));
                }
                if !trie.is_leaf(child) {
                    open.push((child, state, whole));
                }
            });
            if steps > MAX_DIFFERENCES {
                return None;
            }
        }
        if let bits @ TokenSet::Bits { .. } = &self.inside {
            dead.retain(|&token| bits.contains_as_bits(token));
        }
        endless.sort_unstable();
        let still_ends = |&(node, _): &End| {
            let at = endless.partition_point(|&(_, end)| end <= node);
            endless.get(at).is_none_or(|&(first, _)| node < first)
        };
        let ends = self.ends.retain(trie, still_ends);
        Some(Self { inside: self.inside.less(&dead), overlap: self.overlap, ends })
    }
}

/// Whether a state may differ from `whole`, what it is without its exceptions, in few tokens.
///
/// PERF: of names without a pattern that may begin anywhere, the split of all names was found in vain:
/// 4 of 45 million instructions for a mask of names that hold one of two words.
pub fn differ_little(lexer: &mut Lexer, state: RegexId, whole: RegexId) -> bool {
    lexer.regexes_mut().differing_bytes(state, whole).len() <= MAX_DIFFERING
}

/// The split of the tokens below `root` from `state`, as one of many that differ in the bounds of a
/// repetition; `None` where there are no such.
pub fn of_counted(
    vocabulary: &Vocabulary,
    lexer: &mut Lexer,
    root: (NodeId, u32),
    state: RegexId,
) -> Option<Split> {
    let is_whole = root.0 == Trie::ROOT;
    if is_whole && !starts_many(&vocabulary.trie, lexer.first(state)) {
        return None;
    }
    let counted = lexer.regexes_mut().counted(state)?;
    let identity = lexer.regexes().identity(counted.whole);
    let known = vocabulary.splits.counts(identity, root.0);
    let counts = known.unwrap_or_else(|| {
        let units = units(vocabulary, lexer, counted.part);
        let counts = if is_whole {
            Counts::find(vocabulary, lexer, counted, units)
        } else {
            Counts::find_below(vocabulary, lexer, root, counted, units)
        };
        let counts = counts.map_or(Countable::No, |counts| Countable::Yes(Arc::new(counts)));
        vocabulary.splits.insert_counts(identity, root.0, counts.clone());
        counts
    });
    match counts {
        Countable::Yes(counts) => Some(counts.split(vocabulary, counted.min, counted.max)),
        Countable::No => None,
    }
}
