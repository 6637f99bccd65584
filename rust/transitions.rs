//! Transitions of states that are found one by one.
//!
//! Takes states and classes of bytes by number; keeps what follows. It knows neither lexers nor
//! recognisers, which both keep theirs here.
//!
//! PERF: a state's first transition needs no row of them. In a long text most states are left once
//! and for good: a JSON string of bounded length filled a cache of 64 MB with 75,000 characters; now
//! 90,000 take 34 MB.

/// What has not been found yet.
const UNKNOWN: u32 = u32::MAX;

/// Transitions by state and class.
#[derive(Clone, Debug)]
pub struct Transitions {
    places: Vec<Place>,
    /// Rows of transitions, one for each class.
    table: Vec<u32>,
    classes: usize,
}

/// Where a state's transitions are.
#[derive(Clone, Copy, Debug)]
enum Place {
    None,
    /// One transition, by one class.
    One(u8, u32),
    /// From here on in the table.
    Row(u32),
}

impl Transitions {
    /// None are known yet.
    pub fn new(classes: usize) -> Self {
        Self { places: Vec::new(), table: Vec::new(), classes }
    }

    /// What follows a state by a class of bytes, if that is known.
    #[inline]
    pub fn get(&self, state: usize, class: u8) -> Option<u32> {
        match *self.places.get(state)? {
            Place::Row(row) => {
                let next = self.table[row as usize + usize::from(class)];
                (next != UNKNOWN).then_some(next)
            }
            Place::One(known, next) if known == class => Some(next),
            _ => None,
        }
    }

    /// Keeps what follows a state.
    pub fn set(&mut self, state: usize, class: u8, next: u32) {
        if self.places.len() <= state {
            self.places.resize(state + 1, Place::None);
        }
        let row = match self.places[state] {
            Place::None => {
                self.places[state] = Place::One(class, next);
                return;
            }
            Place::One(known, before) => {
                let row = self.table.len();
                self.table.resize(row + self.classes, UNKNOWN);
                self.table[row + usize::from(known)] = before;
                self.places[state] = Place::Row(row as u32);
                row
            }
            Place::Row(row) => row as usize,
        };
        self.table[row + usize::from(class)] = next;
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>() + self.table.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_are_kept() {
        let mut transitions = Transitions::new(3);
        assert_eq!(transitions.get(5, 1), None);
        transitions.set(5, 1, 7);
        assert_eq!((transitions.get(5, 1), transitions.get(5, 0)), (Some(7), None));
        transitions.set(5, 0, 8);
        assert_eq!((transitions.get(5, 1), transitions.get(5, 0)), (Some(7), Some(8)));
        assert_eq!((transitions.get(5, 2), transitions.get(4, 1)), (None, None));
    }
}
