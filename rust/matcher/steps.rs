//! What was accepted, four bytes a token.

use crate::index::TokenId;

/// Something that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A token other than end of sequence, or an end-of-sequence token that a token terminal of
    /// the grammar asked for.
    Token(TokenId),
    /// Bytes given without a token.
    Bytes(&'a [u8]),
    /// End of sequence.
    End(TokenId),
}

/// Marks of what is no token's id; ids are below both.
const END: u32 = 1 << 31;
const BYTES: u32 = 1 << 30;

/// Steps one after the other.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// For each step a token's id, marked if it ended the text, or the mark of bytes.
    codes: Vec<u32>,
    /// The bytes of all steps that are bytes, in order.
    given: Vec<Box<[u8]>>,
}

impl Steps {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Whether the last is the end of sequence.
    pub fn has_ended(&self) -> bool {
        self.codes.last().is_some_and(|code| code & END != 0)
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        let mut given = self.given.iter();
        self.codes.iter().map(move |&code| {
            if code & END != 0 {
                Step::End(TokenId(code & !END))
            } else if code == BYTES {
                Step::Bytes(given.next().map_or(&[], |bytes| bytes))
            } else {
                Step::Token(TokenId(code))
            }
        })
    }

    /// Adds one.
    pub(super) fn push(&mut self, step: Step<'_>) {
        self.codes.push(match step {
            Step::Token(token) => token.0,
            Step::End(token) => token.0 | END,
            Step::Bytes(bytes) => {
                self.given.push(bytes.into());
                BYTES
            }
        });
    }

    /// Keeps the first ones only.
    pub(super) fn truncate(&mut self, count: usize) {
        let dropped = self.codes.get(count..).unwrap_or(&[]);
        let bytes = dropped.iter().filter(|&&code| code == BYTES).count();
        self.given.truncate(self.given.len() - bytes);
        self.codes.truncate(count);
    }

    /// Bytes of memory held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.codes.capacity() * size_of::<u32>()
            + self.given.capacity() * size_of::<Box<[u8]>>()
            + self.given.iter().map(|bytes| bytes.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Id;

    #[test]
    fn steps_come_out_as_they_went_in() {
        let all = [
            Step::Token(TokenId(7)),
            Step::Bytes(b"one"),
            Step::Bytes(b""),
            Step::Token(TokenId::new((1 << 24) - 1)),
            Step::Bytes(b"two"),
            Step::End(TokenId(0)),
        ];
        let mut steps = Steps::default();
        for (count, step) in all.into_iter().enumerate() {
            assert_eq!((steps.len(), steps.has_ended()), (count, false));
            steps.push(step);
        }
        assert!(steps.has_ended());
        for count in (0..=all.len()).rev() {
            steps.truncate(count);
            assert_eq!(steps.iter().collect::<Vec<_>>(), all[..count]);
        }
        steps.push(Step::Bytes(b"three"));
        assert_eq!(steps.iter().collect::<Vec<_>>(), [Step::Bytes(b"three")]);
    }
}
