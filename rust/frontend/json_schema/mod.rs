//! The JSON Schema front end: a schema → grammar IR.
//!
//! Takes JSON text and [`Options`]; gives a grammar whose texts are those JSON texts (RFC 8259)
//! whose value is valid under the schema, narrowed by the options alone, and what could not be
//! enforced, if that may be ignored. Drafts 4, 6, 7, 2019-09 and 2020-12.
//!
//! The work is split by stage: `load` types schemas by need (`model`), `algebra` works out which
//! values of each type are meant, `emit` writes them as grammar. `number`, `pattern` and `format`
//! are the languages of numbers and strings. It knows no vocabulary and no parser; of what is below
//! it asks whether regular languages are empty, and has the parts that all its grammars begin with
//! compiled once ([`Parsed::compile`]). Its grammars draw the borders of lexemes
//! themselves: they are compiled without folding.

mod algebra;
mod emit;
mod format;
mod limits;
mod load;
mod model;
mod number;
mod options;
mod pattern;

pub use limits::{Limit, Limits};
pub use options::{Escapes, FLEXIBLE, Options, PropertyOrder, Whitespace};

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use crate::compile::{CompileOptions, CompiledGrammar, Known, compile_with};
use crate::error::{GrammarError, GrammarErrorKind, shortened};
use crate::grammar::{Grammar, GrammarBuilder};
use algebra::{Algebra, Signed};
use emit::Emitter;
use load::Loader;
use model::Keyword;

/// A grammar from a schema, and what of the schema it does not enforce.
#[derive(Debug)]
pub struct Parsed {
    /// The grammar.
    pub grammar: Grammar,
    /// Keywords that were ignored ([`Options::reject_unsupported`] is off): each schema's before
    /// those of the schemas in it.
    pub ignored: Vec<Finding>,
    /// What is known of the expressions that the grammar begins with.
    known: Option<Arc<Known>>,
    limits: Limits,
}

impl Parsed {
    /// Compiles the grammar, without folding: the front end has drawn the borders of lexemes where
    /// they are best.
    pub fn compile(self) -> Result<CompiledGrammar, GrammarError> {
        let effort = self.limits.effort();
        let options = CompileOptions { fold: false, effort, ..CompileOptions::default() };
        let compiled = compile_with(&Arc::new(self.grammar), options, self.known.as_deref());
        compiled.map_err(|error| self.limits.named(error))
    }
}

/// What becomes of a keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The JSON pointer of the keyword's value.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
    /// What becomes of it.
    pub status: Status,
    /// Why it is not enforced, or what of it is left out; empty for most.
    pub reason: String,
}

/// What becomes of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The grammar enforces it exactly.
    Enforced,
    /// It says nothing about what is valid (`title`, an unknown keyword, an unknown format).
    Annotation,
    /// It can't be enforced.
    Unsupported,
}

/// Reads a schema as a grammar.
pub fn parse(schema: &str, options: &Options) -> Result<Parsed, GrammarError> {
    let loader = Loader::new(schema, options)?;
    let mut algebra = Box::new(Algebra::new(loader, options));
    let root = algebra.root()?;
    let prelude = emit::prelude(options);
    let emitter = Emitter::new(algebra, prelude.as_deref());
    let made = emitter.grammar(Signed { schema: root, positive: true });
    // What several schemas make together is of the whole.
    let located = |error: GrammarError| {
        if error.pointer().is_some() { error } else { error.at_pointer("") }
    };
    let (grammar, mut algebra) = made.map_err(|error| options.limits.named(located(error)))?;
    let ignored = algebra.findings()?;
    if let Some(invalid) = algebra.invalid.take() {
        if !options.reject_unsupported || ignored.len() == 1 {
            return Err(invalid);
        }
        // What else can't be enforced is told as well.
        let error = GrammarError::new(invalid.kind(), refusal(&ignored));
        let error = error.at_pointer(invalid.pointer().unwrap_or_default());
        return Err(error.with_hint(invalid.hint().unwrap_or_default()));
    }
    if options.reject_unsupported
        && let Some(first) = ignored.first()
    {
        return Err(GrammarError::new(GrammarErrorKind::Unsupported, refusal(&ignored))
            .at_pointer(&*first.pointer)
            .with_hint(
                "take it out, or ignore what can't be enforced with unsupported=\"ignore\"",
            ));
    }
    let known = prelude.map(|prelude| Arc::clone(&prelude.known));
    Ok(Parsed { grammar, ignored, known, limits: options.limits.clone() })
}

/// What can't be enforced, as the text of an error.
fn refusal(findings: &[Finding]) -> String {
    /// The others are counted.
    const MAX_TOLD: usize = 100;
    let mut message = String::from("the schema has what can't be enforced:");
    for finding in findings.iter().take(MAX_TOLD) {
        // Writing to a string does not fail.
        let _ = write!(message, "\n  {}: {}", shortened(&finding.pointer), finding.reason);
    }
    if let Some(untold) = findings.len().checked_sub(MAX_TOLD).filter(|&untold| untold > 0) {
        let _ = write!(message, "\n  and {untold} more");
    }
    message
}

/// The error for a schema whose grammar has no text: which keywords contradict each other, and
/// where.
pub fn why_empty(schema: &str, options: &Options) -> GrammarError {
    let found = Loader::new(schema, options).and_then(|loader| {
        let mut algebra = Algebra::new(loader, options);
        let root = algebra.root()?;
        Ok(algebra.why_empty(root))
    });
    found.unwrap_or_else(|error| options.limits.named(error))
}

/// What becomes of each keyword that the schema leads to, in document order, without a grammar.
pub fn report(schema: &str, options: &Options) -> Result<Vec<Finding>, GrammarError> {
    let widened = Options { reject_unsupported: false, ..options.clone() };
    let unsupported = parse(schema, &widened)?.ignored;
    let by_place: HashMap<(&str, &str), &Finding> = unsupported
        .iter()
        .map(|finding| ((finding.pointer.as_str(), finding.keyword.as_str()), finding))
        .collect();
    let mut loader = Loader::new(schema, options)?;
    let mut findings = Vec::new();
    loader.walk_all(&mut |id, finding| findings.push((id, finding)))?;
    let mut known = Vec::with_capacity(findings.len());
    // What is refused of a keyword's members.
    let mut members: HashMap<(&str, &str), Vec<&Finding>> = HashMap::new();
    for finding in &unsupported {
        if let Some((keyword, _)) = finding.pointer.rsplit_once('/') {
            members.entry((keyword, &finding.keyword)).or_default().push(finding);
        }
    }
    for (id, mut finding) in findings {
        let refused = members.get(&(&*finding.pointer, &*finding.keyword));
        let refused: Vec<Finding> =
            refused.into_iter().flatten().map(|&finding| finding.clone()).collect();
        if let Some(&refused) = by_place.get(&(finding.pointer.as_str(), finding.keyword.as_str()))
        {
            finding = refused.clone();
        } else if finding.keyword == "format" {
            let schema = loader.schema(id)?;
            for (keyword, _) in &schema.keywords {
                let Keyword::Format(format) = keyword else { continue };
                // Formats say nothing if they are not to be enforced, or not known.
                let silent = if !options.formats {
                    Some("formats are not enforced")
                } else if format::expr(format, &mut GrammarBuilder::new()).is_none() {
                    Some("not a format of JSON Schema")
                } else {
                    None
                };
                if silent.is_some() {
                    finding.status = Status::Annotation;
                }
                finding.reason =
                    silent.or_else(|| format::caveat(format)).unwrap_or_default().into();
            }
        }
        known.push(finding);
        known.extend(refused);
    }
    Ok(known)
}
