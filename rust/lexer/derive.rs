//! Derivatives, and the expression without its empty text.

use rustc_hash::FxHashMap;

use super::meet::TooLarge;
use super::node::{DEAD, EPSILON, Node, RegexSet, UNBOUNDED};
use crate::index::RegexId;

impl RegexSet {
    /// What may follow `byte` in the texts of `root`.
    ///
    /// An explicit stack replaces recursion: a node is left there until its parts are in the memo.
    pub(super) fn derivative(&mut self, root: RegexId, byte: u8) -> Result<RegexId, TooLarge> {
        // Bytes between two cuts have the same derivative.
        let key = |set: &Self, id| (id, set.cuts(id).last_up_to(byte).unwrap_or(0));
        if !self.first(root).contains(byte) {
            return Ok(DEAD);
        }
        if let Some(&known) = self.memo.get(&key(self, root)) {
            return Ok(known);
        }
        let mut stack = vec![root];
        let mut last = DEAD;
        while let Some(&id) = stack.last() {
            if self.memo.contains_key(&key(self, id)) {
                stack.pop();
                continue;
            }
            let known = |part: RegexId| {
                if self.first(part).contains(byte) {
                    self.memo.get(&key(self, part)).copied()
                } else {
                    Some(DEAD)
                }
            };
            let derived = match &self.nodes[id] {
                Node::Dead | Node::Epsilon => Some(DEAD),
                Node::Bytes(_) => Some(EPSILON),
                &Node::Literal(text, tail) => Some(self.literal_after(text, 1, tail)),
                &Node::State { automaton, state } => {
                    Some(self.state_after(automaton, state, byte).unwrap_or(DEAD))
                }
                Node::And(meet) => {
                    let before = stack.len();
                    let parts = meet.all.iter().chain([&meet.none]);
                    stack.extend(parts.copied().filter(|&part| known(part).is_none()));
                    if stack.len() == before {
                        let all = meet.all.iter().filter_map(|&part| known(part)).collect();
                        let none = known(meet.none).unwrap_or(DEAD);
                        Some(self.meet_or_dead(all, none)?)
                    } else {
                        None
                    }
                }
                &Node::Concat(head, tail) => {
                    let through = self.is_nullable(head).then(|| known(tail));
                    match (known(head), through) {
                        (None, _) => {
                            stack.push(head);
                            None
                        }
                        (_, Some(None)) => {
                            stack.push(tail);
                            None
                        }
                        (Some(derived), through) => {
                            let left = self.concat(derived, tail);
                            Some(match through.flatten() {
                                Some(right) => self.or(&[left, right]),
                                None => left,
                            })
                        }
                    }
                }
                Node::Or(parts) => {
                    let before = stack.len();
                    stack.extend(parts.iter().copied().filter(|&part| known(part).is_none()));
                    if stack.len() == before {
                        let derived: Vec<RegexId> =
                            parts.iter().filter_map(|&part| known(part)).collect();
                        Some(self.or(&derived))
                    } else {
                        None
                    }
                }
                &Node::Repeat(part, min, max) => {
                    if let Some(derived) = known(part) {
                        let max = if max == UNBOUNDED { UNBOUNDED } else { max - 1 };
                        let rest = self.repeat_raw(part, min.saturating_sub(1), max);
                        Some(self.concat(derived, rest))
                    } else {
                        stack.push(part);
                        None
                    }
                }
            };
            if let Some(derived) = derived {
                self.memo.insert(key(self, id), derived);
                last = derived;
                stack.pop();
            }
        }
        // The root is the last to be derived.
        Ok(last)
    }

    /// The texts of `root` except the empty one.
    pub fn without_empty(&mut self, root: RegexId) -> Result<RegexId, TooLarge> {
        let mut memo: FxHashMap<RegexId, RegexId> = FxHashMap::default();
        let nullable = |set: &Self, id| set.is_nullable(id);
        self.rebuild(root, &mut memo, nullable, |set, id, memo| match set.node(id) {
            &Node::Concat(head, tail) => {
                let left = set.concat(memo[&head], tail);
                Ok(set.or(&[left, memo[&tail]]))
            }
            Node::Or(parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| memo[part]).collect();
                Ok(set.or(&parts))
            }
            &Node::Repeat(part, _, max) => {
                let max = if max == UNBOUNDED { UNBOUNDED } else { max - 1 };
                let rest = set.repeat_raw(part, 0, max);
                Ok(set.concat(memo[&part], rest))
            }
            Node::And(_) | Node::State { .. } => set.meet(vec![id], EPSILON),
            Node::Dead | Node::Epsilon | Node::Bytes(_) | Node::Literal(..) => Ok(DEAD),
        })
    }

    /// Makes an expression anew from its parts, those first; `memo` holds what came of each. Where
    /// `changes` says no, an expression stays as it is, parts and all. An intersection is taken as a
    /// whole: `memo` does not hold its parts.
    pub(super) fn rebuild(
        &mut self,
        root: RegexId,
        memo: &mut FxHashMap<RegexId, RegexId>,
        changes: impl Fn(&Self, RegexId) -> bool,
        mut make: impl FnMut(
            &mut Self,
            RegexId,
            &FxHashMap<RegexId, RegexId>,
        ) -> Result<RegexId, TooLarge>,
    ) -> Result<RegexId, TooLarge> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if memo.contains_key(&id) {
                stack.pop();
                continue;
            }
            if !changes(self, id) {
                memo.insert(id, id);
                stack.pop();
                continue;
            }
            let known = stack.len();
            let missing = |part: &&RegexId| !memo.contains_key(part);
            match self.node(id) {
                Node::Concat(head, tail) => stack.extend([head, tail].into_iter().filter(missing)),
                Node::Or(parts) => stack.extend(parts.iter().filter(missing)),
                Node::Repeat(part, ..) | Node::Literal(_, part) => {
                    stack.extend([part].into_iter().filter(missing));
                }
                Node::Dead | Node::Epsilon | Node::Bytes(_) | Node::And(_) | Node::State { .. } => {
                }
            }
            if stack.len() == known {
                let made = make(self, id, memo)?;
                memo.insert(id, made);
                stack.pop();
            }
        }
        Ok(memo[&root])
    }
}
