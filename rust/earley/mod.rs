//! Earley sets over terminals (Earley 1970), hash-consed. Knows no bytes and no model tokens.
//!
//! Takes a [`Program`] (productions as flat arrays, built by `compile/`); gives [`Rows`]: sets of
//! items, and the set that follows when a terminal is scanned.
//!
//! Glossary. *Item*: a dot in a production and a set of return addresses. *Row*: an Earley set, named by
//! its kernel. *Kernel*: the items whose dot stands behind a symbol, from which the others follow
//! by prediction. *Scan*: move the dots over a terminal. *Predict*: add the productions of a
//! nonterminal before a dot. *Complete*: a production has been read; go on where it was called.
//! *Context*: the items of a row that call nonterminals. *Return address*: a context, and some of
//! the nonterminals that it calls.
//!
//! Two departures from the textbook:
//!
//! 1. Rows are not numbered by position but interned by kernel, and an item's origin is a set of
//!    return addresses, not a position. A loop in the text comes back to a row that is already
//!    known, so everything computed for it can be kept.
//! 2. A nonterminal in the last place of a production returns straight to its caller's return
//!    address (a tail call). Right recursion thus needs no chain of completions (what Leo 1991
//!    solves by transitive items), and completion is one step: no row holds a finished item. It
//!    also means that rows tell contexts apart only where something different can follow.
//!
//! PERF: one item for a dot, with an interned set of return addresses. With an item for each return
//! address, a level of precedence carries those of all levels above it: accepting a token of
//! `grammars/c_subset.gbnf` took 360 µs, now 2. With tail calls for right recursion alone there are
//! few items, but rows that are alike are not equal, and fewer masks repeat: 225 µs a mask of
//! `ambiguous.gbnf` instead of 80, and 10 now that addresses name contexts.
//!
//! The properties of an object have more productions than are ever needed, in any order more than
//! could be written down: those of a state, which is what has been seen of them, are made when a row
//! first predicts it (`productions.rs`), and a state is offered only if it can be completed
//! (`order.rs` with `given_order.rs`, `any_order.rs` and `cover.rs`). The program never changes; what is added belongs to the rows.
//!
//! Productions have no empty right-hand sides (`compile/` sees to it), so nullable symbols, hidden
//! recursion and cycles need nothing here.
//!
//! Worked example, `L: x "," L | x`. Row 0 predicts both productions, returning to the root. Scan
//! `x`: the kernel is {L → x·","L, root} plus "accepted". Scan `","`: {L → x ","·L, root}, which
//! predicts L again with the *same* return address, since L stands last. Scan `x`: the same kernel
//! as before, hence the same row. Any list needs three rows.

mod any_order;
mod conditions;
mod cover;
mod given_order;
mod order;
mod predict;
mod productions;
mod program;
mod returns;
mod rows;

pub(crate) use order::OrderPlan;
pub use order::{Order, OrderItem};
pub use predict::left_nesting;
pub use program::{Program, Sym};
pub use rows::{Row, Rows};
