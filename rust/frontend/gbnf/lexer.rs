//! GBNF text → lexemes, with literals, classes and tokens as expressions.
//!
//! Blanks and comments are gone; a run of line breaks is one [`Kind::LineBreak`], since whether it
//! ends a rule depends on what stands around it. Knows nothing of rules.

use super::escape;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::classes;
use crate::grammar::{GrammarBuilder, TokenRef, TokenTerminal};
use crate::index::ExprId;
use crate::span::Span;

/// A lexeme and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme {
    pub(super) kind: Kind,
    start: u32,
    end: u32,
}

impl Lexeme {
    pub(super) fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }

    pub(super) fn text(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A rule's name.
    Name,
    /// `::=`
    Define,
    /// A literal, class, `.` or token.
    Operand(ExprId),
    /// `*`, `+`, `?` or `{…}`; no `max`, no upper bound.
    Repeat { min: u32, max: Option<u32> },
    /// `(`
    Open,
    /// `)`
    Close,
    /// `|`
    Bar,
    /// One or more line breaks, with blanks and comments between.
    LineBreak,
}

/// Splits a text into lexemes.
pub(super) fn split(text: &str, builder: &mut GrammarBuilder) -> Result<Vec<Lexeme>, GrammarError> {
    if u32::try_from(text.len()).is_err() {
        let message = format!("the grammar has {} bytes, the limit is {}", text.len(), u32::MAX);
        return Err(GrammarError::new(GrammarErrorKind::Limit, message)
            .with_hint("split the grammar or use repetition instead of long lists"));
    }
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        // A byte order mark is no part of the grammar.
        at: if text.starts_with('\u{FEFF}') { 3 } else { 0 },
        builder,
        lexemes: Vec::with_capacity(text.len() / 4),
        literal: Vec::new(),
        ranges: Vec::new(),
        long_literal: None,
    };
    while let Some(&byte) = lexer.bytes.get(lexer.at) {
        lexer.next(byte)?;
    }
    Ok(lexer.lexemes)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    builder: &'a mut GrammarBuilder,
    lexemes: Vec<Lexeme>,
    /// The bytes of the literal at hand.
    literal: Vec<u8>,
    /// The ranges of the class at hand.
    ranges: Vec<(char, char)>,
    /// Where the first literal begins that has a line break inside: when a quote is missing, it is
    /// more likely missing there than where the text ends.
    long_literal: Option<usize>,
}

