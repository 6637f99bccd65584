//! Lexemes → rules.
//!
//! First all rules are declared, then their bodies are read in order. Groups are kept on a stack of
//! our own, so that nesting costs no native stack.

use rustc_hash::FxHashMap;

use super::lexer::{Kind, Lexeme};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::suggest;
use crate::grammar::{Grammar, GrammarBuilder, SymbolKind};
use crate::index::{ExprId, SymbolId};
use crate::span::{Span, line_and_column};

/// Builds the grammar of a text's lexemes.
pub(super) fn parse(
    text: &str,
    lexemes: &[Lexeme],
    root: &str,
    builder: GrammarBuilder,
) -> Result<Grammar, GrammarError> {
    let mut parser = Parser {
        text,
        lexemes,
        at: 0,
        builder,
        names: FxHashMap::default(),
        parts: Vec::new(),
        alternatives: Vec::new(),
        groups: Vec::new(),
    };
    parser.declare()?;
    parser.skip_line_breaks();
    if parser.peek().is_none() {
        return Err(GrammarError::new(GrammarErrorKind::Syntax, "the grammar has no rules")
            .with_hint(format!("write at least one rule, such as `{root} ::= \"yes\" | \"no\"`")));
    }
    while parser.peek().is_some() {
        parser.rule()?;
        parser.skip_line_breaks();
    }
    match parser.names.get(root) {
        Some(&start) => Ok(parser.builder.finish(start)),
        None => Err(parser.missing_root(root)),
    }
}

/// A group that is not closed yet, or the rule around all groups.
#[derive(Clone, Copy)]
struct Group {
    open: Span,
    /// How many parts there were before it.
    parts: usize,
    /// How many alternatives there were before it.
    alternatives: usize,
}

struct Parser<'a> {
    text: &'a str,
    lexemes: &'a [Lexeme],
    at: usize,
    builder: GrammarBuilder,
    names: FxHashMap<&'a str, SymbolId>,
    /// The parts of all open sequences, outer ones first.
    parts: Vec<ExprId>,
    /// The finished alternatives of all open groups, outer ones first.
    alternatives: Vec<ExprId>,
    groups: Vec<Group>,
}

impl<'a> Parser<'a> {
    /// Declares all rules, wherever `name ::=` stands.
    fn declare(&mut self) -> Result<(), GrammarError> {
        for pair in self.lexemes.windows(2) {
            let [name, Lexeme { kind: Kind::Define, .. }] = pair else { continue };
            if name.kind != Kind::Name {
                continue;
            }
            let (word, span) = (name.text(self.text), name.span());
            let symbol = self.builder.declare(word.to_owned(), SymbolKind::Rule, span);
            if self.names.insert(word, symbol).is_some() {
                return Err(self.duplicate(word, span));
            }
        }
        Ok(())
    }

    fn rule(&mut self) -> Result<(), GrammarError> {
        let name = self.lexemes[self.at];
        if name.kind != Kind::Name || self.kind_at(self.at + 1) != Some(Kind::Define) {
            return Err(self.not_a_rule(name));
        }
        self.at += 2;
        self.skip_line_breaks();
        if self.peek().is_none() || self.rule_begins() {
            let message = format!("rule `{}` has no body", shown(name.text(self.text)));
            return Err(self
                .error(name.span(), message)
                .with_hint("write `\"\"` for the empty text, or remove the rule"));
        }
        let body = self.alternatives()?;
        // `declare` has seen every name before a `::=`.
        self.builder.define(self.names[name.text(self.text)], body);
        Ok(())
    }

    /// All alternatives of a rule, up to the line break that ends it.
    fn alternatives(&mut self) -> Result<ExprId, GrammarError> {
        self.groups.push(Group { open: Span::default(), parts: 0, alternatives: 0 });
        while let Some(lexeme) = self.peek() {
            self.at += 1;
            match lexeme.kind {
                Kind::Operand(expr) => self.parts.push(expr),
                Kind::Name if self.kind_at(self.at) == Some(Kind::Define) => {
                    return Err(self.misplaced_rule(lexeme));
                }
                Kind::Name => {
                    let Some(&symbol) = self.names.get(lexeme.text(self.text)) else {
                        return Err(self.undefined(lexeme));
                    };
                    let expr = self.builder.symbol(symbol);
                    self.parts.push(expr);
                }
                Kind::Repeat { min, max } => {
                    let first = self.group().parts;
                    match self.parts[first..].last_mut() {
                        Some(part) => *part = self.builder.repeat(*part, min, max),
                        None => return Err(self.nothing_to_repeat(lexeme)),
                    }
                }
                Kind::Open => self.groups.push(Group {
                    open: lexeme.span(),
                    parts: self.parts.len(),
                    alternatives: self.alternatives.len(),
                }),
                Kind::Close if self.groups.len() == 1 => {
                    return Err(self
                        .error(lexeme.span(), "`)` without a `(`")
                        .with_hint("remove it, or write `\")\"` for the character"));
                }
                Kind::Close => {
                    let group = self.close();
                    self.parts.push(group);
                }
                Kind::Bar => {
                    self.end_alternative();
                    self.skip_line_breaks();
                }
                Kind::LineBreak if self.groups.len() > 1 => {}
                Kind::LineBreak if self.kind_at(self.at) == Some(Kind::Bar) => {}
                Kind::LineBreak => break,
                Kind::Define => {
                    return Err(self
                        .error(lexeme.span(), "`::=` without a rule's name before it")
                        .with_hint("write `name ::= …` on a line of its own"));
                }
            }
        }
        if self.groups.len() > 1 {
            return Err(self
                .error(self.group().open, "unterminated group")
                .with_hint("close it with `)`, or write `\"(\"` for the character"));
        }
        Ok(self.close())
    }

