//! Literals: strings, ranges and the flags of regexps, decoded from the text.
//!
//! Strings know the escapes `\n \t \r \f \xHH \uHHHH \UHHHHHHHH \\ \"`. A backslash before
//! anything else stands for itself, as in Lark: `"\d"` is a backslash and a `d`.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::fault::Fault;
use crate::frontend::regex::RegexFlags;
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;
use crate::span::Span;

/// A decoded string.
pub(super) struct Text {
    pub(super) value: String,
    /// Upper and lower case are the same (flag `i`).
    pub(super) ignore_case: bool,
}

/// Decodes the string at `span`, quotes and flag included.
pub(super) fn string(text: &str, span: Span) -> Result<Text, Fault> {
    let ignore_case = text.as_bytes()[span.end - 1] == b'i';
    let inner = Span::new(span.start + 1, span.end - 1 - usize::from(ignore_case));
    let mut value = String::with_capacity(inner.end - inner.start);
    let mut rest = &text[inner.start..inner.end];
    while let Some(backslash) = rest.find('\\') {
        value.push_str(&rest[..backslash]);
        let start = inner.end - rest.len() + backslash;
        rest = &rest[backslash + 1..];
        let letter = rest.chars().next().unwrap_or('\\');
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        match letter {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            'f' => value.push('\x0c'),
            '\\' | '"' => value.push(letter),
            'x' | 'u' | 'U' => value.push(code_point(text, start, digits)?),
            _ => {
                value.push('\\');
                value.push(letter);
            }
        }
        rest = &rest[letter.len_utf8() + digits..];
    }
    value.push_str(rest);
    Ok(Text { value, ignore_case })
}

/// The character of `\x…`, `\u…` or `\U…` at `start`, with exactly this many digits.
fn code_point(text: &str, start: usize, digits: usize) -> Result<char, Fault> {
    let number = &text.as_bytes()[start + 2..];
    let found = number.iter().take(digits).take_while(|b| b.is_ascii_hexdigit()).count();
    let span = Span::new(start, start + 2 + found);
    let escape = &text[span.start..span.end];
    if found < digits {
        return Err(Fault::syntax(span, format!("the escape `{escape}` has too few digits"))
            .with_hint(r"write `\xHH`, `\uHHHH` or `\UHHHHHHHH` with hexadecimal digits"));
    }
    u32::from_str_radix(&escape[2..], 16).ok().and_then(char::from_u32).ok_or_else(|| {
        let fault = Fault::syntax(span, format!("the escape `{escape}` is no character"));
        if digits == 4 {
            fault.with_hint(r"write the whole code point instead of surrogates: `\U0001F600`")
        } else {
            fault.with_hint(r"the last code point is `\U0010FFFF`")
        }
    })
}

/// The expression of a string.
pub(super) fn string_expr(text: &Text, builder: &mut GrammarBuilder) -> ExprId {
    if !text.ignore_case {
        return builder.literal(text.value.as_bytes());
    }
    let mut parts = Vec::new();
    // Characters without case since the last one with.
    let mut plain = String::new();
    for c in text.value.chars() {
        let class = folded(c);
        if class.len() == 1 {
            plain.push(c);
            continue;
        }
        if !plain.is_empty() {
            parts.push(builder.literal(plain.as_bytes()));
            plain.clear();
        }
        parts.push(builder.class(&class));
    }
    if !plain.is_empty() {
        parts.push(builder.literal(plain.as_bytes()));
    }
    builder.seq(&parts)
}

/// A character in all its cases (simple folding), as sorted, disjoint ranges; a single range of
/// one character if it has no case.
pub(super) fn folded(c: char) -> Vec<(char, char)> {
    if c.is_ascii() && !c.is_ascii_alphabetic() {
        return vec![(c, c)];
    }
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    if class.try_case_fold_simple().is_err() {
        // Only without Unicode tables, which the crate always has: ASCII is right then.
        let other =
            if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        class.push(ClassUnicodeRange::new(other, other));
    }
    class.iter().map(|range| (range.start(), range.end())).collect()
}

/// The ends of `low..high`.
pub(super) fn range(text: &str, low: Span, high: Span) -> Result<(char, char), Fault> {
    let end = |span: Span| {
        let decoded = string(text, span)?;
        let mut chars = decoded.value.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if !decoded.ignore_case => Ok(c),
            (Some(_), None) => Err(Fault::unsupported(span, "a range can't have the flag `i`")
                .with_hint("write both cases: \"a\"..\"z\" | \"A\"..\"Z\"")),
            _ => {
                let shown = &text[span.start..span.end];
                Err(Fault::syntax(span, format!("{shown} is not one character"))
                    .with_hint("the ends of a range are single characters: \"a\"..\"z\""))
            }
        }
    };
    let (first, last) = (end(low)?, end(high)?);
    if first > last {
        let message = format!("the range goes down, from {first:?} to {last:?}");
        return Err(Fault::syntax(Span::new(low.start, high.end), message)
            .with_hint("the smaller character stands first"));
    }
    Ok((first, last))
}

/// A regexp's pattern without slashes, and its flags.
pub(super) fn regexp(text: &str, span: Span) -> Result<(Span, RegexFlags), Fault> {
    let raw = &text[span.start..span.end];
    let slash = raw.rfind('/').unwrap_or(0);
    let pattern = Span::new(span.start + 1, span.start + slash);
    let mut flags = RegexFlags { anchors: false, ..RegexFlags::default() };
    for (index, flag) in raw[slash + 1..].bytes().enumerate() {
        match flag {
            b'i' => flags.i = true,
            b'm' => flags.m = true,
            b's' => flags.s = true,
            b'x' => flags.x = true,
            // Unicode is always on, as for Python's texts.
            b'u' => {}
            _ => {
                let at = pattern.end + 1 + index;
                let message = "the flag `l` (locale) is not supported: texts are Unicode";
                return Err(
                    Fault::unsupported(Span::new(at, at + 1), message).with_hint("leave it out")
                );
            }
        }
    }
    Ok((pattern, flags))
}
