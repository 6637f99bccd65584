//! Lark text → [`Ast`].
//!
//! One pass with one token of look-ahead and an explicit stack of open brackets, so that nesting
//! costs memory and never the native stack. Inside brackets line breaks mean nothing; outside
//! they end a definition, unless a `|` follows. Knows no names: whether they are defined is the
//! lowering's business.

use super::ast::{Ast, Body, Definition, Import, List, Node, NodeId};
use super::fault::Fault;
use super::lexer::{Lexer, Token, TokenKind};
use crate::error::GrammarErrorKind;
use crate::span::Span;

/// The most parameters a template can have; they are looked up one by one.
const MAX_PARAMS: usize = 64;

/// Parses a text.
pub(super) fn parse(text: &str) -> Result<Ast, Fault> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser {
        text,
        lexer,
        token,
        last_end: 0,
        ast: Ast::default(),
        items: Vec::new(),
        alternatives: Vec::new(),
        ordered: false,
    };
    parser.statements()?;
    Ok(parser.ast)
}

struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    token: Token,
    /// Where the token before `token` ended.
    last_end: usize,
    ast: Ast,
    /// The parts of the alternatives that are being read, innermost last.
    items: Vec<NodeId>,
    /// The finished alternatives of the brackets that are open, innermost last.
    alternatives: Vec<NodeId>,
    /// Whether an ordered regexp was seen since the body's start.
    ordered: bool,
}

/// A bracket that is open, or the body itself.
struct Frame {
    /// `(`, `[`, or `:` for the body.
    opener: u8,
    span: Span,
    items: usize,
    alternatives: usize,
}

/// What a body belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Rule,
    Terminal,
    Ignore,
}

impl<'t> Parser<'t> {
    fn statements(&mut self) -> Result<(), Fault> {
        loop {
            match self.token.kind {
                TokenKind::Newline => self.advance()?,
                TokenKind::End => return Ok(()),
                TokenKind::Directive => {
                    self.directive()?;
                    self.end_of_statement()?;
                }
                TokenKind::Rule | TokenKind::Terminal | TokenKind::Mark(b'?' | b'!') => {
                    self.definition()?;
                }
                _ => return Err(self.no_statement()),
            }
        }
    }

    fn no_statement(&self) -> Fault {
        let found = self.found();
        let fault = Fault::syntax(self.token.span, format!("{found} can't start a definition"));
        match self.token.kind {
            TokenKind::Str | TokenKind::Regexp { .. } | TokenKind::Mark(b'(' | b'[') => fault
                .with_hint(
                    "definitions look like `name: …`; to go on with the line above put `|` in \
                     front for an alternative, or end that line with `\\`",
                ),
            TokenKind::Mark(closer @ (b')' | b']')) => {
                fault.with_hint(format!("there is no open bracket for this `{}`", closer as char))
            }
            _ => fault.with_hint("definitions look like `name: …`"),
        }
    }

    fn definition(&mut self) -> Result<(), Fault> {
        let modifier = self.token;
        let mut modifiers = 0;
        while let TokenKind::Mark(mark @ (b'?' | b'!')) = self.token.kind {
            let bit = if mark == b'?' { 1 } else { 2 };
            if modifiers & bit != 0 {
                let message = format!("`{}` stands twice before a name", mark as char);
                return Err(Fault::syntax(self.token.span, message));
            }
            modifiers |= bit;
            self.advance()?;
        }
        let name = self.token;
        let terminal = match name.kind {
            TokenKind::Rule => false,
            TokenKind::Terminal if modifiers == 0 => true,
            TokenKind::Terminal => {
                let message = "`?` and `!` can't stand before a terminal's name";
                return Err(Fault::syntax(modifier.span, message)
                    .with_hint("they only shape the tree of rules"));
            }
            _ => {
                let message = format!("expected a rule's name, found {}", self.found());
                return Err(Fault::syntax(name.span, message));
            }
        };
        self.advance()?;
        let params = self.params(terminal)?;
        if self.token.kind == TokenKind::Mark(b'.') {
            self.advance()?;
            self.priority()?;
        }
        if self.token.kind != TokenKind::Mark(b':') {
            let name = self.slice(name.span);
            let message = format!("expected `:` after `{name}`, found {}", self.found());
            return Err(Fault::syntax(self.token.span, message)
                .with_hint("a definition is written `name: …` on one line"));
        }
        self.advance()?;
        let owner = if terminal { Owner::Terminal } else { Owner::Rule };
        let (body, ordered) = self.body(owner)?;
        let name = name.span;
        if terminal && self.ast.is_empty_sequence(body) {
            let message = format!("the terminal `{}` is empty", self.slice(name));
            return Err(Fault::syntax(name, message)
                .with_hint("the empty text is written `\"\"`; a body starts on the name's line"));
        }
        self.ast.definitions.push(Definition { name, terminal, params, body, ordered });
        Ok(())
    }

