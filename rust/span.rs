//! Places in a grammar's source text, and how they are shown.

/// A range of bytes of a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset past the last byte.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// Line and column (both from 1, the column in characters) of a byte offset.
pub fn line_and_column(source: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &source[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The longest part of a source line that an error message shows, in characters.
const EXCERPT: usize = 100;

/// The line of a span with a caret line below it. Long lines are cut around the span.
pub fn excerpt(source: &str, span: Span) -> String {
    let (line_number, column) = line_and_column(source, span.start);
    let line = source.split('\n').nth(line_number - 1).unwrap_or("").trim_end_matches('\r');
    let first = (column - 1).saturating_sub(EXCERPT / 2);
    let shown: String = line
        .chars()
        .skip(first)
        .take(EXCERPT)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let marked = source.get(span.start..span.end).unwrap_or("");
    let width = marked.chars().take_while(|&c| c != '\n').count().max(1);
    let indent = column - 1 - first;
    let width = width.min(EXCERPT.saturating_sub(indent)).max(1);
    let number = line_number.to_string();
    let margin = " ".repeat(number.len());
    format!("{number} | {shown}\n{margin} | {}{}", " ".repeat(indent), "^".repeat(width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("a\nbé x", 6), (2, 4));
    }

    #[test]
    fn caret_stands_below_the_span() {
        assert_eq!(excerpt("ab\ncde", Span::new(4, 6)), "2 | cde\n  |  ^^");
    }

    #[test]
    fn long_lines_are_cut() {
        let line = "x".repeat(1000);
        let shown = excerpt(&line, Span::new(500, 501));
        assert!(shown.len() < 300, "{shown}");
    }
}
