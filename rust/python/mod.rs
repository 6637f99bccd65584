//! The Python extension module `earmark._earmark`: conversion only.
//!
//! Each method converts its arguments, runs the engine through [`error::enter`] (which frees the
//! interpreter for other threads and maps errors) and converts the result. Nothing here decides
//! what a grammar allows. The public face, with its documentation, is `python/earmark`; the
//! stub `_earmark.pyi` is the reference.

mod arguments;
mod batch;
mod buffer;
mod error;
mod grammar;
mod json_text;
mod llama_vocab;
mod matcher;
mod sampler;
mod schema;
mod schema_options;
mod vocabulary;

use mimalloc::MiMalloc;
use pyo3::pymodule;

/// Compiling a grammar makes and drops many small things.
///
/// PERF: it asks for no huge pages (feature `no_thp`). They are filled when they are first touched,
/// which stalled single masks for 7 to 20 ms on a virtual machine: over 200 schemas of `MaskBench`
/// the slowest mask took 6.7 to 12 ms with them and 1.6 to 2.3 without, the slowest first mask 7.2
/// to 12 ms and 3.2 to 4.9, and means were no worse.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[pymodule]
mod _earmark {
    #[pymodule_export]
    use super::batch::{accept_all, fill_masks};
    #[pymodule_export]
    use super::grammar::PyGrammar;
    #[pymodule_export]
    use super::llama_vocab::llama_vocab_table;
    #[pymodule_export]
    use super::matcher::PyMatcher;
    #[pymodule_export]
    use super::sampler::{PyNativeSampler, PySamplerInterface};
    #[pymodule_export]
    use super::vocabulary::{PyVocabulary, decode_pieces};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name Python knows a version under")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
