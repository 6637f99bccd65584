//! Definitions → IR: rules, templates and what ties them together.
//!
//! Takes the files and gives the grammar. Every definition of the user's text is lowered, reachable
//! or not, so that all of it is checked; of a library only what is needed. Terminals are lowered
//! by `terminal.rs`.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::ast::{Body, Node};
use super::fault::Fault;
use super::import::{File, Files, MAIN, Target, some_names};
use super::terminal::Terminals;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::{Grammar, GrammarBuilder, SymbolKind};
use crate::index::{ExprId, SymbolId};
use crate::span::Span;

/// How many nodes the instances of templates may have altogether.
const MAX_TEMPLATE_NODES: usize = 200_000;

/// Lowers the user's text from its start rule.
pub(super) fn lower(files: Files<'_, '_>, start: &str) -> Result<Grammar, GrammarError> {
    let mut lowering = Lowering {
        files,
        builder: GrammarBuilder::new(),
        terminals: Terminals::default(),
        aliases: FxHashMap::default(),
        rules: FxHashMap::default(),
        instances: FxHashMap::default(),
        waiting: VecDeque::new(),
        template_nodes: 0,
        exprs: Vec::new(),
    };
    let main = lowering.files.file(MAIN);
    for import in 0..main.ast.imports.len() as u32 {
        let target = lowering.files.imported(MAIN, import)?;
        let alias = main.ast.imports[import as usize].alias;
        lowering.aliases.entry(target).or_insert_with(|| main.slice(alias).into());
    }
    let start = lowering.start(&main, start)?;
    for (index, definition) in (0..).zip(&main.ast.definitions) {
        if !definition.terminal && definition.params.is_empty() {
            lowering.rule(Target { file: MAIN, definition: index });
        }
    }
    let start = lowering.rule(start);
    while let Some(waiting) = lowering.waiting.pop_front() {
        lowering.rule_body(waiting)?;
    }
    for (index, definition) in (0..).zip(&main.ast.definitions) {
        if definition.terminal {
            lowering.check_terminal(Target { file: MAIN, definition: index })?;
        }
    }
    for &(body, ordered) in &main.ast.ignores {
        let expr = lowering.ignore(body, ordered)?;
        lowering.builder.ignore(expr);
    }
    Ok(lowering.builder.finish(start))
}

/// The grammar under construction.
pub(super) struct Lowering<'t, 'l> {
    pub(super) files: Files<'t, 'l>,
    pub(super) builder: GrammarBuilder,
    pub(super) terminals: Terminals,
    /// What the user's text calls the definitions that it imports.
    aliases: FxHashMap<Target, Box<str>>,
    rules: FxHashMap<Target, SymbolId>,
    /// Templates with their arguments.
    instances: FxHashMap<(Target, Box<[ExprId]>), SymbolId>,
    /// Rules that are declared and not yet defined.
    waiting: VecDeque<Waiting>,
    template_nodes: usize,
    /// The expressions of the nodes of the body that is being lowered.
    pub(super) exprs: Vec<ExprId>,
}

struct Waiting {
    target: Target,
    symbol: SymbolId,
    /// The arguments, for an instance of a template.
    args: Box<[ExprId]>,
}

impl Lowering<'_, '_> {
    fn start(&mut self, main: &File<'_>, name: &str) -> Result<Target, GrammarError> {
        let Some(target) = self.files.start(name)? else {
            if main.ast.definitions.is_empty() && main.ast.imports.is_empty() {
                let message = "the grammar has no rules";
                return Err(GrammarError::new(GrammarErrorKind::Empty, message)
                    .with_hint(format!("define `{name}`: `{name}: …`")));
            }
            let message = format!("the start rule `{name}` is not defined");
            let hint = format!("define it, or name another with `start=`; {}", some_names(main));
            return Err(GrammarError::new(GrammarErrorKind::Undefined, message).with_hint(hint));
        };
        let file = self.files.file(target.file);
        let definition = file.definition(target.definition);
        let span = definition.name;
        let fault = if definition.terminal {
            Fault::syntax(span, format!("`{name}` is a terminal: the start must be a rule"))
                .with_hint(format!("add a rule such as `start: {name}`"))
        } else if definition.params.is_empty() {
            return Ok(target);
        } else {
            Fault::syntax(span, format!("`{name}` is a template: the start must be a rule"))
                .with_hint("add a rule that uses it with arguments")
        };
        Err(self.files.error(target.file, fault))
    }

    /// A name for a definition that nothing else has.
    pub(super) fn display_name(&self, target: Target, file: &File<'_>) -> String {
        let name = file.slice(file.definition(target.definition).name);
        match self.aliases.get(&target) {
            _ if target.file == MAIN => name.to_owned(),
            Some(alias) => alias.to_string(),
            None => format!("{}.{name}", file.library_name()),
        }
    }

