//! The grammar IR: what every front end builds and `compile/` takes.
//!
//! A [`Grammar`] is close to what the user wrote: named symbols whose bodies are expressions with
//! literals, character classes, groups, alternatives and repetitions. It knows no lexer, no
//! parser and no vocabulary. Expressions live in an arena, children before their parents, so that
//! every pass is a loop and no recursion follows the nesting of the input. Grammars that begin as
//! another does share that one's expressions.

mod automaton;
mod builder;
mod members;
mod print;

use std::borrow::Cow;
use std::sync::Arc;

pub use automaton::{Automaton, AutomatonState};
pub use builder::GrammarBuilder;
pub use members::{Condition, Member, MemberOrder, Members};
pub(crate) use print::quote;

use crate::index::{ExprId, SymbolId};
use crate::layered::Layered;
use crate::span::Span;

/// A context-free grammar whose leaves are texts, character classes and model tokens.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// All expressions; the parts of an expression have smaller ids than the expression.
    pub exprs: Layered<ExprId, Expr>,
    /// Rules and terminals.
    pub symbols: Layered<SymbolId, Symbol>,
    /// The symbol whose texts are the grammar's texts.
    pub start: SymbolId,
    /// What may stand before, between and after the terminals of rules (Lark's `%ignore`), each
    /// any number of times.
    pub ignore: Vec<ExprId>,
}

/// A named rule or terminal.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name in the source; shown in errors and by `expected()`.
    pub name: Cow<'static, str>,
    /// Rule or terminal.
    pub kind: SymbolKind,
    /// What it stands for.
    pub body: ExprId,
    /// Where it is defined in the source.
    pub span: Span,
}

/// How a symbol is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A rule: its body may refer to anything, itself included.
    Rule,
    /// A terminal: one regular unit, not recursive; `ignore` never applies inside it.
    Terminal,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// These bytes (UTF-8 of a string literal); the empty literal is the empty text.
    Literal(Arc<[u8]>),
    /// One character (Unicode scalar value) of sorted, disjoint, inclusive ranges; as UTF-8.
    /// No range: no text at all.
    Class(Arc<[(char, char)]>),
    /// One byte of sorted, disjoint, inclusive ranges (regex `(?-u:\xFF)`).
    Bytes(Arc<[(u8, u8)]>),
    /// One token of the model, not text.
    Token(TokenTerminal),
    /// A rule or terminal.
    Symbol(SymbolId),
    /// One after the other; none: the empty text.
    Seq(Arc<[ExprId]>),
    /// One of these; none: no text at all.
    Alt(Arc<[ExprId]>),
    /// `min` to `max` times, `None` for no upper bound.
    Repeat {
        /// What is repeated.
        expr: ExprId,
        /// At least this often.
        min: u32,
        /// At most this often.
        max: Option<u32>,
    },
    /// The texts that belong to all of `all` and to none of `none`. Every part must be regular;
    /// `all` has at least one part.
    And {
        /// Each of these has the text.
        all: Arc<[ExprId]>,
        /// None of these has it.
        none: Arc<[ExprId]>,
    },
    /// What an automaton over bytes accepts.
    Automaton(Arc<Automaton>),
    /// Members between separators.
    Members(Arc<Members>),
}

/// A terminal that stands for tokens of the model, outside the byte alphabet.
///
/// It is bound to ids when the grammar meets a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenTerminal {
    /// Which token.
    pub token: TokenRef,
    /// Any token but this one (`!<name>`): all text and special tokens, never end of sequence.
    pub negated: bool,
}

/// A token by name or id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TokenRef {
    /// By the text the vocabulary knows it under, such as `<|end|>` (angle brackets included).
    Name(String),
    /// By its id.
    Id(u32),
}
