//! Literals: bytes in a row before something, as one expression.
//!
//! A name of a property is one node, not one a byte: what is left of it after a byte becomes a node
//! when that byte is read. Long literals are cut into pieces of [`MAX_BYTES`], counted from their
//! end, so that the same bytes before the same expression are the same node however they came
//! together, and what is left of one costs no more than a piece to find.
//!
//! PERF: with what all schemas begin with shared as well (`layered.rs`), compiling every fortieth
//! schema of a sample took 0.80 million instructions instead of 1.08 and wrote a third of the memory.

use super::node::{DEAD, EPSILON, Node, RegexSet};
use crate::index::RegexId;

/// Longer literals are several nodes.
pub(super) const MAX_BYTES: usize = 64;

/// The bytes of all literals, behind one another.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(Vec<u8>);

/// Where the bytes of a literal are: at least one, at most [`MAX_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text {
    at: u32,
    len: u32,
}

impl Text {
    pub(super) fn len(self) -> u32 {
        self.len
    }
}

impl Texts {
    pub(super) fn get(&self, text: Text) -> &[u8] {
        &self.0[text.at as usize..][..text.len as usize]
    }

    /// All bytes that stand in literals.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn add(&mut self, bytes: &[u8]) -> Text {
        let text = Text { at: self.0.len() as u32, len: bytes.len() as u32 };
        self.0.extend_from_slice(bytes);
        text
    }

    /// Forgets the text that was added last.
    fn take_back(&mut self, text: Text) {
        self.0.truncate(text.at as usize);
    }
}

/// A part of a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    Part(RegexId),
    Text(Text),
}

impl RegexSet {
    /// These bytes in a row.
    pub fn literal(&mut self, bytes: &[u8]) -> RegexId {
        self.literal_before(bytes, EPSILON)
    }

    /// These bytes in a row, and then `tail`.
    pub fn literal_before(&mut self, bytes: &[u8], tail: RegexId) -> RegexId {
        let (mut bytes, mut tail) = (bytes, tail);
        if tail == DEAD {
            return DEAD;
        }
        // What is repeated at the beginning of the tail takes equal bytes before it in.
        while let Some((&last, before)) = bytes.split_last()
            && let Some(byte) = self.repeated_byte(tail)
            && byte == last
        {
            let byte = self.byte(last);
            tail = self.concat_merging(byte, tail);
            bytes = before;
        }
        if bytes.is_empty() {
            return tail;
        }
        let mut room = [0; MAX_BYTES];
        let mut more: &[u8] = &[];
        match *self.node(tail) {
            Node::Literal(text, rest) if (text.len as usize) < MAX_BYTES => {
                let behind = self.texts.get(text);
                room[..behind.len()].copy_from_slice(behind);
                (more, tail) = (&room[..text.len as usize], rest);
            }
            Node::Bytes(set) => {
                if let Some(byte) = set.only() {
                    room[0] = byte;
                    (more, tail) = (&room[..1], EPSILON);
                }
            }
            _ => {}
        }
        // The last piece may take bytes from both.
        let own = bytes.len().min(MAX_BYTES - more.len());
        let mut end = bytes.len() - own;
        let mut last = [0; MAX_BYTES];
        last[..own].copy_from_slice(&bytes[end..]);
        last[own..own + more.len()].copy_from_slice(more);
        tail = self.piece(&last[..own + more.len()], tail);
        while end > 0 {
            let start = end.saturating_sub(MAX_BYTES);
            tail = self.piece(&bytes[start..end], tail);
            end = start;
        }
        tail
    }

    /// A literal that is not to be cut, before something that it does not merge with.
    fn piece(&mut self, bytes: &[u8], tail: RegexId) -> RegexId {
        if let ([byte], EPSILON) = (bytes, tail) {
            return self.byte(*byte);
        }
        let text = self.texts.add(bytes);
        let known = self.len();
        let id = self.intern(Node::Literal(text, tail));
        if self.len() == known {
            self.texts.take_back(text);
        }
        id
    }

    /// What is left of a literal after its first bytes.
    pub(super) fn literal_after(&mut self, text: Text, read: u32, tail: RegexId) -> RegexId {
        let rest = Text { at: text.at + read, len: text.len - read };
        match (rest.len, tail) {
            (0, _) => tail,
            (1, EPSILON) => self.byte(self.texts.get(rest)[0]),
            _ => self.intern(Node::Literal(rest, tail)),
        }
    }

