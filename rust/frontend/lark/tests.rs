//! Lark texts → printed IR or accepted texts, and each error with its place.

use std::collections::BTreeSet;

use super::parse;
use crate::error::GrammarErrorKind::{
    self, Duplicate, Empty, Limit, Syntax, Undefined, Unsupported,
};
use crate::grammar::{Expr, Grammar};
use crate::index::ExprId;

/// Libraries as the `library` argument gives them.
fn library(name: &str) -> Option<String> {
    let text = match name {
        "common" => {
            r#"
            DIGIT: "0".."9"
            INT: DIGIT+
            _EXP: ("e"|"E") INT
            NUMBER: INT _EXP?
            WS: /[ \t]/+
            UNUSED: MISSING
            _STRING_INNER: /.*?/
            _STRING_ESC_INNER: _STRING_INNER /(?<!\\)(\\\\)*?/
            ESCAPED_STRING: "\"" _STRING_ESC_INNER "\""
            %ignore WS
            "#
        }
        "outer" => {
            "%import common (INT)\n%declare _INDENT\nvalue: INT | \"[\" value \"]\" | _x\n_x: INT\nblock: _INDENT value\nlist{x}: x (\",\" x)*\n"
        }
        "broken" => "a: (\n",
        "ring" => "%import ring.A\n",
        _ => return None,
    };
    Some(text.to_owned())
}

fn grammar(text: &str) -> Grammar {
    match parse(text, "start", &library) {
        Ok(grammar) => grammar,
        Err(error) => panic!("{text}\n{error}"),
    }
}

#[track_caller]
fn prints(text: &str, expected: &str) {
    assert_eq!(grammar(text).to_string(), expected);
}

#[track_caller]
fn fails(
    text: &str,
    kind: GrammarErrorKind,
    place: Option<(usize, usize)>,
    message: &str,
    hint: &str,
) {
    let error = parse(text, "start", &library).expect_err(text);
    let shown = error.to_string();
    assert!(shown.starts_with(message), "{text}\n{shown}");
    assert_eq!((error.kind(), error.line_and_column()), (kind, place), "{text}\n{shown}");
    assert!(error.hint().unwrap_or("").contains(hint), "{text}\n{shown}");
}

/// The kind of error, for texts too large to show.
fn kind(text: &str) -> Option<GrammarErrorKind> {
    parse(text, "start", &library).err().map(|error| error.kind())
}

/// Where an expression can end that begins at `at`: enough of a recogniser for texts of a few
/// characters and rules without left recursion.
fn ends(grammar: &Grammar, expr: ExprId, text: &[u8], at: usize) -> BTreeSet<usize> {
    let rest = &text[at..];
    match &grammar.exprs[expr] {
        Expr::Literal(bytes) => {
            rest.starts_with(bytes).then_some(at + bytes.len()).into_iter().collect()
        }
        Expr::Class(ranges) => {
            let c = std::str::from_utf8(rest).ok().and_then(|rest| rest.chars().next());
            let c = c.filter(|c| ranges.iter().any(|(low, high)| low <= c && c <= high));
            c.map(|c| at + c.len_utf8()).into_iter().collect()
        }
        Expr::Symbol(symbol) => ends(grammar, grammar.symbols[*symbol].body, text, at),
        Expr::Seq(parts) => parts.iter().fold(BTreeSet::from([at]), |starts, &part| {
            starts.iter().flat_map(|&at| ends(grammar, part, text, at)).collect()
        }),
        Expr::Alt(parts) => parts.iter().flat_map(|&part| ends(grammar, part, text, at)).collect(),
        Expr::Repeat { expr, min, max } => {
            let mut all = BTreeSet::new();
            let mut now = BTreeSet::from([at]);
            for round in 0..=max.unwrap_or(min + text.len() as u32) {
                if round >= *min {
                    all.extend(&now);
                }
                now = now.iter().flat_map(|&at| ends(grammar, *expr, text, at)).collect();
            }
            all
        }
        _ => BTreeSet::new(),
    }
}

