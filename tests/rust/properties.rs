//! Fast equals naive: random walks through random worlds, each state compared with the oracle.
//!
//! At every state of a walk: the mask is the oracle's mask, bit for bit, under every configuration;
//! a token is accepted exactly if its bit is set; a refused call changes nothing; accept and
//! rollback undo each other; forks are independent; `validate`, `is_accepting` and `forced_bytes`
//! agree with the oracle; how bytes were cut into tokens makes no difference.
//!
//! A failure is made smaller and printed with grammar, vocabulary and history.
//! `EARMARK_SLOW=1` runs at least 100,000 states, `EARMARK_SEED=n` starts elsewhere.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use earmark::compile::Effort;
use earmark::{
    CompileOptions, Engine, EngineOptions, GrammarErrorKind, MatchError, Matcher, Vocabulary,
    compile,
};

use crate::choices::{Choices, shrink};
use crate::generate::{World, world};
use crate::reference::{Chart, Reference, Tokens};

#[test]
fn fast_equals_naive() {
    let (states, workers) =
        if env::var_os("EARMARK_SLOW").is_some() { (120_000, 2) } else { (6_000, 2) };
    let first: u64 = env::var("EARMARK_SEED").map_or(1, |seed| seed.parse().unwrap());
    let seen = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for worker in 0..workers {
            let (seen, stop) = (&seen, &stop);
            scope.spawn(move || {
                let mut seed = first * 1_000_003 + worker;
                while seen.load(Ordering::Relaxed) < states && !stop.load(Ordering::Relaxed) {
                    let mut choices = Choices::seeded(seed);
                    let (outcome, checked) = attempt(&mut choices);
                    seen.fetch_add(checked, Ordering::Relaxed);
                    if outcome.is_err() {
                        stop.store(true, Ordering::Relaxed);
                        panic!("seed {seed}: {}", smallest(choices.drawn()));
                    }
                    seed += workers;
                }
            });
        }
    });
}

/// Makes a failing list of choices smaller and tells what fails.
fn smallest(list: &[u32]) -> String {
    let list = shrink(list.to_vec(), Duration::from_secs(30), |candidate| {
        let mut choices = Choices::replay(candidate);
        let (outcome, _) = attempt(&mut choices);
        outcome.is_err().then(|| choices.drawn().to_vec())
    });
    let mut choices = Choices::replay(&list);
    match attempt(&mut choices).0 {
        Err(report) => report,
        Ok(()) => "it failed once and not again: the engine is not deterministic".to_owned(),
    }
}

/// Checks one world; a panic is a failure like any other. Also gives the number of states.
fn attempt(choices: &mut Choices) -> (Result<(), String>, usize) {
    let world = world(choices);
    let walk = RefCell::new(Walk::default());
    let outcome = catch_unwind(AssertUnwindSafe(|| check(&world, choices, &walk)));
    let walk = walk.into_inner();
    let outcome = outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
        Err(format!("panic: {text}"))
    });
    let outcome = outcome.map_err(|error| {
        format!("{error}\nafter {:?}\nconfigurations {}\n{world}", walk.steps, walk.configurations)
    });
    (outcome, walk.states)
}

/// What a walk did, for the report.
#[derive(Default)]
struct Walk {
    steps: Vec<Step>,
    states: usize,
    configurations: String,
}

#[derive(Clone, Debug)]
enum Step {
    Token(u32),
    Bytes(Vec<u8>),
}

/// A matcher under test and the name of its configuration.
struct Subject {
    name: String,
    engine: Arc<Engine>,
    matcher: Matcher,
}

fn check(world: &World, choices: &mut Choices, walk: &RefCell<Walk>) -> Result<(), String> {
    let reference = Reference::new(&world.grammar, &world.tokens);
    let subjects = subjects(world, choices, walk)?;
    let (Some(reference), Some(mut subjects)) = (reference, subjects) else {
        // `subjects` has compared the two.
        return Ok(());
    };
    let mut charts = vec![reference.begin()];
    let mut masks = vec![];
    for _ in 0..choices.between(1, 14) {
        let mask = check_state(world, choices, &reference, &mut charts, &mut subjects)?;
        walk.borrow_mut().states += 1;
        masks.truncate(charts.len() - 1);
        masks.push(mask);
        step(world, choices, &reference, &mut charts, &mut subjects, &masks, walk)?;
    }
    check_warm(&subjects, &masks, &walk.borrow().steps, world)
}

