//! A regexp in Python's syntax → the same in the syntax of Rust's `regex` crate.
//!
//! Lark's regexps are Python's. The two syntaxes agree on most things; this pass rewrites what
//! differs and refuses by name what has no counterpart:
//!
//! | Python | here |
//! |---|---|
//! | `\w`, `\s` and their negations | Python's own sets: letters, numbers and `_`; white space with U+001C to U+001F |
//! | `[[]`, `[a&&b]`, `[+--]` | literal brackets and `&`, ranges to `-`: no nested classes, no set operations |
//! | `{` that starts no count, `{,}`, `{,5}` | a literal brace; any number; `{0,5}` |
//! | `\0`, `\012`, `[\b]`, `\<` | octal numbers, backspace, a plain `<` |
//! | `\Z`, `(?#…)` | `\z`, nothing |
//! | flag `x`, `(?x)` | blanks and comments are left out here, but blanks in classes count |
//! | `(?<!x)`, `(?<=x)` | groups with the names [`NOT_AFTER`] and [`AFTER`] for `ordered.rs` |
//! | `(?a)`, `(?L)`, `a++`, `\N{…}` | refused |
//!
//! Escapes stand for literal characters: `\x2e` is a dot, not any character.

use super::fault::Fault;
use crate::span::Span;

/// The name of the group that stands for a negative look-behind, followed by a number. Python's
/// group names hold no dots.
pub(super) const NOT_AFTER: &str = "not.after.";
/// The name of the group that stands for a positive look-behind, followed by a number.
pub(super) const AFTER: &str = "after.";

/// A rewritten pattern.
pub(super) struct Rewritten {
    pub(super) pattern: String,
    /// Places in `pattern` and where they come from, both ascending.
    places: Vec<(usize, usize)>,
}

impl Rewritten {
    /// The place in Lark's text of a place in the rewritten pattern.
    pub(super) fn source(&self, span: Span) -> Span {
        let source = |offset: usize| {
            let index = self.places.partition_point(|place| place.0 <= offset);
            let (target, source) = self.places[index.saturating_sub(1)];
            // Within one rewritten piece all places are the piece's start.
            let end = self.places.get(index).map_or(source, |place| place.1);
            (source + offset.saturating_sub(target)).min(end.max(source))
        };
        let start = source(span.start);
        Span::new(start, source(span.end).max(start))
    }
}

/// Rewrites the pattern at `span` of `text`.
pub(super) fn rewrite(text: &str, span: Span, verbose: bool) -> Result<Rewritten, Fault> {
    let mut rewriter = Rewriter {
        text,
        at: span.start,
        end: span.end,
        out: String::with_capacity(span.end - span.start + 8),
        places: Vec::new(),
        verbose: vec![verbose],
        groups: 0,
    };
    rewriter.pattern()?;
    rewriter.place();
    Ok(Rewritten { pattern: rewriter.out, places: rewriter.places })
}

struct Rewriter<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    out: String,
    places: Vec<(usize, usize)>,
    /// Whether blanks are ignored, for each open group, the pattern itself first.
    verbose: Vec<bool>,
    /// How many look-behinds there were.
    groups: usize,
}

