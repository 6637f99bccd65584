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

pub mod byteset;
pub mod error;
pub mod index;
pub mod interner;
pub mod layered;
pub mod span;
pub mod spread;
pub mod transitions;

pub mod grammar;

pub mod frontend;

pub mod vocab;

pub mod lexer;

pub mod earley;

pub mod compile;

pub mod recogniser;

pub mod split;

pub mod mask;

pub mod matcher;

#[cfg(feature = "python")]
mod python;

pub use compile::{CompileOptions, CompiledGrammar, compile};
pub use error::{GrammarError, GrammarErrorKind, MatchError};
pub use grammar::Grammar;
pub use mask::{Engine, EngineOptions};
pub use matcher::Matcher;
pub use vocab::{Vocabulary, VocabularyError};
