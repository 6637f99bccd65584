//! URI references: taken apart, resolved and normalised (RFC 3986, section 5).
//!
//! Total: what is no URI is resolved like one, so that a document with odd names keeps working as
//! long as equal names are equal.

use std::borrow::Cow;

/// The part before the first `#`, and the fragment if there is one.
pub(super) fn split(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

/// The components of a URI reference without fragment.
struct Parts<'u> {
    scheme: Option<&'u str>,
    authority: Option<&'u str>,
    path: &'u str,
    query: Option<&'u str>,
}

impl<'u> Parts<'u> {
    fn of(uri: &'u str) -> Self {
        let (rest, query) = match uri.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (uri, None),
        };
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, after)) if is_scheme(scheme) => (Some(scheme), after),
            _ => (None, rest),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Self { scheme, authority, path, query }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// What a reference without fragment means at a base, in its normal form: scheme and host in lower
/// case, no dot segments, no empty path behind a host.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let to = Parts::of(reference);
    if to.scheme.is_some() || base.is_empty() {
        return write(&to, &without_dots(to.path));
    }
    let from = Parts::of(base);
    let (authority, path, query) = if to.authority.is_some() {
        (to.authority, without_dots(to.path), to.query)
    } else if to.path.is_empty() {
        (from.authority, from.path.to_owned(), to.query.or(from.query))
    } else if to.path.starts_with('/') {
        (from.authority, without_dots(to.path), to.query)
    } else {
        let merged = if from.authority.is_some() && from.path.is_empty() {
            format!("/{}", to.path)
        } else {
            let directory = from.path.rfind('/').map_or(0, |at| at + 1);
            format!("{}{}", &from.path[..directory], to.path)
        };
        (from.authority, without_dots(&merged), to.query)
    };
    write(&Parts { scheme: from.scheme, authority, path: "", query }, &path)
}

fn write(parts: &Parts<'_>, path: &str) -> String {
    let mut uri = String::with_capacity(path.len() + 40);
    if let Some(scheme) = parts.scheme {
        uri.push_str(&scheme.to_ascii_lowercase());
        uri.push(':');
    }
    if let Some(authority) = parts.authority {
        uri.push_str("//");
        // What stands before an `@` is not the host's.
        let host = authority.rfind('@').map_or(0, |at| at + 1);
        uri.push_str(&authority[..host]);
        uri.push_str(&authority[host..].to_ascii_lowercase());
        if path.is_empty() {
            uri.push('/');
        }
    }
    uri.push_str(path);
    if let Some(query) = parts.query {
        uri.push('?');
        uri.push_str(query);
    }
    uri
}

/// A path without `.` and `..` segments.
fn without_dots(path: &str) -> String {
    if !path.contains("./") && !path.ends_with('.') {
        return path.to_owned();
    }
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = vec![];
    let mut segments = path.split('/').skip(usize::from(rooted)).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                // The path still ends in the directory.
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    let path = kept.join("/");
    if rooted { format!("/{path}") } else { path }
}

/// A fragment without percent-encoding; what is wrongly encoded stays as it is.
pub(super) fn decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|&d| char::from(d).to_digit(16));
        if byte == b'%'
            && let (Some(high), Some(low)) = (digit(0), digit(1))
        {
            bytes.push((high << 4 | low) as u8);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(fragment), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3986, sections 5.4.1 and 5.4.2, that have no fragment.
    #[test]
    fn references_resolve_as_the_rfc_says() {
        let base = "http://a/b/c/d;p?q";
        for (reference, uri) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
        ] {
            assert_eq!(resolve(base, reference), uri, "{reference}");
        }
    }

    #[test]
    fn urns_and_bare_names_resolve() {
        assert_eq!(resolve("urn:uuid:1", "urn:uuid:2"), "urn:uuid:2");
        assert_eq!(resolve("", "item.json"), "item.json");
        assert_eq!(resolve("schemas/list.json", "item.json"), "schemas/item.json");
        assert_eq!(resolve("http://host", "item.json"), "http://host/item.json");
        assert_eq!(resolve("", "HTTP://Me@Host"), "http://Me@host/");
    }

    #[test]
    fn fragments_lose_their_percent_signs() {
        assert_eq!(decoded("a%25b%22%C3%A9"), "a%b\"é");
        assert_eq!(decoded("%"), "%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%ff"), "%ff");
    }
}
