//! The two error types: [`GrammarError`] for bad input, [`MatchError`] for a refused call.

use std::borrow::Cow;
use std::fmt;

use crate::span::{Span, excerpt, line_and_column};

/// What is wrong with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarErrorKind {
    /// The text does not follow the grammar language's syntax.
    Syntax,
    /// A name is used but not defined.
    Undefined,
    /// A name is defined twice.
    Duplicate,
    /// A construct of the language that can't be enforced here.
    Unsupported,
    /// No text at all belongs to the grammar.
    Empty,
    /// A token terminal names a token that the vocabulary does not have.
    UnknownToken,
    /// The grammar is larger than a limit allows.
    Limit,
}

/// A grammar that can't be used: what is wrong, where, and what to do.
///
/// Its text starts with the message; then come line, column and a caret where the place is known,
/// and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarError {
    kind: GrammarErrorKind,
    message: String,
    hint: Option<String>,
    place: Option<Box<Place>>,
    pointer: Option<String>,
    limit: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
    excerpt: String,
}

impl GrammarError {
    /// An error without a place.
    pub fn new(kind: GrammarErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message, hint: None, place: None, pointer: None, limit: None }
    }

    /// An error at a place of the source text.
    pub fn at(
        kind: GrammarErrorKind,
        source: &str,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        let (line, column) = line_and_column(source, span.start);
        let place = Some(Box::new(Place { line, column, excerpt: excerpt(source, span) }));
        Self { place, ..Self::new(kind, message) }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the place in a JSON document: a JSON pointer (RFC 6901), empty for the whole.
    #[must_use]
    pub fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Names the limit that is exceeded, of those that a front end may let users set.
    #[must_use]
    pub(crate) fn past_limit(mut self, name: &'static str) -> Self {
        self.limit = Some(name);
        self
    }

    /// The limit that is exceeded, if it can be set.
    pub(crate) fn limit(&self) -> Option<&'static str> {
        self.limit
    }

    /// The JSON pointer (RFC 6901) of the place in a JSON document, where known.
    pub fn pointer(&self) -> Option<&str> {
        self.pointer.as_deref()
    }

    /// What is wrong.
    pub fn kind(&self) -> GrammarErrorKind {
        self.kind
    }

    /// Line and column in the source, both from 1, where known.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        self.place.as_ref().map(|place| (place.line, place.column))
    }

    /// What to do about it, where known.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = &self.place {
            write!(f, "\nat line {}, column {}\n{}", place.line, place.column, place.excerpt)?;
        }
        if let Some(pointer) = &self.pointer {
            let whole = if pointer.is_empty() { " (the whole schema)" } else { "" };
            write!(f, "\nat {:?}{whole}", shortened(pointer))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for GrammarError {}

/// A text for a message: of a long one the beginning and the end.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    /// In characters.
    const START: usize = 120;
    const END: usize = 60;
    if text.len() <= START + END {
        return Cow::Borrowed(text);
    }
    let start = text.char_indices().nth(START).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().nth_back(END - 1).map_or(0, |(at, _)| at);
    if start >= end {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…{}", &text[..start], &text[end..]))
}

/// Why a matcher refused a call. The matcher's state is as it was before the call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchError {
    /// The token (or bytes) can't come here.
    NotAllowed {
        /// What was refused and what was expected, readable.
        explanation: String,
    },
    /// An end-of-sequence token was accepted before; nothing can follow.
    Finished,
    /// The id is not below the vocabulary's width.
    OutOfRange {
        /// The id.
        token: u32,
        /// The vocabulary's width.
        width: usize,
    },
    /// More tokens were to be rolled back than were accepted.
    Rollback {
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        accepted: usize,
    },
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed { explanation } => f.write_str(explanation),
            Self::Finished => f.write_str(
                "the matcher is finished: an end-of-sequence token was accepted; \
                 call reset() or rollback() to go on",
            ),
            Self::OutOfRange { token, width } => write!(
                f,
                "token id {token} is out of range: the vocabulary has ids 0 to {}; \
                 is this the right vocabulary for the model?",
                width.saturating_sub(1)
            ),
            Self::Rollback { asked, accepted } => {
                write!(f, "can't roll back {asked} tokens: only {accepted} were accepted")
            }
        }
    }
}

impl std::error::Error for MatchError {}
