//! Dynamic scopes: which schema each dynamic anchor means on a way through the schemas.
//!
//! A dynamic reference goes to the first resource on the way from the root that has its anchor.
//! So a way is, for what follows, no more than a map from anchors to the schemas bound first; a
//! resource binds those of its anchors that are not bound yet. Maps are interned: there are few.

use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::documents::{Place, Resource};

type Bindings = Rc<[(Rc<str>, Place)]>;

/// All scopes met, by number.
pub(super) struct Scopes {
    met: Vec<Bindings>,
    /// In order of names, so that equal maps are equal.
    known: HashMap<Bindings, u32>,
    /// What a resource makes of a scope.
    entered: FxHashMap<(u32, u32), u32>,
}

impl Scopes {
    /// The scope in which nothing is bound.
    pub(super) const EMPTY: u32 = 0;

    pub(super) fn new() -> Self {
        Self {
            met: vec![Rc::new([])],
            known: HashMap::from([(Rc::from([]), Self::EMPTY)]),
            entered: FxHashMap::default(),
        }
    }

    /// The scope in a resource that is entered from a scope; `None` if there are `most` already.
    pub(super) fn enter(
        &mut self,
        scope: u32,
        number: u32,
        resource: &Resource,
        most: usize,
    ) -> Option<u32> {
        if resource.dynamic.is_empty() {
            return Some(scope);
        }
        if let Some(&known) = self.entered.get(&(scope, number)) {
            return Some(known);
        }
        let document = resource.root.document;
        let mut bindings = self.met[scope as usize].to_vec();
        for (name, node) in &resource.dynamic {
            if let Err(at) = bindings.binary_search_by(|(bound, _)| bound.cmp(name)) {
                bindings.insert(at, (Rc::clone(name), Place { document, node: *node }));
            }
        }
        let bindings: Bindings = bindings.into();
        let inner = match self.known.get(&bindings) {
            Some(&known) => known,
            None if self.met.len() >= most => return None,
            None => {
                let new = self.met.len() as u32;
                self.met.push(Rc::clone(&bindings));
                self.known.insert(bindings, new);
                new
            }
        };
        self.entered.insert((scope, number), inner);
        Some(inner)
    }

    /// The schema an anchor is bound to.
    pub(super) fn bound(&self, scope: u32, name: &str) -> Option<Place> {
        let bindings = &self.met[scope as usize];
        let at = bindings.binary_search_by(|(bound, _)| (**bound).cmp(name)).ok()?;
        Some(bindings[at].1)
    }
}