/// The world under the default options, under some options, and with hardly any cache. `None` if
/// the grammar has no text and every configuration says so.
fn subjects(
    world: &World,
    choices: &mut Choices,
    walk: &RefCell<Walk>,
) -> Result<Option<Vec<Subject>>, String> {
    let tokens = &world.tokens;
    let all_special: Vec<u32> = tokens.special.clone();
    let vocabulary = Vocabulary::new(&tokens.bytes, &tokens.eos, &all_special, Some(tokens.width))
        .map_err(|error| format!("vocabulary refused: {error}"))?;
    let vocabulary = Arc::new(vocabulary);
    let empty = Reference::new(&world.grammar, tokens).is_none();
    let mut subjects = vec![];
    for (compile_options, engine_options) in configurations(choices) {
        let name = format!("{compile_options:?} {engine_options:?}");
        walk.borrow_mut().configurations.extend(["\n  ", &name]);
        let engine = compile(&world.grammar, &compile_options).and_then(|compiled| {
            Engine::new(Arc::new(compiled), Arc::clone(&vocabulary), engine_options)
        });
        match engine {
            Ok(engine) => {
                if empty {
                    return Err(format!("{name}: a grammar without any text was compiled"));
                }
                let engine = Arc::new(engine);
                let matcher = Matcher::new(Arc::clone(&engine));
                subjects.push(Subject { name, engine, matcher });
            }
            Err(error) if empty && error.kind() == GrammarErrorKind::Empty => {}
            Err(error) => return Err(format!("{name}: refused: {error}")),
        }
    }
    Ok((!empty).then_some(subjects))
}

fn configurations(choices: &mut Choices) -> Vec<(CompileOptions, EngineOptions)> {
    let mut some = || choices.below(2) == 0;
    let compile_options = CompileOptions {
        fold: some(),
        linearise: some(),
        collapse_units: some(),
        merge_levels: some(),
        merge_alternatives: some(),
        effort: Effort::USUAL,
    };
    let engine_options = EngineOptions {
        splits: some(),
        closures: some(),
        clamp: some(),
        relatives: some(),
        follow_from: if some() { 1 } else { usize::MAX },
        mask_cache: some(),
        ..EngineOptions::default()
    };
    let tiny = EngineOptions { cache_bytes: choices.below(5000), ..engine_options };
    vec![
        (CompileOptions::default(), EngineOptions::default()),
        (compile_options, engine_options),
        (CompileOptions::default(), tiny),
    ]
}

/// Compares one state of all subjects with the oracle and gives the oracle's mask.
fn check_state(
    world: &World,
    choices: &mut Choices,
    reference: &Reference<'_>,
    charts: &mut [Chart],
    subjects: &mut [Subject],
) -> Result<BTreeSet<u32>, String> {
    let chart = charts.last_mut().unwrap();
    let expected = reference.mask(chart);
    let text = reference.is_text(chart);
    for subject in subjects.iter_mut() {
        let name = &subject.name;
        let found = mask(&mut subject.matcher, &world.tokens)?;
        if found != expected {
            let missing: Vec<_> = expected.difference(&found).collect();
            let wrong: Vec<_> = found.difference(&expected).collect();
            return Err(format!("{name}: mask lacks {missing:?}, wrongly allows {wrong:?}"));
        }
        if subject.matcher.is_accepting() != text {
            return Err(format!("{name}: is_accepting is {}", !text));
        }
        if subject.matcher.is_finished() {
            return Err(format!("{name}: finished without an end-of-sequence token"));
        }
    }
    let subject = &mut subjects[choices.below(3)];
    check_accepts(world, choices, &expected, &mut subject.matcher)?;
    check_validate(world, choices, reference, chart, &mut subject.matcher)?;
    check_forced(reference, chart, &mut subject.matcher)?;
    if mask(&mut subject.matcher, &world.tokens)? != expected {
        return Err("questions changed the state".to_owned());
    }
    Ok(expected)
}

