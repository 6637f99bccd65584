//! What the shape of an expression says about the bytes of its texts, without deriving anything.

use super::dfa::Lexer;
use super::node::{DEAD, Node, RegexSet, UNBOUNDED};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// Expressions are looked into this deep.
const DEPTH: u32 = 12;
/// At most so many expressions are looked at to see whether a text may end.
const MAX_LOOKS: u32 = 2_000;

impl RegexSet {
    /// All bytes that texts of an expression may hold, and maybe more.
    pub fn alphabet(&self, root: RegexId) -> ByteSet {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![root];
        let mut bytes = ByteSet::EMPTY;
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Dead | Node::Epsilon => {}
                Node::Bytes(set) => bytes = bytes.union(set),
                Node::State { .. } => {
                    bytes.insert_range(0, 0xff);
                    return bytes;
                }
                &Node::Literal(text, tail) => {
                    bytes = bytes.union(&self.texts.get(text).iter().copied().collect());
                    stack.extend(seen.insert(tail).then_some(tail));
                }
                &Node::Concat(head, tail) => {
                    // The ends of words are long lists of these.
                    match self.node(head) {
                        Node::Bytes(set) => bytes = bytes.union(set),
                        _ if seen.insert(head) => stack.push(head),
                        _ => {}
                    }
                    stack.extend(seen.insert(tail).then_some(tail));
                }
                Node::Or(parts) => stack.extend(parts.iter().filter(|&&part| seen.insert(part))),
                Node::Repeat(part, ..) => stack.extend(seen.insert(*part).then_some(*part)),
                Node::And(meet) => stack.extend(meet.all.iter().filter(|&&part| seen.insert(part))),
            }
        }
        bytes
    }

    /// The bytes that are texts of an expression by themselves, and maybe more.
    pub fn single_bytes(&self, id: RegexId) -> ByteSet {
        self.single(id, DEPTH)
    }

    fn single(&self, id: RegexId, depth: u32) -> ByteSet {
        if depth == 0 {
            return *self.first(id);
        }
        match self.node(id) {
            Node::Bytes(set) => *set,
            &Node::Literal(text, tail) if text.len() == 1 && self.is_nullable(tail) => {
                *self.first(id)
            }
            &Node::Concat(head, tail) => {
                let mut bytes = ByteSet::EMPTY;
                if self.is_nullable(head) {
                    bytes = bytes.union(&self.single(tail, depth - 1));
                }
                if self.is_nullable(tail) {
                    bytes = bytes.union(&self.single(head, depth - 1));
                }
                bytes
            }
            Node::Or(parts) => parts
                .iter()
                .fold(ByteSet::EMPTY, |bytes, &part| bytes.union(&self.single(part, depth - 1))),
            &Node::Repeat(part, min, _) if min <= 1 => self.single(part, depth - 1),
            Node::Dead | Node::Epsilon | Node::Repeat(..) | Node::Literal(..) => ByteSet::EMPTY,
            Node::And(meet) => meet.all.iter().fold(*self.first(id), |bytes, &part| {
                bytes.intersection(&self.single(part, depth - 1))
            }),
            Node::State { .. } => *self.first(id),
        }
    }

    /// What is left after the first byte of a text, where that is one byte of a set and the rest
    /// follows it.
    pub(super) fn after_first(&mut self, id: RegexId) -> Option<RegexId> {
        match *self.node(id) {
            Node::Concat(head, tail) if matches!(self.node(head), Node::Bytes(_)) => Some(tail),
            Node::Literal(text, tail) => Some(self.literal_after(text, 1, tail)),
            _ => None,
        }
    }

    /// Whether an expression may have a text of these bytes alone; false if it surely has none.
    pub fn may_end_within(&self, id: RegexId, bytes: &ByteSet) -> bool {
        self.may_end(id, bytes, DEPTH, &mut { MAX_LOOKS })
    }

    fn may_end(&self, id: RegexId, bytes: &ByteSet, depth: u32, looks: &mut u32) -> bool {
        if depth == 0 || *looks == 0 {
            return true;
        }
        *looks -= 1;
        // Sequences are long lists.
        let mut id = id;
        loop {
            match *self.node(id) {
                Node::Concat(head, tail) if self.may_end(head, bytes, depth - 1, looks) => {
                    id = tail;
                }
                Node::Literal(text, tail)
                    if self.texts.get(text).iter().all(|&byte| bytes.contains(byte)) =>
                {
                    id = tail;
                }
                Node::Concat(..) | Node::Literal(..) => return false,
                _ => break,
            }
        }
        let mut may = |part: RegexId| self.may_end(part, bytes, depth - 1, looks);
        match self.node(id) {
            Node::Dead => false,
            Node::Epsilon | Node::State { .. } | Node::Concat(..) | Node::Literal(..) => true,
            Node::Bytes(set) => set.intersects(bytes),
            Node::Or(parts) => parts.iter().any(|&part| may(part)),
            &Node::Repeat(part, min, _) => min == 0 || may(part),
            Node::And(meet) => meet.all.iter().all(|&part| may(part)),
        }
    }

    /// The expression without what is taken away from its beginning; `None` where nothing is.
    pub fn with_exceptions(&mut self, id: RegexId) -> Option<RegexId> {
        let (head, tail) = match *self.node(id) {
            Node::Concat(head, tail) => (head, tail),
            _ => (id, super::EPSILON),
        };
        let Node::And(meet) = self.node(head) else { return None };
        if meet.none == DEAD {
            return None;
        }
        let all = meet.all.to_vec();
        let whole = self.meet_with_text(all, DEAD);
        Some(self.concat(whole, tail))
    }

    /// Some bytes, such that `id` and `whole` go on alike with all others, where `whole` is what
    /// [`Self::with_exceptions`] said of `id`, or both came from such by the same bytes.
    pub fn differing_bytes(&mut self, id: RegexId, whole: RegexId) -> ByteSet {
        let (head, tail) = match *self.node(id) {
            Node::Concat(head, tail) => (head, tail),
            _ => (id, super::EPSILON),
        };
        let Node::And(meet) = self.node(head) else {
            return self.first(id).union(self.first(whole));
        };
        let simple = match meet.all[..] {
            [one] if tail == super::EPSILON => Some(one),
            [one] => self.find(&Node::Concat(one, tail)),
            _ => None,
        };
        if simple == Some(whole) || self.with_exceptions(id) == Some(whole) {
            let Node::And(meet) = self.node(head) else { unreachable!("it is one") };
            let mut bytes = *self.first(meet.none);
            if self.is_nullable(meet.none) {
                // What follows the exceptions' end follows that of others.
                bytes = bytes.union(self.first(tail));
            }
            return bytes;
        }
        self.first(id).union(self.first(whole))
    }

    /// For `x{m,n} y`, with `x{0,} y`: the latter, x, m and n, where no text of y starts as one of
    /// x does and neither is empty.
    pub fn counted(&mut self, id: RegexId) -> Option<Counted> {
        let &Node::Concat(head, tail) = self.node(id) else { return None };
        let &Node::Repeat(part, min, max) = self.node(head) else { return None };
        let apart = !self.first(part).intersects(self.first(tail));
        if min == 0 && max == UNBOUNDED
            || self.is_nullable(part)
            || self.is_nullable(tail)
            || !apart
        {
            return None;
        }
        let many = self.repeat_raw(part, 0, UNBOUNDED);
        let whole = self.concat(many, tail);
        let max = (max != UNBOUNDED).then_some(max);
        Some(Counted { whole, part, min, max })
    }
}

