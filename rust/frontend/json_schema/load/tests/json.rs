//! Texts: what is JSON and what not.

use super::super::parse::parse;
use super::super::tree::{Json, Node, Tree};
use super::super::value::constant;
use crate::error::{GrammarError, GrammarErrorKind};
use crate::frontend::json_schema::limits::Limits;
use crate::frontend::json_schema::model::Value;

pub(super) fn tree(text: &str) -> Tree {
    parse(text, "", &Limits::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fault(text: &str) -> GrammarError {
    parse(text, "", &Limits::default()).err().unwrap_or_else(|| panic!("{text} is taken"))
}

fn pointer(tree: &Tree, node: Node) -> String {
    let mut out = String::new();
    tree.write_pointer(node, &mut out).unwrap();
    out
}

#[test]
fn values_are_read() {
    let tree = tree(
        "\u{feff} { \"a\" : [ 1 , -0.5e+10 , { } , [ ] ] ,\n\t\"b/~\\n\" : \"x\\u00e9\\ud83d\\ude00\\/\" }\r\n",
    );
    let nodes = (0..tree.len() as u32).map(Node);
    let read: Vec<_> = nodes.map(|node| (pointer(&tree, node), tree.json(node))).collect();
    let expected = [
        ("", Json::Object),
        ("/a", Json::Array),
        ("/a/0", Json::Number("1")),
        ("/a/1", Json::Number("-0.5e+10")),
        ("/a/2", Json::Object),
        ("/a/3", Json::Array),
        ("/b~1~0\n", Json::String("xé😀/")),
    ];
    assert_eq!(read, expected.map(|(pointer, json)| (pointer.to_owned(), json)));
}

#[test]
fn the_last_of_equal_names_counts() {
    for others in [0, 40] {
        let more: Vec<_> = (0..others).map(|index| format!("\"k{index}\": {index}, ")).collect();
        let more = more.concat();
        let text = format!(r#"{{{more} "a": {{"x": 1}}, "\u0061": 2, "b": 3, "a": 4}}"#);
        let tree = tree(&text);
        assert_eq!(tree.children(Node::ROOT).count(), others + 2);
        let a = tree.get(Node::ROOT, "a").unwrap();
        assert_eq!(tree.json(a), Json::Number("4"));
        assert_eq!(tree.get(Node::ROOT, "c"), None);
        if others > 0 {
            let node = tree.get(Node::ROOT, "k7").unwrap();
            assert_eq!(tree.json(node), Json::Number("7"));
        }
    }
}

#[test]
fn faults_have_places_and_hints() {
    for (text, message, place, hint) in [
        ("", "the text ends where a value must follow", (1, 1), None),
        ("{\"a\": 1", "the text ends where a comma or `}` must follow", (1, 8), None),
        ("[1, 2,]", "nothing follows this comma", (1, 6), Some("no comma behind the last item")),
        ("{\"a\": 1,\n}", "nothing follows this comma", (1, 8), Some("no comma")),
        ("{'a': 1}", "expected a name in double quotes", (1, 2), Some("double quotes only")),
        ("{\n  // note\n}", "expected a name", (2, 3), Some("no comments")),
        ("{\"a\" 1}", "expected `:`, found '1'", (1, 6), None),
        ("[1 2]", "expected a comma or `]`, found '2'", (1, 4), None),
        ("[1}", "expected a comma or `]`, found '}'", (1, 3), None),
        ("{} {}", "expected nothing more, found '{'", (1, 4), None),
        ("[,]", "expected a value, found ','", (1, 2), None),
        ("{\"minimum\": NaN}", "`NaN` is not a JSON value", (1, 13), Some("no such number")),
        ("[-Infinity]", "`Infinity` is not a JSON value", (1, 3), Some("no such number")),
        ("[True]", "`True` is not a JSON value", (1, 2), Some("true, false and null")),
        ("[nul]", "`nul` is not a JSON value", (1, 2), None),
        ("[01]", "a number with a leading zero", (1, 2), None),
        ("[1.]", "expected a digit behind the point", (1, 4), None),
        ("[.5]", "expected a value, found '.'", (1, 2), None),
        ("[-]", "expected a digit", (1, 3), None),
        ("[1e]", "expected a digit of the exponent", (1, 4), None),
        ("[\"a]", "this string has no end", (1, 2), None),
        ("[\"a\nb\"]", "the control character U+000A", (1, 4), Some("as an escape")),
        ("[\"\\d+\"]", "JSON has no such escape", (1, 3), Some("written twice")),
        ("[\"\\é\"]", "JSON has no such escape", (1, 3), Some("written twice")),
        ("[\"\\u12\"]", "four hexadecimal digits", (1, 3), None),
        ("[\"\\u12é4\"]", "four hexadecimal digits", (1, 3), None),
        ("[\"\\u+123\"]", "four hexadecimal digits", (1, 3), None),
        ("[\"\\", "nothing follows this backslash", (1, 3), None),
        ("[\"\\ud800\"]", "half of a surrogate pair", (1, 3), None),
        ("[\"\\ud800\\u0041\"]", "half of a surrogate pair", (1, 3), None),
        ("[\"\\udc00\"]", "half of a surrogate pair", (1, 3), None),
    ] {
        let error = fault(text);
        assert!(error.to_string().starts_with(message), "{text}: {error}");
        assert_eq!(error.line_and_column(), Some(place), "{text}");
        match hint {
            None => assert_eq!(error.hint(), None, "{text}"),
            Some(hint) => assert!(error.hint().is_some_and(|h| h.contains(hint)), "{text}"),
        }
    }
    let error = parse("[", "http://x/y", &Limits::default()).err().unwrap();
    assert!(error.to_string().contains("(in the document \"http://x/y\")"), "{error}");
}

#[test]
fn limits_have_names() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    tree(&nested(128));
    for text in [nested(129), "[".repeat(60_000), "{\"a\":".repeat(1_000_000), "9".repeat(10_000)] {
        let error = fault(&text);
        assert_eq!(error.kind(), GrammarErrorKind::Limit);
    }
    let long = format!("\"{}\"", "x".repeat(16 << 20));
    assert_eq!(fault(&long).kind(), GrammarErrorKind::Limit);
    tree(&format!("\"{}\"", "x".repeat(10 << 20)));
}

#[test]
fn constants_keep_the_last_member() {
    let tree = tree(r#"{"a": [{"b": 1, "b": null}]}"#);
    let Ok(Value::Object(members)) = constant(&tree, Node::ROOT, 100) else { panic!() };
    let Value::Array(items) = &members[0].1 else { panic!() };
    assert_eq!(items[0], Value::Object([("b".into(), Value::Null)].into()));
}
