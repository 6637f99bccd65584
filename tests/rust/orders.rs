//! Items in any order, more than could be written down one order after the other.

use std::sync::Arc;

use earmark::grammar::{Grammar, GrammarBuilder, Member, MemberOrder, Members, SymbolKind};
use earmark::index::ExprId;
use earmark::span::Span;
use earmark::{
    CompileOptions, Engine, EngineOptions, GrammarErrorKind, Matcher, Vocabulary, compile,
};

use crate::choices::Choices;

const COUNT: usize = 60;

/// `{` the items of `unordered` `}`; an item is its name, a colon and a number or another object.
fn object(unordered: impl FnOnce(&mut GrammarBuilder, &[ExprId]) -> Members) -> Grammar {
    let mut b = GrammarBuilder::new();
    let start = b.declare("object", SymbolKind::Rule, Span::default());
    let again = b.symbol(start);
    let digit = b.class(&[('0', '9')]);
    let number = b.repeat(digit, 1, None);
    let value = b.alt(&[number, again]);
    let mut items = vec![];
    for index in 0..COUNT {
        let name = b.literal(format!("k{index}:").as_bytes());
        items.push(b.seq(&[name, value]));
    }
    let unordered = unordered(&mut b, &items);
    let inner = b.members(unordered);
    let (open, close) = (b.literal(b"{"), b.literal(b"}"));
    let body = b.seq(&[open, inner, close]);
    b.define(start, body);
    b.finish(start)
}

/// Each item once, those below `required` at least.
fn each_once(required: usize) -> Grammar {
    object(|b, exprs| {
        let item = |(index, &expr): (usize, &ExprId)| Member {
            expr,
            once: Some(index as u32),
            marks: (index < required).then_some(index as u32).into_iter().collect(),
            excludes: [].into(),
        };
        let items = exprs.iter().enumerate().map(item).collect();
        let separator = b.literal(b",");
        Members {
            order: MemberOrder::Any,
            items,
            separator,
            marks: required as u32,
            min: 0,
            max: None,
            conditions: [].into(),
        }
    })
}

/// One token a byte and an end of sequence.
fn engine(grammar: Grammar, options: CompileOptions, cache_bytes: usize) -> Arc<Engine> {
    let mut bytes: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    bytes.push(vec![]);
    let vocabulary = Arc::new(Vocabulary::new(&bytes, &[256], &[], None).unwrap());
    let compiled = Arc::new(compile(&Arc::new(grammar), &options).unwrap());
    let options = EngineOptions { cache_bytes, ..EngineOptions::default() };
    Arc::new(Engine::new(compiled, vocabulary, options).unwrap())
}

fn shuffled(choices: &mut Choices, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..COUNT).collect();
    for last in (1..COUNT).rev() {
        order.swap(last, choices.below(last + 1));
    }
    order.truncate(count);
    order
}

fn text(order: &[usize]) -> String {
    let items: Vec<String> = order.iter().map(|index| format!("k{index}:{index}")).collect();
    format!("{{{}}}", items.join(","))
}

/// How much of a text is accepted byte by byte, each with its bit in the mask, and whether the
/// text may end there.
fn read(engine: &Arc<Engine>, text: &str) -> (usize, bool) {
    let mut matcher = Matcher::new(Arc::clone(engine));
    let mut mask = vec![0; 9];
    for (at, byte) in text.bytes().enumerate() {
        matcher.fill_mask(&mut mask);
        let allowed = mask[usize::from(byte) / 32] >> (byte % 32) & 1 == 1;
        assert_eq!(matcher.try_accept(byte.into()), allowed, "byte {at} of {text}");
        if !allowed {
            return (at, false);
        }
    }
    (text.len(), matcher.is_accepting())
}

fn is_text(engine: &Arc<Engine>, text: &str) -> bool {
    read(engine, text) == (text.len(), true)
}

