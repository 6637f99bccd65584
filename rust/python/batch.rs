//! `fill_masks` and `accept_all`: the matchers of a batch in one call.
//!
//! All arguments are checked before anything is done. Then the interpreter is freed once, and the
//! rows are spread over threads.

use std::convert::Infallible;

use numpy::{PyArray1, ToPyArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::arguments::{count, token_id, type_name};
use super::buffer::MaskBuffer;
use super::error::enter;
use super::matcher::PyMatcher;
use crate::spread::{cores, spread};

/// The fewest rows for which a thread more is worth its start, unless the caller says.
const ROWS_A_THREAD: usize = 32;

/// See `_earmark.pyi`.
#[pyfunction]
#[pyo3(signature = (matchers, out, *, rows = None, threads = None))]
pub(super) fn fill_masks(
    py: Python<'_>,
    matchers: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    rows: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let matchers = distinct(matchers)?;
    let rows = rows.map(|rows| row_numbers(rows, matchers.len())).transpose()?;
    let threads = thread_count(threads, matchers.len())?;
    let Some(first) = matchers.first() else { return Ok(()) };
    let words = first.get().words();
    for (at, matcher) in matchers.iter().enumerate() {
        if matcher.get().words() != words {
            return Err(PyValueError::new_err(format!(
                "matchers[{at}] has masks of {} words, matchers[0] of {words}; \
                 fill arrays of their own for vocabularies of other widths",
                matcher.get().words()
            )));
        }
    }
    let mut buffer = MaskBuffer::new(out, words)?;
    let rows = rows.unwrap_or_else(|| (0..matchers.len()).map(Some).collect());
    let words = buffer.rows(&rows)?;
    let mut work: Vec<_> = matchers.iter().map(Bound::get).zip(words).collect();
    enter(py, || {
        spread(&mut work, threads, |(matcher, words)| matcher.inner.lock().fill_mask(words));
        Ok::<_, Infallible>(())
    })
}

/// See `_earmark.pyi`.
#[pyfunction]
#[pyo3(signature = (matchers, token_ids, *, threads = None))]
pub(super) fn accept_all<'py>(
    py: Python<'py>,
    matchers: &Bound<'py, PyAny>,
    token_ids: &Bound<'py, PyAny>,
    threads: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let matchers = distinct(matchers)?;
    let tokens = integers("token_ids", token_ids, token_id)?;
    if tokens.len() != matchers.len() {
        return Err(PyValueError::new_err(format!(
            "{} token ids for {} matchers; give each one",
            tokens.len(),
            matchers.len()
        )));
    }
    let threads = thread_count(threads, matchers.len())?;
    let mut accepted = vec![false; tokens.len()];
    let mut work: Vec<_> = matchers.iter().map(Bound::get).zip(tokens).zip(&mut accepted).collect();
    enter(py, || {
        spread(&mut work, threads, |((matcher, token), accepted)| {
            // No vocabulary has an id that is no `u32`.
            **accepted = token.is_some_and(|token| matcher.inner.lock().try_accept(token));
        });
        Ok::<_, Infallible>(())
    })?;
    Ok(accepted.to_pyarray(py))
}

/// The matchers of an iterable, no two of which may be the same.
fn distinct<'py>(matchers: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyMatcher>>> {
    let mut found: Vec<Bound<'py, PyMatcher>> = Vec::with_capacity(matchers.len().unwrap_or(0));
    let mut places = FxHashMap::default();
    for (at, matcher) in matchers.try_iter()?.enumerate() {
        let matcher = matcher?;
        let Ok(matcher) = matcher.cast::<PyMatcher>() else {
            let kind = type_name(&matcher);
            return Err(PyTypeError::new_err(format!("matchers[{at}] is no Matcher but a {kind}")));
        };
        if let Some(before) = places.insert(matcher.as_ptr() as usize, at) {
            return Err(PyValueError::new_err(format!(
                "matchers[{before}] and matchers[{at}] are the same; \
                 each row needs a matcher of its own, fork() makes one"
            )));
        }
        found.push(matcher.clone());
    }
    Ok(found)
}

/// The numbers of `rows`, one for each matcher; `None` stands for a number that no row has.
fn row_numbers(rows: &Bound<'_, PyAny>, matchers: usize) -> PyResult<Vec<Option<usize>>> {
    let rows = integers("rows", rows, |row| count("row", row))?;
    if rows.len() == matchers {
        Ok(rows)
    } else {
        let given = rows.len();
        Err(PyValueError::new_err(format!("{given} rows for {matchers} matchers; give each one")))
    }
}

/// The integers of an iterable; `read` reads one. `name` is the argument's.
fn integers<T>(
    name: &str,
    values: &Bound<'_, PyAny>,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<Option<T>>,
) -> PyResult<Vec<Option<T>>> {
    // Those of an array or tensor are read faster one by one when they are Python's own.
    let values = match values.getattr_opt(intern!(values.py(), "tolist"))? {
        Some(tolist) => tolist.call0()?,
        None => values.clone(),
    };
    let read = |(at, value): (usize, PyResult<_>)| {
        let value = value?;
        read(&value).or_else(|_| {
            // Once more, to say which one it is.
            count(&format!("{name}[{at}]"), &value).map(|_| None)
        })
    };
    values.try_iter()?.enumerate().map(read).collect()
}

fn thread_count(threads: Option<&Bound<'_, PyAny>>, rows: usize) -> PyResult<usize> {
    match threads {
        None => Ok(cores().min(rows.div_ceil(ROWS_A_THREAD))),
        Some(threads) => match count("threads", threads)? {
            Some(0) => Err(no_threads(threads)),
            Some(count) => Ok(count),
            None if threads.lt(0)? => Err(no_threads(threads)),
            None => Ok(usize::MAX),
        },
    }
}

fn no_threads(threads: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!(
        "threads is {threads}; give at least 1, or None to let it depend"
    ))
}
