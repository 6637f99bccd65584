//! Where references lead, and what is said if nowhere.

use super::errors::fault;
use super::{Keyword, Loader, Options, draft, with_root};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::index::SchemaId;

/// The pointer of the schema that the root's reference, or that of a schema in the root's
/// `properties`, ends at.
fn end(
    text: &str,
    resources: &[(&str, &str)],
    property: Option<&str>,
) -> Result<String, GrammarError> {
    let own = |&(uri, text): &(&str, &str)| (uri.to_owned(), text.to_owned());
    let options = Options { resources: resources.iter().map(own).collect(), ..Options::default() };
    let mut loader = Loader::new(text, &options)?;
    let mut at = loader.root()?;
    if let Some(property) = property {
        let root = loader.schema(at)?;
        at = root
            .keywords
            .iter()
            .find_map(|(keyword, _)| match keyword {
                Keyword::Properties(list) => {
                    list.iter().find(|(name, _)| **name == *property).map(|(_, schema)| *schema)
                }
                _ => None,
            })
            .unwrap();
    }
    follow(&mut loader, at)
}

fn follow(loader: &mut Loader<'_>, from: SchemaId) -> Result<String, GrammarError> {
    let mut at = from;
    for _ in 0..10 {
        let schema = loader.schema(at)?;
        let next = schema.keywords.iter().find_map(|(keyword, _)| match keyword {
            Keyword::Ref(to) => Some(*to),
            _ => None,
        });
        match next {
            Some(next) => at = next,
            None => return Ok(schema.pointer.to_string()),
        }
    }
    Ok("…".to_owned())
}

#[track_caller]
fn leads(text: &str, resources: &[(&str, &str)], to: &str) {
    assert_eq!(
        end(text, resources, None).map_err(|error| error.to_string()),
        Ok(to.to_owned()),
        "{text}"
    );
}

#[test]
fn pointers_are_unescaped() {
    for (reference, to) in [
        ("#/$defs/a", "/$defs/a"),
        ("#/$defs/a~1b", "/$defs/a~1b"),
        ("#/$defs/a~0b", "/$defs/a~0b"),
        ("#/$defs/a~01b", "/$defs/a~01b"),
        ("#/$defs/a%25b", "/$defs/a%b"),
        ("#/$defs/%C3%A9", "/$defs/é"),
        ("#/$defs/é", "/$defs/é"),
        ("#/$defs/a%22b", "/$defs/a\"b"),
        ("#/$defs/", "/$defs/"),
        ("#/x/1/y", "/x/1/y"),
    ] {
        let text = format!(
            r#"{{"$ref": "{reference}", "x": [0, {{"y": {{}}}}], "$defs": {{"a": {{}}, "a/b": {{}},
                "a~b": {{}}, "a~1b": {{}}, "a%b": {{}}, "é": {{}}, "a\"b": {{}}, "": {{}}}}}}"#
        );
        leads(&text, &[], to);
    }
}

#[test]
fn recursion_ends_in_the_same_id() {
    let text =
        r##"{"properties": {"next": {"$ref": "#"}, "other": {"$ref": "#/properties/next"}}}"##;
    with_root(text, |_, loader| {
        loader.walk_all(&mut |_, _| {}).unwrap();
        assert_eq!(loader.slots.len(), 3);
    });
    leads(r##"{"$ref": "#"}"##, &[], "…");
}

#[test]
fn siblings_count_from_draft_2019() {
    let members = r##""$ref": "#/definitions/a", "minLength": 1, "definitions": {"a": {}}"##;
    for (of, count) in [(4, 1), (6, 1), (7, 1), (2019, 2), (2020, 2)] {
        with_root(&draft(of, members), |keywords, _| assert_eq!(keywords.len(), count));
    }
    with_root(&format!("{{{members}}}"), |keywords, _| assert_eq!(keywords.len(), 2));
}

#[test]
fn anchors_and_identifiers_are_found() {
    for reference in ["#foo", "http://x/root#foo", "root#foo", "/root#foo", "#/$defs/a"] {
        let text = format!(
            r#"{{"$id": "http://x/root", "$ref": "{reference}", "$defs": {{"a": {{"$anchor": "foo"}}}}}}"#
        );
        leads(&text, &[], "/$defs/a");
    }
    let text = |reference: &str| {
        format!(
            r##"{{"$id": "http://x/a/root", "$ref": "{reference}", "$defs": {{
                "in": {{"$id": "../in.json", "$anchor": "one", "$ref": "#/$defs/x",
                    "$defs": {{"x": {{"$anchor": "two"}}, "y": {{"$id": "#three"}}}}}},
                "urn": {{"$id": "urn:uuid:1"}}}}}}"##
        )
    };
    leads(&text("http://x/in.json"), &[], "/$defs/in/$defs/x");
    leads(&text("../in.json#two"), &[], "/$defs/in/$defs/x");
    leads(&text("/in.json#/$defs/y"), &[], "/$defs/in/$defs/y");
    leads(&text("/in.json#three"), &[], "/$defs/in/$defs/y");
    leads(&text("#/$defs/in/$defs/y"), &[], "/$defs/in/$defs/y");
    leads(&text("urn:uuid:1"), &[], "/$defs/urn");
    assert!(end(&text("#two"), &[], None).is_err());
}

