//! The fewest items that set all missing marks, exactly.
//!
//! Takes, for each item, its *slot* (of the items of one slot only one can be used, and that once)
//! and the marks that it sets. Marks that no slot links are independent of each other, so that the
//! question falls into *parts*; nearly always a part is one mark and one item. A larger part is
//! solved by going through its slots with the fewest items for each set of marks, which takes time
//! in proportion to its items times 2^marks: past a limit the items are refused.
//!
//! A slot links the marks of its items, since one of them excludes the others. If the items of a
//! slot all set the same marks, it links these only where items are counted: otherwise it may
//! as well be used for each of them, and a number above 0 only says that some item is needed.

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
    /// For each item the parts that it matters to, and its marks there.
    places: Vec<Box<[Place]>>,
}

/// What an item is to a part: it may set some marks, or only take their slot away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) part: usize,
    /// Which marks of the part.
    pub(super) marks: u32,
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
    marks: u32,
}

impl Cover {
    /// The cover of `marks` marks by items with these slots, numbered densely, and marks (those
    /// not below `marks` don't count). `None` if no item sets some mark. `counted` says whether
    /// more than 0 is to be told apart.
    pub(super) fn new<'a>(
        items: impl Iterator<Item = (u32, &'a [u32])> + Clone,
        marks: u32,
        counted: bool,
    ) -> Result<Option<Self>, GrammarError> {
        let wanted = |item: (u32, &'a [u32])| {
            item.1.iter().copied().filter(move |&mark| mark < marks).map(|mark| mark as usize)
        };
        // Also a bound for the memory of what follows.
        if items.clone().map(|item| wanted(item).count()).sum::<usize>() < marks as usize {
            return Ok(None);
        }
        let mut slots: Vec<Option<Slot<'a>>> = Vec::new();
        for (slot, marks) in items.clone() {
            if slots.len() <= slot as usize {
                slots.resize(slot as usize + 1, None);
            }
            let slot = slots[slot as usize].get_or_insert(Slot { first: marks, links: counted });
            slot.links |= slot.first != marks;
        }
        let slot_of = |item: (u32, &'a [u32])| slots[item.0 as usize].filter(|slot| slot.links);
        let mut links = Links::new(marks as usize);
        let mut is_set = vec![false; marks as usize];
        let mut mark_of_slot: Vec<Option<usize>> = vec![None; slots.len()];
        for item in items.clone() {
            for mark in wanted(item) {
                is_set[mark] = true;
                if slot_of(item).is_some() {
                    links.join(mark, *mark_of_slot[item.0 as usize].get_or_insert(mark));
                }
            }
        }
        if is_set.contains(&false) {
            return Ok(None);
        }
        let mut by_root: Vec<(usize, u32)> =
            (0..marks).map(|mark| (links.root(mark as usize), mark)).collect();
        by_root.sort_unstable();
        let mut parts: Vec<Part> = Vec::new();
        let mut place_of_mark = vec![Place { part: 0, marks: 0 }; marks as usize];
        for part in by_root.chunk_by(|a, b| a.0 == b.0) {
            if part.len() > MAX_MARKS {
                return Err(too_entangled(part.len()));
            }
            for (bit, &(_, mark)) in part.iter().enumerate() {
                place_of_mark[mark as usize] = Place { part: parts.len(), marks: 1 << bit };
            }
            let start = parts.last().map_or(0, |last| last.marks.end);
            parts.push(Part { marks: start..start + part.len(), options: 0..0 });
        }
        let mut places: Vec<Box<[Place]>> = Vec::new();
        let mut options: Vec<Setter> = Vec::new();
        for item in items {
            let slot = item.0;
            let taken = mark_of_slot[slot as usize]
                .map(|mark| Place { part: place_of_mark[mark].part, marks: 0 });
            let mut found: Vec<Place> =
                wanted(item).map(|mark| place_of_mark[mark]).chain(taken).collect();
            found.sort_unstable();
            let place = |group: &[Place]| Place {
                part: group[0].part,
                marks: group.iter().fold(0, |marks, place| marks | place.marks),
            };
            let found: Box<[Place]> = found.chunk_by(|a, b| a.part == b.part).map(place).collect();
            let setters = found.iter().filter(|place| place.marks != 0);
            options.extend(setters.map(|&Place { part, marks }| Setter { part, slot, marks }));
            places.push(found);
        }
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
        Ok(Some(Self { parts, marks, options, places }))
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The parts that an item matters to.
    pub(super) fn places(&self, item: usize) -> &[Place] {
        &self.places[item]
    }

    /// The fewest items that set all marks of a part, given which are set and which slots have been
    /// used; `None` if they can't be set.
    pub(super) fn fewest(
        &self,
        part: usize,
        is_set: impl Fn(u32) -> bool,
        is_used: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        self.fewest_after(Place { part, marks: 0 }, is_set, is_used)
    }

    /// The same after one more item, for one of its places; `is_used` counts its slot.
    pub(super) fn fewest_after(
        &self,
        Place { part, marks }: Place,
        is_set: impl Fn(u32) -> bool,
        is_used: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let missing = self.missing(part, is_set) & !marks;
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

    fn missing(&self, part: usize, is_set: impl Fn(u32) -> bool) -> u32 {
        let marks = &self.marks[self.parts[part].marks.clone()];
        marks
            .iter()
            .enumerate()
            .filter(|&(_, &mark)| !is_set(mark))
            .fold(0, |bits, (bit, _)| bits | 1 << bit)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.parts.len() * size_of::<Part>()
            + self.marks.len() * 4
            + self.options.len() * size_of::<Setter>()
            + self.places.iter().map(|places| 16 + size_of_val(&**places)).sum::<usize>()
    }
}

/// What the items of a slot have in common.
#[derive(Clone, Copy)]
struct Slot<'a> {
    /// The marks of the first.
    first: &'a [u32],
    /// Whether the marks of its items belong together.
    links: bool,
}

fn too_entangled(marks: usize) -> GrammarError {
    GrammarError::new(
        GrammarErrorKind::Limit,
        format!("{marks} requirements on items in any order depend on the same items"),
    )
    .with_hint("let fewer alternatives meet several requirements at once")
}

/// Sets of marks that belong together.
pub(super) struct Links(Vec<usize>);

impl Links {
    /// Each for itself.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// One of those that belong together, the same for all of them.
    pub(super) fn root(&mut self, mut mark: usize) -> usize {
        while self.0[mark] != mark {
            self.0[mark] = self.0[self.0[mark]];
            mark = self.0[mark];
        }
        mark
    }

    /// Says that two belong together.
    pub(super) fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.root(left), self.root(right));
        self.0[left.max(right)] = left.min(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fewest(items: &[(u32, &[u32])], marks: u32, used: &[u32]) -> Option<u32> {
        let cover = Cover::new(items.iter().copied(), marks, true).unwrap()?;
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
            let uncounted = Cover::new(items.iter().copied(), marks, false).unwrap();
            let possible = uncounted.is_some_and(|cover| {
                (0..cover.parts()).all(|part| cover.fewest(part, |_| false, |_| false).is_some())
            });
            assert_eq!(possible, naive.is_some(), "{items:?} {marks}");
        }
    }
}
