//! Which names are in a list: short lists are searched, long ones have an index.

use std::any::Any;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

/// Lists up to this long are searched.
const FEW: usize = 16;

/// The indexes of long lists.
#[derive(Default)]
pub(super) struct Lists {
    /// By the list's address.
    known: FxHashMap<usize, Listed>,
}

struct Listed {
    names: FxHashSet<Rc<str>>,
    /// The list, so that no other one has its address.
    _list: Box<dyn Any>,
}

impl Lists {
    /// Whether a list has an entry of a name.
    pub(super) fn has<T: 'static>(
        &mut self,
        list: &Rc<[T]>,
        name: &str,
        name_of: impl Fn(&T) -> &Rc<str>,
    ) -> bool {
        if list.len() <= FEW {
            return list.iter().any(|entry| &**name_of(entry) == name);
        }
        let listed = self.known.entry(list.as_ptr().addr()).or_insert_with(|| Listed {
            names: list.iter().map(|entry| Rc::clone(name_of(entry))).collect(),
            _list: Box::new(Rc::clone(list)),
        });
        listed.names.contains(name)
    }
}
