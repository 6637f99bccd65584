//! What is around a hub: the state that a wide expression comes back to, and what leads away from it.
//!
//! Takes a lexer state; gives its *hub*, to which most bytes lead and which most bytes keep, and the
//! states around it, as far as many tokens come to them. In `.*` without `hipchat` the hub is the
//! state itself, and the states around it are those after `h`, `hi` and `hip`. An *event* is a byte
//! after which a token is dead, its lexeme may have ended, or it has gone further than was looked.
//!
//! What a counted length leaves (`P & x{0,100}`) is explored without its counter, by which all states
//! differ. Characters beyond ASCII are taken as a whole; tokens that cut them are for others.

use super::find::units;
use super::passages::Following;
use crate::byteset::ByteSet;
use crate::index::RegexId;
use crate::lexer::{CountedMeet, DEAD, EPSILON, Lexer};
use crate::vocab::Vocabulary;
use crate::vocab::atoms::{
    Atoms, CHARACTERS, STRAY, atoms_with_byte, atoms_with_bytes, character_atom,
};

/// The most states that are explored.
const MAX_STATES: usize = 40;
/// A hub is kept by at least so many ASCII characters.
pub(super) const MIN_LOOPS: usize = 24;
/// So many steps lead to one at most.
const MAX_TRIES: usize = 4;
/// What no more than one of so many tokens comes to need not be known better.
const FEW: u32 = 1_000;
/// So many characters away it suffices if no more than one of so many does.
const FAR: u32 = 8;
const SOME: u32 = 16;

/// A hub and what is around it.
pub(super) struct Hub {
    /// The hub comes first.
    pub(super) states: Vec<RegexId>,
    pub(super) edges: Vec<Edge>,
    pub(super) events: Vec<Event>,
    /// The atoms that texts may hold.
    pub(super) alphabet: Atoms,
    /// Those that are explored; tokens with others have to be read.
    pub(super) known: Atoms,
    /// What of this is a pattern whose texts have a counted length.
    pub(super) meet: Option<CountedMeet>,
}

/// A way from a state to another by some characters.
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) by: Characters,
    /// The last bytes of these characters.
    pub(super) last: ByteSet,
}

/// Something happens by some characters.
pub(super) struct Event {
    pub(super) from: usize,
    pub(super) by: Characters,
    /// Whether the token is dead then.
    pub(super) is_death: bool,
}

/// A set of characters, as far as their first two bytes tell them apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Characters {
    pub(super) ascii: ByteSet,
    /// Of others the first bytes with the second ones.
    pub(super) beyond: Vec<(ByteSet, ByteSet)>,
}

impl Characters {
    fn of_ascii(bytes: ByteSet) -> Self {
        Self { ascii: bytes, beyond: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ascii.is_empty() && self.beyond.is_empty()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.ascii = self.ascii.union(&other.ascii);
        for &(firsts, seconds) in &other.beyond {
            match self.beyond.iter_mut().find(|(_, known)| *known == seconds) {
                Some((known, _)) => *known = known.union(&firsts),
                None => self.beyond.push((firsts, seconds)),
            }
        }
    }

    /// Those that are not in another set, and maybe more.
    #[must_use]
    pub(super) fn without(&self, other: &Self) -> Self {
        let rest = |&(firsts, seconds): &(ByteSet, ByteSet)| {
            let has_all = |known: &&(ByteSet, ByteSet)| seconds.without(&known.1).is_empty();
            let known = other.beyond.iter().filter(has_all);
            let firsts = known.fold(firsts, |firsts, known| firsts.without(&known.0));
            (!firsts.is_empty()).then_some((firsts, seconds))
        };
        let beyond = self.beyond.iter().filter_map(rest).collect();
        Self { ascii: self.ascii.without(&other.ascii), beyond }
    }
}

/// How a state was found: the bytes that lead to it, the fewest tokens on the way, and how many
/// characters it is away.
#[derive(Clone, Copy)]
struct Way {
    last: ByteSet,
    tokens: u32,
    length: u32,
}

/// Where a state goes on to by ASCII characters, and by others.
#[derive(Clone)]
struct Row {
    ascii: [RegexId; 128],
    beyond: Vec<Beyond>,
}

/// Characters beyond ASCII by first, second and last bytes, and where they lead.
#[derive(Clone)]
struct Beyond {
    first: ByteSet,
    second: ByteSet,
    last: ByteSet,
    target: RegexId,
}

impl Hub {
    /// The hub of a state; `None` if it has none.
    pub(super) fn find(vocabulary: &Vocabulary, lexer: &mut Lexer, start: RegexId) -> Option<Self> {
        let meet = lexer.regexes_mut().counted_meet(start);
        let (pattern, tail) = meet.map_or((start, EPSILON), |meet| (meet.pattern, meet.tail));
        let hub = most_reached(lexer, pattern)?;
        if meet.is_none() && lexer.accepts(hub) || meet.is_some() && lexer.accepts(tail) {
            return None;
        }
        let alphabet = atoms_with_bytes(&lexer.regexes().alphabet(start)) & !STRAY;
        let known = match &meet {
            Some(meet) => units(vocabulary, lexer, meet.unit).atoms & !STRAY,
            None => !STRAY,
        };
        let states = vec![hub];
        let mut hub = Self { states, edges: Vec::new(), events: Vec::new(), alphabet, known, meet };
        hub.explore(vocabulary, lexer, &lexer.first(tail).clone());
        Some(hub)
    }