    /// One certain byte.
    pub(super) fn byte(&mut self, byte: u8) -> RegexId {
        self.bytes([byte].into_iter().collect())
    }

    /// The byte that an expression is or starts with a repetition of, if it is one byte.
    fn repeated_byte(&self, id: RegexId) -> Option<u8> {
        let head = match *self.node(id) {
            Node::Concat(head, _) => head,
            _ => id,
        };
        match *self.node(head) {
            Node::Repeat(part, ..) => self.only_byte(part),
            _ => None,
        }
    }

    /// The byte that an expression is, if it is one.
    pub(super) fn only_byte(&self, id: RegexId) -> Option<u8> {
        match self.node(id) {
            Node::Bytes(set) => set.only(),
            _ => None,
        }
    }

    /// A sequence as its parts, but for the last of at most `limit`, and that.
    pub(super) fn pieces(&self, id: RegexId, limit: usize) -> (Vec<Piece>, RegexId) {
        let mut pieces = Vec::new();
        let mut last = id;
        while pieces.len() < limit {
            let (piece, tail) = match *self.node(last) {
                Node::Concat(head, tail) => (Piece::Part(head), tail),
                Node::Literal(text, tail) => (Piece::Text(text), tail),
                _ => break,
            };
            pieces.push(piece);
            last = tail;
        }
        (pieces, last)
    }

    /// A sequence of parts before `tail`.
    pub(super) fn join(&mut self, pieces: &[Piece], tail: RegexId) -> RegexId {
        pieces.iter().rev().fold(tail, |tail, piece| match *piece {
            Piece::Part(head) => self.concat_simple(head, tail),
            Piece::Text(text) => {
                let mut room = [0; MAX_BYTES];
                let bytes = &mut room[..text.len as usize];
                bytes.copy_from_slice(self.texts.get(text));
                self.literal_before(bytes, tail)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by one byte after the other.
    fn bytewise(set: &mut RegexSet, bytes: &[u8], tail: RegexId) -> RegexId {
        bytes.iter().rev().fold(tail, |tail, &byte| {
            let head = set.byte(byte);
            set.concat(head, tail)
        })
    }

    #[test]
    fn the_way_of_building_makes_no_difference() {
        let mut s = RegexSet::default();
        let digit = s.class(&[('0', '9')]);
        let digits = s.repeat(digit, 1, None);
        let long: Vec<u8> = (0..300u32).map(|i| b'a' + (i * i % 23) as u8).collect();
        for tail in [EPSILON, digits] {
            for len in [0, 1, 2, 63, 64, 65, 127, 128, 129, 300] {
                let whole = s.literal_before(&long[..len], tail);
                assert_eq!(bytewise(&mut s, &long[..len], tail), whole, "{len} bytes");
                for cut in [0, len / 3, len / 2, len] {
                    let end = s.literal_before(&long[cut..len], tail);
                    assert_eq!(s.literal_before(&long[..cut], end), whole, "cut at {cut}");
                    let head = s.literal(&long[..cut]);
                    assert_eq!(s.concat(head, end), whole, "cut at {cut}");
                }
                // Reading leads to the same nodes.
                let mut state = whole;
                for read in 0..len {
                    assert_eq!(s.literal_before(&long[read..len], tail), state, "{read} read");
                    state = s.derivative(state, long[read]).unwrap();
                }
                assert_eq!(state, tail);
            }
        }
    }

    #[test]
    fn bytes_go_into_repetitions_of_them() {
        let mut s = RegexSet::default();
        let a = s.literal(b"a");
        let many = s.repeat(a, 0, None);
        let some = s.repeat(a, 2, None);
        assert_eq!(s.literal_before(b"aa", many), some);
        let expected = s.literal_before(b"b", some);
        assert_eq!(s.literal_before(b"baa", many), expected);
        // As a repetition takes bytes behind it in.
        let (ab, b) = (s.literal(b"aab"), s.literal(b"b"));
        let both = s.concat(many, ab);
        assert_eq!(s.concat(some, b), both);
    }

    #[test]
    fn a_literal_is_one_node() {
        let mut s = RegexSet::default();
        s.literal(b"description");
        assert_eq!(s.len(), 3);
    }
}
