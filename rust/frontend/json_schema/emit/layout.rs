//! Punctuation and white space.

use super::Emitter;
use crate::frontend::json_schema::options::{FLEXIBLE, Whitespace};
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;

/// The terminals between values at one level of indentation.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Before and after the whole value.
    pub(super) around: ExprId,
    /// `{`, if something follows.
    pub(super) open_object: ExprId,
    /// `}` behind something.
    pub(super) close_object: ExprId,
    /// `{}`.
    pub(super) empty_object: ExprId,
    /// `[`, if something follows.
    pub(super) open_array: ExprId,
    /// `]` behind something.
    pub(super) close_array: ExprId,
    /// `[]`.
    pub(super) empty_array: ExprId,
    /// Between items.
    pub(super) comma: ExprId,
    /// Behind a name; part of the name's terminal.
    pub(super) colon: ExprId,
}

impl Emitter<'_> {
    /// The layout of an array or object at a depth of indentation.
    pub(super) fn layout(&mut self, depth: u32) -> Layout {
        if let Some(&known) = self.layouts.get(&depth) {
            return known;
        }
        let whitespace = self.algebra.options.whitespace.clone();
        let builder = &mut self.algebra.builder;
        let nothing = builder.empty();
        // Around a comma or colon: before, itself, behind; behind `{` and before `}`.
        let (before, comma, colon, behind, inside, last) = match &whitespace {
            Whitespace::Flexible => {
                let blank = blank(builder, Some(FLEXIBLE));
                let (comma, colon) = (builder.literal(b","), builder.literal(b":"));
                (nothing, comma, colon, blank, blank, blank)
            }
            Whitespace::Any => {
                let blank = blank(builder, None);
                let (comma, colon) = (builder.literal(b","), builder.literal(b":"));
                (blank, comma, colon, blank, blank, blank)
            }
            Whitespace::Fixed { item, key, indent } => {
                let (comma, colon) =
                    (builder.literal(item.as_bytes()), builder.literal(key.as_bytes()));
                let mut line = |depth: u32| {
                    let Some(indent) = indent else { return nothing };
                    let blanks = " ".repeat((indent * depth) as usize);
                    builder.literal(format!("\n{blanks}").as_bytes())
                };
                let (inside, last) = (line(depth + 1), line(depth));
                (nothing, comma, colon, nothing, inside, last)
            }
        };
        let indented = matches!(whitespace, Whitespace::Fixed { indent: Some(_), .. });
        let around = if whitespace == Whitespace::Any {
            self.terminal("white space", before)
        } else {
            nothing
        };
        let mut punctuation = |text: &str| self.algebra.builder.literal(text.as_bytes());
        let (brace, unbrace) = (punctuation("{"), punctuation("}"));
        let (bracket, unbracket) = (punctuation("["), punctuation("]"));
        let mut terminal = |name: &'static str, parts: &[ExprId]| {
            let parts: Vec<ExprId> =
                parts.iter().copied().filter(|&part| part != nothing).collect();
            let body = self.algebra.builder.seq(&parts);
            self.terminal(name, body)
        };
        let empty_inside = if indented { nothing } else { inside };
        let layout = Layout {
            around,
            open_object: terminal("{", &[brace, inside]),
            close_object: terminal("}", &[last, unbrace]),
            empty_object: terminal("{}", &[brace, empty_inside, unbrace]),
            open_array: terminal("[", &[bracket, inside]),
            close_array: terminal("]", &[last, unbracket]),
            empty_array: terminal("[]", &[bracket, empty_inside, unbracket]),
            comma: terminal(",", &[before, comma, behind, if indented { inside } else { nothing }]),
            colon: self.algebra.builder.seq(&[before, colon, behind]),
        };
        self.layouts.insert(depth, layout);
        layout
    }
}

/// White space as JSON has it (RFC 8259, section 2).
fn blank(builder: &mut GrammarBuilder, max: Option<u32>) -> ExprId {
    let blank = builder.class(&[('\t', '\n'), ('\r', '\r'), (' ', ' ')]);
    builder.repeat(blank, 0, max)
}
