//! The one way from Python into the engine, and from the engine's errors to Python's.
//!
//! The exception classes are written in Python (`earmark/errors.py`), where their attributes are
//! documented and pickling comes for free; they are looked up at the first error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::error::{GrammarError, GrammarErrorKind, MatchError};
use crate::vocab::VocabularyError;

/// Runs the engine: other Python threads go on meanwhile, errors become exceptions, and so does a
/// panic, which is our bug but should not take a server down.
///
/// Locks are taken inside `run` only, so no thread waits for a lock while it holds the
/// interpreter.
pub(super) fn enter<T, E>(py: Python<'_>, run: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T>
where
    T: Send,
    E: Send + Into<PyErr>,
{
    match py.detach(|| catch_unwind(AssertUnwindSafe(run))) {
        Ok(result) => result.map_err(Into::into),
        Err(panic) => Err(PyRuntimeError::new_err(format!(
            "internal error in earmark, please report it: {}",
            panic_text(panic.as_ref())
        ))),
    }
}

/// What a panic says.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

impl From<GrammarError> for PyErr {
    fn from(error: GrammarError) -> Self {
        static GRAMMAR_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static LIMIT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let (class, name) = match error.kind() {
            GrammarErrorKind::Limit => (&LIMIT_ERROR, "LimitError"),
            _ => (&GRAMMAR_ERROR, "GrammarError"),
        };
        Python::attach(|py| {
            let (line, column) = error.line_and_column().unzip();
            let attributes = PyDict::new(py);
            attributes
                .set_item("kind", kind_name(error.kind()))
                .and_then(|()| attributes.set_item("line", line))
                .and_then(|()| attributes.set_item("column", column))
                .and_then(|()| attributes.set_item("pointer", error.pointer()))
                .and_then(|()| attributes.set_item("hint", error.hint()))
                .and_then(|()| class.import(py, "earmark.errors", name))
                .and_then(|class| class.call((error.to_string(),), Some(&attributes)))
                .map_or_else(|failure| failure, PyErr::from_value)
        })
    }
}

/// The kinds as `GrammarError.kind` spells them.
fn kind_name(kind: GrammarErrorKind) -> &'static str {
    match kind {
        GrammarErrorKind::Syntax => "syntax",
        GrammarErrorKind::Undefined => "undefined",
        GrammarErrorKind::Duplicate => "duplicate",
        GrammarErrorKind::Unsupported => "unsupported",
        GrammarErrorKind::Empty => "empty",
        GrammarErrorKind::UnknownToken => "unknown_token",
        GrammarErrorKind::Limit => "limit",
    }
}

impl From<MatchError> for PyErr {
    fn from(error: MatchError) -> Self {
        match_error(error.to_string())
    }
}

/// A `MatchError`, for what only Python can ask for, such as a negative token id.
pub(super) fn match_error(message: String) -> PyErr {
    static MATCH_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&MATCH_ERROR, "MatchError", message)
}

impl From<VocabularyError> for PyErr {
    fn from(error: VocabularyError) -> Self {
        vocabulary_error(error.to_string())
    }
}

/// A `VocabularyError`, for what only Python can ask for.
pub(super) fn vocabulary_error(message: String) -> PyErr {
    static VOCABULARY_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&VOCABULARY_ERROR, "VocabularyError", message)
}

fn exception(class: &PyOnceLock<Py<PyType>>, name: &str, message: String) -> PyErr {
    Python::attach(|py| match class.import(py, "earmark.errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), message),
        Err(failure) => failure,
    })
}