    fn explore(&mut self, vocabulary: &Vocabulary, lexer: &mut Lexer, behind: &ByteSet) {
        let asked = self.alphabet & (self.known | atoms_with_bytes(behind));
        let bytes: ByteSet = (0..128).filter(|&b| atoms_with_byte(b) & asked != 0).collect();
        let of_hub = Row::find(lexer, self.states[0], (&bytes, asked), &ByteSet::ALL, None);
        let mut ways = vec![Way { last: ByteSet::ALL, tokens: u32::MAX, length: 0 }];
        let mut at = 0;
        while let Some(&state) = self.states.get(at) {
            let row = if at == 0 {
                of_hub.clone()
            } else {
                let differing = lexer.regexes().differing(state, self.states[0]);
                Row::find(lexer, state, (&bytes, asked), &differing, Some(&of_hub))
            };
            let may_end = self.meet.is_some() && lexer.accepts(state);
            let ends = if may_end { *behind } else { ByteSet::EMPTY };
            let is_end = |target| self.meet.is_none() && lexer.accepts(target);
            let (mut deaths, mut stops) = (Characters::default(), Characters::default());
            let mut targets: Vec<(RegexId, Characters, ByteSet)> = Vec::new();
            let mut lead = |target: RegexId, first: &ByteSet, by: &Characters, last: &ByteSet| {
                if ends.intersects(first) || target != DEAD && is_end(target) {
                    stops.add(by);
                } else if target == DEAD {
                    deaths.add(by);
                } else if let Some((_, known, lasts)) =
                    targets.iter_mut().find(|(known, ..)| *known == target)
                {
                    known.add(by);
                    *lasts = lasts.union(last);
                } else {
                    targets.push((target, by.clone(), *last));
                }
            };
            for (bytes, target) in row.ascii_by_target(&bytes.without(&ends)) {
                lead(target, &bytes, &Characters::of_ascii(bytes), &bytes);
            }
            let ending = bytes.intersection(&ends);
            if !ending.is_empty() {
                lead(DEAD, &ending, &Characters::of_ascii(ending), &ending);
            }
            for &Beyond { first, second, last, target } in &row.beyond {
                let by = Characters { beyond: vec![(first, second)], ..Characters::default() };
                lead(target, &first, &by, &last);
            }
            for (target, by, last) in targets {
                match self.state_of(vocabulary, &mut ways, (at, target), &by, &last) {
                    Some(to) => self.edges.push(Edge { from: at, to, by, last }),
                    None => stops.add(&by),
                }
            }
            for (by, is_death) in [(deaths, true), (stops, false)] {
                if !by.is_empty() {
                    self.events.push(Event { from: at, by, is_death });
                }
            }
            at += 1;
        }
    }

