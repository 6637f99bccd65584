//! Which known name a user may have meant by an unknown one: for hints, on the way to an error.

/// Longer names are not compared: a hint is not worth the time.
const LONGEST: usize = 64;
/// At most this many names are compared.
const MOST: usize = 10_000;

/// The candidate most like a name, if one is near: letter case and the kind of dash aside, about
/// one edit for three letters. The first of equals wins.
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let name = simplified(name);
    let limit = (name.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().take(MOST) {
        if candidate.len() > LONGEST || candidate.is_empty() {
            continue;
        }
        let letters = simplified(candidate);
        let bound = best.map_or(limit + 1, |(distance, _)| distance);
        // A short name would be near everything if all its letters could change.
        if letters.len().abs_diff(name.len()) < bound {
            let distance = distance(&name, &letters);
            if distance < bound && distance < letters.len().max(name.len()) {
                best = Some((distance, candidate));
            }
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn simplified(name: &str) -> Vec<char> {
    name.chars().map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Edits from one name to the other: insertions, deletions, replacements and swapped neighbours.
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut older = vec![0; width];
    let mut above: Vec<usize> = (0..width).collect();
    for (i, &a) in left.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, &b) in right.iter().enumerate() {
            row[j + 1] = (above[j] + usize::from(a != b)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == right[j - 1] && b == left[i - 1] {
                row[j + 1] = row[j + 1].min(older[j - 1] + 1);
            }
        }
        older = std::mem::replace(&mut above, row);
    }
    above[width - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let names = ["value", "item-list", "root"];
        assert_eq!(closest("vlaue", names), Some("value"));
        assert_eq!(closest("item_list", names), Some("item-list"));
        assert_eq!(closest("Root", names), Some("root"));
        assert_eq!(closest("rout", names), Some("root"));
    }

    #[test]
    fn far_names_are_not() {
        assert_eq!(closest("number", ["value", "root"]), None);
        assert_eq!(closest("x", ["y"]), None);
        assert_eq!(closest("", ["y"]), None);
        assert_eq!(closest(&"x".repeat(1_000_000), ["y"]), None);
    }
}
