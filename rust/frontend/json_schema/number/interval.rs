//! Spellings of the numbers between two bounds.
//!
//! A bound is compared digit by digit. The state is whether all digits so far are those of the
//! lower bound, and of the upper one; once they are not, any digits may follow. The same walk makes
//! whole numbers, decimals and the mantissas of numbers with exponents.
//!
//! What is above a lower bound branches at each digit that is not 9, within one another. Where these
//! are many and an upper bound would branch at few, as with `5e-324` or `1e250`, it is written as
//! what is not below.

use super::decimal::Decimal;
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;

/// The largest exponent that is written.
const MAX_EXPONENT: i64 = 999;

/// Lower bounds that branch more often are written as what is not below.
const MANY: usize = 64;

/// A bound of magnitudes: digits before the point, digits behind it, and whether it is excluded.
type Bound = (Vec<u8>, Vec<u8>, bool);

/// How fractions are written.
#[derive(Clone, Copy)]
pub(super) struct Fraction {
    /// Whether there may be a fraction that is not zero.
    pub(super) any: bool,
    /// Whether `.0` may be written.
    pub(super) zeros: bool,
    /// At most so many digits.
    pub(super) digits: Option<u32>,
}

/// Writes numbers of one kind.
pub(super) struct Writer<'b> {
    pub(super) builder: &'b mut GrammarBuilder,
    /// How many digits there may be before the point.
    pub(super) digits: Option<u32>,
    pub(super) fraction: Fraction,
}

