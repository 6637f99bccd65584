//! Single texts of an expression: whether it has one, and all of them if they are few.

use rustc_hash::FxHashSet;

use super::meet::TooLarge;
use super::node::{DEAD, Node, RegexSet};
use crate::byteset::ByteSet;
use crate::index::RegexId;

/// Words of more bytes in all are too many.
const MAX_BYTES: usize = 1 << 22;

/// A state on the way to a word.
struct Level {
    state: RegexId,
    /// The bytes still to be tried.
    bytes: ByteSet,
}

impl RegexSet {
    /// Whether a text belongs to an expression.
    pub fn matches(&mut self, root: RegexId, text: &[u8]) -> Result<bool, TooLarge> {
        if let Node::And(meet) = &self.nodes[root] {
            // The parts by themselves: nothing has to be searched.
            let meet = meet.clone();
            for &part in &meet.all {
                if !self.matches_alone(part, text)? {
                    return Ok(false);
                }
            }
            return Ok(!self.matches_alone(meet.none, text)?);
        }
        self.matches_alone(root, text)
    }

    fn matches_alone(&mut self, root: RegexId, text: &[u8]) -> Result<bool, TooLarge> {
        let mut state = root;
        for &byte in text {
            self.forget();
            state = self.derivative(state, byte)?;
            if state == DEAD {
                return Ok(false);
            }
        }
        Ok(self.is_nullable(state))
    }

    /// All texts of an expression in ascending order, if there are at most `limit` (and not too
    /// long ones); else `None`.
    ///
    /// Every state has a text, so each way down ends at a word or comes back to one of its states,
    /// which then has infinitely many.
    pub fn words(&mut self, root: RegexId, limit: usize) -> Result<Option<Vec<Vec<u8>>>, TooLarge> {
        let mut words = Vec::new();
        let mut size = 0;
        let mut word = Vec::new();
        let mut path: Vec<Level> = Vec::new();
        let mut on_path = FxHashSet::default();
        let mut state = root;
        loop {
            if state == DEAD {
                word.pop();
            } else {
                if self.is_infinite(state) || !on_path.insert(state) {
                    return Ok(None);
                }
                if self.is_nullable(state) {
                    size += word.len();
                    if words.len() == limit || size > MAX_BYTES {
                        return Ok(None);
                    }
                    words.push(word.clone());
                }
                path.push(Level { state, bytes: *self.first(state) });
            }
            // The next byte of the last state that has one.
            loop {
                let Some(level) = path.last_mut() else { return Ok(Some(words)) };
                if let Some(byte) = level.bytes.pop() {
                    let from = level.state;
                    word.push(byte);
                    self.forget();
                    state = self.derivative(from, byte)?;
                    break;
                }
                on_path.remove(&level.state);
                path.pop();
                word.pop();
            }
        }
    }
}
