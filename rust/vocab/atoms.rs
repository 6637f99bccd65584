//! Atoms: 64 groups of bytes and characters, and which tokens hold which.
//!
//! Every ASCII byte belongs to one atom; complete characters of 2, 3 and 4 bytes belong to five
//! (the C1 controls and the general punctuation apart, since line separators are among them); all
//! other bytes (parts of characters that the token cuts) are the atom `STRAY`. The
//! signature of a token is the set of its atoms as a `u64`. When a lexer state loops on a set of
//! atoms, every token made of these atoms alone is legal there, and no such token need be walked.

use super::bits::TokenBits;
use super::trie::Trie;
use crate::byteset::ByteSet;
use crate::index::{Id, NodeId, TokenId};

/// A set of atoms.
pub type Atoms = u64;

/// The first atoms of those that are kept together too.
///
/// PERF: of narrow alphabets nearly all atoms have to be taken away, each of them 16 KB of bits.
const GROUP: Atoms = 0b1111;

/// The first atom of complete characters beyond ASCII; those of [`CHARACTERS`] in order.
const FIRST_CHARACTER: u32 = 58;
/// The atom of bytes that are only a part of a character within the token.
pub const STRAY: Atoms = 1 << 63;

/// The atoms of characters beyond ASCII, and of their parts.
pub const BEYOND_ASCII: Atoms = !0 << FIRST_CHARACTER;

/// Bytes of a character: the first lead byte, the last, and the range of the byte that follows
/// them; further bytes are any continuation bytes (RFC 3629).
pub type Sequence = (u8, u8, u8, u8);

/// The groups of characters beyond ASCII: length and sequences.
pub static CHARACTERS: [(usize, &[Sequence]); 5] = [
    // C1 controls, U+0085 (next line) among them.
    (2, &[(0xc2, 0xc2, 0x80, 0x9f)]),
    (2, &[(0xc2, 0xc2, 0xa0, 0xbf), (0xc3, 0xdf, 0x80, 0xbf)]),
    // U+2000 to U+207F: spaces, quotes, U+2028 and U+2029 (line and paragraph separators).
    (3, &[(0xe2, 0xe2, 0x80, 0x81)]),
    (
        3,
        &[
            (0xe0, 0xe0, 0xa0, 0xbf),
            (0xe1, 0xe1, 0x80, 0xbf),
            (0xe2, 0xe2, 0x82, 0xbf),
            (0xe3, 0xec, 0x80, 0xbf),
            (0xed, 0xed, 0x80, 0x9f),
            (0xee, 0xef, 0x80, 0xbf),
        ],
    ),
    (4, &[(0xf0, 0xf0, 0x90, 0xbf), (0xf1, 0xf3, 0x80, 0xbf), (0xf4, 0xf4, 0x80, 0x8f)]),
];

/// ASCII bytes in groups: each punctuation mark and each common white space is its own atom;
/// letters are split where hexadecimal digits, exponents and escapes need it.
const LETTER_GROUPS: [&[u8]; 18] = [
    b"abcd",
    b"e",
    b"f",
    b"ghijklm",
    b"n",
    b"opq",
    b"r",
    b"s",
    b"t",
    b"u",
    b"vw",
    b"x",
    b"yz",
    b"ABCD",
    b"E",
    b"F",
    b"0",
    b"123456789",
];

/// The atom of each ASCII byte.
static ASCII: [u8; 128] = ascii_atoms();

const fn ascii_atoms() -> [u8; 128] {
    // Atom 0: control characters. Atom 1: the letters that no group names (G to Z).
    let mut atoms = [0u8; 128];
    let mut next = 2u8;
    let mut group = 0;
    while group < LETTER_GROUPS.len() {
        let mut at = 0;
        while at < LETTER_GROUPS[group].len() {
            atoms[LETTER_GROUPS[group][at] as usize] = next;
            at += 1;
        }
        next += 1;
        group += 1;
    }
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        if b.is_ascii_punctuation() || matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            atoms[byte] = next;
            next += 1;
        } else if b >= b'G' && b <= b'Z' {
            atoms[byte] = 1;
        }
        byte += 1;
    }
    assert!(next as u32 <= FIRST_CHARACTER);
    atoms
}

/// The atoms a token may hold where it holds this byte.
pub fn atoms_with_byte(byte: u8) -> Atoms {
    match byte {
        0..=0x7f => 1 << ASCII[byte as usize],
        _ => BEYOND_ASCII,
    }
}

/// All atoms that texts of these bytes may hold.
pub fn atoms_with_bytes(bytes: &ByteSet) -> Atoms {
    bytes.iter().fold(0, |atoms, byte| atoms | atoms_with_byte(byte))
}

/// All bytes that texts of these atoms may hold.
pub fn bytes_of_atoms(atoms: Atoms) -> ByteSet {
    (0..=0xff).filter(|&byte| atoms_with_byte(byte) & atoms != 0).collect()
}

