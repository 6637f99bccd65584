//! One grammar with one vocabulary: the caches that all their matchers share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use rustc_hash::{FxHashMap, FxHashSet};

use super::allow::Allow;
use super::follow::Follow;
use super::known::KnownMasks;
use super::set::{Collector, Mask};
use crate::compile::{CompileOptions, CompiledGrammar, compile};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::{TokenRef, TokenTerminal};
use crate::index::{ExpectedId, Id, NodeId, RegexId, StateId, TokenId};
use crate::recogniser::Recogniser;
use crate::split::closure::Closure;
use crate::split::descent::Way;
use crate::split::{Closures, Crossing, Split};
use crate::vocab::Vocabulary;
use crate::vocab::bits::TokenBits;

/// Which optimisations to make, and how much to remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each named")]
pub struct EngineOptions {
    /// Split the vocabulary by lexer state instead of walking the trie for each mask.
    pub splits: bool,
    /// Skip what closed sets of states cover.
    pub closures: bool,
    /// Take states for equal whose counters of repetition can't run out within a token.
    pub clamp: bool,
    /// Make splits out of those of states that are alike but for exceptions and bounds.
    pub relatives: bool,
    /// Remember what follows a lexeme within tokens for all rows that expect the same lexemes, if
    /// at least so many bytes may follow it.
    pub follow_from: usize,
    /// Keep masks by state.
    pub mask_cache: bool,
    /// The most bytes that the caches of this grammar hold. Past it, masks that nobody asked for
    /// again are dropped; if that is not enough, everything is, and matchers find their place
    /// again from the tokens they have accepted.
    pub cache_bytes: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            splits: true,
            closures: true,
            clamp: true,
            relatives: true,
            follow_from: 16,
            mask_cache: true,
            cache_bytes: 64 << 20,
        }
    }
}

/// Everything learned so far about a grammar and a vocabulary.
#[derive(Debug)]
pub(crate) struct Cache {
    /// Counts how often everything was dropped; ids of states belong to one generation.
    pub(crate) generation: u64,
    pub(crate) recogniser: Recogniser,
    masks: KnownMasks,
    /// What narrow lexer states go on with below nodes, and which are not narrow.
    pub(super) ways: FxHashMap<(RegexId, NodeId), Way>,
    pub(super) way_bytes: usize,
    /// The splits used here, by this grammar's names for lexer states.
    pub(super) splits: FxHashMap<(RegexId, NodeId), Arc<Split>>,
    /// The splits of crossings' remainders, by the crossing's address.
    pub(super) remainder_splits: FxHashMap<(usize, RegexId), (Arc<Crossing>, Arc<Split>)>,
    /// What follows splits' lexemes where some lexemes are expected.
    pub(super) follows: FxHashMap<(RegexId, NodeId, ExpectedId), Follow>,
    pub(super) follow_bytes: usize,
    pub(super) lexer_closures: Closures,
    pub(super) state_closures: FxHashMap<StateId, Closure>,
    /// Room for the tokens of a mask that is being found.
    pub(super) room: Vec<TokenId>,
    /// Something is dropped past this many bytes.
    limit: usize,
}

impl Cache {
    fn new(grammar: &Arc<CompiledGrammar>, generation: u64, limit: usize) -> Self {
        Self {
            generation,
            recogniser: Recogniser::new(grammar),
            masks: KnownMasks::default(),
            ways: FxHashMap::default(),
            way_bytes: 0,
            splits: FxHashMap::default(),
            remainder_splits: FxHashMap::default(),
            follows: FxHashMap::default(),
            follow_bytes: 0,
            lexer_closures: Closures::default(),
            state_closures: FxHashMap::default(),
            room: Vec::new(),
            limit,
        }
    }

    fn memory_bytes(&self) -> usize {
        self.recogniser.memory_bytes()
            + self.masks.memory_bytes()
            + self.way_bytes
            + self.follow_bytes
            + (self.ways.capacity() + self.splits.capacity() + self.remainder_splits.capacity())
                * 32
            + (self.lexer_closures.capacity() + self.state_closures.capacity()) * 32
    }

    /// The mask of a state, if it is known.
    pub(crate) fn known_mask(&self, state: StateId) -> Option<&Arc<Mask>> {
        self.masks.get(state)
    }

    /// Drops what can be found again without finding states again: masks that nobody asked for a
    /// second time, and names of splits.
    fn forget(&mut self) {
        self.masks.forget();
        self.ways = FxHashMap::default();
        self.way_bytes = 0;
        self.splits = FxHashMap::default();
        self.remainder_splits = FxHashMap::default();
        self.follows = FxHashMap::default();
        self.follow_bytes = 0;
        self.lexer_closures = Closures::default();
        self.state_closures = FxHashMap::default();
    }
}

/// A compiled grammar bound to a vocabulary. `Send + Sync`; shared by `Arc`.
#[derive(Debug)]
pub struct Engine {
    grammar: Arc<CompiledGrammar>,
    vocabulary: Arc<Vocabulary>,
    options: EngineOptions,
    /// For each token terminal the tokens it stands for.
    terminals: Vec<TokenBits>,
    cache: RwLock<Cache>,
    /// The most bytes that the caches hold.
    limit: AtomicUsize,
    /// The grammar as the user wrote it, for `expected()` and `explain()`.
    plain: OnceLock<(Arc<CompiledGrammar>, Vec<TokenBits>)>,
}

impl Engine {
    /// Binds a grammar to a vocabulary.
    ///
    /// # Errors
    /// A token terminal names a token that the vocabulary does not have.
    pub fn new(
        grammar: Arc<CompiledGrammar>,
        vocabulary: Arc<Vocabulary>,
        options: EngineOptions,
    ) -> Result<Self, GrammarError> {
        let terminals = bind(&grammar, &vocabulary)?;
        let cache = RwLock::new(Cache::new(&grammar, 0, options.cache_bytes));
        let limit = AtomicUsize::new(options.cache_bytes);
        Ok(Self { grammar, vocabulary, options, terminals, cache, limit, plain: OnceLock::new() })
    }

