//! Terminals → IR: named ones, and the literals of rules.
//!
//! A terminal is lowered when all terminals it refers to are, so that recursion shows and nothing
//! needs the native stack. References stay references to symbols, except in *ordered* terminals:
//! those with a lazy repetition or a look-behind, own or referred to, are taken as one pattern
//! (`ordered.rs`), because what comes first in the whole depends on every part.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{Body, Node, NodeId};
use super::fault::Fault;
use super::import::{File, MAIN, Target};
use super::lower::{Lowering, place};
use super::ordered::Pattern;
use super::{literal, ordered, python};
use crate::error::GrammarError;
use crate::frontend::regex;
use crate::grammar::{GrammarBuilder, SymbolKind};
use crate::index::{ExprId, SymbolId};
use crate::span::Span;

/// The terminals that were lowered so far.
#[derive(Default)]
pub(super) struct Terminals {
    known: FxHashMap<Target, Known>,
    /// What ordered terminals and the terminals they refer to match.
    patterns: FxHashMap<Target, Rc<Pattern>>,
    effort: ordered::Effort,
    /// The symbols of the literals of rules.
    anonymous: FxHashMap<ExprId, SymbolId>,
    /// The same by how they are written in the user's text.
    written: FxHashMap<Box<str>, ExprId>,
}

/// A terminal whose references are known to be sound.
#[derive(Clone, Copy)]
struct Known {
    ordered: bool,
    symbol: Option<SymbolId>,
    /// Terminals come later than those they refer to.
    rank: u32,
}

/// A terminal that waits for those it refers to.
struct Open {
    target: Target,
    references: Vec<(Target, Span)>,
    next: usize,
    ordered: bool,
}

impl Lowering<'_, '_> {
    /// The expression of a terminal that a rule refers to.
    pub(super) fn terminal(
        &mut self,
        target: Target,
        file: u32,
        span: Span,
    ) -> Result<ExprId, GrammarError> {
        let known = self.ensure(target)?;
        let symbol = match known.symbol {
            Some(symbol) => symbol,
            None => self.ordered_terminal(target, file, span)?,
        };
        Ok(self.builder.symbol(symbol))
    }

    /// Checks a terminal that perhaps no rule refers to.
    pub(super) fn check_terminal(&mut self, target: Target) -> Result<(), GrammarError> {
        if self.ensure(target)?.ordered {
            self.pattern(target)?;
        }
        Ok(())
    }

    /// The expression of an `%ignore`.
    pub(super) fn ignore(&mut self, body: Body, ordered: bool) -> Result<ExprId, GrammarError> {
        let file = self.files.file(MAIN);
        let references = self.references(&file, MAIN, body, "%ignore")?;
        let mut ordered = ordered;
        for &(target, _) in &references {
            ordered |= self.ensure(target)?.ordered;
        }
        if let Node::Name { span, .. } = file.ast.nodes[body.root as usize] {
            let target = self.files.resolve(MAIN, span)?;
            return self.terminal(target, MAIN, span);
        }
        if !ordered {
            return self.plain_body(&file, MAIN, body);
        }
        let pattern = self.body_pattern(&file, MAIN, body)?;
        self.ordered_expr(&pattern, MAIN, node_span(&file, body))
    }

    /// A literal of a rule: a terminal without a name of its own.
    pub(super) fn anonymous(
        &mut self,
        file: &File<'_>,
        index: u32,
        node: Node,
    ) -> Result<ExprId, GrammarError> {
        let span = match node {
            Node::Range { low, high } => Span::new(low.start, high.end),
            Node::Str(span) | Node::Regexp { span, .. } => span,
            _ => return Ok(self.builder.empty()),
        };
        let written = file.slice(span);
        if let Some(&expr) = self.terminals.written.get(written) {
            return Ok(expr);
        }
        let body = if let Node::Regexp { ordered: true, .. } = node {
            let pattern = self.regexp_pattern(file, index, span)?;
            self.ordered_expr(&pattern, index, span)?
        } else {
            self.plain_leaf(file, index, node)?
        };
        // The empty text needs no terminal.
        let expr = if body == self.builder.empty() {
            body
        } else {
            let builder = &mut self.builder;
            let symbol = *self.terminals.anonymous.entry(body).or_insert_with(|| {
                let span = if index == MAIN { span } else { Span::default() };
                // A verbose regexp can have several lines; a name has one.
                let name = if written.contains('\n') {
                    written.split_whitespace().collect::<Vec<_>>().join(" ")
                } else {
                    written.to_owned()
                };
                let symbol = builder.declare(name, SymbolKind::Terminal, span);
                builder.define(symbol, body);
                symbol
            });
            self.builder.symbol(symbol)
        };
        self.terminals.written.insert(written.into(), expr);
        Ok(expr)
    }

