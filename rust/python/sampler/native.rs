//! A `llama_sampler` over a matcher: what llama.cpp calls before and after each token.
//!
//! The functions are those of `llama_sampler_i` (`llama.h`). They run without Python, on whatever
//! thread llama.cpp is called from. Nothing may leave them but by returning: an error or a panic is
//! kept in the sampler's [`State`] for Python to raise after the call, and llama.cpp, which ends
//! the process when it finds no candidate, always keeps one.

#![allow(unsafe_code, reason = "llama.cpp's interface is C: raw pointers to what it owns")]

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;

use super::allowed::Allowed;
use super::candidates::{CandidateArray, is_untouched};
use super::interface::{Functions, Init, Interface, RawSampler};
use crate::error::MatchError;
use crate::matcher::Matcher;
use crate::python::error::panic_text;

/// The name that `llama_sampler_name` gives.
const NAME: &CStr = c"earmark";

/// What a sampler knows. Python's handle shares it.
pub(super) struct State {
    pub(super) matcher: Matcher,
    allowed: Allowed,
    /// The first error since Python last asked.
    pub(super) failure: Option<Failure>,
}

/// What went wrong in a call by llama.cpp.
#[derive(Debug)]
pub(super) enum Failure {
    /// A token that was not allowed was accepted.
    Refused(MatchError),
    /// A token that the vocabulary has not.
    OtherVocabulary { token: i32, width: usize },
    /// The candidates are all tokens of a smaller vocabulary.
    SmallerVocabulary { candidates: usize, width: usize },
    /// No candidate is allowed.
    NoCandidate { candidates: usize, allowed: usize },
    /// A bug.
    Panic(String),
}

/// `llama_sampler.ctx`.
struct Context {
    state: Arc<Mutex<State>>,
    interface: Arc<Interface>,
}

impl State {
    pub(super) fn new(matcher: Matcher) -> Self {
        let allowed = Allowed::new(matcher.width());
        Self { matcher, allowed, failure: None }
    }

    fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Takes away the candidates that are not allowed; at least one stays.
    fn apply(&mut self, array: &mut CandidateArray) {
        if array.size == 0 || array.data.is_null() {
            return;
        }
        // SAFETY: `llama_sampler_apply` gives an array of `size` candidates that only its samplers
        // use, one after the other.
        let candidates = unsafe { std::slice::from_raw_parts_mut(array.data, array.size) };
        let width = self.matcher.width();
        let last = candidates[candidates.len() - 1].id;
        if candidates.len() > width || usize::try_from(last).map_or(true, |last| last >= width) {
            self.fail(Failure::OtherVocabulary { token: last, width });
            return;
        }
        if candidates.len() < width && is_untouched(candidates) {
            self.fail(Failure::SmallerVocabulary { candidates: candidates.len(), width });
            return;
        }
        let kept = match self.allowed.keep(&mut self.matcher, candidates) {
            Ok(kept) => kept,
            Err(allowed) => {
                return self.fail(Failure::NoCandidate { candidates: array.size, allowed });
            }
        };
        // Some that are left may have been made impossible where they are.
        array.sorted &= kept < array.size;
        array.size = kept;
        array.selected = -1;
    }

    fn accept(&mut self, token: i32) {
        let accepted = match u32::try_from(token) {
            // The end may come again after the end; see `apply`.
            Ok(token) if self.matcher.is_finished() && self.is_end(token) => Ok(()),
            Ok(token) => self.matcher.accept(token),
            Err(_) => {
                let width = self.matcher.width();
                return self.fail(Failure::OtherVocabulary { token, width });
            }
        };
        if let Err(error) = accepted {
            self.fail(Failure::Refused(error));
        }
    }

    fn is_end(&self, token: u32) -> bool {
        self.matcher.engine().vocabulary().eos().iter().any(|id| id.0 == token)
    }
}

/// Our functions' addresses.
pub(super) fn functions() -> Functions {
    Functions {
        name: name as *const () as usize,
        accept: accept as *const () as usize,
        apply: apply as *const () as usize,
        reset: reset as *const () as usize,
        clone: clone as *const () as usize,
        free: free as *const () as usize,
    }
}

/// The library's `llama_sampler_init` from its address; `None` for null.
pub(super) fn init_function(address: usize) -> Option<Init> {
    // SAFETY: Python took the address of `llama_sampler_init` from the loaded library, which is
    // never unloaded. An `Option` of a function pointer has null for `None`.
    unsafe { std::mem::transmute::<usize, Option<Init>>(address) }
}

