//! Members between separators: what the properties of an object are.

use crate::index::ExprId;

/// A text of n members with separators between them, `min` ≤ n ≤ `max`, in which no two members
/// have the same `once`, every mark below `marks` is among the marks of some member, and all
/// conditions hold.
///
/// In any order, the state after some members is which `once` and which marks have been seen (and
/// how many members, where that matters), so that n members need no n! productions. In the given
/// order it is how far we are, beside marks, counts and what is left of the conditions.
///
/// Compiling refuses members and separators that may be empty, and marks that depend on each other
/// in too many ways, and conditions in any order. In any order, where members of one `once` set different marks (with `max`,
/// also where one member sets several), up to 16 marks can hang together; in the given order, up
/// to 16 marks can be set by members of different `once`. Members whose texts overlap are read in
/// all ways at once, which makes as many states as there are sets of members that a text may stand
/// for. Rules only, no terminals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Members {
    /// In which order they come.
    pub order: MemberOrder,
    /// The members.
    pub items: Box<[Member]>,
    /// What stands between two members.
    pub separator: ExprId,
    /// How many marks there are; all have to be set.
    pub marks: u32,
    /// At least this many members.
    pub min: u32,
    /// At most this many members.
    pub max: Option<u32>,
    /// What holds of the members together.
    pub conditions: Box<[Condition]>,
}

/// One of its alternatives holds: all members that it needs are there, and none that excludes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The `once` of the members that each alternative needs. Alternatives are numbered from one
    /// condition to the next.
    pub needs: Box<[Box<[u32]>]>,
}

/// The order of [`Members`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberOrder {
    /// Any.
    Any,
    /// That of their numbers (`once`); those without one come last, in any order.
    Given,
}

/// A member of [`Members`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Its text.
    pub expr: ExprId,
    /// Of all members with the same number at most one may occur, and that once.
    pub once: Option<u32>,
    /// The marks that it sets; sorted.
    pub marks: Box<[u32]>,
    /// The alternatives that it excludes; none if it has no `once`.
    pub excludes: Box<[u32]>,
}