impl Writer<'_> {
    /// Plain decimals without sign between two magnitudes.
    pub(super) fn plain(
        &mut self,
        low: Option<&(Decimal, bool)>,
        high: Option<&(Decimal, bool)>,
    ) -> Vec<ExprId> {
        let bound = |bound: &(Decimal, bool)| {
            let (whole, fraction) = bound.0.plain();
            (whole, fraction, bound.1)
        };
        let zero: Bound = (vec![0], Vec::new(), false);
        let low: Bound = low.map_or(zero, bound);
        let high: Option<Bound> = high.map(bound);
        self.raise_digits(Some(&low), high.as_ref());
        let shortest = low.0.len();
        let longest = high.as_ref().map(|high| high.0.len());
        let mut parts = Vec::new();
        // As many digits as the lower bound has, and as the upper one.
        for length in shortest..=longest.unwrap_or(shortest).min(shortest) {
            let upper = high.as_ref().filter(|_| longest == Some(length));
            parts.extend(self.from(length, &low, upper));
        }
        let first_free = shortest as u32 + 1;
        let last_free = match longest {
            Some(longest) => Some(longest as u32 - 1),
            None => self.digits.map(|digits| digits.max(shortest as u32)),
        };
        if last_free.is_none_or(|last| first_free <= last) {
            let head = digit(self.builder, 1, 9);
            let any = digit(self.builder, 0, 9);
            let rest = self.builder.repeat(any, first_free - 1, last_free.map(|last| last - 1));
            let fraction = self.any_fraction();
            parts.push(self.builder.seq(&[head, rest, fraction]));
        }
        if let (Some(high), Some(longest)) = (&high, longest)
            && longest > shortest
        {
            parts.extend(self.whole(longest, 0, None, Some(high)));
        }
        parts
    }

    /// Numbers d.ddd × 10^n, n written as `e+n` or `e-n`, between two magnitudes; `low` is not 0.
    pub(super) fn scientific(
        &mut self,
        low: Option<&(Decimal, bool)>,
        high: Option<&(Decimal, bool)>,
        powers: (i64, i64),
    ) -> Vec<ExprId> {
        let bound = |bound: &(Decimal, bool)| {
            let (digits, power) = bound.0.scientific();
            ((vec![digits[0]], digits[1..].to_vec(), bound.1), power)
        };
        let low = low.map(bound);
        let high = high.map(bound);
        let (first, last) = (
            low.as_ref().map_or(powers.0, |low| low.1.max(powers.0)),
            high.as_ref().map_or(powers.1, |high| high.1.min(powers.1)),
        );
        let mut parts = Vec::new();
        if first > last {
            return parts;
        }
        let least: Bound = (vec![1], Vec::new(), false);
        let at_low = low.as_ref().filter(|low| low.1 == first).map(|low| &low.0);
        let at_high = high.as_ref().filter(|high| high.1 == last).map(|high| &high.0);
        let mut add = |writer: &mut Self, from: i64, to: i64, low: Option<&Bound>, high| {
            if from > to {
                return;
            }
            let low = low.unwrap_or(&least);
            writer.raise_digits(Some(low), high);
            let mantissa = writer.from(1, low, high);
            let Some(mantissa) = mantissa else { return };
            let exponent = exponent(writer.builder, from, to);
            parts.push(writer.builder.seq(&[mantissa, exponent]));
        };
        if first == last {
            add(self, first, last, at_low, at_high);
        } else {
            if at_low.is_some() {
                add(self, first, first, at_low, None);
            }
            let from = first + i64::from(at_low.is_some());
            let to = last - i64::from(at_high.is_some());
            add(self, from, to, None, None);
            if at_high.is_some() {
                add(self, last, last, None, at_high);
            }
        }
        parts
    }

    /// Lets numbers have as many digits behind the point as bounds, and one more.
    fn raise_digits(&mut self, low: Option<&Bound>, high: Option<&Bound>) {
        let longest = low.into_iter().chain(high).map(|bound| bound.1.len() as u32 + 1).max();
        self.fraction.digits =
            self.fraction.digits.map(|digits| longest.map_or(digits, |it| it.max(digits)));
    }

    /// Numbers with `length` digits before the point, as many as the lower bound.
    fn from(&mut self, length: usize, low: &Bound, high: Option<&Bound>) -> Option<ExprId> {
        let (whole, fraction, excluded) = low;
        let branches =
            |digit: u8| whole.iter().chain(fraction).filter(|&&other| other != digit).count();
        if branches(9) <= MANY || branches(0) > MANY {
            return self.whole(length, 0, Some(low), high);
        }
        let all = if high.is_some() {
            self.whole(length, 0, None, high)?
        } else {
            let head = digit(self.builder, u8::from(length > 1), 9);
            let any = digit(self.builder, 0, 9);
            let rest = length as u32 - 1;
            let rest = self.builder.repeat(any, rest, Some(rest));
            let fraction = self.any_fraction();
            self.builder.seq(&[head, rest, fraction])
        };
        let under = (whole.clone(), fraction.clone(), !excluded);
        let below = self.whole(length, 0, None, Some(&under));
        Some(below.map_or(all, |below| self.builder.and(&[all], &[below])))
    }

    /// The digits from `at` on of numbers with `length` digits before the point. A bound is given
    /// as long as all digits before were its own.
    fn whole(
        &mut self,
        length: usize,
        at: usize,
        low: Option<&Bound>,
        high: Option<&Bound>,
    ) -> Option<ExprId> {
        if at == length {
            return self.point(low, high);
        }
        if low.is_none() && high.is_none() {
            let any = digit(self.builder, 0, 9);
            let rest = (length - at) as u32;
            let rest = self.builder.repeat(any, rest, Some(rest));
            let fraction = self.any_fraction();
            return Some(self.builder.seq(&[rest, fraction]));
        }
        let least = u8::from(at == 0 && length > 1);
        let from = low.map_or(least, |low| low.0[at].max(least));
        let to = high.map_or(9, |high| high.0[at]);
        self.split(from, to, low, high, |writer, low, high| writer.whole(length, at + 1, low, high))
    }

    /// Behind the last digit before the point.
    fn point(&mut self, low: Option<&Bound>, high: Option<&Bound>) -> Option<ExprId> {
        let mut parts = Vec::new();
        let digits = self.fraction_digits(low, high);
        if may_end(0, low, high) {
            parts.push(self.builder.empty());
        }
        if let Some(digits) = digits {
            let point = self.builder.literal(b".");
            parts.push(self.builder.seq(&[point, digits]));
        }
        (!parts.is_empty()).then(|| self.builder.alt(&parts))
    }

    /// At least one digit behind the point.
    fn fraction_digits(&mut self, low: Option<&Bound>, high: Option<&Bound>) -> Option<ExprId> {
        let zero = digit(self.builder, 0, 0);
        if !self.fraction.any {
            // Only zeros: the number must be within the bounds as it is.
            return (self.fraction.zeros && may_end(0, low, high))
                .then(|| self.builder.repeat(zero, 1, self.fraction.digits));
        }
        self.fraction_from(0, low, high)
    }

    /// The digits behind the point from one on, that one included.
    fn fraction_from(
        &mut self,
        at: usize,
        low: Option<&Bound>,
        high: Option<&Bound>,
    ) -> Option<ExprId> {
        // A bound with no digits left that may be reached is met by whatever follows.
        let low = low.filter(|low| low.1.len() > at || low.2);
        let length = |bound: Option<&Bound>| bound.map_or(0, |bound| bound.1.len());
        let left = self.fraction.digits.map(|digits| digits - at as u32);
        let (zero, any) = (digit(self.builder, 0, 0), digit(self.builder, 0, 9));
        if low.is_none() && high.is_none() {
            return Some(self.builder.repeat(any, 1, left));
        }
        if at >= length(low) && at >= length(high) {
            return match (low, high) {
                // Greater than a bound that has ended: some digit is not zero.
                (Some(_), None) => {
                    let more = digit(self.builder, 1, 9);
                    let zeros = self.builder.repeat(zero, 0, left.map(|left| left - 1));
                    let rest = self.builder.repeat(any, 0, left.map(|left| left - 1));
                    Some(self.builder.seq(&[zeros, more, rest]))
                }
                // Not greater than a bound that has ended: zeros, if it may be reached.
                (None, Some(high)) if !high.2 => Some(self.builder.repeat(zero, 1, left)),
                _ => None,
            };
        }
        if let (None, Some(high)) = (low, high) {
            // Zeros of an upper bound: a number may end behind each of them.
            let run = high.1[at..].iter().take_while(|&&digit| digit == 0).count();
            if run > 0 {
                let rest = self.fraction_from(at + run, low, Some(high))?;
                let ends = self.builder.repeat(zero, 1, Some(run as u32));
                let zeros = self.builder.repeat(zero, run as u32, Some(run as u32));
                let more = self.builder.seq(&[zeros, rest]);
                return Some(self.builder.alt(&[ends, more]));
            }
        }
        let digit_of = |bound: &Bound| bound.1.get(at).copied().unwrap_or(0);
        let from = low.map_or(0, digit_of);
        let to = high.map_or(9, digit_of);
        self.split(from, to, low, high, |writer, low, high| {
            let mut parts = Vec::new();
            if may_end(at + 1, low, high) {
                parts.push(writer.builder.empty());
            }
            parts.extend(writer.fraction_from(at + 1, low, high));
            (!parts.is_empty()).then(|| writer.builder.alt(&parts))
        })
    }

    /// A digit of a range, and what follows: at the ends of the range the bounds go on to matter.
    fn split(
        &mut self,
        from: u8,
        to: u8,
        low: Option<&Bound>,
        high: Option<&Bound>,
        mut rest: impl FnMut(&mut Self, Option<&Bound>, Option<&Bound>) -> Option<ExprId>,
    ) -> Option<ExprId> {
        if from > to {
            return None;
        }
        let mut parts = Vec::new();
        let mut add = |writer: &mut Self, from: u8, to: u8, low, high| {
            if from <= to
                && let Some(rest) = rest(writer, low, high)
            {
                let head = digit(writer.builder, from, to);
                parts.push(writer.builder.seq(&[head, rest]));
            }
        };
        if from == to {
            add(self, from, to, low, high);
        } else {
            let (mut first, mut last) = (from, to);
            if low.is_some() {
                add(self, from, from, low, None);
                first += 1;
            }
            if high.is_some() {
                add(self, to, to, None, high);
                last -= 1;
            }
            add(self, first, last, None, None);
        }
        (!parts.is_empty()).then(|| self.builder.alt(&parts))
    }

    fn any_fraction(&mut self) -> ExprId {
        let (low, high) = if self.fraction.any { (0, 9) } else { (0, 0) };
        if !self.fraction.any && !self.fraction.zeros {
            return self.builder.empty();
        }
        let any = digit(self.builder, low, high);
        let digits = self.builder.repeat(any, 1, self.fraction.digits);
        let point = self.builder.literal(b".");
        let fraction = self.builder.seq(&[point, digits]);
        self.builder.repeat(fraction, 0, Some(1))
    }
}