    /// The innermost open group; the rule itself is the outermost one.
    fn group(&self) -> Group {
        self.groups[self.groups.len() - 1]
    }

    fn end_alternative(&mut self) {
        let first = self.group().parts;
        let alternative = self.builder.seq(&self.parts[first..]);
        self.parts.truncate(first);
        self.alternatives.push(alternative);
    }

    /// Closes the innermost group.
    fn close(&mut self) -> ExprId {
        self.end_alternative();
        let first = self.group().alternatives;
        let expr = self.builder.alt(&self.alternatives[first..]);
        self.alternatives.truncate(first);
        self.groups.pop();
        expr
    }

    fn peek(&self) -> Option<Lexeme> {
        self.lexemes.get(self.at).copied()
    }

    fn kind_at(&self, at: usize) -> Option<Kind> {
        self.lexemes.get(at).map(|lexeme| lexeme.kind)
    }

    fn rule_begins(&self) -> bool {
        self.kind_at(self.at) == Some(Kind::Name) && self.kind_at(self.at + 1) == Some(Kind::Define)
    }

    fn skip_line_breaks(&mut self) {
        while self.kind_at(self.at) == Some(Kind::LineBreak) {
            self.at += 1;
        }
    }

    fn error(&self, span: Span, message: impl Into<String>) -> GrammarError {
        GrammarError::at(GrammarErrorKind::Syntax, self.text, span, message)
    }

    fn not_a_rule(&self, lexeme: Lexeme) -> GrammarError {
        let shown = shown(lexeme.text(self.text));
        let hint = if self.at == 0 {
            "a grammar is a list of rules such as `root ::= \"yes\" | \"no\"`"
        } else {
            "start a rule with `name ::= …`; a rule goes on in the next line only inside \
             parentheses, after `|`, or where the line starts with `|`"
        };
        let message = match lexeme.kind {
            Kind::Name => format!("`{shown}` has no `::=` after it"),
            _ => format!("a rule must begin with its name, not with `{shown}`"),
        };
        self.error(lexeme.span(), message).with_hint(hint)
    }

    /// A `name ::=` where an alternative goes on.
    fn misplaced_rule(&self, lexeme: Lexeme) -> GrammarError {
        let name = shown(lexeme.text(self.text));
        // The lexeme before this one and, where that is a line break, the one before that.
        let before = self.kind_at(self.at.wrapping_sub(2));
        if self.groups.len() > 1 && before == Some(Kind::LineBreak) {
            let message = format!("unterminated group: rule `{name}` begins inside it");
            self.error(self.group().open, message)
                .with_hint("close it with `)`, or write `\"(\"` for the character")
        } else if before == Some(Kind::LineBreak) {
            let message = format!("rule `{name}` begins where an alternative was expected");
            self.error(lexeme.span(), message)
                .with_hint("remove the `|` before it, or write `\"\"` for the empty text")
        } else {
            self.error(lexeme.span(), format!("rule `{name}` begins in the middle of a line"))
                .with_hint("start each rule on a line of its own")
        }
    }

    fn nothing_to_repeat(&self, lexeme: Lexeme) -> GrammarError {
        let shown = shown(lexeme.text(self.text));
        self.error(lexeme.span(), format!("nothing to repeat before `{shown}`")).with_hint(format!(
            "put it after what is repeated, or write `\"{shown}\"` for the text"
        ))
    }

    fn undefined(&self, lexeme: Lexeme) -> GrammarError {
        let name = lexeme.text(self.text);
        let similar = suggest::closest(name, self.defined());
        let name = shown(name);
        let message = format!("undefined rule `{name}`");
        let hint = match similar {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("add a rule `{name} ::= …`, or write `\"{name}\"` for the text"),
        };
        GrammarError::at(GrammarErrorKind::Undefined, self.text, lexeme.span(), message)
            .with_hint(hint)
    }

    fn duplicate(&self, name: &str, second: Span) -> GrammarError {
        let first = self.definitions().find(|(word, _)| *word == name);
        let first = first.map_or(1, |(_, span)| line_and_column(self.text, span.start).0);
        let line = line_and_column(self.text, second.start).0;
        let name = shown(name);
        let message = format!("rule `{name}` is defined twice, in line {first} and in line {line}");
        GrammarError::at(GrammarErrorKind::Duplicate, self.text, second, message)
            .with_hint("rename one of them, or join them with `|`")
    }

    fn missing_root(&self, root: &str) -> GrammarError {
        const SHOWN: usize = 5;
        let mut names: Vec<&str> = self.defined().take(SHOWN + 1).collect();
        let more = if names.len() > SHOWN { ", …" } else { "" };
        names.truncate(SHOWN);
        let first = shown(suggest::closest(root, self.defined()).unwrap_or(names[0]));
        let root = shown(root);
        let hint = format!(
            "pass root=\"{first}\" or name a rule `{root}`; the rules are {}{more}",
            names.iter().map(|name| format!("`{}`", shown(name))).collect::<Vec<_>>().join(", ")
        );
        let message = format!("there is no rule `{root}` to start from");
        GrammarError::new(GrammarErrorKind::Undefined, message).with_hint(hint)
    }

    /// The names of all rules, in order.
    fn defined(&self) -> impl Iterator<Item = &'a str> {
        self.definitions().map(|(name, _)| name)
    }

    fn definitions(&self) -> impl Iterator<Item = (&'a str, Span)> {
        let text = self.text;
        self.lexemes.windows(2).filter_map(move |pair| match pair {
            [name, Lexeme { kind: Kind::Define, .. }] if name.kind == Kind::Name => {
                Some((name.text(text), name.span()))
            }
            _ => None,
        })
    }
}

/// Source text in a message: one line, not too long.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
