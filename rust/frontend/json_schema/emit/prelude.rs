//! What most schemas need: any value, strings, numbers, names and punctuation, made once.
//!
//! Takes options; gives expressions and their regexes, for every grammar of the same options to
//! begin with. They are the same as the emitter would make, and what a grammar does not refer to
//! its reduction leaves out.
//!
//! Each thread keeps the preludes that it used last: there is nothing to wait for, and nothing that
//! a child process could find locked.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::algebra::{Algebra, Domain, Result, Strings};
use super::super::limits::Limits;
use super::super::load::Loader;
use super::super::number::NumberSet;
use super::super::options::{Escapes, Options, PropertyOrder, Whitespace};
use super::Emitter;
use super::layout::Layout;
use crate::compile::Known;
use crate::grammar::{GrammarBuilder, SymbolKind};
use crate::index::ExprId;
use crate::span::Span;

/// How many preludes a thread keeps.
const KEPT: usize = 8;

/// For how many expressions of its own a grammar has room at first.
///
/// PERF: 2 % of the instructions of a first mask of median size.
const ROOM: usize = 96;

/// A beginning of grammars.
pub(in crate::frontend::json_schema) struct Prelude {
    builder: GrammarBuilder,
    /// The regexes of its expressions.
    pub(in crate::frontend::json_schema) known: Arc<Known>,
    /// Any value; `None` where it would be indented.
    any: Option<ExprId>,
    numbers: Vec<(NumberSet, ExprId)>,
    layouts: FxHashMap<u32, Layout>,
    spelled: FxHashMap<ExprId, ExprId>,
    terminals: FxHashMap<ExprId, ExprId>,
}

/// The options that a prelude depends on.
#[derive(PartialEq, Eq)]
struct Spelling {
    whitespace: Whitespace,
    property_order: PropertyOrder,
    escapes: Escapes,
    max_number_digits: Option<u32>,
    integer_fractions: bool,
}

thread_local! {
    /// Those used last, the last of them at the end; `None` where one can't be made.
    static PRELUDES: RefCell<Vec<(Spelling, Option<Rc<Prelude>>)>> = const { RefCell::new(Vec::new()) };
}

/// The prelude of some options; `None` if it is past a limit that a schema may not reach.
pub(in crate::frontend::json_schema) fn prelude(options: &Options) -> Option<Rc<Prelude>> {
    let spelling = Spelling {
        whitespace: options.whitespace.clone(),
        property_order: options.property_order,
        escapes: options.escapes,
        max_number_digits: options.max_number_digits,
        integer_fractions: options.integer_fractions,
    };
    PRELUDES.with_borrow_mut(|preludes| {
        let known = preludes.iter().position(|(known, _)| *known == spelling);
        let entry = match known {
            Some(at) => preludes.remove(at),
            None => (spelling, Prelude::new(options).ok().map(Rc::new)),
        };
        if preludes.len() == KEPT {
            preludes.remove(0);
        }
        let prelude = entry.1.clone();
        preludes.push(entry);
        prelude
    })
}

impl Prelude {
    fn new(options: &Options) -> Result<Self> {
        let options =
            Options { resources: Vec::new(), limits: Limits::default(), ..options.clone() };
        let loader = Loader::new("true", &options)?;
        let mut emitter = Emitter::new(Box::new(Algebra::new(loader, &options)), None);
        let indented = emitter.is_indented();
        let any = if indented { None } else { emitter.value([], 0)? };
        emitter.finish()?;
        emitter.layout(0);
        let mut all: Vec<ExprId> = any.into_iter().collect();
        let mut numbers = Vec::new();
        for set in [NumberSet::all(), NumberSet::integer()] {
            if let Some(number) = emitter.number(set.clone())? {
                all.push(number);
                numbers.push((set, number));
            }
        }
        all.extend(emitter.string(&Strings::all()));
        all.extend(emitter.terminals.values());
        let Emitter { mut algebra, layouts, spelled, terminals, .. } = emitter;
        // A start that leads to all of them.
        let start = algebra.builder.declare("any", SymbolKind::Rule, Span::default());
        let body = algebra.builder.alt(&all);
        algebra.builder.define(start, body);
        let mut builder = std::mem::take(&mut algebra.builder);
        builder.share();
        let known = Arc::new(Known::of(&builder.clone().finish(start))?);
        Ok(Self { builder, known, any, numbers, layouts, spelled, terminals })
    }

    /// Lets an emitter without expressions begin with these.
    pub(super) fn begin(&self, emitter: &mut Emitter<'_>) {
        emitter.algebra.builder.clone_from(&self.builder);
        emitter.algebra.builder.reserve(ROOM);
        emitter.layouts.clone_from(&self.layouts);
        emitter.spelled.clone_from(&self.spelled);
        emitter.terminals.clone_from(&self.terminals);
        if let Some(any) = self.any {
            emitter.values.insert((Rc::new([]), 0), Some(any));
        }
        for (set, number) in &self.numbers {
            emitter.numbers.insert((set.clone(), false), *number);
        }
    }
}
