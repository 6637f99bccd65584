//! Regular expressions the naive way: every expression becomes a whole deterministic automaton.
//!
//! Sets of places make automata of expressions, pairs of states make their intersections, and a
//! state is alive if one that accepts can be reached. Nothing is derived, shared or put off.
//! `Machine::new` gives the oracle its intersections; the test here compares the lexer with it
//! directly, text by text.

use std::collections::{BTreeSet, HashMap};

use earmark::grammar::{Expr, Grammar};
use earmark::index::{ExprId, Id};
use earmark::layered::Layered;

/// Inclusive ranges of numbers.
type Ranges = Vec<(u32, u32)>;

/// Intersections of a few random expressions may have hundreds of thousands of states; a state
/// takes two kilobytes here.
const MAX_STATES: usize = 20_000;

/// A deterministic automaton with a transition for each byte.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) accepts: Vec<bool>,
    pub(crate) next: Vec<Vec<usize>>,
    /// Whether some text is accepted from a state.
    pub(crate) alive: Vec<bool>,
}

impl Machine {
    pub(crate) const START: usize = 0;

    /// The automaton of an expression without model tokens and recursion; `None` if one that it is
    /// made of has too many states.
    pub(crate) fn new(grammar: &Grammar, expr: ExprId) -> Option<Self> {
        let mut parts = Parts::default();
        let symbol = |symbol| grammar.symbols[symbol].body;
        let (start, end) = (parts.place(), parts.place());
        parts.add(&grammar.exprs, &symbol, expr, start, end)?;
        parts.machine(start, end)
    }

    fn finish(accepts: Vec<bool>, next: Vec<Vec<usize>>) -> Self {
        let mut alive = accepts.clone();
        loop {
            let before = alive.clone();
            for state in 0..alive.len() {
                alive[state] |= next[state].iter().any(|&to| alive[to]);
            }
            if alive == before {
                return Self { accepts, next, alive };
            }
        }
    }

    /// What all of `all` and none of `none` accept.
    fn meet(all: &[Self], none: &[Self]) -> Option<Self> {
        let count = all.len();
        let parts: Vec<&Self> = all.iter().chain(none).collect();
        let accepts = |states: &[usize]| {
            let accept = |index: usize| parts[index].accepts[states[index]];
            (0..count).all(accept) && !(count..parts.len()).any(accept)
        };
        let mut known = HashMap::from([(vec![Self::START; parts.len()], 0)]);
        let mut order = vec![vec![Self::START; parts.len()]];
        let mut next = vec![];
        while next.len() < order.len() {
            if order.len() > MAX_STATES {
                return None;
            }
            let here = order[next.len()].clone();
            let row = (0..256).map(|byte| {
                let to: Vec<usize> =
                    here.iter().zip(&parts).map(|(&state, part)| part.next[state][byte]).collect();
                *known.entry(to.clone()).or_insert_with(|| {
                    order.push(to);
                    order.len() - 1
                })
            });
            next.push(row.collect());
        }
        Some(Self::finish(order.iter().map(|states| accepts(states)).collect(), next))
    }
}

/// Whether all intersections of a grammar have an automaton of few states.
pub(crate) fn has_small_automata(grammar: &Grammar) -> bool {
    let is_meet = |&id: &ExprId| matches!(grammar.exprs[id], Expr::And { .. });
    let mut meets = (0..grammar.exprs.len()).map(ExprId::new).filter(is_meet);
    meets.all(|id| Machine::new(grammar, id).is_some())
}

/// Places that texts lead to, several at once.
#[derive(Default)]
struct Parts {
    empty: Vec<Vec<usize>>,
    edges: Vec<Vec<(u8, u8, usize)>>,
}

impl Parts {
    fn place(&mut self) -> usize {
        self.empty.push(vec![]);
        self.edges.push(vec![]);
        self.empty.len() - 1
    }

