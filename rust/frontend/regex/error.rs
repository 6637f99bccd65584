//! What is wrong with a pattern: `regex-syntax` errors and refusals → message, hint and place.
//!
//! Constructs that other regex engines have are named, so that a user who brings a pattern from
//! elsewhere learns what to write instead.

use regex_syntax::ast::{self, AssertionKind, ErrorKind};
use regex_syntax::hir;

use crate::error::{GrammarError, GrammarErrorKind};
use crate::span::Span;

/// Why a pattern can't be used, with the place inside the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError {
    /// Syntax, unsupported or limit.
    pub(crate) kind: GrammarErrorKind,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// Where in the pattern, in bytes.
    pub(crate) span: Span,
}

impl PatternError {
    /// The same for a source text that is the pattern and nothing else.
    pub(super) fn into_grammar_error(self, pattern: &str) -> GrammarError {
        let error = GrammarError::at(self.kind, pattern, self.span, self.message);
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    /// A construct that can't be enforced.
    pub(super) fn unsupported(span: Span, what: impl Into<String>, hint: &str) -> Self {
        let message = format!("{} in the regex: this can't be enforced", what.into());
        Self { kind: GrammarErrorKind::Unsupported, message, hint: Some(hint.to_owned()), span }
    }

    /// A word boundary.
    pub(super) fn word_boundary(span: Span, kind: &AssertionKind) -> Self {
        let (name, hint) = match kind {
            AssertionKind::NotWordBoundary => (r"negated word boundary `\B`", WORD_HINT),
            AssertionKind::WordBoundaryStartAngle => (r"word boundary `\<`", ANGLE_HINT),
            AssertionKind::WordBoundaryEndAngle => (r"word boundary `\>`", ANGLE_HINT),
            AssertionKind::WordBoundaryStart => (r"word boundary `\b{start}`", WORD_HINT),
            AssertionKind::WordBoundaryEnd => (r"word boundary `\b{end}`", WORD_HINT),
            AssertionKind::WordBoundaryStartHalf => (r"word boundary `\b{start-half}`", WORD_HINT),
            AssertionKind::WordBoundaryEndHalf => (r"word boundary `\b{end-half}`", WORD_HINT),
            _ => (r"word boundary `\b`", WORD_HINT),
        };
        Self::unsupported(span, name, hint)
    }

    /// The parser's error in our words.
    pub(super) fn from_syntax(error: &ast::Error) -> Self {
        let pattern = error.pattern();
        let span = bytes(error.span());
        let rest = pattern.get(span.start..).unwrap_or("");
        match error.kind() {
            ErrorKind::UnsupportedLookAround => {
                Self::unsupported(span, look_around(rest), LOOK_HINT)
            }
            ErrorKind::UnsupportedBackreference if rest.starts_with(r"\0") => Self::syntax(
                span,
                r"unknown escape `\0`",
                r"write a code point in hexadecimal, such as `\x00`",
            ),
            ErrorKind::UnsupportedBackreference => Self::backreference(span, rest, 2),
            ErrorKind::EscapeUnrecognized | ErrorKind::ClassEscapeInvalid => {
                Self::escape(span, rest)
            }
            ErrorKind::FlagUnrecognized => Self::flag(span, rest),
            ErrorKind::DecimalInvalid => Self {
                kind: GrammarErrorKind::Limit,
                message: format!("repetition count too large, the limit is {}", u32::MAX),
                hint: Some("leave the upper bound out, as in `{2,}`, for any number".to_owned()),
                span,
            },
            ErrorKind::NestLimitExceeded(_) | ErrorKind::CaptureLimitExceeded => Self {
                kind: GrammarErrorKind::Limit,
                message: "too many groups in the regex".to_owned(),
                hint: Some("write `(?:…)` for groups, or split the pattern".to_owned()),
                span,
            },
            kind => {
                let (message, hint) = wording(kind, pattern);
                Self::syntax(span, message, hint)
            }
        }
    }

    /// The class translator's error in our words.
    pub(super) fn from_class(error: &hir::Error) -> Self {
        let span = bytes(error.span());
        let text = error.pattern().get(span.start..span.end).unwrap_or("");
        match error.kind() {
            hir::ErrorKind::UnicodePropertyNotFound => Self::syntax(
                span,
                format!("unknown Unicode property in `{text}`"),
                r"write a general category or script, such as `\p{L}` or `\p{Greek}`",
            ),
            hir::ErrorKind::UnicodePropertyValueNotFound => Self::syntax(
                span,
                format!("unknown value of the Unicode property in `{text}`"),
                r"write it as in `\p{Script=Greek}` or `\p{gc=Lu}`",
            ),
            _ => Self::syntax(
                span,
                format!("`{text}` needs Unicode, which `(?-u)` turned off"),
                "drop `-u` from the flags here",
            ),
        }
    }

    fn syntax(span: Span, message: impl Into<String>, hint: &str) -> Self {
        Self {
            kind: GrammarErrorKind::Syntax,
            message: message.into(),
            hint: Some(hint.to_owned()),
            span,
        }
    }

    fn backreference(span: Span, rest: &str, chars: usize) -> Self {
        let text: String = rest.chars().take(chars).collect();
        Self::unsupported(span, format!("backreference `{text}`"), BACK_HINT)
    }

    fn escape(span: Span, rest: &str) -> Self {
        let letter = rest.chars().nth(1).unwrap_or('\\');
        let hint = match letter {
            'k' | 'g' => return Self::backreference(span, rest, 2),
            'G' | 'K' => {
                let what = format!("match position `\\{letter}`");
                return Self::unsupported(span, what, "leave it out: the whole text must match");
            }
            'X' => {
                return Self::unsupported(
                    span,
                    r"grapheme cluster `\X`",
                    r"write `\P{M}\p{M}*` for a character with its marks",
                );
            }
            'Z' => r"write `\z` for the end of the text",
            'R' => r"write `(?:\r\n|[\n\x0B\f\r\x85\u{2028}\u{2029}])` for any line break",
            'h' => r"write `[ \t]` for a blank",
            'N' => r"write `[^\n]` for all but a line feed",
            'e' => r"write `\x1B` for the escape character",
            'c' => r"write a control character in hexadecimal, such as `\x01`",
            'Q' | 'E' => r"escape each special character, as in `\.\*`",
            'b' | 'B' => r"a word boundary can't stand in a class; write `\x08` for a backspace",
            'A' | 'z' => "an anchor can't stand in a class; put it outside",
            _ => r"write the character without the backslash, or `\\` for a backslash",
        };
        Self::syntax(span, format!("unknown escape `\\{letter}`"), hint)
    }

    fn flag(span: Span, rest: &str) -> Self {
        let mut after = rest.chars();
        let unsupported = |what: &str, hint: &str| Self::unsupported(span, what, hint);
        match (after.next().unwrap_or(')'), after.next()) {
            ('P', Some('=')) => Self::unsupported(span, "backreference `(?P=`", BACK_HINT),
            ('P', Some('>')) | ('&' | '0'..='9', _) => {
                unsupported("group call", "write a grammar with rules for recursive text")
            }
            ('>', _) => unsupported("atomic group `(?>`", "write `(?:` where backtracking is fine"),
            ('(', _) => unsupported("conditional `(?(`", "write each case as an alternative"),
            ('|', _) => unsupported("branch reset group `(?|`", "write `(?:`"),
            ('#', _) => Self::syntax(
                span,
                "comment groups `(?#` are not part of the syntax",
                "leave the comment out, or write `# …` after the flag `(?x)`",
            ),
            (flag, _) => Self::syntax(
                span,
                format!("unknown flag `{flag}` in the regex"),
                "the flags are i, m, s, u, U, R and x; a plain group is written `(?:…)`",
            ),
        }
    }
}

const LOOK_HINT: &str = "say what the text is instead of what must (not) come next, \
                         for example with a negated class such as `[^\"]`";
const BACK_HINT: &str = "write the possible texts as alternatives";
const WORD_HINT: &str = "leave it out at the ends; elsewhere write the characters that \
                         may stand there, such as ` ` or `\\W`";
const ANGLE_HINT: &str = "for an angle bracket write `<` or `>` without the backslash";

fn look_around(rest: &str) -> &'static str {
    if rest.starts_with("(?<!") {
        "negative lookbehind `(?<!`"
    } else if rest.starts_with("(?<") {
        "lookbehind `(?<=`"
    } else if rest.starts_with("(?!") {
        "negative lookahead `(?!`"
    } else {
        "lookahead `(?=`"
    }
}

