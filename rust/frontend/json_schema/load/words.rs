//! The keywords of all drafts: since when, until when, by which vocabulary, holding what.

use super::dialect::{Dialect, Draft};

/// Where the schemas stand in a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// No schema.
    Nothing,
    /// The value is a schema.
    Schema,
    /// An array of schemas.
    Array,
    /// An object whose members' values are schemas.
    Members,
    /// A schema or an array of schemas.
    SchemaOrArray,
    /// An object whose members' values are schemas or arrays of names.
    SchemasOrNames,
}

/// Vocabularies, as far as it matters which of them a keyword is of.
pub(super) mod vocabulary {
    pub(in super::super) const CORE: u8 = 1;
    pub(in super::super) const APPLICATOR: u8 = 2;
    pub(in super::super) const UNEVALUATED: u8 = 4;
    pub(in super::super) const VALIDATION: u8 = 8;
    pub(in super::super) const FORMAT: u8 = 16;
    pub(in super::super) const CONTENT: u8 = 32;
    pub(in super::super) const META: u8 = 64;
    pub(in super::super) const ALL: u8 = 127;
}

macro_rules! words {
    ($($word:ident $name:literal $since:ident $until:ident $vocabulary:ident $holds:ident)*) => {
        /// A keyword that some draft knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Word {
            $($word,)*
        }

        impl Word {
            const ALL: &[Self] = &[$(Self::$word,)*];
            /// How many there are.
            pub(super) const COUNT: usize = Self::ALL.len();

            /// The keyword of a name.
            pub(super) fn of(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$word,)*
                    _ => return None,
                })
            }

            /// How it is spelled.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$word => $name,)*
                }
            }

            /// What of schemas its value holds.
            pub(super) const fn holds(self) -> Holds {
                match self {
                    $(Self::$word => Holds::$holds,)*
                }
            }

            /// Whether it can say what is valid.
            pub(super) const fn is_assertion(self) -> bool {
                let of = match self {
                    $(Self::$word => vocabulary::$vocabulary,)*
                };
                matches!(self, Self::Ref | Self::DynamicRef | Self::RecursiveRef)
                    || of & (vocabulary::CORE | vocabulary::CONTENT | vocabulary::META) == 0
            }

            /// Whether it is a keyword in a dialect. Where no draft is named, all keywords are.
            pub(super) fn is_of(self, dialect: Dialect) -> bool {
                let (since, until, of) = match self {
                    $(Self::$word => (Draft::$since, Draft::$until, vocabulary::$vocabulary),)*
                };
                dialect.vocabularies & of != 0
                    && (dialect.any || (since <= dialect.draft && dialect.draft <= until))
            }
        }
    };
}

words! {
    Schema "$schema" D4 D2020 CORE Nothing
    Id "$id" D6 D2020 CORE Nothing
    OldId "id" D4 D4 CORE Nothing
    Ref "$ref" D4 D2020 CORE Nothing
    Anchor "$anchor" D2019 D2020 CORE Nothing
    DynamicRef "$dynamicRef" D2020 D2020 CORE Nothing
    DynamicAnchor "$dynamicAnchor" D2020 D2020 CORE Nothing
    RecursiveRef "$recursiveRef" D2019 D2019 CORE Nothing
    RecursiveAnchor "$recursiveAnchor" D2019 D2019 CORE Nothing
    Vocabulary "$vocabulary" D2019 D2020 CORE Nothing
    Comment "$comment" D7 D2020 CORE Nothing
    Defs "$defs" D2019 D2020 CORE Members
    // The metaschemas of the later drafts still know the old names.
    Definitions "definitions" D4 D2020 CORE Members
    Dependencies "dependencies" D4 D2020 APPLICATOR SchemasOrNames

    Properties "properties" D4 D2020 APPLICATOR Members
    PatternProperties "patternProperties" D4 D2020 APPLICATOR Members
    AdditionalProperties "additionalProperties" D4 D2020 APPLICATOR Schema
    PropertyNames "propertyNames" D6 D2020 APPLICATOR Schema
    DependentSchemas "dependentSchemas" D2019 D2020 APPLICATOR Members
    PrefixItems "prefixItems" D2020 D2020 APPLICATOR Array
    Items "items" D4 D2020 APPLICATOR SchemaOrArray
    AdditionalItems "additionalItems" D4 D2019 APPLICATOR Schema
    Contains "contains" D6 D2020 APPLICATOR Schema
    AllOf "allOf" D4 D2020 APPLICATOR Array
    AnyOf "anyOf" D4 D2020 APPLICATOR Array
    OneOf "oneOf" D4 D2020 APPLICATOR Array
    Not "not" D4 D2020 APPLICATOR Schema
    If "if" D7 D2020 APPLICATOR Schema
    Then "then" D7 D2020 APPLICATOR Schema
    Else "else" D7 D2020 APPLICATOR Schema
    UnevaluatedItems "unevaluatedItems" D2019 D2020 UNEVALUATED Schema
    UnevaluatedProperties "unevaluatedProperties" D2019 D2020 UNEVALUATED Schema

    Type "type" D4 D2020 VALIDATION Nothing
    Enum "enum" D4 D2020 VALIDATION Nothing
    Const "const" D6 D2020 VALIDATION Nothing
    Minimum "minimum" D4 D2020 VALIDATION Nothing
    ExclusiveMinimum "exclusiveMinimum" D4 D2020 VALIDATION Nothing
    Maximum "maximum" D4 D2020 VALIDATION Nothing
    ExclusiveMaximum "exclusiveMaximum" D4 D2020 VALIDATION Nothing
    MultipleOf "multipleOf" D4 D2020 VALIDATION Nothing
    MinLength "minLength" D4 D2020 VALIDATION Nothing
    MaxLength "maxLength" D4 D2020 VALIDATION Nothing
    Pattern "pattern" D4 D2020 VALIDATION Nothing
    MinItems "minItems" D4 D2020 VALIDATION Nothing
    MaxItems "maxItems" D4 D2020 VALIDATION Nothing
    UniqueItems "uniqueItems" D4 D2020 VALIDATION Nothing
    MinContains "minContains" D2019 D2020 VALIDATION Nothing
    MaxContains "maxContains" D2019 D2020 VALIDATION Nothing
    MinProperties "minProperties" D4 D2020 VALIDATION Nothing
    MaxProperties "maxProperties" D4 D2020 VALIDATION Nothing
    Required "required" D4 D2020 VALIDATION Nothing
    DependentRequired "dependentRequired" D2019 D2020 VALIDATION Nothing

    Format "format" D4 D2020 FORMAT Nothing
    ContentSchema "contentSchema" D2019 D2020 CONTENT Schema
    ContentEncoding "contentEncoding" D7 D2020 CONTENT Nothing
    ContentMediaType "contentMediaType" D7 D2020 CONTENT Nothing
    Title "title" D4 D2020 META Nothing
    Description "description" D4 D2020 META Nothing
    Default "default" D4 D2020 META Nothing
    Examples "examples" D6 D2020 META Nothing
    ReadOnly "readOnly" D7 D2020 META Nothing
    WriteOnly "writeOnly" D7 D2020 META Nothing
    Deprecated "deprecated" D2019 D2020 META Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_keywords() {
        for (index, &word) in Word::ALL.iter().enumerate() {
            assert_eq!(word as usize, index);
            assert_eq!(Word::of(word.name()), Some(word));
        }
        assert_eq!(Word::of("nullable"), None);
    }
}