    /// Lets an expression lead from one place to another.
    fn add(
        &mut self,
        exprs: &Layered<ExprId, Expr>,
        symbol: &dyn Fn(earmark::index::SymbolId) -> ExprId,
        expr: ExprId,
        from: usize,
        to: usize,
    ) -> Option<()> {
        match &exprs[expr] {
            Expr::Literal(bytes) => {
                let end = bytes.iter().fold(from, |from, &byte| {
                    let next = self.place();
                    self.edges[from].push((byte, byte, next));
                    next
                });
                self.empty[end].push(to);
            }
            Expr::Class(ranges) => {
                let ranges: Vec<(u32, u32)> =
                    ranges.iter().map(|&(low, high)| (low.into(), high.into())).collect();
                self.class(&ranges, from, to);
            }
            Expr::Bytes(ranges) => {
                self.edges[from].extend(ranges.iter().map(|&(low, high)| (low, high, to)));
            }
            &Expr::Symbol(id) => self.add(exprs, symbol, symbol(id), from, to)?,
            Expr::Seq(parts) => {
                let end = parts.iter().try_fold(from, |from, &part| {
                    let next = self.place();
                    self.add(exprs, symbol, part, from, next)?;
                    Some(next)
                })?;
                self.empty[end].push(to);
            }
            Expr::Alt(parts) => {
                for &part in parts.iter() {
                    self.add(exprs, symbol, part, from, to)?;
                }
            }
            &Expr::Repeat { expr, min, max } => {
                let mut at = from;
                for _ in 0..min {
                    let next = self.place();
                    self.add(exprs, symbol, expr, at, next)?;
                    at = next;
                }
                if let Some(max) = max {
                    for _ in min..max {
                        self.empty[at].push(to);
                        let next = self.place();
                        self.add(exprs, symbol, expr, at, next)?;
                        at = next;
                    }
                } else {
                    // A place of its own, which nothing else leads on from.
                    let again = self.place();
                    self.empty[at].push(again);
                    self.add(exprs, symbol, expr, again, again)?;
                    at = again;
                }
                self.empty[at].push(to);
            }
            Expr::And { all, none } => {
                let machines = |parts: &[ExprId]| -> Option<Vec<Machine>> {
                    parts
                        .iter()
                        .map(|&part| {
                            let mut inner = Self::default();
                            let (start, end) = (inner.place(), inner.place());
                            inner.add(exprs, symbol, part, start, end)?;
                            inner.machine(start, end)
                        })
                        .collect()
                };
                let meet = Machine::meet(&machines(all)?, &machines(none)?)?;
                let places: Vec<usize> = meet.accepts.iter().map(|_| self.place()).collect();
                for (state, row) in meet.next.iter().enumerate() {
                    for (byte, &next) in (0..=255).zip(row) {
                        if meet.alive[next] {
                            self.edges[places[state]].push((byte, byte, places[next]));
                        }
                    }
                    if meet.accepts[state] {
                        self.empty[places[state]].push(to);
                    }
                }
                self.empty[from].push(places[Machine::START]);
            }
            Expr::Automaton(automaton) => {
                let states = automaton.states();
                let places: Vec<usize> = states.iter().map(|_| self.place()).collect();
                for (state, &place) in states.iter().zip(&places) {
                    let edges = state.edges.iter();
                    self.edges[place]
                        .extend(edges.map(|&(low, high, next)| (low, high, places[next as usize])));
                    if state.accepts {
                        self.empty[place].push(to);
                    }
                }
                self.empty[from].push(places[0]);
            }
            Expr::Token(_) | Expr::Members(_) => unreachable!("not regular"),
        }
        Some(())
    }

    /// One character of the ranges, by what its lead byte says of it.
    fn class(&mut self, ranges: &[(u32, u32)], from: usize, to: usize) {
        let mut known = HashMap::new();
        for lead in 0..=0xF4_u8 {
            // How many bytes follow, the characters with this lead byte, those of them that are.
            let (follow, base, low, high) = match lead {
                0x00..=0x7F => (0, u32::from(lead), 0, 0x7F),
                0xC0..=0xDF => (1, u32::from(lead & 0x1F) << 6, 0x80, 0x7FF),
                0xE0..=0xEF => (2, u32::from(lead & 0x0F) << 12, 0x800, 0xFFFF),
                0xF0..=0xF4 => (3, u32::from(lead & 0x07) << 18, 0x1_0000, 0x10_FFFF),
                _ => continue,
            };
            let legal = cut(&cut(ranges, low, high), 0, 0xD7FF)
                .into_iter()
                .chain(cut(&cut(ranges, low, high), 0xE000, u32::MAX))
                .collect::<Vec<_>>();
            let here = relative(&legal, base, follow);
            if let Some(next) = self.tail(&here, follow, to, &mut known) {
                self.edges[from].push((lead, lead, next));
            }
        }
    }

    /// A place from which so many continuation bytes with a value of the ranges lead to `to`.
    fn tail(
        &mut self,
        ranges: &[(u32, u32)],
        follow: u32,
        to: usize,
        known: &mut HashMap<(u32, Ranges), usize>,
    ) -> Option<usize> {
        if ranges.is_empty() || follow == 0 {
            return (!ranges.is_empty()).then_some(to);
        }
        if let Some(&place) = known.get(&(follow, ranges.to_vec())) {
            return Some(place);
        }
        let place = self.place();
        for byte in 0x80..=0xBF_u8 {
            let base = u32::from(byte & 0x3F) << (6 * (follow - 1));
            let rest = relative(ranges, base, follow - 1);
            if let Some(next) = self.tail(&rest, follow - 1, to, known) {
                self.edges[place].push((byte, byte, next));
            }
        }
        known.insert((follow, ranges.to_vec()), place);
        Some(place)
    }

