//! Sets of values → grammar.
//!
//! Takes what [`Algebra`] says of a schema, type by type; gives one symbol for each conjunction of
//! schemas, made when it is first referred to, so that recursive schemas become recursive rules and
//! equal parts are one. Strings and numbers are terminals (`spelling`, `number`); arrays and
//! objects are rules over them (`array`, `object`); [`layout`] knows the punctuation and white
//! space.
//!
//! Each terminal is one lexeme: a name with its quotes and colon, a separator with the white space
//! behind it. What can never be completed is left to the compiler's reduction.

mod array;
mod conditions;
mod finite;
mod layout;
mod object;
mod prelude;
mod spelling;
mod unique;

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::algebra::{
    Algebra, Domain, Flags, Goal, Items, Numbers, Properties, Result, Signed, Strings,
};
use super::limits::Limit;
use super::model::Type;
use super::number::{self, NumberOptions, NumberSet};
use super::options::Whitespace;
use crate::error::GrammarError;
use crate::grammar::{Grammar, SymbolKind};
use crate::index::{ExprId, SymbolId};
use crate::span::Span;
use layout::Layout;
pub(super) use prelude::{Prelude, prelude};

/// Deeper than this nothing is indented: such values are not offered.
const MAX_INDENTED: u32 = 64;

pub(super) struct Emitter<'a> {
    algebra: Box<Algebra<'a>>,
    /// The values met so far, by what they must be and by how deep they are indented; `None` where
    /// there is no such value.
    values: FxHashMap<(Goal, u32), Option<ExprId>>,
    /// Arrays and objects whose rules are still to be made.
    open: Vec<(Containers, SymbolId)>,
    layouts: FxHashMap<u32, Layout>,
    spelled: FxHashMap<ExprId, ExprId>,
    terminals: FxHashMap<ExprId, ExprId>,
    /// By the set, and whether whole numbers are plain.
    numbers: FxHashMap<(NumberSet, bool), ExprId>,
}

/// A rule to be made.
struct Containers {
    /// What it is for, to tell its place.
    goal: Goal,
    scalars: Vec<ExprId>,
    items: Items,
    properties: Properties,
    depth: u32,
}

impl<'a> Emitter<'a> {
    /// An emitter that begins with what a prelude of the same options holds.
    pub(super) fn new(algebra: Box<Algebra<'a>>, prelude: Option<&Prelude>) -> Self {
        let mut emitter = Self {
            algebra,
            values: FxHashMap::default(),
            open: Vec::new(),
            layouts: FxHashMap::default(),
            spelled: FxHashMap::default(),
            terminals: FxHashMap::default(),
            numbers: FxHashMap::default(),
        };
        if let Some(prelude) = prelude {
            prelude.begin(&mut emitter);
        }
        emitter
    }

    /// The grammar of a schema, and what was needed to make it.
    pub(super) fn grammar(mut self, root: Signed) -> Result<(Grammar, Box<Algebra<'a>>)> {
        let start = self.algebra.builder.declare("json", SymbolKind::Rule, Span::default());
        let value = self.value([root], 0)?;
        let body = match value {
            Some(value) => {
                let around = self.layout(0).around;
                self.algebra.builder.seq(&[around, value, around])
            }
            None => self.algebra.builder.alt(&[]),
        };
        self.algebra.builder.define(start, body);
        self.finish()?;
        let builder = std::mem::take(&mut self.algebra.builder);
        Ok((builder.finish(start), self.algebra))
    }

    /// Makes the rules that have been referred to.
    fn finish(&mut self) -> Result<()> {
        while let Some((containers, symbol)) = self.open.pop() {
            let body = self.containers(&containers);
            let body = body.map_err(|error| self.algebra.located(error, &containers.goal))?;
            self.algebra.builder.define(symbol, body);
        }
        Ok(())
    }

    /// Values for which all of some schemas hold; `None` if it is plain that there are none.
    fn value(
        &mut self,
        parts: impl IntoIterator<Item = Signed>,
        depth: u32,
    ) -> Result<Option<ExprId>> {
        let depth = if self.is_indented() { depth } else { 0 };
        let Some(goal) = self.algebra.goal(parts)? else { return Ok(None) };
        if let Some(&known) = self.values.get(&(goal.clone(), depth)) {
            return Ok(known);
        }
        self.check_size()?;
        // PERF: most schemas say their type, so that one of five sets is to be found.
        let types = self.algebra.types(&goal)?;
        let scalars =
            self.scalars(&goal, types).map_err(|error| self.algebra.located(error, &goal))?;
        let items = self.set::<Items>(&goal, types, &[Type::Array])?;
        let properties = self.set::<Properties>(&goal, types, &[Type::Object])?;
        let value = if items.0.is_empty() && properties.0.is_empty() {
            match scalars[..] {
                [] => None,
                _ => Some(self.algebra.builder.alt(&scalars)),
            }
        } else {
            let symbol = self.algebra.builder.declare("value", SymbolKind::Rule, Span::default());
            self.open.push((
                Containers { goal: goal.clone(), scalars, items, properties, depth },
                symbol,
            ));
            Some(self.algebra.builder.symbol(symbol))
        };
        self.values.insert((goal, depth), value);
        Ok(value)
    }

