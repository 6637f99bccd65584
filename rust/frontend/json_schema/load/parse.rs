//! JSON text → [`Tree`], strictly by RFC 8259 but for a byte order mark, which is skipped.
//!
//! One loop without recursion. Texts, nesting and numbers have limits.

use std::cell::RefCell;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::tree::{Entry, Identifiers, Kind, MANY, Piece, Tree, write_part};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::limits::{Limit, Limits};
use crate::span::Span;

/// Reads a text; `name` says which document it is, and is empty for the user's schema.
pub(super) fn parse(text: &str, name: &str, limits: &Limits) -> Result<Tree, GrammarError> {
    let mut parser = Parser {
        text: text.as_bytes(),
        at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
        entries: Vec::with_capacity(text.len() / 16 + 1),
        unescaped: String::new(),
        identifiers: Identifiers::default(),
        indexes: FxHashMap::default(),
        hasher: std::hash::RandomState::new(),
        source: text,
        limits,
    };
    if let Err(fault) = parser.read() {
        return Err(parser.error(fault, name));
    }
    let Parser { entries, unescaped, identifiers, indexes, hasher, .. } = parser;
    let text = text.into();
    let items = RefCell::default();
    Ok(Tree { text, unescaped, entries, identifiers, indexes, hasher, items })
}

/// What is wrong with the text.
struct Fault {
    kind: GrammarErrorKind,
    span: Span,
    message: String,
    hint: Option<String>,
}

impl Fault {
    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

fn syntax(start: usize, end: usize, message: impl Into<String>) -> Fault {
    let span = Span::new(start, end);
    Fault { kind: GrammarErrorKind::Syntax, span, message: message.into(), hint: None }
}

struct Parser<'t> {
    text: &'t [u8],
    source: &'t str,
    limits: &'t Limits,
    at: usize,
    entries: Vec<Entry>,
    unescaped: String,
    identifiers: Identifiers,
    indexes: FxHashMap<u32, HashTable<u32>>,
    hasher: std::hash::RandomState,
}

/// An open array or object.
struct Open {
    node: u32,
    object: bool,
    members: u32,
}