    fn machine(&self, start: usize, end: usize) -> Option<Machine> {
        let close = |places: BTreeSet<usize>| {
            let mut stack: Vec<usize> = places.iter().copied().collect();
            let mut all = places;
            while let Some(place) = stack.pop() {
                stack.extend(self.empty[place].iter().copied().filter(|&next| all.insert(next)));
            }
            all
        };
        let first = close([start].into());
        let mut known = HashMap::from([(first.clone(), 0)]);
        let mut order = vec![first];
        let mut next = vec![];
        while next.len() < order.len() {
            if order.len() > MAX_STATES {
                return None;
            }
            let mut targets = vec![BTreeSet::new(); 256];
            for &place in &order[next.len()] {
                for &(low, high, to) in &self.edges[place] {
                    (low..=high).for_each(|byte| {
                        targets[usize::from(byte)].insert(to);
                    });
                }
            }
            let row = targets.into_iter().map(|target| {
                let target = close(target);
                *known.entry(target.clone()).or_insert_with(|| {
                    order.push(target);
                    order.len() - 1
                })
            });
            next.push(row.collect());
        }
        Some(Machine::finish(order.iter().map(|places| places.contains(&end)).collect(), next))
    }
}

fn cut(ranges: &[(u32, u32)], low: u32, high: u32) -> Vec<(u32, u32)> {
    let cut = ranges.iter().map(|&(from, to)| (from.max(low), to.min(high)));
    cut.filter(|(from, to)| from <= to).collect()
}

/// The ranges as seen from `base`, for so many continuation bytes.
fn relative(ranges: &[(u32, u32)], base: u32, follow: u32) -> Vec<(u32, u32)> {
    let inside = cut(ranges, base, base + (1 << (6 * follow)) - 1);
    inside.into_iter().map(|(from, to)| (from - base, to - base)).collect()
}

#[cfg(test)]
mod tests {
    use std::env;

    use earmark::index::RegexId;
    use earmark::lexer::{DEAD, Lexer, RegexSet};

    use super::*;
    use crate::choices::Choices;
    use crate::generate::random_regular;

    /// The regex of an expression, made by the lexer's own constructors.
    fn regex(set: &mut RegexSet, grammar: &Grammar, expr: ExprId) -> RegexId {
        match &grammar.exprs[expr] {
            Expr::Literal(bytes) => set.literal(bytes),
            Expr::Class(ranges) => set.class(ranges),
            Expr::Bytes(ranges) => {
                let bytes = ranges.iter().flat_map(|&(low, high)| low..=high);
                set.bytes(bytes.collect())
            }
            Expr::Seq(parts) => {
                let parts = regexes(set, grammar, parts);
                let empty = set.literal(b"");
                parts.iter().rev().fold(empty, |rest, &part| set.concat(part, rest))
            }
            Expr::Alt(parts) => {
                let parts = regexes(set, grammar, parts);
                set.or(&parts)
            }
            Expr::Repeat { expr, min, max } => {
                let part = regex(set, grammar, *expr);
                set.repeat(part, *min, *max)
            }
            Expr::And { all, none } => {
                let (all, none) = (regexes(set, grammar, all), regexes(set, grammar, none));
                set.and(&all, &none).expect("random expressions are small")
            }
            Expr::Automaton(automaton) => set.automaton(automaton),
            Expr::Symbol(_) | Expr::Token(_) | Expr::Members(_) => unreachable!("not generated"),
        }
    }

    fn regexes(set: &mut RegexSet, grammar: &Grammar, parts: &[ExprId]) -> Vec<RegexId> {
        parts.iter().map(|&part| regex(set, grammar, part)).collect()
    }