/// The ASCII bytes in the order of their atoms, and where those of each atom begin.
static ASCII_GROUPS: ([u8; 128], [u8; FIRST_CHARACTER as usize + 1]) = ascii_by_atom();

const fn ascii_by_atom() -> ([u8; 128], [u8; FIRST_CHARACTER as usize + 1]) {
    let atoms = ascii_atoms();
    let mut bytes = [0; 128];
    let mut starts = [0; FIRST_CHARACTER as usize + 1];
    let mut count = 0;
    let mut atom = 0;
    while atom < FIRST_CHARACTER as usize {
        let mut byte = 0;
        while byte < 128 {
            if atoms[byte] as usize == atom {
                bytes[count] = byte as u8;
                count += 1;
            }
            byte += 1;
        }
        atom += 1;
        starts[atom] = count as u8;
    }
    (bytes, starts)
}

/// The ASCII atoms with their bytes.
pub fn ascii_groups() -> impl Iterator<Item = (Atoms, &'static [u8])> {
    let (bytes, starts) = &ASCII_GROUPS;
    starts
        .windows(2)
        .enumerate()
        .map(|(atom, range)| (1 << atom, &bytes[usize::from(range[0])..usize::from(range[1])]))
}

/// The atom of a group of [`CHARACTERS`].
pub fn character_atom(group: usize) -> Atoms {
    1 << (FIRST_CHARACTER + group as u32)
}

/// The atom of a character beyond ASCII.
fn atom_of(c: char) -> Atoms {
    character_atom(match c {
        ..'\u{a0}' => 0,
        ..'\u{800}' => 1,
        '\u{2000}'..'\u{2080}' => 2,
        ..'\u{10000}' => 3,
        _ => 4,
    })
}

/// For each position of a token the atoms of the bytes from there on, when the token is read from
/// that position: `out[i]` for the suffix at `i`, and 0 for the empty suffix.
fn suffix_signatures(token: &[u8], out: &mut Vec<Atoms>) {
    out.clear();
    out.resize(token.len() + 1, 0);
    if token.is_ascii() {
        for at in (0..token.len()).rev() {
            out[at] = out[at + 1] | 1 << ASCII[token[at] as usize];
        }
        return;
    }
    // The complete character that starts at each position.
    let mut starts = vec![None; token.len()];
    let mut at = 0;
    for chunk in token.utf8_chunks() {
        for c in chunk.valid().chars() {
            starts[at] = Some(c);
            at += c.len_utf8();
        }
        at += chunk.invalid().len();
    }
    for at in (0..token.len()).rev() {
        out[at] = match starts[at] {
            Some(c) if c.is_ascii() => out[at + 1] | 1 << ASCII[c as usize],
            Some(c) => out[at + c.len_utf8()] | atom_of(c),
            None => out[at + 1] | STRAY,
        };
    }
}

/// Which tokens, and which subtrees of the trie, hold which atoms.
#[derive(Debug)]
pub struct AtomIndex {
    /// For each atom the tokens that hold it.
    tokens: Vec<TokenBits>,
    /// For each four atoms in a row the tokens that hold one of them.
    groups: Vec<TokenBits>,
    /// All text tokens.
    text: TokenBits,
    /// For each node the atoms of what follows it in the tokens below it.
    below: Vec<Atoms>,
    /// For each node the atoms of the whole tokens at and below it.
    whole: Vec<Atoms>,
    /// For each node the length of the longest rest of a token below it, at most 255.
    heights: Vec<u8>,
}

impl AtomIndex {
    /// Indexes the tokens of a trie, given in the trie's order.
    pub fn build(trie: &Trie, sorted: &[(&[u8], TokenId)], width: usize) -> Self {
        let mut tokens = vec![TokenBits::new(width); 64];
        let mut text = TokenBits::new(width);
        let mut below = vec![0; trie.len()];
        let mut whole = vec![0; trie.len()];
        let mut heights = vec![0u8; trie.len()];
        let mut path: Vec<NodeId> = vec![Trie::ROOT];
        let mut signatures = Vec::new();
        let mut before: &[u8] = &[];
        let mut next = 1;
        for &(bytes, id) in sorted {
            let shared = before.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            path.truncate(shared + 1);
            while path.len() <= bytes.len() {
                path.push(NodeId(next));
                next += 1;
            }
            before = bytes;
            suffix_signatures(bytes, &mut signatures);
            for (depth, node) in path.iter().enumerate() {
                below[node.index()] |= signatures[depth];
                whole[node.index()] |= signatures[0];
                let height = &mut heights[node.index()];
                *height = (*height).max((bytes.len() - depth).min(255) as u8);
            }
            text.insert(id);
            let mut rest = signatures[0];
            while rest != 0 {
                tokens[rest.trailing_zeros() as usize].insert(id);
                rest &= rest - 1;
            }
        }
        let size = GROUP.count_ones() as usize;
        let union = |atoms: &[TokenBits]| {
            atoms.iter().skip(1).fold(atoms[0].clone(), |mut all, more| {
                all.union(more);
                all
            })
        };
        let groups = tokens.chunks(size).map(union).collect();
        Self { tokens, groups, text, below, whole, heights }
    }