    /// The terminals of a goal: at most one for literals, numbers and strings.
    fn scalars(&mut self, goal: &Goal, types: u8) -> Result<Vec<ExprId>> {
        let mut scalars = Vec::new();
        let flags = self.set::<Flags>(goal, types, &[Type::Null, Type::Boolean])?;
        for (_, text) in flags.members() {
            scalars.push(self.literal(text));
        }
        let numbers = self.set::<Numbers>(goal, types, &[Type::Number])?;
        scalars.extend(self.number(numbers.0)?);
        let strings = self.set::<Strings>(goal, types, &[Type::String])?;
        scalars.extend(self.string(&strings));
        Ok(scalars)
    }

    /// The values of some types for which a goal holds, given the types that it can have.
    fn set<D: Domain>(&mut self, goal: &Goal, types: u8, of: &[Type]) -> Result<D> {
        if of.iter().all(|&of| types & 1 << of as u8 == 0) {
            return Ok(D::nothing());
        }
        self.algebra.evaluate_all(goal)
    }

    /// A terminal of one text.
    fn literal(&mut self, text: &'static str) -> ExprId {
        let body = self.algebra.builder.literal(text.as_bytes());
        self.terminal(text, body)
    }

    fn number(&mut self, set: NumberSet) -> Result<Option<ExprId>> {
        if set.is_nothing() {
            return Ok(None);
        }
        let key = (set, self.algebra.plain_numbers);
        if let Some(&known) = self.numbers.get(&key) {
            return Ok(Some(known));
        }
        let options = NumberOptions {
            max_digits: self.algebra.options.max_number_digits,
            integer_fractions: self.algebra.options.integer_fractions
                && !self.algebra.plain_numbers,
        };
        let limits = &self.algebra.options.limits;
        let body = number::expr(&key.0, &options, limits, &mut self.algebra.builder)?;
        let terminal = self.terminal("number", body);
        self.numbers.insert(key, terminal);
        Ok(Some(terminal))
    }

    fn string(&mut self, strings: &Strings) -> Option<ExprId> {
        if matches!(strings, Strings::Words(words) if words.is_empty()) {
            return None;
        }
        let body = if let Strings::Words(words) = strings {
            let words: Vec<ExprId> = words.iter().map(|word| self.quoted(word)).collect();
            self.algebra.builder.alt(&words)
        } else {
            let expr = strings.expr(&mut self.algebra.builder);
            let content = self.spell(expr);
            let quote = self.algebra.builder.literal(b"\"");
            self.algebra.builder.seq(&[quote, content, quote])
        };
        if let Some(&known) = self.terminals.get(&body) {
            return Some(known);
        }
        let name = match strings {
            Strings::Words(words) if words.len() == 1 => Cow::Owned(spelling::shown(&words[0])),
            _ => Cow::Borrowed("string"),
        };
        Some(self.terminal(name, body))
    }

    /// A terminal with this body, and this name if it is new.
    fn terminal(&mut self, name: impl Into<Cow<'static, str>>, body: ExprId) -> ExprId {
        if let Some(&known) = self.terminals.get(&body) {
            return known;
        }
        let symbol = self.algebra.builder.declare(name, SymbolKind::Terminal, Span::default());
        self.algebra.builder.define(symbol, body);
        let terminal = self.algebra.builder.symbol(symbol);
        self.terminals.insert(body, terminal);
        terminal
    }

    fn containers(&mut self, containers: &Containers) -> Result<ExprId> {
        let Containers { scalars, items, properties, depth, .. } = containers;
        let mut alternatives = scalars.clone();
        if !self.is_indented() || *depth < MAX_INDENTED {
            for list in &*items.0 {
                alternatives.extend(self.array(list, *depth)?);
            }
            for shape in &*properties.0 {
                alternatives.extend(self.object(shape, *depth)?);
            }
        }
        alternatives.sort_unstable();
        alternatives.dedup();
        Ok(self.algebra.builder.alt(&alternatives))
    }

    /// Whether the grammar has not grown too large yet.
    fn check_size(&self) -> Result<()> {
        if self.terminals.len() + self.values.len() > self.limit(Limit::Symbols) {
            return Err(self.more_than(Limit::Symbols, "terminals and rules in a grammar"));
        }
        if self.algebra.builder.exprs().len() > self.limit(Limit::GrammarParts) {
            return Err(self.more_than(Limit::GrammarParts, "parts of a grammar"));
        }
        Ok(())
    }

    fn limit(&self, limit: Limit) -> usize {
        self.algebra.options.limits.get(limit)
    }

    /// The error for more of something than a limit allows.
    fn more_than(&self, limit: Limit, what: &str) -> GrammarError {
        let limits = &self.algebra.options.limits;
        let message = format!("more than {} {what}", limits.get(limit));
        limits.exceeded(limit, message, "say the same with fewer patterns, counts or alternatives")
    }

    fn is_indented(&self) -> bool {
        matches!(self.algebra.options.whitespace, Whitespace::Fixed { indent: Some(_), .. })
    }
}
