//! Which expressions are regular, and their regexes.
//!
//! Postcondition: in a terminal, every expression has a regex; in a rule, every expression that
//! refers to no recursive symbol and no model token has one (only single literals, classes,
//! intersections, automata and terminals when folding is off). Where `%ignore` is given, the regex
//! of each of these as seen from a rule ends with any number of ignored texts. The parts of an
//! intersection are terminals.

use super::components::Components;
use super::regexes::{Effort, MAX_DEPTH, Regexes, expr_part, own_size, too_deep};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::{Expr, Grammar, SymbolKind};
use crate::index::{ExprId, Id, RegexId};
use crate::lexer::EPSILON;

/// Larger regular expressions in rules stay in productions, which share what is shared.
const MAX_SIZE_IN_RULES: u64 = 1 << 16;

/// For how many nodes room is made beforehand.
const MAX_RESERVED: usize = 1 << 12;

/// Where an expression stands: `ignore` applies in rules only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Rule,
    Terminal,
}

/// The regexes of regular expressions.
#[derive(Clone, Debug)]
pub(super) struct Regular {
    pub(super) regexes: Regexes,
    /// By expression and context.
    found: Vec<Found>,
    /// Any number of ignored texts; ε where nothing is ignored.
    pub(super) ignored: RegexId,
}

impl Regular {
    /// The regex of an expression in a rule, if it is regular.
    pub(super) fn in_rule(&self, expr: ExprId) -> Option<RegexId> {
        self.found[node(expr, Context::Rule)].regex()
    }
}

/// What is found of an expression where it stands.
///
/// PERF: small, since there are two for each expression that every schema begins with.
#[derive(Clone, Copy, Debug)]
struct Found {
    regex: RegexId,
    /// The size of a regular expression, shared parts counted wherever they stand; where it is more
    /// than fits, the greatest.
    size: u32,
}

impl Found {
    const NOTHING: Self = Self { regex: RegexId(u32::MAX), size: 0 };

    fn regex(self) -> Option<RegexId> {
        Some(self.regex).filter(|&regex| regex != Self::NOTHING.regex)
    }
}

const fn node(expr: ExprId, context: Context) -> usize {
    expr.0 as usize * 2 + context as usize
}

fn place(node: usize) -> (ExprId, Context) {
    (ExprId::new(node / 2), if node.is_multiple_of(2) { Context::Rule } else { Context::Terminal })
}

/// What is known of the expressions that many grammars begin with, to be used for each of them.
///
/// PERF: with this, the first mask of every tenth schema of a sample took 163 µs in the median,
/// before 298 (a part of it by looking at fewer types).
#[derive(Clone, Debug)]
pub(crate) struct Known {
    regular: Regular,
    components: Components,
}

impl Known {
    /// What is known of a grammar's expressions, rules unfolded.
    pub(crate) fn of(grammar: &Grammar) -> Result<Self, GrammarError> {
        let (mut finder, mut components) = Finder::new(grammar, false, None);
        finder.find(&mut components)?;
        finder.regular.regexes.share();
        Ok(Self { regular: finder.regular, components })
    }
}

/// `known` is of expressions that the grammar begins with.
pub(super) fn find_regular(
    grammar: &Grammar,
    fold: bool,
    effort: Effort,
    known: Option<&Known>,
) -> Result<Regular, GrammarError> {
    let (mut finder, mut components) = Finder::new(grammar, fold, known);
    finder.regular.regexes.set_effort(effort);
    finder.find(&mut components)?;
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
    /// Room for the regexes of an expression's parts.
    room: Vec<RegexId>,
}

impl<'a> Finder<'a> {
    fn new(grammar: &'a Grammar, fold: bool, known: Option<&Known>) -> (Self, Components) {
        let nodes = grammar.exprs.len() * 2;
        let known = known.filter(|_| !fold);
        let new = grammar.exprs.len() - known.map_or(0, |known| known.regular.found.len() / 2);
        let mut finder = Self {
            grammar,
            fold,
            regular: Regular {
                regexes: match known {
                    Some(known) => known.regular.regexes.clone(),
                    None => Regexes::default(),
                },
                found: Vec::with_capacity(nodes),
                ignored: EPSILON,
            },
            room: Vec::new(),
        };
        finder.regular.regexes.reserve(new.min(MAX_RESERVED));
        let mut components = Components::new(nodes);
        if let Some(known) = known {
            finder.regular.found.extend_from_slice(&known.regular.found);
            components.skip(&known.components);
        }
        finder.regular.found.resize(nodes, Found::NOTHING);
        (finder, components)
    }

