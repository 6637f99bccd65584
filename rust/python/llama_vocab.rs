//! A loaded llama.cpp model's table of tokens, read by llama.cpp's own functions.
//!
//! A call of `ctypes` takes longer than all else that is done for a token, and there are three for
//! each of 100,000 and more.

#![allow(unsafe_code, reason = "llama.cpp's interface is C")]

use std::ffi::{CStr, c_char, c_void};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

type Text = unsafe extern "C" fn(*const c_void, i32) -> *const c_char;
type Attributes = unsafe extern "C" fn(*const c_void, i32) -> i32;
type IsEnd = unsafe extern "C" fn(*const c_void, i32) -> bool;

/// Addresses of `llama_vocab_get_text`, `llama_vocab_get_attr` and `llama_vocab_is_eog`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Functions {
    text: usize,
    attributes: usize,
    is_end: usize,
}

/// Texts, attributes (`llama_token_attr`, 0 for tokens without text) and the ids that end a generation.
type Table<'py> = (Vec<Bound<'py, PyBytes>>, Vec<i32>, Vec<i32>);

/// The texts and attributes of the tokens of a `llama_vocab`. See `_earmark.pyi`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are owned")]
pub(super) fn llama_vocab_table(
    py: Python<'_>,
    vocab: usize,
    count: i32,
    functions: Functions,
) -> PyResult<Table<'_>> {
    if [vocab, functions.text, functions.attributes, functions.is_end].contains(&0) {
        return Err(PyValueError::new_err("an address of llama.cpp is null"));
    }
    // SAFETY: Python took the addresses of these functions from the loaded library, which is never
    // unloaded; `llama.h` has them with these types. They are not null.
    let (text, attributes, is_end) = unsafe {
        (
            std::mem::transmute::<usize, Text>(functions.text),
            std::mem::transmute::<usize, Attributes>(functions.attributes),
            std::mem::transmute::<usize, IsEnd>(functions.is_end),
        )
    };
    let vocab = vocab as *const c_void;
    let mut texts = Vec::new();
    let mut kinds = Vec::new();
    let mut ends = Vec::new();
    for token in 0..count {
        // SAFETY: `vocab` is that of a model that Python holds, and `token` one of its tokens, of
        // which there are `count`. The text is the vocabulary's own and ends in a zero.
        let (bytes, attributes, is_end) = unsafe {
            let text = text(vocab, token);
            let bytes = if text.is_null() { &[] } else { CStr::from_ptr(text).to_bytes() };
            (bytes, attributes(vocab, token), is_end(vocab, token))
        };
        texts.push(PyBytes::new(py, bytes));
        kinds.push(if is_made_up(bytes, token) { 0 } else { attributes });
        if is_end {
            ends.push(token);
        }
    }
    Ok((texts, kinds, ends))
}

/// Whether a text is the name that llama.cpp makes up for a token without text.
fn is_made_up(text: &[u8], token: i32) -> bool {
    text.starts_with(b"[EMPTY_") && text == format!("[EMPTY_{token}]").as_bytes()
}
