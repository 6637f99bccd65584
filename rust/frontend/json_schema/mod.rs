//! The JSON Schema front end.

#![allow(dead_code)]

mod format;
mod load;
mod model;
mod number;
mod options;
mod pattern;

pub use options::{Escapes, FLEXIBLE, Options, PropertyOrder, Whitespace};

use crate::error::GrammarError;
use crate::grammar::Grammar;

/// A grammar from a schema, and what of the schema it does not enforce.
#[derive(Debug)]
pub struct Parsed {
    /// The grammar.
    pub grammar: Grammar,
    /// Keywords that were ignored ([`Options::reject_unsupported`] is off), in document order.
    pub ignored: Vec<Finding>,
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
    /// Why it is not enforced; empty for those that are.
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
    let _ = (schema, options);
    unimplemented!("being built")
}

/// What becomes of each keyword, without building the grammar.
pub fn report(schema: &str, options: &Options) -> Result<Vec<Finding>, GrammarError> {
    let _ = (schema, options);
    unimplemented!("being built")
}
