//! What is wrong with a Lark text, before it is known which text: the user's or a library's.
//!
//! The lexer, the parser and the lowering give a [`Fault`]; only `import` knows where the text
//! came from and makes it a [`GrammarError`] with line, column and caret.

use crate::error::{GrammarError, GrammarErrorKind};
use crate::span::Span;

/// An error at a place of one of the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: GrammarErrorKind,
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Fault {
    /// A fault of the given kind.
    pub(super) fn new(kind: GrammarErrorKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, span, message: message.into(), hint: None }
    }

    /// A breach of Lark's syntax.
    pub(super) fn syntax(span: Span, message: impl Into<String>) -> Self {
        Self::new(GrammarErrorKind::Syntax, span, message)
    }

    /// A construct of Lark that can't be enforced.
    pub(super) fn unsupported(span: Span, message: impl Into<String>) -> Self {
        Self::new(GrammarErrorKind::Unsupported, span, message)
    }

    /// A name without a definition.
    pub(super) fn undefined(span: Span, message: impl Into<String>) -> Self {
        Self::new(GrammarErrorKind::Undefined, span, message)
    }

    /// Something larger than a limit.
    pub(super) fn limit(span: Span, message: impl Into<String>) -> Self {
        Self::new(GrammarErrorKind::Limit, span, message)
    }

    /// Adds what to do about it.
    #[must_use]
    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error, for a fault in the user's own text.
    pub(super) fn in_text(self, text: &str) -> GrammarError {
        let error = GrammarError::at(self.kind, text, self.span, self.message);
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}