/// A counted repetition at the beginning of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The expression without the bounds.
    pub whole: RegexId,
    /// What is repeated.
    pub part: RegexId,
    /// At least so often.
    pub min: u32,
    /// At most so often.
    pub max: Option<u32>,
}

impl Lexer {
    /// Groups of texts, as bits, that an expression stays alive with however they follow each other.
    /// `units` says of a state which groups are among its texts as a whole, and `bytes` what bytes
    /// are in groups.
    pub fn steady(
        &mut self,
        state: RegexId,
        bytes: &impl Fn(u64) -> ByteSet,
        units: &mut impl FnMut(&mut Self, RegexId) -> u64,
    ) -> u64 {
        let mut asked = Asked { bytes, units };
        self.core(state, &mut asked, DEPTH).map_or(0, |core| core.groups)
    }

    /// What is left of an expression at least, whatever texts of some groups came before, and these
    /// groups: an expression with a text, which these texts leave at least as it is themselves.
    ///
    /// Each rule takes from the shape of an expression a part of which that is true. An unbounded
    /// repetition stays with what is repeated; a sequence as its beginning does; a choice as any of
    /// its parts; an intersection if all its parts do and what stays has a text behind what is taken
    /// away (see [`Self::core_of_meet`]).
    fn core<B: Fn(u64) -> ByteSet, U: FnMut(&mut Self, RegexId) -> u64>(
        &mut self,
        state: RegexId,
        asked: &mut Asked<'_, B, U>,
        depth: u32,
    ) -> Option<Core> {
        if depth == 0 {
            return None;
        }
        let core = match self.regexes().node(state).clone() {
            Node::Repeat(part, _, UNBOUNDED) => {
                let groups = (asked.units)(self, part);
                Core { rest: state, groups, at_once: true }
            }
            // It is one of these texts, at least.
            Node::Repeat(part, 0 | 1, _) => self.core(part, asked, depth - 1)?,
            Node::Dead | Node::Epsilon | Node::Bytes(_) | Node::State { .. } | Node::Repeat(..) => {
                return None;
            }
            Node::Literal(text, tail) => {
                if text.len() > 1 {
                    return None;
                }
                let core = self.core(tail, asked, depth - 1).filter(|core| core.at_once)?;
                let first = *self.regexes().first(state);
                let byte = self.regexes_mut().bytes(first);
                let groups = core.groups & (asked.units)(self, byte);
                Core { groups, at_once: false, ..core }
            }
            Node::Concat(head, tail) => match self.core(head, asked, depth - 1) {
                Some(core) => Core { rest: self.regexes_mut().concat(core.rest, tail), ..core },
                None if self.regexes().is_nullable(head) => self.core(tail, asked, depth - 1)?,
                None => {
                    // The first text is the head's, or its first part's.
                    let core = self.core(tail, asked, depth - 1).filter(|core| core.at_once)?;
                    let part = match *self.regexes().node(head) {
                        Node::Repeat(part, 1, _) => part,
                        _ => head,
                    };
                    let groups = core.groups & (asked.units)(self, part);
                    Core { groups, at_once: false, ..core }
                }
            },
            Node::Or(parts) => {
                let most = 2 * DEPTH as usize;
                let cores = parts.iter().take(most);
                cores
                    .filter_map(|&part| self.core(part, asked, depth - 1))
                    .max_by_key(|core| core.groups.count_ones())?
            }
            Node::And(meet) => {
                let mut common = Core { rest: DEAD, groups: !0, at_once: true };
                let mut rests = Vec::new();
                for &part in &meet.all {
                    let core = self.core(part, asked, depth - 1)?;
                    rests.push(core.rest);
                    common.groups &= core.groups;
                    common.at_once &= core.at_once;
                }
                if common.groups != 0 {
                    let bytes = (asked.bytes)(common.groups);
                    common.rest = self.core_of_meet(rests, meet.none, &bytes)?;
                }
                common
            }
        };
        (core.groups != 0 && core.rest != DEAD).then_some(core)
    }

