//! Deterministic automata over bytes, in one form each: equal languages are equal values.
//!
//! [`Automaton::new`] takes any deterministic automaton and gives the minimal one with its states
//! in the order of a breadth-first walk. Linear for automata without cycles, n log n for others
//! (Hopcroft 1971), and no recursion follows their length.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A state of an [`Automaton`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AutomatonState {
    /// Whether a text may end here.
    pub accepts: bool,
    /// Inclusive byte ranges, sorted and disjoint, and the states they lead to.
    pub edges: Box<[(u8, u8, u32)]>,
}

/// A deterministic automaton: minimal, every state reachable from state 0 and able to accept,
/// states numbered in the order of a breadth-first walk, edges as few as possible.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Automaton {
    states: Box<[AutomatonState]>,
}

/// In maps of states: none that can accept.
const DEAD: u32 = u32::MAX;

impl Automaton {
    /// The automaton of the texts that lead from the first state to one that accepts; `None` if
    /// there are none. The edges of each state must be sorted and disjoint and lead to states.
    pub fn new(states: &[AutomatonState]) -> Option<Self> {
        debug_assert!(states.iter().all(|state| {
            let sorted = state.edges.windows(2).all(|pair| pair[0].1 < pair[1].0);
            let valid =
                |&(low, high, to): &(u8, u8, u32)| low <= high && (to as usize) < states.len();
            sorted && state.edges.iter().all(valid)
        }));
        let (states, start) = if states.is_empty() {
            return None;
        } else if let Some(order) = children_first(states) {
            merge_acyclic(states, &order)
        } else {
            merge_cyclic(states)
        };
        (start != DEAD).then(|| Self { states: breadth_first(&states, start) })
    }

    /// The states; a text starts in the first.
    pub fn states(&self) -> &[AutomatonState] {
        &self.states
    }
}

/// The states that can be reached, each behind those it leads to; `None` if there is a cycle.
fn children_first(states: &[AutomatonState]) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; states.len()];
    let mut order = Vec::with_capacity(states.len());
    let mut stack = vec![(0_u32, 0_usize)];
    marks[0] = Mark::Open;
    while let Some((state, edge)) = stack.last_mut() {
        if let Some(&(_, _, to)) = states[*state as usize].edges.get(*edge) {
            *edge += 1;
            match marks[to as usize] {
                Mark::New => {
                    marks[to as usize] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Open => return None,
                Mark::Done => {}
            }
        } else {
            marks[*state as usize] = Mark::Done;
            order.push(*state);
            stack.pop();
        }
    }
    Some(order)
}

/// Merges equal states from the last to the first: whatever a state leads to is merged before it.
fn merge_acyclic(states: &[AutomatonState], order: &[u32]) -> (Vec<AutomatonState>, u32) {
    let mut merged: Vec<AutomatonState> = Vec::with_capacity(order.len());
    let mut known: HashTable<u32> = HashTable::with_capacity(order.len());
    let mut map = vec![DEAD; states.len()];
    let mut edges = Vec::new();
    for &from in order {
        let state = &states[from as usize];
        map_edges(&mut edges, &state.edges, |to| map[to as usize]);
        if !state.accepts && edges.is_empty() {
            continue;
        }
        let equals = |&id: &u32| {
            let other: &AutomatonState = &merged[id as usize];
            other.accepts == state.accepts && *other.edges == *edges
        };
        let hash = hash(state.accepts, &edges);
        map[from as usize] = match known.find(hash, equals) {
            Some(&id) => id,
            None => {
                let id = merged.len() as u32;
                merged.push(AutomatonState { accepts: state.accepts, edges: edges[..].into() });
                known.insert_unique(hash, id, |&id| {
                    let state = &merged[id as usize];
                    self::hash(state.accepts, &state.edges)
                });
                id
            }
        };
    }
    let start = map[0];
    (merged, start)
}

fn hash(accepts: bool, edges: &[(u8, u8, u32)]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    (accepts, edges).hash(&mut hasher);
    hasher.finish()
}

/// The edges of a state with other targets; neighbours that lead to the same become one.
fn map_edges(into: &mut Vec<(u8, u8, u32)>, edges: &[(u8, u8, u32)], map: impl Fn(u32) -> u32) {
    into.clear();
    for &(low, high, to) in edges {
        let to = map(to);
        if to == DEAD {
            continue;
        }
        match into.last_mut() {
            Some(last) if last.2 == to && u16::from(last.1) + 1 == u16::from(low) => last.1 = high,
            _ => into.push((low, high, to)),
        }
    }
}

