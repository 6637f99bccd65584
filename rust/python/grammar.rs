//! `Grammar`: text of one of the grammar languages → a compiled grammar.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyType};

use super::arguments::{byte_count, grammar_text};
use super::error::enter;
use super::schema::{ignored_keywords, schema_report, schema_text};
use super::schema_options::{keywords, options};
use super::vocabulary::PyVocabulary;
use crate::compile::{CompileOptions, CompiledGrammar, compile};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::{self, Finding, Options};
use crate::frontend::{gbnf, lark, regex};
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
    /// Keywords of a schema that the grammar does not enforce.
    ignored: Vec<Finding>,
    /// Engines with the vocabularies they are for, most recently used last: matchers of the same
    /// pair share what they learn. Past `ENGINES` the first is dropped.
    engines: Mutex<Vec<(Arc<Vocabulary>, Arc<Engine>)>>,
    /// The most bytes that the caches of each engine hold.
    cache_limit: AtomicUsize,
}

/// What a grammar was made from.
struct Source {
    text: String,
    language: Language,
}

/// How the text is read.
enum Language {
    Regex,
    /// With the rule that texts start with.
    Gbnf(String),
    /// With the rule that texts start with.
    Lark(String),
    JsonSchema(Box<Options>),
}

#[pymethods]
impl PyGrammar {
    #[classmethod]
    fn from_regex(class: &Bound<'_, PyType>, pattern: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = grammar_text("pattern", pattern)?;
        Self::build(class.py(), Source { text, language: Language::Regex })
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
        Self::build(class.py(), Source { text, language: Language::Gbnf(start) })
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
        Self::build(class.py(), Source { text, language: Language::Lark(start) })
    }

    #[classmethod]
    #[pyo3(
        signature = (schema, **arguments),
        text_signature = "(schema, *, whitespace='flexible', separators=None, indent=None, \
            property_order='schema', additional_properties=True, escapes='minimal', \
            max_number_digits=40, integer_fractions=True, formats=True, unsupported='reject', \
            resources=None, limits=None)"
    )]
    /// A grammar for the JSON texts whose value is valid under a schema.
    ///
    /// schema: JSON text, a dict, a bool, or a type (a Pydantic model, a dataclass, any annotation).
    /// whitespace: "flexible" (runs of at most 64 characters), "compact" (none) or "any".
    /// separators, indent: one spelling, as json.dumps writes it.
    /// `property_order`: "schema" (as in `properties`, then others) or "any".
    /// `additional_properties`: False closes objects that name properties and don't say.
    /// escapes: "minimal" (one spelling a character) or "all".
    /// `max_number_digits`: before the point and behind it; None for any number.
    /// `integer_fractions`: whether 1.0 and 1e2 are spellings of integers.
    /// formats: whether `format` constrains.
    /// unsupported: "reject" what can't be enforced, or "ignore" it (see `ignored_keywords`).
    /// resources: schemas that references may lead to, by absolute URI.
    /// limits: how much a schema may ask for, by the names that `LimitError`s tell.
    ///
    /// Raises `GrammarError` with the JSON pointer of what is wrong, `LimitError` past a limit. The
    /// reference is in the package's stub, docs/json-schema.md says what each keyword means.
    fn from_json_schema(
        class: &Bound<'_, PyType>,
        schema: &Bound<'_, PyAny>,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = options(arguments)?;
        let text = schema_text(schema, &options.limits)?;
        Self::build(class.py(), Source { text, language: Language::JsonSchema(Box::new(options)) })
    }

    #[staticmethod]
    #[pyo3(
        name = "schema_report",
        signature = (schema, **arguments),
        text_signature = "(schema, *, whitespace='flexible', separators=None, indent=None, \
            property_order='schema', additional_properties=True, escapes='minimal', \
            max_number_digits=40, integer_fractions=True, formats=True, unsupported='reject', \
            resources=None, limits=None)"
    )]
    fn report<'py>(
        schema: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options(arguments)?;
        let text = schema_text(schema, &options.limits)?;
        let findings = enter(schema.py(), || json_schema::report(&text, &options))?;
        schema_report(schema.py(), &findings, options.reject_unsupported)
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
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Source { text, language } = &self.source;
        let arguments = (language.name(), text, language.arguments(py)?, env!("CARGO_PKG_VERSION"));
        py.import("earmark.reports")?.getattr("grammar_info")?.call1(arguments)
    }

    #[getter]
    fn ignored_keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ignored_keywords(py, &self.ignored)
    }

    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        // An engine may be busy: its caches are behind a lock.
        enter(py, || Ok::<_, Infallible>(self.held()))
    }

    #[getter]
    fn cache_limit(&self) -> usize {
        self.cache_limit.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_cache_limit(&self, py: Python<'_>, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let limit = byte_count("cache_limit", limit)?;
        self.cache_limit.store(limit, Ordering::Relaxed);
        enter(py, || {
            let engines = self.engines.lock();
            engines.iter().for_each(|(_, engine)| engine.set_cache_limit(limit));
            Ok::<_, Infallible>(())
        })
    }

    fn __str__(&self) -> String {
        self.compiled.source.print_used()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Source { text, language } = &self.source;
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if shown.len() < text.len() { "…" } else { "" };
        let mut shown = PyString::new(py, &(shown + more)).repr()?.to_string();
        let usual = language.usual_arguments(py)?;
        for (name, value) in language.arguments(py)? {
            let told = match usual.get_item(&name)? {
                Some(usual) => !usual.eq(&value)?,
                None => true,
            };
            if told {
                shown.push_str(", ");
                shown.push_str(&name.str()?.to_string_lossy());
                shown.push('=');
                shown.push_str(&value.repr()?.to_string_lossy());
            }
        }
        Ok(format!("Grammar.from_{}({shown})", language.name()))
    }

    // Grammars never change, so a copy is the object itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyDict>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let py = slf.py();
        let Source { text, language } = &slf.get().source;
        let constructor = slf.get_type().getattr(format!("from_{}", language.name()))?;
        // Options go by name only, which pickle has no other way for.
        let partial = py.import("functools")?.getattr("partial")?;
        let constructor = partial.call((constructor,), Some(&language.arguments(py)?))?;
        Ok((constructor, (text.clone(),)))
    }
}