impl Rewriter<'_> {
    fn pattern(&mut self) -> Result<(), Fault> {
        while let Some(c) = self.peek(0) {
            self.place();
            let verbose = self.verbose.last().is_some_and(|&on| on);
            match c {
                c if verbose && is_blank(c) => self.skip(1),
                '#' if verbose => {
                    let rest = &self.text[self.at..self.end];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => self.group()?,
                ')' => {
                    if self.verbose.len() > 1 {
                        self.verbose.pop();
                    }
                    self.copy(1);
                }
                '{' => self.brace()?,
                '*' | '+' | '?' => {
                    self.copy(1);
                    self.quantifier_end()?;
                }
                _ => self.copy(c.len_utf8()),
            }
        }
        Ok(())
    }

    /// After a quantifier: `?` makes it lazy, `+` possessive.
    fn quantifier_end(&mut self) -> Result<(), Fault> {
        match self.peek(0) {
            Some('?') => self.copy(1),
            Some('+') => {
                let span = Span::new(self.at - 1, self.at + 1);
                return Err(Fault::unsupported(span, "possessive repetition in a regexp")
                    .with_hint("leave the second `+` out"));
            }
            _ => {}
        }
        Ok(())
    }

    /// `{`: a count or a literal brace.
    fn brace(&mut self) -> Result<(), Fault> {
        let rest = &self.text[self.at + 1..self.end];
        let inner = rest.find('}').map_or("", |end| &rest[..end]);
        let (low, high) = inner.split_once(',').unwrap_or((inner, inner));
        let number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if inner.is_empty() || !number(low) || !number(high) {
            self.skip(1);
            self.out.push_str("\\{");
            return Ok(());
        }
        if inner == "," {
            self.skip(3);
            self.out.push('*');
        } else if low.is_empty() {
            self.replace(inner.len() + 2, &format!("{{0,{high}}}"));
        } else {
            self.copy(inner.len() + 2);
        }
        self.quantifier_end()
    }

    /// A backslash and what belongs to it.
    fn escape(&mut self, in_class: bool) -> Result<(), Fault> {
        let start = self.at;
        let Some(c) = self.peek(1) else {
            // The `regex` crate words this.
            self.copy(1);
            return Ok(());
        };
        match c {
            'w' if in_class => self.replace(2, r"\p{L}\p{N}_"),
            'w' => self.replace(2, r"[\p{L}\p{N}_]"),
            'W' => self.replace(2, r"[^\p{L}\p{N}_]"),
            's' if in_class => self.replace(2, r"\s\x1c-\x1f"),
            's' => self.replace(2, r"[\s\x1c-\x1f]"),
            'S' => self.replace(2, r"[^\s\x1c-\x1f]"),
            'b' if in_class => self.replace(2, r"\x08"),
            'Z' if !in_class => self.replace(2, r"\z"),
            '<' | '>' | ' ' | '/' | '"' | '\'' => {
                self.skip(1);
                self.copy(1);
            }
            '0'..='7' if in_class || c == '0' || self.octal(1) == 3 => {
                // After a zero come up to two more digits, otherwise there are three.
                let digits = self.octal(1).clamp(1, 3);
                let number = &self.text[start + 1..start + 1 + digits];
                let value = u32::from_str_radix(number, 8).unwrap_or(u32::MAX);
                if value > 0o377 {
                    let span = Span::new(start, start + 1 + digits);
                    let message = format!("the octal escape `\\{number}` is above `\\377`");
                    return Err(
                        Fault::syntax(span, message).with_hint("write `\\xHH` or `\\uHHHH`")
                    );
                }
                self.replace(1 + digits, &format!("\\x{value:02x}"));
            }
            'p' | 'P' | 'x' | 'u' | 'U' if self.peek(2) == Some('{') => {
                let rest = &self.text[start..self.end];
                self.copy(rest.find('}').map_or(rest.len(), |end| end + 1));
            }
            'N' => {
                let span = Span::new(start, start + 2);
                return Err(Fault::unsupported(span, "named character `\\N{…}` in a regexp")
                    .with_hint("write its code point, such as `\\u2014`"));
            }
            c => self.copy(1 + c.len_utf8()),
        }
        Ok(())
    }

    /// How many octal digits, at most three, stand `from` bytes on.
    fn octal(&self, from: usize) -> usize {
        let bytes = &self.text.as_bytes()[self.at + from..self.end];
        bytes.iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count()
    }

    /// `[…]`. In Python a bracket, `&&`, `--` or `~~` inside is nothing special.
    fn class(&mut self) -> Result<(), Fault> {
        self.copy(1);
        if self.peek(0) == Some('^') {
            self.copy(1);
        }
        if self.peek(0) == Some(']') {
            self.replace(1, r"\]");
            self.range_end()?;
        }
        while let Some(c) = self.peek(0) {
            self.place();
            if c == ']' {
                self.copy(1);
                return Ok(());
            }
            self.class_item(c)?;
            self.range_end()?;
        }
        // Not closed: the `regex` crate words this.
        Ok(())
    }

    /// One character or escape of a class.
    fn class_item(&mut self, c: char) -> Result<(), Fault> {
        match c {
            '\\' => return self.escape(true),
            '[' | ']' | '&' | '~' | '-' | '^' | '#' => {
                self.out.push('\\');
                self.copy(1);
            }
            _ => self.copy(c.len_utf8()),
        }
        Ok(())
    }

    /// `-x` after an item of a class, if it makes a range of it.
    fn range_end(&mut self) -> Result<(), Fault> {
        if self.peek(0) == Some('-')
            && let Some(c) = self.peek(1)
            && c != ']'
        {
            self.copy(1);
            self.class_item(c)?;
        }
        Ok(())
    }

    /// `(` and what says which group it is.
    fn group(&mut self) -> Result<(), Fault> {
        let rest = &self.text[self.at..self.end];
        let verbose = self.verbose.last().is_some_and(|&on| on);
        for (sign, name) in [("(?<!", NOT_AFTER), ("(?<=", AFTER)] {
            if rest.starts_with(sign) {
                self.verbose.push(verbose);
                let group = format!("(?P<{name}{}>", self.groups);
                self.groups += 1;
                self.replace(sign.len(), &group);
                return Ok(());
            }
        }
        if rest.starts_with("(?#") {
            self.at += rest.find(')').map_or(rest.len(), |end| end + 1);
            return Ok(());
        }
        let Some(flags) = rest.strip_prefix("(?") else {
            self.verbose.push(verbose);
            self.copy(1);
            return Ok(());
        };
        let letters = flags.bytes().take_while(|b| b.is_ascii_alphabetic() || *b == b'-').count();
        let closer = flags.as_bytes().get(letters);
        if letters == 0 || !matches!(closer, Some(b':' | b')')) {
            self.verbose.push(verbose);
            self.copy(2);
            return Ok(());
        }
        self.flags(letters, closer == Some(&b':'), verbose)
    }

    /// `(?flags)` or `(?flags:`; the flag `x` is dealt with here.
    fn flags(&mut self, letters: usize, scoped: bool, before: bool) -> Result<(), Fault> {
        let mut verbose = before;
        let mut kept = String::new();
        let start = self.at + 2;
        let mut on = true;
        for (index, flag) in self.text[start..start + letters].bytes().enumerate() {
            match flag {
                b'x' => verbose = on,
                b'-' => {
                    on = false;
                    kept.push('-');
                }
                b'i' | b'm' | b's' => kept.push(flag as char),
                b'u' if on => {}
                _ => {
                    let span = Span::new(start + index, start + index + 1);
                    let message = format!("the flag `{}` is not supported", flag as char);
                    return Err(Fault::unsupported(span, message).with_hint(
                        "the flags are i, m, s, u and x; for ASCII alone write classes such as \
                         `[0-9]`",
                    ));
                }
            }
        }
        let kept = kept.trim_end_matches('-');
        self.at = start + letters + 1;
        if scoped {
            self.verbose.push(verbose);
            self.out.push_str("(?");
            self.out.push_str(kept);
            self.out.push(':');
        } else {
            if let Some(innermost) = self.verbose.last_mut() {
                *innermost = verbose;
            }
            if !kept.is_empty() {
                self.out.push_str("(?");
                self.out.push_str(kept);
                self.out.push(')');
            }
        }
        Ok(())
    }

    /// The character `from` bytes on.
    fn peek(&self, from: usize) -> Option<char> {
        self.text.get(self.at + from..self.end)?.chars().next()
    }

    fn place(&mut self) {
        self.places.push((self.out.len(), self.at));
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn copy(&mut self, bytes: usize) {
        self.out.push_str(&self.text[self.at..self.at + bytes]);
        self.at += bytes;
    }

    fn replace(&mut self, bytes: usize, with: &str) {
        self.out.push_str(with);
        self.at += bytes;
    }
}

/// What Python's verbose regexps ignore.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}
