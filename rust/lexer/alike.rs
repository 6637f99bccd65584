//! By which bytes two expressions may go on differently.
//!
//! States that a lexer comes to from each other mostly differ in little: `.*` without `hipchat` goes
//! on after `hip` as before it, but for `c`. What parts have in common goes on alike.

use super::node::{DEAD, Node, RegexSet};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// The deepest that two expressions are compared.
const DEPTH: u32 = 8;
/// The most pairs of parts that are compared.
const MAX_LOOKS: u32 = 128;
/// More parts than these that differ are not compared with each other.
const MAX_PARTS: usize = 6;

impl RegexSet {
    /// Some bytes; by all others two expressions go on to what has the same texts.
    pub fn differing(&self, one: RegexId, other: RegexId) -> ByteSet {
        self.differ(one, other, DEPTH, &mut { MAX_LOOKS })
    }

    fn differ(&self, one: RegexId, other: RegexId, depth: u32, looks: &mut u32) -> ByteSet {
        if one == other {
            return ByteSet::EMPTY;
        }
        let all = self.first(one).union(self.first(other));
        if depth == 0 || *looks == 0 {
            return all;
        }
        *looks -= 1;
        let differing = match (self.node(one), self.node(other)) {
            (&Node::Concat(head, tail), &Node::Concat(other, same)) if tail == same => {
                let mut bytes = self.differ(head, other, depth - 1, looks);
                if self.is_nullable(head) != self.is_nullable(other) {
                    bytes = bytes.union(self.first(tail));
                }
                bytes
            }
            (Node::And(meet), Node::And(other)) => {
                let parts = self.differing_parts(&meet.all, &other.all, true, depth, looks);
                let (none, others) = (self.parts(&meet.none), self.parts(&other.none));
                parts.union(&self.differing_parts(none, others, false, depth, looks))
            }
            (Node::Or(_), _) | (_, Node::Or(_)) => {
                let (parts, others) = (self.parts(&one), self.parts(&other));
                self.differing_parts(parts, others, false, depth, looks)
            }
            _ => all,
        };
        differing.intersection(&all)
    }

    /// The parts of a choice, or the expression itself.
    fn parts<'a>(&'a self, id: &'a RegexId) -> &'a [RegexId] {
        match self.node(*id) {
            Node::Or(parts) => parts,
            _ if *id == DEAD => &[],
            _ => std::slice::from_ref(id),
        }
    }

    /// The same for sorted parts of a choice, or of an intersection, in which a part without a like
    /// one matters for all bytes.
    fn differing_parts(
        &self,
        some: &[RegexId],
        others: &[RegexId],
        must_pair: bool,
        depth: u32,
        looks: &mut u32,
    ) -> ByteSet {
        let without = |parts: &[RegexId], common: &[RegexId]| -> Vec<RegexId> {
            parts.iter().copied().filter(|part| common.binary_search(part).is_err()).collect()
        };
        let (some, mut others) = (without(some, others), without(others, some));
        let mut bytes = ByteSet::EMPTY;
        let comparable = some.len().max(others.len()) <= MAX_PARTS;
        for part in some {
            let alone = if must_pair { ByteSet::ALL } else { *self.first(part) };
            let differing = others.iter().map(|&other| self.differ(part, other, depth - 1, looks));
            let like = if comparable {
                differing.enumerate().min_by_key(|(_, differing)| differing.len())
            } else {
                None
            };
            bytes = match like {
                Some((at, differing)) => {
                    others.remove(at);
                    bytes.union(&differing)
                }
                None => bytes.union(&alone),
            };
        }
        others.iter().fold(bytes, |bytes, &part| {
            bytes.union(if must_pair { &ByteSet::ALL } else { self.first(part) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Lexer;

    /// All states around some expressions: where they go on differently is among what is said.
    #[test]
    fn what_does_not_differ_goes_on_alike() {
        let mut s = RegexSet::default();
        let any = s.class(&[('a', 'f'), ('é', 'ü')]);
        let any = s.repeat(any, 0, None);
        let with = |s: &mut RegexSet, text: &[u8]| {
            let text = s.literal(text);
            let behind = s.concat(text, any);
            s.concat(any, behind)
        };
        let (abc, cab, fed) = (with(&mut s, b"abc"), with(&mut s, b"cab"), with(&mut s, b"fed"));
        let neither = s.and(&[any], &[abc, cab]).unwrap();
        let one = s.and(&[abc], &[cab, fed]).unwrap();
        let other = s.and(&[cab], &[abc, fed]).unwrap();
        let exactly_one = s.or(&[one, other]);
        let two = s.and(&[abc, fed], &[cab]).unwrap();
        let quote = s.literal(b"\"");
        let starts: Vec<RegexId> =
            [neither, exactly_one, two].into_iter().map(|start| s.concat(start, quote)).collect();
        let mut lexer = Lexer::new(s);
        let mut few = 0;
        for start in starts {
            let mut states = vec![start];
            let mut at = 0;
            while let Some(&state) = states.get(at).filter(|_| at < 60) {
                at += 1;
                for byte in 0..=u8::MAX {
                    let next = lexer.step(state, byte);
                    if next != DEAD && !states.contains(&next) {
                        states.push(next);
                    }
                }
            }
            for &one in &states {
                for &other in &states[..4] {
                    let differing = lexer.regexes().differing(one, other);
                    few += usize::from(one != other && differing.len() < 4);
                    for byte in (0..=u8::MAX).filter(|&byte| !differing.contains(byte)) {
                        let (one, other) = (lexer.step(one, byte), lexer.step(other, byte));
                        assert_eq!(one, other, "by {byte}");
                    }
                }
            }
        }
        assert!(few > 30, "only {few}");
    }
}