    /// What is left at least of what is left of all of `all`, behind texts of some bytes, when `none`
    /// is taken away.
    ///
    /// The texts left are infinitely many: they go on with the bytes. So they outlive what is finite;
    /// what has no text of these bytes takes away none of those made of these bytes; and what is all
    /// made of certain bytes takes away none with another.
    fn core_of_meet(
        &mut self,
        mut all: Vec<RegexId>,
        none: RegexId,
        bytes: &ByteSet,
    ) -> Option<RegexId> {
        let regexes = self.regexes_mut();
        let parts = match regexes.node(none) {
            Node::Or(parts) => parts.to_vec(),
            _ => vec![none],
        };
        let mut made_of = ByteSet::EMPTY;
        let mut apart = false;
        for part in parts {
            if regexes.is_finite(part) {
                continue;
            }
            if regexes.may_end_within(part, bytes) {
                made_of = made_of.union(&regexes.alphabet(part));
            } else {
                apart = true;
            }
        }
        if bytes.intersection(&made_of) == *bytes {
            return None;
        }
        let mut many = |bytes: &ByteSet| {
            let one = regexes.bytes(*bytes);
            regexes.repeat(one, 0, None)
        };
        if apart {
            all.push(many(bytes));
        }
        let none = if made_of.is_empty() { DEAD } else { many(&made_of) };
        self.regexes_mut().and(&all, &[none]).ok()
    }
}

