//! Fast equals naive over a vocabulary of thousands of tokens.
//!
//! Small vocabularies never fill the bitmaps and indexes that real ones do. Here the oracle is
//! asked about samples, and the trie walk without any optimisation about all tokens.

use std::env;
use std::sync::Arc;

use earmark::{CompileOptions, Engine, EngineOptions, Matcher, Vocabulary, compile};

use crate::choices::Choices;
use crate::generate::random_grammar;
use crate::reference::{Reference, Tokens};

#[test]
fn optimised_masks_equal_a_plain_walk() {
    let grammars = if env::var_os("EARMARK_SLOW").is_some() { 600 } else { 40 };
    let first: u64 = env::var("EARMARK_SEED").map_or(1, |seed| seed.parse().unwrap());
    let common = ["a", "b", "c", "é", "è", "日", "😀", "\"", " ", "#", "\n", "z", "Ω", "0"];
    let tokens = many_tokens(first, &common);
    let vocabulary =
        Vocabulary::new(&tokens.bytes, &tokens.eos, &tokens.special, Some(tokens.width)).unwrap();
    let vocabulary = Arc::new(vocabulary);
    for seed in 0..grammars {
        let seed = first * 1_000_003 + seed;
        check(&mut Choices::seeded(seed), &tokens, &vocabulary)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// All short texts of a few characters, longer ones, and pieces of characters.
pub(crate) fn many_tokens(seed: u64, common: &[&str]) -> Tokens {
    let mut choices = Choices::seeded(seed);
    let mut bytes = vec![b"a".to_vec(), b"ab".to_vec(), b"<|x|>".to_vec(), b"<|y|>".to_vec()];
    bytes.extend((0..=255).map(|byte| vec![byte]));
    for &first in common {
        for &second in common {
            bytes.push([first, second].concat().into_bytes());
            for &third in &common[..8] {
                bytes.push([first, second, third].concat().into_bytes());
            }
        }
    }
    for _ in 0..3000 {
        let few = choices.between(1, common.len());
        let text: String =
            (0..choices.between(2, 12)).map(|_| common[choices.below(few)]).collect();
        let start = choices.below(3);
        let end = text.len() - choices.below(3).min(text.len() - start);
        bytes.push(text.as_bytes()[start.min(end)..end].to_vec());
    }
    for unit in common {
        bytes.extend((3..40).map(|count| unit.repeat(count).into_bytes()));
    }
    let eos = vec![bytes.len() as u32];
    bytes.push(b"</s>".to_vec());
    let width = bytes.len() + 100;
    Tokens { bytes, eos, special: vec![2, 3], width }
}

fn check(
    choices: &mut Choices,
    tokens: &Tokens,
    vocabulary: &Arc<Vocabulary>,
) -> Result<(), String> {
    let (grammar, _) = random_grammar(choices);
    let Some(reference) = Reference::new(&grammar, tokens) else { return Ok(()) };
    let grammar = Arc::new(grammar);
    let plain = EngineOptions {
        splits: false,
        closures: false,
        mask_cache: false,
        ..EngineOptions::default()
    };
    let without_closures = EngineOptions { closures: false, ..EngineOptions::default() };
    let mut matchers = vec![];
    let following = EngineOptions { follow_from: 1, ..EngineOptions::default() };
    for options in [plain, without_closures, following, EngineOptions::default()] {
        let compiled = compile(&grammar, &CompileOptions::default())
            .map_err(|error| format!("{error}\n{grammar}"))?;
        let engine = Engine::new(Arc::new(compiled), Arc::clone(vocabulary), options)
            .map_err(|error| format!("{error}\n{grammar}"))?;
        matchers.push(Matcher::new(Arc::new(engine)));
    }
    let mut chart = reference.begin();
    let mut history = vec![];
    for _ in 0..5 {
        let masks: Vec<Vec<u32>> = matchers.iter_mut().map(ids).collect();
        let describe = |id: u32| {
            let bytes = tokens.bytes.get(id as usize).map_or(&b""[..], |bytes| bytes);
            format!("token {id} \"{}\" after {history:?}\n{grammar}", bytes.escape_ascii())
        };
        for (mask, name) in
            masks[1..].iter().zip(["without closures", "with what follows", "as usual"])
        {
            let differs = |id: &u32| mask.binary_search(id).is_ok() != masks[0].contains(id);
            if *mask != masks[0] {
                let id = (0..tokens.width as u32).find(differs).unwrap();
                return Err(format!("masks {name} differ from the plain walk: {}", describe(id)));
            }
        }
        let mut sample: Vec<u32> =
            (0..60).map(|_| choices.below(tokens.bytes.len()) as u32).collect();
        if !masks[0].is_empty() {
            sample.extend((0..60).map(|_| *choices.pick(&masks[0])));
        }
        for id in sample.into_iter().filter(|id| !tokens.eos.contains(id)) {
            let mut after = chart.clone();
            reference.read_token(&mut after, id);
            if reference.is_alive(&after) != masks[0].binary_search(&id).is_ok() {
                return Err(format!("the oracle disagrees: {}", describe(id)));
            }
        }
        let open: Vec<u32> =
            masks[0].iter().copied().filter(|id| !tokens.eos.contains(id)).collect();
        if open.is_empty() {
            break;
        }
        let id = *choices.pick(&open);
        for matcher in &mut matchers {
            matcher.accept(id).map_err(|error| error.to_string())?;
        }
        reference.read_token(&mut chart, id);
        history.push(id);
    }
    Ok(())
}

pub(crate) fn ids(matcher: &mut Matcher) -> Vec<u32> {
    let mut words = vec![0; matcher.width().div_ceil(32)];
    matcher.fill_mask(&mut words);
    (0..matcher.width() as u32)
        .filter(|id| words[*id as usize / 32] >> (id % 32) & 1 == 1)
        .collect()
}
