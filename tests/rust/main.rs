//! The integration suite: one binary.
//!
//! `data` runs the cases of `tests/data` and `grammars/texts`; `properties` compares the engine
//! with the oracle in `reference` on what `generate` makes from `choices`.

mod choices;
mod data;
mod generate;
mod properties;
mod reference;
