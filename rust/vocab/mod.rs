//! The vocabulary of a model: token bytes → trie, signatures, atom indexes.
//!
//! Takes the bytes of every token with the special and end-of-sequence ids; gives a [`Vocabulary`],
//! which never changes and is shared by all grammars and threads. It knows no grammar. (The store
//! of splits that it carries is opaque to it: a bounded cache that every grammar shares.)

pub mod atoms;
pub mod bits;
pub mod characters;
pub mod decode;
pub mod pairs;
pub mod paths;
pub mod trie;

use std::fmt;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::index::{Id, TokenId};
use crate::split::SplitStore;
use atoms::AtomIndex;
use bits::TokenBits;
use characters::CharacterCounts;
use pairs::PairIndex;
use paths::Paths;
use trie::Trie;

/// Why a vocabulary can't be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VocabularyError(String);

impl fmt::Display for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VocabularyError {}

/// The most tokens a vocabulary may have; also the largest width.
const MAX_TOKENS: usize = 1 << 24;
/// The most bytes all tokens may have together.
const MAX_BYTES: usize = 1 << 30;

/// The tokens of a model.
///
/// Text tokens are matched by their bytes. Special tokens (end of sequence among them) never match
/// as text: their bytes are only the name by which a grammar's token terminals ask for them.
#[derive(Debug)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
    width: usize,
    eos: Vec<TokenId>,
    special: TokenBits,
    names: FxHashMap<Box<[u8]>, Vec<TokenId>>,
    /// The text tokens, the longest first.
    by_length: Vec<TokenId>,
    longest: usize,
    fingerprint: u64,
    pub(crate) trie: Trie,
    pub(crate) paths: Paths,
    pub(crate) pairs: PairIndex,
    pub(crate) atoms: AtomIndex,
    pub(crate) characters: CharacterCounts,
    pub(crate) splits: SplitStore,
}

