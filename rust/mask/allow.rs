//! Which tokens a state allows.
//!
//! The obvious way is to walk the whole token trie with the recogniser. It is what `options` with
//! everything off do, and what tests compare with. The fast way, for a state and a subtree:
//!
//! 1. A scan that can go on with only few tokens is *narrow*: its lexeme steps down the trie along
//!    them ([`Descent`]), up to where it has ended or is wide, a smaller case of the same problem.
//! 2. A *wide* scan takes its split: the inside tokens as a whole, and for each byte that may
//!    follow the lexeme the crossing, whose remainders are split again by what reads them. Where
//!    many bytes may follow, what rows that expect the same have in common is found once
//!    ([`super::follow`]).
//! 3. Where what follows a lexeme can also go on with it (`WORD+`) and many tokens are inside,
//!    crossings are everywhere. Such scans are walked together, skipping what a closure of the
//!    whole state covers.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::engine::{Cache, EngineOptions};
use super::set::{Collector, Mask};
use crate::byteset::ByteSet;
use crate::index::{Id, NodeId, RegexId, StateId};
use crate::recogniser::{Recogniser, Scan};
use crate::split::closure;
use crate::split::descent::{Descent, Way};
use crate::split::walk::{Everything, Found, Shortcuts, walk, walk_narrow};
use crate::split::{self, Crossing, Split, TokenSet};
use crate::vocab::Vocabulary;
use crate::vocab::atoms::atoms_with_byte;
use crate::vocab::bits::TokenBits;
use crate::vocab::trie::Trie;

/// Subtrees with at most this many tokens are walked at once.
const SMALL: usize = 16;
/// What goes on with at most this many bytes steps down remainders.
const NARROW_BYTES: usize = 2;
/// A scan is scattered only if it goes on with at least this many bytes, and only over this many
/// tokens.
const SCATTERED_BYTES: usize = 20;
const SCATTERED_TOKENS: usize = 2_000;
/// Remainders of at most this many nodes are not split but read at once.
pub(super) const TINY: usize = 16;
/// Past this many lexemes' ends within a token, remainders are walked: on ambiguous grammars the
/// ways to split a token into lexemes multiply.
/// PERF: masks of `grammars/c_subset.gbnf` took 173 µs with 4, 123 with 3, 106 with 2, 335 with 1.
const MAX_LEVEL: u32 = 2;
/// Counters greater than one of these are taken away; tokens longer than it are then looked at one
/// by one. Llama 3's vocabulary of 128,000 has 123, 231 and 1,312 of them.
const REACHES: [u32; 3] = [64, 32, 16];
/// The most steps of a search by scans; `grammars/c_subset.gbnf` takes up to 681.
const MAX_STEPS: usize = 20_000;
/// Room for the scans that go on with a few bytes.
pub(super) const FEW_SCANS: usize = 8;
/// Past this depth in the trie everything is walked, so that recursion stays bounded.
const MAX_DEPTH: u32 = 64;

/// Finds masks for the states of a cache.
pub(super) struct Allow<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) options: &'a EngineOptions,
    /// For each token terminal the tokens it stands for.
    pub(super) terminals: &'a [TokenBits],
    pub(super) cache: &'a mut Cache,
    pub(super) out: Collector,
    /// Steps of the search so far.
    pub(super) steps: usize,
    /// The states that were met below nodes of the trie.
    pub(super) seen: FxHashSet<(StateId, NodeId)>,
}

