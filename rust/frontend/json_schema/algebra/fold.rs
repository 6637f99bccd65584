//! Many sets put together, in time about linear in their size.
//!
//! Sets that are put together one after the other are copied as often as there are sets. Here pairs
//! of about equal size are, in order, so that each part is copied a logarithmic number of times.
//! PERF: an `allOf` of 50,000 schemas took more than 30 seconds.

use super::domain::Domain;
use super::{Algebra, Result};

/// How two neighbours become one.
type Join<D> = fn(D, D, &mut Algebra<'_>) -> Result<D>;

/// Sets whose intersection or union is asked for.
pub(super) struct Fold<D> {
    join: Join<D>,
    /// Sets that are not yet put together, each with the binary logarithm of how many parts it is
    /// made of, descending.
    parts: Vec<(u32, D)>,
    /// Whether sets of several alternatives go through all that came before, which may rule some
    /// out, before anything is put beside them.
    narrow: bool,
}

impl<D: Domain> Fold<D> {
    pub(super) fn intersection() -> Self {
        Self { join: D::and, parts: Vec::new(), narrow: true }
    }

    pub(super) fn union() -> Self {
        Self { join: D::or, parts: Vec::new(), narrow: false }
    }

    /// Adds a set, and says whether what it became has plainly no value.
    pub(super) fn push(&mut self, set: D, algebra: &mut Algebra<'_>) -> Result<bool> {
        let (mut set, mut size) = (set, 0);
        if self.narrow && !set.is_single() {
            if let Some(before) = self.take(algebra)? {
                set = (self.join)(before, set, algebra)?;
            }
            size = u32::MAX;
        } else {
            while let Some((_, before)) = self.parts.pop_if(|(other, _)| *other == size) {
                set = (self.join)(before, set, algebra)?;
                size += 1;
            }
        }
        let nothing = set.is_nothing();
        self.parts.push((size, set));
        Ok(nothing)
    }

    /// All put together; `None` if there were none.
    pub(super) fn take(&mut self, algebra: &mut Algebra<'_>) -> Result<Option<D>> {
        let Some((_, mut all)) = self.parts.pop() else { return Ok(None) };
        while let Some((_, before)) = self.parts.pop() {
            all = (self.join)(before, all, algebra)?;
        }
        Ok(Some(all))
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::Strings;
    use super::*;
    use crate::frontend::json_schema::load::Loader;
    use crate::frontend::json_schema::options::Options;

    /// The same as one after the other, for any number of sets; unions keep their order.
    #[test]
    fn folds_are_left_folds() {
        let options = Options::default();
        let loader = Loader::new("true", &options).unwrap();
        let mut algebra = Algebra::new(loader, &options);
        let words = |numbers: &mut dyn Iterator<Item = usize>| -> Rc<[Rc<str>]> {
            numbers.map(|number| Rc::from(number.to_string())).collect()
        };
        for count in 1..40 {
            let mut union = Fold::union();
            let mut meet = Fold::intersection();
            for part in 0..count {
                let own = words(&mut (part..part + 3));
                union.push(Strings::Words(own), &mut algebra).unwrap();
                let but = words(&mut (0..100).filter(|number| number % count != part));
                let nothing = meet.push(Strings::Words(but), &mut algebra).unwrap();
                assert!(!nothing || part + 1 == count);
            }
            let Some(Strings::Words(all)) = union.take(&mut algebra).unwrap() else { panic!() };
            assert_eq!(all, words(&mut (0..count + 2)));
            assert!(meet.take(&mut algebra).unwrap().unwrap().is_nothing());
            assert!(meet.take(&mut algebra).unwrap().is_none());
        }
    }
}
