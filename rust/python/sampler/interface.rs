//! The table of functions of a `llama_sampler`, laid out as the installed llama.cpp wants it.
//!
//! `llama_sampler_i` of `llama.h` grows: newer versions have functions for samplers that run on a
//! device. Python reads the offsets from the library's own definition; what is not known here is
//! null, which llama.cpp takes for "has none".

use std::ffi::c_void;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `llama_sampler` of `llama.h`; it is allocated by llama.cpp and may be longer.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RawSampler {
    pub(super) interface: *const c_void,
    pub(super) context: *mut c_void,
}

/// `llama_sampler_init`: allocates a sampler.
pub(super) type Init = unsafe extern "C" fn(*const c_void, *mut c_void) -> *mut RawSampler;

/// Where the library's `llama_sampler_i` has the functions that a sampler needs, in bytes, and the
/// address of its `llama_sampler_init`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Layout {
    size: usize,
    name: usize,
    accept: usize,
    apply: usize,
    reset: usize,
    clone: usize,
    free: usize,
    init: usize,
}

/// A table of functions. llama.cpp keeps a pointer to it, so that it must live as long as the
/// samplers that were made with it: each of them holds it.
pub(super) struct Interface {
    words: Box<[usize]>,
    pub(super) init: Init,
}

/// The functions, in the order of [`Layout`]'s fields.
pub(super) struct Functions {
    pub(super) name: usize,
    pub(super) accept: usize,
    pub(super) apply: usize,
    pub(super) reset: usize,
    pub(super) clone: usize,
    pub(super) free: usize,
}

impl Interface {
    /// Puts the functions where the layout has them; null everywhere else.
    pub(super) fn new(layout: &Layout, init: Init, functions: &Functions) -> PyResult<Self> {
        const WORD: usize = size_of::<usize>();
        let mut words = vec![0; layout.size / WORD].into_boxed_slice();
        let places = [
            ("name", layout.name, functions.name),
            ("accept", layout.accept, functions.accept),
            ("apply", layout.apply, functions.apply),
            ("reset", layout.reset, functions.reset),
            ("clone", layout.clone, functions.clone),
            ("free", layout.free, functions.free),
        ];
        for (name, offset, function) in places {
            match words.get_mut(offset / WORD) {
                Some(word) if offset % WORD == 0 && *word == 0 => *word = function,
                _ => {
                    return Err(PyValueError::new_err(format!(
                        "llama_sampler_i has no room for the function {name} at byte {offset} of {}",
                        layout.size
                    )));
                }
            }
        }
        Ok(Self { words, init })
    }

    pub(super) fn as_ptr(&self) -> *const c_void {
        self.words.as_ptr().cast()
    }
}

impl Layout {
    pub(super) fn init(&self) -> usize {
        self.init
    }
}
