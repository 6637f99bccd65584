//! Pieces of a tokenizer's vocabulary file → the bytes that the tokens stand for.
//!
//! Vocabulary files are text, so tokenizers write tokens down in one of a few encodings, the
//! [`PieceKind`]s. [`decode_piece`] takes one piece and appends its bytes; it never guesses: a
//! piece that the encoding can't have written is a [`PieceError`]. It doesn't know token ids,
//! which tokens are special, or any tokenizer library: the adapters decide the kind.
//!
//! Sources: the byte alphabet is `bytes_to_unicode` of GPT-2's `encoder.py`; `▁` and `<0xNN>` are
//! `SentencePiece`'s (Kudo and Richardson 2018, arXiv:1808.06226; its option `byte_fallback`).

use std::fmt;
use std::str::FromStr;

/// How a tokenizer writes bytes as text in its vocabulary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PieceKind {
    /// Each character stands for one byte, by GPT-2's alphabet (`Ġ` is the space).
    ByteLevel,
    /// Text in UTF-8 with `▁` for the space; a piece of the form `<0xNN>` is one byte.
    SentencePiece,
    /// Text in UTF-8 with `▁` for the space; `<0xNN>` has no meaning of its own.
    Metaspace,
    /// Text in UTF-8 as it stands.
    Raw,
}

impl PieceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::ByteLevel, Self::SentencePiece, Self::Metaspace, Self::Raw];

    /// The kind's name, which [`FromStr`] reads.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ByteLevel => "byte_level",
            Self::SentencePiece => "sentencepiece",
            Self::Metaspace => "metaspace",
            Self::Raw => "raw",
        }
    }
}

impl FromStr for PieceKind {
    type Err = PieceError;

    fn from_str(name: &str) -> Result<Self, PieceError> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| PieceError::UnknownKind(name.to_owned()))
    }
}

/// A piece or the name of a kind that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PieceError {
    /// This character of a byte-level piece is outside the alphabet.
    NotInAlphabet(char),
    /// No kind has this name.
    UnknownKind(String),
}

impl fmt::Display for PieceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInAlphabet(character) => write!(
                f,
                "{character:?} (U+{:04X}) is not in the alphabet of byte-level pieces",
                u32::from(*character)
            ),
            Self::UnknownKind(name) => {
                write!(f, "{name:?} is no kind of piece; the kinds are ")?;
                for (index, kind) in PieceKind::ALL.into_iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{:?}", kind.name())?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for PieceError {}

/// Appends the bytes of a piece to `out`. After an error `out` is as it was before.
pub fn decode_piece(kind: PieceKind, piece: &str, out: &mut Vec<u8>) -> Result<(), PieceError> {
    match kind {
        PieceKind::ByteLevel => return decode_byte_level(piece, out),
        PieceKind::SentencePiece => match byte_fallback(piece) {
            Some(byte) => out.push(byte),
            None => decode_metaspace(piece, out),
        },
        PieceKind::Metaspace => decode_metaspace(piece, out),
        PieceKind::Raw => out.extend_from_slice(piece.as_bytes()),
    }
    Ok(())
}

fn decode_byte_level(piece: &str, out: &mut Vec<u8>) -> Result<(), PieceError> {
    let start = out.len();
    for character in piece.chars() {
        let byte = BYTE_OF.get(u32::from(character) as usize).copied().flatten();
        let Some(byte) = byte else {
            out.truncate(start);
            return Err(PieceError::NotInAlphabet(character));
        };
        out.push(byte);
    }
    Ok(())
}

fn decode_metaspace(piece: &str, out: &mut Vec<u8>) {
    let mut parts = piece.split('▁');
    out.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        out.push(b' ');
        out.extend_from_slice(part.as_bytes());
    }
}