#[test]
fn every_order_of_required_items_is_accepted() {
    let mut choices = Choices::seeded(1);
    for options in [CompileOptions::default(), CompileOptions::PLAIN] {
        let engine = engine(each_once(COUNT), options, 64 << 20);
        for _ in 0..10 {
            let order = shuffled(&mut choices, COUNT);
            assert!(is_text(&engine, &text(&order)));
            // One is missing: the text can't be closed.
            let short = text(&order[1..]);
            assert_eq!(read(&engine, &short), (short.len() - 1, false));
            // One comes again: refused where its name is complete.
            let mut twice = order.clone();
            twice[COUNT - 1] = twice[COUNT / 2];
            let twice = text(&twice);
            let (length, _) = read(&engine, &twice);
            let name = twice.rfind(',').unwrap();
            assert!((name..twice.rfind(':').unwrap() + 1).contains(&length), "{length} {twice}");
        }
        assert!(engine.memory_bytes() < 32 << 20, "{} bytes", engine.memory_bytes());
    }
}

#[test]
fn some_of_the_items_in_some_order_and_nested() {
    let mut choices = Choices::seeded(2);
    let engine = engine(each_once(1), CompileOptions::default(), 64 << 20);
    for _ in 0..10 {
        let mut order = shuffled(&mut choices, 20);
        let with = order.contains(&0);
        assert_eq!(is_text(&engine, &text(&order)), with);
        order.retain(|&index| index != 0);
        order.push(0);
        assert!(is_text(&engine, &text(&order)));
    }
    let mut nested = "1".to_owned();
    for index in 0..40 {
        nested = format!("{{k{}:2,k0:{nested},k50:{{k0:7}}}}", index + 1);
    }
    assert!(is_text(&engine, &nested));
    assert!(!is_text(&engine, &nested.replace("k50:{k0:7}", "k50:{}")));
}

#[test]
fn states_survive_a_cache_that_is_always_full() {
    let mut choices = Choices::seeded(3);
    for cache_bytes in [0, 100_000] {
        let engine = engine(each_once(COUNT), CompileOptions::default(), cache_bytes);
        for _ in 0..2 {
            let order = shuffled(&mut choices, COUNT);
            assert!(is_text(&engine, &text(&order)));
            assert!(!is_text(&engine, &text(&order[1..])));
        }
    }
}

#[test]
fn messages_name_the_items_that_are_left() {
    let engine = engine(each_once(COUNT), CompileOptions::default(), 64 << 20);
    let mut matcher = Matcher::new(engine);
    let order: Vec<usize> = (0..COUNT - 2).collect();
    let all = text(&order);
    matcher.accept_bytes(&all.as_bytes()[..all.len() - 1]).unwrap();
    matcher.accept_bytes(b",").unwrap();
    assert_eq!(matcher.expected(), ["\"k58:\"", "\"k59:\""]);
}

#[test]
fn a_number_of_any_items() {
    let grammar = object(|b, exprs| {
        let items = exprs
            .iter()
            .map(|&expr| Member { expr, once: None, marks: [].into(), excludes: [].into() })
            .collect();
        let separator = b.literal(b",");
        Members {
            order: MemberOrder::Any,
            items,
            separator,
            marks: 0,
            min: 2,
            max: Some(100),
            conditions: [].into(),
        }
    });
    let engine = engine(grammar, CompileOptions::default(), 64 << 20);
    for (count, accepted) in [(1, false), (2, true), (100, true), (101, false)] {
        assert_eq!(is_text(&engine, &text(&vec![7; count])), accepted, "{count}");
    }
}

/// The error of a grammar of one rule, or terminal, with items in any order.
fn error(
    kind: SymbolKind,
    unordered: impl FnOnce(&mut GrammarBuilder) -> Members,
) -> (GrammarErrorKind, String) {
    let mut b = GrammarBuilder::new();
    let start = b.declare("start", kind, Span::default());
    let unordered = unordered(&mut b);
    let body = b.members(unordered);
    b.define(start, body);
    let error = compile(&Arc::new(b.finish(start)), &CompileOptions::default()).unwrap_err();
    (error.kind(), error.to_string())
}

