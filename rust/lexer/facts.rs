//! What is known of a node beside its structure, made from what is known of its parts.

use super::identity::Identity;
use super::meet::Meet;
use super::node::{Node, RegexSet, UNBOUNDED};
use super::starts::{Start, StartId};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// What is known of a node beside its structure.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Facts {
    /// A hash of the structure: the same in every set of expressions.
    identity: u128,
    /// How its texts start; exactly so if `exact`.
    start: StartId,
    /// Whether the empty text belongs to it.
    nullable: bool,
    /// Whether its texts start with every byte that they are said to start with.
    exact: bool,
    /// Whether it repeats nothing: its texts are few or short.
    finite: bool,
    /// Whether it is known to have finitely many texts.
    bounded: bool,
    /// Whether it is known to have infinitely many texts.
    infinite: bool,
    /// Whether there is an intersection in it.
    meets: bool,
    /// The largest bound of a repetition in it, `UNBOUNDED` not counted.
    largest_count: u32,
    /// How deep a derivative has to go down: the nesting, but for last parts of sequences.
    depth: u32,
    /// No text has fewer bytes.
    least: u32,
}

impl Facts {
    /// Those of an expression that is one byte or so, but for the bytes.
    const LEAF: Self = Self {
        identity: 0,
        start: StartId::NONE,
        nullable: false,
        exact: true,
        finite: true,
        bounded: true,
        infinite: false,
        meets: false,
        largest_count: 0,
        depth: 0,
        least: 0,
    };
}

/// How the texts of a new node start.
enum Found {
    /// As those of a part.
    Known(StartId),
    New(Start),
}

impl RegexSet {
    /// Whether the empty text belongs to an expression.
    #[inline]
    pub fn is_nullable(&self, id: RegexId) -> bool {
        self.facts[id].nullable
    }

    #[inline]
    fn start(&self, id: RegexId) -> &Start {
        self.starts.get(self.facts[id].start)
    }

    /// The bytes that texts of an expression start with, and maybe more unless
    /// [`Self::is_first_exact`].
    #[inline]
    pub fn first(&self, id: RegexId) -> &ByteSet {
        &self.start(id).first
    }

    /// Whether texts start with every byte of [`Self::first`]: it is not known where an
    /// intersection stands at the beginning.
    #[inline]
    pub fn is_first_exact(&self, id: RegexId) -> bool {
        self.facts[id].exact
    }

    /// The least bytes of intervals whose bytes an expression can't tell apart at its beginning;
    /// 0 may be left out.
    #[inline]
    pub(super) fn cuts(&self, id: RegexId) -> &ByteSet {
        &self.start(id).cuts
    }

    /// No text of the expression has fewer bytes.
    pub(super) fn least(&self, id: RegexId) -> u32 {
        self.facts[id].least
    }

    /// A hash of an expression's structure: equal in all sets, different for different languages
    /// (up to collisions of 128 bits).
    pub fn identity(&self, id: RegexId) -> u128 {
        self.facts[id].identity
    }

    /// The nesting of an expression, but for last parts of sequences.
    pub fn depth(&self, id: RegexId) -> u32 {
        self.facts[id].depth
    }

    /// Whether an expression repeats nothing, apart from optional parts.
    pub fn is_finite(&self, id: RegexId) -> bool {
        self.facts[id].finite
    }

    /// Whether an expression is known to have infinitely many texts; that of an automaton is not.
    pub(super) fn is_infinite(&self, id: RegexId) -> bool {
        self.facts[id].infinite
    }

    /// Whether finitely many texts are taken away from infinitely many.
    pub(super) fn is_never_used_up(&self, meet: &Meet) -> bool {
        meet.all.len() == 1 && self.facts[meet.all[0]].infinite && self.facts[meet.none].bounded
    }

    /// Whether there is an intersection in an expression.
    pub(super) fn has_meets(&self, id: RegexId) -> bool {
        self.facts[id].meets
    }

    /// The largest bound of a repetition in an expression, no bound not counted, nor those in what
    /// an intersection excludes.
    pub fn largest_count(&self, id: RegexId) -> u32 {
        self.facts[id].largest_count
    }

    /// What is known of a node whose parts are known.
    pub(super) fn facts_of(&mut self, node: &Node) -> Facts {
        let (facts, start) = self.find_facts(node);
        let start = match start {
            Found::Known(start) => start,
            Found::New(start) => self.starts.add(start),
        };
        Facts { start, ..facts }
    }