    /// `{a, b}` after the name of a template.
    fn params(&mut self, terminal: bool) -> Result<Vec<Span>, Fault> {
        let mut params: Vec<Span> = Vec::new();
        if self.token.kind != TokenKind::Mark(b'{') {
            return Ok(params);
        }
        if terminal {
            return Err(Fault::syntax(self.token.span, "a terminal can't be a template")
                .with_hint("templates are rules: use a lower-case name"));
        }
        self.advance()?;
        loop {
            if self.token.kind != TokenKind::Rule {
                let message = format!("expected a parameter's name, found {}", self.found());
                return Err(Fault::syntax(self.token.span, message)
                    .with_hint("parameters have lower-case names"));
            }
            let span = self.token.span;
            let name = self.slice(span);
            if params.iter().any(|&param| self.slice(param) == name) {
                let message = format!("the parameter `{name}` is there twice");
                return Err(Fault::new(GrammarErrorKind::Duplicate, span, message));
            }
            if params.len() == MAX_PARAMS {
                let message = format!("a template has at most {MAX_PARAMS} parameters");
                return Err(Fault::limit(span, message));
            }
            params.push(span);
            self.advance()?;
            if !self.comma_or_closing_brace()? {
                return Ok(params);
            }
        }
    }

    /// Whether a comma (true) or `}` (false) came.
    fn comma_or_closing_brace(&mut self) -> Result<bool, Fault> {
        let more = match self.token.kind {
            TokenKind::Mark(b',') => true,
            TokenKind::Mark(b'}') => false,
            _ => {
                let message = format!("expected `,` or `}}`, found {}", self.found());
                return Err(Fault::syntax(self.token.span, message));
            }
        };
        self.advance()?;
        Ok(more)
    }

    /// A priority shapes the tree or breaks ties; it never removes a text, so it is only checked.
    fn priority(&mut self) -> Result<(), Fault> {
        if matches!(self.token.kind, TokenKind::Mark(b'+' | b'-')) {
            self.advance()?;
        }
        if self.token.kind != TokenKind::Number {
            let message = format!("expected a priority, found {}", self.found());
            return Err(Fault::syntax(self.token.span, message)
                .with_hint("a priority is a number: `name.2: …`; names can't hold dots"));
        }
        self.advance()
    }

    fn directive(&mut self) -> Result<(), Fault> {
        let directive = self.token;
        let name = self.slice(directive.span);
        self.advance()?;
        match name {
            "%ignore" => {
                let (body, ordered) = self.body(Owner::Ignore)?;
                if self.ast.is_empty_sequence(body) {
                    return Err(Fault::syntax(directive.span, "`%ignore` of nothing")
                        .with_hint("name a terminal: `%ignore WS`, or a literal"));
                }
                self.ast.ignores.push((body, ordered));
                Ok(())
            }
            "%import" => self.import(directive.span),
            "%declare" => {
                if !matches!(self.token.kind, TokenKind::Rule | TokenKind::Terminal) {
                    return Err(Fault::syntax(directive.span, "`%declare` of nothing"));
                }
                while matches!(self.token.kind, TokenKind::Rule | TokenKind::Terminal) {
                    self.ast.declared.push(self.token.span);
                    self.advance()?;
                }
                Ok(())
            }
            "%override" | "%extend" => {
                Err(Fault::unsupported(directive.span, format!("`{name}` is not supported"))
                    .with_hint("write the whole definition under a new name"))
            }
            _ => Err(Fault::syntax(directive.span, format!("unknown directive `{name}`"))
                .with_hint("the directives are %ignore and %import")),
        }
    }

