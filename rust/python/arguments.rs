//! Python arguments → engine arguments.
//!
//! A token id is any Python or numpy integer. `bool` and `float` are refused although Python
//! would convert them: `accept(True)` is a mistake, not token 1.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use super::error::match_error;
use crate::error::{GrammarError, GrammarErrorKind};

/// A token id as the caller gave it: `None` for integers that no vocabulary has an id for.
pub(super) fn token_id(token: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    integer(token, "a token id")
}

/// A token id that must be one, for calls that raise `MatchError`.
pub(super) fn known_token_id(token: &Bound<'_, PyAny>, width: usize) -> PyResult<u32> {
    token_id(token)?.ok_or_else(|| match_error(out_of_range(token, width)))
}

/// What is wrong with an id that is no `u32`.
pub(super) fn out_of_range(token: &Bound<'_, PyAny>, width: usize) -> String {
    format!(
        "token id {token} is out of range: the vocabulary has ids 0 to {}",
        width.saturating_sub(1)
    )
}

/// One id or an iterable of ids; `wrong` makes the exception for an integer out of range.
pub(super) fn token_ids(
    ids: &Bound<'_, PyAny>,
    wrong: impl Fn(String) -> PyErr,
) -> PyResult<Vec<u32>> {
    let id = |id: &Bound<'_, PyAny>| {
        token_id(id)?.ok_or_else(|| wrong(format!("token id {id} is out of range")))
    };
    if ids.is_instance_of::<PyBool>() || is_integer(ids) {
        return Ok(vec![id(ids)?]);
    }
    ids.try_iter()?.map(|item| id(&item?)).collect()
}

/// A count or an index; `name` is the argument's. `None` for integers that don't fit.
pub(super) fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    integer(value, name)
}

/// A number of bytes; `name` is the argument's.
pub(super) fn byte_count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    count(name, value)?.ok_or_else(|| {
        PyValueError::new_err(format!("{name} is {value}; give a number of bytes, 0 or more"))
    })
}

/// A grammar's text. Python strings may hold lone surrogates, which no text has.
pub(super) fn grammar_text(name: &str, text: &Bound<'_, PyAny>) -> PyResult<String> {
    let Ok(string) = text.cast::<PyString>() else {
        let kind = type_name(text);
        return Err(PyTypeError::new_err(format!("{name} is a str, not {kind}")));
    };
    match string.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(GrammarError::new(
            GrammarErrorKind::Syntax,
            format!("{name} is not valid Unicode: it holds a lone surrogate (U+D800 to U+DFFF)"),
        )
        .with_hint("write the character itself; for raw bytes use an escape of the language")
        .into()),
    }
}

/// The name of a value's type, for messages.
pub(super) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this type".to_owned(), |name| name.to_string())
}

/// An integer of any type; `None` if `T` can't hold it.
fn integer<'py, T>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let error = if value.is_instance_of::<PyBool>() {
        None
    } else {
        match value.extract() {
            Ok(value) => return Ok(Some(value)),
            Err(error) => Some(error),
        }
    };
    let py = value.py();
    match error {
        Some(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(None),
        Some(error) if !error.is_instance_of::<PyTypeError>(py) => Err(error),
        _ => {
            let kind = type_name(value);
            Err(PyTypeError::new_err(format!("{name} is an int, not {kind}")))
        }
    }
}

/// Whether a value is one integer, which a sequence of integers is not.
fn is_integer(value: &Bound<'_, PyAny>) -> bool {
    integer::<u32>(value, "").is_ok()
}