    fn find_facts(&self, node: &Node) -> (Facts, Found) {
        let leaf = Facts { identity: self.hash(node), ..Facts::LEAF };
        match node {
            Node::Dead => (Facts { least: u32::MAX, ..leaf }, Found::New(Start::NONE)),
            Node::Epsilon => (Facts { nullable: true, ..leaf }, Found::New(Start::NONE)),
            Node::Bytes(set) => (Facts { least: 1, ..leaf }, Found::New(Start::with(*set))),
            &Node::Literal(text, tail) => {
                let tail = &self.facts[tail];
                let first: ByteSet = self.texts.get(text)[..1].iter().copied().collect();
                let facts = Facts {
                    finite: tail.finite,
                    bounded: tail.bounded,
                    infinite: tail.infinite,
                    meets: tail.meets,
                    largest_count: tail.largest_count,
                    depth: tail.depth.max(1),
                    least: tail.least.saturating_add(text.len()),
                    ..leaf
                };
                (facts, Found::New(Start::with(first)))
            }
            &Node::Concat(head, tail) => {
                let start = if self.is_nullable(head) {
                    Found::New(self.start(head).or(self.start(tail)))
                } else {
                    Found::Known(self.facts[head].start)
                };
                let (head, tail) = (&self.facts[head], &self.facts[tail]);
                let through = head.nullable;
                let facts = Facts {
                    nullable: through && tail.nullable,
                    exact: head.exact && (!through || tail.exact),
                    finite: head.finite && tail.finite,
                    bounded: head.bounded && tail.bounded,
                    infinite: head.infinite || tail.infinite,
                    meets: head.meets || tail.meets,
                    largest_count: head.largest_count.max(tail.largest_count),
                    depth: tail.depth.max(head.depth + 1),
                    least: head.least.saturating_add(tail.least),
                    ..leaf
                };
                (facts, start)
            }
            Node::Or(parts) => {
                let mut facts = Facts { least: u32::MAX, ..leaf };
                let mut start = Start::NONE;
                for part in parts.iter().map(|&part| &self.facts[part]) {
                    start = start.or(self.starts.get(part.start));
                    facts.nullable |= part.nullable;
                    facts.exact &= part.exact;
                    facts.finite &= part.finite;
                    facts.bounded &= part.bounded;
                    facts.infinite |= part.infinite;
                    facts.meets |= part.meets;
                    facts.largest_count = facts.largest_count.max(part.largest_count);
                    facts.depth = facts.depth.max(part.depth + 1);
                    facts.least = facts.least.min(part.least);
                }
                (facts, Found::New(start))
            }
            &Node::Repeat(part, min, max) => {
                let part = &self.facts[part];
                let bound = if max == UNBOUNDED { min } else { max };
                let facts = Facts {
                    nullable: min == 0,
                    finite: max == 1 && part.finite,
                    bounded: max != UNBOUNDED && part.bounded,
                    // Another text than the empty one is repeated: none is if that is a surmise.
                    infinite: max == UNBOUNDED && part.exact || part.infinite,
                    largest_count: bound.max(part.largest_count),
                    depth: part.depth + 1,
                    least: part.least.saturating_mul(min),
                    identity: leaf.identity,
                    ..*part
                };
                (facts, Found::Known(part.start))
            }
            Node::And(meet) => {
                let (facts, start) = self.meet_facts(meet);
                (Facts { identity: leaf.identity, ..facts }, Found::New(start))
            }
            &Node::State { automaton, state } => {
                let (facts, start) = self.state_facts(automaton, state);
                (Facts { identity: leaf.identity, ..facts }, Found::New(start))
            }
        }
    }

    fn meet_facts(&self, meet: &Meet) -> (Facts, Start) {
        let none = &self.facts[meet.none];
        let mut start = Start { first: self.first_of(meet), cuts: *self.cuts(meet.none) };
        let mut facts = Facts {
            nullable: self.accepts(meet),
            exact: false,
            finite: false,
            bounded: false,
            infinite: self.is_never_used_up(meet),
            meets: true,
            depth: none.depth + 1,
            ..Facts::LEAF
        };
        for part in meet.all.iter().map(|&part| &self.facts[part]) {
            start.cuts = start.cuts.union(&self.starts.get(part.start).cuts);
            facts.finite |= part.finite;
            facts.bounded |= part.bounded;
            facts.largest_count = facts.largest_count.max(part.largest_count);
            facts.depth = facts.depth.max(part.depth + 1);
            facts.least = facts.least.max(part.least);
        }
        (facts, start)
    }

    fn state_facts(&self, automaton: u32, state: u32) -> (Facts, Start) {
        let state = self.automata.state(automaton, state);
        let mut facts =
            Facts { nullable: state.accepts, finite: false, bounded: false, ..Facts::LEAF };
        facts.least = u32::from(!state.accepts);
        let mut start = Start::NONE;
        for &(low, high, _) in &state.edges {
            start.first.insert_range(low, high);
            start.cuts.insert(low);
            if let Some(next) = high.checked_add(1) {
                start.cuts.insert(next);
            }
        }
        (facts, start)
    }

    fn hash(&self, node: &Node) -> u128 {
        match node {
            Node::Dead => Identity::new(0).finish(),
            Node::Epsilon => Identity::new(1).finish(),
            Node::Bytes(set) => Identity::new(2).words(set.words()).finish(),
            &Node::Literal(text, tail) => {
                let word =
                    |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
                Identity::new(8)
                    .word(u64::from(text.len()))
                    .words(self.texts.get(text).chunks(8).map(word))
                    .wide(self.identity(tail))
                    .finish()
            }
            &Node::Concat(head, tail) => {
                Identity::new(3).wide(self.identity(head)).wide(self.identity(tail)).finish()
            }
            Node::Or(parts) => self.hash_parts(Identity::new(4), parts).finish(),
            &Node::Repeat(part, min, max) => Identity::new(5)
                .wide(self.identity(part))
                .word(u64::from(min) << 32 | u64::from(max))
                .finish(),
            Node::And(meet) => {
                self.hash_parts(Identity::new(6), &meet.all).wide(self.identity(meet.none)).finish()
            }
            &Node::State { automaton, state } => Identity::new(7)
                .wide(self.automata.identity(automaton))
                .word(u64::from(state))
                .finish(),
        }
    }

    /// The order of parts follows ids, which differ between sets; that of their hashes does not.
    fn hash_parts(&self, hash: Identity, parts: &[RegexId]) -> Identity {
        let mut few = [0; 8];
        let mut many;
        let identities = if let Some(few) = few.get_mut(..parts.len()) {
            few
        } else {
            many = vec![0; parts.len()];
            &mut many[..]
        };
        for (identity, &part) in identities.iter_mut().zip(parts) {
            *identity = self.identity(part);
        }
        identities.sort_unstable();
        identities.iter().fold(hash, |hash, &identity| hash.wide(identity))
    }
}
