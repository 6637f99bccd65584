//! What of validation a grammar narrows, each with a name; what it takes beside the schema.

use super::limits::Limits;

/// How a schema becomes a grammar. The default of each is what most models write.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each named")]
pub struct Options {
    /// White space between the parts of a value.
    pub whitespace: Whitespace,
    /// The order of an object's properties.
    pub property_order: PropertyOrder,
    /// `additionalProperties` of objects that name properties and don't say, and that no
    /// `unevaluatedProperties` concerns; an object without `properties` stays open. JSON Schema's own default is true.
    pub additional_properties: bool,
    /// Which spellings of a character a string may use.
    pub escapes: Escapes,
    /// How many digits the integer part, and the fraction, of a number may have; `None` for any
    /// number of them. A bound of the schema with more digits raises this.
    pub max_number_digits: Option<u32>,
    /// Whether `1.0` and `1e2` are spellings of integers.
    pub integer_fractions: bool,
    /// Whether `format` constrains; if not, it is an annotation.
    pub formats: bool,
    /// Whether a keyword that can't be enforced is an error; if not, it is ignored and listed.
    pub reject_unsupported: bool,
    /// Documents that references may lead to: absolute URI and JSON text of each.
    pub resources: Vec<(String, String)>,
    /// How much the schema may ask for.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            whitespace: Whitespace::Flexible,
            property_order: PropertyOrder::Schema,
            additional_properties: true,
            escapes: Escapes::Minimal,
            max_number_digits: Some(40),
            integer_fractions: true,
            formats: true,
            reject_unsupported: true,
            resources: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// White space between the parts of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whitespace {
    /// At most [`FLEXIBLE`] characters after `{`, `[`, `,` and `:` and before `}` and `]`.
    Flexible,
    /// Any amount wherever JSON allows it.
    Any,
    /// One spelling: what stands between items, what stands behind names, and how many blanks each
    /// level is indented by (on lines of their own), if it is.
    Fixed {
        /// `,` and blanks.
        item: String,
        /// `:` and blanks.
        key: String,
        /// Blanks a level.
        indent: Option<u32>,
    },
}

/// The longest run of white space in [`Whitespace::Flexible`].
pub const FLEXIBLE: u32 = 64;

/// The order of an object's properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyOrder {
    /// As in `properties`, then those only `required` names, then all others.
    Schema,
    /// Any.
    Any,
}

/// Which spellings of a character a string may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Escapes {
    /// The character itself where JSON allows that; `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`;
    /// `\u00XX` for the other control characters.
    Minimal,
    /// Also `\uXXXX` for any character (a surrogate pair for one beyond U+FFFF).
    All,
}
