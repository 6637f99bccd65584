//! GBNF texts → printed grammar; errors with their places.

use super::parse;
use crate::error::{GrammarError, GrammarErrorKind};

#[track_caller]
fn read(text: &str) -> String {
    match parse(text, "root") {
        Ok(grammar) => grammar.to_string(),
        Err(error) => panic!("{error}"),
    }
}

/// What the body of the only rule is read as.
#[track_caller]
fn body(body: &str) -> String {
    let printed = read(&format!("root ::= {body}"));
    printed.strip_prefix("*root ::= ").unwrap_or_default().trim_end().to_owned()
}

#[track_caller]
fn fails(text: &str) -> GrammarError {
    match parse(text, "root") {
        Ok(grammar) => panic!("{text:?} was read as {grammar}"),
        Err(error) => error,
    }
}

#[track_caller]
fn refused(text: &str, place: (usize, usize), message: &str, hint: &str) {
    let error = fails(text);
    assert_eq!(error.line_and_column(), Some(place), "{error}");
    assert!(error.to_string().starts_with(message), "{error}");
    assert!(error.hint().is_some_and(|text| text.contains(hint)), "{error}");
    assert_eq!(error.kind(), GrammarErrorKind::Syntax, "{error}");
}

#[test]
fn rules_in_the_order_of_the_text() {
    let text =
        "item-1 ::= dataType UPPER_2\nroot ::= item-1\ndataType ::= \"d\"\nUPPER_2 ::= \"U\"";
    let printed = "item-1 ::= dataType UPPER_2\n*root ::= item-1\ndataType ::= \"d\"\n\
                   UPPER_2 ::= \"U\"\n";
    assert_eq!(read(text), printed);
    let grammar = parse(text, "dataType").expect("a grammar");
    assert_eq!(grammar.symbols[grammar.start].name, "dataType");
    assert_eq!(grammar.symbols[grammar.start].span.start, 44);
}