/// Which texts the grammar has, `%ignore` aside.
#[track_caller]
fn accepts(text: &str, accepted: &[&str], rejected: &[&str]) {
    let grammar = grammar(text);
    let body = grammar.symbols[grammar.start].body;
    for (texts, expected) in [(accepted, true), (rejected, false)] {
        for sample in texts {
            let whole = ends(&grammar, body, sample.as_bytes(), 0).contains(&sample.len());
            assert_eq!(whole, expected, "{sample:?} in\n{text}\n{grammar}");
        }
    }
}

#[test]
fn rules_terminals_and_literals() {
    prints(
        "start: \"a\" b (/[0-9]+/ | \"a\")* \"0\"..\"9\"\nb: A~2..5 [\"a\"] | b?\nA: \"x\" B+\nB: \"y\" | \"z\"~3\n",
        "*start ::= \"a\" b (/[0-9]+/ | \"a\")* \"0\"..\"9\"\n\
         b ::= (A{2,5} \"a\"?) | b?\n\
         \"a\" ::= \"a\"\n\
         /[0-9]+/ ::= [0-9]+\n\
         \"0\"..\"9\" ::= [0-9]\n\
         B ::= \"y\" | \"z\"{3}\n\
         A ::= \"x\" B+\n",
    );
}

#[test]
fn literals_with_the_same_texts_are_one_terminal() {
    prints("start: \"a\" /a/ \"\\x61\"", "*start ::= \"a\" \"a\" \"a\"\n\"a\" ::= \"a\"\n");
}

#[test]
fn what_shapes_the_tree_leaves_no_trace() {
    prints(
        "?start.2: a -> one | _b -> two\n!?a: B\n!_b.-1 : B\nB.+3: \"b\"\n",
        "*start ::= a | _b\na ::= B\n_b ::= B\nB ::= \"b\"\n",
    );
}

#[test]
fn alternatives_over_lines() {
    let plain = grammar("start: \"a\" | \"b\" | \"c\"").to_string();
    for text in [
        "start: \"a\"\n | \"b\"\n\n | \"c\"\n",
        "\n// x\nstart: \"a\" // x\n // | \"d\"\n\n  | \"b\" # x\r\n\t|\"c\"",
        "start: \"a\" \\\n | \"b\" | \\ \n \"c\"",
        "start: (\"a\" # (\n | \"b\" | \n \"c\"\n)\n",
    ] {
        assert_eq!(grammar(text).to_string(), plain, "{text}");
    }
}

#[test]
fn empty_alternatives() {
    prints("start:\n | \"x\"", "*start ::= \"\" | \"x\"\n\"x\" ::= \"x\"\n");
    prints("start: \"x\" |\n", "*start ::= \"x\" | \"\"\n\"x\" ::= \"x\"\n");
    prints("start: A\nA: ()", "*start ::= A\nA ::= \"\"\n");
    prints("start: () []\n", "*start ::= \"\" \"\"?\n");
    prints(
        "start: a~0 \"\" A\na: \"x\"\nA: \"\" | \"y\"",
        "*start ::= \"\" \"\" A\na ::= \"x\"\nA ::= \"\" | \"y\"\n\"x\" ::= \"x\"\n",
    );
}

#[test]
fn large_counts_stay_counted() {
    prints(
        "start: \"a\"~1000000 A\nA: /b{5000}/",
        "*start ::= \"a\"{1000000} A\n\"a\" ::= \"a\"\nA ::= \"b\"{5000}\n",
    );
}