#[test]
fn old_drafts_have_other_identifiers() {
    let schema = |of: u32, key: &str, id: &str, reference: &str| {
        let members = format!(
            r#""allOf": [{{"$ref": "{reference}"}}],
                "definitions": {{"a": {{"{key}": "{id}", "definitions": {{"b": {{}}}}}}}}"#
        );
        draft(of, &members)
            .replace(r#""allOf": [{"#, r#""properties": {"p": {"#)
            .replace("}],", "}},")
    };
    let end = |text: String| end(&text, &[], Some("p")).ok();
    for (of, key) in [(4, "id"), (6, "$id"), (7, "$id")] {
        assert_eq!(end(schema(of, key, "#x", "#x")).as_deref(), Some("/definitions/a"));
        let inner = schema(of, key, "http://x/y", "http://x/y#/definitions/b");
        assert_eq!(end(inner).as_deref(), Some("/definitions/a/definitions/b"));
    }
    assert_eq!(end(schema(7, "id", "#x", "#x")), None);
    assert_eq!(end(schema(4, "$id", "#x", "#x")), None);
    assert_eq!(end(schema(7, "$anchor", "x", "#x")), None);
}

#[test]
fn properties_named_like_identifiers_are_none() {
    let text = r##"{"properties": {"id": {"type": "string"}, "$id": {"type": "string"},
        "a": {"properties": {"id": {"$ref": "#/$defs/x"}}, "enum": [{"$id": "http://x/y"}]}},
        "$ref": "#/properties/a/properties/id", "$defs": {"x": {}}}"##;
    leads(text, &[], "/$defs/x");
    leads(&text.replace("{\"properties\": {\"id\": {\"type", "{\"$schema\": \"http://json-schema.org/draft-04/schema\", \"properties\": {\"id\": {\"type"), &[], "/$defs/x");
}

#[test]
fn without_a_draft_an_id_is_a_name_but_no_base() {
    let text = |reference: &str| {
        format!(
            r##"{{"$ref": "{reference}", "$defs": {{"x": {{}},
                "a": {{"id": "http://x/a", "$ref": "#/$defs/x"}}, "b": {{"id": "#b"}}}}}}"##
        )
    };
    leads(&text("http://x/a"), &[], "/$defs/x");
    leads(&text("#b"), &[], "/$defs/b");
}

