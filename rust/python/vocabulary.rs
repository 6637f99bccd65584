//! `Vocabulary`: Python's tokens → the engine's vocabulary, and back.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

use super::arguments::{byte_count, count, out_of_range, token_id, token_ids, type_name};
use super::error::{enter, vocabulary_error};
use crate::index::{Id, TokenId};
use crate::vocab::Vocabulary;
use crate::vocab::decode::{PieceError, PieceKind, decode_piece};

/// The tokens of a model. See `_earmark.pyi`.
#[pyclass(frozen, weakref, module = "earmark", name = "Vocabulary")]
pub(super) struct PyVocabulary {
    pub(super) inner: Arc<Vocabulary>,
    /// The tokenizer's own `bytes → ids`, which `Matcher.forced_tokens` asks.
    encode: Option<Py<PyAny>>,
}

#[pymethods]
impl PyVocabulary {
    #[new]
    #[pyo3(signature = (tokens, *, eos_token_ids, special_token_ids = None, width = None, encode = None))]
    fn new(
        py: Python<'_>,
        tokens: &Bound<'_, PyAny>,
        eos_token_ids: &Bound<'_, PyAny>,
        special_token_ids: Option<&Bound<'_, PyAny>>,
        width: Option<&Bound<'_, PyAny>>,
        encode: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        // The first mask needs numpy; importing it takes a tenth of a second, better spent here.
        py.import("numpy")?;
        let tokens = token_texts(tokens)?;
        let eos = token_ids(eos_token_ids, vocabulary_error)?;
        let special = match special_token_ids {
            Some(ids) => token_ids(ids, vocabulary_error)?,
            None => Vec::new(),
        };
        let width = match width {
            Some(width) => Some(count("width", width)?.ok_or_else(|| {
                vocabulary_error(format!("width {width} is no number of logits"))
            })?),
            None => None,
        };
        if let Some(encode) = encode.as_ref().filter(|encode| !encode.is_callable()) {
            let kind = type_name(encode);
            return Err(PyTypeError::new_err(format!("encode is a function, not {kind}")));
        }
        let inner = enter(py, || Vocabulary::new(&tokens, &eos, &special, width))?;
        Ok(Self { inner: Arc::new(inner), encode: encode.map(Bound::unbind) })
    }

    #[classmethod]
    #[pyo3(signature = (tokenizer, *, width = None, eos_token_ids = None))]
    fn from_huggingface<'py>(
        class: &Bound<'py, PyType>,
        tokenizer: &Bound<'py, PyAny>,
        width: Option<Bound<'py, PyAny>>,
        eos_token_ids: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        from_adapter(class, "huggingface", tokenizer, width, eos_token_ids)
    }

    #[classmethod]
    #[pyo3(signature = (encoding, *, width = None, eos_token_ids = None))]
    fn from_tiktoken<'py>(
        class: &Bound<'py, PyType>,
        encoding: &Bound<'py, PyAny>,
        width: Option<Bound<'py, PyAny>>,
        eos_token_ids: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        from_adapter(class, "tiktoken", encoding, width, eos_token_ids)
    }

    #[classmethod]
    #[pyo3(signature = (tokenizer, *, width = None, eos_token_ids = None))]
    fn from_mistral<'py>(
        class: &Bound<'py, PyType>,
        tokenizer: &Bound<'py, PyAny>,
        width: Option<Bound<'py, PyAny>>,
        eos_token_ids: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        from_adapter(class, "mistral", tokenizer, width, eos_token_ids)
    }

    #[classmethod]
    #[pyo3(signature = (model, *, width = None, eos_token_ids = None))]
    fn from_llama_cpp<'py>(
        class: &Bound<'py, PyType>,
        model: &Bound<'py, PyAny>,
        width: Option<Bound<'py, PyAny>>,
        eos_token_ids: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        from_adapter(class, "llama_cpp", model, width, eos_token_ids)
    }

    #[classmethod]
    #[pyo3(signature = (path, *, width = None, eos_token_ids = None))]
    fn from_gguf<'py>(
        class: &Bound<'py, PyType>,
        path: &Bound<'py, PyAny>,
        width: Option<Bound<'py, PyAny>>,
        eos_token_ids: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        from_adapter(class, "gguf", path, width, eos_token_ids)
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    #[getter]
    fn width(&self) -> usize {
        self.inner.width()
    }

    #[getter]
    fn eos_token_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.eos().iter().map(|id| id.0).collect::<Vec<_>>())
    }

    #[getter]
    fn special_token_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.special())
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }

    #[getter]
    fn cache_limit(&self) -> usize {
        self.inner.cache_limit()
    }

    #[setter]
    fn set_cache_limit(&self, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        self.inner.set_cache_limit(byte_count("cache_limit", limit)?);
        Ok(())
    }

    #[getter]
    fn encode(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.encode.as_ref().map(|encode| encode.clone_ref(py))
    }

    fn token_bytes<'py>(&self, token_id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let known = self::token_id(token_id)?.filter(|&id| (id as usize) < self.inner.len());
        let Some(id) = known else {
            return Err(PyIndexError::new_err(out_of_range(token_id, self.inner.len())));
        };
        Ok(PyBytes::new(token_id.py(), self.inner.token_bytes(TokenId(id))))
    }

    /// Equal for vocabularies of the same tokens. For `earmark.llama_cpp`.
    fn _fingerprint(&self) -> u64 {
        self.inner.fingerprint()
    }

    /// Where in `text` a token could start that goes on past its end. For `earmark.forced`.
    fn _starts_of_longer_tokens(&self, text: &[u8]) -> Vec<usize> {
        let trie = &self.inner.trie;
        let first = text.len().saturating_sub(self.inner.longest_token());
        (first..text.len())
            .filter(|&start| {
                trie.find(&text[start..]).is_some_and(|node| trie.count_below(node) > 0)
            })
            .collect()
    }

    fn __repr__(&self) -> String {
        let eos: Vec<u32> = self.inner.eos().iter().map(|id| id.0).collect();
        format!(
            "Vocabulary({} tokens, width={}, eos_token_ids={eos:?}, {} special)",
            self.inner.len(),
            self.inner.width(),
            self.special().len()
        )
    }

    // Vocabularies never change, so a copy is the object itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyDict>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Rebuild<'py>> {
        let py = slf.py();
        let Self { inner, encode } = slf.get();
        let tokens: Vec<_> = (0..inner.len())
            .map(|id| PyBytes::new(py, inner.token_bytes(TokenId::new(id))))
            .collect();
        let options = PyDict::new(py);
        options.set_item("eos_token_ids", slf.get().eos_token_ids(py)?)?;
        options.set_item("special_token_ids", slf.get().special_token_ids(py)?)?;
        options.set_item("width", inner.width())?;
        let dumps = py.import("pickle")?.getattr("dumps")?;
        options
            .set_item("encode", encode.as_ref().filter(|&encode| dumps.call1((encode,)).is_ok()))?;
        let partial = py.import("functools")?.getattr("partial")?;
        Ok((partial.call((slf.get_type(),), Some(&options))?, (tokens,)))
    }

    // `encode` may refer to an object that refers to this vocabulary. A frozen object can't drop
    // it; the garbage collector breaks the cycle at the other object.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.encode.as_ref().map_or(Ok(()), |encode| visit.call(encode))
    }
}