/// Merges equal states by splitting the set of all until each part is of equals.
fn merge_cyclic(states: &[AutomatonState]) -> (Vec<AutomatonState>, u32) {
    let (kept, map) = useful(states);
    if map[0] == DEAD {
        return (Vec::new(), DEAD);
    }
    let incoming = Incoming::new(states, &kept, &map);
    let mut partition = Partition::new(kept.len());
    partition
        .split((0..kept.len() as u32).filter(|&id| states[kept[id as usize] as usize].accepts));
    let mut work: Vec<u32> = (0..partition.count()).collect();
    let mut arrivals: Vec<(u8, u32)> = Vec::new();
    while let Some(part) = work.pop() {
        // What leads into the part, letter by letter. Taken before the part itself may be split.
        arrivals.clear();
        arrivals.extend(partition.members(part).iter().flat_map(|&state| incoming.of(state)));
        arrivals.sort_unstable();
        for letter in arrivals.chunk_by(|a, b| a.0 == b.0) {
            // Of a part that is split, the smaller half is new: one that waits goes on waiting,
            // and of one that has been dealt with as a whole, one half is enough.
            let old = partition.count();
            partition.split(letter.iter().map(|&(_, state)| state));
            work.extend(old..partition.count());
        }
    }
    let part = |state: u32| match map[state as usize] {
        DEAD => DEAD,
        id => partition.part_of(id),
    };
    let mut edges = Vec::new();
    let merged = (0..partition.count())
        .map(|id| {
            let state = &states[kept[partition.members(id)[0] as usize] as usize];
            map_edges(&mut edges, &state.edges, part);
            AutomatonState { accepts: state.accepts, edges: edges[..].into() }
        })
        .collect();
    (merged, part(0))
}

/// The states that can be reached and can accept, and where each state is among them.
fn useful(states: &[AutomatonState]) -> (Vec<u32>, Vec<u32>) {
    let mut reached = vec![false; states.len()];
    reached[0] = true;
    let mut found = vec![0_u32];
    let mut next = 0;
    while let Some(&state) = found.get(next) {
        next += 1;
        for &(_, _, to) in &states[state as usize].edges {
            if !std::mem::replace(&mut reached[to as usize], true) {
                found.push(to);
            }
        }
    }
    let mut backwards: Vec<(u32, u32)> = found
        .iter()
        .flat_map(|&from| states[from as usize].edges.iter().map(move |edge| (edge.2, from)))
        .collect();
    backwards.sort_unstable();
    backwards.dedup();
    let mut map = vec![DEAD; states.len()];
    let mut kept: Vec<u32> =
        found.iter().copied().filter(|&state| states[state as usize].accepts).collect();
    for (id, &state) in kept.iter().enumerate() {
        map[state as usize] = id as u32;
    }
    let mut next = 0;
    while let Some(&state) = kept.get(next) {
        next += 1;
        let first = backwards.partition_point(|edge| edge.0 < state);
        for &(_, from) in backwards[first..].iter().take_while(|edge| edge.0 == state) {
            if map[from as usize] == DEAD {
                map[from as usize] = kept.len() as u32;
                kept.push(from);
            }
        }
    }
    (kept, map)
}

/// The edges of useful states by where they lead, in letters: bytes that all states treat alike.
struct Incoming {
    /// The place of each state's first edge, and the number of edges.
    first: Vec<u32>,
    /// Letter and origin.
    edges: Vec<(u8, u32)>,
}

impl Incoming {
    fn new(states: &[AutomatonState], kept: &[u32], map: &[u32]) -> Self {
        let mut starts = [false; 257];
        for &state in kept {
            for &(low, high, _) in &states[state as usize].edges {
                starts[usize::from(low)] = true;
                starts[usize::from(high) + 1] = true;
            }
        }
        let mut letter_of = [0_u8; 256];
        let mut letters = 0;
        for byte in 1..256 {
            letters += u8::from(starts[byte]);
            letter_of[byte] = letters;
        }
        let all = || {
            kept.iter().enumerate().flat_map(|(from, &state)| {
                let useful =
                    states[state as usize].edges.iter().filter(|edge| map[edge.2 as usize] != DEAD);
                useful.flat_map(move |&(low, high, to)| {
                    let letters = letter_of[usize::from(low)]..=letter_of[usize::from(high)];
                    letters.map(move |letter| (map[to as usize] as usize, letter, from as u32))
                })
            })
        };
        let mut first = vec![0_u32; kept.len() + 1];
        all().for_each(|(to, _, _)| first[to + 1] += 1);
        for state in 0..kept.len() {
            first[state + 1] += first[state];
        }
        let mut next = first.clone();
        let mut edges = vec![(0, 0); first[kept.len()] as usize];
        all().for_each(|(to, letter, from)| {
            edges[next[to] as usize] = (letter, from);
            next[to] += 1;
        });
        Self { first, edges }
    }

