//! Each format on cases of its own, and on JSON Schema's test suite if that is there.

mod cases;
mod naive;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{caveat, expr};
use crate::grammar::GrammarBuilder;

const FORMATS: [&str; 19] = [
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Whether a text is valid in a format, which must be known.
fn valid(format: &str, text: &str) -> bool {
    let mut builder = GrammarBuilder::new();
    let root = expr(format, &mut builder).expect(format);
    naive::matches(&builder, root, text)
}

#[test]
fn own_cases() {
    for &(format, good, bad) in cases::CASES {
        assert!(FORMATS.contains(&format));
        assert!(good.len() >= 5 && bad.len() >= 5, "{format} needs more cases");
        for text in good {
            assert!(valid(format, text), "{text:?} is valid in {format}");
        }
        for text in bad {
            assert!(!valid(format, text), "{text:?} is not valid in {format}");
        }
    }
    let covered: BTreeSet<_> = cases::CASES.iter().map(|case| case.0).collect();
    assert_eq!(covered, BTreeSet::from(FORMATS));
}

#[test]
fn unknown_formats_are_annotations() {
    for name in ["", "Date", "string", "color", "int32"] {
        let mut builder = GrammarBuilder::new();
        assert_eq!(expr(name, &mut builder), None);
        assert_eq!(caveat(name), None);
    }
}

#[test]
fn leap_days_are_those_of_the_calendar() {
    let mut builder = GrammarBuilder::new();
    let root = expr("date", &mut builder).unwrap();
    for year in 0..10_000 {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let text = format!("{year:04}-02-29");
        assert_eq!(naive::matches(&builder, root, &text), leap, "{text}");
    }
}

#[test]
fn leap_seconds_are_those_of_utc() {
    let mut builder = GrammarBuilder::new();
    let root = expr("time", &mut builder).unwrap();
    for offset in 0..1440_i32 {
        for sign in [-1, 1] {
            // The right minute and its neighbours, which are wrong, and some other one.
            let right = 1439 + sign * offset;
            for shift in [0, 1, 60, 1380, 1439, 777] {
                let local = (right + shift).rem_euclid(1440);
                let text = format!(
                    "{:02}:{:02}:60.5{}{:02}:{:02}",
                    local / 60,
                    local % 60,
                    if sign < 0 { '-' } else { '+' },
                    offset / 60,
                    offset % 60
                );
                assert_eq!(naive::matches(&builder, root, &text), shift == 0, "{text}");
            }
        }
    }
}

#[test]
fn groups_nest_in_patterns_as_deep_as_said() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(valid("regex", &nested(3)));
    assert!(!valid("regex", &nested(4)));
}

#[test]
fn expressions_are_small() {
    for format in FORMATS {
        let mut builder = GrammarBuilder::new();
        expr(format, &mut builder).unwrap();
        let limit = if format == "regex" { 1800 } else { 400 };
        let size = builder.exprs().len();
        assert!(size <= limit, "{format} has {size} expressions");
    }
}

/// What the suite says is right and no regular expression can tell.
const BEYOND: &[(&str, &str)] = &[
    // Punycode.
    ("hostname", "xn--"),
    ("idn-hostname", "xn--"),
    // A reference by name.
    ("regex", "\\k<"),
];

#[test]
fn the_suite_agrees() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root has a parent");
    let folder = root.join("shared/json-schema-test-suite/draft2020-12/optional/format");
    let Ok(files) = fs::read_dir(folder) else { return };
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let groups: serde_json::Value = serde_json::from_str(&text).unwrap();
        for group in groups.as_array().unwrap() {
            let format = group["schema"]["format"].as_str().unwrap();
            for test in group["tests"].as_array().unwrap() {
                let Some(data) = test["data"].as_str() else { continue };
                let expected = test["valid"].as_bool().unwrap();
                let mut builder = GrammarBuilder::new();
                let found = expr(format, &mut builder)
                    .is_none_or(|root| naive::matches(&builder, root, data));
                let left_out = |&(of, part): &(&str, &str)| {
                    of == format && data.to_ascii_lowercase().contains(part)
                };
                if found != expected && !(expected && BEYOND.iter().any(left_out)) {
                    wrong.push(format!("{format}: {data:?} is {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
