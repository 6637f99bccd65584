//! Short names for what the formats are built of.
//!
//! The methods take `&self`, so that calls nest as the expressions do.

use std::cell::RefCell;

use crate::grammar::GrammarBuilder;
use crate::index::ExprId;

/// Writes expressions into a grammar under construction.
pub(super) struct Pen<'a> {
    builder: RefCell<&'a mut GrammarBuilder>,
}

/// Inclusive ranges of characters, sorted and disjoint.
pub(super) type Ranges = [(char, char)];

/// Letters and digits of ASCII.
pub(super) const ALPHANUMERIC: &Ranges = &[('0', '9'), ('A', 'Z'), ('a', 'z')];

impl<'a> Pen<'a> {
    pub(super) fn new(builder: &'a mut GrammarBuilder) -> Self {
        Self { builder: RefCell::new(builder) }
    }

    /// This text.
    pub(super) fn text(&self, text: &str) -> ExprId {
        self.builder.borrow_mut().literal(text.as_bytes())
    }

    /// This ASCII letter, in both cases.
    pub(super) fn letter(&self, letter: char) -> ExprId {
        let (upper, lower) = (letter.to_ascii_uppercase(), letter.to_ascii_lowercase());
        self.class(&[(upper, upper), (lower, lower)])
    }

    /// One character of the ranges.
    pub(super) fn class(&self, ranges: &Ranges) -> ExprId {
        self.builder.borrow_mut().class(ranges)
    }

    /// Any character.
    pub(super) fn any(&self) -> ExprId {
        self.class(&[('\0', char::MAX)])
    }

    /// A decimal digit from `low` to `high`, which are numbers.
    pub(super) fn digits(&self, low: u8, high: u8) -> ExprId {
        let digit = |value| char::from(b'0' + value);
        if low == high {
            self.text(digit(low).encode_utf8(&mut [0; 1]))
        } else {
            self.class(&[(digit(low), digit(high))])
        }
    }

    /// Any decimal digit.
    pub(super) fn digit(&self) -> ExprId {
        self.digits(0, 9)
    }

    /// Any hexadecimal digit.
    pub(super) fn hex(&self) -> ExprId {
        self.class(&[('0', '9'), ('A', 'F'), ('a', 'f')])
    }

    /// One after the other.
    pub(super) fn seq(&self, parts: &[ExprId]) -> ExprId {
        self.builder.borrow_mut().seq(parts)
    }

    /// One of these.
    pub(super) fn alt(&self, parts: &[ExprId]) -> ExprId {
        self.builder.borrow_mut().alt(parts)
    }

    /// Once or not at all.
    pub(super) fn opt(&self, expr: ExprId) -> ExprId {
        self.times(expr, 0, 1)
    }

    /// Any number of times.
    pub(super) fn star(&self, expr: ExprId) -> ExprId {
        self.builder.borrow_mut().repeat(expr, 0, None)
    }

    /// Once or more often.
    pub(super) fn plus(&self, expr: ExprId) -> ExprId {
        self.builder.borrow_mut().repeat(expr, 1, None)
    }

    /// `min` to `max` times.
    pub(super) fn times(&self, expr: ExprId, min: u32, max: u32) -> ExprId {
        self.builder.borrow_mut().repeat(expr, min, Some(max))
    }

    /// Once or more often, with a separator between.
    pub(super) fn list(&self, item: ExprId, separator: ExprId) -> ExprId {
        self.seq(&[item, self.star(self.seq(&[separator, item]))])
    }

    /// What belongs to all of `all` and to none of `none`.
    pub(super) fn and(&self, all: &[ExprId], none: &[ExprId]) -> ExprId {
        self.builder.borrow_mut().and(all, none)
    }
}