    /// Lowers what a terminal refers to, then the terminal.
    fn ensure(&mut self, target: Target) -> Result<Known, GrammarError> {
        if let Some(&known) = self.terminals.known.get(&target) {
            return Ok(known);
        }
        let mut path = vec![self.open(target)?];
        // Where a terminal stands in `path`.
        let mut depth: FxHashMap<Target, usize> = FxHashMap::default();
        depth.insert(target, 0);
        loop {
            let top = path.len() - 1;
            let Some(&(reference, span)) = path[top].references.get(path[top].next) else {
                let known = self.finish(&path[top])?;
                let done = path.swap_remove(top);
                depth.remove(&done.target);
                match path.last_mut() {
                    Some(parent) => parent.ordered |= known.ordered,
                    None => return Ok(known),
                }
                continue;
            };
            path[top].next += 1;
            if let Some(known) = self.terminals.known.get(&reference) {
                path[top].ordered |= known.ordered;
            } else if let Some(&start) = depth.get(&reference) {
                return Err(self.recursion(&path, start, span));
            } else {
                depth.insert(reference, path.len());
                path.push(self.open(reference)?);
            }
        }
    }

    fn open(&mut self, target: Target) -> Result<Open, GrammarError> {
        let file = self.files.file(target.file);
        let definition = file.definition(target.definition);
        let owner = file.slice(definition.name);
        let references = self.references(&file, target.file, definition.body, owner)?;
        Ok(Open { target, references, next: 0, ordered: definition.ordered })
    }

    /// The terminals that a body refers to.
    fn references(
        &mut self,
        file: &File<'_>,
        index: u32,
        body: Body,
        owner: &str,
    ) -> Result<Vec<(Target, Span)>, GrammarError> {
        let mut references = Vec::new();
        for &node in &file.ast.nodes[body.first as usize..=body.root as usize] {
            match node {
                Node::Name { span, terminal: true } => {
                    references.push((self.files.resolve(index, span)?, span));
                }
                Node::Name { span, terminal: false } | Node::Call { span, .. } => {
                    let name = file.slice(span);
                    let owner = match owner {
                        "%ignore" => "`%ignore`".to_owned(),
                        owner => format!("the terminal `{owner}`"),
                    };
                    let message = format!("{owner} refers to the rule `{name}`");
                    let fault = Fault::syntax(span, message).with_hint(
                        "terminals are made of literals and terminals; with rules inside it must \
                         be a rule itself, in lower case",
                    );
                    return Err(self.files.error(index, fault));
                }
                _ => {}
            }
        }
        Ok(references)
    }

    fn recursion(&self, path: &[Open], start: usize, span: Span) -> GrammarError {
        let name = |open: &Open| {
            let file = self.files.file(open.target.file);
            file.slice(file.definition(open.target.definition).name).to_owned()
        };
        let first = name(&path[start]);
        let mut way: Vec<String> = path[start..].iter().take(8).map(name).collect();
        if path.len() - start > way.len() {
            way.push("…".to_owned());
        }
        let way = way.join(" → ");
        let message = format!("the terminal `{first}` is recursive: {way} → {first}");
        let fault = Fault::unsupported(span, message)
            .with_hint("only rules can be recursive; rules have lower-case names");
        self.files.error(path[path.len() - 1].target.file, fault)
    }

    /// All references of a terminal are lowered: so can it be.
    fn finish(&mut self, open: &Open) -> Result<Known, GrammarError> {
        let target = open.target;
        let symbol = if open.ordered {
            // On need only: a part of other terminals need not make sense alone.
            None
        } else {
            let file = self.files.file(target.file);
            let definition = file.definition(target.definition);
            let body = self.plain_body(&file, target.file, definition.body)?;
            Some(self.define_terminal(target, &file, body))
        };
        let rank = self.terminals.known.len() as u32;
        let known = Known { ordered: open.ordered, symbol, rank };
        self.terminals.known.insert(target, known);
        Ok(known)
    }