    fn import(&mut self, directive: Span) -> Result<(), Fault> {
        if matches!(self.token.kind, TokenKind::Mark(b'.') | TokenKind::DotDot) {
            let message = "relative imports are not supported: there are no files here";
            return Err(Fault::unsupported(self.token.span, message)
                .with_hint("copy the definitions, or import from a library such as `common`"));
        }
        let mut path: Vec<Span> = vec![self.name("a library's name")?];
        while self.token.kind == TokenKind::Mark(b'.') {
            self.advance()?;
            path.push(self.name("a name")?);
        }
        if self.token.kind == TokenKind::Mark(b'(') {
            let library_span = Span::new(path[0].start, path[path.len() - 1].end);
            loop {
                self.advance()?;
                self.skip_newlines()?;
                let span = self.name("a name to import")?;
                self.push_import(library_span, span, span)?;
                self.skip_newlines()?;
                match self.token.kind {
                    TokenKind::Mark(b',') => {}
                    TokenKind::Mark(b')') => return self.advance(),
                    _ => {
                        let message = format!("expected `,` or `)`, found {}", self.found());
                        return Err(Fault::syntax(self.token.span, message));
                    }
                }
            }
        }
        let &[.., before, name] = path.as_slice() else {
            let library = self.slice(path[0]);
            let span = Span::new(directive.start, path[0].end);
            return Err(Fault::syntax(span, format!("nothing is imported from `{library}`"))
                .with_hint(format!("write `%import {library}.NAME`")));
        };
        let mut alias = name;
        if self.token.kind == TokenKind::Arrow {
            self.advance()?;
            alias = self.name("the new name")?;
        } else if self.token.kind == TokenKind::Mark(b',') {
            let library = self.slice(Span::new(path[0].start, before.end));
            return Err(Fault::syntax(self.token.span, "several names need parentheses")
                .with_hint(format!("write `%import {library} (A, B)`")));
        }
        self.push_import(Span::new(path[0].start, before.end), name, alias)
    }

    fn push_import(&mut self, library: Span, name: Span, alias: Span) -> Result<(), Fault> {
        let (old, new) = (self.slice(name), self.slice(alias));
        if is_terminal(old) != is_terminal(new) {
            let (what, case) =
                if is_terminal(old) { ("a terminal", "upper") } else { ("a rule", "lower") };
            let message = format!("`{old}` is {what}, so it can't be imported as `{new}`");
            return Err(Fault::syntax(alias, message)
                .with_hint(format!("the new name must be {case} case too")));
        }
        self.ast.imports.push(Import { library, name, alias });
        Ok(())
    }

    fn name(&mut self, what: &str) -> Result<Span, Fault> {
        if !matches!(self.token.kind, TokenKind::Rule | TokenKind::Terminal) {
            let message = format!("expected {what}, found {}", self.found());
            return Err(Fault::syntax(self.token.span, message)
                .with_hint("imports look like `%import common.INT` or `%import common (A, B)`"));
        }
        let span = self.token.span;
        self.advance()?;
        Ok(span)
    }

    fn end_of_statement(&mut self) -> Result<(), Fault> {
        match self.token.kind {
            TokenKind::Newline | TokenKind::End => Ok(()),
            _ => {
                let message = format!("expected the end of the line, found {}", self.found());
                Err(Fault::syntax(self.token.span, message))
            }
        }
    }

    /// Alternatives up to the end of the statement, and whether one of their regexps is ordered.
    fn body(&mut self, owner: Owner) -> Result<(Body, bool), Fault> {
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
        let fault = Fault::syntax(self.token.span, format!("unexpected {found}"));
        match self.token.kind {
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

    fn push(&mut self, node: Node) -> NodeId {
        self.ast.nodes.push(node);
        NodeId(self.ast.nodes.len() as u32 - 1)
    }

    fn skip_newlines(&mut self) -> Result<(), Fault> {
        while self.token.kind == TokenKind::Newline {
            self.advance()?;
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), Fault> {
        self.last_end = self.token.span.end;
        self.token = self.lexer.next()?;
        Ok(())
    }

    fn slice(&self, span: Span) -> &'t str {
        &self.text[span.start..span.end]
    }

    /// The current token for an error message.
    fn found(&self) -> String {
        match self.token.kind {
            TokenKind::Newline => "the end of the line".to_owned(),
            TokenKind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", self.slice(self.token.span)),
        }
    }
}

/// Whether a name is a terminal's.
pub(super) fn is_terminal(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_uppercase())
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