/// What is to be found out about what stays of an expression.
struct Asked<'a, B, U> {
    /// The bytes in texts of groups.
    bytes: &'a B,
    /// Groups among the texts of an expression.
    units: &'a mut U,
}

/// What is left of an expression at least.
#[derive(Clone, Copy)]
struct Core {
    /// It has a text, and each text of the groups leaves at least it of itself.
    rest: RegexId,
    groups: u64,
    /// Whether it is a part of the expression itself, and not only of what is left after a text.
    at_once: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(group: u32) -> u8 {
        b'a' + group as u8
    }

    fn group_bytes(groups: u64) -> ByteSet {
        (0..26).filter(|group| groups >> group & 1 == 1).map(letter).collect()
    }

    /// The letters, each a group, that a state stays alive with.
    fn steady(lexer: &mut Lexer, state: RegexId) -> String {
        let mut units = |lexer: &mut Lexer, part| {
            let is_text = |group: &u32| {
                let next = lexer.step(part, letter(*group));
                next != DEAD && lexer.accepts(next)
            };
            (0..26).filter(is_text).fold(0, |groups, group| groups | 1 << group)
        };
        let groups = lexer.steady(state, &group_bytes, &mut units);
        group_bytes(groups).iter().map(char::from).collect()
    }

    #[test]
    fn differences_stay_alive_with_what_is_not_taken_away() {
        let mut s = RegexSet::default();
        let class = s.class(&[('a', 'f')]);
        let any = s.repeat(class, 0, None);
        let with = |s: &mut RegexSet, text: &[u8]| {
            let text = s.literal(text);
            let behind = s.concat(text, any);
            s.concat(any, behind)
        };
        let (word, foreign) = (with(&mut s, b"bad"), with(&mut s, b"bag"));
        let some = s.class(&[('a', 'c')]);
        let anchored = s.repeat(some, 1, Some(9));
        let many = s.repeat(some, 0, None);
        let without_word = s.and(&[any], &[word]).unwrap();
        let without_foreign = s.and(&[any], &[foreign]).unwrap();
        let not_anchored = s.and(&[any], &[anchored]).unwrap();
        let neither = s.and(&[any], &[many, foreign]).unwrap();
        let both = s.and(&[any], &[many, word]).unwrap();
        let short = s.and(&[many], &[many, word]);
        let mut lexer = Lexer::new(s);
        assert_eq!(steady(&mut lexer, without_word), "");
        assert_eq!(steady(&mut lexer, without_foreign), "abcdef");
        assert_eq!(steady(&mut lexer, not_anchored), "abcdef");
        assert_eq!(steady(&mut lexer, neither), "abcdef");
        assert_eq!(steady(&mut lexer, both), "");
        assert_eq!(short, Ok(DEAD));
    }
}
