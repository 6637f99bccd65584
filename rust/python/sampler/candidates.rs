//! llama.cpp's candidates: an array of tokens with their logits, and which of them are kept.
//!
//! `llama_token_data_array` and `llama_token_data` of `llama.h`. Python has checked that the
//! installed library's definition begins like these (`earmark/llama_cpp/_layout.py`).

use std::ops::Range;

/// `llama_token_data`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(super) struct Candidate {
    pub(super) id: i32,
    pub(super) logit: f32,
    pub(super) p: f32,
}

/// `llama_token_data_array`. Samplers may cut, sort and replace the array.
#[derive(Debug)]
#[repr(C)]
pub(super) struct CandidateArray {
    pub(super) data: *mut Candidate,
    pub(super) size: usize,
    /// An index into the array, or -1.
    pub(super) selected: i64,
    pub(super) sorted: bool,
}

/// Takes away the candidates whose bit in `mask` is 0 and says how many are left, at the front and
/// in their order. The rest of the array is left in any state. Ids are unique.
///
/// `llama_sampler_sample` makes the array in the order of the ids, so that the mask alone says
/// where the allowed candidates are: most masks leave only some, and the array is not even read.
pub(super) fn keep(candidates: &mut [Candidate], mask: &[u32], width: usize) -> usize {
    if candidates.len() == width && !allows_most(mask) && in_order(candidates, mask) {
        return keep_runs(candidates, mask);
    }
    let mut kept = 0;
    for index in 0..candidates.len() {
        let candidate = candidates[index];
        if is_allowed(mask, candidate.id) {
            candidates[kept] = candidate;
            kept += 1;
        }
    }
    kept
}

/// Whether the candidates are all tokens of a vocabulary, each at the place of its id: an array
/// that no sampler has sorted or cut yet. Some few may be so by chance, which says nothing.
pub(super) fn is_untouched(candidates: &[Candidate]) -> bool {
    candidates.len() >= 256 && (0i32..).zip(candidates).all(|(id, candidate)| candidate.id == id)
}

/// Whether three quarters are allowed, judged by 512 words that lie evenly.
pub(super) fn allows_most(mask: &[u32]) -> bool {
    let step = mask.len() / 512 + 1;
    let words = mask.iter().step_by(step);
    let allowed: usize = words.clone().map(|word| word.count_ones() as usize).sum();
    allowed * 4 >= words.len() * 32 * 3
}

/// Whether the allowed candidates are those at the numbers that the mask allows.
///
/// There are as many candidates as ids, so that each id is there once: if each allowed token is
/// the candidate with its own number, then no other candidate is allowed.
fn in_order(candidates: &[Candidate], mask: &[u32]) -> bool {
    places(mask.iter().copied())
        .all(|at| candidates.get(at).is_none_or(|it| usize::try_from(it.id) == Ok(at)))
}

/// Gives the candidates of the forbidden tokens a probability of 0, if each is at the number that
/// is its id. If not, some of them may have it.
///
/// PERF: 123,000 of 128,256 allowed: 140 µs to move them, as long as all samplers after it take;
/// 30 µs to find the forbidden ones in the mask's bits, where most branches are guessed wrong; 12
/// with their list, 10 without a look at the ids.
pub(super) fn forbid(candidates: &mut [Candidate], forbidden: &[u32]) -> bool {
    forbidden.iter().all(|&id| match candidates.get_mut(id as usize) {
        Some(candidate) if candidate.id.cast_unsigned() == id => {
            candidate.logit = f32::NEG_INFINITY;
            true
        }
        _ => false,
    })
}

/// [`keep`] where the allowed candidates are at the numbers that the mask allows.
fn keep_runs(candidates: &mut [Candidate], mask: &[u32]) -> usize {
    let mut kept = 0;
    // Runs go on from word to word: the fewer there are, the faster they are moved.
    let mut run = 0..0;
    for (&word, start) in mask.iter().zip((0..).step_by(32)) {
        let mut rest = word;
        let mut at = 0;
        while rest != 0 {
            at += rest.trailing_zeros() as usize;
            rest = word >> at;
            let length = rest.trailing_ones() as usize;
            if start + at != run.end {
                kept = move_run(candidates, run, kept);
                run = start + at..start + at;
            }
            run.end += length;
            at += length;
            rest = if at < 32 { word >> at } else { 0 };
        }
    }
    move_run(candidates, run, kept)
}

/// Moves a run of candidates to where the kept ones end, and says where they end then.
fn move_run(candidates: &mut [Candidate], run: Range<usize>, kept: usize) -> usize {
    let length = run.len();
    if run.start != kept {
        candidates.copy_within(run, kept);
    }
    kept + length
}

fn is_allowed(mask: &[u32], id: i32) -> bool {
    let word = usize::try_from(id).ok().and_then(|id| mask.get(id / 32));
    word.is_some_and(|word| word >> (id & 31) & 1 == 1)
}

/// The numbers of the bits that are 1.
pub(super) fn places(words: impl Iterator<Item = u32>) -> impl Iterator<Item = usize> {
    words.zip((0..).step_by(32)).flat_map(|(word, start)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (bit < 32).then_some(start + bit)
        })
    })
}
