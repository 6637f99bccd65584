//! Lark text → tokens, one at a time.
//!
//! Takes the text and gives [`Token`]s that cover it without blanks and comments. A line break is
//! a token, because it ends a definition, except where the next thing is a `|`: then the
//! definition goes on. Literals are found but not decoded (`literal.rs` does that). Knows no
//! syntax beyond single tokens.

use super::fault::Fault;
use crate::span::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// One or more line breaks with the blanks and comments around them.
    Newline,
    /// The end of the text.
    End,
    /// A lower-case name.
    Rule,
    /// An upper-case name.
    Terminal,
    /// `"…"` or `"…"i`.
    Str,
    /// `/…/flags`; `ordered` when a lazy repetition or a look-behind may be in it, so that which
    /// match comes first matters.
    Regexp {
        /// Whether the order of matches may matter.
        ordered: bool,
    },
    /// Digits.
    Number,
    /// `%word`.
    Directive,
    /// `->`.
    Arrow,
    /// `..`.
    DotDot,
    /// Any other single character of the syntax: `: | ( ) [ ] { } , . ~ * + ? ! -`.
    Mark(u8),
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: TokenKind,
    /// Where it is.
    pub(super) span: Span,
}

/// The letters that may follow a regexp.
pub(super) const REGEXP_FLAGS: &[u8] = b"imslux";

