//! How much a schema may ask for. Past a limit there is an error that names it.

use crate::compile::Effort;
use crate::error::{GrammarError, GrammarErrorKind};

macro_rules! limits {
    ($($(#[doc = $doc:literal])* $limit:ident $name:literal $usual:literal $most:literal)*) => {
        /// What is limited.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Limit {
            $($(#[doc = $doc])* $limit,)*
        }

        impl Limit {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$limit,)*];

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$limit => $name,)*
                }
            }

            /// The greatest value it can have.
            pub const fn most(self) -> usize {
                match self {
                    $(Self::$limit => $most,)*
                }
            }

            const fn usual(self) -> usize {
                match self {
                    $(Self::$limit => $usual,)*
                }
            }
        }
    };
}

limits! {
    /// Bytes of a schema's text, and of each resource's.
    TextBytes "text_bytes" 16_777_216 0x7fff_ffff
    /// Arrays and objects inside one another; walks over schemas recurse along them.
    Nesting "nesting" 128 1_000
    /// Digits of a number, written out without an exponent.
    NumberDigits "number_digits" 1_000 10_000
    /// Bytes of the names and strings that a grammar spells out.
    LiteralBytes "literal_bytes" 400_000 0x7fff_ffff
    /// Bytes of a grammar's patterns.
    PatternBytes "pattern_bytes" 200_000 0x7fff_ffff
    /// References and combinations that lead, each from the last, from a schema to what it says.
    Depth "depth" 400 1_000
    /// Alternatives of one array or object, as `anyOf` gives them.
    Alternatives "alternatives" 4_096 1_000_000
    /// Pairs of alternatives that are put together.
    Combinations "combinations" 100_000 0xffff_ffff
    /// Properties and items that are looked at while alternatives are put together.
    Work "work" 5_000_000 0xffff_ffff
    /// Objects in a `oneOf` that no property tells apart.
    OneOf "one_of" 500 100_000
    /// Patterns for the names of one object's properties.
    NamePatterns "name_patterns" 10 16
    /// Properties of one object that must exist, whatever their names are.
    UnnamedProperties "unnamed_properties" 6 12
    /// Items of one array that have schemas of their own.
    ItemPlaces "item_places" 20_000 1_000_000
    /// Kinds of items that one array counts.
    ItemKinds "item_kinds" 6 12
    /// States of one array's items: how many of each kind there have been.
    ItemStates "item_states" 4_096 1_000_000
    /// Different `multipleOf` of one number.
    Multiples "multiples" 64 1_000
    /// States of an automaton that reads multiples.
    MultipleStates "multiple_states" 20_000 10_000_000
    /// Sets of dynamic anchors that are bound at once.
    Scopes "scopes" 2_000 1_000_000
    /// Schemas that mean something else in another such set.
    ScopedSchemas "scoped_schemas" 200_000 10_000_000
    /// Names, constants and other terminals of the grammar, and rules of arrays and objects.
    Symbols "symbols" 40_000 0x3fff_ffff
    /// Parts of the grammar that these are put together from.
    GrammarParts "grammar_parts" 400_000 0x3fff_ffff
    /// Steps of all searches for texts that several patterns have in common.
    SearchSteps "search_steps" 524_288 0xffff_ffff
    /// Parts of a pattern, shared ones counted each time.
    TerminalParts "terminal_parts" 2_097_152 0xffff_ffff
    /// Steps through what is left of the conditions on the properties of one object.
    ConditionSteps "condition_steps" 524_288 0xffff_ffff
}

/// The value of each limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits([usize; Limit::ALL.len()]);

impl Default for Limits {
    fn default() -> Self {
        let mut limits = Self([0; Limit::ALL.len()]);
        for &limit in Limit::ALL {
            limits.set(limit, limit.usual());
        }
        limits
    }
}

impl Limits {
    /// A limit's value.
    pub fn get(&self, limit: Limit) -> usize {
        self.0[limit as usize]
    }

    /// Changes a limit, to no more than [`Limit::most`].
    pub fn set(&mut self, limit: Limit, value: usize) {
        self.0[limit as usize] = value.min(limit.most());
    }

    /// The error for what is past a limit; the message says what there is more of than the limit.
    pub(crate) fn exceeded(
        &self,
        limit: Limit,
        message: impl Into<String>,
        advice: &str,
    ) -> GrammarError {
        self.with_option(limit, GrammarError::new(GrammarErrorKind::Limit, message), advice)
    }

    /// The error of a later stage, with the option that sets the limit it is past, if there is one.
    pub(super) fn named(&self, error: GrammarError) -> GrammarError {
        let limit = Limit::ALL.iter().find(|limit| Some(limit.name()) == error.limit());
        let Some(&limit) = limit else { return error };
        let advice = error.hint().unwrap_or_default().to_owned();
        self.with_option(limit, error, &advice)
    }

    fn with_option(&self, limit: Limit, error: GrammarError, advice: &str) -> GrammarError {
        let (name, value) = (limit.name(), self.get(limit));
        let advice = if advice.is_empty() { String::new() } else { format!("{advice}, or ") };
        error.with_hint(format!("{advice}raise the limit, which is limits={{{name:?}: {value}}}"))
    }

    /// What they say of compiling.
    pub(super) fn effort(&self) -> Effort {
        Effort {
            search_steps: self.get(Limit::SearchSteps),
            terminal_parts: self.get(Limit::TerminalParts),
            condition_steps: self.get(Limit::ConditionSteps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_values_and_names() {
        let mut limits = Limits::default();
        for (index, &limit) in Limit::ALL.iter().enumerate() {
            assert_eq!(limit as usize, index);
            assert_eq!(limits.get(limit), limit.usual());
            assert!(0 < limit.usual() && limit.usual() <= limit.most());
            limits.set(limit, usize::MAX);
            assert_eq!(limits.get(limit), limit.most());
        }
        let error = limits.exceeded(Limit::Nesting, "too deep", "dig less");
        assert_eq!(error.kind(), GrammarErrorKind::Limit);
        let hint = "dig less, or raise the limit, which is limits={\"nesting\": 1000}";
        assert_eq!(error.hint(), Some(hint));
    }
}
