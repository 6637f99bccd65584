//! A place in a pattern.

/// Reads a pattern character by character.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'p> {
    pub(super) pattern: &'p str,
    /// The byte that is next.
    pub(super) at: usize,
}

impl<'p> Cursor<'p> {
    pub(super) fn rest(self) -> &'p str {
        &self.pattern[self.at..]
    }

    pub(super) fn peek(self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Steps over a text, if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Reads a number of the given base, of at least one and at most `most` digits; nothing if
    /// there are fewer. Large numbers saturate.
    pub(super) fn number(&mut self, base: u32, most: usize) -> Option<u64> {
        let digits = self.rest().chars().map_while(|c| c.to_digit(base)).take(most);
        let (mut value, mut count) = (0_u64, 0);
        for digit in digits {
            value = value.saturating_mul(base.into()).saturating_add(digit.into());
            count += 1;
        }
        // Digits are ASCII.
        self.at += count;
        (count > 0).then_some(value)
    }

    /// Reads exactly `count` hexadecimal digits.
    pub(super) fn hexadecimal(&mut self, count: usize) -> Option<u32> {
        let start = self.at;
        let value = self.number(16, count)?;
        if self.at - start < count {
            self.at = start;
            return None;
        }
        u32::try_from(value).ok()
    }
}
