//! Which expressions are regular, and their regexes.
//!
//! Postcondition: in a terminal, every expression has a regex; in a rule, every expression that
//! refers to no recursive symbol and no model token has one (only single literals, classes,
//! intersections, automata and terminals when folding is off). Where `%ignore` is given, the regex
//! of each of these as seen from a rule ends with any number of ignored texts. The parts of an
//! intersection are terminals.

use super::components::Components;
use super::regexes::{MAX_DEPTH, MAX_SIZE, Regexes, expr_part, own_size, too_deep, too_many_parts};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::{Expr, Grammar, SymbolKind};
use crate::index::{ExprId, Id, RegexId};
use crate::lexer::EPSILON;

/// Larger regular expressions in rules stay in productions, which share what is shared.
const MAX_SIZE_IN_RULES: u64 = 1 << 16;

/// Where an expression stands: `ignore` applies in rules only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Rule,
    Terminal,
}

/// The regexes of regular expressions.
pub(super) struct Regular {
    pub(super) regexes: Regexes,
    /// By expression and context.
    found: Vec<Option<RegexId>>,
    /// Any number of ignored texts; ε where nothing is ignored.
    pub(super) ignored: RegexId,
}

impl Regular {
    /// The regex of an expression in a rule, if it is regular.
    pub(super) fn in_rule(&self, expr: ExprId) -> Option<RegexId> {
        self.found[node(expr, Context::Rule)]
    }
}

const fn node(expr: ExprId, context: Context) -> usize {
    expr.0 as usize * 2 + context as usize
}

fn place(node: usize) -> (ExprId, Context) {
    (ExprId::new(node / 2), if node.is_multiple_of(2) { Context::Rule } else { Context::Terminal })
}

pub(super) fn find_regular(grammar: &Grammar, fold: bool) -> Result<Regular, GrammarError> {
    let mut finder = Finder {
        grammar,
        fold,
        sizes: vec![0; grammar.exprs.len() * 2],
        regular: Regular {
            regexes: Regexes::default(),
            found: vec![None; grammar.exprs.len() * 2],
            ignored: EPSILON,
        },
    };
    let mut components = Components::new(grammar.exprs.len() * 2);
    let mut ignored = Vec::new();
    for &expr in &grammar.ignore {
        finder.visit(node(expr, Context::Terminal), &mut components)?;
        ignored.extend(finder.regular.found[node(expr, Context::Terminal)]);
    }
    let ignored = finder.regular.regexes.or(&ignored);
    finder.regular.ignored = finder.regular.regexes.repeat(ignored, 0, None);
    let start = &grammar.symbols[grammar.start];
    let context = match start.kind {
        SymbolKind::Rule => Context::Rule,
        SymbolKind::Terminal => Context::Terminal,
    };
    finder.visit(node(start.body, context), &mut components)?;
    if start.kind == SymbolKind::Terminal {
        // Seen from outside it is one lexeme with ignored text behind it.
        let regex = finder.regular.found[node(start.body, Context::Terminal)];
        let ignored = finder.regular.ignored;
        finder.regular.found[node(start.body, Context::Rule)] =
            regex.map(|regex| finder.regular.regexes.concat(regex, ignored));
    }
    Ok(finder.regular)
}

/// The parts of an expression; a symbol's part is its body.
fn part(grammar: &Grammar, at: usize, index: usize) -> Option<usize> {
    let (expr, context) = place(at);
    match &grammar.exprs[expr] {
        Expr::Symbol(symbol) if index == 0 => {
            let symbol = &grammar.symbols[*symbol];
            let inside = match symbol.kind {
                SymbolKind::Terminal => Context::Terminal,
                SymbolKind::Rule => context,
            };
            Some(node(symbol.body, inside))
        }
        expr => {
            let inside = if matches!(expr, Expr::And { .. }) { Context::Terminal } else { context };
            expr_part(expr, index).map(|part| node(part, inside))
        }
    }
}

struct Finder<'a> {
    grammar: &'a Grammar,
    fold: bool,
    regular: Regular,
    /// Sizes of regular expressions, shared parts counted wherever they stand.
    sizes: Vec<u64>,
}

impl Finder<'_> {
    /// Visits all expressions below `root`, parts first; only those that are not recursive can be
    /// regular.
    fn visit(&mut self, root: usize, components: &mut Components) -> Result<(), GrammarError> {
        let grammar = self.grammar;
        components.visit(
            root,
            |at, index| part(grammar, at, index),
            |component| {
                let at = component[0];
                let recursive = component.len() > 1
                    || (0..).map_while(|index| part(grammar, at, index)).any(|part| part == at);
                if !recursive {
                    return self.finish(at);
                }
                if place(at).1 == Context::Terminal {
                    return Err(GrammarError::new(
                        GrammarErrorKind::Unsupported,
                        "a terminal refers to itself",
                    )
                    .with_hint("make it a rule: only rules may be recursive"));
                }
                Ok(())
            },
        )
    }

    /// Gives an expression that is not recursive its regex, if all its parts have one.
    fn finish(&mut self, at: usize) -> Result<(), GrammarError> {
        let (expr, context) = place(at);
        let grammar = self.grammar;
        let expr = &grammar.exprs[expr];
        let mut parts = Vec::new();
        let mut size = own_size(expr);
        for part in (0..).map_while(|index| part(grammar, at, index)) {
            let Some(regex) = self.regular.found[part] else {
                return match expr {
                    Expr::And { .. } => Err(not_regular(grammar, place(part).0)),
                    _ => Ok(()),
                };
            };
            parts.push(regex);
            size += self.sizes[part];
        }
        let terminal = match expr {
            Expr::Symbol(symbol) => grammar.symbols[*symbol].kind == SymbolKind::Terminal,
            Expr::Literal(_)
            | Expr::Class(_)
            | Expr::Bytes(_)
            | Expr::And { .. }
            | Expr::Automaton(_) => true,
            Expr::Members(_) if context == Context::Terminal => {
                return Err(GrammarError::new(
                    GrammarErrorKind::Unsupported,
                    "a terminal has items in any order or in a given one",
                )
                .with_hint("make it a rule"));
            }
            Expr::Token(_) | Expr::Members(_) => return Ok(()),
            _ => false,
        };
        if context == Context::Rule && !terminal && !self.fold {
            return Ok(());
        }
        let limit = if context == Context::Rule { MAX_SIZE_IN_RULES } else { MAX_SIZE };
        if size > limit && !terminal {
            return refuse(context, too_many_parts);
        }
        self.sizes[at] = size;
        let set = &mut self.regular.regexes;
        let Some(mut regex) = set.make(expr, &parts)? else { return Ok(()) };
        if context == Context::Rule && terminal {
            regex = set.concat(regex, self.regular.ignored);
        }
        let depth = set.depth(regex);
        if depth > MAX_DEPTH {
            return refuse(context, || too_deep(depth));
        }
        self.regular.found[at] = Some(regex);
        Ok(())
    }
}

/// A part of an intersection that has no regex.
fn not_regular(grammar: &Grammar, part: ExprId) -> GrammarError {
    GrammarError::new(
        GrammarErrorKind::Unsupported,
        format!("`{}` stands in an intersection but is not regular", grammar.print_expr(part)),
    )
    .with_hint(
        "model tokens and items in any order or a given one can't be intersected with anything",
    )
}

/// In a rule the expression stays in productions; a terminal is refused.
fn refuse(context: Context, error: impl FnOnce() -> GrammarError) -> Result<(), GrammarError> {
    match context {
        Context::Rule => Ok(()),
        Context::Terminal => Err(error()),
    }
}
