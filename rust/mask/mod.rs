//! (grammar, vocabulary, state) → token bits, and the caches in between.
//!
//! An [`Engine`] belongs to one compiled grammar and one vocabulary and is shared by all matchers
//! of that pair. [`allow`] finds the tokens that a state allows; [`Mask`] keeps them small.
//! Speculative work runs the same recogniser as real work and leaves nothing but warm caches.

mod allow;
mod engine;
mod follow;
mod known;
mod set;

pub use engine::{Engine, EngineOptions};
pub use set::Mask;

pub(crate) use engine::Cache;
