//! llama.cpp's candidates: an array of tokens with their logits, and which of them are kept.
//!
//! `llama_token_data_array` and `llama_token_data` of `llama.h`. Python has checked that the
//! installed library's definition begins like these (`earmark/llama_cpp/layout.py`).

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

/// Moves the candidates whose bit in `mask` is 1 to the front, in their order, and says how many
/// there are. The rest of the array is left in any state.
///
/// `llama_sampler_sample` makes the array in the order of the ids, so that the mask alone says
/// where the allowed candidates are: most masks leave only some, and the array is not even read.
pub(super) fn keep(candidates: &mut [Candidate], mask: &[u32]) -> usize {
    if in_order(candidates, mask) {
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

/// Whether each allowed token is the candidate with its own number. Ids are unique, so that no
/// other candidate is allowed then.
fn in_order(candidates: &[Candidate], mask: &[u32]) -> bool {
    // A mask covers whole words: bits past the last candidate may be there but are 0.
    candidates.len().div_ceil(32) == mask.len()
        && mask.iter().zip(candidates.chunks(32)).zip((0..).step_by(32)).all(
            |((&word, chunk), at)| {
                if word == u32::MAX {
                    // Without a branch for each, which the compiler turns into vector instructions.
                    let wrong =
                        |wrong, (candidate, id): (&Candidate, i32)| wrong | (candidate.id ^ id);
                    chunk.iter().zip(at..).fold(0, wrong) == 0
                } else {
                    ones(word).all(|bit| chunk.get(bit).is_some_and(|it| it.id == at + bit as i32))
                }
            },
        )
}

/// [`keep`] where the allowed candidates are at their own numbers.
fn keep_runs(candidates: &mut [Candidate], mask: &[u32]) -> usize {
    let mut kept = 0;
    for (&word, start) in mask.iter().zip((0..).step_by(32)) {
        let mut rest = word;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let length = (rest >> first).trailing_ones() as usize;
            let from = start + first;
            candidates.copy_within(from..from + length, kept);
            kept += length;
            rest &= u32::MAX.checked_shl((first + length) as u32).unwrap_or(0);
        }
    }
    kept
}

fn is_allowed(mask: &[u32], id: i32) -> bool {
    let word = usize::try_from(id).ok().and_then(|id| mask.get(id / 32));
    word.is_some_and(|word| word >> (id & 31) & 1 == 1)
}

/// The positions of the bits that are 1.
fn ones(word: u32) -> impl Iterator<Item = usize> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (bit < 32).then_some(bit as usize)
    })
}
