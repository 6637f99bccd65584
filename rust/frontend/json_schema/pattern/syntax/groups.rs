//! The capturing groups of a pattern: which of them a backreference can mean.

/// How many groups capture, and the names of those that have one.
#[derive(Debug, Default)]
pub(super) struct Groups<'p> {
    pub(super) count: u64,
    pub(super) names: Vec<&'p str>,
}

/// Finds the capturing groups, those after the current place included, without reading further.
pub(super) fn scan(pattern: &str) -> Groups<'_> {
    let mut groups = Groups::default();
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '[', ']', '(']) {
        let (found, after) = rest[at..].split_at(1);
        rest = after;
        match found {
            "\\" => {
                let mut after = rest.chars();
                after.next();
                rest = after.as_str();
            }
            "[" => in_class = true,
            "]" => in_class = false,
            _ if in_class => {}
            _ => match rest.strip_prefix("?<") {
                Some(name) if !name.starts_with(['=', '!']) => {
                    groups.count += 1;
                    groups.names.push(name.split('>').next().unwrap_or(name));
                }
                None if !rest.starts_with('?') => groups.count += 1,
                _ => {}
            },
        }
    }
    groups
}
