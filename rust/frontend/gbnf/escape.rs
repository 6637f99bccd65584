//! One character of a literal or class, as it is or as an escape.

use crate::error::{GrammarError, GrammarErrorKind};
use crate::span::Span;

/// Reads an escape that starts with the backslash at `at`: the character and where it ends.
pub(super) fn read(text: &str, at: usize) -> Result<(char, usize), GrammarError> {
    let plain = |c| Ok((c, at + 2));
    match text.as_bytes().get(at + 1) {
        Some(b'n') => plain('\n'),
        Some(b't') => plain('\t'),
        Some(b'r') => plain('\r'),
        Some(&c @ (b'"' | b'\\' | b'[' | b']' | b'-' | b'^')) => plain(c.into()),
        Some(b'x') => code_point(text, at, 2),
        Some(b'u') => code_point(text, at, 4),
        Some(b'U') => code_point(text, at, 8),
        _ => Err(unknown(text, at)),
    }
}

fn code_point(text: &str, at: usize, digits: usize) -> Result<(char, usize), GrammarError> {
    let (start, end) = (at + 2, at + 2 + digits);
    let fail = |end: usize, message: String| {
        GrammarError::at(GrammarErrorKind::Syntax, text, Span::new(at, end), message)
    };
    let hex = text.get(start..end).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    let Some(value) = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
        let letter = &text[at + 1..start];
        let found = text[start..].bytes().take_while(u8::is_ascii_hexdigit).count();
        return Err(fail(
            start + found,
            format!("`\\{letter}` needs {digits} hexadecimal digits, found {found}"),
        )
        .with_hint("write a code point as `\\xXX`, `\\uXXXX` or `\\UXXXXXXXX`"));
    };
    match char::from_u32(value) {
        Some(c) => Ok((c, end)),
        None if value <= 0xDFFF => {
            Err(fail(end, format!("U+{value:04X} is a surrogate, not a character"))
                .with_hint("write the character itself or its whole code point as `\\UXXXXXXXX`"))
        }
        None => Err(fail(end, format!("U+{value:04X} is not a character"))
            .with_hint("code points end at 10FFFF")),
    }
}

fn unknown(text: &str, at: usize) -> GrammarError {
    let Some(c) = text[at + 1..].chars().next() else {
        let message = "the text ends within an escape";
        return GrammarError::at(GrammarErrorKind::Syntax, text, Span::new(at, at + 1), message)
            .with_hint("write `\\\\` for a backslash");
    };
    let hint = match c {
        'd' => "write the class out: `[0-9]`".to_owned(),
        'w' => "write the class out: `[0-9A-Za-z_]`".to_owned(),
        's' => "write the class out: `[ \\t\\n\\r]`".to_owned(),
        'b' | 'f' | 'v' | 'a' | 'e' | '0' => "write it as a code point, such as `\\x00`".to_owned(),
        c if c.is_alphanumeric() || c.is_control() => {
            "write `\\\\` for a backslash; the escapes are \\n \\t \\r \\\" \\\\ \\[ \\] \\- \\^ \
             \\xXX \\uXXXX \\UXXXXXXXX"
                .to_owned()
        }
        c => format!("write `{c}` without the backslash, or `\\\\` for a backslash"),
    };
    let span = Span::new(at, at + 1 + c.len_utf8());
    let message = if c.is_control() {
        format!("unknown escape: a backslash before U+{:04X}", u32::from(c))
    } else {
        format!("unknown escape `\\{c}`")
    };
    GrammarError::at(GrammarErrorKind::Syntax, text, span, message).with_hint(hint)
}
