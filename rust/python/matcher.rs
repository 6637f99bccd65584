//! `Matcher`: one generation.

use std::convert::Infallible;

use numpy::{PyArray1, ToPyArray};
use parking_lot::Mutex;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use pyo3::{PyTraverseError, PyVisit};

use super::arguments::{count, known_token_id, out_of_range, token_id, type_name};
use super::buffer::{MaskBuffer, new_mask};
use super::error::enter;
use super::grammar::PyGrammar;
use super::vocabulary::PyVocabulary;
use crate::matcher::{Matcher, Step};

/// The state of one generation. See `_earmark.pyi`.
///
/// Threads may share a matcher: their calls come one after the other.
#[pyclass(frozen, weakref, module = "earmark", name = "Matcher")]
pub(super) struct PyMatcher {
    pub(super) inner: Mutex<Matcher>,
    grammar: Py<PyGrammar>,
    vocabulary: Py<PyVocabulary>,
    width: usize,
}

#[pymethods]
impl PyMatcher {
    #[new]
    fn new(py: Python<'_>, grammar: Py<PyGrammar>, vocabulary: Py<PyVocabulary>) -> PyResult<Self> {
        let engine = enter(py, || grammar.get().engine(vocabulary.get()))?;
        let inner = Matcher::new(engine);
        let width = inner.width();
        Ok(Self { inner: Mutex::new(inner), grammar, vocabulary, width })
    }

    #[getter]
    fn grammar(&self, py: Python<'_>) -> Py<PyGrammar> {
        self.grammar.clone_ref(py)
    }

    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> Py<PyVocabulary> {
        self.vocabulary.clone_ref(py)
    }

    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.run(py, |matcher| matcher.memory_bytes())
    }

    fn next_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let (array, words) = new_mask(py, self.words());
        self.run(py, |matcher| matcher.fill_mask(words))?;
        Ok(array)
    }

    #[pyo3(signature = (out, row = None), text_signature = "($self, out, row=0)")]
    fn fill_mask(
        &self,
        py: Python<'_>,
        out: &Bound<'_, PyAny>,
        row: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let row = row.map_or(Ok(Some(0)), |row| count("row", row))?;
        let mut buffer = MaskBuffer::new(out, self.words())?;
        let words = buffer.row(row)?;
        self.run(py, |matcher| matcher.fill_mask(words))
    }

    fn allowed_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let mut words = vec![0; self.words()];
        let ids = self.run(py, |matcher| {
            matcher.fill_mask(&mut words);
            set_bits(&words)
        })?;
        Ok(ids.to_pyarray(py))
    }

    fn accept(&self, py: Python<'_>, token_id: &Bound<'_, PyAny>) -> PyResult<()> {
        let token = known_token_id(token_id, self.width)?;
        enter(py, || self.inner.lock().accept(token))
    }

    fn try_accept(&self, py: Python<'_>, token_id: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self::token_id(token_id)? {
            Some(token) => self.run(py, |matcher| matcher.try_accept(token)),
            None => Ok(false),
        }
    }

    fn accept_bytes(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(text) = text.extract::<PyBackedBytes>() else {
            let kind = type_name(text);
            return Err(PyTypeError::new_err(format!("accept_bytes() takes bytes, not {kind}")));
        };
        enter(py, || self.inner.lock().accept_bytes(&text))
    }

    fn accepted<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let steps = self.run(py, |matcher| matcher.steps().clone())?;
        let step = |step: Step<'_>| match step {
            Step::Token(id) | Step::End(id) => id.0.into_bound_py_any(py),
            Step::Bytes(bytes) => PyBytes::new(py, bytes).into_bound_py_any(py),
        };
        steps.iter().map(step).collect()
    }

    fn validate(&self, py: Python<'_>, token_ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut tokens = Vec::with_capacity(token_ids.len().unwrap_or(0));
        for token in token_ids.try_iter()? {
            // No vocabulary has an id that is no `u32`: nothing after it counts.
            let Some(token) = token_id(&token?)? else { break };
            tokens.push(token);
        }
        self.run(py, |matcher| matcher.validate(&tokens))
    }

    #[pyo3(signature = (steps = None), text_signature = "($self, steps=1)")]
    fn rollback(&self, py: Python<'_>, steps: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let steps = match steps {
            None => 1,
            Some(steps) => match count("steps", steps)? {
                Some(count) => count,
                None if steps.lt(0)? => {
                    return Err(PyValueError::new_err(format!("can't roll back {steps} steps")));
                }
                None => usize::MAX,
            },
        };
        enter(py, || self.inner.lock().rollback(steps))
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, Matcher::reset)
    }

    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(self.with(py, self.copy(py)?))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.fork(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyDict>) -> PyResult<Self> {
        self.fork(py)
    }

    #[allow(clippy::unused_self, reason = "Python calls it as a method")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Matcher can't be pickled; send its grammar, its vocabulary and the accepted \
             tokens, and accept those again",
        ))
    }

    #[getter]
    fn is_accepting(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, Matcher::is_accepting)
    }

    #[getter]
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |matcher| matcher.is_finished())
    }

    fn forced_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.run(py, Matcher::forced_bytes)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn forced_tokens<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("earmark.forced")?.getattr("forced_tokens")?.call1((slf,))
    }

    fn expected(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.run(py, |matcher| matcher.expected())
    }

    fn explain(&self, py: Python<'_>, token_id: &Bound<'_, PyAny>) -> PyResult<String> {
        match self::token_id(token_id)? {
            Some(token) => self.run(py, |matcher| matcher.explain(token)),
            None => Ok(out_of_range(token_id, self.width)),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (steps, accepting, finished) = self.run(py, |matcher| {
            (matcher.steps().len(), matcher.is_accepting(), matcher.is_finished())
        })?;
        let state = match (finished, accepting) {
            (true, _) => "finished",
            (false, true) => "may end here",
            (false, false) => "must go on",
        };
        Ok(format!("Matcher({steps} steps accepted, {state})"))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.grammar)?;
        visit.call(&self.vocabulary)
    }
}

impl PyMatcher {
    /// The engine's matcher as it is now.
    pub(super) fn copy(&self, py: Python<'_>) -> PyResult<Matcher> {
        self.run(py, |matcher| matcher.clone())
    }

    /// Another matcher of the same grammar and vocabulary.
    pub(super) fn with(&self, py: Python<'_>, inner: Matcher) -> Self {
        Self {
            inner: Mutex::new(inner),
            grammar: self.grammar.clone_ref(py),
            vocabulary: self.vocabulary.clone_ref(py),
            width: self.width,
        }
    }

    /// Runs the engine's matcher where nothing can fail.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Matcher) -> T + Send,
    ) -> PyResult<T> {
        enter(py, || Ok::<_, Infallible>(run(&mut self.inner.lock())))
    }

    /// The number of words of a mask.
    pub(super) fn words(&self) -> usize {
        self.width.div_ceil(u32::BITS as usize)
    }
}

/// The positions of the bits that are 1, in order.
fn set_bits(words: &[u32]) -> Vec<i64> {
    let count = words.iter().map(|word| word.count_ones() as usize).sum();
    let mut positions = Vec::with_capacity(count);
    for (&word, first) in words.iter().zip((0..).step_by(32)) {
        let mut rest = word;
        while rest != 0 {
            positions.push(first + i64::from(rest.trailing_zeros()));
            rest &= rest - 1;
        }
    }
    positions
}
