//! Syntax tree → IR expressions, except around anchors.
//!
//! The walk keeps its own stack, so that nesting costs no native stack. What holds no anchor
//! becomes an expression at once; an anchor, and whatever stands around one, becomes a [`Node`] for
//! [`super::anchors`] to resolve once the whole pattern is known.

use std::slice;

use regex_syntax::ast::{
    self, AssertionKind, Ast, FlagsItemKind, GroupKind, LiteralKind, RepetitionKind,
    RepetitionRange,
};

use super::RegexFlags;
use super::error::{PatternError, bytes};
use super::leaf::Leaves;
use super::nodes::{Node, Nodes, Piece};
use crate::grammar::{Expr, GrammarBuilder};
use crate::span::Span;

/// The flags at a place of the pattern, as far as they change the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
// They are independent of each other, as in the regex syntax itself.
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) unicode: bool,
    pub(super) crlf: bool,
}

impl Flags {
    fn apply(&mut self, flags: &ast::Flags) {
        let mut on = true;
        for item in &flags.items {
            match item.kind {
                FlagsItemKind::Negation => on = false,
                FlagsItemKind::Flag(ast::Flag::CaseInsensitive) => self.ignore_case = on,
                FlagsItemKind::Flag(ast::Flag::MultiLine) => self.multi_line = on,
                FlagsItemKind::Flag(ast::Flag::DotMatchesNewLine) => self.dot_all = on,
                FlagsItemKind::Flag(ast::Flag::Unicode) => self.unicode = on,
                FlagsItemKind::Flag(ast::Flag::CRLF) => self.crlf = on,
                // Greed doesn't change the language; the parser deals with blanks.
                FlagsItemKind::Flag(ast::Flag::SwapGreed | ast::Flag::IgnoreWhitespace) => {}
            }
        }
    }
}

/// A part of the pattern that is done. Neighbouring letters are gathered before they become one
/// literal.
#[derive(Clone, Copy)]
enum Part {
    /// Bytes of [`Walk::text`] from here to the next text part.
    Text(usize),
    Piece(Piece),
}

/// A node of the syntax tree whose children are being walked. `start` counts the parts that were
/// there before.
enum Frame<'a> {
    Concat { rest: slice::Iter<'a, Ast>, start: usize },
    Alternation { rest: slice::Iter<'a, Ast>, start: usize },
    Repeat { min: u32, max: Option<u32> },
    Group { outside: Flags },
}

struct Walk<'a, 'b> {
    flags: Flags,
    anchors_allowed: bool,
    leaves: Leaves<'a>,
    builder: &'b mut GrammarBuilder,
    nodes: Nodes,
    frames: Vec<Frame<'a>>,
    parts: Vec<Part>,
    text: Vec<u8>,
}

/// Translates a pattern; the nodes are those that the piece refers to.
pub(super) fn translate<'a>(
    pattern: &'a str,
    ast: &'a Ast,
    flags: RegexFlags,
    builder: &mut GrammarBuilder,
) -> Result<(Piece, Nodes), PatternError> {
    let mut walk = Walk {
        flags: Flags {
            ignore_case: flags.i,
            multi_line: flags.m,
            dot_all: flags.s,
            unicode: flags.u,
            crlf: false,
        },
        anchors_allowed: flags.anchors,
        leaves: Leaves::new(pattern),
        builder,
        nodes: Nodes::new(),
        frames: Vec::new(),
        parts: Vec::new(),
        text: Vec::new(),
    };
    let mut next = Some(ast);
    loop {
        if let Some(ast) = next.take() {
            next = walk.enter(ast)?;
            continue;
        }
        match walk.frames.last_mut() {
            Some(Frame::Concat { rest, .. } | Frame::Alternation { rest, .. })
                if !rest.as_slice().is_empty() =>
            {
                next = rest.next();
            }
            Some(_) => walk.leave(),
            None => break,
        }
    }
    let piece = walk.pop_piece();
    Ok((piece, walk.nodes))
}

