//! Which expressions are regular, and their regexes.
//!
//! Postcondition: in a terminal, every expression has a regex; in a rule, every expression that
//! refers to no recursive symbol and no model token has one (only single literals, classes,
//! intersections, automata and terminals when folding is off). Where `%ignore` is given, the regex
//! of each of these as seen from a rule ends with any number of ignored texts. The parts of an
//! intersection are terminals.

use super::components::Components;
use crate::byteset::ByteSet;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::{Expr, Grammar, SymbolKind};
use crate::index::{ExprId, Id, RegexId};
use crate::lexer::{EPSILON, RegexSet, TooLarge};

/// Deeper nesting in rules stays in productions; in terminals it is an error. Nested alternatives
/// are copied into the level above, so the cost grows with the square of this.
const MAX_DEPTH: u32 = 250;
/// Larger regular expressions in rules stay in productions, which share what is shared; in
/// terminals they are an error. (`A: B B`, `B: C C`, … doubles with each line.)
const MAX_SIZE_IN_RULES: u64 = 1 << 16;
const MAX_SIZE: u64 = 1 << 21;
/// The most character ranges in all classes together.
const MAX_CLASS_RANGES: usize = 1 << 21;

/// Where an expression stands: `ignore` applies in rules only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Rule,
    Terminal,
}

/// The regexes of regular expressions.
pub(super) struct Regular {
    pub(super) regexes: RegexSet,
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
        class_ranges: 0,
        regular: Regular {
            regexes: RegexSet::default(),
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
    let part = match &grammar.exprs[expr] {
        Expr::Seq(parts) | Expr::Alt(parts) => node(*parts.get(index)?, context),
        Expr::And { all, none } => {
            let part = all.iter().chain(none).nth(index)?;
            node(*part, Context::Terminal)
        }
        Expr::Repeat { expr, .. } if index == 0 => node(*expr, context),
        Expr::Symbol(symbol) if index == 0 => {
            let symbol = &grammar.symbols[*symbol];
            let inside = match symbol.kind {
                SymbolKind::Terminal => Context::Terminal,
                SymbolKind::Rule => context,
            };
            node(symbol.body, inside)
        }
        _ => return None,
    };
    Some(part)
}

struct Finder<'a> {
    grammar: &'a Grammar,
    fold: bool,
    regular: Regular,
    /// Sizes of regular expressions, shared parts counted wherever they stand.
    sizes: Vec<u64>,
    class_ranges: usize,
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
        let mut size = match expr {
            Expr::Literal(bytes) => bytes.len() as u64,
            _ => 1,
        };
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
            Expr::Token(_) | Expr::Unordered(_) => return Ok(()),
            _ => false,
        };
        if context == Context::Rule && !terminal && !self.fold {
            return Ok(());
        }
        let limit = if context == Context::Rule { MAX_SIZE_IN_RULES } else { MAX_SIZE };
        if size > limit && !terminal {
            return too_large(context, || {
                format!("a terminal has more than {MAX_SIZE} parts, shared ones counted each time")
            });
        }
        self.sizes[at] = size;
        if let Expr::Class(ranges) = expr {
            self.class_ranges += ranges.len();
            if self.class_ranges > MAX_CLASS_RANGES {
                return Err(GrammarError::new(
                    GrammarErrorKind::Limit,
                    format!("the character classes have more than {MAX_CLASS_RANGES} ranges"),
                ));
            }
        }
        let set = &mut self.regular.regexes;
        let Some(mut regex) = regex_of(set, expr, &parts)? else { return Ok(()) };
        if context == Context::Rule && terminal {
            regex = set.concat(regex, self.regular.ignored);
        }
        let depth = set.depth(regex);
        if depth > MAX_DEPTH {
            return too_large(context, || {
                format!("a terminal is nested {depth} deep; the limit is {MAX_DEPTH}")
            });
        }
        self.regular.found[at] = Some(regex);
        Ok(())
    }
}

/// The regex of an expression whose parts have these regexes; `None` for a model token and for items
/// in any order.
pub(super) fn regex_of(
    set: &mut RegexSet,
    expr: &Expr,
    parts: &[RegexId],
) -> Result<Option<RegexId>, GrammarError> {
    Ok(Some(match expr {
        Expr::Literal(bytes) => set.literal(bytes),
        Expr::Class(ranges) => set.class(ranges),
        Expr::Bytes(ranges) => {
            let mut bytes = ByteSet::EMPTY;
            ranges.iter().for_each(|&(low, high)| bytes.insert_range(low, high));
            set.bytes(bytes)
        }
        Expr::Seq(_) => parts.iter().rev().fold(EPSILON, |rest, &part| set.concat(part, rest)),
        Expr::Alt(_) => set.or(parts),
        &Expr::Repeat { min, max, .. } => set.repeat(parts[0], min, max),
        Expr::And { all, .. } => {
            let (all, none) = parts.split_at(all.len());
            set.and(all, none).map_err(intersection_too_large)?
        }
        Expr::Automaton(automaton) => set.automaton(automaton),
        Expr::Symbol(_) => parts[0],
        Expr::Token(_) | Expr::Unordered(_) => return Ok(None),
    }))
}

/// A search for a text of an intersection was given up.
pub(super) fn intersection_too_large(TooLarge: TooLarge) -> GrammarError {
    GrammarError::new(GrammarErrorKind::Limit, "the intersection of patterns is too large")
        .with_hint("use fewer patterns at once, or smaller counts of repetition in them")
}

/// A part of an intersection that has no regex.
fn not_regular(grammar: &Grammar, part: ExprId) -> GrammarError {
    GrammarError::new(
        GrammarErrorKind::Unsupported,
        format!("`{}` stands in an intersection but is not regular", grammar.print_expr(part)),
    )
    .with_hint("model tokens and items in any order can't be intersected with anything")
}

/// In a rule the expression stays in productions; a terminal is refused.
fn too_large(context: Context, message: impl FnOnce() -> String) -> Result<(), GrammarError> {
    match context {
        Context::Rule => Ok(()),
        Context::Terminal => Err(GrammarError::new(GrammarErrorKind::Limit, message())
            .with_hint("write it with fewer nested groups, or as rules")),
    }
}
