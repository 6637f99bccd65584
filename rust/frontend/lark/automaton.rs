//! A pattern with ordered matches → the smallest deterministic automaton of its preferred matches.
//!
//! Thompson's construction, then the subset construction with *lists* of states instead of sets:
//! a list holds the ways to go on, the preferred one first. A match in a list cuts off what stands
//! behind it, since the engine would not look there any more. The automaton accepts a text if
//! its list holds a match. For example `a*?b` after `aa`: go on with `a`, or read `b`; after `aab`
//! the list is just the match, and nothing goes on.
//!
//! Characters are grouped first: two that no class of the pattern tells apart are one *symbol*. A
//! look-behind is decided when its state is entered, where the symbol before is known.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use rustc_hash::FxHashMap;

use super::ordered::{Effort, Refusal, look_behind};

/// The most states of the automaton without and with order.
const MAX_PARTS: usize = 4_000;
const MAX_STATES: usize = 400;

/// The part that every program starts with: the match.
const MATCH: usize = 0;

/// Ranges of characters, sorted and disjoint.
pub(super) type Ranges = Vec<(char, char)>;

/// A deterministic automaton; state 0 is the start, and from each state a text can be completed.
#[derive(Debug)]
pub(super) struct Automaton {
    /// The characters of each symbol.
    pub(super) symbols: Vec<Ranges>,
    pub(super) states: Vec<State>,
}

/// A state of the automaton.
#[derive(Debug)]
pub(super) struct State {
    pub(super) accepting: bool,
    /// Where each symbol leads, by its number.
    pub(super) next: Vec<Option<usize>>,
}

impl Automaton {
    /// The automaton of a pattern. Takes from the effort that is left.
    pub(super) fn new(hir: &Hir, effort: &mut Effort) -> Result<Self, Refusal> {
        let mut program = Program { parts: vec![Part::Match], classes: Vec::new() };
        let start = program.compile(hir, MATCH)?;
        let alphabet = Alphabet::new(&program.classes);
        let subsets = Subsets { program: &program, alphabet: &alphabet };
        let states = minimise(&subsets.build(start, effort)?, effort)?;
        Ok(Self { symbols: alphabet.symbols, states })
    }

    /// Whether the empty text is the only one.
    pub(super) fn is_only_empty(&self) -> bool {
        self.states[0].accepting && self.states[0].next.iter().all(Option::is_none)
    }
}

/// One part of the automaton before it is deterministic.
#[derive(Clone, Debug)]
enum Part {
    Match,
    /// No way from here.
    Fail,
    /// Reads a character of a class.
    Read {
        class: usize,
        next: usize,
    },
    /// Goes on in several ways, the preferred one first.
    Split(Vec<usize>),
    /// Another round or on to what follows. A round that reads nothing is the last one.
    Loop {
        round: usize,
        next: usize,
        greedy: bool,
    },
    /// Goes on if the character before is in the class (or is not).
    Behind {
        class: usize,
        inside: bool,
        next: usize,
    },
}

struct Program {
    parts: Vec<Part>,
    classes: Vec<Ranges>,
}

impl Program {
    fn push(&mut self, part: Part) -> Result<usize, Refusal> {
        if self.parts.len() == MAX_PARTS {
            return Err(Refusal::TooLarge);
        }
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    fn class(&mut self, ranges: Ranges) -> usize {
        let known = self.classes.iter().position(|class| *class == ranges);
        known.unwrap_or_else(|| {
            self.classes.push(ranges);
            self.classes.len() - 1
        })
    }

    /// Adds what matches `hir` and then goes on to `next`; gives its first part. Recursive, but
    /// the nesting of ordered patterns is limited.
    fn compile(&mut self, hir: &Hir, next: usize) -> Result<usize, Refusal> {
        match hir.kind() {
            HirKind::Empty => Ok(next),
            HirKind::Literal(literal) => {
                let mut next = next;
                // Literals are made of whole characters: byte classes are refused before.
                for c in String::from_utf8_lossy(&literal.0).chars().rev() {
                    let class = self.class(vec![(c, c)]);
                    next = self.push(Part::Read { class, next })?;
                }
                Ok(next)
            }
            HirKind::Class(class) => {
                let ranges = ranges(class);
                if ranges.is_empty() {
                    return self.push(Part::Fail);
                }
                let class = self.class(ranges);
                self.push(Part::Read { class, next })
            }
            // Anchors and word boundaries are refused before.
            HirKind::Look(_) => self.push(Part::Fail),
            HirKind::Capture(capture) => {
                let Some(inside) = look_behind(capture) else {
                    return self.compile(&capture.sub, next);
                };
                let ranges = one_character(&capture.sub).ok_or(Refusal::LookBehindOfMany)?;
                let class = self.class(ranges);
                self.push(Part::Behind { class, inside, next })
            }
            HirKind::Concat(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.compile(part, next))
            }
            HirKind::Alternation(parts) => {
                let ways: Result<_, _> =
                    parts.iter().map(|part| self.compile(part, next)).collect();
                self.push(Part::Split(ways?))
            }
            HirKind::Repetition(repetition) => self.repetition(repetition, next),
        }
    }

