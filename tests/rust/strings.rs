//! Fast equals naive for strings of JSON schemas: bounded lengths, patterns, names that an object
//! has not had yet.
//!
//! What is common to them is worked out once for a vocabulary and shared by all schemas, and only
//! what is peculiar to each is added. So all schemas here share one vocabulary, each state of which
//! is compared with a plain walk of the trie.

use std::env;
use std::sync::Arc;

use earmark::frontend::json_schema::{self, Options};
use earmark::{CompileOptions, Engine, EngineOptions, GrammarErrorKind, Vocabulary, compile};

use crate::choices::Choices;
use crate::large::{ids, many_tokens};

#[test]
fn masks_of_strings_equal_a_plain_walk() {
    let common =
        ["a", "b", "\"", "c", "é", "日", ":", " ", ",", "}", "\\", "u", "0", "😀", "n", "\n"];
    let more = ["{\"", "\"a\":", "\": ", "\",", "\"}", "\\u00", "\\n", "\\\"", "\\ud83d\\ude00"];
    check_all(
        &common,
        &more,
        |choices| {
            if choices.chance(50) { string(choices) } else { object(choices) }
        },
    );
}

/// Texts that may be nearly anything, but for what few of them hold: then only the places in tokens
/// are read where something may happen.
#[test]
fn masks_around_hubs_equal_a_plain_walk() {
    let common = [
        "a", "b", "c", "0", ":", " ", "é", "\"", "@", "\u{a0}", "\u{3000}", "日", ".", "\\", "n",
        "😀",
    ];
    let more =
        ["\": ", "\",", "\\u00", "\\n", "\\\"", "abcab:", "c:ab cab", "0ab.c\"", "\u{1680}a"];
    check_all(&common, &more, nearly_anything);
}