    fn define_terminal(&mut self, target: Target, file: &File<'_>, body: ExprId) -> SymbolId {
        let name = self.display_name(target, file);
        let span = place(target, file.definition(target.definition).name);
        let symbol = self.builder.declare(name, SymbolKind::Terminal, span);
        self.builder.define(symbol, body);
        symbol
    }

    /// A body without order; the terminals it refers to have symbols.
    fn plain_body(
        &mut self,
        file: &File<'_>,
        index: u32,
        body: Body,
    ) -> Result<ExprId, GrammarError> {
        let Body { first, root } = body;
        let mut exprs = std::mem::take(&mut self.exprs);
        exprs.clear();
        let mut parts = Vec::new();
        for &node in &file.ast.nodes[first as usize..=root as usize] {
            let at = |node: NodeId| (node.0 - first) as usize;
            let expr = match node {
                Node::Name { span, .. } | Node::Call { span, .. } => {
                    let target = self.files.resolve(index, span)?;
                    self.terminal(target, index, span)?
                }
                Node::Seq(list) | Node::Alt(list) => {
                    parts.clear();
                    parts.extend(file.ast.list(list).iter().map(|&part| exprs[at(part)]));
                    match node {
                        Node::Seq(_) => self.builder.seq(&parts),
                        _ => self.builder.alt(&parts),
                    }
                }
                Node::Repeat { node, min, max } => self.builder.repeat(exprs[at(node)], min, max),
                leaf => self.plain_leaf(file, index, leaf)?,
            };
            exprs.push(expr);
        }
        let expr = exprs[(root - first) as usize];
        self.exprs = exprs;
        Ok(expr)
    }

    /// The expression of a literal.
    fn plain_leaf(
        &mut self,
        file: &File<'_>,
        index: u32,
        leaf: Node,
    ) -> Result<ExprId, GrammarError> {
        let builder = &mut self.builder;
        let expr = match leaf {
            Node::Str(span) => literal::string(&file.text, span)
                .map(|string| literal::string_expr(&string, builder)),
            Node::Range { low, high } => {
                literal::range(&file.text, low, high).map(|range| builder.class(&[range]))
            }
            Node::Regexp { span, .. } => regexp(&file.text, span, builder).map(|(expr, _)| expr),
            _ => Ok(builder.empty()),
        };
        expr.map_err(|fault| self.files.error(index, fault))
    }

    fn ordered_terminal(
        &mut self,
        target: Target,
        file: u32,
        span: Span,
    ) -> Result<SymbolId, GrammarError> {
        let pattern = self.pattern(target)?;
        let body = self.ordered_expr(&pattern, file, span)?;
        let source = self.files.file(target.file);
        let symbol = self.define_terminal(target, &source, body);
        if let Some(known) = self.terminals.known.get_mut(&target) {
            known.symbol = Some(symbol);
        }
        Ok(symbol)
    }

    /// The texts of a pattern, in order; `span` is where it is used.
    fn ordered_expr(
        &mut self,
        pattern: &Pattern,
        file: u32,
        span: Span,
    ) -> Result<ExprId, GrammarError> {
        let effort = &mut self.terminals.effort;
        ordered::expr(pattern, span, effort, &mut self.builder)
            .map_err(|fault| self.files.error(file, fault))
    }

    /// What a terminal matches, as one pattern. Its references are known.
    fn pattern(&mut self, target: Target) -> Result<Rc<Pattern>, GrammarError> {
        if let Some(pattern) = self.terminals.patterns.get(&target) {
            return Ok(Rc::clone(pattern));
        }
        let mut needed = vec![target];
        let mut seen = FxHashSet::default();
        seen.insert(target);
        let mut next = 0;
        while let Some(&target) = needed.get(next) {
            next += 1;
            let open = self.open(target)?;
            for (reference, _) in open.references {
                if !self.terminals.patterns.contains_key(&reference) && seen.insert(reference) {
                    needed.push(reference);
                }
            }
        }
        let rank = |target: &Target| self.terminals.known.get(target).map_or(0, |known| known.rank);
        needed.sort_unstable_by_key(rank);
        // The target comes last: the others are its references.
        let mut last = Rc::new(Pattern::empty());
        for target in needed {
            let file = self.files.file(target.file);
            let body = file.definition(target.definition).body;
            last = Rc::new(self.body_pattern(&file, target.file, body)?);
            self.terminals.patterns.insert(target, Rc::clone(&last));
        }
        Ok(last)
    }