    /// The tokens made of these atoms alone.
    pub fn tokens_within(&self, atoms: Atoms) -> TokenBits {
        let mut within = self.text.clone();
        let mut others = !atoms;
        for (group, tokens) in self.groups.iter().enumerate() {
            let group = GROUP << (group as u32 * GROUP.count_ones());
            if others & group == group {
                within.subtract(tokens);
                others &= !group;
            }
        }
        while others != 0 {
            within.subtract(&self.tokens[others.trailing_zeros() as usize]);
            others &= others - 1;
        }
        within
    }

    /// The tokens that hold one of these atoms.
    pub fn tokens_with(&self, atoms: Atoms) -> TokenBits {
        let mut with = TokenBits::new(self.width());
        let mut rest = atoms;
        while rest != 0 {
            with.union(&self.tokens[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        with
    }

    /// How many tokens there may be.
    pub fn width(&self) -> usize {
        self.text.words().len() * 32
    }

    /// Whether the tokens below a node go on from it with these atoms alone.
    #[inline]
    pub fn below_within(&self, node: NodeId, atoms: Atoms) -> bool {
        self.below[node.index()] & !atoms == 0
    }

    /// Whether the tokens below a node go on from it with one of these atoms somewhere.
    #[inline]
    pub fn below_holds(&self, node: NodeId, atoms: Atoms) -> bool {
        self.below[node.index()] & atoms != 0
    }

    /// Whether the tokens at and below a node are, as a whole, made of these atoms alone.
    #[inline]
    pub fn whole_within(&self, node: NodeId, atoms: Atoms) -> bool {
        self.whole[node.index()] & !atoms == 0
    }

    /// The length of the longest rest of a token below a node, if it is below 255.
    #[inline]
    pub fn height(&self, node: NodeId) -> Option<u32> {
        let height = self.heights[node.index()];
        (height < u8::MAX).then(|| u32::from(height))
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        (self.tokens.len() + self.groups.len() + 1) * self.text.words().len() * 4
            + (self.below.capacity() + self.whole.capacity()) * 8
            + self.heights.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(token: &[u8]) -> Atoms {
        let mut out = Vec::new();
        suffix_signatures(token, &mut out);
        out[0]
    }

    #[test]
    fn characters_are_atoms_and_their_parts_are_stray() {
        assert_eq!(signature("é".as_bytes()), character_atom(1));
        assert_eq!(signature("日😀".as_bytes()), character_atom(3) | character_atom(4));
        assert_eq!(signature("\u{85}\u{2028}".as_bytes()), character_atom(0) | character_atom(2));
        assert_eq!(signature(&"日".as_bytes()[..2]), STRAY);
        assert_eq!(signature(&"日".as_bytes()[1..]), STRAY);
        let mut out = Vec::new();
        suffix_signatures("aé".as_bytes(), &mut out);
        assert_eq!(out, [signature(b"a") | character_atom(1), character_atom(1), STRAY, 0]);
    }

    #[test]
    fn each_character_has_the_atom_of_its_sequence() {
        for c in ('\u{80}'..=char::MAX).step_by(7) {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            let groups: Vec<usize> = (0..CHARACTERS.len())
                .filter(|&group| {
                    let (length, sequences) = CHARACTERS[group];
                    length == bytes.len()
                        && sequences.iter().any(|&(low, high, follow_low, follow_high)| {
                            (low..=high).contains(&bytes[0])
                                && (follow_low..=follow_high).contains(&bytes[1])
                        })
                })
                .collect();
            assert_eq!(groups.len(), 1, "{c:?}");
            assert_eq!(atom_of(c), character_atom(groups[0]), "{c:?}");
        }
    }

    #[test]
    fn each_ascii_byte_has_one_atom() {
        let mut seen = [0; 128];
        for (_, bytes) in ascii_groups() {
            for &byte in bytes {
                seen[byte as usize] += 1;
            }
        }
        assert_eq!(seen, [1; 128]);
    }

    #[test]
    fn tokens_within_are_those_without_other_atoms() {
        let mut sorted: Vec<(&[u8], TokenId)> = [b"ab".as_slice(), b"a1", b"\"", b"a\xc3"]
            .into_iter()
            .zip((0..).map(TokenId))
            .collect();
        sorted.sort_unstable();
        let trie = Trie::build(&sorted);
        let index = AtomIndex::build(&trie, &sorted, 4);
        let within = index.tokens_within(signature(b"a1"));
        assert_eq!(within.iter().collect::<Vec<_>>(), [TokenId(0), TokenId(1)]);
        let a = trie.find(b"a").unwrap();
        assert!(index.below_holds(a, STRAY));
        assert!(!index.below_within(a, signature(b"b1")));
    }
}
