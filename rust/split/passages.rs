//! Where tokens have to be read: at what all ways from a hub to an event pass.
//!
//! Takes a [`Hub`]; gives nodes of the trie. A token that is read from the hub on and comes to none
//! of them comes to no event: it stays alive and inside the lexeme.
//!
//! Say all ways from the hub to an event's state e lead through a state d. Behind the last time at d
//! a byte follows that leads on to e without d, and before it stands one that leads to d: these two
//! in a row are in each token with the event. Of all such d that is taken whose pairs of bytes are
//! in the fewest tokens: for the last letter of `hipchat` those after `hip`, and `p`, `c` in a row.

use super::hub::{Characters, Event, Hub, MIN_LOOPS};
use crate::byteset::ByteSet;
use crate::index::RegexId;
use crate::lexer::Lexer;
use crate::vocab::Vocabulary;
use crate::vocab::pairs::{Amount, PairIndex};
use crate::vocab::paths::NodeSet;
use crate::vocab::trie::Trie;

/// The most nodes that are read, as far as that is known before.
const MAX_NODES: u32 = 32_000;

/// Pairs with so many second bytes are counted by the first ones alone.
const MANY_SECONDS: usize = 16;

/// States as bits.
type States = u64;

/// The graph of a hub's states.
struct Graph<'a> {
    hub: &'a Hub,
    /// The states where tokens come in.
    sources: States,
    /// For each state those that lead to it.
    before: Vec<States>,
    /// For each state the characters that lead to it.
    into: Vec<Into>,
}

/// Characters that lead to a state.
#[derive(Clone, Default)]
struct Into {
    by: Characters,
    /// The last bytes of those beyond ASCII.
    last: ByteSet,
}

/// What has to be read behind a hub.
pub(super) struct Passages {
    /// The nodes at which something may happen.
    pub(super) nodes: NodeSet,
    /// States behind which nothing happens but at the nodes.
    pub(super) quiet: Vec<RegexId>,
}

/// The passages behind the hub and behind what `start` leads to that many bytes keep too; `None` if
/// too much has to be read.
pub(super) fn find(
    vocabulary: &Vocabulary,
    lexer: &mut Lexer,
    hub: &Hub,
    start: RegexId,
) -> Option<Passages> {
    let pairs = &vocabulary.pairs;
    let graph = Graph::new(lexer, hub, start);
    let mut nodes = vocabulary.paths.no_nodes();
    // What happens at a source itself takes no two bytes.
    let is_source = |at: usize| graph.sources >> at & 1 == 1;
    let mut seen = Characters::default();
    let mut cost = 0;
    for event in hub.events.iter().filter(|event| is_source(event.from)) {
        let by = event.by.without(&seen);
        cost += cost_of(Following::of(pairs, None, &by).amount, event.is_death);
        seen.add(&by);
    }
    if cost > MAX_NODES {
        return None;
    }
    Following::of(pairs, None, &seen).add_nodes(vocabulary, &mut nodes);
    let others = hub.events.iter().map(|event| (event, event.by.without(&seen)));
    let others: Vec<(&Event, Characters)> = others.filter(|(_, by)| !by.is_empty()).collect();
    let passable: Vec<(usize, States)> = (1..hub.states.len())
        .filter(|&at| !is_source(at))
        .map(|passed| (passed, !graph.reached_without(passed)))
        .collect();
    for (event, by) in &others {
        let ways = passable.iter().filter(|(_, behind)| behind >> event.from & 1 == 1);
        let (places, least) = ways
            .map(|&(passed, _)| graph.places(pairs, event, by, passed))
            .min_by_key(|&(_, cost)| cost)?;
        cost += least;
        if cost > MAX_NODES {
            return None;
        }
        for place in &places {
            place.add_nodes(vocabulary, &mut nodes);
        }
    }
    let eventful =
        others.iter().fold(0, |states, (event, _)| states | graph.leading_to(event.from, 0));
    let is_quiet = |&at: &usize| is_source(at) || eventful >> at & 1 == 0;
    let quiet = (0..hub.states.len()).filter(is_quiet).map(|at| hub.states[at]).collect();
    Some(Passages { nodes, quiet })
}

/// How many nodes are walked; where a token is dead, none below.
fn cost_of(amount: Amount, is_death: bool) -> u32 {
    amount.nodes.saturating_add(if is_death { 0 } else { amount.tokens.saturating_mul(2) })
}

impl<'a> Graph<'a> {
    fn new(lexer: &mut Lexer, hub: &'a Hub, start: RegexId) -> Self {
        let mut before = vec![0; hub.states.len()];
        let mut into = vec![Into::default(); hub.states.len()];
        for edge in &hub.edges {
            before[edge.to] |= 1 << edge.from;
            let into: &mut Into = &mut into[edge.to];
            into.by.add(&edge.by);
            if !edge.by.beyond.is_empty() {
                into.last = into.last.union(&edge.last.without(&edge.by.ascii));
            }
        }
        Self { hub, sources: sources(lexer, hub, start), before, into }
    }

