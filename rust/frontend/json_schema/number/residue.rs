//! Multiples: formulas over them, and automata that read decimals.

use rustc_hash::FxHashMap;

use super::decimal::Decimal;
use crate::error::{GrammarError, shortened};
use crate::frontend::json_schema::limits::{Limit, Limits};
use crate::grammar::{Automaton, AutomatonState};

/// Formulas are kept flat up to so many parts.
const MAX_FLAT: usize = 64;
/// A message tells so many multiples.
const SHOWN: usize = 20;

/// A formula over multiples.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Residue {
    All,
    Nothing,
    /// Multiples of this.
    Multiple(Decimal),
    And(Vec<Residue>),
    Or(Vec<Residue>),
    Not(Box<Residue>),
}

impl Residue {
    pub(super) fn multiple_of(step: &Decimal) -> Self {
        Self::Multiple(step.clone())
    }

    pub(super) fn integer() -> Self {
        Self::Multiple(Decimal::from_i64(1))
    }

    /// Both hold.
    pub(super) fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::All, part) | (part, Self::All) => part.clone(),
            _ => Self::joined([self, other], true),
        }
    }

    /// One of them holds.
    pub(super) fn or(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Nothing, part) | (part, Self::Nothing) => part.clone(),
            _ => Self::joined([self, other], false),
        }
    }

    fn joined(pair: [&Self; 2], and: bool) -> Self {
        let parts = |of: &'_ Self| match of {
            Self::And(parts) if and => parts.len(),
            Self::Or(parts) if !and => parts.len(),
            _ => 1,
        };
        // Longer lists stay as they are: comparing all parts with one another takes too long.
        let flat = parts(pair[0]) + parts(pair[1]) <= MAX_FLAT;
        let mut kept: Vec<Self> = Vec::new();
        for part in pair {
            let parts = match part {
                Self::And(parts) if and && flat => &parts[..],
                Self::Or(parts) if !and && flat => &parts[..],
                part => std::slice::from_ref(part),
            };
            for part in parts {
                if kept.contains(&part.clone().negated()) {
                    return if and { Self::Nothing } else { Self::All };
                }
                if !kept.contains(part) {
                    kept.push(part.clone());
                }
            }
        }
        match kept.len() {
            1 => kept.swap_remove(0),
            _ if and => Self::And(kept),
            _ => Self::Or(kept),
        }
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Self::All => Self::Nothing,
            Self::Nothing => Self::All,
            Self::Not(part) => *part,
            part => Self::Not(Box::new(part)),
        }
    }

    /// Whether it holds for a number.
    pub(super) fn holds(&self, number: &Decimal) -> bool {
        self.holds_if(&|step| is_multiple(number, step))
    }

    fn holds_if(&self, is_multiple: &impl Fn(&Decimal) -> bool) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Multiple(step) => is_multiple(step),
            Self::And(parts) => parts.iter().all(|part| part.holds_if(is_multiple)),
            Self::Or(parts) => parts.iter().any(|part| part.holds_if(is_multiple)),
            Self::Not(part) => !part.holds_if(is_multiple),
        }
    }

    /// Whether it holds for whole numbers only, as far as its outermost conjunction says.
    pub(super) fn needs_integers(&self) -> bool {
        match self {
            Self::Multiple(step) => step.is_integer(),
            Self::And(parts) => parts.iter().any(Self::needs_integers),
            Self::Or(parts) => parts.iter().all(Self::needs_integers),
            Self::Nothing => true,
            Self::All | Self::Not(_) => false,
        }
    }

    /// An automaton for the plain decimals (no exponent, any number of digits) for which it holds;
    /// `None` if there are none. `fractions`: whether whole numbers may be written `1.0`.
    pub(super) fn automaton(
        &self,
        fractions: bool,
        limits: &Limits,
    ) -> Result<Option<Automaton>, GrammarError> {
        let (most, most_states) = (limits.get(Limit::Multiples), limits.get(Limit::MultipleStates));
        let mut steps = Vec::new();
        self.collect_steps(&mut steps, most);
        if steps.len() > most {
            let message = format!("more than {most} `multipleOf` are said of one number");
            return Err(limits.exceeded(Limit::Multiples, message, "use fewer"));
        }
        let too_many = || {
            let steps: Vec<String> =
                steps.iter().take(SHOWN).map(|step| shortened(&step.to_string()).into()).collect();
            let message = format!(
                "`multipleOf` {} needs an automaton of more than {most_states} states",
                steps.join(" and ")
            );
            limits.exceeded(Limit::MultipleStates, message, "use a step with fewer digits")
        };
        let machines = steps
            .iter()
            .map(Machine::new)
            .collect::<Option<Vec<Machine>>>()
            .ok_or_else(too_many)?;
        let start: (Syntax, Vec<u64>) =
            (Syntax::Start, machines.iter().map(Machine::zero).collect());
        let mut known: FxHashMap<(Syntax, Vec<u64>), u32> = FxHashMap::default();
        known.insert(start.clone(), 0);
        let mut queue = vec![start];
        let mut states = Vec::new();
        let mut at = 0;
        while at < queue.len() {
            let (syntax, values) = queue[at].clone();
            let mut edges = Vec::new();
            for byte in *b"-.0123456789" {
                let Some(next) = syntax.step(byte, fractions) else { continue };
                let values: Option<Vec<u64>> = machines
                    .iter()
                    .zip(&values)
                    .map(|(machine, &value)| Some(machine.step(value, next, byte)))
                    .collect();
                let Some(values) = values else { continue };
                let key = (next, values);
                let target = *known.entry(key.clone()).or_insert_with(|| {
                    queue.push(key);
                    queue.len() as u32 - 1
                });
                edges.push((byte, byte, target));
            }
            if queue.len() > most_states {
                return Err(too_many());
            }
            let accepts = syntax.accepts()
                && self.holds_if(&|step| {
                    let machine = steps.iter().position(|known| known == step);
                    machine.is_some_and(|at| machines[at].accepts(values[at]))
                });
            states.push(AutomatonState { accepts, edges: edges.into() });
            at += 1;
        }
        Ok(Automaton::new(&states))
    }

    /// The different multiples; one more than `most` are enough.
    fn collect_steps(&self, steps: &mut Vec<Decimal>, most: usize) {
        match self {
            _ if steps.len() > most => {}
            Self::Multiple(step) if !steps.contains(step) => steps.push(step.clone()),
            Self::And(parts) | Self::Or(parts) => {
                for part in parts {
                    part.collect_steps(steps, most);
                }
            }
            Self::Not(part) => part.collect_steps(steps, most),
            Self::All | Self::Nothing | Self::Multiple(_) => {}
        }
    }
}