/// Reads tokens from the front of a text.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    /// A lexer at the start of the text.
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token; [`TokenKind::End`] again and again at the end.
    pub(super) fn next(&mut self) -> Result<Token, Fault> {
        let line_break = self.skip_blanks();
        let bytes = self.text.as_bytes();
        let start = self.at;
        let Some(&byte) = bytes.get(start) else {
            return Ok(Token { kind: TokenKind::End, span: Span::new(start, start) });
        };
        if let Some(at) = line_break
            && byte != b'|'
        {
            return Ok(Token { kind: TokenKind::Newline, span: Span::new(at, at + 1) });
        }
        let kind = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => return self.name(),
            b'"' => return self.string(),
            b'/' => return self.regexp(),
            b'0'..=b'9' => {
                self.at += run(&bytes[start..], u8::is_ascii_digit);
                TokenKind::Number
            }
            b'%' => {
                self.at += 1 + run(&bytes[start + 1..], u8::is_ascii_alphabetic);
                TokenKind::Directive
            }
            b'-' if bytes.get(start + 1) == Some(&b'>') => {
                self.at += 2;
                TokenKind::Arrow
            }
            b'.' if bytes.get(start + 1) == Some(&b'.') => {
                self.at += 2;
                TokenKind::DotDot
            }
            b':' | b'|' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b'.' | b'~' | b'*'
            | b'+' | b'?' | b'!' | b'-' => {
                self.at += 1;
                TokenKind::Mark(byte)
            }
            _ => return Err(self.stray_character()),
        };
        Ok(Token { kind, span: Span::new(start, self.at) })
    }

    /// Skips blanks, comments, line breaks and `\` at the end of a line; gives the first line
    /// break that counts.
    fn skip_blanks(&mut self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut line_break = None;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => self.at += 1,
                b'\n' => {
                    line_break = line_break.or(Some(self.at));
                    self.at += 1;
                }
                b'#' => self.skip_line(),
                b'/' if bytes.get(self.at + 1) == Some(&b'/') => self.skip_line(),
                b'\\' => {
                    let blanks = run(&bytes[self.at + 1..], |&b| b == b' ' || b == b'\r');
                    if bytes.get(self.at + 1 + blanks) != Some(&b'\n') {
                        break;
                    }
                    self.at += blanks + 2;
                }
                _ => break,
            }
        }
        line_break
    }

    fn skip_line(&mut self) {
        let bytes = self.text.as_bytes();
        self.at += run(&bytes[self.at..], |&b| b != b'\n');
    }

    fn name(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        let word = &self.text.as_bytes()[start..];
        self.at += run(word, |&b| b.is_ascii_alphanumeric() || b == b'_');
        let span = Span::new(start, self.at);
        let word = &self.text[start..self.at];
        let bare = word.strip_prefix('_').unwrap_or(word);
        let lower = bare.bytes().any(|b| b.is_ascii_lowercase());
        let upper = bare.bytes().any(|b| b.is_ascii_uppercase());
        if lower && upper {
            return Err(Fault::syntax(span, format!("`{word}` mixes lower and upper case"))
                .with_hint("rules have lower-case names, terminals upper-case names"));
        }
        if !bare.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let what = if bare.starts_with('_') {
                "names with two underscores in front are reserved"
            } else {
                "a name needs a letter at its start"
            };
            return Err(Fault::syntax(span, format!("`{word}` is no name: {what}"))
                .with_hint("at most one `_` may stand before the first letter"));
        }
        let kind = if lower { TokenKind::Rule } else { TokenKind::Terminal };
        Ok(Token { kind, span })
    }

    fn string(&mut self) -> Result<Token, Fault> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') if bytes.get(at + 1).is_some_and(|&b| b != b'\n') => at += 2,
                None | Some(b'\n') => {
                    let end = start + self.text[start..at].trim_end().len();
                    return Err(Fault::syntax(Span::new(start, end), "the string is not closed")
                        .with_hint("end it with `\"` on the same line; a line break is `\\n`"));
                }
                Some(_) => at += 1,
            }
        }
        at += 1;
        if bytes.get(at) == Some(&b'i') {
            at += 1;
        }
        self.at = at;
        Ok(Token { kind: TokenKind::Str, span: Span::new(start, at) })
    }

    fn regexp(&mut self) -> Result<Token, Fault> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + 1;
        let mut ordered = false;
        let mut line_break = None;
        // Where the class that is open starts, and where the last escape ended.
        let (mut class, mut escape_end) = (None, 0);
        loop {
            match bytes.get(at) {
                None => {
                    let end = line_break.unwrap_or(at);
                    return Err(Fault::syntax(Span::new(start, end), "the regexp is not closed")
                        .with_hint("end it with `/`; a slash inside is written `\\/`"));
                }
                Some(b'/') => break,
                Some(b'\\') => {
                    at += 1;
                    escape_end = at + 1;
                }
                Some(b'\n') => line_break = line_break.or(Some(at)),
                Some(b'[') if class.is_none() => {
                    // A bracket that comes first in a class is a character of it.
                    let first = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'^'));
                    class = Some(first);
                }
                Some(b']') if class.is_some_and(|first| first < at) => class = None,
                Some(b'?') if class.is_none() && escape_end < at => {
                    ordered |= ends_quantifier(&bytes[start + 1..at])
                        || bytes[at - 1] == b'(' && bytes.get(at + 1) == Some(&b'<');
                }
                Some(_) => {}
            }
            at += 1;
        }
        at += 1;
        let flags = at;
        at += run(&bytes[at..], |b| REGEXP_FLAGS.contains(b));
        if let Some(end) = line_break
            && !bytes[flags..at].contains(&b'x')
        {
            return Err(Fault::syntax(Span::new(start, end), "the regexp goes over a line's end")
                .with_hint(
                    "close it with `/` on the same line (a slash inside is written `\\/`), or add \
                     the flag `x`",
                ));
        }
        self.at = at;
        Ok(Token { kind: TokenKind::Regexp { ordered }, span: Span::new(start, at) })
    }

    fn stray_character(&self) -> Fault {
        let rest = &self.text[self.at..];
        let c = rest.chars().next().unwrap_or_default();
        let span = Span::new(self.at, self.at + c.len_utf8());
        let fault = Fault::syntax(span, format!("unexpected character {c:?}"));
        match c {
            '\'' => fault.with_hint("strings are written in double quotes: \"…\""),
            '=' => fault.with_hint("a definition is written `name: …`"),
            ';' => fault.with_hint("a definition ends at the end of its line, without `;`"),
            '&' => fault.with_hint("terminals have no intersection in Lark"),
            '\\' => fault.with_hint("a `\\` outside of literals may only end a line"),
            c if c.is_alphabetic() => fault.with_hint("names are made of a-z, A-Z, 0-9 and `_`"),
            _ => fault,
        }
    }
}

/// Whether a piece of a regexp ends with a quantifier.
fn ends_quantifier(before: &[u8]) -> bool {
    match before {
        [.., b'*' | b'+' | b'?'] => true,
        [count @ .., b'}'] => {
            let number =
                count.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b',').count();
            number > 0 && count[..count.len() - number].last() == Some(&b'{')
        }
        _ => false,
    }
}

/// How many bytes at the front satisfy `holds`.
fn run(bytes: &[u8], holds: impl Fn(&u8) -> bool) -> usize {
    bytes.iter().position(|b| !holds(b)).unwrap_or(bytes.len())
}