/// A new sampler, owned by who calls `llama_sampler_free` or adds it to a chain; null if llama.cpp
/// has no memory.
pub(super) fn create(interface: &Arc<Interface>, state: Arc<Mutex<State>>) -> *mut RawSampler {
    let context = Box::new(Context { state, interface: Arc::clone(interface) });
    let context = Box::into_raw(context);
    // SAFETY: `init` is `llama_sampler_init`; it keeps both pointers. The table lives as long as
    // the context, which holds it.
    let sampler = unsafe { (interface.init)(interface.as_ptr(), context.cast()) };
    if sampler.is_null() {
        // SAFETY: the pointer is that of the box above, and nobody took it.
        drop(unsafe { Box::from_raw(context) });
    }
    sampler
}

/// The state of a sampler that was made with `interface`; `None` for any other, and for null.
///
/// Python takes the address from a chain that it holds.
pub(super) fn find(interface: &Interface, address: usize) -> Option<Arc<Mutex<State>>> {
    let sampler = address as *const RawSampler;
    // SAFETY: the address is null or that of a live `llama_sampler`.
    let raw = unsafe { sampler.as_ref() }?;
    if raw.interface != interface.as_ptr() {
        return None;
    }
    // SAFETY: samplers with our table have a `Context`.
    unsafe { context(sampler) }.map(|context| Arc::clone(&context.state))
}

/// # Safety
/// `sampler` is null or a live sampler that [`create`] made.
unsafe fn context<'a>(sampler: *const RawSampler) -> Option<&'a Context> {
    // SAFETY: the caller's promise; the context is null only after `llama_sampler_copy` took it.
    unsafe { sampler.as_ref()?.context.cast::<Context>().as_ref() }
}

/// Runs `work` on the state; a panic becomes a failure.
fn run(context: &Context, work: impl FnOnce(&mut State)) {
    let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut context.state.lock())));
    if let Err(panic) = outcome {
        let text = panic_text(panic.as_ref()).to_owned();
        context.state.lock().fail(Failure::Panic(text));
        // What a panic carries may panic when it is dropped.
        std::mem::forget(panic);
    }
}

extern "C" fn name(_sampler: *const RawSampler) -> *const c_char {
    NAME.as_ptr()
}

unsafe extern "C" fn accept(sampler: *mut RawSampler, token: i32) {
    // SAFETY: llama.cpp calls it with a sampler of this table.
    if let Some(context) = unsafe { context(sampler) } {
        run(context, |state| state.accept(token));
    }
}

unsafe extern "C" fn apply(sampler: *mut RawSampler, array: *mut CandidateArray) {
    // SAFETY: llama.cpp calls it with a sampler of this table and an array that it owns.
    if let (Some(context), Some(array)) = unsafe { (context(sampler), array.as_mut()) } {
        run(context, |state| state.apply(array));
    }
}

unsafe extern "C" fn reset(sampler: *mut RawSampler) {
    // SAFETY: llama.cpp calls it with a sampler of this table.
    if let Some(context) = unsafe { context(sampler) } {
        run(context, |state| state.matcher.reset());
    }
}

unsafe extern "C" fn clone(sampler: *const RawSampler) -> *mut RawSampler {
    // SAFETY: llama.cpp calls it with a sampler of this table.
    let Some(context) = (unsafe { context(sampler) }) else { return std::ptr::null_mut() };
    let copy = catch_unwind(AssertUnwindSafe(|| context.state.lock().matcher.clone()));
    let state = copy.map_or_else(
        |panic| {
            // A chain takes no null: a sampler at the start, which Python hears of.
            let text = panic_text(panic.as_ref()).to_owned();
            std::mem::forget(panic);
            let engine = Arc::clone(context.state.lock().matcher.engine());
            State { failure: Some(Failure::Panic(text)), ..State::new(Matcher::new(engine)) }
        },
        State::new,
    );
    create(&context.interface, Arc::new(Mutex::new(state)))
}

unsafe extern "C" fn free(sampler: *mut RawSampler) {
    // SAFETY: llama.cpp calls it once, last, with a sampler of this table.
    let Some(raw) = (unsafe { sampler.as_mut() }) else { return };
    let context: *mut c_void = std::mem::replace(&mut raw.context, std::ptr::null_mut());
    if !context.is_null() {
        // SAFETY: `create` made it from a box, and the sampler no longer refers to it.
        let context = unsafe { Box::from_raw(context.cast::<Context>()) };
        // Nothing in it panics when it is dropped but for a bug; then it is leaked.
        drop(catch_unwind(AssertUnwindSafe(move || drop(context))));
    }
}
