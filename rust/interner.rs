//! Interning of slices: equal slices have equal ids, and each is stored once, in one vector.

use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::index::Id;

/// Interned slices of `T` with ids `I`.
#[derive(Clone, Debug)]
pub struct SliceInterner<I, T> {
    /// All slices behind one another.
    items: Vec<T>,
    /// For each id the end of its slice.
    ends: Vec<u32>,
    table: HashTable<u32>,
    id: PhantomData<fn(I)>,
}

impl<I, T> Default for SliceInterner<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), ends: Vec::new(), table: HashTable::new(), id: PhantomData }
    }
}

impl<I: Id, T: Copy + Eq + Hash> SliceInterner<I, T> {
    /// The id of a slice, and whether it is new.
    pub fn intern(&mut self, slice: &[T]) -> (I, bool) {
        let hash = FxBuildHasher.hash_one(slice);
        let Self { items, ends, table, .. } = self;
        if let Some(&known) = table.find(hash, |&id| get(items, ends, id as usize) == slice) {
            return (I::new(known as usize), false);
        }
        let id = ends.len();
        items.extend_from_slice(slice);
        ends.push(items.len() as u32);
        table.insert_unique(hash, id as u32, |&id| {
            FxBuildHasher.hash_one(get(items, ends, id as usize))
        });
        (I::new(id), true)
    }

    /// The slice of an id.
    #[inline]
    pub fn get(&self, id: I) -> &[T] {
        get(&self.items, &self.ends, id.index())
    }

    /// The number of slices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no slices.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
            + self.ends.capacity() * 4
            + self.table.capacity() * 5
    }
}

#[inline]
fn get<'a, T>(items: &'a [T], ends: &[u32], id: usize) -> &'a [T] {
    let start = if id == 0 { 0 } else { ends[id - 1] as usize };
    &items[start..ends[id] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::RowId;

    #[test]
    fn equal_slices_have_equal_ids() {
        let mut interner: SliceInterner<RowId, u8> = SliceInterner::default();
        let ids: Vec<(RowId, bool)> = [&b"ab"[..], b"", b"c", b"ab", b""]
            .iter()
            .map(|slice| interner.intern(slice))
            .collect();
        assert_eq!(
            ids,
            [
                (RowId(0), true),
                (RowId(1), true),
                (RowId(2), true),
                (RowId(0), false),
                (RowId(1), false)
            ]
        );
        assert_eq!(interner.get(RowId(0)), b"ab");
        assert!(interner.get(RowId(1)).is_empty());
    }
}