    fn body_pattern(
        &mut self,
        file: &File<'_>,
        index: u32,
        body: Body,
    ) -> Result<Pattern, GrammarError> {
        let Body { first, root } = body;
        let mut patterns: Vec<Pattern> = Vec::new();
        for &node in &file.ast.nodes[first as usize..=root as usize] {
            let at = |node: NodeId| (node.0 - first) as usize;
            let pattern = match node {
                Node::Name { span, .. } | Node::Call { span, .. } => {
                    let target = self.files.resolve(index, span)?;
                    Ok((*self.pattern(target)?).clone())
                }
                Node::Seq(list) => {
                    let list = file.ast.list(list);
                    Pattern::concat(list.iter().map(|&part| &patterns[at(part)]))
                }
                Node::Alt(list) => {
                    let list = file.ast.list(list);
                    Pattern::alternation(list.iter().map(|&part| &patterns[at(part)]))
                }
                Node::Repeat { node, min, max } => patterns[at(node)].repeat(min, max),
                Node::Regexp { span, .. } => Ok(self.regexp_pattern(file, index, span)?),
                Node::Str(span) => {
                    let string = literal::string(&file.text, span);
                    let string = string.map_err(|fault| self.files.error(index, fault))?;
                    Ok(Pattern::string(&string))
                }
                Node::Range { low, high } => {
                    let range = literal::range(&file.text, low, high);
                    let range = range.map_err(|fault| self.files.error(index, fault))?;
                    Ok(Pattern::range(range))
                }
            };
            let pattern = pattern.map_err(|refusal: ordered::Refusal| {
                self.files.error(index, refusal.fault(node_span(file, body)))
            })?;
            patterns.push(pattern);
        }
        let pattern = patterns.swap_remove((root - first) as usize);
        // Patterns are copied into those that refer to them.
        let cost = 10 * pattern.size() as usize;
        match self.terminals.effort.spend(cost) {
            Ok(()) => Ok(pattern),
            Err(refusal) => Err(self.files.error(index, refusal.fault(node_span(file, body)))),
        }
    }

    fn regexp_pattern(
        &mut self,
        file: &File<'_>,
        index: u32,
        span: Span,
    ) -> Result<Pattern, GrammarError> {
        // The usual way first, for its checks and the words of its errors.
        regexp(&file.text, span, &mut GrammarBuilder::new())
            .and_then(|(_, rewritten)| {
                let (_, flags) = literal::regexp(&file.text, span)?;
                Pattern::regexp(&rewritten.pattern, flags, span)
            })
            .map_err(|fault| self.files.error(index, fault))
    }
}

/// Lowers a regexp without order.
fn regexp(
    text: &str,
    span: Span,
    builder: &mut GrammarBuilder,
) -> Result<(ExprId, python::Rewritten), Fault> {
    let (pattern, flags) = literal::regexp(text, span)?;
    let rewritten = python::rewrite(text, pattern, flags.x)?;
    let flags = regex::RegexFlags { x: false, ..flags };
    let expr = regex::into_expr(&rewritten.pattern, flags, builder).map_err(|error| {
        let fault = Fault::new(error.kind, rewritten.source(error.span), error.message);
        match error.hint {
            Some(hint) => fault.with_hint(hint),
            None => fault,
        }
    })?;
    Ok((expr, rewritten))
}

/// A place to show for a whole body: its first name or literal.
fn node_span(file: &File<'_>, body: Body) -> Span {
    match file.ast.nodes[body.first as usize] {
        Node::Name { span, .. }
        | Node::Call { span, .. }
        | Node::Regexp { span, .. }
        | Node::Str(span) => span,
        Node::Range { low, high } => Span::new(low.start, high.end),
        Node::Seq(_) | Node::Alt(_) | Node::Repeat { .. } => Span::default(),
    }
}