#[test]
fn sequences_alternatives_and_groups() {
    assert_eq!(body(r#""a" "b" | "c""#), r#"("a" "b") | "c""#);
    assert_eq!(body(r#"("a" | "b") "c" (("d"))"#), r#"("a" | "b") "c" "d""#);
    assert_eq!(body(r#"("a"|"b")"c""#), r#"("a" | "b") "c""#);
    assert_eq!(body(r#"( "a" )"#), r#""a""#);
}

#[test]
fn alternatives_may_be_empty() {
    assert_eq!(body(r#"| "a""#), r#""" | "a""#);
    assert_eq!(body(r#""a" |"#), r#""a" | """#);
    assert_eq!(body(r#""a" || "b""#), r#""a" | "" | "b""#);
    assert_eq!(body(r#"("a" | )"#), r#""a" | """#);
    assert_eq!(body("()"), r#""""#);
    assert_eq!(body("(|)*"), r#"("" | "")*"#);
}

#[test]
fn repetitions() {
    assert_eq!(body(r#""a"* "b"+ "c"?"#), r#""a"* "b"+ "c"?"#);
    assert_eq!(body(r#""a"{3} "b"{2,} "c"{,4} "d"{1,5}"#), r#""a"{3} "b"{2,} "c"{0,4} "d"{1,5}"#);
    assert_eq!(body(r#""a"{ 3 } "b"{ 2 , 4 } "c" *"#), r#""a"{3} "b"{2,4} "c"*"#);
    assert_eq!(body(r#""a" "b"{0} "c"{0,0} "d""#), r#""a" "" "" "d""#);
    assert_eq!(body("[0-9]{1000000}"), "[0-9]{1000000}");
    assert_eq!(body(r#""ab"{1}"#), r#""ab""#);
    assert_eq!(body(r#"(("a"? "b"*)+ "c"?)*"#), r#"(("a"? "b"*)+ "c"?)*"#);
    assert_eq!(body(r#""a"*?"#), r#""a"*?"#);
    assert_eq!(body(r#""a"{2}{3}"#), r#""a"{2}{3}"#);
}

#[test]
fn comments_and_line_breaks() {
    let text = "\u{FEFF}# head\r\nroot ::= ( # first\n  [0-9a-f]{4} # four ) \"\n  | \"x#\"\n\n \
                ) tail # end\n\n  # between\ntail ::=\n\n  \";\" |\n  # why\n  \".\"\n# end";
    assert_eq!(read(text), "*root ::= ([0-9a-f]{4} | \"x#\") tail\ntail ::= \";\" | \".\"\n");
    assert_eq!(read("root ::= \"a\"\r\rb ::= \"b\""), "*root ::= \"a\"\nb ::= \"b\"\n");
    assert_eq!(read("\n\n  root\t::=\t\"a\"  \n"), "*root ::= \"a\"\n");
}

#[test]
fn a_bar_carries_a_rule_on() {
    let text = "root ::= foo\n\n  # other\n  | foo\n  |\nfoo ::= \"f\"";
    refused(text, (6, 1), "rule `foo` begins where an alternative", "remove the `|`");
    let text = "root ::= foo\n\n  # other\n  | bar\nfoo ::= \"f\"\n| \"g\"\nbar ::= \"b\"";
    assert_eq!(read(text), "*root ::= foo | bar\nfoo ::= \"f\" | \"g\"\nbar ::= \"b\"\n");
}

#[test]
fn strings() {
    assert_eq!(body(r#"" " "\\" "x" "\n" "\t\r""#), r#"" " "\\" "x" "\n" "\t\r""#);
    assert_eq!(body(r#""\"\[\]\-\^""#), r#""\"[]-^""#);
    assert_eq!(body(r#""\x41\xe9é\u20AC\U0001F600""#), r#""Aéé€😀""#);
    assert_eq!(body(r#""\x00\u0000""#), r#""\x00\x00""#);
    assert_eq!(body("\"\0\""), r#""\x00""#);
    assert_eq!(body(r#""""#), r#""""#);
    assert_eq!(body("\"a\nb\""), r#""a\nb""#);
}

#[test]
fn classes() {
    assert_eq!(body("[a-z0-9_]"), "[0-9_a-z]");
    assert_eq!(
        body(r"[a-z\-]+ [\]\[]? [^\]\n]"),
        "[\\-a-z]+ [\\[\\]]? [\\u0000-\\t\\u000B-\\\\\\^-\u{10FFFF}]"
    );
    assert_eq!(body("[-a] [a-] [a-c-]"), r"[\-a] [\-a] [\-a-c]");
    assert_eq!(body(r"[a^] [\^a] [\x41-\u0043]"), r"[\^a] [\^a] [A-C]");
    assert_eq!(body("[à-ÿ] [é] [一-龥] [😀-🙏]"), "[à-ÿ] [é] [一-龥] [😀-🙏]");
    assert_eq!(body("[^é]"), "[\\u0000-èê-\u{10FFFF}]");
    assert_eq!(body("[abcb-df]"), "[a-df]");
    assert_eq!(body("."), "[\\u0000-\u{10FFFF}]");
    assert_eq!(body(r"[\x00-\U0010FFFF]"), "[\\u0000-\u{10FFFF}]");
    assert_eq!(body(r"[^\x00-\U0010FFFF]"), "[]");
    assert_eq!(body(r"[^\u0000-\uD7FF\uE000-\uFFFF]"), "[\u{10000}-\u{10FFFF}]");
    assert_eq!(body("[\"#(|]"), "[\"-#(|]");
    assert_eq!(body("[\n]"), r"[\n]");
}

#[test]
fn a_class_of_many_characters_is_merged() {
    let chars: String = ('\u{4E00}'..'\u{7510}').rev().collect();
    assert_eq!(chars.chars().count(), 10_000);
    assert_eq!(body(&format!("[{chars}]")), "[\u{4E00}-\u{750F}]");
}

#[test]
fn tokens() {
    assert_eq!(body("<think> !</think>* <[7]> !<[8]>"), "<think> !</think>* <[7]> !<[8]>");
    assert_eq!(body("<|end|> <a b>"), "<|end|> <a b>");
}

#[test]
fn recursion_and_cycles_are_fine() {
    let text = "root ::= a\na ::= b | \"x\" | a a\nb ::= a | \"\"\ndead ::= dead \"c\"";
    let printed = "*root ::= a\na ::= b | \"x\" | (a a)\nb ::= a | \"\"\ndead ::= dead \"c\"\n";
    assert_eq!(read(text), printed);
}

#[test]
fn undefined_rules() {
    let error = fails("root ::= \"a\"\nother ::= itme itme\nitem ::= \"b\"");
    assert_eq!(error.kind(), GrammarErrorKind::Undefined);
    let expected = "undefined rule `itme`\nat line 2, column 11\n2 | other ::= itme itme\n  \
                    |           ^^^^\nhint: did you mean `item`?";
    assert_eq!(error.to_string(), expected);
    let error = fails("root ::= number");
    assert_eq!(error.hint(), Some("add a rule `number ::= …`, or write `\"number\"` for the text"));
}

#[test]
fn duplicate_rules() {
    let error = fails("root ::= \"a\"\n\na ::= \"b\"\nroot ::= \"c\"");
    assert_eq!(error.kind(), GrammarErrorKind::Duplicate);
    assert_eq!(error.line_and_column(), Some((4, 1)));
    assert!(error.to_string().starts_with("rule `root` is defined twice, in line 1 and in line 4"));
}

#[test]
fn missing_root() {
    let error = fails("a ::= \"a\"\nrout ::= \"a\"");
    assert_eq!(error.kind(), GrammarErrorKind::Undefined);
    let expected = "there is no rule `root` to start from\nhint: pass root=\"rout\" or name a rule \
                    `root`; the rules are `a`, `rout`";
    assert_eq!(error.to_string(), expected);
    let many = "r0r1r2r3r4r5r6"
        .split('r')
        .skip(1)
        .map(|n| format!("r{n} ::= \"a\""))
        .collect::<Vec<_>>()
        .join("\n");
    let hint =
        "pass root=\"r0\" or name a rule `root`; the rules are `r0`, `r1`, `r2`, `r3`, `r4`, …";
    assert_eq!(fails(&many).hint(), Some(hint));
}

#[test]
fn empty_texts() {
    for text in ["", " \n\t\r\n", "# only a comment"] {
        let error = fails(text);
        assert!(error.to_string().starts_with("the grammar has no rules\nhint: "), "{error}");
    }
}

#[test]
fn malformed_rules() {
    refused("root", (1, 1), "`root` has no `::=`", "a grammar is a list of rules");
    refused(
        "root ::= \"a\"\n  \"b\"",
        (2, 3),
        "a rule must begin with its name, not with `\"b\"`",
        "after `|`",
    );
    refused("root ::= \"a\"\nb = \"b\"", (2, 3), "unexpected character `=`", "`name ::= …`");
    refused("root ::= \"a\"\nb \"b\"", (2, 1), "`b` has no `::=`", "`name ::= …`");
    refused("root ::=\nb ::= \"b\"", (1, 1), "rule `root` has no body", "`\"\"`");
    refused("root ::= ", (1, 1), "rule `root` has no body", "`\"\"`");
    refused(
        "root ::= \"a\" b ::= \"b\"",
        (1, 14),
        "rule `b` begins in the middle",
        "line of its own",
    );
    refused("root ::= \"a\" ::= \"b\"", (1, 14), "`::=` without a rule's name", "line of its own");
    refused("root ::= \"a\" |\nb ::= \"b\"", (2, 1), "rule `b` begins where an", "remove the `|`");
    refused("\"a\"", (1, 1), "a rule must begin with its name", "a grammar is a list");
}

#[test]
fn malformed_groups_and_repetitions() {
    refused("root ::= (\"a\"", (1, 10), "unterminated group", "`)`");
    refused("root ::= (\"a\"\nb ::= \"b\"", (1, 10), "unterminated group: rule `b`", "`)`");
    refused("root ::= \"a\")", (1, 13), "`)` without a `(`", "remove it");
    refused("root ::= *", (1, 10), "nothing to repeat before `*`", "`\"*\"`");
    refused("root ::= \"a\" | +", (1, 16), "nothing to repeat before `+`", "`\"+\"`");
    refused("root ::= (?\"a\")", (1, 11), "nothing to repeat before `?`", "`\"?\"`");
    refused("root ::= {2}", (1, 10), "nothing to repeat before `{2}`", "after what is repeated");
    refused(
        "root ::= \"a\"{2,1}",
        (1, 13),
        "reversed bounds of a repetition: 2 is more than 1",
        "`{1,2}`",
    );
    for bounds in ["{", "{}", "{,}", "{a}", "{1,2", "{1,-1}", "{1 2}", "{é}"] {
        let text = format!("root ::= \"a\"{bounds}");
        refused(&text, (1, 13), "malformed repetition", "`{2,5}`");
    }
    let error = fails("root ::= \"a\"{4294967296}");
    assert_eq!(error.kind(), GrammarErrorKind::Limit);
    assert_eq!(error.line_and_column(), Some((1, 14)));
}

#[test]
fn malformed_strings_and_classes() {
    refused("root ::= \"a", (1, 10), "unterminated string", "close it");
    refused("root ::= \"a\nb ::= \"b\"", (1, 10), "unterminated string", "or a later one");
    refused("root ::= [a", (1, 10), "unterminated character class", "`]`");
    refused("root ::= [a-", (1, 10), "unterminated character class", "`]`");
    refused("root ::= []", (1, 10), "empty class `[]`", "`\"\"`");
    refused("root ::= [^]", (1, 10), "empty class `[^]`", "`.`");
    refused("root ::= [z-a]", (1, 11), "reversed range: `z` comes after `a`", "`\\-`");
    refused("root ::= \"\\q\"", (1, 11), "unknown escape `\\q`", "`\\\\`");
    refused("root ::= [\\d]", (1, 11), "unknown escape `\\d`", "`[0-9]`");
    refused("root ::= \"\\'\"", (1, 11), "unknown escape `\\'`", "`'` without");
    refused("root ::= \"\\é\"", (1, 11), "unknown escape `\\é`", "`\\\\`");
    refused("root ::= \"\\", (1, 11), "the text ends within an escape", "`\\\\`");
    refused("root ::= \"\\x4\"", (1, 11), "`\\x` needs 2 hexadecimal digits, found 1", "`\\xXX`");
    refused(
        "root ::= \"\\u12é4\"",
        (1, 11),
        "`\\u` needs 4 hexadecimal digits, found 2",
        "`\\xXX`",
    );
    refused("root ::= \"\\u", (1, 11), "`\\u` needs 4 hexadecimal digits, found 0", "`\\xXX`");
    refused("root ::= [\\uD800-\\uDFFF]", (1, 11), "U+D800 is a surrogate", "`\\UXXXXXXXX`");
    refused("root ::= \"\\U00110000\"", (1, 11), "U+110000 is not a character", "10FFFF");
}

#[test]
fn malformed_tokens() {
    refused("root ::= <think", (1, 10), "unterminated token", "`>`");
    refused("root ::= <think\n>", (1, 10), "unterminated token", "`>`");
    refused("root ::= <>", (1, 10), "token without a name", "`<name>`");
    refused("root ::= <[x]>", (1, 10), "`x` is not a token id", "`<[1000]>`");
    refused("root ::= !\"a\"", (1, 10), "`!` without a token", "`[^…]`");
    assert_eq!(fails("root ::= <[4294967296]>").kind(), GrammarErrorKind::Limit);
}

#[test]
fn other_characters() {
    refused("root ::= 'a'", (1, 10), "unexpected character `'`", "double quotes");
    refused("root ::= /a/", (1, 10), "unexpected character `/`", "no regexes");
    refused("root ::= \"a\";", (1, 13), "unexpected character `;`", "line break");
    refused("root := \"a\"", (1, 6), "unexpected character `:`", "`name ::= …`");
    refused("root -> \"a\"", (1, 7), "unexpected character `>`", "`name ::= …`");
    refused("é ::= \"a\"", (1, 1), "unexpected character `é`", "letters a to z");
    refused("root ::=\u{A0}\"a\"", (1, 9), "unexpected character U+00A0", "plain blanks");
    refused("root ::= \0", (1, 10), "unexpected character U+0000", "double quotes");
}

#[test]
fn long_names_are_cut_in_messages() {
    let error = fails(&format!("root ::= {}", "x".repeat(1_000_000)));
    assert!(error.to_string().len() < 1_000, "{}", error.to_string().len());
}

#[test]
fn deep_nesting_needs_no_native_stack() {
    const DEPTH: usize = 60_000;
    let nest = |open: &str, close: &str| {
        format!("root ::= {}\"a\"{}", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    assert_eq!(read(&nest("(", ")")), "*root ::= \"a\"\n");
    assert_eq!(read(&nest("(", ")*")).len(), "*root ::= \"a\"\n".len() + DEPTH);
    parse(&nest("(\"b\" | root ", ")"), "root").expect("a grammar");
    refused(&nest("(", ""), (1, 9 + DEPTH), "unterminated group", "`)`");
}

#[test]
fn many_rules() {
    use std::fmt::Write as _;
    let mut text = String::from("root ::= rule-99999\nrule-0 ::= \"a\"\n");
    for n in 1..100_000 {
        let _ = writeln!(text, "rule-{n} ::= rule-{} | [a-z] rule-{n}", n - 1);
    }
    let grammar = parse(&text, "root").expect("a grammar");
    assert_eq!(grammar.symbols.len(), 100_001);
    fails(&(text + "last ::= rule-100000"));
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "root", " ::= ", "a", "\"", "\\", "x", "u", "[", "]", "^", "-", "(", ")", "*", "{", "}",
        "1", ",", "|", "\n", "#", "<", ">", "!", "é", "\0", ".",
    ];
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let mut text = String::from("root ::= ");
        for _ in 0..random(12) {
            text.push_str(pieces[random(pieces.len())]);
        }
        if let Err(error) = parse(&text, "root") {
            assert!(!error.to_string().is_empty());
        }
    }
}
