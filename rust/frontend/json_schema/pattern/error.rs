//! What is wrong with a pattern.

use std::fmt;

/// Why a pattern can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::frontend::json_schema) struct PatternError {
    /// What is wrong: lower case, no final dot.
    pub(in crate::frontend::json_schema) message: String,
    /// Where in the pattern, in characters from 0.
    pub(in crate::frontend::json_schema) position: usize,
    /// It is a regular expression of ECMA-262, but can't be enforced. If not: a syntax error.
    pub(in crate::frontend::json_schema) unsupported: bool,
    /// What to do about it.
    pub(in crate::frontend::json_schema) hint: String,
}

impl PatternError {
    /// A syntax error at a byte of the pattern.
    pub(super) fn syntax(at: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), position: at, unsupported: false, hint: hint.into() }
    }

    /// A part of the pattern, at a byte of it, that can't be enforced.
    pub(super) fn unsupported(
        at: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), position: at, unsupported: true, hint: hint.into() }
    }

    /// Turns a position in bytes into one in characters.
    pub(super) fn in_characters(mut self, pattern: &str) -> Self {
        let before = &pattern.as_bytes()[..self.position.min(pattern.len())];
        // Continuation bytes don't begin characters.
        self.position = before.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        self
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at character {}", self.message, self.position + 1)
    }
}