/// What pickle wants: a function and its arguments.
type Rebuild<'py> = (Bound<'py, PyAny>, (Vec<Bound<'py, PyBytes>>,));

impl PyVocabulary {
    fn special(&self) -> Vec<u32> {
        let ids = (0..self.inner.len()).map(TokenId::new);
        ids.filter(|&id| self.inner.is_special(id)).map(|id| id.0).collect()
    }
}

fn token_texts(tokens: &Bound<'_, PyAny>) -> PyResult<Vec<PyBackedBytes>> {
    let mut texts = Vec::with_capacity(tokens.len().unwrap_or(0));
    for token in tokens.try_iter()? {
        let token = token?;
        let Ok(bytes) = token.cast::<PyBytes>() else {
            return Err(PyTypeError::new_err(format!(
                "tokens[{}] is {}, not bytes; Vocabulary takes each token's raw bytes, \
                 which the from_… methods find for a tokenizer",
                texts.len(),
                type_name(&token)
            )));
        };
        texts.push(PyBackedBytes::from(bytes.clone()));
    }
    Ok(texts)
}

/// Asks the adapter, which is Python, for a tokenizer's parts.
fn from_adapter<'py>(
    class: &Bound<'py, PyType>,
    adapter: &str,
    source: &Bound<'py, PyAny>,
    width: Option<Bound<'py, PyAny>>,
    eos_token_ids: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let options = PyDict::new(py);
    options.set_item("width", width)?;
    options.set_item("eos_token_ids", eos_token_ids)?;
    let adapter = py.import(format!("earmark.adapters.{adapter}"))?;
    let parts = adapter.getattr("parts")?.call((source,), Some(&options))?;
    let arguments = PyDict::new(py);
    for name in ["eos_token_ids", "special_token_ids", "width", "encode"] {
        arguments.set_item(name, parts.getattr(name)?)?;
    }
    class.call((parts.getattr("tokens")?,), Some(&arguments))
}

/// A piece of a tokenizer's vocabulary: text, or its UTF-8.
pub(super) enum Piece {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl<'py> FromPyObject<'_, 'py> for Piece {
    type Error = PyErr;

    // PERF: derived, it makes an exception for each of 128,256 pieces that are bytes: 120 ms.
    fn extract(piece: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match piece.cast::<PyBytes>() {
            Ok(bytes) => Ok(Self::Bytes(PyBackedBytes::from(bytes.to_owned()))),
            Err(_) => Ok(Self::Text(piece.extract()?)),
        }
    }
}

/// The bytes that the pieces of a tokenizer's vocabulary stand for: `b""` for `None`, `None` for a
/// piece that its encoding can't have written.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are owned")]
pub(super) fn decode_pieces<'py>(
    py: Python<'py>,
    pieces: Vec<Option<Piece>>,
    kind: &str,
) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
    let kind: PieceKind =
        kind.parse().map_err(|error: PieceError| vocabulary_error(error.to_string()))?;
    let mut decoded = Vec::with_capacity(pieces.len());
    let mut bytes = Vec::new();
    for (token, piece) in pieces.iter().enumerate() {
        bytes.clear();
        let known = match piece {
            None => true,
            Some(Piece::Text(text)) => decode_piece(kind, text, &mut bytes).is_ok(),
            Some(Piece::Bytes(utf8)) => {
                let text = std::str::from_utf8(utf8).map_err(|_| {
                    let shown = PyBytes::new(py, utf8);
                    vocabulary_error(format!("token {token} is no UTF-8 text: {shown:?}"))
                })?;
                decode_piece(kind, text, &mut bytes).is_ok()
            }
        };
        decoded.push(known.then(|| PyBytes::new(py, &bytes)));
    }
    Ok(decoded)
}
