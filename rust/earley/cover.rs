//! The fewest items that set all missing marks, exactly.
//!
//! Takes, for each item, its *slot* (of the items of one slot only one can be used, and that once)
//! and the marks that it sets. Marks that no slot links are independent of each other, so that the
//! question falls into *parts*; nearly always a part is one mark and one item. A larger part is
//! solved by going through its slots with the fewest items for each set of marks, which takes time
//! in proportion to its items times 2^marks: past a limit the items are refused.

use std::ops::Range;

use crate::error::{GrammarError, GrammarErrorKind};

/// The most marks of one part.
const MAX_MARKS: usize = 16;
/// The most steps of one question.
const MAX_STEPS: usize = 1 << 16;

/// The marks, and what sets them.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    parts: Vec<Part>,
    /// The marks of all parts, behind one another.
    marks: Vec<u32>,
    /// The items of all parts, by slot.
    options: Vec<Setter>,
    /// For each item its slot's part and its marks there; `None` if none of the slot sets a mark.
    items: Vec<Option<(usize, u32)>>,
}

#[derive(Clone, Debug)]
struct Part {
    marks: Range<usize>,
    options: Range<usize>,
}

/// An item that sets marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Setter {
    part: usize,
    slot: u32,
    /// Which marks of its part.
    marks: u32,
}