impl Lexer<'_> {
    fn next(&mut self, byte: u8) -> Result<(), GrammarError> {
        match byte {
            b' ' | b'\t' => self.at += 1,
            b'\n' | b'\r' => match self.lexemes.last() {
                Some(Lexeme { kind: Kind::LineBreak, .. }) => self.at += 1,
                _ => self.push(Kind::LineBreak, self.at + 1),
            },
            b'#' => {
                let rest = &self.bytes[self.at..];
                let length = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r');
                self.at += length.unwrap_or(rest.len());
            }
            b'"' => self.string()?,
            b'[' => self.class()?,
            b'.' => {
                let any = self.builder.class(&[(char::MIN, char::MAX)]);
                self.push(Kind::Operand(any), self.at + 1);
            }
            b'<' | b'!' => self.token()?,
            b'(' => self.push(Kind::Open, self.at + 1),
            b')' => self.push(Kind::Close, self.at + 1),
            b'|' => self.push(Kind::Bar, self.at + 1),
            b'*' => self.push(Kind::Repeat { min: 0, max: None }, self.at + 1),
            b'+' => self.push(Kind::Repeat { min: 1, max: None }, self.at + 1),
            b'?' => self.push(Kind::Repeat { min: 0, max: Some(1) }, self.at + 1),
            b'{' => self.bounds()?,
            b':' if self.bytes[self.at..].starts_with(b"::=") => {
                self.push(Kind::Define, self.at + 3);
            }
            byte if is_name(byte) => {
                let rest = &self.bytes[self.at..];
                let length = rest.iter().position(|&byte| !is_name(byte));
                self.push(Kind::Name, self.at + length.unwrap_or(rest.len()));
            }
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    /// Adds the lexeme from here to `end` and goes there.
    fn push(&mut self, kind: Kind, end: usize) {
        self.lexemes.push(Lexeme { kind, start: self.at as u32, end: end as u32 });
        self.at = end;
    }

    fn string(&mut self) -> Result<(), GrammarError> {
        self.literal.clear();
        let mut at = self.at + 1;
        loop {
            let rest = &self.bytes[at..];
            let Some(length) = rest.iter().position(|&byte| byte == b'"' || byte == b'\\') else {
                return Err(self.unterminated_string());
            };
            self.literal.extend_from_slice(&rest[..length]);
            at += length;
            if self.bytes[at] == b'"' {
                break;
            }
            let (c, end) = escape::read(self.text, at)?;
            self.literal.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            at = end;
        }
        if self.bytes[self.at..at].contains(&b'\n') {
            self.long_literal.get_or_insert(self.at);
        }
        let literal = self.builder.literal(&self.literal);
        self.push(Kind::Operand(literal), at + 1);
        Ok(())
    }

    fn unterminated_string(&self) -> GrammarError {
        let start = self.long_literal.unwrap_or(self.at);
        let hint = if self.long_literal.is_some() {
            "its closing `\"` is missing, or a later one; \
             write `\\\"` for a quote and `\\n` for a line break inside"
        } else {
            "close it with `\"`; write `\\\"` for a quote inside"
        };
        self.error(Span::new(start, start + 1), "unterminated string").with_hint(hint)
    }

    fn class(&mut self) -> Result<(), GrammarError> {
        self.ranges.clear();
        let negated = self.bytes.get(self.at + 1) == Some(&b'^');
        let mut at = self.at + 1 + usize::from(negated);
        loop {
            if self.bytes.get(at) == Some(&b']') {
                break;
            }
            let start = at;
            let (low, end) = self.class_char(at)?;
            at = end;
            let mut high = low;
            // A hyphen before the closing bracket stands for itself.
            if self.bytes.get(at) == Some(&b'-') && self.bytes.get(at + 1) != Some(&b']') {
                (high, at) = self.class_char(at + 1)?;
            }
            if low > high {
                let (low, high) = (low.escape_debug(), high.escape_debug());
                let message = format!("reversed range: `{low}` comes after `{high}`");
                return Err(self
                    .error(Span::new(start, at), message)
                    .with_hint("write the lower end first, or `\\-` for a hyphen"));
            }
            self.ranges.push((low, high));
        }
        if self.ranges.is_empty() {
            let span = Span::new(self.at, at + 1);
            let (message, hint) = if negated {
                ("empty class `[^]`", "write `.` for any character, `[^\\]]` for all but a bracket")
            } else {
                ("empty class `[]`", "write `\"\"` for the empty text, `[\\]]` for a bracket")
            };
            return Err(self.error(span, message).with_hint(hint));
        }
        classes::normalise(&mut self.ranges);
        let class = if negated {
            self.builder.class(&classes::negate(&self.ranges))
        } else {
            self.builder.class(&self.ranges)
        };
        self.push(Kind::Operand(class), at + 1);
        Ok(())
    }

    /// One character of a class and where it ends.
    fn class_char(&self, at: usize) -> Result<(char, usize), GrammarError> {
        match self.bytes.get(at) {
            Some(b'\\') => escape::read(self.text, at),
            Some(&byte) if byte.is_ascii() => Ok((byte.into(), at + 1)),
            _ => match self.text[at..].chars().next() {
                Some(c) => Ok((c, at + c.len_utf8())),
                None => Err(self
                    .error(Span::new(self.at, self.at + 1), "unterminated character class")
                    .with_hint("close it with `]`; write `\\]` for a bracket inside")),
            },
        }
    }

    /// `<name>`, `<[id]>`, and either after `!`.
    fn token(&mut self) -> Result<(), GrammarError> {
        let negated = self.bytes[self.at] == b'!';
        let open = self.at + usize::from(negated);
        if self.bytes.get(open) != Some(&b'<') {
            return Err(self
                .error(Span::new(self.at, self.at + 1), "`!` without a token after it")
                .with_hint("write `!<name>` for any token but one, `[^…]` for other characters"));
        }
        let rest = &self.bytes[open..];
        let length = rest.iter().position(|&byte| matches!(byte, b'>' | b'\n' | b'\r'));
        let Some(length) = length.filter(|&length| rest[length] == b'>') else {
            return Err(self
                .error(Span::new(open, open + 1), "unterminated token")
                .with_hint("close it with `>`; write `\"<\"` for the character"));
        };
        let end = open + length + 1;
        let name = &self.text[open..end];
        let token = match name.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>")) {
            Some(id) => TokenRef::Id(self.token_id(id, Span::new(self.at, end))?),
            None if length == 1 => {
                return Err(self
                    .error(Span::new(open, end), "token without a name")
                    .with_hint("write `<name>` or `<[id]>`"));
            }
            None => TokenRef::Name(name.to_owned()),
        };
        let token = self.builder.token(TokenTerminal { token, negated });
        self.push(Kind::Operand(token), end);
        Ok(())
    }

    fn token_id(&self, id: &str, span: Span) -> Result<u32, GrammarError> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self
                .error(span, format!("`{id}` is not a token id"))
                .with_hint("write the id as a number, as in `<[1000]>`"));
        }
        id.parse().map_err(|_| {
            self.limit(span, format!("token id {id} is too large, the limit is {}", u32::MAX))
                .with_hint("write an id of the model's vocabulary")
        })
    }

    /// `{m}`, `{m,}`, `{,n}` or `{m,n}`.
    fn bounds(&mut self) -> Result<(), GrammarError> {
        let (min, at) = self.number(self.at + 1)?;
        let (max, comma, at) = match self.bytes.get(at) {
            Some(b',') => {
                let (max, at) = self.number(at + 1)?;
                (max, true, at)
            }
            _ => (min, false, at),
        };
        if self.bytes.get(at) != Some(&b'}') || min.is_none() && max.is_none() {
            return Err(self
                .error(Span::new(self.at, at), "malformed repetition")
                .with_hint("write `{2}`, `{2,}`, `{,5}` or `{2,5}`"));
        }
        let span = Span::new(self.at, at + 1);
        let (min, max) = (min.unwrap_or(0), if comma { max } else { min });
        if let Some(max) = max.filter(|&max| max < min) {
            return Err(self
                .error(span, format!("reversed bounds of a repetition: {min} is more than {max}"))
                .with_hint(format!(
                    "write `{{{max},{min}}}`, or `{{{min},}}` for no upper bound"
                )));
        }
        self.push(Kind::Repeat { min, max }, at + 1);
        Ok(())
    }

    /// A number, if there is one, and where it and the blanks around it end.
    fn number(&self, mut at: usize) -> Result<(Option<u32>, usize), GrammarError> {
        let skip = |mut at: usize, test: fn(&u8) -> bool| {
            while self.bytes.get(at).is_some_and(test) {
                at += 1;
            }
            at
        };
        at = skip(at, u8::is_ascii_whitespace);
        let end = skip(at, u8::is_ascii_digit);
        let digits = &self.text[at..end];
        let value = if digits.is_empty() {
            None
        } else {
            Some(digits.parse().map_err(|_| {
                let message = format!("repetition count too large, the limit is {}", u32::MAX);
                self.limit(Span::new(at, end), message)
                    .with_hint("leave the upper bound out, as in `{2,}`, for any number")
            })?)
        };
        Ok((value, skip(end, u8::is_ascii_whitespace)))
    }

    fn unexpected(&self) -> GrammarError {
        let c = self.text[self.at..].chars().next().unwrap_or_default();
        let shown = match c {
            c if c.is_control() || c.is_whitespace() => format!("U+{:04X}", u32::from(c)),
            c => format!("`{c}`"),
        };
        let hint = match c {
            '\'' | '“' | '”' => "write strings in double quotes: `\"…\"`",
            ':' | '=' | '-' => "write a rule as `name ::= …`",
            '/' => "there are no regexes in GBNF: write classes, groups and `*`",
            ';' | ',' => "rules end at the line break; parts stand side by side",
            '>' => "write a rule as `name ::= …` and a token as `<name>`",
            '\\' => "escapes are for strings and classes: write it in double quotes",
            '$' | '^' => "leave it out: the whole text must match",
            ']' | '}' | '&' | '~' | '@' | '%' => "write a character of the text in double quotes",
            c if c.is_alphabetic() => {
                "rule names are of letters a to z, digits, `-` and `_`; \
                 write text in double quotes"
            }
            c if c.is_whitespace() => "separate parts by plain blanks",
            _ => "write text in double quotes: `\"…\"`",
        };
        let span = Span::new(self.at, self.at + c.len_utf8());
        self.error(span, format!("unexpected character {shown}")).with_hint(hint)
    }

    fn error(&self, span: Span, message: impl Into<String>) -> GrammarError {
        GrammarError::at(GrammarErrorKind::Syntax, self.text, span, message)
    }

    fn limit(&self, span: Span, message: impl Into<String>) -> GrammarError {
        GrammarError::at(GrammarErrorKind::Limit, self.text, span, message)
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}