    fn repetition(&mut self, repetition: &Repetition, next: usize) -> Result<usize, Refusal> {
        let ways = |round: usize, next: usize| {
            Part::Split(if repetition.greedy { vec![round, next] } else { vec![next, round] })
        };
        let mut first = next;
        match repetition.max {
            None => {
                first = self.push(Part::Fail)?;
                let round = self.compile(&repetition.sub, first)?;
                self.parts[first] = Part::Loop { round, next, greedy: repetition.greedy };
            }
            Some(max) => {
                for _ in repetition.min..max {
                    let round = self.compile(&repetition.sub, first)?;
                    first = self.push(ways(round, next))?;
                }
            }
        }
        for _ in 0..repetition.min {
            let round = self.compile(&repetition.sub, first)?;
            // Rounds without a part would never reach the limit.
            if round == first {
                break;
            }
            first = round;
        }
        Ok(first)
    }
}

/// The characters of a class.
pub(super) fn ranges(class: &Class) -> Ranges {
    match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
    }
}

/// The ranges of a pattern that is one character.
fn one_character(hir: &Hir) -> Option<Ranges> {
    match hir.kind() {
        HirKind::Class(class) => Some(ranges(class)),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let c = text.chars().next()?;
            (c.len_utf8() == text.len()).then(|| vec![(c, c)])
        }
        HirKind::Capture(capture) => match capture.sub.kind() {
            HirKind::Capture(_) => None,
            _ => one_character(&capture.sub),
        },
        _ => None,
    }
}

/// Characters grouped by the classes that hold them.
struct Alphabet {
    symbols: Vec<Ranges>,
    /// For each symbol, whether it is in each class.
    holds: Vec<Vec<bool>>,
}

impl Alphabet {
    fn new(classes: &[Ranges]) -> Self {
        // Between two neighbouring cuts no class begins or ends.
        let mut cuts: Vec<u32> = Vec::new();
        for &(low, high) in classes.iter().flatten() {
            cuts.extend([low as u32, high as u32 + 1]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut members: Vec<Vec<bool>> = vec![vec![false; classes.len()]; cuts.len()];
        for (class, ranges) in classes.iter().enumerate() {
            for &(low, high) in ranges {
                let first = cuts.partition_point(|&cut| cut < low as u32);
                let last = cuts.partition_point(|&cut| cut <= high as u32);
                members[first..last].iter_mut().for_each(|member| member[class] = true);
            }
        }
        let mut alphabet = Self { symbols: Vec::new(), holds: Vec::new() };
        let mut known: FxHashMap<Vec<bool>, usize> = FxHashMap::default();
        for (pair, member) in cuts.windows(2).zip(members) {
            if !member.contains(&true) {
                continue;
            }
            let Some(range) = scalar_range(pair[0], pair[1] - 1) else { continue };
            let symbol = *known.entry(member).or_insert_with_key(|member| {
                alphabet.symbols.push(Vec::new());
                alphabet.holds.push(member.clone());
                alphabet.symbols.len() - 1
            });
            let ranges = &mut alphabet.symbols[symbol];
            match ranges.last_mut() {
                Some(last) if last.1 as u32 + 1 == range.0 as u32 => last.1 = range.1,
                _ => ranges.push(range),
            }
        }
        alphabet
    }
}

/// The characters from `low` to `high`; surrogates are none.
fn scalar_range(low: u32, high: u32) -> Option<(char, char)> {
    let low = char::from_u32(low).unwrap_or('\u{E000}');
    let high = char::from_u32(high).unwrap_or('\u{D7FF}');
    (low <= high).then_some((low, high))
}

struct Subsets<'a> {
    program: &'a Program,
    alphabet: &'a Alphabet,
}

impl Subsets<'_> {
    fn build(&self, start: usize, effort: &mut Effort) -> Result<Vec<State>, Refusal> {
        let mut marks = vec![0; self.program.parts.len()];
        let mut mark = 1;
        let mut list = Vec::new();
        self.enter(start, None, &mut list, &mut marks, mark)?;
        let mut known: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        let mut lists = vec![list.clone()];
        known.insert(list, 0);
        let mut states = Vec::new();
        while states.len() < lists.len() {
            let list = lists[states.len()].clone();
            let mut next = Vec::with_capacity(self.alphabet.symbols.len());
            for symbol in 0..self.alphabet.symbols.len() {
                effort.spend(list.len() + 1)?;
                mark += 1;
                let mut after = Vec::new();
                for &part in &list {
                    if let Part::Read { class, next } = self.program.parts[part]
                        && self.alphabet.holds[symbol][class]
                    {
                        self.enter(next, Some(symbol), &mut after, &mut marks, mark)?;
                    }
                }
                if after.is_empty() {
                    next.push(None);
                    continue;
                }
                let fresh = lists.len();
                let state = *known.entry(after.clone()).or_insert(fresh);
                if state == fresh {
                    lists.push(after);
                }
                next.push(Some(state));
            }
            if lists.len() > MAX_STATES {
                return Err(Refusal::TooLarge);
            }
            states.push(State { accepting: list.last() == Some(&MATCH), next });
        }
        Ok(states)
    }

