//! `Grammar`: text of one of the grammar languages → a compiled grammar.

use std::convert::Infallible;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::arguments::grammar_text;
use super::error::enter;
use super::vocabulary::PyVocabulary;
use crate::compile::{CompileOptions, CompiledGrammar, compile};
use crate::error::GrammarError;
use crate::frontend::{gbnf, lark, regex};
use crate::grammar::Grammar;
use crate::mask::{Engine, EngineOptions};
use crate::vocab::Vocabulary;

/// How many vocabularies a grammar keeps engines (with their caches) for.
const ENGINES: usize = 4;

/// How much of the source a repr shows, in characters.
const SHOWN: usize = 60;

/// A grammar, ready for any vocabulary. See `_earmark.pyi`.
#[pyclass(frozen, weakref, module = "earmark", name = "Grammar")]
pub(super) struct PyGrammar {
    compiled: Arc<CompiledGrammar>,
    source: Source,
    /// Engines with the vocabularies they are for, most recently used last: matchers of the same
    /// pair share what they learn. Past `ENGINES` the first is dropped.
    engines: Mutex<Vec<(Arc<Vocabulary>, Arc<Engine>)>>,
}

/// What a grammar was made from.
#[derive(Clone)]
struct Source {
    language: Language,
    text: String,
    /// The rule that texts start with; empty for a regex.
    start: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Regex,
    Gbnf,
    Lark,
}

#[pymethods]
impl PyGrammar {
    #[classmethod]
    fn from_regex(class: &Bound<'_, PyType>, pattern: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = grammar_text("pattern", pattern)?;
        Self::build(class.py(), Source { language: Language::Regex, text, start: String::new() })
    }

    #[classmethod]
    #[pyo3(signature = (text, root = None), text_signature = "(text, root='root')")]
    fn from_gbnf(
        class: &Bound<'_, PyType>,
        text: &Bound<'_, PyAny>,
        root: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let text = grammar_text("text", text)?;
        let start = root.map_or(Ok("root".to_owned()), |root| grammar_text("root", root))?;
        Self::build(class.py(), Source { language: Language::Gbnf, text, start })
    }

    #[classmethod]
    #[pyo3(signature = (text, start = None), text_signature = "(text, start='start')")]
    fn from_lark(
        class: &Bound<'_, PyType>,
        text: &Bound<'_, PyAny>,
        start: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let text = grammar_text("text", text)?;
        let start = start.map_or(Ok("start".to_owned()), |start| grammar_text("start", start))?;
        Self::build(class.py(), Source { language: Language::Lark, text, start })
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.source.language.name()
    }

    #[getter]
    fn source(&self) -> &str {
        &self.source.text
    }

    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        // An engine may be busy: its caches are behind a lock.
        enter(py, || Ok::<_, Infallible>(self.held()))
    }

    fn __str__(&self) -> String {
        self.compiled.source.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Source { language, text, start } = &self.source;
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if shown.len() < text.len() { "…" } else { "" };
        let shown = PyString::new(py, &(shown + more)).repr()?;
        let start = match language.start_argument() {
            Some(name) => format!(", {name}={}", PyString::new(py, start).repr()?),
            None => String::new(),
        };
        Ok(format!("Grammar.from_{}({shown}{start})", language.name()))
    }

    // Grammars never change, so a copy is the object itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyDict>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let Source { language, text, start } = &slf.get().source;
        let constructor = slf.get_type().getattr(format!("from_{}", language.name()))?;
        let arguments = match language.start_argument() {
            Some(_) => PyTuple::new(py, [text, start])?,
            None => PyTuple::new(py, [text])?,
        };
        Ok((constructor, arguments))
    }
}

impl PyGrammar {
    fn build(py: Python<'_>, source: Source) -> PyResult<Self> {
        let compiled =
            enter(py, || compile(&Arc::new(source.parse()?), &CompileOptions::default()))?;
        Ok(Self { compiled: Arc::new(compiled), source, engines: Mutex::default() })
    }

    /// Bytes held by the compiled grammar and by what its engines have learnt.
    fn held(&self) -> usize {
        let engines: Vec<_> = self.engines.lock().iter().map(|(_, e)| Arc::clone(e)).collect();
        let compiled = self.compiled.memory_bytes();
        // Each engine counts the grammar that they all share.
        let learnt = engines.iter().map(|engine| engine.memory_bytes() - compiled);
        self.source.text.len() + compiled + learnt.sum::<usize>()
    }

    /// The engine for a vocabulary: the one that earlier matchers used, or a new one.
    ///
    /// To be called inside `enter`: it may wait for another thread that builds an engine.
    pub(super) fn engine(&self, vocabulary: &PyVocabulary) -> Result<Arc<Engine>, GrammarError> {
        let vocabulary = &vocabulary.inner;
        let mut engines = self.engines.lock();
        if let Some(at) = engines.iter().position(|(known, _)| Arc::ptr_eq(known, vocabulary)) {
            engines[at..].rotate_left(1);
        } else {
            let compiled = Arc::clone(&self.compiled);
            let options = EngineOptions::default();
            let engine = Engine::new(compiled, Arc::clone(vocabulary), options)?;
            if engines.len() == ENGINES {
                engines.remove(0);
            }
            engines.push((Arc::clone(vocabulary), Arc::new(engine)));
        }
        Ok(Arc::clone(&engines[engines.len() - 1].1))
    }
}

impl Source {
    fn parse(&self) -> Result<Grammar, GrammarError> {
        match self.language {
            Language::Regex => regex::parse(&self.text),
            Language::Gbnf => gbnf::parse(&self.text, &self.start),
            Language::Lark => lark::parse(&self.text, &self.start, &lark_library),
        }
    }
}

impl Language {
    fn name(self) -> &'static str {
        match self {
            Self::Regex => "regex",
            Self::Gbnf => "gbnf",
            Self::Lark => "lark",
        }
    }

    /// What Python calls the name of the rule that texts start with.
    fn start_argument(self) -> Option<&'static str> {
        match self {
            Self::Regex => None,
            Self::Gbnf => Some("root"),
            Self::Lark => Some("start"),
        }
    }
}

/// The text of a grammar file of the installed lark package, read when a grammar imports it.
fn lark_library(name: &str) -> Option<String> {
    Python::attach(|py| {
        let library = py.import("earmark.lark_library").ok()?;
        library.getattr("grammar_text").ok()?.call1((name,)).ok()?.extract().ok()?
    })
}