    /// The symbol of a rule; declares it on first need.
    fn rule(&mut self, target: Target) -> SymbolId {
        if let Some(&symbol) = self.rules.get(&target) {
            return symbol;
        }
        let file = self.files.file(target.file);
        let name = self.display_name(target, &file);
        let span = place(target, file.definition(target.definition).name);
        let symbol = self.builder.declare(name, SymbolKind::Rule, span);
        self.rules.insert(target, symbol);
        self.waiting.push_back(Waiting { target, symbol, args: Box::default() });
        symbol
    }

    fn rule_body(&mut self, waiting: Waiting) -> Result<(), GrammarError> {
        let Waiting { target, symbol, args } = waiting;
        let file = self.files.file(target.file);
        let definition = file.definition(target.definition);
        let Body { first, root } = definition.body;
        let mut exprs = std::mem::take(&mut self.exprs);
        exprs.clear();
        let mut parts = Vec::new();
        for &node in &file.ast.nodes[first as usize..=root as usize] {
            let expr = match node {
                Node::Name { span, terminal: true } => {
                    let terminal = self.files.resolve(target.file, span)?;
                    self.terminal(terminal, target.file, span)?
                }
                Node::Name { span, terminal: false } => {
                    let name = file.slice(span);
                    let param =
                        definition.params.iter().position(|&param| file.slice(param) == name);
                    match param {
                        Some(param) => args[param],
                        None => self.rule_name(&file, target.file, span)?,
                    }
                }
                Node::Call { span, args: list } => {
                    parts.clear();
                    let list = file.ast.list(list);
                    parts.extend(list.iter().map(|part| exprs[(part.0 - first) as usize]));
                    self.call(&file, target.file, span, &parts)?
                }
                Node::Str(_) | Node::Regexp { .. } | Node::Range { .. } => {
                    self.anonymous(&file, target.file, node)?
                }
                Node::Seq(list) | Node::Alt(list) => {
                    parts.clear();
                    let list = file.ast.list(list);
                    parts.extend(list.iter().map(|part| exprs[(part.0 - first) as usize]));
                    match node {
                        Node::Seq(_) => self.builder.seq(&parts),
                        _ => self.builder.alt(&parts),
                    }
                }
                Node::Repeat { node, min, max } => {
                    self.builder.repeat(exprs[(node.0 - first) as usize], min, max)
                }
            };
            exprs.push(expr);
        }
        self.builder.define(symbol, exprs[(root - first) as usize]);
        self.exprs = exprs;
        Ok(())
    }

    fn rule_name(
        &mut self,
        here: &File<'_>,
        file: u32,
        span: Span,
    ) -> Result<ExprId, GrammarError> {
        let target = self.files.resolve(file, span)?;
        let params = self.files.file(target.file).definition(target.definition).params.len();
        if params > 0 {
            let name = here.slice(span);
            let message = format!("the template `{name}` needs {}", arguments(params));
            let fault = Fault::syntax(span, message).with_hint(format!("write `{name}{{…}}`"));
            return Err(self.files.error(file, fault));
        }
        let symbol = self.rule(target);
        Ok(self.builder.symbol(symbol))
    }

    /// A template with arguments: one rule for each template and list of arguments.
    fn call(
        &mut self,
        here: &File<'_>,
        file: u32,
        span: Span,
        args: &[ExprId],
    ) -> Result<ExprId, GrammarError> {
        let shown = here.slice(span);
        let name = shown.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        let name = Span::new(span.start, span.start + name.map_or(0, str::len));
        let target = self.files.resolve(file, name)?;
        let template = self.files.file(target.file);
        let definition = template.definition(target.definition);
        if definition.params.len() != args.len() {
            let (wanted, given) = (definition.params.len(), args.len());
            let name = here.slice(name);
            let message = if wanted == 0 {
                format!("`{name}` is no template, so it takes no arguments")
            } else {
                format!("the template `{name}` needs {}, not {given}", arguments(wanted))
            };
            return Err(self.files.error(file, Fault::syntax(span, message)));
        }
        let key = (target, args.into());
        let symbol = if let Some(&symbol) = self.instances.get(&key) {
            symbol
        } else {
            self.template_nodes += (definition.body.root - definition.body.first) as usize + 1;
            if self.template_nodes > MAX_TEMPLATE_NODES {
                let message = format!("the templates grow to more than {MAX_TEMPLATE_NODES} parts");
                let fault = Fault::limit(span, message)
                    .with_hint("a template that uses itself with larger arguments never ends");
                return Err(self.files.error(file, fault));
            }
            let symbol = self.builder.declare(
                shown.to_owned(),
                SymbolKind::Rule,
                place(target, definition.name),
            );
            let (target, args) = key.clone();
            self.waiting.push_back(Waiting { target, symbol, args });
            self.instances.insert(key, symbol);
            symbol
        };
        Ok(self.builder.symbol(symbol))
    }
}

fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}

/// The place of a symbol in the user's text; none for what comes from a library.
pub(super) fn place(target: Target, span: Span) -> Span {
    if target.file == MAIN { span } else { Span::default() }
}
