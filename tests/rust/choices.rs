//! A source of random choices that can be replayed and made smaller.
//!
//! Whatever is generated from [`Choices`] is a function of the list of numbers drawn. A failure is
//! reproduced by its list, and [`shrink`] looks for a shorter list, with smaller numbers, that
//! fails too: the generators need no notion of a "simpler" grammar, only that 0 is the simplest
//! choice.

use std::time::{Duration, Instant};

/// Numbers drawn so far, and those still to be replayed.
pub(crate) struct Choices {
    drawn: Vec<u32>,
    replay: Option<Vec<u32>>,
    state: u64,
}

impl Choices {
    /// Fresh choices from a seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        let mut this = Self { drawn: vec![], replay: None, state: seed };
        // Neighbouring seeds must not give shifted copies of one sequence.
        this.state = this.random();
        this
    }

    /// The given choices again; zeros after their end.
    pub(crate) fn replay(list: &[u32]) -> Self {
        Self { drawn: vec![], replay: Some(list.to_vec()), state: 0 }
    }

    /// What was drawn.
    pub(crate) fn drawn(&self) -> &[u32] {
        &self.drawn
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u32::try_from(bound.max(1)).unwrap();
        let number = match &self.replay {
            Some(list) => list.get(self.drawn.len()).copied().unwrap_or(0).min(bound - 1),
            None => (self.random() % u64::from(bound)) as u32,
        };
        self.drawn.push(number);
        number as usize
    }

    /// A number of an inclusive range.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in about `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of the items.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Looks for a smaller list that still fails, for at most `time`.
pub(crate) fn shrink(
    mut list: Vec<u32>,
    time: Duration,
    mut fails: impl FnMut(&[u32]) -> Option<Vec<u32>>,
) -> Vec<u32> {
    let start = Instant::now();
    let smaller = |a: &[u32], b: &[u32]| (a.len(), a) < (b.len(), b);
    loop {
        let before = list.clone();
        let mut size = list.len().div_ceil(2).max(1);
        while size > 0 {
            let mut at = 0;
            while at < list.len() && start.elapsed() < time {
                let end = (at + size).min(list.len());
                let mut shorter = list.clone();
                shorter.drain(at..end);
                let mut zeroed = list.clone();
                zeroed[at..end].fill(0);
                let mut tries = vec![shorter, zeroed];
                if size == 1 {
                    for less in [list[at] / 2, list[at].saturating_sub(1)] {
                        let mut lower = list.clone();
                        lower[at] = less;
                        tries.push(lower);
                    }
                }
                let found = tries
                    .iter()
                    .filter(|candidate| smaller(candidate, &list))
                    .find_map(|candidate| fails(candidate).filter(|used| smaller(used, &list)));
                match found {
                    Some(used) => list = used,
                    None => at += size,
                }
            }
            size /= 2;
        }
        if list == before || start.elapsed() >= time {
            return list;
        }
    }
}