/// Message and hint of the errors that are what they seem to be.
fn wording(kind: &ErrorKind, pattern: &str) -> (&'static str, &'static str) {
    match kind {
        ErrorKind::ClassRangeInvalid => (
            "reversed range in a character class",
            r"write the lower end first, or `\-` for a hyphen",
        ),
        ErrorKind::ClassRangeLiteral => (
            "an end of a range must be one character",
            r"write `\-` for a hyphen beside a class such as `\d`",
        ),
        ErrorKind::ClassUnclosed => (
            "unterminated character class",
            r"close it with `]`; write `\[` for a bracket, in a class, too",
        ),
        ErrorKind::EscapeHexEmpty | ErrorKind::EscapeHexInvalidDigit => (
            "hexadecimal digits expected in an escape",
            r"write `\xFF`, `\u00FF`, `\U000000FF` or `\x{FF}`",
        ),
        ErrorKind::EscapeHexInvalid => (
            "this escape is not a character",
            "code points go up to 10FFFF and leave out surrogates (D800 to DFFF)",
        ),
        ErrorKind::EscapeUnexpectedEof => (
            "the pattern ends within an escape",
            r"finish the escape, or write `\\` for a backslash",
        ),
        ErrorKind::FlagDanglingNegation => {
            ("`-` without a flag after it", "write the flag to turn off, as in `(?-u)`")
        }
        ErrorKind::FlagDuplicate { .. } => ("flag given twice", "leave one out"),
        ErrorKind::FlagRepeatedNegation { .. } => {
            ("`-` given twice in the flags", "all flags after the first `-` are turned off")
        }
        ErrorKind::GroupNameDuplicate { .. } => {
            ("two groups have the same name", "rename one or write `(?:…)`")
        }
        ErrorKind::GroupNameEmpty
        | ErrorKind::GroupNameInvalid
        | ErrorKind::GroupNameUnexpectedEof => (
            "invalid name of a group",
            "write `(?<name>…)` with letters, digits and `_`, or `(?:…)`",
        ),
        ErrorKind::FlagUnexpectedEof | ErrorKind::GroupUnclosed => {
            ("unterminated group", r"close it with `)`, or write `\(` for a parenthesis")
        }
        ErrorKind::GroupUnopened => {
            ("`)` without a `(`", r"remove it, or write `\)` for a parenthesis")
        }
        ErrorKind::RepetitionCountInvalid => {
            ("reversed bounds of a repetition", "write the lower bound first, as in `{2,5}`")
        }
        ErrorKind::RepetitionCountDecimalEmpty | ErrorKind::RepetitionCountUnclosed => {
            ("malformed repetition", r"write `{2}`, `{2,}` or `{2,5}`, or `\{` for a brace")
        }
        // The parser reports `{` and `(?)` like this, too.
        ErrorKind::RepetitionMissing if pattern.contains('{') => (
            "nothing to repeat",
            r"put what is repeated before the operator; write `\{` for a brace",
        ),
        ErrorKind::RepetitionMissing => (
            "nothing to repeat",
            r"put what is repeated before the operator; write `\*`, `\+`, `\?` for the character",
        ),
        ErrorKind::SpecialWordBoundaryUnclosed
        | ErrorKind::SpecialWordBoundaryUnrecognized
        | ErrorKind::SpecialWordOrRepetitionUnexpectedEof => ("malformed word boundary", WORD_HINT),
        ErrorKind::UnicodeClassInvalid => {
            ("malformed Unicode class", r"write `\pL` or `\p{Greek}`")
        }
        _ => ("the pattern is not a regex", "check the syntax here"),
    }
}

/// A span of `regex-syntax` in bytes.
pub(super) fn bytes(span: &ast::Span) -> Span {
    Span::new(span.start.offset, span.end.offset)
}