impl Parser<'_> {
    fn read(&mut self) -> Result<(), Fault> {
        let (most, deepest) = (self.limits.get(Limit::TextBytes), self.limits.get(Limit::Nesting));
        if self.text.len() > most {
            let message =
                format!("a schema of {} bytes; at most {most} are taken", self.text.len());
            return Err(self.limit(Limit::TextBytes, 0, message));
        }
        let mut open: Vec<Open> = Vec::with_capacity(16);
        let mut name = Piece::default();
        'value: loop {
            self.blanks();
            let parent = open.last().map_or(0, |outer| outer.node);
            let node = self.entries.len() as u32;
            let value = self.value();
            // What can't be read has a place as well.
            let kind = *value.as_ref().unwrap_or(&Kind::Null);
            self.entries.push(Entry { kind, name, parent, end: node + 1 });
            value?;
            if let Kind::Array | Kind::Object(_) = kind {
                if open.len() == deepest {
                    let message = format!("arrays and objects nest deeper than {deepest}");
                    return Err(self.limit(Limit::Nesting, self.at - 1, message));
                }
                let object = matches!(kind, Kind::Object(_));
                open.push(Open { node, object, members: 0 });
                self.blanks();
                if self.peek() != Some(if object { b'}' } else { b']' }) {
                    name = if object { self.name()? } else { Piece::default() };
                    continue 'value;
                }
            } else if open.is_empty() {
                return self.end();
            } else {
                self.identify(name, kind, open.len());
            }
            // A value is complete, or an array or object was opened that is empty.
            loop {
                self.blanks();
                let Some(inner) = open.last_mut() else { return self.end() };
                let full = self.entries.len() as u32 > inner.node + 1;
                match self.text.get(self.at) {
                    Some(b',') if full => {
                        inner.members += 1;
                        let (comma, object) = (self.at, inner.object);
                        self.at += 1;
                        self.blanks();
                        if let Some(b'}' | b']') = self.peek() {
                            return Err(syntax(comma, comma + 1, "nothing follows this comma")
                                .with_hint("JSON takes no comma behind the last item"));
                        }
                        name = if object { self.name()? } else { Piece::default() };
                        continue 'value;
                    }
                    Some(b'}') if inner.object => {
                        self.at += 1;
                        let (node, members) = (inner.node, inner.members + u32::from(full));
                        self.close(node, members);
                        open.pop();
                    }
                    Some(b']') if !inner.object => {
                        self.at += 1;
                        self.entries[inner.node as usize].end = self.entries.len() as u32;
                        open.pop();
                    }
                    _ => {
                        let end = if inner.object { "`}`" } else { "`]`" };
                        return Err(self.unexpected(&format!("a comma or {end}")));
                    }
                }
            }
        }
    }

    /// The fault for what is past a limit, from `start` to here.
    fn limit(&self, limit: Limit, start: usize, message: String) -> Fault {
        let error = self.limits.exceeded(limit, "", "");
        let hint = error.hint().unwrap_or_default();
        let fault = syntax(start, self.at.max(start), message).with_hint(hint);
        Fault { kind: GrammarErrorKind::Limit, ..fault }
    }

    fn error(&self, fault: Fault, name: &str) -> GrammarError {
        let Fault { kind, span, mut message, hint } = fault;
        if !name.is_empty() {
            message = format!("{message} (in the document {name:?})");
        }
        let mut error = GrammarError::at(kind, self.source, span, message);
        if kind == GrammarErrorKind::Limit {
            error = error.at_pointer(self.pointer());
        }
        match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    /// The JSON pointer of the last value begun.
    fn pointer(&self) -> String {
        let mut parts = vec![];
        let mut node = self.entries.len().saturating_sub(1);
        while node > 0 {
            let Entry { name, parent, .. } = self.entries[node];
            let before = std::iter::successors(Some(parent as usize + 1), |&sibling| {
                Some(self.entries[sibling].end as usize)
            });
            parts.push(match self.entries[parent as usize].kind {
                Kind::Array => before.take_while(|&sibling| sibling < node).count().to_string(),
                _ => piece(self.source, &self.unescaped, name).to_owned(),
            });
            node = parent as usize;
        }
        let mut pointer = String::new();
        for part in parts.iter().rev() {
            pointer.push('/');
            // Writing to a string does not fail.
            let _ = write_part(part, &mut pointer);
        }
        pointer
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(self.unexpected("nothing more")) }
    }

    /// A scalar, or the start of an array or object.
    fn value(&mut self) -> Result<Kind, Fault> {
        match self.peek() {
            Some(b'"') => Ok(Kind::String(self.string()?)),
            Some(b'{') => {
                self.at += 1;
                Ok(Kind::Object(0))
            }
            Some(b'[') => {
                self.at += 1;
                Ok(Kind::Array)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.word(),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let word = &self.source[start..self.at];
        let hint = match word {
            "null" => return Ok(Kind::Null),
            "true" => return Ok(Kind::Bool(true)),
            "false" => return Ok(Kind::Bool(false)),
            "NaN" | "Infinity" => Some("JSON has no such number, though some libraries write it"),
            "True" | "False" | "None" | "undefined" => Some("JSON says true, false and null"),
            _ => None,
        };
        let message = format!("`{}` is not a JSON value", shortened(word));
        let hint = hint.map(str::to_owned);
        Err(Fault { hint, ..syntax(start, self.at, message) })
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'I') {
            return self.word();
        }
        let first = self.at;
        self.digits("a digit")?;
        if self.text[first] == b'0' && self.at > first + 1 {
            return Err(syntax(first, self.at, "a number with a leading zero"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("a digit behind the point")?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits("a digit of the exponent")?;
        }
        let (length, most) = (self.at - start, self.limits.get(Limit::NumberDigits));
        if length > most {
            let message = format!("a number of {length} characters; at most {most} are taken");
            return Err(self.limit(Limit::NumberDigits, start, message));
        }
        Ok(Kind::Number(Piece { start: start as u32, end: self.at as u32 }))
    }

    fn digits(&mut self, what: &str) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// A member's name with its colon.
    fn name(&mut self) -> Result<Piece, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a name in double quotes"));
        }
        let name = self.string()?;
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok(name)
    }

    fn string(&mut self) -> Result<Piece, Fault> {
        let open = self.at;
        self.at += 1;
        let start = self.at;
        let mut copied: Option<(usize, usize)> = None;
        loop {
            let plain = |&byte: &u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
            self.at += self.text[self.at..].iter().take_while(|byte| plain(byte)).count();
            let Some(byte) = self.peek() else {
                return Err(syntax(open, open + 1, "this string has no end"));
            };
            match byte {
                b'"' => break,
                b'\\' => {
                    let (_, from) = *copied.get_or_insert((self.unescaped.len(), start));
                    self.unescaped.push_str(&self.source[from..self.at]);
                    let c = self.escape()?;
                    self.unescaped.push(c);
                    copied = copied.map(|(begin, _)| (begin, self.at));
                }
                _ => {
                    let message = format!("the control character U+{byte:04X} in a string");
                    return Err(syntax(self.at, self.at + 1, message)
                        .with_hint("write it as an escape, like \\n or \\u0000"));
                }
            }
        }
        let end = self.at;
        self.at += 1;
        Ok(match copied {
            None => Piece { start: start as u32, end: end as u32 },
            Some((begin, from)) => {
                self.unescaped.push_str(&self.source[from..end]);
                let end = self.unescaped.len() as u32 | Piece::UNESCAPED;
                Piece { start: begin as u32, end }
            }
        })
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let Some(byte) = self.peek() else {
            return Err(syntax(start, self.at, "nothing follows this backslash"));
        };
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit(start)?;
                if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with(b"\\u") {
                    let second = self.at;
                    self.at += 2;
                    let low = self.unit(second)?;
                    if (0xdc00..0xe000).contains(&low) {
                        let code = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                        return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                }
                return char::from_u32(first).ok_or_else(|| Fault {
                    kind: GrammarErrorKind::Unsupported,
                    ..syntax(start, start + 6, "half of a surrogate pair is no character")
                });
            }
            _ => {
                while !self.source.is_char_boundary(self.at) {
                    self.at += 1;
                }
                return Err(syntax(start, self.at, "JSON has no such escape")
                    .with_hint("a backslash in a string, as regexes need it, is written twice"));
            }
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self, escape: usize) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| {
            digits
                .iter()
                .try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
        });
        self.at += 4;
        digits.ok_or_else(|| {
            syntax(escape, escape + 2, "four hexadecimal digits must follow this `\\u`")
        })
    }

    /// Notes an identifying keyword.
    fn identify(&mut self, name: Piece, kind: Kind, depth: usize) {
        if !matches!(kind, Kind::String(_) | Kind::Bool(true)) || name.end & Piece::UNESCAPED != 0 {
            return;
        }
        match &self.text[name.start as usize..name.end as usize] {
            b"$anchor" => self.identifiers.any = true,
            b"$dynamicAnchor" | b"$recursiveAnchor" => {
                self.identifiers = Identifiers { any: true, dynamic: true };
            }
            b"$id" | b"id" => {
                // The root's own is no reason to look around, unless it is an anchor too.
                let anchor = matches!(kind, Kind::String(value)
                    if piece(self.source, &self.unescaped, value).trim_end_matches('#').contains('#'));
                self.identifiers.any |= depth > 1 || anchor;
            }
            _ => {}
        }
    }

    /// Ends an object: drops members whose names occur again.
    fn close(&mut self, node: u32, members: u32) {
        let end = self.entries.len() as u32;
        self.entries[node as usize].end = end;
        let mut kept = members;
        if members <= MANY {
            let mut children = [0; MANY as usize];
            let mut child = node + 1;
            let mut count = 0;
            while child < end {
                let name = self.entries[child as usize].name;
                let twin = children[..count].iter_mut().find(|before| {
                    piece(self.source, &self.unescaped, self.entries[**before as usize].name)
                        == piece(self.source, &self.unescaped, name)
                });
                if let Some(twin) = twin {
                    self.entries[*twin as usize].kind = Kind::Replaced;
                    *twin = child;
                    kept -= 1;
                } else {
                    children[count] = child;
                    count += 1;
                }
                child = self.entries[child as usize].end;
            }
        } else {
            let mut index = HashTable::with_capacity(members as usize);
            let mut child = node + 1;
            while child < end {
                let entries = &self.entries;
                let name = |of: u32| piece(self.source, &self.unescaped, entries[of as usize].name);
                let hash = self.hasher.hash_one(name(child));
                let entry = index.entry(
                    hash,
                    |&before| name(before) == name(child),
                    |&before| self.hasher.hash_one(name(before)),
                );
                let mut twin = None;
                entry
                    .and_modify(|before| twin = Some(std::mem::replace(before, child)))
                    .or_insert(child);
                if let Some(twin) = twin {
                    self.entries[twin as usize].kind = Kind::Replaced;
                    kept -= 1;
                }
                child = self.entries[child as usize].end;
            }
            self.indexes.insert(node, index);
            // Looked up by its index, even if few are left.
            kept = kept.max(MANY + 1);
        }
        self.entries[node as usize].kind = Kind::Object(kept);
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let Some(c) = self.source[self.at.min(self.text.len())..].chars().next() else {
            return syntax(self.at, self.at, format!("the text ends where {expected} must follow"));
        };
        let fault =
            syntax(self.at, self.at + c.len_utf8(), format!("expected {expected}, found {c:?}"));
        match c {
            '\'' => fault.with_hint("JSON takes strings in double quotes only"),
            '/' | '#' => fault.with_hint("JSON takes no comments"),
            _ => fault,
        }
    }
}

fn piece<'t>(text: &'t str, unescaped: &'t str, piece: Piece) -> &'t str {
    let Piece { start, end } = piece;
    if end & Piece::UNESCAPED == 0 {
        &text[start as usize..end as usize]
    } else {
        &unescaped[start as usize..(end & !Piece::UNESCAPED) as usize]
    }
}

fn shortened(word: &str) -> &str {
    &word[..word.len().min(40)]
}