impl Vocabulary {
    /// A vocabulary of `tokens`, the bytes of each token by id.
    ///
    /// Empty bytes: a token that is never allowed (a hole in the ids). `eos` and `special` are
    /// ids; `eos` must not be empty. `width` is the number of logits, at least the number of
    /// tokens; ids from there to `width` are never allowed.
    pub fn new(
        tokens: &[impl AsRef<[u8]>],
        eos: &[u32],
        special: &[u32],
        width: Option<usize>,
    ) -> Result<Self, VocabularyError> {
        let error = |message: String| Err(VocabularyError(message));
        let width = width.unwrap_or(tokens.len());
        if tokens.is_empty() {
            return error("the vocabulary has no tokens; pass the bytes of each token".into());
        }
        if width < tokens.len() {
            return error(format!(
                "width {width} is less than the number of tokens, {}; \
                 width is the number of logits, padding included",
                tokens.len()
            ));
        }
        if width > MAX_TOKENS {
            return error(format!("width {width} is more than the limit of {MAX_TOKENS}"));
        }
        if eos.is_empty() {
            return error(
                "no end-of-sequence token: pass eos_token_ids, or a finished text can't end".into(),
            );
        }
        for (name, ids) in [("eos_token_ids", eos), ("special_token_ids", special)] {
            if let Some(id) = ids.iter().find(|&&id| id as usize >= tokens.len()) {
                return error(format!(
                    "{name} has {id}, which is not the id of a token; the ids are 0 to {}",
                    tokens.len() - 1
                ));
            }
        }
        let total: usize = tokens.iter().map(|token| token.as_ref().len()).sum();
        if total > MAX_BYTES {
            return error(format!("{total} bytes of tokens are more than the limit {MAX_BYTES}"));
        }

        let mut bytes = Vec::with_capacity(total);
        let mut offsets = Vec::with_capacity(tokens.len() + 1);
        let mut longest = 0;
        offsets.push(0);
        for token in tokens {
            let token = token.as_ref();
            longest = longest.max(token.len());
            bytes.extend_from_slice(token);
            offsets.push(bytes.len() as u32);
        }
        let mut eos: Vec<TokenId> = eos.iter().map(|&id| TokenId(id)).collect();
        eos.sort_unstable();
        eos.dedup();
        let mut special_bits = TokenBits::new(width);
        for &id in special.iter().chain(eos.iter().map(|id| &id.0)) {
            special_bits.insert(TokenId(id));
        }

        let mut names: FxHashMap<Box<[u8]>, Vec<TokenId>> = FxHashMap::default();
        let mut ids = Vec::with_capacity(tokens.len());
        let token =
            |id: TokenId| &bytes[offsets[id.index()] as usize..offsets[id.index() + 1] as usize];
        for id in (0..tokens.len()).map(TokenId::new) {
            if special_bits.contains(id) {
                names.entry(token(id).into()).or_default().push(id);
            } else if !token(id).is_empty() {
                ids.push(id);
            }
        }
        let mut sorted_bytes = Vec::with_capacity(bytes.len());
        let text = sorted(ids, token, &mut sorted_bytes);
        let trie = Trie::build(&text);
        let paths = Paths::build(&trie, width);
        let pairs = PairIndex::build(&trie, &paths);
        let atoms = AtomIndex::build(&trie, &text, width);
        let characters = CharacterCounts::build(&text, width);

        let mut by_length: Vec<(u32, TokenId)> =
            text.iter().map(|&(bytes, id)| (bytes.len() as u32, id)).collect();
        by_length.sort_by_key(|&(length, _)| std::cmp::Reverse(length));
        let by_length = by_length.iter().map(|&(_, id)| id).collect();

        let mut hasher = FxHasher::default();
        (&bytes, &offsets, width, &eos, special_bits.words()).hash(&mut hasher);
        let fingerprint = hasher.finish();
        let splits = SplitStore::default();
        Ok(Self {
            bytes,
            offsets,
            width,
            eos,
            special: special_bits,
            names,
            by_length,
            longest,
            fingerprint,
            trie,
            paths,
            pairs,
            atoms,
            characters,
            splits,
        })
    }

    /// The number of tokens, without padding.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no tokens: never, since such a vocabulary can't be built.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of logits, padding included.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of 32-bit words of a mask.
    pub fn mask_words(&self) -> usize {
        self.width.div_ceil(32)
    }

    /// The bytes of a token as they were given; none for ids in the padding.
    pub fn token_bytes(&self, id: TokenId) -> &[u8] {
        match self.offsets.get(id.index()..id.index() + 2) {
            Some(ends) => &self.bytes[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }

    /// The end-of-sequence tokens, in ascending order.
    pub fn eos(&self) -> &[TokenId] {
        &self.eos
    }

    /// Whether a token is special (end of sequence included).
    pub fn is_special(&self, id: TokenId) -> bool {
        self.special.contains(id)
    }

    /// Whether a token ends the sequence.
    pub fn is_eos(&self, id: TokenId) -> bool {
        self.eos.contains(&id)
    }

    /// Length of the longest token in bytes.
    pub fn longest_token(&self) -> usize {
        self.longest
    }

    /// The text tokens of more than `length` bytes.
    pub(crate) fn longer_than(&self, length: usize) -> impl Iterator<Item = TokenId> {
        let longer = move |id: &TokenId| self.token_bytes(*id).len() > length;
        self.by_length.iter().copied().take_while(longer)
    }

    /// The tokens known under a name: the special ones with these bytes, else the text ones.
    pub fn tokens_named(&self, name: &[u8]) -> Vec<TokenId> {
        match self.names.get(name) {
            Some(ids) => ids.clone(),
            None => self.trie.find(name).map_or_else(Vec::new, |n| self.trie.tokens_at(n).to_vec()),
        }
    }

    /// Names of special tokens, for hints.
    pub fn special_names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.keys().map(|name| &**name)
    }

    /// Equal vocabularies have equal fingerprints: a hash of bytes, specials and width.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The most bytes of splits that are kept for all grammars.
    pub fn cache_limit(&self) -> usize {
        self.splits.limit()
    }

    /// Sets the most bytes of splits that are kept for all grammars.
    pub fn set_cache_limit(&self, bytes: usize) {
        self.splits.set_limit(bytes);
    }

    /// Bytes of memory held, the shared splits included.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
            + (self.offsets.capacity() + self.by_length.capacity()) * 4
            + self.trie.memory_bytes()
            + self.paths.memory_bytes()
            + self.pairs.memory_bytes()
            + self.atoms.memory_bytes()
            + self.characters.memory_bytes()
            + self.splits.memory_bytes()
    }
}