    /// Whether the expression of a seed was checked, and is not too large for that.
    fn check(seed: u64) -> bool {
        let mut choices = Choices::seeded(seed);
        let (grammar, expr) = random_regular(&mut choices);
        let Some(machine) = Machine::new(&grammar, expr) else { return false };
        let mut set = RegexSet::default();
        let root = regex(&mut set, &grammar, expr);
        let limit = *choices.pick(&[1, 2, 4, 8]);
        let stripped = set.without_empty(root).expect("random expressions are small");
        let mut lexer = Lexer::new(set);
        let shown = || format!("seed {seed}: {}", grammar.print_expr(expr));

        // All texts of a few letters, each as a state of both; dead ones end there.
        let letters: &[&[u8]] = &[b"a", b"b", "é".as_bytes(), b"\xC3"];
        let mut open = vec![(vec![], root, Machine::START)];
        while let Some((text, state, place)) = open.pop() {
            let at = || format!("{} after \"{}\"", shown(), text.escape_ascii());
            assert_eq!(state != DEAD, machine.alive[place], "alive: {}", at());
            assert_eq!(lexer.accepts(state), machine.accepts[place], "accepts: {}", at());
            if state == DEAD {
                continue;
            }
            let first: Vec<u8> = lexer.exact_first(state).iter().collect();
            let alive = |&byte: &u8| machine.alive[machine.next[place][usize::from(byte)]];
            let expected: Vec<u8> = (0..=255).filter(alive).collect();
            assert_eq!(first, expected, "first: {}", at());
            let clamped = lexer.clamp(state, limit);
            check_clamped(&mut lexer, (state, clamped), limit, letters, &at);
            if text.len() < 7 {
                for letter in letters {
                    let next = lexer.run(state, letter);
                    let place = letter
                        .iter()
                        .fold(place, |place, &byte| machine.next[place][usize::from(byte)]);
                    open.push(([&text, *letter].concat(), next, place));
                }
            }
        }
        for _ in 0..8 {
            check_long_text(&mut choices, &mut lexer, root, &machine, letters, &shown);
        }
        assert!(!lexer.accepts(stripped), "{}", shown());
        for first in letters {
            for second in [b"" as &[u8]].iter().chain(letters) {
                let text = [*first, *second].concat();
                let (left, right) = (lexer.run(root, &text), lexer.run(stripped, &text));
                assert_eq!(left == DEAD, right == DEAD, "without \"\": {}", shown());
                assert_eq!(lexer.accepts(left), lexer.accepts(right), "without \"\": {}", shown());
            }
        }
        true
    }

    /// A random text of the expression, as long as it goes on.
    fn check_long_text(
        choices: &mut Choices,
        lexer: &mut Lexer,
        root: RegexId,
        machine: &Machine,
        letters: &[&[u8]],
        shown: &dyn Fn() -> String,
    ) {
        let (mut text, mut state, mut place) = (vec![], root, Machine::START);
        while text.len() < 60 {
            let mut open = vec![];
            for letter in letters {
                let next = lexer.run(state, letter);
                let after =
                    letter.iter().fold(place, |place, &byte| machine.next[place][byte as usize]);
                let at = || format!("{} after \"{}\"", shown(), text.escape_ascii());
                assert_eq!(next != DEAD, machine.alive[after], "alive by {letter:?}: {}", at());
                assert_eq!(lexer.accepts(next), machine.accepts[after], "by {letter:?}: {}", at());
                if next != DEAD {
                    open.push((letter, next, after));
                }
            }
            if open.is_empty() {
                break;
            }
            let &(letter, next, after) = choices.pick(&open);
            text.extend_from_slice(letter);
            (state, place) = (next, after);
        }
    }

    /// The same for so many bytes, and at least as much after them.
    fn check_clamped(
        lexer: &mut Lexer,
        states: (RegexId, RegexId),
        limit: u32,
        letters: &[&[u8]],
        at: &dyn Fn() -> String,
    ) {
        if states.0 == states.1 {
            return;
        }
        let mut open = vec![(states, 0)];
        while let Some(((left, right), length)) = open.pop() {
            if length > limit.min(4) + 1 {
                continue;
            }
            let (alive, accepts) = (left != DEAD, lexer.accepts(left));
            if length <= limit {
                assert_eq!(alive, right != DEAD, "clamped to {limit}: {}", at());
                assert_eq!(accepts, lexer.accepts(right), "clamped to {limit}: {}", at());
            } else {
                assert!(!alive || right != DEAD, "clamped to {limit}: {}", at());
                assert!(!accepts || lexer.accepts(right), "clamped to {limit}: {}", at());
            }
            for letter in letters {
                let next = (lexer.run(left, letter), lexer.run(right, letter));
                open.push((next, length + letter.len() as u32));
            }
        }
    }

    #[test]
    fn the_lexer_agrees_on_every_text() {
        let count = if env::var_os("EARMARK_SLOW").is_some() { 20_000 } else { 400 };
        let first: u64 = env::var("EARMARK_SEED").map_or(1, |seed| seed.parse().unwrap());
        let checked = (0..count).filter(|seed| check(first * 1_000_003 + seed)).count();
        assert!(checked as u64 > count / 10 * 9, "only {checked} of {count}");
    }
}
