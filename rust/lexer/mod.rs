//! Regular expressions as derivatives, and the lazy DFA over them.
//!
//! Takes expressions built node by node ([`RegexSet`]'s constructors); gives, for a node and a
//! byte, the node that describes what may follow that byte: its *derivative* (Brzozowski 1964;
//! in the spirit of Owens, Reppy, Turon, *Regular-expression derivatives re-examined*, 2009). A
//! node is a lexer state. It knows no rules, no tokens.
//!
//! Guarantees: equal nodes have equal ids; [`DEAD`] is the only node whose language is empty, so
//! "alive" is one comparison; no recursion follows the nesting of an expression.
//!
//! Worked example: `[0-9]+ "." [0-9]` is `Concat(d⁺, Concat(".", d))`. Its derivative by `7` is
//! `Concat(d*, Concat(".", d))`: call it q. q by `7` is q again, the loop; q by `.` is `d`; that by
//! `5` is ε, where the lexeme may end. Four nodes, four states.

mod alike;
mod automata;
mod clamp;
mod classes;
mod derive;
mod dfa;
mod factor;
mod facts;
mod identity;
mod lengths;
mod literal;
mod meet;
mod node;
mod readings;
mod search;
mod shape;
mod starts;
mod units;
mod utf8;
mod words;

pub use dfa::Lexer;
pub use lengths::CountedMeet;
pub use meet::TooLarge;
pub use node::{DEAD, EPSILON, RegexSet};
pub use shape::Counted;
