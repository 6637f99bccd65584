//! The known name that is most like an unknown one, for hints.

/// The name nearest to `wanted`, if one is near: few edits, or the same but for case and `_`.
pub(super) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let longest = wanted.len().div_ceil(3).min(4);
    names
        .filter(|name| name.len().abs_diff(wanted.len()) <= longest)
        .filter_map(|name| {
            let distance = distance(wanted.as_bytes(), name.as_bytes(), longest)?;
            Some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// Edit distance (insert, delete, replace, swap neighbours), if at most `limit`. Case is free.
fn distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let same = x.eq_ignore_ascii_case(y);
            row[j + 1] =
                (above[j] + usize::from(!same)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == &b[j - 1] && &a[i - 1] == y {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        if row.iter().all(|&cost| cost > limit) {
            return None;
        }
        (before, above, row) = (above, row, before);
    }
    Some(above[b.len()]).filter(|&cost| cost <= limit)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_of_the_pen() {
        let names = ["statement", "expr", "NUMBER", "term"];
        let near = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(near("statment"), Some("statement"));
        assert_eq!(near("NUBMER"), Some("NUMBER"));
        assert_eq!(near("number"), Some("NUMBER"));
        assert_eq!(near("x"), None);
        assert_eq!(near("quite_different"), None);
    }
}
