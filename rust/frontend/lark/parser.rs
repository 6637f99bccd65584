//! Lark text → [`Ast`].
//!
//! One pass with one token of look-ahead and an explicit stack of open brackets, so that nesting
//! costs memory and never the native stack. Inside brackets line breaks mean nothing; outside
//! they end a definition, unless a `|` follows. Knows no names: whether they are defined is the
//! lowering's business.

use super::ast::{Ast, Definition, Import, Node, NodeId};
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

/// The state of a parse; `body.rs` has the part that reads bodies.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    lexer: Lexer<'t>,
    pub(super) token: Token,
    /// Where the token before `token` ended.
    pub(super) last_end: usize,
    pub(super) ast: Ast,
    /// The parts of the alternatives that are being read, innermost last.
    pub(super) items: Vec<NodeId>,
    /// The finished alternatives of the brackets that are open, innermost last.
    pub(super) alternatives: Vec<NodeId>,
    /// Whether an ordered regexp was seen since the body's start.
    pub(super) ordered: bool,
}

/// What a body belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
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
        let nothing = self.at_end_of_statement();
        let (body, ordered) = self.body(owner)?;
        let name = name.span;
        if terminal && nothing {
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
    pub(super) fn comma_or_closing_brace(&mut self) -> Result<bool, Fault> {
        self.skip_newlines()?;
        let more = match self.token.kind {
            TokenKind::Mark(b',') => true,
            TokenKind::Mark(b'}') => false,
            _ => {
                let message = format!("expected `,` or `}}`, found {}", self.found());
                return Err(Fault::syntax(self.token.span, message));
            }
        };
        self.advance()?;
        if more {
            self.skip_newlines()?;
        }
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
                if self.at_end_of_statement() {
                    return Err(Fault::syntax(directive.span, "`%ignore` of nothing")
                        .with_hint("name a terminal: `%ignore WS`, or a literal"));
                }
                let ignore = self.body(Owner::Ignore)?;
                self.ast.ignores.push(ignore);
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

    fn end_of_statement(&self) -> Result<(), Fault> {
        if self.at_end_of_statement() {
            return Ok(());
        }
        let message = format!("expected the end of the line, found {}", self.found());
        Err(Fault::syntax(self.token.span, message))
    }

    fn at_end_of_statement(&self) -> bool {
        matches!(self.token.kind, TokenKind::Newline | TokenKind::End)
    }

    pub(super) fn push(&mut self, node: Node) -> NodeId {
        self.ast.nodes.push(node);
        NodeId(self.ast.nodes.len() as u32 - 1)
    }

    fn skip_newlines(&mut self) -> Result<(), Fault> {
        while self.token.kind == TokenKind::Newline {
            self.advance()?;
        }
        Ok(())
    }

    pub(super) fn advance(&mut self) -> Result<(), Fault> {
        self.last_end = self.token.span.end;
        self.token = self.lexer.next()?;
        if self.token.kind == TokenKind::End {
            // Errors show the place where something is missing, not the last empty line.
            self.token.span = Span::new(self.last_end, self.last_end);
        }
        Ok(())
    }

    pub(super) fn slice(&self, span: Span) -> &'t str {
        &self.text[span.start..span.end]
    }

    /// The current token for an error message.
    pub(super) fn found(&self) -> String {
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
