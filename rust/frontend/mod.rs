//! Front ends: grammar text → [`Grammar`](crate::grammar::Grammar), and nothing else.
//!
//! Each takes a source text and gives the IR or a [`GrammarError`](crate::error::GrammarError)
//! with line, column, caret and hint. None knows the lexer, the parser or a vocabulary.

pub mod gbnf;
pub mod json_schema;
pub mod lark;
pub mod regex;

pub(crate) mod classes;
pub(crate) mod suggest;
