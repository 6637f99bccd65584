//! Exact token masks for language models: an Earley engine for any context-free grammar.
//!
//! ```text
//!  source text ─frontend▶ Grammar (IR) ─compile▶ CompiledGrammar ─┐
//!                                                                 ├▶ Matcher ─mask▶ token bits
//!  tokenizer ───vocab───▶ Vocabulary (trie, indexes, splits) ─────┘     ▲ accept / rollback / fork
//! ```
//!
//! The modules below stand in the order of data flow; each says at its top what it takes, gives,
//! guarantees and doesn't know.

pub mod error;
pub mod index;
pub mod span;

pub mod compile;
pub mod earley;
pub mod frontend;
pub mod grammar;
pub mod lexer;
pub mod split;
pub mod vocab;

pub use error::{GrammarError, GrammarErrorKind, MatchError};
pub use grammar::Grammar;