impl<'a> Walk<'a, '_> {
    /// Deals with a leaf, or opens a frame and gives the first child to go to.
    fn enter(&mut self, ast: &'a Ast) -> Result<Option<&'a Ast>, PatternError> {
        match ast {
            Ast::Empty(_) => self.push_text(&[]),
            Ast::Flags(set) => {
                self.flags.apply(&set.flags);
                self.push_text(&[]);
            }
            Ast::Literal(literal) => self.literal(ast, literal)?,
            Ast::Dot(_) | Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => {
                self.leaf(ast)?;
            }
            Ast::Assertion(assertion) => self.assertion(assertion)?,
            Ast::Repetition(repetition) => {
                let (min, max) = bounds(&repetition.op.kind);
                self.frames.push(Frame::Repeat { min, max });
                return Ok(Some(&repetition.ast));
            }
            Ast::Group(group) => {
                self.frames.push(Frame::Group { outside: self.flags });
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.flags.apply(flags);
                }
                return Ok(Some(&group.ast));
            }
            Ast::Concat(concat) => {
                let (rest, start) = (concat.asts.iter(), self.parts.len());
                self.frames.push(Frame::Concat { rest, start });
            }
            Ast::Alternation(alternation) => {
                let (rest, start) = (alternation.asts.iter(), self.parts.len());
                self.frames.push(Frame::Alternation { rest, start });
            }
        }
        Ok(None)
    }

    /// Closes the innermost frame, whose children are done.
    fn leave(&mut self) {
        match self.frames.pop() {
            // Flags that were set inside a group end with it.
            Some(Frame::Group { outside }) => self.flags = outside,
            Some(Frame::Repeat { min, max }) => {
                let piece = self.pop_piece();
                let piece = self.nodes.repeat(piece, min, max, self.builder);
                self.parts.push(Part::Piece(piece));
            }
            Some(Frame::Alternation { start, .. }) => {
                let pieces = self.take_pieces(start, false);
                let piece = self.nodes.alt(&pieces, self.builder);
                self.parts.push(Part::Piece(piece));
            }
            Some(Frame::Concat { start, .. }) => match self.parts[start..] {
                // Text stays text, so that `(ab)c` becomes one literal.
                [] => self.parts.push(Part::Text(self.text.len())),
                [_] => {}
                _ => {
                    let pieces = self.take_pieces(start, true);
                    let piece = self.nodes.concat(&pieces, self.builder);
                    self.parts.push(Part::Piece(piece));
                }
            },
            None => {}
        }
    }

    fn literal(&mut self, ast: &'a Ast, literal: &ast::Literal) -> Result<(), PatternError> {
        let c = literal.c;
        if self.flags.ignore_case && (c.is_ascii_alphabetic() || !c.is_ascii()) {
            return self.leaf(ast);
        }
        match literal.kind {
            // `(?-u:\xFF)` is a byte, not a character.
            LiteralKind::HexFixed(ast::HexLiteralKind::X) if !self.flags.unicode => {
                self.push_text(&[c as u32 as u8]);
            }
            _ => self.push_text(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        Ok(())
    }

    fn leaf(&mut self, ast: &'a Ast) -> Result<(), PatternError> {
        let expr = self.leaves.convert(ast, self.flags, self.builder)?;
        if let Expr::Literal(bytes) = self.builder.expr(expr) {
            let bytes = bytes.clone();
            self.push_text(&bytes);
        } else {
            self.parts.push(Part::Piece(Piece::Plain(expr)));
        }
        Ok(())
    }

    fn assertion(&mut self, assertion: &ast::Assertion) -> Result<(), PatternError> {
        let span = bytes(&assertion.span);
        let line = self.flags.multi_line.then_some(span);
        let node = match assertion.kind {
            AssertionKind::StartLine => Node::Start { line },
            AssertionKind::StartText => Node::Start { line: None },
            AssertionKind::EndLine => Node::End { line },
            AssertionKind::EndText => Node::End { line: None },
            ref kind => return Err(PatternError::word_boundary(span, kind)),
        };
        if !self.anchors_allowed {
            return Err(refused_anchor(&assertion.kind, span));
        }
        let piece = self.nodes.push(node);
        self.parts.push(Part::Piece(piece));
        Ok(())
    }

    /// Adds bytes to the text before them where that belongs to the same sequence.
    fn push_text(&mut self, bytes: &[u8]) {
        let joins = match self.frames.last() {
            Some(&Frame::Concat { start, .. }) => {
                self.parts.len() > start && matches!(self.parts.last(), Some(Part::Text(_)))
            }
            _ => false,
        };
        if !joins {
            self.parts.push(Part::Text(self.text.len()));
        }
        self.text.extend_from_slice(bytes);
    }

    /// The last part as a piece. Each child of a frame leaves exactly one part.
    fn pop_piece(&mut self) -> Piece {
        match self.parts.pop() {
            Some(Part::Piece(piece)) => piece,
            Some(Part::Text(from)) => self.text_piece(from),
            None => self.text_piece(self.text.len()),
        }
    }

    /// The parts from `start` on as pieces; in a sequence neighbouring texts become one.
    fn take_pieces(&mut self, start: usize, sequence: bool) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(self.parts.len() - start);
        while self.parts.len() > start {
            if sequence {
                while let [.., Part::Text(_), Part::Text(_)] = self.parts[start..] {
                    self.parts.pop();
                }
            }
            let piece = self.pop_piece();
            pieces.push(piece);
        }
        pieces.reverse();
        pieces
    }

    /// The bytes from `from` on as a literal; they leave the buffer.
    fn text_piece(&mut self, from: usize) -> Piece {
        let expr = self.builder.literal(&self.text[from..]);
        self.text.truncate(from);
        Piece::Plain(expr)
    }
}

fn refused_anchor(kind: &AssertionKind, span: Span) -> PatternError {
    let name = match kind {
        AssertionKind::StartLine => "^",
        AssertionKind::StartText => r"\A",
        AssertionKind::EndLine => "$",
        _ => r"\z",
    };
    PatternError::unsupported(
        span,
        format!("anchor `{name}`"),
        "leave it out: a terminal always matches from its start to its end",
    )
}

fn bounds(kind: &RepetitionKind) -> (u32, Option<u32>) {
    match *kind {
        RepetitionKind::ZeroOrOne => (0, Some(1)),
        RepetitionKind::ZeroOrMore => (0, None),
        RepetitionKind::OneOrMore => (1, None),
        RepetitionKind::Range(RepetitionRange::Exactly(count)) => (count, Some(count)),
        RepetitionKind::Range(RepetitionRange::AtLeast(min)) => (min, None),
        RepetitionKind::Range(RepetitionRange::Bounded(min, max)) => (min, Some(max)),
    }
}
