//! Bodies of definitions: alternatives, groups, operators, literals.
//!
//! The other half of [`Parser`]. Open brackets stand on an explicit stack; the nodes of a body are
//! pushed children first, so that the body's last node is its root.

use super::ast::{Body, List, Node, NodeId};
use super::fault::Fault;
use super::lexer::{Token, TokenKind};
use super::parser::{Owner, Parser};
use crate::span::Span;

/// A bracket that is open, or the body itself.
struct Frame {
    /// `(`, `[`, or `:` for the body.
    opener: u8,
    span: Span,
    items: usize,
    alternatives: usize,
}

impl Parser<'_> {
    /// Alternatives up to the end of the statement, and whether one of their regexps is ordered.
    pub(super) fn body(&mut self, owner: Owner) -> Result<(Body, bool), Fault> {
        self.ordered = false;
        let first = self.ast.nodes.len();
        let mut frames =
            vec![Frame { opener: b':', span: self.token.span, items: 0, alternatives: 0 }];
        loop {
            let token = self.token;
            match token.kind {
                TokenKind::Mark(opener @ (b'(' | b'[')) => {
                    let (items, alternatives) = (self.items.len(), self.alternatives.len());
                    frames.push(Frame { opener, span: token.span, items, alternatives });
                    self.advance()?;
                }
                TokenKind::Mark(closer @ (b')' | b']')) => {
                    let opener = if closer == b')' { b'(' } else { b'[' };
                    let frame = match frames.pop() {
                        Some(frame) if frame.opener == opener => frame,
                        other => return Err(stray_closer(closer, token.span, other.as_ref())),
                    };
                    self.advance()?;
                    let mut node = self.close(&frame);
                    if closer == b']' {
                        node = self.push(Node::Repeat { node, min: 0, max: Some(1) });
                    }
                    self.suffix(node)?;
                }
                TokenKind::Mark(b'|') => {
                    let items = frames.last().map_or(0, |frame| frame.items);
                    self.close_alternative(items);
                    self.advance()?;
                }
                TokenKind::Arrow => {
                    self.alias(owner)?;
                }
                TokenKind::Newline if frames.len() > 1 => self.advance()?,
                TokenKind::Newline | TokenKind::End => {
                    let Some(frame) = frames.pop() else { break };
                    if frame.opener != b':' {
                        return Err(unclosed(&frame));
                    }
                    self.close(&frame);
                    break;
                }
                TokenKind::Mark(b':') if frames.len() > 1 => {
                    return Err(unclosed(&frames[frames.len() - 1]));
                }
                _ => {
                    let node = self.value()?;
                    self.suffix(node)?;
                }
            }
        }
        let root = self.ast.nodes.len() - 1;
        Ok((Body { first: first as u32, root: root as u32 }, self.ordered))
    }

    /// Ends the alternative whose parts start at `items`.
    fn close_alternative(&mut self, items: usize) {
        let node = if self.items.len() == items + 1 {
            self.items.pop().unwrap_or(NodeId(0))
        } else {
            let list = self.list(items);
            self.push(Node::Seq(list))
        };
        self.alternatives.push(node);
    }

    /// Ends a bracket or body.
    fn close(&mut self, frame: &Frame) -> NodeId {
        self.close_alternative(frame.items);
        if self.alternatives.len() == frame.alternatives + 1 {
            return self.alternatives.pop().unwrap_or(NodeId(0));
        }
        let start = self.ast.lists.len() as u32;
        self.ast.lists.extend(self.alternatives.drain(frame.alternatives..));
        let list = List { start, end: self.ast.lists.len() as u32 };
        self.push(Node::Alt(list))
    }

    fn list(&mut self, items: usize) -> List {
        let start = self.ast.lists.len() as u32;
        self.ast.lists.extend(self.items.drain(items..));
        List { start, end: self.ast.lists.len() as u32 }
    }

    /// A name, literal or range.
    fn value(&mut self) -> Result<NodeId, Fault> {
        let token = self.token;
        let node = match token.kind {
            TokenKind::Rule | TokenKind::Terminal => {
                self.advance()?;
                if self.token.kind == TokenKind::Mark(b'{') {
                    return self.call(token);
                }
                let terminal = token.kind == TokenKind::Terminal;
                Node::Name { span: token.span, terminal }
            }
            TokenKind::Str => {
                self.advance()?;
                if self.token.kind == TokenKind::DotDot {
                    self.advance()?;
                    let high = self.token.span;
                    if self.token.kind != TokenKind::Str {
                        let found = self.found();
                        let message = format!("expected the range's last character, found {found}");
                        return Err(Fault::syntax(high, message)
                            .with_hint("a range is written \"a\"..\"z\""));
                    }
                    self.advance()?;
                    Node::Range { low: token.span, high }
                } else {
                    Node::Str(token.span)
                }
            }
            TokenKind::Regexp { ordered } => {
                self.ordered |= ordered;
                self.advance()?;
                Node::Regexp { span: token.span, ordered }
            }
            _ => return Err(self.no_value()),
        };
        Ok(self.push(node))
    }

    fn no_value(&self) -> Fault {
        let found = self.found();
        let fault = Fault::syntax(self.token.span, format!("{found} can't stand here"));
        match self.token.kind {
            TokenKind::Mark(b':') if self.text[..self.token.span.start].ends_with(':') => {
                fault.with_hint("a definition is written `name: …`, with one colon")
            }
            TokenKind::Mark(b'*' | b'+' | b'?' | b'~') => fault.with_hint(
                "an operator stands right after what it repeats, one at a time: `(x+)?`",
            ),
            TokenKind::Mark(b':') => {
                fault.with_hint("each definition starts on a line of its own: `name: …`")
            }
            TokenKind::Directive => fault.with_hint("a directive starts on a line of its own"),
            TokenKind::DotDot => fault.with_hint("a range is written \"a\"..\"z\""),
            _ => fault.with_hint("here stand names, \"strings\", /regexps/ and groups"),
        }
    }

    /// The arguments of a template. Brackets inside are nested calls, so the stack is explicit.
    fn call(&mut self, name: Token) -> Result<NodeId, Fault> {
        if name.kind == TokenKind::Terminal {
            return Err(Fault::syntax(name.span, "a terminal can't be a template")
                .with_hint("templates are rules: use a lower-case name"));
        }
        let mut open = vec![(name.span, self.items.len())];
        self.advance()?;
        loop {
            let token = self.token;
            // A call within a call: its name is a rule followed by `{`.
            let node = if token.kind == TokenKind::Rule {
                self.advance()?;
                if self.token.kind == TokenKind::Mark(b'{') {
                    open.push((token.span, self.items.len()));
                    self.advance()?;
                    continue;
                }
                self.push(Node::Name { span: token.span, terminal: false })
            } else {
                self.value()?
            };
            self.items.push(node);
            while !self.comma_or_closing_brace()? {
                let (span, items) = open.pop().unwrap_or((name.span, 0));
                let args = self.list(items);
                let span = Span::new(span.start, self.last_end);
                let node = self.push(Node::Call { span, args });
                if open.is_empty() {
                    return Ok(node);
                }
                self.items.push(node);
            }
        }
    }

    /// An operator after a value or group, then the part is complete.
    fn suffix(&mut self, node: NodeId) -> Result<(), Fault> {
        let node = match self.token.kind {
            TokenKind::Mark(operator @ (b'*' | b'+' | b'?')) => {
                self.advance()?;
                let (min, max) = match operator {
                    b'*' => (0, None),
                    b'+' => (1, None),
                    _ => (0, Some(1)),
                };
                self.push(Node::Repeat { node, min, max })
            }
            TokenKind::Mark(b'~') => {
                let start = self.token.span.start;
                self.advance()?;
                let (min, mut span) = self.count()?;
                let mut max = min;
                if self.token.kind == TokenKind::DotDot {
                    self.advance()?;
                    let end;
                    (max, end) = self.count()?;
                    span.end = end.end;
                }
                if max < min {
                    let span = Span::new(start, span.end);
                    return Err(Fault::syntax(span, format!("`~{min}..{max}` has no count in it"))
                        .with_hint(format!("the smaller number stands first: `~{max}..{min}`")));
                }
                self.push(Node::Repeat { node, min, max: Some(max) })
            }
            _ => node,
        };
        self.items.push(node);
        Ok(())
    }

    fn count(&mut self) -> Result<(u32, Span), Fault> {
        let span = self.token.span;
        match self.token.kind {
            TokenKind::Number => {}
            TokenKind::Mark(b'-') => {
                return Err(Fault::syntax(span, "a count can't be negative"));
            }
            _ => {
                let message = format!("expected a number, found {}", self.found());
                return Err(Fault::syntax(span, message).with_hint(
                    "counts are written `x~3` or `x~2..5`; without an end it is `x~2 x*`",
                ));
            }
        }
        let Ok(count) = self.slice(span).parse() else {
            let message = format!("the count {} is too large", self.slice(span));
            return Err(
                Fault::limit(span, message).with_hint(format!("the largest count is {}", u32::MAX))
            );
        };
        self.advance()?;
        Ok((count, span))
    }

    /// `-> name` at the end of an alternative: it names a branch of the tree, so it is only
    /// checked.
    fn alias(&mut self, owner: Owner) -> Result<(), Fault> {
        if owner != Owner::Rule {
            let message = "`->` can't stand in a terminal";
            return Err(Fault::syntax(self.token.span, message)
                .with_hint("it names an alternative of a rule"));
        }
        self.advance()?;
        if self.token.kind != TokenKind::Rule {
            let message = format!("expected a name after `->`, found {}", self.found());
            return Err(Fault::syntax(self.token.span, message)
                .with_hint("the name of an alternative is lower case"));
        }
        self.advance()?;
        match self.token.kind {
            TokenKind::Newline | TokenKind::End | TokenKind::Mark(b'|' | b')' | b']') => Ok(()),
            _ => {
                let message = format!("expected the alternative's end, found {}", self.found());
                Err(Fault::syntax(self.token.span, message)
                    .with_hint("`-> name` comes last in its alternative"))
            }
        }
    }
}

fn unclosed(frame: &Frame) -> Fault {
    let (opener, closer) = if frame.opener == b'(' { ('(', ')') } else { ('[', ']') };
    Fault::syntax(frame.span, format!("this `{opener}` is not closed"))
        .with_hint(format!("add `{closer}` where the group ends"))
}

/// A closing bracket that doesn't fit what is open.
fn stray_closer(closer: u8, span: Span, open: Option<&Frame>) -> Fault {
    let closer = closer as char;
    match open {
        Some(frame) if frame.opener != b':' => {
            let opener = frame.opener as char;
            let wanted = if frame.opener == b'(' { ')' } else { ']' };
            Fault::syntax(span, format!("`{closer}` can't close the `{opener}` that is open"))
                .with_hint(format!("close it with `{wanted}` first"))
        }
        _ => Fault::syntax(span, format!("there is no open bracket for this `{closer}`"))
            .with_hint("remove it, or open the group before"),
    }
}
