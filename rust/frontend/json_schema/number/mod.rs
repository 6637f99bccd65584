//! Sets of numbers → expressions for their spellings.
//!
//! Takes a formula over bounds and multiples ([`NumberSet`]); gives an expression over bytes whose
//! texts are spellings of exactly the numbers in the set. Which spellings (RFC 8259, section 6):
//!
//! - plain decimals, `-?(0|[1-9][0-9]*)(\.[0-9]+)?`, with at most `max_digits` digits before the
//!   point and behind it, or as many as the set's bounds have. Numbers that must be whole have at
//!   most zeros behind the point, and nothing where `integer_fractions` is off;
//! - any exponent of up to three digits (and leading zeros), where nothing is said of the number;
//! - where something is said, exponents behind a mantissa with one digit before the point that is
//!   not zero, as programs write them. For whole numbers the mantissa is a single digit, or the
//!   exponent is at least 16 and the mantissa has at most 16 more digits; none where
//!   `integer_fractions` is off. With `multipleOf` other than 1 there are no exponents.
//!
//! `-0` and `0.0` are 0.

mod decimal;
mod interval;
mod residue;
mod set;

pub(super) use decimal::Decimal;
pub(super) use set::NumberSet;

use super::limits::Limits;
use crate::error::GrammarError;
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;
use interval::{Fraction, Writer, exponent};
use residue::Residue;
use set::Interval;

/// Exponents of whole numbers with a fraction start here; their fractions have as many digits.
const WHOLE_EXPONENT: u8 = 16;
const MAX_EXPONENT: i64 = 999;

/// Which spellings there are.
#[derive(Clone, Copy)]
pub(super) struct NumberOptions {
    /// At most so many digits before the point, and behind it; `None` for any number.
    pub(super) max_digits: Option<u32>,
    /// Whether `1.0` and `1e2` are spellings of whole numbers.
    pub(super) integer_fractions: bool,
}

/// The spellings of the numbers of a set.
pub(super) fn expr(
    set: &NumberSet,
    options: &NumberOptions,
    limits: &Limits,
    builder: &mut GrammarBuilder,
) -> Result<ExprId, GrammarError> {
    if set.is_all() {
        return Ok(any_number(options, builder));
    }
    let mut parts = Vec::new();
    for interval in set.intervals() {
        spell(interval, options, limits, builder, &mut parts)?;
    }
    parts.sort_unstable();
    parts.dedup();
    Ok(builder.alt(&parts))
}

fn any_number(options: &NumberOptions, builder: &mut GrammarBuilder) -> ExprId {
    let fraction = Fraction { any: true, zeros: true, digits: options.max_digits };
    let minus = builder.literal(b"-");
    let sign = builder.repeat(minus, 0, Some(1));
    let plain = Writer { builder, digits: options.max_digits, fraction }.plain(None, None);
    let plain = builder.alt(&plain);
    let exponent = exponent(builder, -MAX_EXPONENT, MAX_EXPONENT);
    let exponent = builder.repeat(exponent, 0, Some(1));
    builder.seq(&[sign, plain, exponent])
}

/// Adds the spellings of the numbers of an interval: those without a sign, and those with one.
fn spell(
    interval: &Interval,
    options: &NumberOptions,
    limits: &Limits,
    builder: &mut GrammarBuilder,
    parts: &mut Vec<ExprId>,
) -> Result<(), GrammarError> {
    let Interval { low, high, residue } = interval;
    let positive = magnitudes(low.as_ref(), high.as_ref());
    let mirrored = |bound: &Option<(Decimal, bool)>| {
        bound.as_ref().map(|(bound, excluded)| (bound.negated(), *excluded))
    };
    let negative = magnitudes(mirrored(high).as_ref(), mirrored(low).as_ref());
    let single = matches!((low, high), (Some((low, _)), Some((high, _))) if low == high);
    let whole = *residue == Residue::integer()
        || single && low.as_ref().is_some_and(|(value, _)| value.is_integer());
    let plain = *residue == Residue::All || whole;
    let fraction = Fraction {
        any: !whole,
        zeros: options.integer_fractions || !(whole || residue.needs_integers()),
        digits: options.max_digits,
    };
    let mut decimals = Vec::new();
    for (range, sign) in [(positive, None), (negative, Some(b"-"))] {
        let Some((low, high)) = range else { continue };
        let mut spelled = Vec::new();
        let mut writer = Writer { builder, digits: options.max_digits, fraction };
        spelled.extend(writer.plain(low.as_ref(), high.as_ref()));
        if plain && (!whole || options.integer_fractions) {
            // A number with an exponent is not zero here.
            let low = low.clone().filter(|(low, _)| !low.is_zero());
            let zero = high.as_ref().is_some_and(|(high, _)| high.is_zero());
            if !zero {
                let (low, high) = (low.as_ref(), high.as_ref());
                if whole {
                    writer.fraction = Fraction { any: false, zeros: false, digits: None };
                    spelled.extend(writer.scientific(low, high, (0, MAX_EXPONENT)));
                    writer.fraction = Fraction {
                        any: true,
                        zeros: true,
                        digits: Some(u32::from(WHOLE_EXPONENT)),
                    };
                    let powers = (i64::from(WHOLE_EXPONENT), MAX_EXPONENT);
                    if low.is_none_or(|low| fits(&low.0)) && high.is_none_or(|high| fits(&high.0)) {
                        spelled.extend(writer.scientific(low, high, powers));
                    }
                } else {
                    spelled.extend(writer.scientific(low, high, (-MAX_EXPONENT, MAX_EXPONENT)));
                }
            }
        }
        spelled.sort_unstable();
        spelled.dedup();
        if spelled.is_empty() {
            continue;
        }
        let spelled = builder.alt(&spelled);
        decimals.push(match sign {
            Some(sign) => {
                let sign = builder.literal(sign);
                builder.seq(&[sign, spelled])
            }
            None => spelled,
        });
    }
    if plain {
        parts.append(&mut decimals);
    } else if !decimals.is_empty() {
        let fractions = options.integer_fractions || !residue.needs_integers();
        if let Some(automaton) = residue.automaton(fractions, limits)? {
            let automaton = builder.automaton(automaton);
            let range = builder.alt(&decimals);
            parts.push(builder.and(&[range, automaton], &[]));
        }
    }
    Ok(())
}

/// Whether a bound's digits do not make fractions longer than whole numbers may have.
fn fits(bound: &Decimal) -> bool {
    bound.is_zero() || bound.scientific().0.len() <= usize::from(WHOLE_EXPONENT)
}

/// A range of magnitudes.
type Range = (Option<(Decimal, bool)>, Option<(Decimal, bool)>);

/// The part of an interval that is not negative; `None` if there is none.
fn magnitudes(low: Option<&(Decimal, bool)>, high: Option<&(Decimal, bool)>) -> Option<Range> {
    if high.is_some_and(|(high, excluded)| high.is_negative() || high.is_zero() && *excluded) {
        return None;
    }
    let low = low.filter(|(low, _)| !low.is_negative()).cloned();
    Some((low, high.cloned()))
}

#[cfg(test)]
mod tests;
