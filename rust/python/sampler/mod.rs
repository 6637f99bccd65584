//! `SamplerInterface` and `NativeSampler`: a matcher as a `llama_sampler`, for `earmark.llama_cpp`.
//!
//! Python gives the layout of the installed llama.cpp's structures and gets the address of a
//! sampler, which it adds to a chain; the chain owns it. What is here only makes samplers and
//! looks at them; llama.cpp runs them through the functions of `native`.

mod allowed;
mod candidates;
mod interface;
mod native;

use std::convert::Infallible;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use self::interface::{Interface, Layout};
use self::native::{Failure, State};
use super::error::{enter, match_error};
use super::matcher::PyMatcher;

/// The table of a sampler's functions in the layout of one llama.cpp. See `_earmark.pyi`.
#[pyclass(frozen, module = "earmark", name = "SamplerInterface")]
pub(super) struct PySamplerInterface {
    inner: Arc<Interface>,
}

#[pymethods]
impl PySamplerInterface {
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are owned")]
    fn new(layout: Layout) -> PyResult<Self> {
        let Some(init) = native::init_function(layout.init()) else {
            return Err(PyValueError::new_err("the address of llama_sampler_init is null"));
        };
        let inner = Interface::new(&layout, init, &native::functions())?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// A new `llama_sampler` that starts where `matcher` is.
    fn sampler(&self, py: Python<'_>, matcher: Py<PyMatcher>) -> PyResult<PyNativeSampler> {
        let copy = matcher.get().copy(py)?;
        let state = Arc::new(Mutex::new(State::new(copy)));
        let sampler = native::create(&self.inner, Arc::clone(&state));
        if sampler.is_null() {
            return Err(PyMemoryError::new_err("llama_sampler_init gave no sampler"));
        }
        Ok(PyNativeSampler { state, address: sampler as usize, matcher })
    }

    /// The handle of a sampler that llama.cpp cloned; `None` if it is another kind of sampler.
    fn find(
        &self,
        address: usize,
        like: &PyNativeSampler,
        py: Python<'_>,
    ) -> Option<PyNativeSampler> {
        let state = native::find(&self.inner, address)?;
        Some(PyNativeSampler { state, address, matcher: like.matcher.clone_ref(py) })
    }
}

/// Python's hold on a `llama_sampler`. See `_earmark.pyi`.
#[pyclass(frozen, module = "earmark", name = "NativeSampler")]
pub(super) struct PyNativeSampler {
    state: Arc<Mutex<State>>,
    #[pyo3(get)]
    address: usize,
    /// The matcher it was made from, for the grammar and the vocabulary.
    matcher: Py<PyMatcher>,
}

#[pymethods]
impl PyNativeSampler {
    /// A matcher in the sampler's state.
    fn matcher(&self, py: Python<'_>) -> PyResult<PyMatcher> {
        let inner = enter(py, || Ok::<_, Infallible>(self.state.lock().matcher.clone()))?;
        Ok(self.matcher.get().with(py, inner))
    }

    /// Raises what went wrong in llama.cpp's calls since the last time.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match enter(py, || Ok::<_, Infallible>(self.state.lock().failure.take()))? {
            None => Ok(()),
            Some(failure) => Err(failure.into()),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.matcher)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => error.into(),
            Failure::OtherVocabulary { token, width } => match_error(format!(
                "token id {token} is out of range: the grammar's vocabulary has ids 0 to {}; \
                 is the sampler used with the model that it was made for?",
                width.saturating_sub(1)
            )),
            Failure::SmallerVocabulary { candidates, width } => match_error(format!(
                "the candidates are the {candidates} tokens of another model: the grammar's \
                 vocabulary has {width}; use the sampler with the model that it was made for"
            )),
            Failure::NoCandidate { candidates, allowed } => match_error(format!(
                "none of the {candidates} candidates is one of the {allowed} allowed tokens: \
                 a sampler before the grammar has dropped them; put the grammar first"
            )),
            Failure::Panic(text) => PyRuntimeError::new_err(format!(
                "internal error in earmark, please report it: {text}"
            )),
        }
    }
}
