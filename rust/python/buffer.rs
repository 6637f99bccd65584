//! A mask's words inside memory that Python owns. The only unsafe code of the bindings.
//!
//! A mask is 16 KB for 128,000 tokens and is rewritten before every sample, so the engine writes
//! straight into the caller's array: no copy, no allocation.

#![allow(unsafe_code, reason = "the engine writes into memory that Python owns")]

use numpy::{PyArray1, PyArrayMethods};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use super::arguments::type_name;

/// Rows of mask words in a caller's buffer, which can't be freed or resized while this lives.
pub(super) struct MaskBuffer {
    buffer: PyUntypedBuffer,
    words: usize,
}

impl MaskBuffer {
    /// The buffer of `out`, which must hold 32-bit integers, be writable and C-contiguous, and
    /// have shape `(words,)` or `(batch, words)`.
    pub(super) fn new(out: &Bound<'_, PyAny>, words: usize) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(out).or_else(|_| numpy_buffer(out))?;
        if !holds_words(&buffer) {
            return Err(PyTypeError::new_err(format!(
                "out holds items of format '{}' and {} bytes; \
                 masks need aligned 32-bit integers (int32 or uint32)",
                buffer.format().to_string_lossy(),
                buffer.item_size()
            )));
        }
        if !matches!(buffer.shape(), [last] | [_, last] if *last == words) {
            return Err(PyValueError::new_err(format!(
                "out has shape {}; this vocabulary needs ({words},) or (batch, {words}), \
                 as allocate_masks(batch, vocabulary) gives",
                show_shape(buffer.shape())
            )));
        }
        if buffer.readonly() {
            return Err(PyValueError::new_err("out is read-only; masks are written into it"));
        }
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err(
                "out is not C-contiguous; pass the whole array and the row's number",
            ));
        }
        Ok(Self { buffer, words })
    }

    /// One row's words; `None` stands for a number that no row has.
    pub(super) fn row(&mut self, row: Option<usize>) -> PyResult<&mut [u32]> {
        let mut rows = self.rows(&[row])?;
        Ok(rows.remove(0))
    }

    /// The words of some rows, in the order given.
    pub(super) fn rows(&mut self, rows: &[Option<usize>]) -> PyResult<Vec<&mut [u32]>> {
        let all = if self.buffer.dimensions() == 1 { 1 } else { self.buffer.shape()[0] };
        let mut known = Vec::with_capacity(rows.len());
        for &row in rows {
            known.push(row.filter(|&row| row < all).ok_or_else(|| {
                let which = row.map_or_else(String::new, |row| format!(" {row}"));
                PyIndexError::new_err(format!("row{which} is out of range: out has {all} rows"))
            })?);
        }
        let mut sorted = known.clone();
        sorted.sort_unstable();
        if let Some([twice, ..]) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PyValueError::new_err(format!(
                "row {twice} is given twice; each matcher needs a row of its own"
            )));
        }
        debug_assert!(all * self.words <= self.buffer.item_count());
        // SAFETY: `new` checked that the buffer is writable, C-contiguous and of aligned 32-bit
        // integers, and these are some of its rows, each once. It is held, so the memory stays.
        // Another thread that writes such a row meanwhile races as it would with numpy's own
        // writes.
        let words = known.into_iter().map(|row| unsafe {
            let first = self.buffer.buf_ptr().cast::<u32>().add(row * self.words);
            std::slice::from_raw_parts_mut(first, self.words)
        });
        Ok(words.collect())
    }
}

/// Whether the items are aligned 32-bit integers of this machine's byte order.
///
/// `PyUntypedBuffer::as_typed` of `pyo3` 0.30 can't be asked: it takes `>i`, the other order, for
/// `i`.
fn holds_words(buffer: &PyUntypedBuffer) -> bool {
    const NATIVE: u8 = if cfg!(target_endian = "little") { b'<' } else { b'>' };
    let integers = match buffer.format().to_bytes() {
        [kind] | [b'@' | b'=' | NATIVE, kind] => b"iIlL".contains(kind),
        _ => false,
    };
    integers
        && buffer.item_size() == size_of::<u32>()
        && buffer.buf_ptr().cast::<u32>().is_aligned()
}

/// A new array of mask words, all 0, and the words themselves.
pub(super) fn new_mask(py: Python<'_>, words: usize) -> (Bound<'_, PyArray1<i32>>, &mut [u32]) {
    let array = PyArray1::<i32>::zeros(py, words, false);
    // SAFETY: the array is new, so nothing else refers to its `words` contiguous, initialised
    // items; the caller keeps it until the words are written.
    let words = unsafe { std::slice::from_raw_parts_mut(array.data().cast::<u32>(), words) };
    (array, words)
}

/// The buffer of what is no buffer itself but shares its memory with a numpy array, as a torch
/// tensor in CPU memory does.
fn numpy_buffer(out: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let needed = || {
        PyTypeError::new_err(format!(
            "out is a {}; masks need an int32 array, \
             such as allocate_masks(batch, vocabulary) gives",
            type_name(out)
        ))
    };
    let Ok(numpy) = out.getattr(intern!(out.py(), "numpy")) else { return Err(needed()) };
    PyUntypedBuffer::get(&numpy.call0()?).map_err(|_| needed())
}

fn show_shape(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
