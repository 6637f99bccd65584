//! Items in any order: what the properties of an object are when their order is free.

use crate::index::ExprId;

/// A text of n items with separators between them, `min` ≤ n ≤ `max`, in which no two items have
/// the same `once` and every mark below `marks` is among the marks of some item.
///
/// The state after some items is which `once` and which marks have been seen (and how many items,
/// where that matters), so that n items need no n! productions.
///
/// Compiling refuses items and separators that may be empty, and marks that depend on each other
/// in too many ways: where items of one `once` set different marks (with `max`, also where one item
/// sets several), up to 16 marks can hang together. Items whose texts overlap are read in all ways at once, which makes as
/// many states as there are sets of items that a text may stand for. Rules only, no terminals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unordered {
    /// The items.
    pub items: Box<[UnorderedItem]>,
    /// What stands between two items.
    pub separator: ExprId,
    /// How many marks there are; all have to be set.
    pub marks: u32,
    /// At least this many items.
    pub min: u32,
    /// At most this many items.
    pub max: Option<u32>,
}

/// An item of [`Unordered`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnorderedItem {
    /// Its text.
    pub expr: ExprId,
    /// Of all items with the same number at most one may occur, and that once.
    pub once: Option<u32>,
    /// The marks that it sets; sorted.
    pub marks: Box<[u32]>,
}
