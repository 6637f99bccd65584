//! Patterns → printed grammar; errors with their places; anchors against a naive matcher.

use std::collections::BTreeSet;

use super::{RegexFlags, into_expr, parse};
use crate::error::{GrammarError, GrammarErrorKind};
use crate::grammar::{Expr, Grammar, GrammarBuilder, SymbolKind};
use crate::index::{ExprId, Id};
use crate::span::Span;

#[track_caller]
fn printed(pattern: &str) -> String {
    let grammar = parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    let text = grammar.to_string();
    text.trim_end().strip_prefix("*regex ::= ").unwrap_or_default().to_owned()
}

#[track_caller]
fn prints(pattern: &str, expected: &str) {
    assert_eq!(printed(pattern), expected, "{pattern}");
}

#[track_caller]
fn fails(pattern: &str) -> GrammarError {
    match parse(pattern) {
        Ok(grammar) => panic!("{pattern} was read as {grammar}"),
        Err(error) => error,
    }
}

#[track_caller]
fn refused(pattern: &str, kind: GrammarErrorKind, column: usize, message: &str) {
    let error = fails(pattern);
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(error.line_and_column(), Some((1, column)), "{error}");
    assert!(error.to_string().starts_with(message), "{error}");
    assert!(error.hint().is_some(), "{error}");
}