    /// The grammar.
    pub fn grammar(&self) -> &Arc<CompiledGrammar> {
        &self.grammar
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// For each token terminal the tokens it stands for.
    pub(crate) fn terminals(&self) -> &[TokenBits] {
        &self.terminals
    }

    /// Bytes of memory held by the grammar and its caches, without the vocabulary.
    pub fn memory_bytes(&self) -> usize {
        self.grammar.memory_bytes() + self.cache.read().memory_bytes()
    }

    /// Sets the most bytes that the caches hold, whatever the options said.
    pub fn set_cache_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
        self.cache.write().limit = bytes;
    }

    /// The caches, to look up what is known.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Cache> {
        self.cache.read()
    }

    /// The caches, to find out more. They may have been dropped: ids of states are good only if
    /// the generation is still the same.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Cache> {
        let mut cache = self.cache.write();
        if cache.memory_bytes() > cache.limit {
            cache.forget();
            // Not just below the limit, or it would soon be time again.
            if cache.memory_bytes() > cache.limit / 4 * 3 {
                let limit = self.limit.load(Ordering::Relaxed);
                *cache = Cache::new(&self.grammar, cache.generation + 1, limit);
            }
        }
        cache
    }

    /// Makes room for a matcher that fills the caches by its history alone, so that they are not
    /// dropped again before it has made a step.
    pub(crate) fn make_room(cache: &mut Cache) {
        cache.limit = cache.limit.max(2 * cache.memory_bytes());
    }

    /// The mask of a state, found or looked up.
    pub(crate) fn mask(&self, cache: &mut Cache, state: StateId) -> Arc<Mask> {
        if let Some(mask) = cache.masks.get(state) {
            return Arc::clone(mask);
        }
        // No token is longer, so counters past its length don't matter.
        let limit = self.vocabulary.longest_token() as u32;
        let alike = if self.options.clamp { cache.recogniser.clamp(state, limit) } else { state };
        let mask = match cache.masks.get(alike) {
            Some(mask) => Arc::clone(mask),
            None => self.find_mask(cache, alike),
        };
        if self.options.mask_cache && alike != state {
            cache.masks.insert(state, Arc::clone(&mask), true);
        }
        mask
    }

    fn find_mask(&self, cache: &mut Cache, state: StateId) -> Arc<Mask> {
        let out = Collector::with_room(std::mem::take(&mut cache.room));
        let allow = Allow {
            vocabulary: &self.vocabulary,
            options: &self.options,
            terminals: &self.terminals,
            cache,
            out,
            steps: 0,
            seen: FxHashSet::default(),
        };
        let mask = Arc::new(allow.mask(state));
        if self.options.mask_cache {
            cache.masks.insert(state, Arc::clone(&mask), false);
        }
        mask
    }

    /// The grammar compiled without optimisations, so that its lexemes are the user's terminals,
    /// and the tokens that its token terminals stand for.
    pub(crate) fn plain(&self) -> &(Arc<CompiledGrammar>, Vec<TokenBits>) {
        self.plain.get_or_init(|| {
            // What compiled with optimisations compiles without; limits apply to both.
            let grammar = compile(&self.grammar.source, &CompileOptions::PLAIN)
                .map_or_else(|_| Arc::clone(&self.grammar), Arc::new);
            let terminals =
                bind(&grammar, &self.vocabulary).unwrap_or_else(|_| self.terminals.clone());
            (grammar, terminals)
        })
    }
}

/// For each token terminal the tokens it stands for.
fn bind(
    grammar: &CompiledGrammar,
    vocabulary: &Vocabulary,
) -> Result<Vec<TokenBits>, GrammarError> {
    let bind_one = |terminal: &TokenTerminal| {
        let tokens = resolve(&terminal.token, vocabulary)?;
        let mut bits = TokenBits::new(vocabulary.width());
        if terminal.negated {
            for id in (0..vocabulary.len()).map(TokenId::new) {
                let exists = vocabulary.is_special(id) || !vocabulary.token_bytes(id).is_empty();
                if exists && !vocabulary.is_eos(id) && !tokens.contains(&id) {
                    bits.insert(id);
                }
            }
        } else {
            for id in tokens {
                bits.insert(id);
            }
        }
        Ok(bits)
    };
    grammar.tokens.iter().map(bind_one).collect()
}

fn resolve(token: &TokenRef, vocabulary: &Vocabulary) -> Result<Vec<TokenId>, GrammarError> {
    let unknown = |message: String| GrammarError::new(GrammarErrorKind::UnknownToken, message);
    match token {
        TokenRef::Id(id) if (*id as usize) < vocabulary.len() => Ok(vec![TokenId(*id)]),
        TokenRef::Id(id) => Err(unknown(format!(
            "the grammar asks for token <[{id}]>, but the vocabulary has ids 0 to {}",
            vocabulary.len() - 1
        ))
        .with_hint("is this the vocabulary that the grammar was written for?")),
        TokenRef::Name(name) => {
            let tokens = vocabulary.tokens_named(name.as_bytes());
            if !tokens.is_empty() {
                return Ok(tokens);
            }
            let mut known: Vec<String> = vocabulary
                .special_names()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect();
            known.sort();
            known.truncate(8);
            Err(unknown(format!("the vocabulary has no token {name}")).with_hint(format!(
                "some of its special tokens: {}; or name the token by its id, as in <[123]>",
                known.join(" ")
            )))
        }
    }
}