/// A bit is set exactly if the token is accepted; either way the state comes back.
fn check_accepts(
    world: &World,
    choices: &mut Choices,
    expected: &BTreeSet<u32>,
    matcher: &mut Matcher,
) -> Result<(), String> {
    let width = world.tokens.width as u32;
    let thorough = choices.chance(10);
    for id in (0..width + 2).chain([u32::MAX]) {
        let allowed = expected.contains(&id);
        let mut fork = matcher.clone();
        if fork.try_accept(id) != allowed {
            return Err(format!("try_accept({id}) is {}, its bit {allowed}", !allowed));
        }
        if allowed {
            if fork.is_finished() != world.tokens.eos.contains(&id) {
                return Err(format!("wrong is_finished after token {id}"));
            }
            if thorough {
                mask(&mut fork, &world.tokens)?;
            }
            fork.rollback(1).map_err(|error| format!("rollback after {id}: {error}"))?;
        } else {
            let error = fork.accept(id).err().ok_or(format!("accept({id}) worked"))?;
            if (id >= width) != matches!(error, MatchError::OutOfRange { .. }) {
                return Err(format!("accept({id}) of width {width} said: {error}"));
            }
            if thorough {
                fork.explain(id);
            }
        }
        if thorough && mask(&mut fork, &world.tokens)? != *expected {
            return Err(format!("trying token {id} and undoing it changed the mask"));
        }
    }
    if thorough {
        matcher.expected();
    }
    Ok(())
}

/// The longest accepted beginning of a draft.
fn check_validate(
    world: &World,
    choices: &mut Choices,
    reference: &Reference<'_>,
    chart: &mut Chart,
    matcher: &mut Matcher,
) -> Result<(), String> {
    let mut chart = chart.clone();
    let (mut draft, mut expected, mut open) = (vec![], 0, true);
    for _ in 0..choices.between(0, 4) {
        let allowed: Vec<u32> = reference.mask(&mut chart).into_iter().collect();
        let id = if allowed.is_empty() || choices.chance(20) {
            choices.below(world.tokens.width + 1) as u32
        } else {
            *choices.pick(&allowed)
        };
        draft.push(id);
        open &= allowed.contains(&id);
        expected += usize::from(open);
        if world.tokens.eos.contains(&id) {
            open = false;
        } else if open {
            reference.read_token(&mut chart, id);
        }
    }
    let found = matcher.validate(&draft);
    if found == expected {
        Ok(())
    } else {
        Err(format!("validate({draft:?}) is {found}, not {expected}"))
    }
}

/// Forced bytes are the only way on, and there are no more of them.
fn check_forced(
    reference: &Reference<'_>,
    chart: &mut Chart,
    matcher: &mut Matcher,
) -> Result<(), String> {
    let mut chart = chart.clone();
    let forced = matcher.forced_bytes();
    let only = |chart: &mut Chart| {
        let next = reference.next_bytes(chart);
        let stuck = reference.is_text(chart) || reference.expects_token(chart);
        (!stuck && next.len() == 1).then(|| next[0])
    };
    for (at, &byte) in forced.iter().enumerate() {
        if only(&mut chart) != Some(byte) {
            return Err(format!("byte {at} of forced {:?} is not forced", forced.escape_ascii()));
        }
        reference.read_bytes(&mut chart, &[byte]);
    }
    match only(&mut chart) {
        Some(byte) if forced.len() < 64 => Err(format!(
            "after the forced {:?} byte {:?} is forced too",
            forced.escape_ascii().to_string(),
            byte as char
        )),
        _ => Ok(()),
    }
}

