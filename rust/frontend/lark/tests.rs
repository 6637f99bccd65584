//! Lark texts → printed IR, and each error with its place.

use std::collections::BTreeSet;

use super::parse;
use crate::grammar::{Expr, Grammar};
use crate::index::ExprId;

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
        Expr::Bytes(_) | Expr::Token(_) => BTreeSet::new(),
    }
}

fn accepts(grammar: &Grammar, text: &str) -> bool {
    let body = grammar.symbols[grammar.start].body;
    ends(grammar, body, text.as_bytes(), 0).contains(&text.len())
}

#[test]
fn scratch_fuzz() {
    let text = std::fs::read_to_string("/tmp/larkexp/fuzz.txt").unwrap();
    let (mut ok, mut refused, mut bad) = (0, 0, 0);
    let mut reasons = std::collections::BTreeMap::new();
    let un = |s: &str| s.replace("\\n", "\n");
    for line in text.lines() {
        let mut f = line.split('\t');
        let pattern = f.next().unwrap();
        let grammar = match parse(&format!("start: /{pattern}/"), "start", &|_| None) {
            Ok(g) => g,
            Err(e) => {
                refused += 1;
                reasons
                    .entry(e.to_string().lines().next().unwrap().to_owned())
                    .or_insert((0, pattern.to_owned()))
                    .0 += 1;
                continue;
            }
        };
        let yes: BTreeSet<String> = f.next().unwrap().split(',').map(un).collect();
        let no: BTreeSet<String> = f.next().unwrap().split(',').map(un).collect();
        let mut wrong = vec![];
        for (set, want) in [(&yes, true), (&no, false)] {
            for t in set.iter().filter(|t| *t != "-") {
                let t = if t == "~" { "" } else { t };
                if accepts(&grammar, t) != want {
                    wrong.push((t.to_owned(), want));
                }
            }
        }
        if wrong.is_empty() {
            ok += 1
        } else {
            bad += 1;
            if bad < 10 {
                println!("BAD /{pattern}/ {:?}", &wrong[..wrong.len().min(5)]);
            }
        }
    }
    println!("ok {ok} refused {refused} bad {bad} {reasons:#?}");
}

#[test]
fn scratch() {
    let common =
        std::fs::read_to_string("/tmp/peer/lib/python3.11/site-packages/lark/grammars/common.lark")
            .unwrap();
    let text = std::fs::read_to_string("/tmp/larkexp/in.lark").unwrap();
    for text in text.split("=====\n") {
        println!("-----\n{text}->");
        match parse(text, "start", &|name| (name == "common").then(|| common.clone())) {
            Ok(g) => println!("{g}"),
            Err(e) => println!("{e}"),
        }
    }
}
