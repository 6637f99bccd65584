//! Deterministic automata over bytes, in one form each: equal languages are equal values.

use rustc_hash::FxHashMap;

/// The bytes from one to another, inclusive, and the state that they lead to.
type Edge = (u8, u8, u32);

/// A state of an [`Automaton`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AutomatonState {
    /// Whether a text may end here.
    pub accepts: bool,
    /// Inclusive byte ranges, sorted and disjoint, and the states they lead to.
    pub edges: Box<[(u8, u8, u32)]>,
}

/// A deterministic automaton: minimal, every state reachable from state 0 and able to accept,
/// states numbered in the order of a breadth-first walk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Automaton {
    states: Box<[AutomatonState]>,
}

impl Automaton {
    /// The automaton of some states, of which a text starts in the first; `None` if it accepts no
    /// text. Edges must be sorted and disjoint, and lead to states that there are.
    pub fn new(states: &[AutomatonState]) -> Option<Self> {
        let alive = alive(states);
        if !alive.first().is_some_and(|&alive| alive) {
            return None;
        }
        let classes = classes(states, &alive);
        Some(Self { states: renumbered(states, &alive, &classes) })
    }

    /// The states; a text starts in the first.
    pub fn states(&self) -> &[AutomatonState] {
        &self.states
    }
}

/// Which states can go on to a text.
fn alive(states: &[AutomatonState]) -> Vec<bool> {
    let mut sources: Vec<Vec<u32>> = vec![Vec::new(); states.len()];
    for (source, state) in states.iter().enumerate() {
        for &(_, _, target) in &state.edges {
            sources[target as usize].push(source as u32);
        }
    }
    let mut alive: Vec<bool> = states.iter().map(|state| state.accepts).collect();
    let mut open: Vec<u32> = (0..states.len() as u32).filter(|&at| alive[at as usize]).collect();
    while let Some(target) = open.pop() {
        for &source in &sources[target as usize] {
            if !std::mem::replace(&mut alive[source as usize], true) {
                open.push(source);
            }
        }
    }
    alive
}

/// For each state a number that equal states share: Moore's refinement, by signatures.
fn classes(states: &[AutomatonState], alive: &[bool]) -> Vec<u32> {
    let mut classes: Vec<u32> = states.iter().map(|state| u32::from(state.accepts)).collect();
    let mut count = 0;
    loop {
        let mut known: FxHashMap<(u32, Vec<Edge>), u32> = FxHashMap::default();
        let refined: Vec<u32> = states
            .iter()
            .enumerate()
            .map(|(at, state)| {
                let signature = (classes[at], merged(state, alive, &classes));
                let fresh = known.len() as u32;
                *known.entry(signature).or_insert(fresh)
            })
            .collect();
        classes = refined;
        if known.len() == count {
            return classes;
        }
        count = known.len();
    }
}

/// A state's edges to classes: neighbouring ranges to the same one are one, edges to dead states
/// none.
fn merged(state: &AutomatonState, alive: &[bool], classes: &[u32]) -> Vec<(u8, u8, u32)> {
    let mut edges: Vec<(u8, u8, u32)> = Vec::with_capacity(state.edges.len());
    for &(low, high, target) in state.edges.iter().filter(|edge| alive[edge.2 as usize]) {
        let class = classes[target as usize];
        match edges.last_mut() {
            Some(last) if last.2 == class && u16::from(last.1) + 1 == u16::from(low) => {
                last.1 = high;
            }
            _ => edges.push((low, high, class)),
        }
    }
    edges
}

fn renumbered(states: &[AutomatonState], alive: &[bool], classes: &[u32]) -> Box<[AutomatonState]> {
    // A state of each class.
    let mut members: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, &class) in classes.iter().enumerate() {
        members.entry(class).or_insert(at);
    }
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    numbers.insert(classes[0], 0);
    let mut order = vec![classes[0]];
    let mut found = Vec::new();
    while let Some(class) = order.get(found.len()) {
        let state = &states[members[class]];
        let mut edges = merged(state, alive, classes);
        for edge in &mut edges {
            let fresh = order.len() as u32;
            let class = edge.2;
            edge.2 = *numbers.entry(class).or_insert_with(|| {
                order.push(class);
                fresh
            });
        }
        found.push(AutomatonState { accepts: state.accepts, edges: edges.into() });
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(accepts: bool, edges: &[(u8, u8, u32)]) -> AutomatonState {
        AutomatonState { accepts, edges: edges.into() }
    }

    #[test]
    fn equal_languages_are_equal() {
        // a(b|c), written in two ways, one with a dead state.
        let first = Automaton::new(&[
            state(false, &[(b'a', b'a', 1)]),
            state(false, &[(b'b', b'b', 2), (b'c', b'c', 3)]),
            state(true, &[]),
            state(true, &[(b'x', b'x', 4)]),
            state(false, &[(b'x', b'x', 4)]),
        ]);
        let second = Automaton::new(&[
            state(false, &[(b'a', b'a', 2)]),
            state(true, &[]),
            state(false, &[(b'b', b'c', 1)]),
        ]);
        assert_eq!(first, second);
        assert_eq!(first.unwrap().states().len(), 3);
        assert_eq!(Automaton::new(&[state(false, &[(b'a', b'a', 0)])]), None);
    }
}