    /// Finds the regexes of all that the grammar's start leads to.
    fn find(&mut self, components: &mut Components) -> Result<(), GrammarError> {
        let grammar = self.grammar;
        let mut ignored = Vec::new();
        for &expr in &grammar.ignore {
            self.visit(node(expr, Context::Terminal), components)?;
            ignored.extend(self.regex(node(expr, Context::Terminal)));
        }
        let ignored = self.regular.regexes.or(&ignored);
        self.regular.ignored = self.regular.regexes.repeat(ignored, 0, None);
        let start = &grammar.symbols[grammar.start];
        let context = match start.kind {
            SymbolKind::Rule => Context::Rule,
            SymbolKind::Terminal => Context::Terminal,
        };
        self.visit(node(start.body, context), components)?;
        if start.kind == SymbolKind::Terminal {
            // Seen from outside it is one lexeme with ignored text behind it.
            let regex = self.regex(node(start.body, Context::Terminal));
            let ignored = self.regular.ignored;
            if let Some(regex) = regex {
                let regex = self.regular.regexes.concat(regex, ignored);
                self.regular.found[node(start.body, Context::Rule)].regex = regex;
            }
        }
        Ok(())
    }

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
        let mut size = own_size(expr);
        if let (Expr::Literal(_), Context::Terminal) = (expr, context) {
            // Made when it is known whether it stands before something.
            self.set_size(at, size);
            return Ok(());
        }
        let in_sequence = matches!(expr, Expr::Seq(_)) && context == Context::Terminal;
        let mut parts = std::mem::take(&mut self.room);
        parts.clear();
        for part in (0..).map_while(|index| part(grammar, at, index)) {
            size += u64::from(self.regular.found[part].size);
            if in_sequence && self.literal(part).is_some() {
                continue;
            }
            let Some(regex) = self.regex(part) else {
                return match expr {
                    Expr::And { .. } => Err(not_regular(grammar, place(part).0)),
                    _ => Ok(()),
                };
            };
            parts.push(regex);
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
        if context == Context::Rule && !terminal && size > MAX_SIZE_IN_RULES {
            return Ok(());
        }
        if context == Context::Terminal && !terminal {
            self.regular.regexes.check_size(size)?;
        }
        self.set_size(at, size);
        let regex = match expr {
            Expr::Seq(parts) if in_sequence => Some(self.sequence(parts)),
            _ => self.regular.regexes.make(expr, &parts)?,
        };
        self.room = parts;
        let Some(mut regex) = regex else { return Ok(()) };
        let set = &mut self.regular.regexes;
        if context == Context::Rule && terminal {
            regex = set.concat(regex, self.regular.ignored);
        }
        let depth = set.depth(regex);
        if depth > MAX_DEPTH {
            // In a rule it stays in productions.
            return if context == Context::Rule { Ok(()) } else { Err(too_deep(depth)) };
        }
        self.regular.found[at].regex = regex;
        Ok(())
    }

    fn set_size(&mut self, at: usize, size: u64) {
        self.regular.found[at].size = u32::try_from(size).unwrap_or(u32::MAX);
    }

    /// The literal of a terminal that a node is.
    fn literal(&self, at: usize) -> Option<&'a [u8]> {
        match (&self.grammar.exprs[place(at).0], place(at).1) {
            (Expr::Literal(bytes), Context::Terminal) => Some(bytes),
            _ => None,
        }
    }

    /// The regex of a node that has been visited, if it is regular.
    fn regex(&mut self, at: usize) -> Option<RegexId> {
        let known = self.regular.found[at].regex();
        if let (None, Some(bytes)) = (known, self.literal(at)) {
            self.regular.found[at].regex = self.regular.regexes.literal(bytes);
        }
        self.regular.found[at].regex()
    }

    /// A sequence in a terminal, all of whose parts are regular.
    ///
    /// The bytes of a literal are put right before what follows, so that there are no nodes of them
    /// alone.
    fn sequence(&mut self, parts: &[ExprId]) -> RegexId {
        let mut rest = EPSILON;
        for &part in parts.iter().rev() {
            let at = node(part, Context::Terminal);
            rest = match (self.literal(at), self.regular.found[at].regex()) {
                (Some(bytes), _) => self.regular.regexes.literal_before(bytes, rest),
                (None, regex) => self.regular.regexes.concat(regex.unwrap_or(EPSILON), rest),
            };
        }
        rest
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