    fn of(&self, state: u32) -> impl Iterator<Item = (u8, u32)> {
        let range = self.first[state as usize] as usize..self.first[state as usize + 1] as usize;
        self.edges[range].iter().copied()
    }
}

/// The states in disjoint parts.
struct Partition {
    /// All states, those of a part next to each other.
    members: Vec<u32>,
    /// Where each state stands there.
    places: Vec<u32>,
    part_of: Vec<u32>,
    /// Where the members of each part start and end.
    bounds: Vec<(u32, u32)>,
    /// How many members of each part have been picked, in a split; they stand first.
    picked: Vec<u32>,
}

impl Partition {
    /// All in one part.
    fn new(states: usize) -> Self {
        let states = states as u32;
        Self {
            members: (0..states).collect(),
            places: (0..states).collect(),
            part_of: vec![0; states as usize],
            bounds: vec![(0, states)],
            picked: vec![0],
        }
    }

    fn count(&self) -> u32 {
        self.bounds.len() as u32
    }

    fn members(&self, part: u32) -> &[u32] {
        let (start, end) = self.bounds[part as usize];
        &self.members[start as usize..end as usize]
    }

    fn part_of(&self, state: u32) -> u32 {
        self.part_of[state as usize]
    }

    /// Splits each part into the picked states, each picked once, and the others. The smaller half
    /// becomes a new part.
    fn split(&mut self, states: impl Iterator<Item = u32>) {
        let mut touched = Vec::new();
        for state in states {
            let part = self.part_of(state) as usize;
            if self.picked[part] == 0 {
                touched.push(part);
            }
            let from = self.places[state as usize];
            let to = self.bounds[part].0 + self.picked[part];
            let other = self.members[to as usize];
            self.members.swap(from as usize, to as usize);
            self.places[state as usize] = to;
            self.places[other as usize] = from;
            self.picked[part] += 1;
        }
        for part in touched {
            let (start, end) = self.bounds[part];
            let middle = start + std::mem::take(&mut self.picked[part]);
            if middle == end {
                continue;
            }
            let new = if middle - start <= end - middle {
                self.bounds[part] = (middle, end);
                (start, middle)
            } else {
                self.bounds[part] = (start, middle);
                (middle, end)
            };
            let id = self.count();
            for &state in &self.members[new.0 as usize..new.1 as usize] {
                self.part_of[state as usize] = id;
            }
            self.bounds.push(new);
            self.picked.push(0);
        }
    }
}