    /// The states that are come to from sources without passing one of them.
    fn reached_without(&self, passed: usize) -> States {
        let mut reached = self.sources;
        loop {
            let next = self.hub.edges.iter().filter(|edge| reached >> edge.from & 1 == 1);
            let next = next.fold(reached, |states, edge| states | 1 << edge.to) & !(1 << passed);
            if next == reached {
                return reached;
            }
            reached = next;
        }
    }

    /// The states that lead to one without passing sources, nor another state.
    fn leading_to(&self, to: usize, passed: usize) -> States {
        let mut leading: States = 1 << to;
        let mut open = leading;
        while open != 0 {
            let state = open.trailing_zeros() as usize;
            open &= open - 1;
            let new = self.before[state] & !leading & !self.sources & !(1 << passed);
            leading |= new;
            open |= new;
        }
        leading
    }

    /// Where an event by some characters takes a token to go, if a state is passed, and at what cost.
    fn places(
        &self,
        pairs: &PairIndex,
        event: &Event,
        by: &Characters,
        passed: usize,
    ) -> (Vec<Following>, u32) {
        let is_last = passed == event.from;
        let out = if is_last { by.clone() } else { self.out(event, passed) };
        let Into { by: into, last } = &self.into[passed];
        let mut places = Vec::new();
        let mut cost = 0;
        if !into.ascii.is_empty() {
            let behind = Following::of(pairs, Some(&into.ascii), &out);
            cost += cost_of(behind.amount, event.is_death && is_last);
            places.push(behind);
        }
        if !into.beyond.is_empty() {
            let behind = Following::of(pairs, Some(last), &out);
            let behind_cost = cost_of(behind.amount, event.is_death && is_last);
            // A character beyond ASCII has two bytes in a row of its own.
            let beyond = Characters { ascii: ByteSet::EMPTY, beyond: into.beyond.clone() };
            let own = Following::of(pairs, None, &beyond);
            let own_cost = cost_of(own.amount, false);
            cost += behind_cost.min(own_cost);
            places.push(if own_cost < behind_cost { own } else { behind });
        }
        (places, cost)
    }

    /// The characters that follow the last time that a state is passed on the way to an event.
    fn out(&self, event: &Event, passed: usize) -> Characters {
        let leading = self.leading_to(event.from, passed);
        let mut out = Characters::default();
        let edges = self.hub.edges.iter().filter(|edge| edge.from == passed);
        edges.filter(|edge| leading >> edge.to & 1 == 1).for_each(|edge| out.add(&edge.by));
        out
    }
}

/// The hub, and what else is kept by many characters of what `start` leads to.
fn sources(lexer: &mut Lexer, hub: &Hub, start: RegexId) -> States {
    let mut sources = 1;
    if start == hub.states[0] {
        return sources;
    }
    for byte in b' '..=b'~' {
        let target = lexer.step(start, byte);
        let Some(at) = hub.states.iter().position(|&state| state == target) else { continue };
        let mut loops = hub.edges.iter().filter(|edge| edge.from == at && edge.to == at);
        if loops.any(|edge| edge.by.ascii.len() >= MIN_LOOPS) {
            sources |= 1 << at;
        }
    }
    sources
}

/// Where some characters stand, behind some bytes or anywhere.
pub(super) struct Following {
    behind: Option<ByteSet>,
    ascii: ByteSet,
    /// Pairs of bytes that stand for characters beyond ASCII.
    beyond: Vec<(ByteSet, ByteSet)>,
    /// What is to be read there, about.
    pub(super) amount: Amount,
}

impl Following {
    pub(super) fn of(pairs: &PairIndex, behind: Option<&ByteSet>, by: &Characters) -> Self {
        let own = by.beyond.iter().fold(Amount::default(), |sum, (firsts, seconds)| {
            let few = seconds.len() < MANY_SECONDS;
            sum + if few { pairs.amount(firsts, seconds) } else { pairs.amount_behind(firsts) }
        });
        let ascii = match behind {
            Some(behind) => pairs.amount(behind, &by.ascii),
            None => pairs.amount_with(&by.ascii),
        };
        let mut beyond = by.beyond.clone();
        let mut amount = ascii + own;
        if let Some(behind) = behind
            && !beyond.is_empty()
        {
            let firsts = beyond.iter().fold(ByteSet::EMPTY, |set, (firsts, _)| set.union(firsts));
            let before = pairs.amount(behind, &firsts);
            if before.tokens < own.tokens {
                beyond = vec![(*behind, firsts)];
                amount = ascii + before;
            }
        }
        Self { behind: behind.copied(), ascii: by.ascii, beyond, amount }
    }

    fn add_nodes(&self, vocabulary: &Vocabulary, nodes: &mut NodeSet) {
        let Vocabulary { pairs, trie, .. } = vocabulary;
        let mut add = |node| nodes.insert(node);
        if self.behind.is_none() {
            trie.children_in(Trie::ROOT, &self.ascii, &mut add);
        }
        let behind = self.behind.unwrap_or(ByteSet::ALL);
        pairs.nodes(&behind, &self.ascii).for_each(&mut add);
        for (before, bytes) in &self.beyond {
            pairs.nodes(before, bytes).for_each(&mut add);
        }
    }
}