#[test]
fn letters_become_one_literal() {
    prints("abc", "\"abc\"");
    prints("a(b)(?:c)(?P<n>d)", "\"abcd\"");
    prints(r"\?\.\*\(\[\{\|\^\$\\", r#""?.*([{|^$\\""#);
    prints("a[.]b", "\"a.b\"");
    prints(r"\x61\u00e9\U0001F600\x{e9}", "\"aé😀é\"");
    prints("", "\"\"");
    prints("()", "\"\"");
}

#[test]
fn alternatives_and_repetitions() {
    prints("a(|b)c", "\"a\" (\"\" | \"b\") \"c\"");
    prints("ab|cd|", "\"ab\" | \"cd\" | \"\"");
    prints("ab*", "\"a\" \"b\"*");
    prints("(?:ab)*x{2}y{2,}z{2,5}w{,3}v{0}", "\"ab\"* \"x\"{2} \"y\"{2,} \"z\"{2,5} \"w\"{0,3}");
    prints("a+?b??c", "\"a\"+ \"b\"? \"c\"");
    prints("(?U)a+", "\"a\"+");
    prints("(((a*)*)*)*", "\"a\"****");
}

#[test]
fn large_counts_stay_counted() {
    prints("a{1000000}", "\"a\"{1000000}");
    prints(r"(?:\p{L}{500}){500}", &format!("{}{{500}}{{500}}", printed(r"\p{L}")));
    prints("a{4294967295}", "\"a\"{4294967295}");
}

#[test]
fn classes() {
    prints("[a-cx]", "[a-cx]");
    prints("[]a^-]+|[^]]", "[\\-\\]-\\^a]+ | [\\u0000-\\\\\\^-\u{10FFFF}]");
    prints("[^a]", "[\\u0000-`b-\u{10FFFF}]");
    prints("(?s:.)", "[\\u0000-\u{10FFFF}]");
    prints(".", "[\\u0000-\\t\\u000B-\u{10FFFF}]");
    prints("(?R).", "[\\u0000-\\t\\u000B-\\u000C\\u000E-\u{10FFFF}]");
    prints("[a-z&&[^aeiou]]", "[b-df-hj-np-tv-z]");
    prints("[a&&b]", "[]");
    prints("[[:digit:]_]", "[0-9_]");
    assert!(printed(r"\d").starts_with("[0-9٠-٩"));
}

#[test]
fn flags_hold_to_the_end_of_their_group() {
    prints("a(?i)b|c", "(\"a\" [Bb]) | [Cc]");
    prints("(?:a(?i)b)c", "(\"a\" [Bb]) \"c\"");
    prints("(?i:a(?-i)b)c", "([Aa] \"b\") \"c\"");
    prints("(?x) a b # two\n c", "\"abc\"");
    prints("(?s).(?-s).", &format!("{} {}", printed("(?s:.)"), printed(".")));
}

#[test]
fn case_folding_is_simple_and_unicode() {
    prints("(?i)k1ß", "[Kk\u{212A}] \"1\" [ß\u{1E9E}]");
    prints("(?i-u)k", "[Kk]");
    prints("(?i)[x-z]", "[X-Zx-z]");
}

#[test]
fn bytes() {
    prints(r"(?-u:\xFF)", r#""\xFF""#);
    prints(r"(?-u:a\xFFé)", r#""a\xFFé""#);
    prints(r"(?-u:[\x80-\xFF])", r"(?-u:[\x80-\xFF])");
    prints(r"(?-u:\w)", "[0-9A-Z_a-z]");
    prints(r"(?-u:[^a])", r"(?-u:[\x00-\x60\x62-\xFF])");
    prints(r"(?i-u:\xFFa)", r#""\xFF" [Aa]"#);
}

#[test]
fn outer_anchors_leave_no_trace() {
    prints("^abc$", "\"abc\"");
    prints(r"\A[a-z]*x*\z", "[a-z]* \"x\"*");
    prints("^a|b$", "\"a\" | \"b\"");
    prints("(^a)(b$)", "\"a\" \"b\"");
    prints("^^a$$", "\"a\"");
    prints("(?:^|,)x(?:,|$)", "\",\"? (\"x\" \",\"?)");
    prints("(?m)^a$", "\"a\"");
    prints("^$", "\"\"");
    prints("^*a", "\"a\"");
}

#[test]
fn inner_anchors_keep_their_meaning() {
    prints("a*^b", "\"b\"");
    prints("a$b*", "\"a\"");
    prints("a^b", "[]");
    prints("a$b", "[]");
    prints("$a", "[]");
    prints("(?:^a|b)*", "((\"a\" | \"b\") | ((\"a\" | \"b\") \"b\"* \"b\"))?");
    prints("(?:a|^)b", "\"a\"? \"b\"");
    prints("x(?:a|^)b", "\"x\" (\"a\" \"b\")");
    prints("(?:^a){2}", "[]");
    prints("(?:^a?){3}", "\"a\"?");
}

#[test]
fn multi_line_anchors_within_the_text_are_refused() {
    let kind = GrammarErrorKind::Unsupported;
    refused("(?m)a$b", kind, 6, "multi-line anchor `$`");
    refused("(?m)a*^b", kind, 7, "multi-line anchor `^`");
}

#[test]
fn refused_by_name() {
    let kind = GrammarErrorKind::Unsupported;
    refused("a(?=b)", kind, 2, "lookahead `(?=`");
    refused("(?:(?!aba)[a-z])*aba", kind, 4, "negative lookahead `(?!`");
    refused("(?<=a)b", kind, 1, "lookbehind `(?<=`");
    refused("(?<!a)b", kind, 1, "negative lookbehind `(?<!`");
    refused(r"(a|b)\1", kind, 6, r"backreference `\1`");
    refused(r"(?P<q>a)\k<q>", kind, 9, r"backreference `\k`");
    refused("(?P<q>a)(?P=q)", kind, 11, "backreference `(?P=`");
    refused(r"\bfoo\b", kind, 1, r"word boundary `\b`");
    refused(r"a\B", kind, 2, r"negated word boundary `\B`");
    refused(r"\<a", kind, 1, r"word boundary `\<`");
    refused(r"a\b{end}", kind, 2, r"word boundary `\b{end}`");
    refused("(?>a)", kind, 3, "atomic group");
    refused("(a)(?(1)b|c)", kind, 6, "conditional");
    refused("(?1)", kind, 3, "group call");
    refused(r"\X", kind, 1, "grapheme cluster");
}

#[test]
fn syntax_errors_show_the_place() {
    let kind = GrammarErrorKind::Syntax;
    refused("^[0-9{3}$", kind, 2, "unterminated character class");
    refused("a(b", kind, 2, "unterminated group");
    refused("(?", kind, 1, "unterminated group");
    refused("ab)", kind, 3, "`)` without a `(`");
    refused("*a", kind, 1, "nothing to repeat");
    refused("{\"a\": 1}", kind, 1, "nothing to repeat");
    refused("a{", kind, 2, "malformed repetition");
    refused("a{x}", kind, 3, "malformed repetition");
    refused("a{3,2}", kind, 2, "reversed bounds of a repetition");
    refused("[z-a]", kind, 2, "reversed range in a character class");
    refused(r"[\d-x]", kind, 2, "an end of a range must be one character");
    refused(r"a\", kind, 2, "the pattern ends within an escape");
    refused(r"\xZZ", kind, 3, "hexadecimal digits expected");
    refused(r"\uD800", kind, 3, "this escape is not a character");
    refused(r"a\Z", kind, 2, r"unknown escape `\Z`");
    refused(r"\0", kind, 1, r"unknown escape `\0`");
    refused(r"[\b]", kind, 2, r"unknown escape `\b`");
    refused("(?y)", kind, 3, "unknown flag `y`");
    refused("(?#a)", kind, 3, "comment groups");
    refused("(?ii)", kind, 4, "flag given twice");
    refused("(?i-)", kind, 4, "`-` without a flag");
    refused("(?-i-s)", kind, 5, "`-` given twice");
    refused("(?<a>x)(?<a>y)", kind, 11, "two groups have the same name");
    refused("(?<>x)", kind, 4, "invalid name of a group");
    refused(r"\p{Klingon}", kind, 1, r"unknown Unicode property in `\p{Klingon}`");
    refused(r"\p{Script=Klingon}", kind, 1, "unknown value of the Unicode property");
    refused(r"(?-u:\pL)", kind, 6, r"`\pL` needs Unicode");
    refused(r"\p", kind, 3, "the pattern ends within an escape");
    refused(r"\b{foo}", kind, 4, "malformed word boundary");
    let limit = GrammarErrorKind::Limit;
    refused("a{4294967296}", limit, 3, "repetition count too large");
}

#[test]
fn an_error_shows_line_column_and_caret() {
    let text = fails("(?x)\na (?=b)").to_string();
    let expected = "lookahead `(?=` in the regex: this can't be enforced\nat line 2, column 3\n\
                    2 | a (?=b)\n  |   ^";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn anchors_of_a_terminal_can_be_refused() {
    let mut builder = GrammarBuilder::new();
    let flags = RegexFlags { anchors: false, ..RegexFlags::default() };
    let error = into_expr("a$", flags, &mut builder).expect_err("an anchor");
    assert_eq!(error.message, "anchor `$` in the regex: this can't be enforced");
    assert_eq!(error.span.start, 1);
}

#[test]
fn flags_can_be_given_from_outside() {
    let mut builder = GrammarBuilder::new();
    let flags = RegexFlags { i: true, s: true, x: true, ..RegexFlags::default() };
    let expr = into_expr("a .", flags, &mut builder).expect("a regex");
    let symbol = builder.declare("t", SymbolKind::Terminal, Span::default());
    builder.define(symbol, expr);
    assert_eq!(builder.finish(symbol).to_string(), "*t ::= [Aa] [\\u0000-\u{10FFFF}]\n");
}

#[test]
fn deep_nesting_needs_no_native_stack() {
    const DEPTH: usize = 60_000;
    let nest = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    prints(&nest("(", "a", ")"), "\"a\"");
    prints(&nest("(?:x|", "a", ")"), printed(&nest("(?:x|", "a", ")")).as_str());
    prints(&nest("(", "^a$", ")"), "\"a\"");
    assert_eq!(printed(&nest("(", "a", ")*")).len(), DEPTH + 3);
    parse(&nest("(?:b?", "^a", ")*")).expect("anchors below repetitions");
    parse(&nest("(?:b?", "a$", ")")).expect("an anchor below sequences");
    parse(&nest("[", "a", "]")).expect("nested classes");
    parse(&"(".repeat(DEPTH)).expect_err("unterminated");
    parse(&"a*".repeat(DEPTH)).expect("a long sequence");
    parse(&("a*".repeat(DEPTH) + "^b")).expect("a long sequence before an anchor");
}

#[test]
fn large_alternation() {
    let pattern: Vec<String> = (0..10_000).map(|n| format!("name{n}")).collect();
    let grammar = parse(&pattern.join("|")).expect("a regex");
    assert_eq!(grammar.exprs.len(), 10_001);
}

#[test]
fn a_list_of_words_is_read_as_any_pattern() {
    for pattern in ["ab|cd", "|", "", "a||b", "é#|x y|-", "a|\n|\0", "<,~>&'\"!`|_=@%;:/"] {
        assert_eq!(printed(pattern), printed(&format!("(?:{pattern})")));
    }
}

#[test]
fn no_pattern_makes_it_panic() {
    let pieces = [
        "a", "é", "(", "(?:", "(?m)", "(?-u", "(?i", ":", ")", "[", "^", "]", "-", "$", "*", "{2,",
        "{0}", "}", "+?", "|", "\\", "\\b", "\\xFF", "\\w", "\\p", "\\pL", ".", "&&", "(?", "<",
        "=", "!", "#", "\n", "{1,3}",
    ];
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let length = random(10);
        let pattern: String = (0..length).map(|_| pieces[random(pieces.len())]).collect();
        if let Err(error) = parse(&pattern) {
            assert!(error.hint().is_some(), "{error}");
        }
    }
}

/// What a small regex is made of, for the comparison with the naive matcher.
#[derive(Clone, Debug)]
enum Small {
    Text(&'static str),
    Start,
    End,
    Seq(Box<Small>, Box<Small>),
    Alt(Box<Small>, Box<Small>),
    Repeat(Box<Small>, u32, Option<u32>),
}

impl Small {
    fn pattern(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Start => "^".to_owned(),
            Self::End => "$".to_owned(),
            Self::Seq(left, right) => format!("(?:{})(?:{})", left.pattern(), right.pattern()),
            Self::Alt(left, right) => format!("(?:{}|{})", left.pattern(), right.pattern()),
            Self::Repeat(inner, min, Some(max)) => {
                format!("(?:{}){{{min},{max}}}", inner.pattern())
            }
            Self::Repeat(inner, min, None) => format!("(?:{}){{{min},}}", inner.pattern()),
        }
    }

    /// All ends of matches that begin at `from`.
    fn ends(&self, text: &str, from: usize) -> BTreeSet<usize> {
        match self {
            Self::Text(word) if text[from..].starts_with(word) => [from + word.len()].into(),
            Self::Start if from == 0 => [from].into(),
            Self::End if from == text.len() => [from].into(),
            Self::Text(_) | Self::Start | Self::End => BTreeSet::new(),
            Self::Seq(left, right) => {
                left.ends(text, from).iter().flat_map(|&at| right.ends(text, at)).collect()
            }
            Self::Alt(left, right) => &left.ends(text, from) | &right.ends(text, from),
            Self::Repeat(inner, min, max) => {
                let rounds = max.unwrap_or(min + text.len() as u32 + 1);
                let mut now = BTreeSet::from([from]);
                let mut all = BTreeSet::new();
                for round in 0..=rounds {
                    if round >= *min {
                        all.extend(&now);
                    }
                    now = now.iter().flat_map(|&at| inner.ends(text, at)).collect();
                }
                all
            }
        }
    }
}

/// All ends of matches of a grammar's expressions, by the IR's own meaning.
fn ir_ends(grammar: &Grammar, expr: ExprId, text: &str, from: usize) -> BTreeSet<usize> {
    match &grammar.exprs[expr] {
        Expr::Literal(bytes) if text.as_bytes()[from..].starts_with(bytes) => {
            [from + bytes.len()].into()
        }
        Expr::Seq(parts) => parts.iter().fold([from].into(), |at: BTreeSet<_>, &part| {
            at.into_iter().flat_map(|at| ir_ends(grammar, part, text, at)).collect()
        }),
        Expr::Alt(parts) => {
            parts.iter().flat_map(|&part| ir_ends(grammar, part, text, from)).collect()
        }
        &Expr::Repeat { expr, min, max } => {
            let rounds = max.unwrap_or(min + text.len() as u32 + 1);
            let mut now = BTreeSet::from([from]);
            let mut all = BTreeSet::new();
            for round in 0..=rounds {
                if round >= min {
                    all.extend(&now);
                }
                now = now.iter().flat_map(|&at| ir_ends(grammar, expr, text, at)).collect();
            }
            all
        }
        _ => BTreeSet::new(),
    }
}

#[test]
fn anchors_agree_with_a_naive_matcher() {
    let leaves = [Small::Text(""), Small::Text("a"), Small::Text("b"), Small::Start, Small::End];
    let mut layers: Vec<Small> = leaves.to_vec();
    let counts = [(0, None), (1, None), (0, Some(1)), (2, Some(2)), (2, None), (1, Some(3))];
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..4_000 {
        let left = Box::new(layers[random(layers.len())].clone());
        let right = Box::new(layers[random(layers.len())].clone());
        let made = match random(5) {
            0 | 1 => Small::Seq(left, right),
            2 | 3 => Small::Alt(left, right),
            _ => {
                let (min, max) = counts[random(counts.len())];
                Small::Repeat(left, min, max)
            }
        };
        if made.pattern().len() < 120 {
            layers.push(made);
        }
    }
    let texts = ["", "a", "b", "aa", "ab", "ba", "bb", "aba", "bab", "aab", "abb", "bbaa"];
    for small in &layers {
        let pattern = small.pattern();
        let grammar = parse(&pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        let body = grammar.symbols[grammar.start].body;
        assert!(body.index() < grammar.exprs.len());
        for text in texts {
            let naive = small.ends(text, 0).contains(&text.len());
            let ours = ir_ends(&grammar, body, text, 0).contains(&text.len());
            assert_eq!(naive, ours, "{pattern} on {text:?}: {grammar}");
        }
    }
}