impl Allow<'_> {
    /// The mask of a state.
    pub(super) fn mask(mut self, state: StateId) -> Mask {
        if self.options.splits {
            self.allow(state, (Trie::ROOT, 0), 0);
        }
        if !self.options.splits || self.is_lost() {
            self.out = Collector::default();
            self.walk_state(state, (Trie::ROOT, 0));
        }
        let recogniser = &self.cache.recogniser;
        if recogniser.accepts(state) {
            self.out.add_list(self.vocabulary.eos());
        }
        for &terminal in recogniser.token_terminals(state) {
            self.out.add_bits(&self.terminals[terminal.index()]);
        }
        let (mask, room) = self.out.finish(self.vocabulary);
        self.cache.room = room;
        mask
    }

    /// Whether the search has gone on for too long: on very ambiguous grammars there are many ways
    /// to cut a token into lexemes, and the search by scans tries them all. The walk of whole states
    /// does not, so it takes over.
    fn is_lost(&self) -> bool {
        self.steps > MAX_STEPS || self.out.listed() > 4 * self.vocabulary.len() + MAX_STEPS
    }

    /// Adds the tokens below a node (with its depth) that `state` can go on with. `level` counts
    /// lexemes' ends.
    fn allow(&mut self, state: StateId, at: (NodeId, u32), level: u32) {
        self.steps += 1;
        // Rows come together again where lexemes can be cut in several ways.
        if self.is_lost() || at.1 > 0 && !self.seen.insert((state, at.0)) {
            return;
        }
        if level > MAX_LEVEL {
            self.walk_state(state, at);
            return;
        }
        let scans = self.cache.recogniser.scans(state);
        let mut together: Vec<Scan> = Vec::new();
        for &scan in &scans {
            if !self.allow_scan(scan, at, level) {
                together.push(scan);
            }
        }
        if !together.is_empty() {
            let rest = if together.len() == scans.len() {
                state
            } else {
                self.cache.recogniser.state_of(&together)
            };
            self.walk_state(rest, at);
        }
    }

    /// Adds the tokens below a node that a scan can go on with; false (and nothing added) where it
    /// is better walked together with others.
    fn allow_scan(&mut self, scan: Scan, at: (NodeId, u32), level: u32) -> bool {
        let (node, depth) = at;
        let vocabulary = self.vocabulary;
        let below = vocabulary.trie.count_below(node);
        if below == 0 {
            return true;
        }
        if let Way::Narrow(descent) = self.way(scan.rest, at) {
            self.descend(scan, &descent, level);
            return true;
        }
        depth < MAX_DEPTH
            && !self.is_scattered(scan.rest, node)
            && self.allow_by_split(scan, at, level)
    }

    fn way(&mut self, state: RegexId, at: (NodeId, u32)) -> Way {
        if let Some(known) = self.cache.ways.get(&(state, at.0)) {
            return known.clone();
        }
        let way = Way::find(self.vocabulary, self.cache.recogniser.lexer_mut(), state, at);
        self.cache.way_bytes += way.memory_bytes();
        self.cache.ways.insert((state, at.0), way.clone());
        way
    }

    /// Whether a lexer state goes on with many bytes but ends soon after each, as a single character
    /// does: then most tokens are crossings, and closures of whole states tell more.
    fn is_scattered(&mut self, state: RegexId, node: NodeId) -> bool {
        if !self.options.closures || self.vocabulary.trie.count_below(node) < SCATTERED_TOKENS {
            return false;
        }
        let Cache { recogniser, lexer_closures, .. } = &mut *self.cache;
        let lexer = recogniser.lexer_mut();
        let relaxed = lexer.clamp(state, REACHES[0]);
        let bytes = lexer.first(relaxed).len();
        if bytes < SCATTERED_BYTES || lexer.regexes().single_bytes(relaxed).len() < bytes / 4 {
            return false;
        }
        let closure = closure::find_if_worth(lexer_closures, lexer, relaxed, usize::MAX);
        (closure.atoms.count_ones() as usize) < bytes / 8
    }

    /// Adds what a narrow scan allows.
    ///
    /// PERF: what a lexeme does is remembered for all rows it starts in; stepping down again for each
    /// took 7 % of the instructions of masks that are found.
    ///
    /// PERF: lexeme by lexeme, not with the recogniser, whose states along every name that may come
    /// next would have to be made: masks of 600 JSON schemas took 5.1 µs in the mean, 4.5 with this.
    fn descend(&mut self, scan: Scan, descent: &Descent, level: u32) {
        self.out.add_list(&descent.tokens);
        if !descent.ends.is_empty() {
            let row = self.cache.recogniser.after(scan);
            let first = self.cache.recogniser.first_of_row(row);
            let next = self.cache.recogniser.state_at(row);
            let trie = &self.vocabulary.trie;
            for &end in descent.ends.iter().filter(|end| goes_on(trie, end.0, &first)) {
                if self.vocabulary.trie.count_below(end.0) <= SMALL {
                    self.read(next, &self.vocabulary.trie, end.0);
                } else {
                    self.allow(next, end, level + 1);
                }
            }
        }
        let mut together: Vec<(Scan, (NodeId, u32))> = Vec::new();
        for &(rest, at) in &descent.wide {
            let scan = Scan { rest, ..scan };
            if !self.allow_scan(scan, at, level) {
                together.push((scan, at));
            }
        }
        for (scan, at) in together {
            let state = self.cache.recogniser.state_of(&[scan]);
            self.walk_state(state, at);
        }
    }

    /// Adds what a wide scan allows; false (and nothing added) where crossings are everywhere.
    fn allow_by_split(&mut self, scan: Scan, at: (NodeId, u32), level: u32) -> bool {
        let split = self.split(scan.rest, at);
        if split.never_ends() {
            self.out.add_split(&split);
            return true;
        }
        let row = self.cache.recogniser.after(scan);
        let next = self.cache.recogniser.state_at(row);
        let first = self.cache.recogniser.first(next);
        let overlaps = |byte| atoms_with_byte(byte) & split.overlap.atoms != 0;
        if split.overlap.accepts
            && matches!(split.inside, TokenSet::Bits { .. })
            && first.iter().any(overlaps)
        {
            return false;
        }
        self.out.add_split(&split);
        let place = (scan.rest, at.0);
        let expected = self.cache.recogniser.expected(row);
        let known = self.known_follow(place, expected);
        let bytes = known.as_ref().map_or(first, |follow| follow.open);
        let lexer = self.cache.recogniser.lexer_mut();
        let crossings = split.crossings(self.vocabulary, lexer, at, scan.rest, &bytes);
        let follow = if known.is_none() && level == 0 && crossings.len() >= self.options.follow_from
        {
            Some(self.find_follow(place, expected, next, &crossings))
        } else {
            known
        };
        if let Some(follow) = &follow {
            self.out.add_split(&follow.tokens);
        }
        let listed = follow.is_some();
        for (byte, crossing) in crossings {
            if follow.as_ref().is_some_and(|follow| !follow.open.contains(byte)) {
                continue;
            }
            if let Some(next) = self.enter(&crossing, next, (byte, listed)) {
                self.allow_remainders(next, &crossing, level + 1, listed);
                for &node in &crossing.big {
                    self.allow(next, node, level + 1);
                }
            }
        }
        true
    }

    /// Adds the tokens that end with a crossing's byte; gives the state after it if more follow.
    /// `listed` says that the tokens are there already.
    fn enter(
        &mut self,
        crossing: &Crossing,
        state: StateId,
        (byte, listed): (u8, bool),
    ) -> Option<StateId> {
        if !listed {
            self.out.add_list(&crossing.ending);
        }
        if crossing.remainders.is_empty() && crossing.big.is_empty() {
            return None;
        }
        Some(self.cache.recogniser.step(state, byte))
    }

    /// Adds the tokens whose remainder `state` can go on with. `level` counts lexemes' ends.
    ///
    /// PERF: splitting the remainders by lexer state, once for all rows, instead of walking them
    /// with the recogniser, which meets new states under each new row.
    fn allow_remainders(
        &mut self,
        state: StateId,
        crossing: &Arc<Crossing>,
        level: u32,
        listed: bool,
    ) {
        self.steps += 1;
        if crossing.remainders.is_empty() || self.is_lost() {
            return;
        }
        if level >= MAX_LEVEL || crossing.remainders.len() <= TINY {
            self.read(state, &crossing.remainders, Trie::ROOT);
            return;
        }
        let mut scans: SmallVec<[Scan; FEW_SCANS]> = SmallVec::new();
        self.cache.recogniser.under_way_on(state, &crossing.first, &mut scans);
        let under_way = scans.len();
        self.cache.recogniser.starting_on(state, &crossing.first, &mut scans);
        for (index, scan) in scans.into_iter().enumerate() {
            if self.is_narrow(scan) {
                self.read_scan(scan, &crossing.remainders);
                continue;
            }
            let split = self.split_remainders(crossing, scan.rest);
            if index >= under_way || !listed {
                self.out.add_split(&split);
            }
            if split.never_ends() {
                continue;
            }
            let row = self.cache.recogniser.after(scan);
            let next = self.cache.recogniser.state_at(row);
            let first = self.cache.recogniser.first(next);
            let remainders = &crossing.remainders;
            for (byte, inner) in split.crossings_of_remainders(self.vocabulary, remainders, &first)
            {
                if let Some(next) = self.enter(&inner, next, (byte, false)) {
                    self.allow_remainders(next, &inner, level + 1, false);
                }
            }
        }
    }

    /// Adds the tokens below a node of a trie that `state` can go on with, by walking it.
    ///
    /// PERF: cached splits of remainders of a few nodes took gigabytes where every lexeme is one
    /// character. Reading each lexeme by itself, as far as two ends, makes fewer states but more
    /// rows: masks of `grammars/c_subset.gbnf` took 624 million instructions so, 564 without.
    fn read(&mut self, state: StateId, trie: &Trie, node: NodeId) {
        self.steps += 1;
        if self.is_lost() {
            return;
        }
        let mut found = Found::default();
        let recogniser = &mut self.cache.recogniser;
        walk(recogniser, trie, (node, 0), state, Everything::None, &mut found);
        for range in found.alive.iter() {
            self.out.add_range(trie, range);
        }
    }

    /// Adds the tokens of a trie that a scan of few bytes can go on with.
    fn read_scan(&mut self, scan: Scan, trie: &Trie) {
        let mut found = Found::default();
        let lexer = self.cache.recogniser.lexer_mut();
        walk_narrow(lexer, trie, Trie::ROOT, scan.rest, NARROW_BYTES, &mut found);
        for range in found.alive.iter() {
            self.out.add_range(trie, range);
        }
        if found.ends.is_empty() {
            return;
        }
        let row = self.cache.recogniser.after(scan);
        let first = self.cache.recogniser.first_of_row(row);
        let next = self.cache.recogniser.state_at(row);
        for (end, _) in found.ends.into_iter().filter(|end| goes_on(trie, end.0, &first)) {
            self.read(next, trie, end);
        }
    }

    /// Whether a scan steps down remainders instead of splitting them.
    pub(super) fn is_narrow(&self, scan: Scan) -> bool {
        self.cache.recogniser.lexer().first(scan.rest).len() <= NARROW_BYTES
    }

    pub(super) fn split_remainders(
        &mut self,
        crossing: &Arc<Crossing>,
        state: RegexId,
    ) -> Arc<Split> {
        let key = (Arc::as_ptr(crossing).addr(), state);
        if let Some((_, known)) = self.cache.remainder_splits.get(&key) {
            return Arc::clone(known);
        }
        let lexer = self.cache.recogniser.lexer_mut();
        let split = crossing.split(self.vocabulary, lexer, state);
        // Keeping the crossing keeps its address from being used for another.
        let kept = (Arc::clone(crossing), Arc::clone(&split));
        self.cache.remainder_splits.insert(key, kept);
        split
    }

    /// Walks the recogniser itself over the tokens below a node.
    fn walk_state(&mut self, state: StateId, at: (NodeId, u32)) {
        let vocabulary = self.vocabulary;
        let mut found = Found::default();
        let Cache { recogniser, state_closures, .. } = &mut *self.cache;
        if self.options.closures && vocabulary.trie.count_below(at.0) > SMALL {
            let mut closure_of =
                |recogniser: &mut Recogniser, state: StateId, height: u32, tokens: usize| {
                    let state = recogniser.clamp(state, height);
                    closure::find_if_worth(state_closures, recogniser, state, tokens)
                };
            let mut covered = None;
            if at.0 == Trie::ROOT {
                let closure = closure_of(recogniser, state, u32::MAX, usize::MAX);
                if closure.atoms != 0 {
                    self.out.add_bits(&vocabulary.atoms.tokens_within(closure.atoms));
                    covered = Some(closure);
                }
            }
            let shortcuts = Shortcuts { atoms: &vocabulary.atoms, covered, closure: closure_of };
            walk(recogniser, &vocabulary.trie, at, state, Some(shortcuts), &mut found);
        } else {
            walk(recogniser, &vocabulary.trie, at, state, Everything::None, &mut found);
        }
        for range in found.alive.iter() {
            self.out.add_range(&vocabulary.trie, range);
        }
    }

    fn split(&mut self, state: RegexId, at: (NodeId, u32)) -> Arc<Split> {
        if let Some(known) = self.cache.splits.get(&(state, at.0)) {
            return Arc::clone(known);
        }
        let identity = self.cache.recogniser.lexer().regexes().identity(state);
        let store = &self.vocabulary.splits;
        let split = store.get(identity, at.0).unwrap_or_else(|| {
            let split = self.find_split(state, at);
            store.insert(identity, at.0, split)
        });
        self.cache.splits.insert((state, at.0), Arc::clone(&split));
        split
    }

    /// A split that is not known: if possible it is made of that of another state.
    fn find_split(&mut self, state: RegexId, at: (NodeId, u32)) -> Split {
        if self.options.relatives {
            let lexer = self.cache.recogniser.lexer_mut();
            if let Some(whole) = lexer.regexes_mut().with_exceptions(state) {
                if split::differ_little(lexer, state, whole) {
                    let base = self.split(whole, at);
                    let lexer = self.cache.recogniser.lexer_mut();
                    let split = base.with_exceptions(self.vocabulary, lexer, at, state, whole);
                    if let Some(split) = split {
                        return split;
                    }
                }
            } else if let Some(split) = split::of_counted(self.vocabulary, lexer, at, state) {
                return split;
            }
        }
        if let Some((relaxed, reach)) = self.relaxed(state, at) {
            let base = self.split(relaxed, at);
            let lexer = self.cache.recogniser.lexer_mut();
            return base.patched(self.vocabulary, lexer, state, reach);
        }
        let Cache { recogniser, lexer_closures, .. } = &mut *self.cache;
        Split::new(
            self.vocabulary,
            recogniser.lexer_mut(),
            lexer_closures,
            at,
            state,
            self.options.closures,
        )
    }

    /// A state whose counters can't run out within some bytes (also given) and that goes on
    /// exactly as `state` does for that many bytes.
    fn relaxed(&mut self, state: RegexId, at: (NodeId, u32)) -> Option<(RegexId, u32)> {
        if at.0 != Trie::ROOT || !self.options.clamp {
            return None;
        }
        let lexer = self.cache.recogniser.lexer_mut();
        let count = lexer.regexes().largest_count(state);
        REACHES.into_iter().filter(|&reach| count > reach).find_map(|reach| {
            let relaxed = lexer.clamp(state, reach);
            (relaxed != state).then_some((relaxed, reach))
        })
    }
}

/// Whether a node goes on with one of the bytes.
///
/// PERF: three of four ends of operators and keywords are followed by nothing that can come next;
/// masks of `grammars/arithmetic.lark` took 56 million instructions, 45 where that is asked first.
fn goes_on(trie: &Trie, node: NodeId, bytes: &ByteSet) -> bool {
    trie.children(node).any(|child| bytes.contains(trie.byte(child)))
}
