//! The hot paths on a vocabulary made here, for counting instructions.
//!
//! `cargo bench --bench hot -- json` compiles a grammar and feeds it a document twice: first with
//! nothing known, then with everything known. Each kind of work is a function of its own that is
//! never inlined, so that `instructions.py` finds it in callgrind's output; the program itself
//! only says how often each ran. Counts repeat from run to run where times don't.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use earmark::frontend::{gbnf, lark};
use earmark::{
    CompileOptions, CompiledGrammar, Engine, EngineOptions, Grammar, GrammarError, Matcher,
    Vocabulary, compile,
};

const CASES: [(&str, &str, &str); 4] = [
    ("json", include_str!("../grammars/json.gbnf"), include_str!("documents/json.txt")),
    (
        "expressions",
        include_str!("../grammars/expressions.gbnf"),
        include_str!("documents/expressions.txt"),
    ),
    ("c_subset", include_str!("../grammars/c_subset.gbnf"), include_str!("documents/c_subset.txt")),
    ("words", include_str!("../grammars/words.lark"), include_str!("documents/words.txt")),
];

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let tokens = tokens();
    let eos = u32::try_from(tokens.len() - 1).expect("few tokens");
    let vocabulary = Arc::new(Vocabulary::new(&tokens, &[eos], &[], None).expect("valid tokens"));
    for (name, grammar, document) in CASES {
        if chosen.is_empty() || chosen.iter().any(|case| case == name) {
            run(name, grammar, &tokenize(&tokens, document.as_bytes()), &vocabulary);
        }
    }
}

fn run(name: &str, grammar: &str, document: &[u32], vocabulary: &Arc<Vocabulary>) {
    let compiled = Arc::new(hot_compile(name, grammar).expect("a valid grammar"));
    let engine = Engine::new(compiled, Arc::clone(vocabulary), EngineOptions::default());
    let engine = Arc::new(engine.expect("no token terminals"));
    let mut mask = vec![0; vocabulary.width().div_ceil(32)];

    let mut matcher = Matcher::new(Arc::clone(&engine));
    for &token in document {
        hot_mask_first(&mut matcher, &mut mask);
        assert!(hot_accept_first(&mut matcher, token), "{name}: refused {token}");
    }
    hot_mask_first(&mut matcher, &mut mask);
    assert!(matcher.is_accepting(), "{name}: the document is whole");

    let mut matcher = Matcher::new(engine);
    for &token in document {
        hot_mask_again(&mut matcher, &mut mask);
        hot_accept_again(&mut matcher, token);
    }
    hot_mask_again(&mut matcher, &mut mask);

    let steps = document.len();
    writeln!(
        io::stdout(),
        "{name} hot_compile=1 hot_mask_first={masks} hot_accept_first={steps} \
         hot_mask_again={masks} hot_accept_again={steps}",
        masks = steps + 1
    )
    .expect("standard output");
}

#[inline(never)]
fn hot_compile(name: &str, text: &str) -> Result<CompiledGrammar, GrammarError> {
    let grammar: Grammar = if name == "words" {
        lark::parse(text, "start", &|_| None)?
    } else {
        gbnf::parse(text, "root")?
    };
    compile(&Arc::new(grammar), &CompileOptions::default())
}

#[inline(never)]
fn hot_mask_first(matcher: &mut Matcher, mask: &mut [u32]) {
    matcher.fill_mask(mask);
}

#[inline(never)]
fn hot_accept_first(matcher: &mut Matcher, token: u32) -> bool {
    matcher.try_accept(token)
}

#[inline(never)]
fn hot_mask_again(matcher: &mut Matcher, mask: &mut [u32]) {
    matcher.fill_mask(mask);
    // Unlike its twin above, or the two become one function.
    std::hint::black_box(&mask);
}

#[inline(never)]
fn hot_accept_again(matcher: &mut Matcher, token: u32) -> bool {
    std::hint::black_box(matcher.try_accept(token))
}

/// Some 30,000 tokens as a model has them: bytes, numbers, indents, punctuation, and words made of
/// syllables with and without a space before them. The last ends the text.
fn tokens() -> Vec<Vec<u8>> {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend((10..1000).map(|number| number.to_string().into_bytes()));
    for width in 2..20 {
        tokens.push(vec![b' '; width]);
        tokens.push([b"\n", &*vec![b' '; width]].concat());
    }
    let marks = b"\"'()[]{},.:;+-*/=<>!?\\\n ";
    for &first in marks {
        for &second in marks {
            tokens.push(vec![first, second]);
            tokens.push(vec![first, second, b'\n']);
        }
    }
    let starts = ["b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "w", ""];
    let middles = ["a", "e", "i", "o", "u", "ea", "ou"];
    let ends = ["", "n", "r", "s", "t", "l", "nd", "ng"];
    let syllables: Vec<String> = starts
        .iter()
        .flat_map(|start| middles.iter().map(move |middle| format!("{start}{middle}")))
        .flat_map(|start| ends.iter().map(move |end| format!("{start}{end}")))
        .collect();
    for (number, first) in syllables.iter().enumerate() {
        for second in ["", "ing", "er", "ly", &syllables[number * 7 % syllables.len()]] {
            let word = format!("{first}{second}");
            let capital = word[..1].to_uppercase() + &word[1..];
            for text in [format!(" {word}"), format!(" {capital}"), word, capital] {
                tokens.push(text.into_bytes());
            }
        }
    }
    tokens.extend(["é", "ß", "–", "の", "猫", "本"].map(|text| text.as_bytes().to_vec()));
    tokens.sort();
    tokens.dedup();
    tokens.push(Vec::new());
    tokens
}

/// The longest token that fits, again and again.
fn tokenize(tokens: &[Vec<u8>], text: &[u8]) -> Vec<u32> {
    let ids: HashMap<&[u8], u32> = tokens.iter().map(Vec::as_slice).zip(0..).collect();
    let longest = tokens.iter().map(Vec::len).max().unwrap_or(1);
    let mut rest = text;
    let mut document = Vec::new();
    while !rest.is_empty() {
        let length = (1..=longest.min(rest.len()))
            .rev()
            .find(|&length| ids.contains_key(&rest[..length]))
            .expect("every byte is a token");
        document.push(ids[&rest[..length]]);
        rest = &rest[length..];
    }
    document
}
