//! The integration suite: one binary.
//!
//! `data` runs the cases of `tests/data` and `grammars/texts`; `properties` compares the engine
//! with the oracle in `reference` on what `generate` makes from `choices`, `regular` the lexer alone
//! with whole automata; `large` does so over many tokens, `threads` in several threads. `orders` has
//! more items in any order than the oracle can read, `strings` JSON strings over many tokens.

mod choices;
mod data;
mod generate;
mod large;
mod orders;
mod properties;
mod reference;
mod regular;
mod strings;
mod threads;