impl Cover {
    /// The cover of `marks` marks by items with these slots, numbered densely, and marks (those
    /// not below `marks` don't count). `None` if no item sets some mark.
    pub(super) fn new<'a>(
        items: impl Iterator<Item = (u32, &'a [u32])> + Clone,
        marks: u32,
    ) -> Result<Option<Self>, GrammarError> {
        let wanted = |item: (u32, &'a [u32])| {
            item.1.iter().copied().filter(move |&mark| mark < marks).map(|mark| mark as usize)
        };
        // Also a bound for the memory of what follows.
        if items.clone().map(|item| wanted(item).count()).sum::<usize>() < marks as usize {
            return Ok(None);
        }
        let mut links = Links((0..marks as usize).collect());
        let mut is_set = vec![false; marks as usize];
        let mut mark_of_slot: Vec<Option<usize>> = Vec::new();
        for item in items.clone() {
            let slot = item.0 as usize;
            if mark_of_slot.len() <= slot {
                mark_of_slot.resize(slot + 1, None);
            }
            for mark in wanted(item) {
                is_set[mark] = true;
                links.join(mark, *mark_of_slot[slot].get_or_insert(mark));
            }
        }
        if is_set.contains(&false) {
            return Ok(None);
        }
        let mut by_root: Vec<(usize, u32)> =
            (0..marks).map(|mark| (links.root(mark as usize), mark)).collect();
        by_root.sort_unstable();
        let mut parts: Vec<Part> = Vec::new();
        // For each mark its part and its place there.
        let mut places = vec![(0, 0); marks as usize];
        for (at, &(root, mark)) in by_root.iter().enumerate() {
            if at == 0 || by_root[at - 1].0 != root {
                parts.push(Part { marks: at..at, options: 0..0 });
            }
            let part = parts.len() - 1;
            places[mark as usize] = (part, at - parts[part].marks.start);
            parts[part].marks.end = at + 1;
        }
        if let Some(part) = parts.iter().find(|part| part.marks.len() > MAX_MARKS) {
            return Err(too_entangled(part.marks.len()));
        }
        // An item that sets no mark still takes the slot away from those that do.
        let placed: Vec<Option<(usize, u32)>> = items
            .clone()
            .map(|item| {
                let (part, _) = places[mark_of_slot[item.0 as usize]?];
                Some((part, wanted(item).fold(0, |bits, mark| bits | 1 << places[mark].1)))
            })
            .collect();
        let mut options: Vec<Setter> = items
            .zip(&placed)
            .filter_map(|((slot, _), &place)| {
                place.map(|(part, marks)| Setter { part, slot, marks })
            })
            .filter(|option| option.marks != 0)
            .collect();
        options.sort_unstable();
        options.dedup();
        let mut start = 0;
        for (index, part) in parts.iter_mut().enumerate() {
            let count = options[start..].iter().take_while(|option| option.part == index).count();
            part.options = start..start + count;
            start += count;
            if count > 1 && count << part.marks.len() > MAX_STEPS {
                return Err(too_entangled(part.marks.len()));
            }
        }
        let marks = by_root.into_iter().map(|(_, mark)| mark).collect();
        Ok(Some(Self { parts, marks, options, items: placed }))
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The part that an item's slot belongs to.
    pub(super) fn part_of(&self, item: usize) -> Option<usize> {
        self.items[item].map(|(part, _)| part)
    }

    /// The fewest items that set all marks of a part, given which are set and which slots have been
    /// used; `None` if they can't be set.
    pub(super) fn fewest(
        &self,
        part: usize,
        is_set: impl Fn(u32) -> bool,
        is_used: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let missing = self.missing(part, is_set);
        self.fewest_for(part, missing, is_used)
    }

    /// The same after one more item, which belongs to the part and whose slot `is_used` counts.
    pub(super) fn fewest_after(
        &self,
        item: usize,
        is_set: impl Fn(u32) -> bool,
        is_used: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let (part, marks) = self.items[item]?;
        self.fewest_for(part, self.missing(part, is_set) & !marks, is_used)
    }

    fn missing(&self, part: usize, is_set: impl Fn(u32) -> bool) -> u32 {
        let marks = &self.marks[self.parts[part].marks.clone()];
        marks
            .iter()
            .enumerate()
            .filter(|&(_, &mark)| !is_set(mark))
            .fold(0, |bits, (bit, _)| bits | 1 << bit)
    }

    fn fewest_for(&self, part: usize, missing: u32, is_used: impl Fn(u32) -> bool) -> Option<u32> {
        if missing == 0 {
            return Some(0);
        }
        let options = &self.options[self.parts[part].options.clone()];
        if options.iter().any(|option| option.marks & missing == missing && !is_used(option.slot)) {
            return Some(1);
        }
        if options.len() < 2 {
            return None;
        }
        // For each set of marks the fewest items of the slots so far that set just these.
        let mut fewest = vec![None; 1 << self.parts[part].marks.len()];
        fewest[0] = Some(0);
        for slot in options.chunk_by(|a, b| a.slot == b.slot) {
            if is_used(slot[0].slot) {
                continue;
            }
            // Downwards, so that an item of this slot is never added to another one.
            for marks in (0..fewest.len()).rev() {
                let Some(count) = fewest[marks] else { continue };
                for option in slot {
                    let more = &mut fewest[marks | (option.marks & missing) as usize];
                    *more = Some(more.map_or(count + 1, |known: u32| known.min(count + 1)));
                }
            }
        }
        fewest[missing as usize]
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.parts.len() * size_of::<Part>()
            + self.marks.len() * 4
            + self.options.len() * size_of::<Setter>()
            + self.items.len() * size_of::<Option<(usize, u32)>>()
    }
}

fn too_entangled(marks: usize) -> GrammarError {
    GrammarError::new(
        GrammarErrorKind::Limit,
        format!("{marks} requirements on items in any order depend on the same items"),
    )
    .with_hint("let fewer alternatives meet several requirements at once")
}

/// Sets of marks that belong together.
struct Links(Vec<usize>);

impl Links {
    fn root(&mut self, mut mark: usize) -> usize {
        while self.0[mark] != mark {
            self.0[mark] = self.0[self.0[mark]];
            mark = self.0[mark];
        }
        mark
    }

    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.root(left), self.root(right));
        self.0[left.max(right)] = left.min(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fewest(items: &[(u32, &[u32])], marks: u32, used: &[u32]) -> Option<u32> {
        let cover = Cover::new(items.iter().copied(), marks).unwrap()?;
        (0..cover.parts())
            .map(|part| cover.fewest(part, |_| false, |slot| used.contains(&slot)))
            .sum()
    }

    #[test]
    fn independent_marks_need_an_item_each() {
        assert_eq!(fewest(&[(0, &[0]), (1, &[1]), (2, &[])], 2, &[]), Some(2));
        assert_eq!(fewest(&[(0, &[0]), (1, &[1]), (2, &[])], 2, &[1]), None);
        assert_eq!(fewest(&[(0, &[0])], 2, &[]), None);
    }

    #[test]
    fn one_slot_gives_one_item() {
        let either: &[(u32, &[u32])] = &[(0, &[0]), (0, &[1])];
        assert_eq!(fewest(either, 2, &[]), None);
        let more = [either, &[(1, &[1]), (2, &[0, 2]), (2, &[2])]].concat();
        assert_eq!(fewest(&more, 3, &[]), Some(2));
        assert_eq!(fewest(&more, 3, &[0]), Some(2));
        assert_eq!(fewest(&more, 3, &[2]), None);
    }

    #[test]
    fn agrees_with_trying_all_choices() {
        let mut state = 1_u32;
        let mut below = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % bound
        };
        for _ in 0..500 {
            let marks = below(5);
            let sets: Vec<Vec<u32>> =
                (0..=below(6)).map(|_| (0..5).filter(|_| below(3) == 0).collect()).collect();
            let items: Vec<(u32, &[u32])> =
                sets.iter().map(|marks| (below(4), &marks[..])).collect();
            let naive = (0_u32..1 << items.len())
                .filter(|choice| {
                    let chosen = || (0..items.len()).filter(|at| choice >> at & 1 == 1);
                    (0..marks).all(|mark| chosen().any(|at| items[at].1.contains(&mark)))
                        && chosen().all(|a| chosen().all(|b| a == b || items[a].0 != items[b].0))
                })
                .map(u32::count_ones)
                .min();
            assert_eq!(fewest(&items, marks, &[]), naive, "{items:?} {marks}");
        }
    }
}