    /// Adds a part and all it leads to without reading, the preferred way first.
    fn enter(
        &self,
        part: usize,
        before: Option<usize>,
        list: &mut Vec<usize>,
        marks: &mut [u32],
        mark: u32,
    ) -> Result<(), Refusal> {
        let mut stack = vec![part];
        while let Some(part) = stack.pop() {
            // The match: what would come after it is cut off.
            if list.last() == Some(&MATCH) {
                break;
            }
            if marks[part] == mark {
                if let Part::Loop { next, .. } = self.program.parts[part]
                    && marks[next] != mark
                {
                    stack.push(next);
                }
                continue;
            }
            marks[part] = mark;
            match &self.program.parts[part] {
                &Part::Loop { round, next, greedy } => {
                    stack.extend(if greedy { [next, round] } else { [round, next] });
                }
                Part::Match | Part::Read { .. } => list.push(part),
                Part::Fail => {}
                Part::Split(ways) => stack.extend(ways.iter().rev()),
                Part::Behind { class, inside, next } => {
                    let symbol = before.ok_or(Refusal::LookBehindAtStart)?;
                    if self.alphabet.holds[symbol][*class] == *inside {
                        stack.push(*next);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The smallest automaton with the same texts: states from which no text can be completed go,
/// states with the same continuations become one (Moore's refinement). State 0 stays first.
fn minimise(states: &[State], effort: &mut Effort) -> Result<Vec<State>, Refusal> {
    let live = live(states);
    let mut class: Vec<usize> = states.iter().map(|state| usize::from(state.accepting)).collect();
    let mut count = 0;
    loop {
        effort.spend(states.len() * states[0].next.len())?;
        let mut known: FxHashMap<(usize, Vec<Option<usize>>), usize> = FxHashMap::default();
        let refined: Vec<usize> = states
            .iter()
            .zip(&class)
            .map(|(state, &old)| {
                let next = state.next.iter().map(|next| next.filter(|&next| live[next]));
                let next = next.map(|next| next.map(|next| class[next])).collect();
                let fresh = known.len();
                *known.entry((old, next)).or_insert(fresh)
            })
            .collect();
        class = refined;
        if known.len() == count {
            break;
        }
        count = known.len();
    }
    let mut order: Vec<Option<usize>> = vec![None; count];
    let mut kept: Vec<&State> = Vec::new();
    for (index, state) in states.iter().enumerate() {
        if (index == 0 || live[index]) && order[class[index]].is_none() {
            order[class[index]] = Some(kept.len());
            kept.push(state);
        }
    }
    let next =
        |next: &Option<usize>| next.filter(|&next| live[next]).and_then(|next| order[class[next]]);
    let renumbered = |state: &&State| State {
        accepting: state.accepting,
        next: state.next.iter().map(next).collect(),
    };
    Ok(kept.iter().map(renumbered).collect())
}

/// Which states lead to an accepting one.
fn live(states: &[State]) -> Vec<bool> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
    for (index, state) in states.iter().enumerate() {
        for &next in state.next.iter().flatten() {
            from[next].push(index);
        }
    }
    let mut live: Vec<bool> = states.iter().map(|state| state.accepting).collect();
    let mut stack: Vec<usize> = (0..states.len()).filter(|&state| live[state]).collect();
    while let Some(state) = stack.pop() {
        for &before in &from[state] {
            if !live[before] {
                live[before] = true;
                stack.push(before);
            }
        }
    }
    live
}
