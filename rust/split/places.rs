//! A split found by reading only where something may happen.
//!
//! Takes a lexer state with a [`Hub`]. A token is read up to where its state is the hub, and from
//! there on only if it comes to a node that [`passages`] found: all others stay alive and inside.

use super::closure::Closure;
use super::hub::Hub;
use super::passages::{self, Passages};
use super::{Ends, Split, TokenSet};
use crate::index::{NodeId, RegexId};
use crate::lexer::{DEAD, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{Atoms, BEYOND_ASCII, STRAY, atoms_with_bytes};
use crate::vocab::bits::TokenBits;
use crate::vocab::paths::NodeSet;
use crate::vocab::trie::Trie;

/// The most tokens that are read for what they are themselves.
const MAX_TOKENS: usize = 16_000;

/// The most nodes that are visited.
const MAX_VISITS: usize = 64_000;

/// Tokens by what is to be done to know whether they are alive.
struct Places {
    /// They are alive unless they turn out to be dead.
    alive: TokenBits,
    /// What is read behind quiet states.
    nodes: NodeSet,
}

/// A node that is open: the end of what is below it, and the states there.
#[derive(Clone, Copy)]
struct Open {
    node: NodeId,
    end: NodeId,
    state: RegexId,
    pattern: RegexId,
    /// Whether only some nodes have to be read below.
    is_quiet: bool,
}

impl Split {
    /// The split of all tokens from a state with a hub, if few of them have to be read.
    ///
    /// PERF: masks of names that hold neither, one or both of two words took 45 million instructions,
    /// now 13; of texts that match exactly one of seven patterns 31, now 11; of at most ten words in at
    /// most 120 characters up to 31, now 6 to 10; of twelve characters with a digit 10 to 17, now 2 to
    /// 5.
    pub(super) fn of_places(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        start: RegexId,
    ) -> Option<Self> {
        let hub = Hub::find(vocabulary, lexer, start)?;
        let trie = &vocabulary.trie;
        let pattern = hub.meet.map_or(start, |meet| meet.pattern);
        let passages = passages::find(vocabulary, lexer, &hub, pattern)?;
        let Places { mut alive, nodes } = Places::find(vocabulary, lexer, &hub, &passages)?;
        let mut ends = Vec::new();
        let mut open = vec![Open {
            node: Trie::ROOT,
            end: trie.end(Trie::ROOT),
            state: start,
            pattern,
            is_quiet: passages.quiet.contains(&pattern),
        }];
        let mut way: Vec<NodeId> = Vec::new();
        let (mut from, mut visits) = (NodeId(1), 0);
        'nodes: loop {
            while open.last().is_some_and(|top| top.end <= from) {
                open.pop();
            }
            let Some(&top) = open.last() else { break };
            let next = if top.is_quiet {
                let Some(next) = nodes.next_from(from).filter(|&node| node < top.end) else {
                    from = top.end;
                    continue;
                };
                next
            } else {
                from
            };
            way.clear();
            let mut node = next;
            while node != top.node {
                way.push(node);
                node = vocabulary.paths.parent(node);
            }
            let Open { mut state, mut pattern, mut is_quiet, .. } = top;
            for &node in way.iter().rev() {
                let byte = trie.byte(node);
                let end = trie.end(node);
                state = lexer.step(state, byte);
                if state == DEAD {
                    let below = (trie.range_at(node).0, trie.range_below(node).1);
                    trie.slice(below).iter().for_each(|&token| alive.remove(token));
                    from = end;
                    continue 'nodes;
                }
                pattern = if hub.meet.is_some() { lexer.step(pattern, byte) } else { state };
                if !is_quiet || passages.nodes.contains(node) {
                    is_quiet = passages.quiet.contains(&pattern);
                }
                open.push(Open { node, end, state, pattern, is_quiet });
                if lexer.accepts(state) && !trie.is_leaf(node) {
                    ends.push((node, open.len() as u32 - 1));
                }
            }
            from = NodeId(next.0 + 1);
            visits += way.len();
            if visits > MAX_VISITS {
                return None;
            }
        }
        let inside = TokenSet::of_bits(alive, vocabulary);
        Some(Self { inside, overlap: Closure::default(), ends: Ends::new(trie, ends, false) })
    }
}

impl Places {
    /// `None` if they are too many.
    fn find(
        vocabulary: &Vocabulary,
        lexer: &mut Lexer,
        hub: &Hub,
        passages: &Passages,
    ) -> Option<Self> {
        let Vocabulary { atoms, characters, paths, .. } = vocabulary;
        let mut nodes = passages.nodes.clone();
        let Hub { alphabet, known, .. } = *hub;
        let may_cut: Atoms = if alphabet & BEYOND_ASCII == 0 { 0 } else { STRAY };
        let mut alive = atoms.tokens_within(alphabet | may_cut);
        let behind = hub.meet.map_or(0, |meet| atoms_with_bytes(lexer.first(meet.tail)));
        let mut read = atoms.tokens_with(may_cut | alphabet & !(known | behind));
        if let Some(meet) = &hub.meet {
            let mut least = 0;
            for &state in &hub.states {
                least = least.max(lexer.regexes_mut().least_units(meet, state)?);
            }
            let most = meet.max.checked_sub(least)?;
            // Tokens of units alone, which are too long or may be.
            let made_of_units = atoms.tokens_within(alphabet & known);
            let longer_than = |most: u32| {
                let (mut longer, mut short) = (made_of_units.clone(), made_of_units.clone());
                characters.keep_up_to(&mut short, most);
                longer.subtract(&short);
                longer
            };
            let mut long = longer_than(most);
            if behind & known == 0 {
                let too_long = longer_than(meet.max);
                alive.subtract(&too_long);
                long.subtract(&too_long);
            }
            read.union(&long);
        }
        read.intersect(&alive);
        if read.has_more_than(MAX_TOKENS) {
            return None;
        }
        read.iter().for_each(|token| nodes.insert(paths.node(token)));
        Some(Self { alive, nodes })
    }
}
