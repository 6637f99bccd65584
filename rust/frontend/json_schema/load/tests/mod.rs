//! What schemas say, one keyword at a time; the other files are about texts, references and whole
//! collections.

mod errors;
mod json;
mod references;
mod shared;

use std::rc::Rc;

use super::*;
use crate::frontend::json_schema::Status;
use crate::frontend::json_schema::model::{Keyword, Type, Types, Value};
use crate::frontend::json_schema::number::Decimal;

type Keywords = Vec<(Keyword, &'static str)>;

/// The root's keywords, and the loader for what they mention.
#[track_caller]
fn with_root<T>(text: &str, check: impl FnOnce(&Keywords, &mut Loader<'_>) -> T) -> T {
    let options = Options::default();
    let mut loader = Loader::new(text, &options).unwrap_or_else(|error| panic!("{text}: {error}"));
    let root = loader.root().unwrap();
    let schema = loader.schema(root).unwrap_or_else(|error| panic!("{text}: {error}"));
    check(&schema.keywords, &mut loader)
}

/// The root's keywords.
#[track_caller]
fn root(text: &str) -> Keywords {
    with_root(text, |keywords, _| keywords.clone())
}

/// The names of the root's keywords in order.
#[track_caller]
fn names(text: &str) -> Vec<&'static str> {
    root(text).iter().map(|(_, name)| *name).collect()
}

/// A schema of a draft: 4, 6, 7, 2019 or 2020.
fn draft(draft: u32, members: &str) -> String {
    let uri = match draft {
        2019 => "https://json-schema.org/draft/2019-09/schema".to_owned(),
        2020 => "https://json-schema.org/draft/2020-12/schema".to_owned(),
        old => format!("http://json-schema.org/draft-0{old}/schema#"),
    };
    format!(r#"{{"$schema": "{uri}", {members}}}"#)
}

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

#[test]
fn booleans_are_schemas() {
    assert!(root("true").is_empty());
    assert!(root("{}").is_empty());
    assert!(matches!(root("false")[..], [(Keyword::False, "false")]));
}

#[test]
fn types_are_sets() {
    let types = |text: &str| match root(&format!(r#"{{"type": {text}}}"#))[..] {
        [(Keyword::Types(types), "type")] => types,
        _ => panic!("{text}"),
    };
    let bits = |of: &[Type]| of.iter().map(|&of| 1 << of as u8).sum();
    let string = Types { types: bits(&[Type::String]), integer: false };
    assert_eq!(types(r#""string""#), string);
    assert_eq!(types(r#"["string", "string"]"#), string);
    assert_eq!(types(r#""integer""#), Types { types: 0, integer: true });
    let number = Types { types: bits(&[Type::Number]), integer: false };
    assert_eq!(types(r#"["integer", "number"]"#), number);
    let either = Types { types: bits(&[Type::Null, Type::Object]), integer: true };
    assert_eq!(types(r#"["null", "integer", "object"]"#), either);
}

#[test]
fn integers_of_draft_4_have_no_point() {
    for (draft_of, plain) in [(4, true), (6, false), (2020, false)] {
        let keywords = root(&draft(draft_of, r#""type": ["integer", "null"]"#));
        assert_eq!(keywords.iter().any(|k| matches!(k, (Keyword::PlainNumbers, "type"))), plain);
    }
    assert_eq!(names(&draft(4, r#""type": ["integer", "number"]"#)), ["type"]);
}

#[test]
fn constants_are_exact() {
    let text =
        r#"{"enum": [1, 1.0, 10e-1, true, "a\u00e9", null, [0.1], {"b": 1, "a": 2, "b": 3}]}"#;
    let keywords = root(text);
    let [(Keyword::Enum(values), "enum")] = &keywords[..] else { panic!() };
    let one = Value::Number(number("1"));
    assert_eq!(values[..3], [one.clone(), one.clone(), one]);
    assert_eq!(values[3], Value::Bool(true));
    assert_eq!(values[4], Value::String("aé".into()));
    assert_eq!(values[6], Value::Array(Rc::new([Value::Number(number("0.1"))])));
    let Value::Object(members) = &values[7] else { panic!() };
    assert_eq!(
        members[..],
        [("a".into(), Value::Number(number("2"))), ("b".into(), Value::Number(number("3"))),]
    );
    let keywords = root(r#"{"const": null}"#);
    assert!(matches!(&keywords[..], [(Keyword::Enum(values), "const")] if values.len() == 1));
}

#[test]
fn bounds_are_numbers_or_booleans() {
    let bounds = |text: &str| -> Vec<(String, bool)> {
        root(text)
            .iter()
            .map(|(keyword, name)| match keyword {
                Keyword::Minimum { bound, exclusive } | Keyword::Maximum { bound, exclusive } => {
                    assert!(*bound == number("3") || *bound == number("4"));
                    ((*name).to_owned(), *exclusive)
                }
                _ => panic!("{text}"),
            })
            .collect()
    };
    let own = |list: &[(&str, bool)]| -> Vec<(String, bool)> {
        list.iter().map(|&(name, exclusive)| (name.to_owned(), exclusive)).collect()
    };
    let old = r#""minimum": 3, "exclusiveMinimum": true, "maximum": 4, "exclusiveMaximum": false"#;
    let expected = own(&[("minimum", true), ("maximum", false)]);
    assert_eq!(bounds(&format!("{{{old}}}")), expected);
    assert_eq!(bounds(&draft(4, old)), expected);
    assert_eq!(bounds(r#"{"exclusiveMinimum": true}"#), []);
    let new = r#""exclusiveMaximum": 4, "minimum": 3"#;
    let expected = own(&[("exclusiveMaximum", true), ("minimum", false)]);
    assert_eq!(bounds(&format!("{{{new}}}")), expected);
    assert_eq!(bounds(&draft(7, new)), expected);
}

#[test]
fn counts_may_be_written_as_fractions() {
    let text = r#"{"minLength": 2.0, "maxLength": 1e1, "minItems": 0, "maxProperties": 1e400}"#;
    assert!(matches!(
        root(text)[..],
        [
            (Keyword::MinLength(2), "minLength"),
            (Keyword::MaxLength(10), "maxLength"),
            (Keyword::MinItems(0), "minItems"),
            (Keyword::MaxProperties(u64::MAX), "maxProperties"),
        ]
    ));
}

#[test]
fn additional_properties_know_their_siblings() {
    let text = r#"{"additionalProperties": false, "properties": {"a": {}, "b": true},
        "patternProperties": {"^x": {}}, "required": ["a", "c"], "propertyNames": {}}"#;
    let keywords = root(text);
    let [
        (Keyword::AdditionalProperties { names, patterns, .. }, "additionalProperties"),
        (Keyword::Properties(properties), "properties"),
        (Keyword::PatternProperties(of), "patternProperties"),
        (Keyword::Required(required), "required"),
        (Keyword::PropertyNames(_), "propertyNames"),
    ] = &keywords[..]
    else {
        panic!("{keywords:?}")
    };
    assert_eq!(names, properties);
    assert_eq!(patterns, of);
    assert_eq!(names.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(required.iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
fn dependencies_are_of_two_kinds() {
    let members = r#""dependencies": {"a": ["b"], "c": {"type": "object"}, "d": {}}"#;
    for text in [format!("{{{members}}}"), draft(4, members), draft(2020, members)] {
        let keywords = root(&text);
        let [
            (Keyword::DependentRequired(lists), "dependencies"),
            (Keyword::DependentSchemas(schemas), "dependencies"),
        ] = &keywords[..]
        else {
            panic!("{keywords:?}")
        };
        assert_eq!((lists.len(), schemas.len()), (1, 2));
    }
}

#[test]
fn items_follow_the_prefix() {
    let from = |text: &str| match root(text)[..] {
        [(Keyword::Items { from, .. }, "items")] => (0, from),
        [(Keyword::PrefixItems(ref prefix), _), (Keyword::Items { from, .. }, _)] => {
            (prefix.len(), from)
        }
        ref keywords => panic!("{text}: {keywords:?}"),
    };
    assert_eq!(from(r#"{"items": {}}"#), (0, 0));
    assert_eq!(from(r#"{"prefixItems": [{}, {}], "items": false}"#), (2, 2));
    assert_eq!(from(&draft(2020, r#""prefixItems": [{}], "items": {}"#)), (1, 1));
    assert_eq!(from(r#"{"items": [{}, {}, {}], "additionalItems": false}"#), (3, 3));
    assert_eq!(from(&draft(7, r#""items": [{}], "additionalItems": {}"#)), (1, 1));
    // Beside an `items` that is a schema it says nothing.
    assert_eq!(from(&draft(7, r#""additionalItems": false, "items": {}"#)), (0, 0));
    assert_eq!(names(r#"{"additionalItems": false}"#), [""; 0]);
    assert_eq!(
        names(&draft(2020, r#""prefixItems": [{}], "additionalItems": false"#)),
        ["prefixItems"]
    );
    assert_eq!(names(&draft(7, r#""prefixItems": [{}]"#)), [""; 0]);
}

#[test]
fn contains_holds_its_numbers() {
    let bounds = |text: &str| match root(text)[..] {
        [(Keyword::Contains { min, max, evaluates, .. }, "contains")] => (min, max, evaluates),
        ref keywords => panic!("{text}: {keywords:?}"),
    };
    assert_eq!(bounds(r#"{"contains": {}}"#), (1, None, true));
    assert_eq!(bounds(r#"{"minContains": 0, "contains": {}}"#), (0, None, true));
    assert_eq!(
        bounds(r#"{"contains": {}, "maxContains": 3, "minContains": 2}"#),
        (2, Some(3), true)
    );
    assert_eq!(bounds(&draft(2019, r#""contains": {}, "minContains": 2"#)), (2, None, false));
    assert_eq!(bounds(&draft(7, r#""contains": {}, "minContains": 2"#)), (1, None, true));
    assert_eq!(names(r#"{"minContains": 2}"#), [""; 0]);
}

#[test]
fn conditions_hold_their_branches() {
    let branches = |text: &str| match root(text)[..] {
        [(Keyword::If { then, otherwise, .. }, "if")] => (then.is_some(), otherwise.is_some()),
        ref keywords => panic!("{text}: {keywords:?}"),
    };
    assert_eq!(branches(r#"{"then": {}, "if": {}, "else": {}}"#), (true, true));
    assert_eq!(branches(r#"{"if": {}, "else": {}}"#), (false, true));
    assert_eq!(branches(r#"{"if": {}}"#), (false, false));
    assert_eq!(names(r#"{"then": {}, "else": {}}"#), [""; 0]);
    assert_eq!(names(&draft(6, r#""if": {}, "then": {}"#)), [""; 0]);
}

#[test]
fn unevaluated_keywords_come_last() {
    let text = r#"{"unevaluatedItems": false, "allOf": [{}], "unevaluatedProperties": false,
        "anyOf": [{}], "oneOf": [{}], "not": {}}"#;
    let expected = ["allOf", "anyOf", "oneOf", "not", "unevaluatedItems", "unevaluatedProperties"];
    assert_eq!(names(text), expected);
}

#[test]
fn drafts_know_their_own_keywords() {
    let members = r#""const": 1, "contains": {}, "propertyNames": {}, "exclusiveMinimum": 1,
        "dependentRequired": {}, "dependentSchemas": {}, "unevaluatedItems": {}, "if": {}"#;
    let known = |of: u32| names(&draft(of, members));
    assert_eq!(names(&draft(4, r#""const": 1, "contains": {}, "propertyNames": {}"#)), [""; 0]);
    assert_eq!(known(6), ["const", "contains", "propertyNames", "exclusiveMinimum"]);
    assert_eq!(known(7), ["const", "contains", "propertyNames", "exclusiveMinimum", "if"]);
    assert_eq!(known(2019).len(), 8);
    assert_eq!(known(2020).len(), 8);
}

#[test]
fn annotations_say_nothing() {
    let text = r#"{"title": "t", "description": "", "default": {}, "examples": [], "$comment": "",
        "deprecated": true, "readOnly": true, "writeOnly": true, "contentEncoding": "base64",
        "contentMediaType": "a/b", "contentSchema": {}, "nullable": true, "discriminator": {},
        "uniqueItems": false, "$defs": {}, "x": 1}"#;
    assert_eq!(names(text), [""; 0]);
    assert!(matches!(root(r#"{"uniqueItems": true}"#)[..], [(Keyword::UniqueItems, _)]));
}

#[test]
fn custom_metaschemas_choose_vocabularies() {
    let mut options = Options::default();
    let metaschema = |vocabularies: &str| {
        format!(
            r#"{{"$schema": "https://json-schema.org/draft/2020-12/schema",
                "$vocabulary": {{"https://json-schema.org/draft/2020-12/vocab/core": true,
                    "https://json-schema.org/draft/2020-12/vocab/applicator": true,
                    {vocabularies}}}}}"#
        )
    };
    let unknown = |required: bool| metaschema(&format!(r#""http://x/vocabulary": {required}"#));
    options.resources = vec![
        ("http://x/optional".to_owned(), unknown(false)),
        ("http://x/required".to_owned(), unknown(true)),
        ("http://x/plain".to_owned(), r#"{"$schema": "http://x/optional"}"#.to_owned()),
        ("http://x/loop".to_owned(), r#"{"$schema": "http://x/loop"}"#.to_owned()),
    ];
    let names = |uri: &str| -> Result<Vec<&'static str>, GrammarError> {
        let text = format!(r#"{{"$schema": "{uri}", "minimum": 1, "properties": {{}}}}"#);
        let mut loader = Loader::new(&text, &options)?;
        let root = loader.root()?;
        Ok(loader.schema(root)?.keywords.iter().map(|(_, name)| *name).collect())
    };
    assert_eq!(names("http://x/optional"), Ok(vec!["properties"]));
    assert_eq!(names("http://x/plain"), Ok(vec!["minimum", "properties"]));
    let error = names("http://x/required").unwrap_err();
    assert_eq!(error.pointer(), Some("/$schema"));
    assert!(error.to_string().contains("\"http://x/vocabulary\""), "{error}");
    assert!(names("http://x/loop").unwrap_err().to_string().contains("unknown draft"));
}

#[test]
fn only_what_is_asked_for_is_read() {
    let text = r##"{"properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "string"}, "b": {"type": "null"}, "c": true}}"##;
    with_root(text, |_, loader| {
        loader.walk_all(&mut |_, _| {}).unwrap();
        assert_eq!(loader.slots.len(), 3);
    });
}

#[test]
fn the_walk_tells_what_keywords_are() {
    let text = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "title": "t",
        "properties": {"b": {"$ref": "#/definitions/x", "minLength": 2},
            "a/b": {"type": "string", "nullable": true}},
        "then": {}, "minContains": 3, "definitions": {"x": {"items": {"$ref": "#"}}}}"##;
    let mut seen = vec![];
    with_root(text, |_, loader| {
        loader
            .walk_all(&mut |_, finding| {
                assert!(finding.pointer.ends_with(&finding.keyword));
                seen.push(format!("{} {}", finding.pointer, finding.reason));
                let enforced = finding.status == Status::Enforced;
                assert_eq!(enforced, finding.reason.is_empty());
            })
            .unwrap();
    });
    assert_eq!(
        seen,
        [
            "/$schema describes, does not constrain",
            "/title describes, does not constrain",
            "/properties ",
            "/then says nothing without `if`",
            "/minContains not a keyword of draft 7",
            "/definitions describes, does not constrain",
            "/properties/b/$ref ",
            "/properties/b/minLength draft 7 ignores what stands beside `$ref`",
            "/definitions/x/items ",
            "/definitions/x/items/$ref ",
            "/properties/a~1b/type ",
            "/properties/a~1b/nullable not a keyword of JSON Schema",
        ]
    );
}