/// Whether a number may end when the bounds' digits have been read up to `at` behind the point.
fn may_end(at: usize, low: Option<&Bound>, high: Option<&Bound>) -> bool {
    let above = low.is_none_or(|low| low.1.len() <= at && !low.2);
    let below = high.is_none_or(|high| high.1.len() > at || !high.2);
    above && below
}

/// `e`, a sign and a number of a range.
pub(super) fn exponent(builder: &mut GrammarBuilder, from: i64, to: i64) -> ExprId {
    let (from, to) = (from.max(-MAX_EXPONENT), to.min(MAX_EXPONENT));
    let e = builder.class(&[('E', 'E'), ('e', 'e')]);
    let zeros = digit(builder, 0, 0);
    let zeros = builder.repeat(zeros, 0, Some(3));
    let numbers = |builder: &mut GrammarBuilder, from: i64, to: i64| {
        let fraction = Fraction { any: false, zeros: false, digits: None };
        let mut writer = Writer { builder, digits: None, fraction };
        let (from, to) = (Decimal::from_i64(from), Decimal::from_i64(to));
        let parts = writer.plain(Some(&(from, false)), Some(&(to, false)));
        let digits = builder.alt(&parts);
        builder.seq(&[zeros, digits])
    };
    let mut signed = Vec::new();
    if to >= 0 {
        let plus = builder.literal(b"+");
        let plus = builder.repeat(plus, 0, Some(1));
        let digits = numbers(builder, from.max(0), to);
        signed.push(builder.seq(&[plus, digits]));
    }
    if from <= 0 {
        let minus = builder.literal(b"-");
        let (least, most) = ((-to).max(0), -from);
        if least <= most {
            let digits = numbers(builder, least, most);
            signed.push(builder.seq(&[minus, digits]));
        }
    }
    let signed = builder.alt(&signed);
    builder.seq(&[e, signed])
}

/// One digit of a range.
pub(super) fn digit(builder: &mut GrammarBuilder, from: u8, to: u8) -> ExprId {
    builder.class(&[(char::from(b'0' + from), char::from(b'0' + to))])
}