/// Whether a number is a whole multiple of a step.
pub(super) fn is_multiple(number: &Decimal, step: &Decimal) -> bool {
    let Some(machine) = Machine::new(step) else { return false };
    let (whole, fraction) = number.plain();
    let mut value = machine.zero();
    for digit in whole {
        value = machine.step(value, Syntax::Whole, digit + b'0');
    }
    if !fraction.is_empty() {
        value = machine.step(value, Syntax::Point, b'.');
    }
    for digit in fraction {
        value = machine.step(value, Syntax::Fraction, digit + b'0');
    }
    machine.accepts(value)
}

/// Where in a plain decimal we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Syntax {
    Start,
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
}

impl Syntax {
    fn step(self, byte: u8, fractions: bool) -> Option<Self> {
        match (self, byte) {
            (Self::Start, b'-') => Some(Self::Minus),
            (Self::Start | Self::Minus, b'0') => Some(Self::Zero),
            (Self::Start | Self::Minus | Self::Whole, b'1'..=b'9') | (Self::Whole, b'0') => {
                Some(Self::Whole)
            }
            (Self::Zero | Self::Whole, b'.') if fractions => Some(Self::Point),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            _ => None,
        }
    }

    fn accepts(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction)
    }
}

/// Divisibility by m × 10^k, digit by digit.
///
/// Whole part, k ≥ 0: the state is (u, t), the number read being u × 10^t with t ≤ k; it is
/// divisible if u is by m and t = k. With k < 0 it is the number read modulo m. In the fraction it
/// also tells how many of the −k places have been read; what follows must be zero.
struct Machine {
    m: u64,
    /// max(k, 0) and max(−k, 0).
    zeros: u64,
    places: u64,
}

/// A state that no digit can make a multiple.
const NEVER: u64 = u64::MAX;

impl Machine {
    fn new(step: &Decimal) -> Option<Self> {
        let (digits, power) = step.scaled();
        let m = digits
            .iter()
            .try_fold(0u64, |sum, &digit| sum.checked_mul(10)?.checked_add(u64::from(digit)))
            .filter(|&m| m < 1_000_000_000_000_000)?;
        let (zeros, places) = (power.max(0).unsigned_abs(), power.min(0).unsigned_abs());
        (zeros <= 400 && places <= 400).then_some(Self { m, zeros, places })
    }

    /// States are packed: the remainder, then how many zeros or places.
    fn pack(&self, remainder: u64, count: u64) -> u64 {
        remainder * (self.zeros + self.places + 2) + count
    }

    fn unpack(&self, state: u64) -> (u64, u64) {
        let base = self.zeros + self.places + 2;
        (state / base, state % base)
    }

    /// Nothing read: zero, which has as many trailing zeros as are asked for.
    fn zero(&self) -> u64 {
        self.pack(0, self.zeros)
    }

    fn step(&self, state: u64, syntax: Syntax, byte: u8) -> u64 {
        if state == NEVER {
            return NEVER;
        }
        let (remainder, count) = self.unpack(state);
        let digit = u64::from(byte.wrapping_sub(b'0'));
        match syntax {
            Syntax::Whole | Syntax::Zero => {
                if digit == 0 && count < self.zeros {
                    return self.pack(remainder, count + 1);
                }
                if self.zeros > 0 && digit != 0 {
                    let shifted =
                        (0..=count).fold(remainder % self.m, |value, _| value * 10 % self.m);
                    return self.pack((shifted + digit) % self.m, 0);
                }
                self.pack((remainder * 10 + digit) % self.m, count)
            }
            Syntax::Point => {
                if self.places == 0 {
                    // The whole part must do.
                    return if self.accepts(state) { state } else { NEVER };
                }
                self.pack(remainder, 1)
            }
            Syntax::Fraction => {
                if self.places == 0 || count > self.places {
                    return if digit == 0 { state } else { NEVER };
                }
                self.pack((remainder * 10 + digit) % self.m, count + 1)
            }
            Syntax::Start | Syntax::Minus => state,
        }
    }

    fn accepts(&self, state: u64) -> bool {
        if state == NEVER {
            return false;
        }
        let (remainder, count) = self.unpack(state);
        if self.places > 0 {
            // The places that were not written are zeros.
            let read = count.saturating_sub(1);
            let rest = (read..self.places).fold(remainder, |value, _| value * 10 % self.m);
            return rest == 0;
        }
        remainder % self.m == 0 && count == self.zeros
    }
}