    /// The number of a state that another leads to; `None` if it is not to be explored.
    fn state_of(
        &mut self,
        vocabulary: &Vocabulary,
        ways: &mut Vec<Way>,
        (from, target): (usize, RegexId),
        by: &Characters,
        end: &ByteSet,
    ) -> Option<usize> {
        if let Some(known) = self.states.iter().position(|&state| state == target) {
            return Some(known);
        }
        let way = ways[from];
        let last = (from != 0).then_some(&way.last);
        let amount = Following::of(&vocabulary.pairs, last, by).amount;
        let (tokens, length) = (way.tokens.min(amount.tokens), way.length + 1);
        let all = vocabulary.len() as u32;
        let is_rare = tokens <= all / FEW || length >= FAR && tokens <= all / SOME;
        if is_rare || self.states.len() == MAX_STATES {
            return None;
        }
        self.states.push(target);
        ways.push(Way { last: *end, tokens, length });
        Some(self.states.len() - 1)
    }
}

impl Row {
    /// Some ASCII characters by where they lead.
    fn ascii_by_target(&self, bytes: &ByteSet) -> Vec<(ByteSet, RegexId)> {
        let mut found: Vec<(ByteSet, RegexId)> = Vec::new();
        for byte in bytes.iter() {
            let target = self.ascii[usize::from(byte)];
            match found.iter_mut().find(|(_, known)| *known == target) {
                Some((bytes, _)) => bytes.insert(byte),
                None => found.push(([byte].into_iter().collect(), target)),
            }
        }
        found
    }

    /// Where `state` goes on to by some bytes, and by characters of some atoms; by what is not in
    /// `differing` as `like` does.
    fn find(
        lexer: &mut Lexer,
        state: RegexId,
        (bytes, asked): (&ByteSet, Atoms),
        differing: &ByteSet,
        like: Option<&Self>,
    ) -> Self {
        let mut ascii = like.map_or([DEAD; 128], |like| like.ascii);
        for (bytes, target) in steps(lexer, state, bytes.intersection(differing).iter()) {
            bytes.iter().for_each(|byte| ascii[usize::from(byte)] = target);
        }
        let mut beyond = ByteSet::EMPTY;
        beyond.insert_range(0x80, 0xff);
        match like {
            Some(like) if !differing.intersects(&beyond) => {
                Self { ascii, beyond: like.beyond.clone() }
            }
            _ => Self { ascii, beyond: Beyond::find(lexer, state, asked) },
        }
    }
}

impl Beyond {
    fn find(lexer: &mut Lexer, state: RegexId, asked: Atoms) -> Vec<Self> {
        let mut found = Vec::new();
        for (group, &(length, sequences)) in CHARACTERS.iter().enumerate() {
            if character_atom(group) & asked == 0 {
                continue;
            }
            for &(low, high, follow_low, follow_high) in sequences {
                for (first, state) in steps(lexer, state, low..=high) {
                    for (second, state) in steps(lexer, state, follow_low..=follow_high) {
                        let mut ways = vec![(second, state)];
                        for _ in 2..length {
                            let next =
                                |&(_, state): &(ByteSet, RegexId)| steps(lexer, state, 0x80..=0xbf);
                            ways = ways.iter().flat_map(next).collect();
                        }
                        let beyond = |(last, target)| Self { first, second, last, target };
                        found.extend(ways.into_iter().map(beyond));
                    }
                }
            }
        }
        found
    }
}

/// Some bytes by where a state goes on to with them.
fn steps(
    lexer: &mut Lexer,
    state: RegexId,
    bytes: impl Iterator<Item = u8>,
) -> Vec<(ByteSet, RegexId)> {
    let mut by_class = [None; 256];
    let mut found: Vec<(ByteSet, RegexId)> = Vec::new();
    for byte in bytes {
        let class = usize::from(lexer.class(byte));
        let at = *by_class[class].get_or_insert_with(|| {
            let target = lexer.step(state, byte);
            found.iter().position(|&(_, known)| known == target).unwrap_or_else(|| {
                found.push((ByteSet::EMPTY, target));
                found.len() - 1
            })
        });
        found[at].0.insert(byte);
    }
    found
}

/// The state that is come to if each time most ASCII characters lead on, if many of them keep it.
fn most_reached(lexer: &mut Lexer, start: RegexId) -> Option<RegexId> {
    let mut state = start;
    for _ in 0..MAX_TRIES {
        let reached = steps(lexer, state, b' '..=b'~').into_iter();
        let reached = reached.filter(|&(_, target)| target != DEAD);
        let (by, target) = reached.max_by_key(|(by, _)| by.len())?;
        if target == state {
            return (by.len() >= MIN_LOOPS).then_some(state);
        }
        state = target;
    }
    None
}