/// Checks random schemas over all short texts of some characters, and more tokens.
fn check_all(common: &[&str], more: &[&str], schema: impl Fn(&mut Choices) -> String) {
    let schemas = if env::var_os("EARMARK_SLOW").is_some() { 2_000 } else { 60 };
    let first: u64 = env::var("EARMARK_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut tokens = many_tokens(first, common);
    tokens.bytes.splice(4..4, more.iter().map(|text| text.as_bytes().to_vec()));
    let eos: Vec<u32> = tokens.eos.iter().map(|&id| id + more.len() as u32).collect();
    let width = Some(tokens.width + more.len());
    let vocabulary = Vocabulary::new(&tokens.bytes, &eos, &tokens.special, width);
    let vocabulary = Arc::new(vocabulary.unwrap());
    for seed in 0..schemas {
        let seed = first * 1_000_003 + seed;
        let mut choices = Choices::seeded(seed);
        let schema = schema(&mut choices);
        check(&mut choices, &schema, &vocabulary)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// A schema of texts that may be nearly anything.
fn nearly_anything(choices: &mut Choices) -> String {
    let letters = ["a", "b", "c", "0", ":", "é", " ", "a"];
    let word = |choices: &mut Choices| -> String {
        (0..choices.between(2, 5)).map(|_| *choices.pick(&letters)).collect()
    };
    let length = |choices: &mut Choices| {
        let most = choices.between(3, 50);
        match choices.below(3) {
            0 => String::new(),
            1 => format!(", \"maxLength\": {most}"),
            _ => format!(", \"minLength\": {most}, \"maxLength\": {most}"),
        }
    };
    let keyword = match choices.below(8) {
        0 | 1 => {
            let words: Vec<String> = (0..choices.between(2, 4))
                .map(|_| format!("{{\"pattern\": \"{}\"}}", word(choices)))
                .collect();
            format!("\"oneOf\": [{}]", words.join(", "))
        }
        2 => format!("\"not\": {{\"pattern\": \"{}\"}}", word(choices)),
        3 => {
            let names = [word(choices), word(choices), ".*".to_owned()];
            let names = names.map(|name| format!("\"{name}\": {{\"type\": \"string\"}}"));
            let names = names.join(", ");
            return format!("{{\"type\": \"object\", \"patternProperties\": {{{names}}}}}");
        }
        4 => {
            let most = choices.below(5);
            format!("\"pattern\": \"^(?:\\\\S+\\\\s+){{0,{most}}}\\\\S+$\"")
        }
        5 => format!("\"pattern\": \"[0-9{}]+\"", word(choices)),
        6 => {
            let (one, other) = (word(choices), word(choices));
            let before = "^[^@:\\\\s]+@[^@.\\\\s]+(\\\\.[^@.\\\\s]*)*";
            format!("\"pattern\": \"{before}.{one}.{other}\"")
        }
        _ => {
            let name = choices.pick::<&str>(&["^\\\\w+$", "^[a-z]+$", "^[^@]*$"]);
            let names = format!("{{\"{name}\": {{\"type\": \"string\"}}}}");
            return format!("{{\"type\": \"object\", \"patternProperties\": {names}}}");
        }
    };
    format!("{{\"type\": \"string\", {keyword}{}}}", length(choices))
}

fn check(choices: &mut Choices, schema: &str, vocabulary: &Arc<Vocabulary>) -> Result<(), String> {
    let parsed = json_schema::parse(schema, &Options::default())
        .map_err(|error| format!("{schema}: {error}"))?;
    let options = CompileOptions { fold: false, ..CompileOptions::default() };
    let compiled = match compile(&Arc::new(parsed.grammar), &options) {
        Err(error) if error.kind() == GrammarErrorKind::Empty => return Ok(()),
        compiled => Arc::new(compiled.map_err(|error| format!("{schema}: {error}"))?),
    };
    let all = EngineOptions::default();
    let configurations = [
        ("plain", EngineOptions { splits: false, closures: false, ..all }),
        ("default", all),
        ("without relatives", EngineOptions { relatives: false, ..all }),
        ("without closures", EngineOptions { closures: false, ..all }),
        ("with what follows", EngineOptions { follow_from: 1, ..all }),
        ("without clamping", EngineOptions { clamp: false, ..all }),
    ];
    let mut matchers = Vec::new();
    for (name, options) in configurations {
        let engine = Engine::new(Arc::clone(&compiled), Arc::clone(vocabulary), options);
        let engine = engine.map_err(|error| format!("{schema}: {error}"))?;
        matchers.push((name, earmark::Matcher::new(Arc::new(engine))));
    }
    let mut history: Vec<Vec<u8>> = Vec::new();
    for _ in 0..choices.between(3, 24) {
        let plain = ids(&mut matchers[0].1);
        for (name, matcher) in &mut matchers[1..] {
            let mask = ids(matcher);
            if mask != plain {
                let id = (0..vocabulary.width() as u32)
                    .find(|id| mask.binary_search(id).is_ok() != plain.binary_search(id).is_ok());
                let bytes = id.map(|id| vocabulary.token_bytes(earmark::index::TokenId(id)));
                return Err(format!(
                    "{schema}: {name} differs in {id:?} \"{}\" after {history:?}",
                    bytes.unwrap_or_default().escape_ascii()
                ));
            }
        }
        let going_on: Vec<u32> =
            plain.into_iter().filter(|&id| !vocabulary.eos().iter().any(|e| e.0 == id)).collect();
        if going_on.is_empty() {
            break;
        }
        // Short tokens, or every text is over after a few of them.
        let token = (0..4)
            .map(|_| *choices.pick(&going_on))
            .min_by_key(|&id| vocabulary.token_bytes(earmark::index::TokenId(id)).len())
            .unwrap_or(going_on[0]);
        history.push(vocabulary.token_bytes(earmark::index::TokenId(token)).to_vec());
        for (name, matcher) in &mut matchers {
            if !matcher.try_accept(token) {
                return Err(format!("{schema}: {name} refuses its own token after {history:?}"));
            }
        }
    }
    Ok(())
}

/// A schema of strings.
fn string(choices: &mut Choices) -> String {
    let mut keywords = vec!["\"type\": \"string\"".to_owned()];
    if choices.chance(60) {
        let least = choices.below(6);
        if choices.chance(50) {
            keywords.push(format!("\"minLength\": {least}"));
        }
        if choices.chance(70) {
            let more = if choices.chance(50) { 60 } else { 8 };
            let most = least + choices.below(more);
            keywords.push(format!("\"maxLength\": {most}"));
        }
    }
    if choices.chance(50) {
        keywords.push(format!("\"pattern\": \"{}\"", pattern(choices)));
    }
    match choices.below(10) {
        0 | 1 => {
            keywords.push(format!("\"not\": {{\"enum\": [{}]}}", words(choices).join(", ")));
        }
        2 | 3 => {
            let inner = ["ab", "ba0", "a.b", "é:", "ab|c:", "abab|a:a"];
            let inner = choices.pick::<&str>(&inner);
            keywords.push(format!("\"not\": {{\"pattern\": \"{inner}\"}}"));
        }
        _ => {}
    }
    format!("{{{}}}", keywords.join(", "))
}

fn pattern(choices: &mut Choices) -> String {
    let pieces = [
        "a",
        "[ab]{2,5}",
        "[^:]+",
        "é?",
        ":",
        "[0-9]+",
        "b*",
        ".*",
        "(ab|a.)*",
        "[a-c0:]",
        "(b|)",
        "[^a]{1,20}",
        "\\\\S+",
        "[ab]{3,}",
        "(a{2,3}:)+",
        "[a-c]+",
        "\\\\\\\\",
        "[ -~]*",
    ];
    let mut text = String::new();
    if choices.chance(60) {
        text.push('^');
    }
    for _ in 0..choices.between(1, 4) {
        text.push_str(choices.pick::<&str>(&pieces));
    }
    if choices.chance(60) {
        text.push('$');
    }
    text
}

fn words(choices: &mut Choices) -> Vec<String> {
    let parts = ["a", "b", "ab", "é", "日", ":", "c", "n", "0", "\\n", "\\\"", " "];
    let word = |choices: &mut Choices| -> String {
        (0..choices.between(0, 4)).map(|_| *choices.pick(&parts)).collect()
    };
    let mut words: Vec<String> =
        (0..choices.between(1, 8)).map(|_| format!("\"{}\"", word(choices))).collect();
    words.sort();
    words.dedup();
    words
}

/// A schema of objects with known names and others.
fn object(choices: &mut Choices) -> String {
    let names = words(choices);
    let properties: Vec<String> =
        names.iter().map(|name| format!("{name}: {}", string(choices))).collect();
    let mut keywords = vec![
        "\"type\": \"object\"".to_owned(),
        format!("\"properties\": {{{}}}", properties.join(", ")),
    ];
    if choices.chance(30) {
        keywords.push(format!("\"required\": [{}]", names[choices.below(names.len())]));
    }
    if choices.chance(40) {
        let pattern = pattern(choices);
        keywords.push(format!("\"patternProperties\": {{\"{pattern}\": {}}}", string(choices)));
    }
    if choices.chance(50) {
        keywords.push(format!("\"additionalProperties\": {}", string(choices)));
    }
    if choices.chance(20) {
        keywords.push(format!("\"propertyNames\": {}", string(choices)));
    }
    format!("{{{}}}", keywords.join(", "))
}
