//! Drafts and vocabularies: what `$schema` names, and the documents it may name.

use std::fmt;

use super::words::vocabulary::{
    ALL, APPLICATOR, CONTENT, CORE, FORMAT, META, UNEVALUATED, VALIDATION,
};

/// A draft of JSON Schema, in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::D4 => "draft 4",
            Self::D6 => "draft 6",
            Self::D7 => "draft 7",
            Self::D2019 => "draft 2019-09",
            Self::D2020 => "draft 2020-12",
        })
    }
}

/// Which keywords there are, and what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) draft: Draft,
    /// No draft is named: the keywords of all drafts count, with the meaning of the latest where
    /// drafts differ, and the older forms of values are taken.
    pub(super) any: bool,
    /// Bits of [`super::words::vocabulary`].
    pub(super) vocabularies: u8,
}

impl Dialect {
    /// Of a document that names no draft.
    pub(super) const ANY: Self = Self { draft: Draft::D2020, any: true, vocabularies: ALL };

    const fn of(draft: Draft) -> Self {
        Self { draft, any: false, vocabularies: ALL }
    }

    /// Up to draft 7, nothing beside a `$ref` counts.
    pub(super) fn refs_stand_alone(self) -> bool {
        self.draft <= Draft::D7
    }

    /// The dialect of a draft's metaschema.
    pub(super) fn of_metaschema(uri: &str) -> Option<Self> {
        Some(match address(uri)? {
            "draft-04/schema" => Self::of(Draft::D4),
            "draft-06/schema" => Self::of(Draft::D6),
            "draft-07/schema" => Self::of(Draft::D7),
            "draft/2019-09/schema" => Self::of(Draft::D2019),
            "draft/2020-12/schema" => Self::of(Draft::D2020),
            // The latest of all times.
            "schema" => Self::ANY,
            _ => return None,
        })
    }
}

/// The bit of a vocabulary, if it is one of the specification's.
pub(super) fn vocabulary_of(uri: &str) -> Option<u8> {
    Some(match address(uri)? {
        "draft/2019-09/vocab/applicator" => APPLICATOR | UNEVALUATED,
        "draft/2020-12/vocab/applicator" => APPLICATOR,
        "draft/2020-12/vocab/unevaluated" => UNEVALUATED,
        "draft/2019-09/vocab/core" | "draft/2020-12/vocab/core" => CORE,
        "draft/2019-09/vocab/validation" | "draft/2020-12/vocab/validation" => VALIDATION,
        "draft/2019-09/vocab/format"
        | "draft/2020-12/vocab/format-annotation"
        | "draft/2020-12/vocab/format-assertion" => FORMAT,
        "draft/2019-09/vocab/content" | "draft/2020-12/vocab/content" => CONTENT,
        "draft/2019-09/vocab/meta-data" | "draft/2020-12/vocab/meta-data" => META,
        _ => return None,
    })
}

/// What follows the specification's host, with either protocol and without an empty fragment.
fn address(uri: &str) -> Option<&str> {
    let rest = uri.strip_prefix("http").map(|rest| rest.strip_prefix('s').unwrap_or(rest))?;
    let rest = rest.strip_prefix("://json-schema.org/")?;
    Some(rest.strip_suffix('#').unwrap_or(rest))
}

/// The text of a document of the specification.
pub(super) fn metaschema(uri: &str) -> Option<&'static str> {
    macro_rules! texts {
        ($($address:literal $file:literal)*) => {
            match address(uri)? {
                $($address => include_str!(concat!("metaschemas/", $file, ".json")),)*
                _ => return None,
            }
        };
    }
    Some(texts! {
        "draft-04/schema" "draft-04"
        "draft-06/schema" "draft-06"
        "draft-07/schema" "draft-07"
        "draft/2019-09/schema" "2019-09/schema"
        "draft/2019-09/meta/core" "2019-09/core"
        "draft/2019-09/meta/applicator" "2019-09/applicator"
        "draft/2019-09/meta/validation" "2019-09/validation"
        "draft/2019-09/meta/format" "2019-09/format"
        "draft/2019-09/meta/content" "2019-09/content"
        "draft/2019-09/meta/meta-data" "2019-09/meta-data"
        "draft/2020-12/schema" "2020-12/schema"
        "draft/2020-12/meta/core" "2020-12/core"
        "draft/2020-12/meta/applicator" "2020-12/applicator"
        "draft/2020-12/meta/unevaluated" "2020-12/unevaluated"
        "draft/2020-12/meta/validation" "2020-12/validation"
        "draft/2020-12/meta/format-annotation" "2020-12/format-annotation"
        "draft/2020-12/meta/format-assertion" "2020-12/format-assertion"
        "draft/2020-12/meta/content" "2020-12/content"
        "draft/2020-12/meta/meta-data" "2020-12/meta-data"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_have_many_spellings() {
        for uri in [
            "http://json-schema.org/draft-07/schema#",
            "http://json-schema.org/draft-07/schema",
            "https://json-schema.org/draft-07/schema#",
        ] {
            assert_eq!(Dialect::of_metaschema(uri), Some(Dialect::of(Draft::D7)));
        }
        assert_eq!(Dialect::of_metaschema("http://json-schema.org/schema#"), Some(Dialect::ANY));
        assert_eq!(Dialect::of_metaschema("http://json-schema.org/draft-03/schema#"), None);
        assert_eq!(Dialect::of_metaschema("http://example.com/draft-07/schema#"), None);
    }
}