#[test]
fn resources_are_read_when_needed() {
    let resources = [
        ("http://x/list.json", r#"{"$ref": "item.json#/$defs/i"}"#),
        ("http://x/item.json", r##"{"$defs": {"i": {"$ref": "#j"}, "j": {"$anchor": "j"}}}"##),
        ("http://x/broken.json", "{"),
    ];
    leads(r#"{"$ref": "http://x/list.json"}"#, &resources, "http://x/item.json#/$defs/j");
    leads(
        r#"{"$id": "http://x/", "$ref": "list.json#"}"#,
        &resources,
        "http://x/item.json#/$defs/j",
    );
    let error = end(r#"{"$ref": "http://x/broken.json"}"#, &resources, None).unwrap_err();
    assert!(error.to_string().contains("in the document \"http://x/broken.json\""), "{error}");
    // A document may have another name inside.
    let renamed =
        [("http://x/one", r#"{"$id": "http://x/two", "$defs": {"a": {"$id": "three"}}}"#)];
    for uri in ["http://x/one", "http://x/two"] {
        leads(&format!(r#"{{"$ref": "{uri}"}}"#), &renamed, "http://x/one#");
    }
    leads(r#"{"$ref": "http://x/three"}"#, &renamed, "http://x/one#/$defs/a");
    leads(r#"{"$ref": "item.json"}"#, &[("item.json", "true")], "item.json#");
}

#[test]
fn a_resource_has_a_draft_of_its_own() {
    let old =
        draft(7, r##""$ref": "#/definitions/a", "definitions": {"a": {"prefixItems": [1]}}"##);
    let text = r#"{"$ref": "http://x/old", "prefixItems": [true]}"#;
    leads(text, &[("http://x/old", &old)], "http://x/old#/definitions/a");
}

#[test]
fn metaschemas_are_there() {
    for uri in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let text = format!(r#"{{"properties": {{"a": {{"$ref": "{uri}"}}}}}}"#);
        let mut schemas = 0;
        with_root(&text, |_, loader| {
            loader.walk_all(&mut |_, _| schemas += 1).unwrap();
        });
        assert!(schemas > 50, "{uri}: {schemas}");
    }
}

#[test]
fn dynamic_references_go_to_the_first_anchor() {
    // The list's item is what the one who refers to the list says.
    let text = |items: &str| {
        format!(
            r#"{{"$id": "http://x/main", "properties": {{
                "strings": {{"$ref": "strings"}}, "numbers": {{"$ref": "numbers"}}, "list": {{"$ref": "list"}}}},
              "$defs": {{
                "strings": {{"$id": "strings", "$ref": "list",
                    "$defs": {{"i": {{"$dynamicAnchor": "item", "type": "string"}}}}}},
                "numbers": {{"$id": "numbers", "$ref": "list",
                    "$defs": {{"i": {{"$dynamicAnchor": "item", "type": "number"}}}}}},
                "list": {{"$id": "list", "properties": {{"p": {{{items}}}}},
                    "$defs": {{"i": {{"$dynamicAnchor": "item"}}, "j": {{"$anchor": "other"}}}}}}}}}}"#
        )
    };
    let item = |text: &str, of: &str| {
        let options = Options::default();
        let mut loader = Loader::new(text, &options).unwrap();
        let mut at = loader.root().unwrap();
        let mut path = vec![of, "p"].into_iter();
        loop {
            let schema = loader.schema(at).unwrap();
            let next = schema.keywords.iter().find_map(|(keyword, _)| match keyword {
                Keyword::Ref(to) => Some(*to),
                Keyword::Properties(list) => {
                    let name = path.next()?;
                    list.iter().find(|(of, _)| **of == *name).map(|(_, to)| *to)
                }
                _ => None,
            });
            match next {
                Some(next) => at = next,
                None => return schema.pointer.to_string(),
            }
        }
    };
    let dynamic = text(r##""$dynamicRef": "#item""##);
    assert_eq!(item(&dynamic, "strings"), "/$defs/strings/$defs/i");
    assert_eq!(item(&dynamic, "numbers"), "/$defs/numbers/$defs/i");
    assert_eq!(item(&dynamic, "list"), "/$defs/list/$defs/i");
    // The same by a plain reference, by a pointer, and by an anchor that is not dynamic.
    for fixed in [r##""$ref": "#item""##, r##""$dynamicRef": "#/$defs/i""##] {
        assert_eq!(item(&text(fixed), "strings"), "/$defs/list/$defs/i");
    }
    let other = text(r##""$dynamicRef": "#other""##);
    assert_eq!(item(&other, "strings"), "/$defs/list/$defs/j");
}

#[test]
fn recursive_references_go_to_the_outermost_root() {
    let text = |inner: bool| {
        draft(
            2019,
            &format!(
                r##""$id": "http://x/outer", "$recursiveAnchor": true, "properties": {{
                "a": {{"$id": "inner", "$recursiveAnchor": {inner}, "properties": {{"b": {{"$recursiveRef": "#"}}}}}}}}"##
            ),
        )
    };
    for (inner, to) in [(true, ""), (false, "/properties/a")] {
        let text = text(inner);
        let options = Options::default();
        let mut loader = Loader::new(&text, &options).unwrap();
        loader.walk_all(&mut |_, _| {}).unwrap();
        let ids: Vec<_> = loader.slots.iter_enumerated().map(|(id, _)| id).collect();
        let of = ids.into_iter().find(|&id| {
            loader.schema(id).unwrap().pointer.to_string() == "/properties/a/properties/b"
        });
        assert_eq!(follow(&mut loader, of.unwrap()).unwrap(), to);
    }
}

#[test]
fn scopes_have_a_limit() {
    // Each resource leads to all others, and binds an anchor of its own.
    let count = 30;
    let all: Vec<_> = (0..count).map(|i| format!(r#"{{"$ref": "r{i}"}}"#)).collect();
    let all = all.join(", ");
    let defs: Vec<_> = (0..count)
        .map(|i| {
            format!(
                r#""r{i}": {{"$id": "r{i}", "$dynamicAnchor": "a{i}", "items": {{"anyOf": [{all}]}}}}"#
            )
        })
        .collect();
    let text =
        format!(r#"{{"$id": "http://x/", "anyOf": [{all}], "$defs": {{{}}}}}"#, defs.join(", "));
    assert_eq!(fault(&text).kind(), GrammarErrorKind::Limit);
}

#[test]
fn broken_references_say_what_is_missing() {
    for (text, message, pointer, hint) in [
        (
            r##"{"items": {"$ref": "#/$defs/adress"}, "$defs": {"address": {}}}"##,
            r##"the reference "#/$defs/adress" leads nowhere: "/$defs" has no "adress""##,
            "/items/$ref",
            r##"did you mean "#/$defs/address"?"##,
        ),
        (
            r##"{"$ref": "#/definitions/a"}"##,
            r##"the reference "#/definitions/a" leads nowhere: the schema has no "definitions""##,
            "/$ref",
            "",
        ),
        (
            r##"{"$ref": "#/anyOf/2", "anyOf": [{}]}"##,
            r##"the reference "#/anyOf/2" leads nowhere: "/anyOf" has 1 items and no "2""##,
            "/$ref",
            "",
        ),
        (
            r##"{"$ref": "#/title/x", "title": "t"}"##,
            r##"the reference "#/title/x" leads nowhere: "/title" is "t" and has no "x""##,
            "/$ref",
            "",
        ),
        (
            r##"{"$ref": "#User", "$defs": {"User": {}}}"##,
            r##"the reference "#User" leads nowhere: no anchor "User" is there"##,
            "/$ref",
            r##"did you mean "#/$defs/User"?"##,
        ),
        (
            r##"{"$ref": "#usr", "$defs": {"User": {"$anchor": "user"}}}"##,
            r##"the reference "#usr" leads nowhere"##,
            "/$ref",
            r##"did you mean "#user"?"##,
        ),
        (
            r#"{"$ref": "/$defs/V", "$defs": {"V": {}}}"#,
            r#"the reference "/$defs/V" leads nowhere: there is no document "/$defs/V""#,
            "/$ref",
            r##"did you mean "#/$defs/V"?"##,
        ),
        (
            r#"{"$ref": "V", "definitions": {"V": {}}}"#,
            r#"the reference "V" leads nowhere"#,
            "/$ref",
            r##"did you mean "#/definitions/V"?"##,
        ),
        (
            r#"{"$id": "http://x/root", "$ref": "other.json#/a"}"#,
            r#"the reference "other.json#/a" leads nowhere: there is no document "http://x/other.json""#,
            "/$ref",
            r#"resources={"http://x/other.json": …}"#,
        ),
        (
            r##"{"$id": "http://x/r", "definitions": {"V": {}}, "not": {"$id": "/p", "$ref": "#/definitions/V"}}"##,
            r##"the reference "#/definitions/V" leads nowhere: "/not" has no "definitions""##,
            "/not/$ref",
            r#"the identifier at "/not" makes this relative to it; without it, "/definitions/V" is meant"#,
        ),
    ] {
        let error = fault(text);
        assert!(error.to_string().starts_with(message), "{text}: {error}");
        assert_eq!(error.kind(), GrammarErrorKind::Undefined);
        assert_eq!(error.pointer(), Some(pointer), "{text}");
        assert!(error.hint().unwrap_or_default().contains(hint), "{text}: {error}");
        assert_eq!(error.hint().is_some(), !hint.is_empty(), "{text}: {error}");
    }
}

#[test]
fn long_arrays_are_no_burden() {
    let count = 100_000;
    let items: Vec<_> =
        (0..count).map(|i| format!(r##"{{"$ref": "#/x/{}"}}"##, (i * 7) % count)).collect();
    let text =
        format!(r#"{{"anyOf": [{}], "x": [{}]}}"#, items.join(", "), vec!["1"; count].join(","));
    assert_eq!(fault(&text).pointer(), Some("/x/0"));
    let text = text.replace("\"x\": [1", "\"x\": [{}").replace(",1", ",{}");
    let mut last = String::new();
    with_root(&text, |_, loader| {
        loader.walk_all(&mut |_, finding| last = finding.pointer).unwrap();
    });
    assert_eq!(last, format!("/anyOf/{}/$ref", count - 1));
}