/// Goes on: a token, bytes, the end and back, a rollback or a reset.
fn step(
    world: &World,
    choices: &mut Choices,
    reference: &Reference<'_>,
    charts: &mut Vec<Chart>,
    subjects: &mut [Subject],
    masks: &[BTreeSet<u32>],
    walk: &RefCell<Walk>,
) -> Result<(), String> {
    let mask_here = masks.last().unwrap();
    let eos = world.tokens.eos[0];
    match choices.below(14) {
        10 => {
            let bytes = random_bytes(choices, reference, charts.last().unwrap());
            let mut chart = charts.last().unwrap().clone();
            reference.read_bytes(&mut chart, &bytes);
            let alive = reference.is_alive(&chart);
            for subject in subjects.iter_mut() {
                if subject.matcher.accept_bytes(&bytes).is_ok() != alive {
                    let bytes = bytes.escape_ascii();
                    return Err(format!("accept_bytes(\"{bytes}\") worked: {}", !alive));
                }
            }
            if alive {
                charts.push(chart);
                walk.borrow_mut().steps.push(Step::Bytes(bytes));
            }
        }
        11 if charts.len() > 1 => {
            let steps = choices.between(1, charts.len() - 1);
            for subject in subjects.iter_mut() {
                if subject.matcher.rollback(charts.len()).is_ok() {
                    return Err("rolled back more than was accepted".to_owned());
                }
                subject.matcher.rollback(steps).map_err(|error| error.to_string())?;
            }
            charts.truncate(charts.len() - steps);
            walk.borrow_mut().steps.truncate(charts.len() - 1);
        }
        12 if mask_here.contains(&eos) => {
            for subject in subjects.iter_mut() {
                subject.matcher.accept(eos).map_err(|error| error.to_string())?;
                if !subject.matcher.is_finished() {
                    return Err("not finished after end of sequence".to_owned());
                }
                if !mask(&mut subject.matcher, &world.tokens)?.is_empty() {
                    return Err("tokens are allowed after the end".to_owned());
                }
                if subject.matcher.accept(eos) != Err(MatchError::Finished)
                    || subject.matcher.accept_bytes(b"a") != Err(MatchError::Finished)
                {
                    return Err("something was accepted after the end".to_owned());
                }
                subject.matcher.rollback(1).map_err(|error| error.to_string())?;
            }
        }
        13 => {
            for subject in subjects.iter_mut() {
                subject.matcher.reset();
            }
            charts.truncate(1);
            walk.borrow_mut().steps.clear();
        }
        _ => {
            let open: Vec<u32> =
                mask_here.iter().copied().filter(|id| !world.tokens.eos.contains(id)).collect();
            if open.is_empty() {
                return Ok(());
            }
            let id = *choices.pick(&open);
            for subject in subjects.iter_mut() {
                subject.matcher.accept(id).map_err(|error| error.to_string())?;
            }
            let mut chart = charts.last().unwrap().clone();
            reference.read_token(&mut chart, id);
            charts.push(chart);
            walk.borrow_mut().steps.push(Step::Token(id));
        }
    }
    Ok(())
}

/// Some bytes, mostly such as may come.
fn random_bytes(choices: &mut Choices, reference: &Reference<'_>, chart: &Chart) -> Vec<u8> {
    let mut chart = chart.clone();
    let mut bytes = vec![];
    let most = if choices.chance(15) { 80 } else { 5 };
    for _ in 0..choices.between(1, most) {
        let next = reference.next_bytes(&mut chart);
        let byte = if next.is_empty() || choices.chance(60 / most) {
            *choices.pick(b"abc\"# \xC3\xA9\xFF")
        } else {
            *choices.pick(&next)
        };
        bytes.push(byte);
        reference.read_bytes(&mut chart, &[byte]);
    }
    bytes
}

/// A second generation of the same engine sees the same masks, cut the same way or another.
fn check_warm(
    subjects: &[Subject],
    masks: &[BTreeSet<u32>],
    steps: &[Step],
    world: &World,
) -> Result<(), String> {
    for subject in subjects {
        let mut again = Matcher::new(Arc::clone(&subject.engine));
        let mut single = Matcher::new(Arc::clone(&subject.engine));
        for (at, step) in steps.iter().enumerate() {
            if let Some(expected) = masks.get(at)
                && mask(&mut again, &world.tokens)? != *expected
            {
                return Err(format!("{}: another mask when warm, step {at}", subject.name));
            }
            let bytes = match step {
                Step::Token(id) => {
                    again.accept(*id).map_err(|error| error.to_string())?;
                    &world.tokens.bytes[*id as usize]
                }
                Step::Bytes(bytes) => {
                    again.accept_bytes(bytes).map_err(|error| error.to_string())?;
                    bytes
                }
            };
            if world.has_token_terminals {
                // A token may have been more than its bytes.
                continue;
            }
            for &byte in bytes {
                single.accept_bytes(&[byte]).map_err(|error| error.to_string())?;
            }
            if mask(&mut single, &world.tokens)? != mask(&mut again, &world.tokens)? {
                return Err(format!("{}: the cut into tokens matters", subject.name));
            }
        }
    }
    Ok(())
}

fn mask(matcher: &mut Matcher, tokens: &Tokens) -> Result<BTreeSet<u32>, String> {
    let mut words = vec![0xAAAA_AAAA; tokens.width.div_ceil(32)];
    matcher.fill_mask(&mut words);
    let ids: BTreeSet<u32> = (0..words.len() as u32 * 32)
        .filter(|id| words[*id as usize / 32] >> (id % 32) & 1 == 1)
        .collect();
    match ids.iter().find(|&&id| id as usize >= tokens.bytes.len()) {
        Some(id) => Err(format!("id {id} of the mask is not in the vocabulary")),
        None => Ok(ids),
    }
}