/// The byte of `<0xNN>`.
fn byte_fallback(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    // `from_str_radix` would also take a sign.
    let is_byte = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_byte { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// One more than the last character of the byte alphabet, U+0143.
const ALPHABET_END: usize = 0x144;

/// The byte of each character of the byte alphabet, by code point.
const BYTE_OF: [Option<u8>; ALPHABET_END] = byte_alphabet();

/// Printable Latin-1 stands for itself; the other 68 bytes, in order, are U+0100 and on.
const fn byte_alphabet() -> [Option<u8>; ALPHABET_END] {
    let mut table = [None; ALPHABET_END];
    let mut byte = 0;
    let mut shifted = 0x100;
    while byte <= 0xFF {
        if matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) {
            table[byte] = Some(byte as u8);
        } else {
            table[shifted] = Some(byte as u8);
            shifted += 1;
        }
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(kind: PieceKind, piece: &str) -> Result<Vec<u8>, PieceError> {
        let mut out = b"before ".to_vec();
        let result = decode_piece(kind, piece, &mut out);
        assert!(out.starts_with(b"before "), "what stood in the buffer is kept");
        result.map(|()| out.split_off(7))
    }

    fn bytes(kind: PieceKind, piece: &str) -> Vec<u8> {
        decoded(kind, piece).expect("the piece has bytes")
    }

    #[test]
    fn byte_alphabet_has_every_byte_once() {
        let mut seen: Vec<u8> = BYTE_OF.iter().copied().flatten().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn byte_level_shifts_what_is_not_printable() {
        assert_eq!(bytes(PieceKind::ByteLevel, "Ġhello"), b" hello");
        assert_eq!(bytes(PieceKind::ByteLevel, "ĊĉčĀġŃ"), b"\n\t\r\x00\x7f\xad");
        assert_eq!(bytes(PieceKind::ByteLevel, "æĹ¥"), "日".as_bytes());
        assert_eq!(bytes(PieceKind::ByteLevel, ""), b"");
        assert_eq!(bytes(PieceKind::ByteLevel, "<0x0A>"), b"<0x0A>");
    }

    #[test]
    fn byte_level_refuses_characters_outside_the_alphabet() {
        for (piece, odd) in [("a b", ' '), ("▁the", '▁'), ("ń", 'ń'), ("x\u{ad}", '\u{ad}')] {
            assert_eq!(decoded(PieceKind::ByteLevel, piece), Err(PieceError::NotInAlphabet(odd)));
        }
    }

    #[test]
    fn an_error_leaves_the_buffer_alone() {
        let mut out = b"kept".to_vec();
        assert!(decode_piece(PieceKind::ByteLevel, "abc日", &mut out).is_err());
        assert_eq!(out, b"kept");
    }

    #[test]
    fn sentencepiece_has_spaces_and_bytes() {
        assert_eq!(bytes(PieceKind::SentencePiece, "▁▁the▁é"), "  the é".as_bytes());
        assert_eq!(bytes(PieceKind::SentencePiece, "▁"), b" ");
        assert_eq!(bytes(PieceKind::SentencePiece, "Ġ"), "Ġ".as_bytes());
        assert_eq!(bytes(PieceKind::SentencePiece, "<0x00>"), b"\x00");
        assert_eq!(bytes(PieceKind::SentencePiece, "<0xfF>"), b"\xff");
    }

    #[test]
    fn only_two_hexadecimal_digits_make_a_byte() {
        for piece in ["<0x+1>", "<0x1>", "<0x123>", "<0xG0>", "<0x>", "0x41", "<0x41> ", "<0xé>"] {
            assert_eq!(bytes(PieceKind::SentencePiece, piece), piece.as_bytes());
        }
        assert_eq!(bytes(PieceKind::Metaspace, "<0x41>▁"), b"<0x41> ");
    }

    #[test]
    fn raw_is_the_text_itself() {
        assert_eq!(bytes(PieceKind::Raw, "▁<0x41>Ġ"), "▁<0x41>Ġ".as_bytes());
    }

    #[test]
    fn kinds_are_read_by_their_names() {
        for kind in PieceKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "bytes".parse::<PieceKind>().expect_err("no such kind");
        assert_eq!(
            error.to_string(),
            "\"bytes\" is no kind of piece; the kinds are \"byte_level\", \"sentencepiece\", \
             \"metaspace\", \"raw\""
        );
    }

    #[test]
    fn the_error_shows_the_character() {
        let error = decoded(PieceKind::ByteLevel, "▁a").expect_err("not byte-level");
        assert_eq!(error.to_string(), "'▁' (U+2581) is not in the alphabet of byte-level pieces");
    }
}
