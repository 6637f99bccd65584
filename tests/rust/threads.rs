//! Many matchers of one engine in several threads see what one alone sees.
//!
//! The engine's caches are shared and, here, so small that each thread drops what the others have
//! found; a matcher must find its place again from its history.

use std::sync::Arc;
use std::thread;

use earmark::{CompileOptions, Engine, EngineOptions, Matcher, Vocabulary, compile};

use crate::choices::Choices;
use crate::generate::world;

#[test]
fn threads_share_an_engine() {
    for seed in 0..150 {
        let mut choices = Choices::seeded(seed);
        let world = world(&mut choices);
        let tokens = &world.tokens;
        let Ok(compiled) = compile(&world.grammar, &CompileOptions::default()) else { continue };
        let vocabulary =
            Vocabulary::new(&tokens.bytes, &tokens.eos, &tokens.special, Some(tokens.width))
                .unwrap();
        let (compiled, vocabulary) = (Arc::new(compiled), Arc::new(vocabulary));
        let engine = |cache_bytes| {
            let options = EngineOptions { cache_bytes, ..EngineOptions::default() };
            Engine::new(Arc::clone(&compiled), Arc::clone(&vocabulary), options).map(Arc::new)
        };
        let Ok(alone) = engine(64 << 20) else { continue };
        let walks: Vec<Vec<(u32, Vec<u32>)>> =
            (0..6).map(|_| walk(&mut Matcher::new(Arc::clone(&alone)), &mut choices)).collect();
        for cache_bytes in [0, 3000, 64 << 20] {
            let shared = engine(cache_bytes).unwrap();
            thread::scope(|scope| {
                for walk in &walks {
                    let mut matcher = Matcher::new(Arc::clone(&shared));
                    let world = &world;
                    scope.spawn(move || {
                        for round in 0..3 {
                            for (at, (token, expected)) in walk.iter().enumerate() {
                                let mask = mask(&mut matcher);
                                assert_eq!(mask, *expected, "seed {seed} step {at}\n{world}");
                                matcher.accept(*token).unwrap();
                            }
                            if round == 1 {
                                matcher.rollback(walk.len()).unwrap();
                            } else {
                                matcher.reset();
                            }
                        }
                    });
                }
            });
        }
    }
}

/// Random tokens, each with the mask it was chosen from.
fn walk(matcher: &mut Matcher, choices: &mut Choices) -> Vec<(u32, Vec<u32>)> {
    let mut taken = vec![];
    for _ in 0..8 {
        let words = mask(matcher);
        let ids: Vec<u32> = (0..matcher.width() as u32)
            .filter(|id| words[*id as usize / 32] >> (id % 32) & 1 == 1)
            .collect();
        if ids.is_empty() {
            break;
        }
        let id = *choices.pick(&ids);
        matcher.accept(id).unwrap();
        taken.push((id, words));
    }
    taken
}

fn mask(matcher: &mut Matcher) -> Vec<u32> {
    let mut words = vec![0; matcher.width().div_ceil(32)];
    matcher.fill_mask(&mut words);
    words
}