/// Numbers states by a breadth-first walk.
fn breadth_first(states: &[AutomatonState], start: u32) -> Box<[AutomatonState]> {
    let mut map = vec![DEAD; states.len()];
    let mut order = vec![start];
    map[start as usize] = 0;
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        for &(_, _, to) in &states[state as usize].edges {
            if map[to as usize] == DEAD {
                map[to as usize] = order.len() as u32;
                order.push(to);
            }
        }
    }
    let renumber = |&(low, high, to): &(u8, u8, u32)| (low, high, map[to as usize]);
    order
        .iter()
        .map(|&state| {
            let AutomatonState { accepts, edges } = &states[state as usize];
            AutomatonState { accepts: *accepts, edges: edges.iter().map(renumber).collect() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States as (accepts, edges).
    fn build(states: &[(bool, &[(u8, u8, u32)])]) -> Option<Automaton> {
        let states: Vec<AutomatonState> = states
            .iter()
            .map(|&(accepts, edges)| AutomatonState { accepts, edges: edges.into() })
            .collect();
        Automaton::new(&states)
    }

    #[test]
    fn useless_states_are_dropped() {
        assert_eq!(build(&[]), None);
        assert_eq!(build(&[(false, &[(b'a', b'z', 0)])]), None);
        assert_eq!(build(&[(false, &[(b'a', b'a', 1)]), (false, &[])]), None);
        assert_eq!(build(&[(false, &[]), (true, &[])]), None);
        let built = build(&[
            (false, &[(b'a', b'a', 1), (b'b', b'b', 2)]),
            (true, &[(b'c', b'c', 1)]),
            (false, &[(b'd', b'd', 2)]),
            (true, &[(b'a', b'a', 0)]),
        ]);
        assert_eq!(built, build(&[(false, &[(b'a', b'a', 1)]), (true, &[(b'c', b'c', 1)])]));
        assert_eq!(built.unwrap().states().len(), 2);
    }

    #[test]
    fn equal_languages_are_equal_values() {
        // (ab|cb)d?: written as a tree and as a chain.
        let tree = build(&[
            (false, &[(b'a', b'a', 1), (b'c', b'c', 2)]),
            (false, &[(b'b', b'b', 3)]),
            (false, &[(b'b', b'b', 4)]),
            (true, &[(b'd', b'd', 5)]),
            (true, &[(b'd', b'd', 6)]),
            (true, &[]),
            (true, &[]),
        ]);
        let chain = build(&[
            (false, &[(b'a', b'a', 3), (b'c', b'c', 3)]),
            (true, &[(b'd', b'd', 2)]),
            (true, &[]),
            (false, &[(b'b', b'b', 1)]),
        ]);
        assert_eq!(tree, chain);
        assert_eq!(tree.unwrap().states().len(), 4);
        // Letters in a row, unrolled twice and thrice.
        let twice =
            build(&[(true, &[(b'a', b'f', 1)]), (true, &[(b'a', b'c', 0), (b'd', b'f', 1)])]);
        let thrice = build(&[
            (true, &[(b'a', b'f', 1)]),
            (true, &[(b'a', b'b', 2), (b'c', b'f', 0)]),
            (true, &[(b'a', b'f', 2)]),
        ]);
        assert_eq!(twice, build(&[(true, &[(b'a', b'f', 0)])]));
        assert_eq!(twice, thrice);
    }

    /// A small generator: tests are the same each time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % bound
        }
    }

    fn accepts(states: &[AutomatonState], text: &[u8]) -> bool {
        let mut at = 0;
        for &byte in text {
            let edge = states[at].edges.iter().find(|edge| (edge.0..=edge.1).contains(&byte));
            let Some(&(_, _, to)) = edge else { return false };
            at = to as usize;
        }
        states[at].accepts
    }

    fn texts(length: u32) -> impl Iterator<Item = Vec<u8>> {
        (0..=length).flat_map(|length| {
            (0..3_u32.pow(length)).map(move |code| {
                (0..length).map(|i| b'a' + (code / 3_u32.pow(i) % 3) as u8).collect()
            })
        })
    }

    #[test]
    fn random_automata_keep_their_language_and_are_minimal() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut sizes = [0; 2];
        for round in 0..600 {
            let count = 1 + random.below(7);
            let states: Vec<AutomatonState> = (0..count)
                .map(|state| {
                    let edges = (b'a'..=b'c')
                        .filter_map(|byte| {
                            // Every other automaton is without cycles.
                            let from = if round % 2 == 0 { 0 } else { state + 1 };
                            let room = count.checked_sub(from).filter(|&room| room > 0)?;
                            (random.below(4) > 0)
                                .then(|| (byte, byte, (from + random.below(room)) as u32))
                        })
                        .collect();
                    AutomatonState { accepts: random.below(3) == 0, edges }
                })
                .collect();
            let Some(built) = Automaton::new(&states) else {
                assert!(texts(7).all(|text| !accepts(&states, &text)));
                continue;
            };
            sizes[round % 2] += built.states().len();
            assert!(texts(7).all(|text| accepts(&states, &text) == accepts(built.states(), &text)));
            // Minimal: no two states accept the same short texts, and all accept some.
            let residuals: std::collections::HashSet<Vec<bool>> = (0..built.states().len())
                .map(|start| {
                    let mut rotated = built.states().to_vec();
                    rotated.swap(0, start);
                    for state in &mut rotated {
                        for edge in &mut state.edges {
                            edge.2 = match edge.2 as usize {
                                0 => start as u32,
                                to if to == start => 0,
                                to => to as u32,
                            };
                        }
                    }
                    texts(6).map(|text| accepts(&rotated, &text)).collect()
                })
                .collect();
            assert_eq!(residuals.len(), built.states().len());
            assert!(residuals.iter().all(|residual| residual.contains(&true)));
            // One form: building it again, or from its states in another order, changes nothing.
            assert_eq!(Automaton::new(built.states()).as_ref(), Some(&built));
            let last = built.states().len() as u32 - 1;
            let mut reversed = built.states().to_vec();
            reversed[1..].reverse();
            for state in &mut reversed {
                for edge in &mut state.edges {
                    edge.2 = if edge.2 == 0 { 0 } else { last + 1 - edge.2 };
                }
            }
            assert_eq!(Automaton::new(&reversed), Some(built));
        }
        assert!(sizes.iter().all(|&size| size > 300), "{sizes:?}");
    }

    #[test]
    fn long_automata_take_no_stack_and_little_time() {
        const LENGTH: u32 = 200_000;
        let chain: Vec<AutomatonState> = (0..LENGTH)
            .map(|state| AutomatonState {
                accepts: state + 1 == LENGTH,
                edges: if state + 1 < LENGTH {
                    [(b'a', b'a', state + 1)].into()
                } else {
                    [].into()
                },
            })
            .collect();
        assert_eq!(Automaton::new(&chain).unwrap().states().len(), LENGTH as usize);
        let mut ring = chain;
        ring[LENGTH as usize - 1].edges = [(b'a', b'a', 0)].into();
        assert_eq!(Automaton::new(&ring).unwrap().states().len(), LENGTH as usize);
    }
}
