//! What is spelled is what belongs to the set: checked with exact decimals, number by number.

use super::*;
use crate::compile::Languages;

/// Says which of some texts an expression has.
struct Spelled {
    builder: GrammarBuilder,
    languages: Languages,
    expr: ExprId,
}

impl Spelled {
    fn new(set: &NumberSet, integer_fractions: bool) -> Self {
        let mut builder = GrammarBuilder::new();
        let options = NumberOptions { max_digits: Some(40), integer_fractions };
        let expr = expr(set, &options, &Limits::default(), &mut builder).unwrap();
        Self { builder, languages: Languages::default(), expr }
    }

    fn has(&mut self, text: &str) -> bool {
        self.languages.matches(&self.builder, self.expr, text.as_bytes()).unwrap()
    }
}

fn d(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn at_least(text: &str) -> NumberSet {
    NumberSet::minimum(d(text), false)
}

fn at_most(text: &str) -> NumberSet {
    NumberSet::maximum(d(text), false)
}

fn above(text: &str) -> NumberSet {
    NumberSet::minimum(d(text), true)
}

fn multiples_of(text: &str) -> NumberSet {
    NumberSet::multiple_of(&d(text))
}

fn all_of(parts: impl IntoIterator<Item = NumberSet>) -> NumberSet {
    parts.into_iter().fold(NumberSet::all(), NumberSet::and)
}

/// What a set is made of, to tell its numbers without its intervals.
#[derive(Debug)]
enum Formula {
    Minimum(Decimal, bool),
    Maximum(Decimal, bool),
    Value(Decimal),
    Multiple(Decimal),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Not(Box<Formula>),
}

impl Formula {
    fn set(&self) -> NumberSet {
        match self {
            Self::Minimum(bound, exclusive) => NumberSet::minimum(bound.clone(), *exclusive),
            Self::Maximum(bound, exclusive) => NumberSet::maximum(bound.clone(), *exclusive),
            Self::Value(value) => NumberSet::of(vec![value.clone()]),
            Self::Multiple(step) => NumberSet::multiple_of(step),
            Self::And(parts) => all_of(parts.iter().map(Self::set)),
            Self::Or(parts) => {
                parts.iter().map(Self::set).fold(NumberSet::nothing(), NumberSet::or)
            }
            Self::Not(part) => part.set().not(),
        }
    }

    fn holds(&self, number: &Decimal) -> bool {
        match self {
            Self::Minimum(bound, exclusive) => number > bound || number == bound && !exclusive,
            Self::Maximum(bound, exclusive) => number < bound || number == bound && !exclusive,
            Self::Value(value) => number == value,
            Self::Multiple(step) => residue::is_multiple(number, step),
            Self::And(parts) => parts.iter().all(|part| part.holds(number)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(number)),
            Self::Not(part) => !part.holds(number),
        }
    }
}

#[track_caller]
fn check(set: &NumberSet, yes: &[&str], no: &[&str]) {
    let mut spelled = Spelled::new(set, true);
    for text in yes {
        assert!(spelled.has(text), "{text} belongs to {set:?}");
    }
    for text in no {
        assert!(!spelled.has(text), "{text} does not belong to {set:?}");
    }
}

#[test]
fn bounds() {
    check(
        &at_least("0.5"),
        &["0.5", "0.75", "1", "12.25", "0.50", "5e-1", "1e2"],
        &["0.4", "0.49999", "-1", ".5", "0,5"],
    );
    check(
        &above("0"),
        &["0.1", "0.000001", "1", "250.5", "1e-9"],
        &["0", "0.0", "-0", "-0.1", "0e3"],
    );
    check(&at_most("-4"), &["-4", "-4.1", "-400", "-4.0"], &["-3.9", "-3", "0", "4", "-0"]);
    let both = all_of([at_least("1e-07"), at_most("1e+21")]);
    check(
        &both,
        &["0.0000001", "1", "1000000", "1e21", "1e-7", "1e+21"],
        &["0", "-1", "0.00000001", "1e22", "1e-8"],
    );
    let both = all_of([above("-1.5"), at_most("2.25")]);
    check(
        &both,
        &["-1.49", "-1.4999", "0", "-0", "2.25", "2.250", "2", "-1", "1e-300"],
        &["-1.5", "-1.50", "2.251", "3", "2.2501"],
    );
}

/// The plain decimal 0.000…digits with so many zeros, or digits and so many zeros behind them.
fn plain(digits: &str, power: i32) -> String {
    let places = power.unsigned_abs() as usize;
    if power < 0 {
        format!("0.{}{digits}", "0".repeat(places - 1))
    } else {
        format!("{digits}{}", "0".repeat(places + 1 - digits.len()))
    }
}

/// Lower bounds that branch at hundreds of digits.
#[test]
fn bounds_of_many_digits() {
    for (digits, power) in [("5", -324), ("22250738585072014", -308), ("1", -100), ("1", 250)] {
        let bound = plain(digits, power);
        let ten_times = plain(digits, power + 1);
        let mut texts = vec!["0".to_owned(), "1".to_owned(), "9".repeat(250), "9".repeat(251)];
        for others in ["1", "2", "22250738585072013", "22250738585072015", "4", "49", "51", "9"] {
            texts.extend([power - 1, power, power + 1].map(|power| plain(others, power)));
        }
        texts.extend([bound.clone(), ten_times.clone()]);
        if power < 0 {
            texts.extend(["0", "1"].map(|digit| bound.clone() + digit));
            texts.extend([bound[..bound.len() - 1].to_owned(), "0.0".to_owned(), "3.0".to_owned()]);
        }
        for exclusive in [false, true] {
            let low = NumberSet::minimum(d(&bound), exclusive);
            let sets = [
                (low.clone(), None),
                (low.clone().and(at_most(&ten_times)), Some(ten_times.clone())),
                (low.and(at_most("1e300")), Some(plain("1", 300))),
            ];
            for (set, most) in sets {
                let mut spelled = Spelled::new(&set, true);
                // Longer numbers than 40 digits only if a bound has so many.
                let parts = |text: &str| {
                    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
                    (whole.len(), behind.len())
                };
                let bounds = [parts(&bound), parts(most.as_deref().unwrap_or_default())];
                let longest = bounds.iter().map(|bound| bound.0).fold(40, usize::max);
                let finest = bounds.iter().map(|bound| bound.1 + 1).fold(40, usize::max);
                for text in &texts {
                    let number = d(text);
                    let above = number > d(&bound) || number == d(&bound) && !exclusive;
                    let below = most.as_ref().is_none_or(|most| number <= d(most));
                    let (whole, behind) = parts(text);
                    let fits = whole <= longest && behind <= finest;
                    assert_eq!(spelled.has(text), above && below && fits, "{text} in {set:?}");
                }
            }
        }
    }
}

#[test]
fn mantissas_of_many_digits() {
    let bound = format!("1{}.5", "0".repeat(300));
    let above = [format!("1.{}5e300", "0".repeat(300)), format!("1{}.6", "0".repeat(300))];
    let below = [format!("1.{}4e300", "0".repeat(300)), format!("1{}.4", "0".repeat(300))];
    let (above, below) = (above.each_ref().map(|it| &**it), below.each_ref().map(|it| &**it));
    check(&at_least(&bound), &[&above[..], &[&bound, "2e300", "1e301"]].concat(), &below);
    check(&at_least(&bound), &[], &["1e300", "0.5e301", "0.5e302"]);
    let between = all_of([at_least(&bound), at_most("1e301")]);
    check(
        &between,
        &[&above[..], &["1e301", "9.9e300"]].concat(),
        &[&below[..], &["2e301"]].concat(),
    );
}

#[test]
fn whole_numbers() {
    let texts = ["0", "-0", "7", "-12", "1.0", "1e2", "1e+16", "1.5e16", "1e308", "-2.0"];
    check(&NumberSet::integer(), &texts, &["1.5", "01", "1.5e0", "", "-", "1e-2"]);
    let mut strict = Spelled::new(&NumberSet::integer(), false);
    assert!(strict.has("-7") && !strict.has("1.0") && !strict.has("1e2"));
    let range = all_of([NumberSet::integer(), at_least("0"), at_most("100")]);
    check(&range, &["0", "100", "99", "1.0", "1e2", "7e1"], &["101", "-1", "100.5", "1e3", "2e2"]);
    let not_zero = all_of([NumberSet::integer(), NumberSet::of(vec![d("0")]).not()]);
    check(&not_zero, &["1", "-1", "10", "100"], &["0", "-0", "0.0", "0e5"]);
    let big = all_of([NumberSet::integer(), at_most("9223372036854775807")]);
    check(
        &big,
        &["9223372036854775807", "9223372036854775799"],
        &["9223372036854775808", "10000000000000000000"],
    );
}

#[test]
fn multiples() {
    let half = multiples_of("0.5");
    check(&half, &["1.5", "2", "-0.5", "0", "3.0", "2.50"], &["1.3", "0.25", "2.51"]);
    let cents = multiples_of("0.01");
    check(&cents, &["19.99", "0.01", "5", "1.100"], &["0.001", "1.999"]);
    let range = all_of([NumberSet::integer(), multiples_of("7"), at_most("50")]);
    check(&range, &["0", "49", "-7", "7.0"], &["56", "8", "-1"]);
    let thousands = multiples_of("1000");
    check(&thousands, &["0", "1000", "-20000", "12000.0"], &["100", "1001", "10"]);
    let odd = multiples_of("500000");
    check(&odd, &["500000", "1500000", "10000000"], &["50000", "1250000"]);
    let not_even = all_of([NumberSet::integer(), multiples_of("2").not()]);
    check(&not_even, &["1", "-7", "13"], &["0", "2", "10", "1.5"]);
    let tiny = all_of([NumberSet::integer(), multiples_of("1e-8")]);
    check(&tiny, &["12391239123", "0"], &["0.5"]);
}

#[test]
fn values_and_emptiness() {
    let set = all_of([NumberSet::integer(), at_least("1"), at_most("5")]);
    assert_eq!(set.values(10).unwrap().len(), 5);
    assert_eq!(NumberSet::integer().values(10), None);
    assert!(all_of([at_least("5"), at_most("4")]).is_empty());
    assert!(all_of([NumberSet::integer(), above("1"), at_most("1.5")]).is_empty());
    assert!(!all_of([above("1"), at_most("1.5")]).is_empty());
    let values = NumberSet::of(vec![d("1.5")]).or(NumberSet::of(vec![d("3")]));
    assert_eq!(values.values(10).unwrap(), [d("1.5"), d("3")]);
}

#[test]
fn random_formulas_are_exact() {
    let bounds = ["-12", "-1.5", "-0.05", "0", "0.5", "0.75", "3", "9.99", "10", "99", "120.5"];
    let steps = ["1", "2", "0.5", "0.25", "3", "10", "7", "0.3"];
    let mut texts: Vec<String> = Vec::new();
    for whole in [
        "0", "1", "2", "3", "4", "7", "9", "10", "11", "12", "20", "98", "99", "100", "119", "120",
        "121",
    ] {
        for fraction in [
            "", ".0", ".5", ".05", ".04", ".06", ".25", ".75", ".99", ".990", ".991", ".49", ".3",
            ".50",
        ] {
            texts.push(format!("{whole}{fraction}"));
            texts.push(format!("-{whole}{fraction}"));
        }
    }
    for mantissa in ["1", "5", "7.5", "1.2", "9.99", "1.205"] {
        for power in ["e0", "e1", "E+2", "e-1", "e-02", "e20"] {
            texts.push(format!("{mantissa}{power}"));
            texts.push(format!("-{mantissa}{power}"));
        }
    }
    let mut seed = 17u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..300 {
        let mut parts: Vec<Formula> = Vec::new();
        for _ in 0..=next(4) {
            let bound = d(bounds[next(bounds.len())]);
            let exclusive = next(2) == 0;
            let mut part = match next(5) {
                0 => Formula::Minimum(bound, exclusive),
                1 => Formula::Maximum(bound, exclusive),
                2 => Formula::Value(bound),
                3 => Formula::Multiple(d("1")),
                _ => Formula::Multiple(d(steps[next(steps.len())])),
            };
            if next(4) == 0 {
                part = Formula::Not(Box::new(part));
            }
            if next(3) == 0
                && let Some(other) = parts.pop()
            {
                part = Formula::Or(vec![part, other]);
                if next(3) == 0 {
                    part = Formula::Not(Box::new(part));
                }
            }
            parts.push(part);
        }
        let formula = Formula::And(parts);
        let set = formula.set();
        let mut spelled = Spelled::new(&set, true);
        for text in &texts {
            let number = d(text);
            let belongs = formula.holds(&number);
            assert_eq!(set.contains(&number), belongs, "{text}: {formula:?}");
            let has = spelled.has(text);
            assert!(belongs || !has, "{text} does not belong to {formula:?}");
            // Exponents are not offered for all sets; plain decimals are.
            assert!(has || !belongs || text.contains(['e', 'E']), "{text} belongs to {formula:?}");
        }
        if set.is_empty() {
            assert!(!texts.iter().any(|text| formula.holds(&d(text))), "{formula:?}");
        }
    }
}
