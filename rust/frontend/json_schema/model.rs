//! Schemas after reading: typed keywords, references resolved, drafts made alike.

use std::rc::Rc;

use super::load::{Pointer, write_part};
use super::number::Decimal;
use crate::index::SchemaId;

/// A JSON value, numbers exact. Objects keep their order; a name occurs once (the last wins, as
/// in JSON parsers).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(Decimal),
    String(Rc<str>),
    Array(Rc<[Value]>),
    Object(Rc<[(Rc<str>, Value)]>),
}

/// The JSON types; `integer` is not one of them but a keyword of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Type {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// What `type` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Types {
    /// Bits by [`Type`].
    pub(super) types: u8,
    /// `integer` is listed (and `number` is not: then `Number` is in `types`).
    pub(super) integer: bool,
}

/// A schema: the conjunction of its keywords. `true` has none; `false` is `Keyword::False` alone.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    /// Where it stands.
    pub(super) pointer: Pointer,
    /// In the order of the document, but `unevaluated…` last.
    pub(super) keywords: Vec<(Keyword, &'static str)>,
}

/// A list of names or patterns with a schema each.
pub(super) type Named = Rc<[(Rc<str>, SchemaId)]>;

/// A list of names with a list of names each.
pub(super) type NameLists = Rc<[(Rc<str>, Rc<[Rc<str>]>)]>;

/// A keyword with its value. The name in the source stands beside it in [`Schema`].
#[derive(Clone, Debug)]
pub(super) enum Keyword {
    /// The schema `false`.
    False,
    Types(Types),
    /// Beside `type: integer` in draft 4: a number has neither fraction nor exponent, not even
    /// one without effect.
    PlainNumbers,
    /// `enum`, and `const` as a list of one.
    Enum(Rc<[Value]>),

    /// `minimum`, `exclusiveMinimum`.
    Minimum {
        bound: Decimal,
        exclusive: bool,
    },
    /// `maximum`, `exclusiveMaximum`.
    Maximum {
        bound: Decimal,
        exclusive: bool,
    },
    /// Greater than 0.
    MultipleOf(Decimal),

    MinLength(u64),
    MaxLength(u64),
    Pattern(Rc<str>),
    Format(Rc<str>),

    Properties(Named),
    PatternProperties(Named),
    /// For names in none of `names` that match none of `patterns`.
    AdditionalProperties {
        schema: SchemaId,
        names: Named,
        patterns: Named,
    },
    PropertyNames(SchemaId),
    Required(Rc<[Rc<str>]>),
    MinProperties(u64),
    MaxProperties(u64),
    /// `dependentRequired`, and `dependencies` with arrays.
    DependentRequired(NameLists),
    /// `dependentSchemas`, and `dependencies` with schemas.
    DependentSchemas(Named),
    UnevaluatedProperties(SchemaId),

    PrefixItems(Rc<[SchemaId]>),
    /// `items`, or `additionalItems` of older drafts: for all items from this one on.
    Items {
        from: usize,
        schema: SchemaId,
    },
    Contains {
        schema: SchemaId,
        min: u64,
        max: Option<u64>,
        /// Whether the items found count as evaluated; not so in draft 2019-09.
        evaluates: bool,
    },
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    UnevaluatedItems(SchemaId),

    AllOf(Rc<[SchemaId]>),
    AnyOf(Rc<[SchemaId]>),
    OneOf(Rc<[SchemaId]>),
    Not(SchemaId),
    /// `if` with `then` and `else`; without either it says nothing but evaluates.
    If {
        condition: SchemaId,
        then: Option<SchemaId>,
        otherwise: Option<SchemaId>,
    },
    /// `$ref`, and `$dynamicRef`/`$recursiveRef` where only one target is possible.
    Ref(SchemaId),
}

impl Types {
    /// Whether a type is listed.
    pub(super) fn contains(self, of: Type) -> bool {
        self.types & 1 << of as u8 != 0
    }
}

impl Schema {
    /// A schema that stands in no document.
    pub(super) fn made(keywords: Vec<(Keyword, &'static str)>) -> Self {
        Self { pointer: Pointer::default(), keywords }
    }

    /// Its place, if it stands in a document.
    pub(super) fn place(&self) -> Option<String> {
        self.pointer.is_known().then(|| self.pointer.to_string())
    }

    /// The place of a member of a keyword's value.
    pub(super) fn pointer_to_member(&self, keyword: &str, member: &str) -> String {
        let mut pointer = self.pointer_to(keyword);
        pointer.push('/');
        // Writing to a string does not fail.
        let _ = write_part(member, &mut pointer);
        pointer
    }

    /// The place of a keyword.
    pub(super) fn pointer_to(&self, keyword: &str) -> String {
        if keyword.is_empty() {
            self.pointer.to_string()
        } else {
            format!("{}/{keyword}", self.pointer)
        }
    }
}
