//! The keywords of all drafts: since when, until when, by which vocabulary, taking what.

use super::dialect::{Dialect, Draft};

/// What a keyword's value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Any value.
    Value,
    /// A string.
    Text,
    /// A string that is a URI reference.
    Uri,
    /// A string that names a schema.
    Anchor,
    /// `true` or `false`.
    Flag,
    /// An object whose members are `true` or `false`.
    Flags,
    /// A non-negative integer.
    Count,
    /// A number.
    Number,
    /// A number greater than 0.
    Step,
    /// A number, or a boolean in draft 4.
    Bound,
    /// The name of a type, or an array of such.
    Types,
    /// An array of values.
    Values,
    /// An array of strings.
    Names,
    /// An object whose members are arrays of strings.
    NameLists,
    /// A schema.
    Schema,
    /// A schema, or a boolean also where schemas are objects.
    SchemaOrFlag,
    /// An array of schemas.
    Schemas,
    /// An object whose members' values are schemas.
    Members,
    /// A schema or an array of schemas.
    SchemaOrSchemas,
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
    ($($word:ident $name:literal $since:ident $until:ident $vocabulary:ident $takes:ident)*) => {
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

            /// What its value must be.
            pub(super) const fn takes(self) -> Takes {
                match self {
                    $(Self::$word => Takes::$takes,)*
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
    Schema "$schema" D4 D2020 CORE Uri
    Id "$id" D6 D2020 CORE Uri
    OldId "id" D4 D4 CORE Uri
    Ref "$ref" D4 D2020 CORE Uri
    Anchor "$anchor" D2019 D2020 CORE Anchor
    DynamicRef "$dynamicRef" D2020 D2020 CORE Uri
    DynamicAnchor "$dynamicAnchor" D2020 D2020 CORE Anchor
    RecursiveRef "$recursiveRef" D2019 D2019 CORE Uri
    RecursiveAnchor "$recursiveAnchor" D2019 D2019 CORE Flag
    Vocabulary "$vocabulary" D2019 D2020 CORE Flags
    Comment "$comment" D7 D2020 CORE Text
    Defs "$defs" D2019 D2020 CORE Members
    // The metaschemas of the later drafts still know the old names.
    Definitions "definitions" D4 D2020 CORE Members
    Dependencies "dependencies" D4 D2020 APPLICATOR SchemasOrNames

    Properties "properties" D4 D2020 APPLICATOR Members
    PatternProperties "patternProperties" D4 D2020 APPLICATOR Members
    AdditionalProperties "additionalProperties" D4 D2020 APPLICATOR SchemaOrFlag
    PropertyNames "propertyNames" D6 D2020 APPLICATOR Schema
    DependentSchemas "dependentSchemas" D2019 D2020 APPLICATOR Members
    PrefixItems "prefixItems" D2020 D2020 APPLICATOR Schemas
    Items "items" D4 D2020 APPLICATOR SchemaOrSchemas
    AdditionalItems "additionalItems" D4 D2019 APPLICATOR SchemaOrFlag
    Contains "contains" D6 D2020 APPLICATOR Schema
    AllOf "allOf" D4 D2020 APPLICATOR Schemas
    AnyOf "anyOf" D4 D2020 APPLICATOR Schemas
    OneOf "oneOf" D4 D2020 APPLICATOR Schemas
    Not "not" D4 D2020 APPLICATOR Schema
    If "if" D7 D2020 APPLICATOR Schema
    Then "then" D7 D2020 APPLICATOR Schema
    Else "else" D7 D2020 APPLICATOR Schema
    UnevaluatedItems "unevaluatedItems" D2019 D2020 UNEVALUATED Schema
    UnevaluatedProperties "unevaluatedProperties" D2019 D2020 UNEVALUATED Schema

    Type "type" D4 D2020 VALIDATION Types
    Enum "enum" D4 D2020 VALIDATION Values
    Const "const" D6 D2020 VALIDATION Value
    Minimum "minimum" D4 D2020 VALIDATION Number
    ExclusiveMinimum "exclusiveMinimum" D4 D2020 VALIDATION Bound
    Maximum "maximum" D4 D2020 VALIDATION Number
    ExclusiveMaximum "exclusiveMaximum" D4 D2020 VALIDATION Bound
    MultipleOf "multipleOf" D4 D2020 VALIDATION Step
    MinLength "minLength" D4 D2020 VALIDATION Count
    MaxLength "maxLength" D4 D2020 VALIDATION Count
    Pattern "pattern" D4 D2020 VALIDATION Text
    MinItems "minItems" D4 D2020 VALIDATION Count
    MaxItems "maxItems" D4 D2020 VALIDATION Count
    UniqueItems "uniqueItems" D4 D2020 VALIDATION Flag
    MinContains "minContains" D2019 D2020 VALIDATION Count
    MaxContains "maxContains" D2019 D2020 VALIDATION Count
    MinProperties "minProperties" D4 D2020 VALIDATION Count
    MaxProperties "maxProperties" D4 D2020 VALIDATION Count
    Required "required" D4 D2020 VALIDATION Names
    DependentRequired "dependentRequired" D2019 D2020 VALIDATION NameLists

    Format "format" D4 D2020 FORMAT Text
    ContentSchema "contentSchema" D2019 D2020 CONTENT Schema
    ContentEncoding "contentEncoding" D7 D2020 CONTENT Text
    ContentMediaType "contentMediaType" D7 D2020 CONTENT Text
    Title "title" D4 D2020 META Text
    Description "description" D4 D2020 META Text
    Default "default" D4 D2020 META Value
    Examples "examples" D6 D2020 META Values
    ReadOnly "readOnly" D7 D2020 META Flag
    WriteOnly "writeOnly" D7 D2020 META Flag
    Deprecated "deprecated" D2019 D2020 META Flag
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
