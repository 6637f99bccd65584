//! Derivatives, and the expression without its empty text.

use rustc_hash::FxHashMap;

use super::node::{DEAD, EPSILON, Node, RegexSet, UNBOUNDED};
use crate::index::RegexId;

/// Derivatives by one byte that are already known, for parts shared between expressions.
pub(super) type Memo = FxHashMap<(RegexId, u8), RegexId>;

impl RegexSet {
    /// What may follow `byte` in the texts of `root`. `class` stands for all bytes that the
    /// expressions do not tell from `byte`.
    ///
    /// An explicit stack replaces recursion: a node is left there until its parts are in `memo`.
    pub(super) fn derivative(
        &mut self,
        root: RegexId,
        byte: u8,
        class: u8,
        memo: &mut Memo,
    ) -> RegexId {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if memo.contains_key(&(id, class)) {
                stack.pop();
                continue;
            }
            if !self.first(id).contains(byte) {
                memo.insert((id, class), DEAD);
                stack.pop();
                continue;
            }
            let known = |part: RegexId| memo.get(&(part, class)).copied();
            let derived = match self.node(id) {
                Node::Dead | Node::Epsilon => Some(DEAD),
                Node::Bytes(_) => Some(EPSILON),
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
                    let alive = |part: &&RegexId| self.first(**part).contains(byte);
                    let missing: Vec<RegexId> = parts
                        .iter()
                        .filter(alive)
                        .copied()
                        .filter(|&p| known(p).is_none())
                        .collect();
                    if missing.is_empty() {
                        let derived: Vec<RegexId> =
                            parts.iter().filter(alive).filter_map(|&part| known(part)).collect();
                        Some(self.or(&derived))
                    } else {
                        stack.extend(missing);
                        None
                    }
                }
                Node::And(all, none) => {
                    let (all, none) = (all.clone(), *none);
                    let missing: Vec<RegexId> =
                        all.iter().copied().chain([none]).filter(|&p| known(p).is_none()).collect();
                    if missing.is_empty() {
                        let derived: Vec<RegexId> =
                            all.iter().filter_map(|&part| known(part)).collect();
                        let none = known(none).unwrap_or(DEAD);
                        Some(self.and_derived(&derived, none))
                    } else {
                        stack.extend(missing);
                        None
                    }
                }
                &Node::State(automaton, state) => Some(self.step_automaton(automaton, state, byte)),
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
                memo.insert((id, class), derived);
                stack.pop();
            }
        }
        memo[&(root, class)]
    }

    /// The texts of `root` except the empty one.
    pub fn without_empty(&mut self, root: RegexId) -> RegexId {
        let mut memo: FxHashMap<RegexId, RegexId> = FxHashMap::default();
        let nullable = |set: &Self, id| set.is_nullable(id);
        self.rebuild(root, &mut memo, nullable, |set, node, memo| match *node {
            Node::Concat(head, tail) => {
                let left = set.concat(memo[&head], tail);
                set.or(&[left, memo[&tail]])
            }
            Node::Or(ref parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| memo[part]).collect();
                set.or(&parts)
            }
            Node::Repeat(part, _, max) => {
                let max = if max == UNBOUNDED { UNBOUNDED } else { max - 1 };
                let rest = set.repeat_raw(part, 0, max);
                set.concat(memo[&part], rest)
            }
            Node::And(ref all, none) => set.and(all, &[none, EPSILON]),
            // The empty text is one of an automaton's: all bytes but that.
            Node::State(..) => {
                let id = set.known_id(node);
                set.and(&[id], &[EPSILON])
            }
            Node::Dead | Node::Epsilon | Node::Bytes(_) => DEAD,
        })
    }

    /// Makes an expression anew from its parts, those first; `memo` holds what came of each. Where
    /// `changes` says no, an expression stays as it is, parts and all.
    pub(super) fn rebuild(
        &mut self,
        root: RegexId,
        memo: &mut FxHashMap<RegexId, RegexId>,
        changes: impl Fn(&Self, RegexId) -> bool,
        make: impl Fn(&mut Self, &Node, &FxHashMap<RegexId, RegexId>) -> RegexId,
    ) -> RegexId {
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
            let node = self.node(id).clone();
            let parts: &[RegexId] = match &node {
                Node::Concat(head, tail) => &[*head, *tail],
                Node::Or(parts) => parts,
                Node::Repeat(part, ..) => &[*part],
                // An intersection is rebuilt as a whole.
                Node::Dead | Node::Epsilon | Node::Bytes(_) | Node::And(..) | Node::State(..) => {
                    &[]
                }
            };
            let known = stack.len();
            stack.extend(parts.iter().filter(|part| !memo.contains_key(part)));
            if stack.len() == known {
                let made = make(self, &node, memo);
                memo.insert(id, made);
                stack.pop();
            }
        }
        memo[&root]
    }
}