fn item(expr: ExprId, once: u32, marks: &[u32]) -> Member {
    Member { expr, once: Some(once), marks: marks.into(), excludes: [].into() }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let both = |items: Vec<Member>, separator, marks| Members {
        order: MemberOrder::Any,
        items: items.into(),
        separator,
        marks,
        min: 0,
        max: None,
        conditions: [].into(),
    };
    let (kind, message) = error(SymbolKind::Rule, |b| {
        let (a, comma) = (b.literal(b"a"), b.literal(b","));
        let maybe = b.repeat(a, 0, None);
        both(vec![item(a, 0, &[]), item(maybe, 1, &[])], comma, 0)
    });
    assert_eq!(kind, GrammarErrorKind::Unsupported);
    assert!(message.contains("may be empty"), "{message}");
    let (kind, _) = error(SymbolKind::Rule, |b| {
        let (a, nothing) = (b.literal(b"a"), b.empty());
        both(vec![item(a, 0, &[])], nothing, 0)
    });
    assert_eq!(kind, GrammarErrorKind::Unsupported);
    let (kind, message) = error(SymbolKind::Terminal, |b| {
        let (a, comma) = (b.literal(b"a"), b.literal(b","));
        both(vec![item(a, 0, &[])], comma, 0)
    });
    assert_eq!(kind, GrammarErrorKind::Unsupported);
    assert!(message.contains("make it a rule"), "{message}");
    let (kind, _) = error(SymbolKind::Rule, |b| {
        let (a, comma) = (b.literal(b"a"), b.literal(b","));
        both(vec![item(a, 0, &[0]), item(a, 0, &[1])], comma, 2)
    });
    assert_eq!(kind, GrammarErrorKind::Empty);
    let (kind, _) = error(SymbolKind::Rule, |b| {
        let (a, comma) = (b.literal(b"a"), b.literal(b","));
        let items = (0..40).map(|index| item(a, index / 2, &[index, (index + 1) % 40])).collect();
        both(items, comma, 40)
    });
    assert_eq!(kind, GrammarErrorKind::Limit);
    let (kind, _) = error(SymbolKind::Rule, |b| {
        let (a, comma) = (b.literal(b"a"), b.literal(b","));
        both(vec![item(a, 0, &[0])], comma, u32::MAX)
    });
    assert_eq!(kind, GrammarErrorKind::Empty);
}

#[test]
fn an_item_may_set_many_marks() {
    let grammar = object(|b, exprs| {
        let all: Vec<u32> = (0..COUNT as u32).collect();
        let item = |(index, &expr): (usize, &ExprId)| Member {
            expr,
            once: Some(index as u32),
            marks: if index == 0 { all.clone().into() } else { [index as u32].into() },
            excludes: [].into(),
        };
        let items = exprs.iter().enumerate().map(item).collect();
        let separator = b.literal(b",");
        Members {
            order: MemberOrder::Any,
            items,
            separator,
            marks: COUNT as u32,
            min: 2,
            max: None,
            conditions: [].into(),
        }
    });
    let engine = engine(grammar, CompileOptions::default(), 64 << 20);
    assert!(!is_text(&engine, "{k0:0}"));
    assert!(is_text(&engine, "{k7:1,k0:0}"));
    assert!(!is_text(&engine, "{k7:1,k8:0}"));
}

#[test]
fn deep_nesting_compiles() {
    let mut b = GrammarBuilder::new();
    let (open, comma) = (b.literal(b"{"), b.literal(b","));
    let mut value = b.literal(b"1");
    for _ in 0..20_000 {
        let separator = comma;
        let items = [item(value, 0, &[0]), item(open, 1, &[])].into();
        let inner = b.members(Members {
            order: MemberOrder::Any,
            items,
            separator,
            marks: 1,
            min: 0,
            max: None,
            conditions: [].into(),
        });
        value = b.seq(&[open, inner]);
    }
    let start = b.declare("start", SymbolKind::Rule, Span::default());
    b.define(start, value);
    let engine = engine(b.finish(start), CompileOptions::default(), 64 << 20);
    let mut matcher = Matcher::new(engine);
    assert!(matcher.accept_bytes(b"{{,{{{{,{").is_ok());
}