#[test]
fn strings() {
    for (literal, text) in [
        (r#""\x41\u00e9\U0001F600\n\t\r\f""#, "Aé😀\n\t\r\u{c}"),
        (r#""\\ \" ' /""#, "\\ \" ' /"),
        (r#""\d\q\'\0\b""#, r"\d\q\'\0\b"),
        (r#""\\n\\x41""#, r"\n\x41"),
        (r#""(//#""#, "(//#"),
    ] {
        accepts(&format!("start: {literal}"), &[text], &["", "n"]);
    }
}

#[test]
fn case_is_folded_character_by_character() {
    prints(
        "start: \"aß1-k\"i",
        "*start ::= \"aß1-k\"i\n\"aß1-k\"i ::= [Aa] [ßẞ] \"1-\" [Kk\u{212a}]\n",
    );
    accepts("start: A \"x\"\nA: \"a\"i /b/ /c./s", &["Abc\nx"], &["aBc\nx", "abc\nX"]);
}

#[test]
fn terminal_algebra_nests() {
    accepts(
        "start: A\nA: /a|b/ \"c\" | (\"d\" | B)~2 [\"e\"]\nB: /f/i?",
        &["ac", "bc", "dd", "dFe", "", "e"],
        &["a", "abc", "d d"],
    );
}

#[test]
fn ignore_is_passed_on() {
    prints(
        "start: \"a\"\n%ignore \" \" | /\\t/+\n%ignore A\nA: \"#\"\n%ignore \"x\" A",
        "*start ::= \"a\"\n\"a\" ::= \"a\"\nA ::= \"#\"\n%ignore \" \" | \"\\t\"+\n%ignore A\n%ignore \"x\" A\n",
    );
}

#[test]
fn python_regexps() {
    for (regexp, accepted, rejected) in [
        (r"/[^\/]+\/[\w.-]*/", &["a/b", "x y/", "é/-"][..], &["/b", "ab"][..]),
        (r"/\d+\.\d*/", &["1.", "٣.5"], &["1", "a."]),
        (r"/\w+/", &["a_1", "é²"], &["", "-", "e\u{301}"]),
        (r"/\s\S/", &["\u{1c}x", "\u{a0}y"], &["x\u{1c}"]),
        (r"/[[a&&b]/", &["[", "&", "a"], &["[a"]),
        (r"/[]a-][^]]/", &["]b", "--"], &["b]", "-]"]),
        (r"/[+--]/", &["+", ",", "-"], &["."]),
        (r"/{a}{}b{,2}c{,}/", &["{a}{}", "{a}{}bbccc"], &["a", "{a}{}bbb"]),
        (r"/\0\012[\b]\x2e\u0041/", &["\0\n\u{8}.A"], &["\0\n\u{8}xA"]),
        (r"/a (?#b)c # d/x", &["ac"], &["a c"]),
        (r"/(?x: a [ ] )b/", &["a b"], &["ab"]),
        ("/a\n b/x", &["ab"], &["a\nb"]),
        (r"/(?P<n>a)(?i:b)c/", &["aBc"], &["aBC"]),
        (r"/(?i)ab/ /c/", &["ABc"], &["ABC"]),
        (r"/./ /./s", &["é\n"], &["\n\n"]),
        (r"/\p{Lu}\<\>/", &["É<>"], &["é<>"]),
    ] {
        accepts(&format!("start: {regexp}"), accepted, rejected);
    }
}

/// Compared with Lark's Earley parser and its lexer `dynamic_complete`.
#[test]
fn lazy_repetition_stops_at_its_first_match() {
    for (definition, accepted, rejected) in [
        ("/\".*?\"/", &["\"\"", "\"a\""][..], &["\"a\"b\"", "\"\n\""][..]),
        ("/ab*?/", &["a"], &["ab"]),
        ("/[a-z]+?[0-9]*/", &["a", "a1"], &["ab", "ab1"]),
        ("/a*?b/", &["b", "aab"], &["aabb"]),
        ("\"/*\" /(.|\\n)*?/ \"*/\"", &["/**/", "/* \n* */"], &["/* */ */"]),
        ("/```.*?```/s", &["```a``b```"], &["```a```b```"]),
        ("\"<\" ANY \">\"", &["<>", "<a>"], &["<a>>"]),
        ("/x.*?y/ | /[ab]|ab/ | \"+\"", &["xay", "ab", "+"], &["xyy"]),
        ("/a.*?(?<=b)c/", &["abc", "axcbc"], &["axc", "abcbc"]),
    ] {
        let text = format!("start: A\nA: {definition}\nANY: /.*?/");
        accepts(&text, accepted, rejected);
    }
}

#[test]
fn escaped_strings_end_at_their_quote() {
    let text = "start: ESCAPED_STRING\n%import common.ESCAPED_STRING";
    let accepted = [r#""""#, r#""a""#, r#""a\"b""#, r#""\\""#, r#""\\\"\u""#];
    accepts(text, &accepted, &[r#""a"b""#, r#""\""#, r#""\\\""#, "\"\n\""]);
    prints(
        text,
        "*start ::= ESCAPED_STRING\n\
         ESCAPED_STRING ::= \"\\\"\" ([\\u0000-\\t\\u000B-!#-\\[\\]-\u{10ffff}] | (\"\\\\\" [\\u0000-\\t\\u000B-\u{10ffff}]))* \"\\\"\"\n",
    );
}

#[test]
fn imports_bring_what_they_need() {
    prints(
        "start: NUMBER | B | DIGIT\nDIGIT: \"d\"\n%import common.INT -> B\n%import common (NUMBER, WS)\n%ignore WS",
        "*start ::= NUMBER | B | DIGIT\n\
         common.DIGIT ::= [0-9]\n\
         B ::= common.DIGIT+\n\
         common._EXP ::= (\"e\" | \"E\") B\n\
         NUMBER ::= B common._EXP?\n\
         DIGIT ::= \"d\"\n\
         WS ::= [\\t ]+\n\
         %ignore WS\n",
    );
    prints(
        "start: value list{\"x\"}\n%import outer (value, list)",
        "*start ::= value list{\"x\"}\n\
         value ::= common.INT | (\"[\" value \"]\") | outer._x\n\
         \"x\" ::= \"x\"\n\
         list{\"x\"} ::= \"x\" (\",\" \"x\")*\n\
         common.DIGIT ::= [0-9]\n\
         common.INT ::= common.DIGIT+\n\
         \"[\" ::= \"[\"\n\"]\" ::= \"]\"\n\
         outer._x ::= common.INT\n\
         \",\" ::= \",\"\n",
    );
    let imported = parse("%import outer.value -> v", "v", &library).map(|grammar| grammar.start);
    assert!(imported.is_ok());
}

#[test]
fn templates() {
    accepts(
        "start: \"[\" _sep{NUM, \",\"} \"]\" pair{pair{/a/}}\n_sep{item, s}: item (s item)*\nNUM: /[0-9]+/\npair{x}: x \"-\" x",
        &["[1]a-a-a-a", "[1,22]a-a-a-a"],
        &["[]a-a-a-a", "[1,]a-a-a-a", "[1]a-a"],
    );
    fails(
        "start: a{\"x\"}\na{x}: a{b{x}} | x\nb{x}: x \"(\"",
        Limit,
        Some((2, 7)),
        "the templates grow",
        "never ends",
    );
    fails("start: x\nx{a}: a", Syntax, Some((1, 8)), "the template `x` needs 1 argument", "x{…}");
    fails(
        "start: x{\"a\", \"b\"}\nx{a}: a",
        Syntax,
        Some((1, 8)),
        "the template `x` needs 1 argument, not 2",
        "",
    );
    fails("start: x{\"a\"}\nx: \"a\"", Syntax, Some((1, 8)), "`x` is no template", "");
    fails("start: x{\"a\"\n", Syntax, Some((1, 13)), "expected `,` or `}`, found the end", "");
    fails(
        "start: \"a\"\nx{a, a}: a",
        Duplicate,
        Some((2, 6)),
        "the parameter `a` is there twice",
        "",
    );
    fails("start: \"a\"\nX{a}: \"a\"", Syntax, Some((2, 2)), "a terminal can't be a template", "");
}

#[test]
fn names() {
    fails(
        "start: bb\nbbb: \"x\"",
        Undefined,
        Some((1, 8)),
        "the rule `bb` is not defined",
        "did you mean `bbb`",
    );
    fails(
        "start: A\nAB: \"x\" CDEF",
        Undefined,
        Some((1, 8)),
        "the terminal `A` is not defined",
        "AB",
    );
    fails(
        "start: \"x\"\nunused: \"y\" nowhere",
        Undefined,
        Some((2, 13)),
        "the rule `nowhere` is not",
        "define it",
    );
    fails(
        "start: \"x\"\nUNUSED: QRST",
        Undefined,
        Some((2, 9)),
        "the terminal `QRST` is not",
        "common.QRST",
    );
    fails("%ignore QRST\nstart: \"x\"", Undefined, Some((1, 9)), "the terminal `QRST` is not", "");
    fails(
        "start: \"x\"\na: \"x\"\n\nstart: \"y\"",
        Duplicate,
        Some((4, 1)),
        "`start` is defined twice, in line 1 and in line 4",
        "rename",
    );
    fails(
        "INT: \"x\"\nstart: INT\n%import common.INT",
        Duplicate,
        Some((3, 16)),
        "`INT` is defined twice, in line 1 and in line 3",
        "",
    );
    fails(
        "first: \"x\"\nother: \"y\"",
        Undefined,
        None,
        "the start rule `start` is not defined",
        "first, other",
    );
    fails(" // nothing\n", Empty, None, "the grammar has no rules", "start: …");
    fails(
        "start: fooBar",
        Syntax,
        Some((1, 8)),
        "`fooBar` mixes lower and upper case",
        "lower-case",
    );
    fails("__a: \"x\"", Syntax, Some((1, 1)), "`__a` is no name", "one `_`");
    fails("_1: \"x\"", Syntax, Some((1, 1)), "`_1` is no name", "");
    fails("start: é", Syntax, Some((1, 8)), "unexpected character 'é'", "a-z");
    let start = |text| parse(text, "A", &library).expect_err("a terminal").to_string();
    assert!(start("A: \"x\"").starts_with("`A` is a terminal: the start must be a rule"));
}

#[test]
fn terminals_are_regular() {
    fails(
        "start: A\nA: \"x\" b\nb: \"y\"",
        Syntax,
        Some((2, 8)),
        "the terminal `A` refers to the rule `b`",
        "lower case",
    );
    fails(
        "start: \"x\"\n%ignore b\nb: \"y\"",
        Syntax,
        Some((2, 9)),
        "`%ignore` refers to the rule `b`",
        "",
    );
    fails(
        "start: A\nA: \"x\" B\nB: C?\nC: \"y\" | B",
        Unsupported,
        Some((4, 10)),
        "the terminal `B` is recursive: B → C → B",
        "only rules",
    );
    fails(
        "start: \"x\"\nA: A \"x\" | \"y\"",
        Unsupported,
        Some((2, 4)),
        "the terminal `A` is recursive: A → A",
        "",
    );
    fails("start: A\nA:\n", Syntax, Some((2, 1)), "the terminal `A` is empty", "\"\"");
    fails(
        "start: A\nA: \"x\" -> y",
        Syntax,
        Some((2, 8)),
        "`->` can't stand in a terminal",
        "rule",
    );
}

#[test]
fn literals_that_are_wrong() {
    fails("start: \"\\x4\"", Syntax, Some((1, 9)), r"the escape `\x4` has too few digits", r"\xHH");
    fails("start: \"a\\u12é\"", Syntax, Some((1, 10)), r"the escape `\u12` has too few digits", "");
    fails(
        r#"start: "\ud83d\ude00""#,
        Syntax,
        Some((1, 9)),
        r"the escape `\ud83d` is no character",
        "surrogates",
    );
    fails(
        r#"start: "\U00110000""#,
        Syntax,
        Some((1, 9)),
        r"the escape `\U00110000` is no",
        "0010FFFF",
    );
    fails("start: \"abc\n", Syntax, Some((1, 8)), "the string is not closed", "\\n");
    fails("start: \"abc\\\"", Syntax, Some((1, 8)), "the string is not closed", "");
    fails("start: \"b\"..\"a\"", Syntax, Some((1, 8)), "the range goes down, from 'b' to 'a'", "");
    fails("start: \"ab\"..\"z\"", Syntax, Some((1, 8)), "\"ab\" is not one character", "single");
    fails(
        "start: \"a\"..\"z\"i",
        Unsupported,
        Some((1, 13)),
        "a range can't have the flag `i`",
        "both cases",
    );
    fails("start: \"a\"..b", Syntax, Some((1, 13)), "expected the range's last character", "");
    fails("start: \"a\"..", Syntax, Some((1, 13)), "expected the range's last character", "");
    fails("start: 'a'", Syntax, Some((1, 8)), "unexpected character '\\''", "double quotes");
}

#[test]
fn regexps_that_are_wrong() {
    fails("start: /ab\nb: \"c\"", Syntax, Some((1, 8)), "the regexp is not closed", r"\/");
    fails(
        "start: /ab\nb: /c/",
        Syntax,
        Some((1, 8)),
        "the regexp goes over a line's end",
        "flag `x`",
    );
    fails("start: /a/l", Unsupported, Some((1, 11)), "the flag `l` (locale)", "leave it out");
    fails("start: /a/g", Undefined, Some((1, 11)), "the rule `g` is not defined", "flags of /…/");
    fails(
        "start: \"a\"x",
        Undefined,
        Some((1, 11)),
        "the rule `x` is not defined",
        "flags of \"…\"",
    );
    fails("start: /a(b/", Syntax, Some((1, 10)), "unterminated group", "");
    fails("start: /é\\wx[/", Syntax, Some((1, 13)), "unterminated character class", "");
    fails("start: /\\w(?=b)/", Unsupported, Some((1, 11)), "lookahead `(?=`", "");
    fails("start: /a\\b/", Unsupported, Some((1, 10)), r"word boundary `\b`", "");
    fails("start: /^a/", Unsupported, Some((1, 9)), "anchor `^`", "");
    fails("start: /\\sa\\Z/", Unsupported, Some((1, 12)), "anchor", "");
    fails("start: /(a)\\1/", Unsupported, Some((1, 12)), r"backreference `\1`", "");
    fails("start: /a++/", Unsupported, Some((1, 10)), "possessive repetition", "second `+`");
    fails("start: /(?a)b/", Unsupported, Some((1, 11)), "the flag `a` is not supported", "ASCII");
    fails(
        "start: /\\N{DASH}/",
        Unsupported,
        Some((1, 9)),
        r"named character `\N{…}`",
        "code point",
    );
    fails("start: /\\777/", Syntax, Some((1, 9)), r"the octal escape `\777`", "");
    fails(
        "start: \"<\" /.*?/ \">\"",
        Unsupported,
        Some((1, 12)),
        "this lazy repetition only ever matches the empty text",
        "same terminal",
    );
    fails("start: /(?<!a)b/", Unsupported, Some((1, 8)), "a look-behind at the start", "");
    fails(
        "start: A\nA: /.*?(?<!ab)c/",
        Unsupported,
        Some((1, 8)),
        "a look-behind of more than one",
        "",
    );
    fails(
        "start: /(.?.?.?a){1,90}?b.{30}/",
        Limit,
        Some((1, 8)),
        "this terminal is too large",
        "negated class",
    );
}

#[test]
fn brackets_and_operators() {
    fails(
        "start: (\"a\" | [b\nb: \"x\"",
        Syntax,
        Some((1, 15)),
        "this `[` is not closed",
        "add `]`",
    );
    fails("start: (\"a\"\n", Syntax, Some((1, 8)), "this `(` is not closed", "add `)`");
    fails("start: \"a\")", Syntax, Some((1, 11)), "there is no open bracket for this `)`", "");
    fails("start: (\"a\"]", Syntax, Some((1, 12)), "`]` can't close the `(` that is open", "`)`");
    fails(
        "start: \"a\"\n)",
        Syntax,
        Some((2, 1)),
        "`)` can't start a definition",
        "no open bracket",
    );
    fails("start: \"a\"??", Syntax, Some((1, 12)), "`?` can't stand here", "(x+)?");
    fails("start: * \"a\"", Syntax, Some((1, 8)), "`*` can't stand here", "");
    fails("start: \"a\"~3..2", Syntax, Some((1, 11)), "`~3..2` has no count in it", "~2..3");
    fails("start: \"a\"~-1", Syntax, Some((1, 12)), "a count can't be negative", "");
    fails("start: \"a\"~2..", Syntax, Some((1, 15)), "expected a number, found the end", "x~2 x*");
    fails(
        "start: \"a\"~5000000000",
        Limit,
        Some((1, 12)),
        "the count 5000000000 is too large",
        "4294967295",
    );
}

#[test]
fn statements() {
    fails("start \"a\"", Syntax, Some((1, 7)), "expected `:` after `start`, found `\"a\"`", "");
    fails(
        "start: \"a\"\n  \"b\"",
        Syntax,
        Some((2, 3)),
        "`\"b\"` can't start a definition",
        "put `|`",
    );
    fails("start: a: \"b\"", Syntax, Some((1, 9)), "`:` can't stand here", "line of its own");
    fails("start ::= \"b\"", Syntax, Some((1, 8)), "`:` can't stand here", "one colon");
    fails("start = \"b\"", Syntax, Some((1, 7)), "unexpected character '='", "name: …");
    fails("start: \"b\";", Syntax, Some((1, 11)), "unexpected character ';'", "");
    fails("start: \"a\" -> Foo_", Syntax, Some((1, 15)), "`Foo_` mixes", "");
    fails("start: \"a\" -> FOO", Syntax, Some((1, 15)), "expected a name after `->`", "lower case");
    fails(
        "start: \"a\" -> b \"c\"",
        Syntax,
        Some((1, 17)),
        "expected the alternative's end",
        "last",
    );
    fails("start.x: \"a\"", Syntax, Some((1, 7)), "expected a priority, found `x`", "number");
    fails("?A: \"a\"", Syntax, Some((1, 1)), "`?` and `!` can't stand before a terminal", "");
    fails("!!a: \"a\"", Syntax, Some((1, 2)), "`!` stands twice", "");
    fails("%foo A", Syntax, Some((1, 1)), "unknown directive `%foo`", "%ignore");
    fails("%ignore\nstart: \"a\"", Syntax, Some((1, 1)), "`%ignore` of nothing", "");
    fails("%declare A", Unsupported, Some((1, 10)), "`%declare A` is not supported", "definition");
    fails(
        "%override a: \"x\"",
        Unsupported,
        Some((1, 1)),
        "`%override` is not supported",
        "new name",
    );
    fails("%extend a: \"x\"", Unsupported, Some((1, 1)), "`%extend` is not supported", "new name");
}

#[test]
fn imports_that_are_wrong() {
    fails("%import .a.B", Unsupported, Some((1, 9)), "relative imports are not supported", "copy");
    fails("%import nope.A", Undefined, Some((1, 9)), "unknown library `nope`", "common");
    fails(
        "%import common.INTT",
        Undefined,
        Some((1, 16)),
        "the library `common` has no `INTT`",
        "`INT`",
    );
    fails(
        "%import common",
        Syntax,
        Some((1, 1)),
        "nothing is imported from `common`",
        "common.NAME",
    );
    fails(
        "%import common.INT, WS",
        Syntax,
        Some((1, 19)),
        "several names need parentheses",
        "(A, B)",
    );
    fails("%import common (INT WS)", Syntax, Some((1, 21)), "expected `,` or `)`, found `WS`", "");
    fails("%import common.INT -> x", Syntax, Some((1, 23)), "`INT` is a terminal", "upper case");
    fails(
        "%import common.INT -> A\n%import common.WS -> A",
        Duplicate,
        Some((2, 22)),
        "`A` is defined twice",
        "",
    );
    fails("%import \"a\"", Syntax, Some((1, 9)), "expected a library's name", "%import common.INT");
    fails(
        "start: UNUSED\n%import common.UNUSED",
        Undefined,
        Some((2, 9)),
        "in the library `common`, line 7, column 21: the terminal `MISSING`",
        "",
    );
    fails(
        "start: block\n%import outer.block",
        Unsupported,
        Some((2, 9)),
        "in the library `outer`, line 5, column 8: `_INDENT` is only declared",
        "",
    );
    fails(
        "%import broken.a",
        Syntax,
        Some((1, 9)),
        "the library `broken` can't be read: this `(`",
        "",
    );
    fails("%import ring.A", Syntax, Some((1, 9)), "in the library `ring`", "");
}

#[test]
fn nesting_is_no_danger() {
    let depth = 60_000;
    let nested = |open: &str, close: &str| {
        format!("start: {}\"a\"{}\n", open.repeat(depth), close.repeat(depth))
    };
    assert!(parse(&nested("(", ")"), "start", &library).is_ok());
    assert!(parse(&nested("[\"b\" ", "]"), "start", &library).is_ok());
    assert!(parse(&nested("(", ")~2"), "start", &library).is_ok());
    assert!(parse(&nested("(", ")").replace("start", "start: A\nA"), "start", &library).is_ok());
    assert!(parse(&nested("(", ""), "start", &library).is_err());
    assert!(parse(&nested("x{", "}"), "start", &library).is_err());
    let lazy = nested("(\"b\" ", ")?").replace("\"a\"", "/.*?c/").replace("start", "start: A\nA");
    assert_eq!(kind(&lazy), Some(Limit));
    let regexp = format!("start: /{}a{}/", "(".repeat(depth), ")*".repeat(depth));
    assert!(parse(&regexp, "start", &library).is_ok());
    let lazy = format!("start: /{}a{}/", "(".repeat(depth), ")*?".repeat(depth));
    assert_eq!(kind(&lazy), Some(Limit));
    let links = (0..depth).map(|link| format!("A{link}: A{} \"x\"\n", link + 1));
    let chain = format!("start: A0\n{}", links.collect::<String>());
    assert!(parse(&format!("{chain}A{depth}: \"y\""), "start", &library).is_ok());
    assert!(parse(&format!("{chain}A{depth}: A0"), "start", &library).is_err());
}

#[test]
fn ordered_terminals_are_bounded() {
    let links = (0..40).map(|link| format!("A{link}: A{0} A{0}\n", link + 1));
    let doubling = format!("start: A0\nA40: /a.*?b/\n{}", links.collect::<String>());
    assert_eq!(kind(&doubling), Some(Limit));
    assert_eq!(kind("start: /a.*?b(()){4000000000}(c|()){3000000000}/"), Some(Limit));
    assert_eq!(kind("start: /a.*?b(()){4000000000}/"), None);
    let copies = (0..10_000).map(|copy| format!("A{copy}: B B B B B B B B\n"));
    let many = format!("start: \"x\"\nB: /a.*?b{{1000}}/\n{}", copies.collect::<String>());
    assert_eq!(kind(&many), Some(Limit));
    let copies = (0..10_000).map(|copy| format!(" | /a{copy}.*?b{copy}/ \n"));
    let many = format!("start: \"x\"\n{}", copies.collect::<String>());
    assert_eq!(kind(&many), Some(Limit));
}
