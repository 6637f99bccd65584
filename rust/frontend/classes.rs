//! Ranges of characters as front ends collect them → sorted, disjoint ranges, as the IR wants them.
//!
//! A range means the Unicode scalar values from its first to its last character. Surrogates are not
//! among those, so U+D7FF and U+E000 are neighbours here and a range may run across the gap.

/// Sorts ranges, and merges those that overlap or touch. Each must have its lower end first.
pub(crate) fn normalise(ranges: &mut Vec<(char, char)>) {
    debug_assert!(ranges.iter().all(|(low, high)| low <= high));
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let touches = next.0 <= range.1 || after(range.1) == Some(next.0);
        if touches {
            range.1 = range.1.max(next.1);
        }
        touches
    });
}

/// All other characters. The ranges must be sorted and disjoint.
pub(crate) fn negate(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let mut others = Vec::with_capacity(ranges.len() + 1);
    let mut from = Some(char::MIN);
    for &(low, high) in ranges {
        if let (Some(from), Some(to)) = (from, before(low))
            && from <= to
        {
            others.push((from, to));
        }
        from = after(high);
    }
    if let Some(from) = from {
        others.push((from, char::MAX));
    }
    others
}

/// The character after another one.
fn after(c: char) -> Option<char> {
    match c {
        '\u{D7FF}' => Some('\u{E000}'),
        _ => char::from_u32(u32::from(c) + 1),
    }
}

/// The character before another one.
fn before(c: char) -> Option<char> {
    match c {
        '\u{E000}' => Some('\u{D7FF}'),
        _ => u32::from(c).checked_sub(1).and_then(char::from_u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(ranges: &[(char, char)]) -> Vec<(char, char)> {
        let mut ranges = ranges.to_vec();
        normalise(&mut ranges);
        ranges
    }

    #[test]
    fn ranges_are_sorted_and_merged() {
        assert_eq!(normalised(&[('x', 'z'), ('c', 'd'), ('a', 'b')]), [('a', 'd'), ('x', 'z')]);
        assert_eq!(normalised(&[('a', 'z'), ('c', 'd'), ('z', 'z')]), [('a', 'z')]);
        assert_eq!(normalised(&[('a', 'b'), ('d', 'e')]), [('a', 'b'), ('d', 'e')]);
    }

    #[test]
    fn the_surrogate_gap_separates_nothing() {
        let around = [('\u{E000}', '\u{E001}'), ('\u{D7FE}', '\u{D7FF}')];
        assert_eq!(normalised(&around), [('\u{D7FE}', '\u{E001}')]);
    }

    #[test]
    fn negation() {
        assert_eq!(negate(&[]), [('\0', char::MAX)]);
        assert_eq!(negate(&[('\0', char::MAX)]), []);
        assert_eq!(negate(&[('b', 'c')]), [('\0', 'a'), ('d', char::MAX)]);
        assert_eq!(negate(&[('\0', '\u{D7FF}')]), [('\u{E000}', char::MAX)]);
        assert_eq!(negate(&[('\u{E000}', char::MAX)]), [('\0', '\u{D7FF}')]);
    }
}