impl PyGrammar {
    fn build(py: Python<'_>, source: Source) -> PyResult<Self> {
        let (compiled, ignored) = enter(py, || source.compile())?;
        let compiled = Arc::new(compiled);
        let cache_limit = AtomicUsize::new(EngineOptions::default().cache_bytes);
        Ok(Self { compiled, source, ignored, engines: Mutex::default(), cache_limit })
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
            let options =
                EngineOptions { cache_bytes: self.cache_limit(), ..EngineOptions::default() };
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
    fn compile(&self) -> Result<(CompiledGrammar, Vec<Finding>), GrammarError> {
        let text = &self.text;
        let grammar = match &self.language {
            Language::Regex => regex::parse(text)?,
            Language::Gbnf(root) => gbnf::parse(text, root)?,
            Language::Lark(start) => lark::parse(text, start, &lark_library)?,
            Language::JsonSchema(options) => return compile_schema(text, options),
        };
        Ok((compile(&Arc::new(grammar), &CompileOptions::default())?, Vec::new()))
    }
}

fn compile_schema(
    text: &str,
    options: &Options,
) -> Result<(CompiledGrammar, Vec<Finding>), GrammarError> {
    let mut parsed = json_schema::parse(text, options)?;
    let ignored = std::mem::take(&mut parsed.ignored);
    match parsed.compile() {
        Err(error) if error.kind() == GrammarErrorKind::Empty => {
            Err(json_schema::why_empty(text, options))
        }
        // What is too large is not known by its place.
        Err(error) if error.kind() == GrammarErrorKind::Limit => Err(error.at_pointer("")),
        compiled => Ok((compiled?, ignored)),
    }
}

impl Language {
    fn name(&self) -> &'static str {
        match self {
            Self::Regex => "regex",
            Self::Gbnf(_) => "gbnf",
            Self::Lark(_) => "lark",
            Self::JsonSchema(_) => "json_schema",
        }
    }

    /// The keyword arguments of the constructor.
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arguments = PyDict::new(py);
        match self {
            Self::Regex => {}
            Self::Gbnf(root) => arguments.set_item("root", root)?,
            Self::Lark(start) => arguments.set_item("start", start)?,
            Self::JsonSchema(options) => return keywords(py, options),
        }
        Ok(arguments)
    }

    /// Arguments that a repr leaves out where they have these values.
    fn usual_arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self {
            Self::JsonSchema(_) => keywords(py, &Options::default()),
            _ => Ok(PyDict::new(py)),
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
