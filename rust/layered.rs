//! Vectors that share their first items.
//!
//! Takes items one by one; what was pushed before [`Layered::share`] is held once by all copies
//! made afterwards, so that a copy costs only what came since. Shared items never change.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;
use std::sync::Arc;

use crate::index::Id;

/// A vector indexed by an id whose first items may be shared with its copies.
#[derive(Clone)]
pub struct Layered<I, T> {
    shared: Arc<[T]>,
    own: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> Layered<I, T> {
    /// Appends an item and gives its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::new(self.len());
        self.own.push(item);
        id
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.shared.iter().chain(&self.own)
    }

    /// The number of items that are not shared.
    pub fn own_len(&self) -> usize {
        self.own.len()
    }

    /// An item that is not shared.
    pub fn own_mut(&mut self, id: I) -> &mut T {
        let shared = self.shared.len();
        &mut self.own[id.index() - shared]
    }

    /// The items with their ids, in order.
    pub fn iter_enumerated(&self) -> impl Iterator<Item = (I, &T)> {
        self.iter().enumerate().map(|(index, item)| (I::new(index), item))
    }

    /// The items that are not shared, in order.
    pub fn own(&self) -> &[T] {
        &self.own
    }

    /// Makes room for more items.
    pub fn reserve(&mut self, more: usize) {
        self.own.reserve(more);
    }

    /// Lets all later copies share the items. Nothing may be shared yet.
    pub fn share(&mut self) {
        debug_assert!(self.shared.is_empty(), "items are shared once");
        self.shared = std::mem::take(&mut self.own).into();
    }
}

impl<I: Id, T> Default for Layered<I, T> {
    fn default() -> Self {
        Self { shared: Arc::new([]), own: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Layered<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        let index = id.index();
        match index.checked_sub(self.shared.len()) {
            Some(own) => &self.own[own],
            None => &self.shared[index],
        }
    }
}

impl<I: Id, T: fmt::Debug> fmt::Debug for Layered<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::RegexId;

    #[test]
    fn copies_share_what_came_before() {
        let mut first: Layered<RegexId, u32> = Layered::default();
        first.push(10);
        first.push(11);
        first.share();
        let mut second = first.clone();
        let (a, b) = (first.push(12), second.push(13));
        assert_eq!((a, b), (RegexId(2), RegexId(2)));
        assert_eq!((first[a], second[b], second[RegexId(1)]), (12, 13, 11));
        assert_eq!(second.iter().copied().collect::<Vec<_>>(), [10, 11, 13]);
        assert_eq!((second.len(), second.own_len()), (3, 1));
    }
}