/// The tokens in the order of their bytes, which are copied to `room` in that order.
///
/// PERF: 128,256 tokens: sorting by bytes that lie anywhere took 25 of a vocabulary's 100 ms, and
/// the cache's misses of all who read them there in that order 30 more. With this a vocabulary
/// takes 40 ms.
fn sorted<'a>(
    ids: Vec<TokenId>,
    token: impl Fn(TokenId) -> &'a [u8],
    room: &'a mut Vec<u8>,
) -> Vec<(&'a [u8], TokenId)> {
    let start = |id: TokenId| {
        let bytes = token(id);
        let mut start = [0; 8];
        let length = bytes.len().min(8);
        start[..length].copy_from_slice(&bytes[..length]);
        u64::from_be_bytes(start)
    };
    let mut order: Vec<(u64, TokenId)> = ids.into_iter().map(|id| (start(id), id)).collect();
    order.sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| (token(a.1), a.1).cmp(&(token(b.1), b.1)))
    });
    for &(_, id) in &order {
        room.extend_from_slice(token(id));
    }
    let mut rest: &[u8] = room;
    let cut = |&(_, id): &(u64, TokenId)| {
        let (bytes, behind) = rest.split_at(token(id).len());
        rest = behind;
        (bytes, id)
    };
    order.iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_it_cannot_use() {
        let none: [&str; 0] = [];
        assert!(Vocabulary::new(&none, &[0], &[], None).is_err());
        assert!(Vocabulary::new(&["a"], &[], &[], None).is_err());
        assert!(Vocabulary::new(&["a"], &[1], &[], None).is_err());
        assert!(Vocabulary::new(&["a", "b"], &[1], &[7], None).is_err());
        assert!(Vocabulary::new(&["a", "b"], &[1], &[], Some(1)).is_err());
    }

    #[test]
    fn tokens_are_sorted_by_all_their_bytes() {
        let tokens: [&[u8]; 8] = [
            b"abcdefghz",
            b"a\0",
            b"\xff",
            b"abcdefgh",
            b"abcdefgh\0",
            b"abcdefgha",
            b"a",
            b"\xff",
        ];
        let ids = (0..tokens.len()).map(TokenId::new).collect();
        let mut room = Vec::new();
        let found = sorted(ids, |id| tokens[id.index()], &mut room);
        let mut expected: Vec<(&[u8], TokenId)> =
            tokens.into_iter().zip((0..).map(TokenId)).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(found[2], (b"abcdefgh".as_slice(), TokenId(3)));
    }

    #[test]
    fn special_tokens_have_names_and_no_text() {
        let v = Vocabulary::new(&["a", "<e>", "", "a"], &[1], &[], Some(40)).unwrap();
        assert_eq!(v.tokens_named(b"<e>"), [TokenId(1)]);
        assert_eq!(v.tokens_named(b"a"), [TokenId(0), TokenId(3)]);
        assert!(v.trie.find(b"<e>").is_none());
        assert_eq!((v.len(), v.width(), v.mask_words()), (4, 40, 2));
        assert!(v.token_bytes(TokenId(39)).is_empty());
    }
}
