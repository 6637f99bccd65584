//! Character classes as expressions over UTF-8 bytes (canonical: no overlong forms, no surrogates).

use regex_syntax::utf8::{Utf8Range, Utf8Sequences};

use super::node::{DEAD, EPSILON, RegexSet};
use crate::byteset::ByteSet;
use crate::index::RegexId;

impl RegexSet {
    /// One character of the ranges, as UTF-8.
    pub fn class(&mut self, ranges: &[(char, char)]) -> RegexId {
        let sequences: Vec<Vec<Utf8Range>> = ranges
            .iter()
            .flat_map(|&(low, high)| Utf8Sequences::new(low, high))
            .map(|sequence| sequence.as_slice().to_vec())
            .collect();
        let sequences: Vec<&[Utf8Range]> = sequences.iter().map(Vec::as_slice).collect();
        self.alternatives(&sequences)
    }

    /// Alternatives of byte ranges in a row, grouped so that no byte leads to two of them.
    ///
    /// The sequences come in ascending order; ranges at the same place are equal or disjoint, as
    /// characters are in order of their UTF-8. Recursion is at most four deep.
    fn alternatives(&mut self, sequences: &[&[Utf8Range]]) -> RegexId {
        // Pairs (what follows, lead bytes), in the order of first appearance.
        let mut groups: Vec<(RegexId, ByteSet)> = Vec::new();
        for group in sequences.chunk_by(|a, b| a[0] == b[0]) {
            let lead = group[0][0];
            let tails: Vec<&[Utf8Range]> =
                group.iter().map(|s| &s[1..]).filter(|s| !s.is_empty()).collect();
            let tail = if tails.is_empty() { EPSILON } else { self.alternatives(&tails) };
            let index = groups.iter().position(|&(known, _)| known == tail).unwrap_or_else(|| {
                groups.push((tail, ByteSet::EMPTY));
                groups.len() - 1
            });
            groups[index].1.insert_range(lead.start, lead.end);
        }
        let parts: Vec<RegexId> = groups
            .into_iter()
            .map(|(tail, leads)| {
                let head = self.bytes(leads);
                self.concat(head, tail)
            })
            .collect();
        if parts.is_empty() { DEAD } else { self.or(&parts) }
    }
}
