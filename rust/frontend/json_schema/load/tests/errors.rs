//! Schemas that are wrong: what is said, and where.

use super::draft;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::load::Loader;
use crate::frontend::json_schema::options::Options;

/// The first error on a walk through a schema.
#[track_caller]
pub(super) fn fault(text: &str) -> GrammarError {
    let options = Options::default();
    let walk = Loader::new(text, &options).and_then(|mut loader| loader.walk_all(&mut |_, _| {}));
    walk.err().unwrap_or_else(|| panic!("{text} is taken"))
}

#[track_caller]
fn check(text: &str, message: &str, pointer: &str, hint: &str) {
    let error = fault(text);
    assert!(error.to_string().starts_with(message), "{text}: {error}");
    assert_eq!(error.pointer(), Some(pointer), "{text}");
    assert!(error.hint().unwrap_or_default().contains(hint), "{text}: {error}");
    assert_eq!(error.hint().is_some(), !hint.is_empty(), "{text}: {error}");
}

#[test]
fn values_of_the_wrong_kind_are_shown() {
    for (members, message, pointer, hint) in [
        (
            r#""minLength": "3""#,
            "`minLength` must be a non-negative integer, not \"3\"",
            "/minLength",
            "",
        ),
        (r#""maxItems": -1"#, "`maxItems` must be a non-negative integer, not -1", "/maxItems", ""),
        (
            r#""minProperties": 2.5"#,
            "`minProperties` must be a non-negative integer, not 2.5",
            "/minProperties",
            "",
        ),
        (
            r#""contains": {}, "minContains": null"#,
            "`minContains` must be a non-negative",
            "/minContains",
            "",
        ),
        (r#""minimum": "3""#, "`minimum` must be a number, not \"3\"", "/minimum", ""),
        (
            r#""multipleOf": 0"#,
            "`multipleOf` must be a number greater than 0, not 0",
            "/multipleOf",
            "",
        ),
        (
            r#""multipleOf": -1e-3"#,
            "`multipleOf` must be a number greater than 0, not -1e-3",
            "/multipleOf",
            "",
        ),
        (r#""enum": "a""#, "`enum` must be an array, not \"a\"", "/enum", ""),
        (r#""pattern": 1"#, "`pattern` must be a string, not 1", "/pattern", ""),
        (r#""format": []"#, "`format` must be a string, not an array", "/format", ""),
        (r#""uniqueItems": 1"#, "`uniqueItems` must be true or false, not 1", "/uniqueItems", ""),
    ] {
        check(&format!("{{{members}}}"), message, pointer, hint);
    }
    let bounds = r#""exclusiveMinimum": "#;
    let pointer = "/exclusiveMinimum";
    let old = draft(4, &format!("{bounds} 1"));
    check(&old, "`exclusiveMinimum` must be true", pointer, "draft 6");
    let new = draft(7, &format!("{bounds} true"));
    check(&new, "`exclusiveMinimum` must be a number", pointer, "draft 4");
}

#[test]
fn parts_of_the_wrong_kind_are_shown() {
    for (members, message, pointer, hint) in [
        (r#""required": "a""#, "`required` must be an array of names, not \"a\"", "/required", ""),
        (
            r#""required": ["a", 1]"#,
            "`required` must be an array of names, all of them strings, not 1",
            "/required/1",
            "",
        ),
        (
            r#""properties": {"a": {"required": true}}"#,
            "`required` must be an array of names, not true",
            "/properties/a/required",
            "in the schema of the object",
        ),
        (
            r#""dependentRequired": {"a": "b"}"#,
            "`dependentRequired` must be an array of names",
            "/dependentRequired/a",
            "",
        ),
        (
            r#""dependencies": []"#,
            "`dependencies` must be an object, not an array",
            "/dependencies",
            "",
        ),
        (
            r#""properties": []"#,
            "`properties` must be an object whose members are schemas, not an array",
            "/properties",
            "",
        ),
        (
            r#""properties": {"b": "oops"}"#,
            "a schema must be an object or a boolean, not \"oops\"",
            "/properties/b",
            "",
        ),
        (r#""allOf": {}"#, "`allOf` must be an array of schemas, not an object", "/allOf", ""),
        (
            r#""anyOf": [{}, null]"#,
            "a schema must be an object or a boolean, not null",
            "/anyOf/1",
            "",
        ),
        (r#""not": 1"#, "a schema must be an object or a boolean, not 1", "/not", ""),
        (r#""items": "x""#, "a schema must be an object or a boolean, not \"x\"", "/items", ""),
        (
            r#""items": [{}], "prefixItems": [{}]"#,
            "`items` must be a schema, not an array",
            "/items",
            "`prefixItems`",
        ),
        (r#""$ref": 1"#, "`$ref` must be a URI reference, not 1", "/$ref", ""),
        (
            r#""const": [1e99999999999999999999]"#,
            "the number 1e99999999999999999999 has more than 1000 digits",
            "/const/0",
            "number_digits",
        ),
    ] {
        check(&format!("{{{members}}}"), message, pointer, hint);
    }
    check("[]", "a schema must be an object or a boolean, not an array", "", "");
    check(&draft(2020, r#""items": [{}]"#), "`items` must be a schema", "/items", "`prefixItems`");
}

/// Each keyword is checked, also where another one is missing without which it says nothing, and
/// where nothing refers to its schema.
#[test]
fn keywords_that_say_nothing_are_checked() {
    for (members, pointer) in [
        (r#""then": 5"#, "/then"),
        (r#""else": []"#, "/else"),
        (r#""minContains": "x""#, "/minContains"),
        (r#""maxContains": -1"#, "/maxContains"),
        (r#""additionalItems": 1"#, "/additionalItems"),
        (r#""$anchor": 5"#, "/$anchor"),
        (r#""$anchor": "5""#, "/$anchor"),
        (r#""$anchor": """#, "/$anchor"),
        (r#""$dynamicAnchor": "a/b""#, "/$dynamicAnchor"),
        (r#""$recursiveAnchor": 1"#, "/$recursiveAnchor"),
        (r#""$id": 1"#, "/$id"),
        (r#""$comment": 1"#, "/$comment"),
        (r#""$vocabulary": {"a": 1}"#, "/$vocabulary/a"),
        (r#""$defs": []"#, "/$defs"),
        (r#""$defs": {"a": {"type": 1}}"#, "/$defs/a/type"),
        (r#""definitions": {"a/b": {"not": {"allOf": []}}}"#, "/definitions/a~1b/not/allOf"),
        (r#""contentEncoding": 1"#, "/contentEncoding"),
        (r#""contentMediaType": {}"#, "/contentMediaType"),
        (r#""contentSchema": "a""#, "/contentSchema"),
        (r#""title": 1"#, "/title"),
        (r#""description": null"#, "/description"),
        (r#""examples": {}"#, "/examples"),
        (r#""readOnly": "yes""#, "/readOnly"),
        (r#""writeOnly": 0"#, "/writeOnly"),
        (r#""deprecated": []"#, "/deprecated"),
        (r#""uniqueItems": 0"#, "/uniqueItems"),
        (r#""dependencies": {"a": [1]}"#, "/dependencies/a/0"),
        (r#""dependencies": {"a": 1}"#, "/dependencies/a"),
        (r#""prefixItems": {}"#, "/prefixItems"),
        (r#""prefixItems": []"#, "/prefixItems"),
        (r#""properties": {"a": {"if": 1}}"#, "/properties/a/if"),
    ] {
        let text = format!("{{{members}}}");
        assert_eq!(fault(&text).pointer(), Some(pointer), "{text}");
        assert_eq!(fault(&text).kind(), GrammarErrorKind::Syntax, "{text}");
    }
}

#[test]
fn each_draft_has_its_own_checks() {
    for (of, members, pointer) in [
        (4, r#""properties": {"a": true}"#, "/properties/a"),
        (4, r#""dependencies": {"a": false}"#, "/dependencies/a"),
        (4, r#""id": 1"#, "/id"),
        (6, r#""then": 5, "items": {"examples": 1}"#, "/items/examples"),
        (7, r#""$comment": 1"#, "/$comment"),
        (2019, r#""$anchor": "_a""#, "/$anchor"),
        (2019, r#""$recursiveAnchor": "a""#, "/$recursiveAnchor"),
        (2020, r#""$anchor": "a:b""#, "/$anchor"),
    ] {
        let text = draft(of, members);
        assert_eq!(fault(&text).pointer(), Some(pointer), "{text}");
    }
    // What a draft does not know, or ignores, is not looked at.
    for (of, members) in [
        (4, r#""if": 1, "const": 1, "examples": 1, "$id": 1, "additionalItems": true"#),
        (4, r#""additionalProperties": false, "contains": 1, "propertyNames": 1"#),
        (6, r#""then": 5, "$comment": 1, "contentEncoding": 1, "id": 1"#),
        (7, r##""$ref": "#", "type": 5, "properties": 1"##),
        (7, r#""$defs": 1, "$anchor": 1, "minContains": "x", "deprecated": 1"#),
        (2019, r#""prefixItems": 1, "$dynamicAnchor": 1, "$anchor": "a:b""#),
        (2020, r#""additionalItems": 5, "$recursiveAnchor": 5, "$anchor": "_a""#),
    ] {
        let (text, options) = (draft(of, members), Options::default());
        let mut loader = Loader::new(&text, &options).unwrap();
        loader.walk_all(&mut |_, _| {}).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let (text, options) = (r#"{"id": 1, "x": {"type": 1}}"#, Options::default());
    Loader::new(text, &options).unwrap().walk_all(&mut |_, _| {}).unwrap();
    // A resource has a draft of its own.
    let text = r#"{"$defs": {"a": {"$id": "http://x/a", "then": 1,
        "$schema": "http://json-schema.org/draft-06/schema#", "items": {"else": 1}}}, "else": 2}"#;
    assert_eq!(fault(text).pointer(), Some("/else"));
}

/// Where no keyword puts a schema, it is one if a reference leads there.
#[test]
fn targets_of_references_are_checked() {
    let text = |to: &str| {
        format!(r#"{{"properties": {{"a": {{"$ref": "{to}"}}}}, "x": {{"y": {{"then": 1}}}}}}"#)
    };
    assert_eq!(fault(&text("#/x/y")).pointer(), Some("/x/y/then"));
    assert!(fault(&text("#/x/z")).to_string().contains("leads nowhere"));
    let options = Options::default();
    Loader::new(&text("#"), &options).unwrap().walk_all(&mut |_, _| {}).unwrap();
}

#[test]
fn all_that_is_wrong_is_told() {
    let text = r#"{"then": 5, "properties": {"a": {"type": "strin"}}, "minLength": -1}"#;
    let error = fault(text);
    assert_eq!(error.pointer(), Some("/then"));
    let expected = "the schema has values of the wrong kind:
  /then: a schema must be an object or a boolean, not 5
  /properties/a/type: unknown type \"strin\" (did you mean \"string\"?)
  /minLength: `minLength` must be a non-negative integer, not -1
";
    assert!(error.to_string().starts_with(expected), "{error}");
    let many = format!(r#"{{"required": [{}]}}"#, vec!["1"; 100].join(","));
    let text = fault(&many).to_string();
    assert!(text.contains("/required/19: ") && !text.contains("/required/20: "), "{text}");
    assert!(text.contains("and 80 more"), "{text}");
    let long =
        format!(r#"{{"properties": {{"{0}": {{"then": 1}}, "b": 1}}}}"#, "é".repeat(100_000));
    assert!(fault(&long).to_string().len() < 2_000);
}

#[test]
fn types_are_known_or_guessed() {
    for (value, message, pointer, hint) in [
        (r#""nonsense""#, "unknown type \"nonsense\"", "/type", "the types are null, boolean"),
        (r#""sting""#, "unknown type \"sting\"", "/type", "did you mean \"string\"?"),
        (
            r#"["string", "Integer"]"#,
            "unknown type \"Integer\"",
            "/type/1",
            "did you mean \"integer\"?",
        ),
        (r#""float""#, "unknown type \"float\"", "/type", "did you mean \"number\"?"),
        (r#""any""#, "unknown type \"any\"", "/type", "leave `type` out"),
        ("null", "`type` must be the name of a type", "/type", "did you mean \"null\"?"),
        (r#"[{"type": "string"}]"#, "`type` must be the name of a type", "/type/0", "`anyOf`"),
        ("[]", "`type` must list a type at least", "/type", "leave `type` out"),
    ] {
        check(&format!(r#"{{"type": {value}}}"#), message, pointer, hint);
    }
}

#[test]
fn drafts_are_known() {
    for uri in ["http://json-schema.org/draft-03/schema#", "urn:mine", ""] {
        let text = format!(r#"{{"$schema": "{uri}"}}"#);
        check(&text, &format!("unknown draft {uri:?}"), "/$schema", "drafts 4, 6, 7");
        assert_eq!(fault(&text).kind(), GrammarErrorKind::Unsupported);
    }
    check(r#"{"$schema": 7}"#, "`$schema` must be a URI, not 7", "/$schema", "");
}

#[test]
fn long_values_are_cut() {
    let text = format!(r#"{{"minimum": "{}"}}"#, "é".repeat(1000));
    assert!(fault(&text).to_string().len() < 200);
}

#[test]
fn schemas_of_one_name_are_told_with_both_places() {
    for (one, other, what) in [
        (r#""$anchor": "x""#, r#""$anchor": "x""#, "anchor \"x\""),
        (r#""$dynamicAnchor": "x""#, r#""$dynamicAnchor": "x""#, "anchor \"x\""),
        (r#""$anchor": "x""#, r#""$dynamicAnchor": "x""#, "anchor \"x\""),
        (r#""$id": "http://x/y""#, r#""$id": "http://x/a/../y""#, "`$id` \"http://x/y\""),
    ] {
        let text = format!(r#"{{"$defs": {{"a": {{{one}}}, "b/c": {{{other}}}}}}}"#);
        let message = format!("two schemas have the {what}, this one and that at \"/$defs/a\"");
        check(&text, &message, "/$defs/b~1c", "a name of its own");
    }
    // One schema may have a name twice, and schemas in documents of their own have own anchors.
    for members in [
        r#""a": {"$anchor": "x", "$dynamicAnchor": "x"}, "b": {"$anchor": "y"}"#,
        r#""a": {"$id": "http://x/a", "$anchor": "x"}, "b": {"$anchor": "x"}"#,
        r#""a": {"enum": [{"$anchor": "x"}]}, "b": {"$anchor": "x"}"#,
    ] {
        let options = Options::default();
        let text = format!(r#"{{"$defs": {{{members}}}}}"#);
        Loader::new(&text, &options).unwrap();
    }
    let repeated = r#""definitions": {"a": {"id": "http://x/y"}, "b": {"id": "http://x/y"}}"#;
    Loader::new(&draft(4, repeated), &Options::default()).unwrap();
}
