//! Bytes by the sets they belong to, refined set by set.

use crate::byteset::ByteSet;

/// A partition of the bytes: bytes of one class are in the same sets.
#[derive(Clone, Debug)]
pub(super) struct ByteClasses {
    of: [u8; 256],
    /// How many bytes each class has.
    sizes: [u16; 256],
    count: usize,
}

impl Default for ByteClasses {
    /// One class.
    fn default() -> Self {
        let mut sizes = [0; 256];
        sizes[0] = 256;
        Self { of: [0; 256], sizes, count: 1 }
    }
}

impl ByteClasses {
    /// The class of each byte.
    pub(super) fn table(&self) -> &[u8; 256] {
        &self.of
    }

    /// How many classes there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Makes each of these bytes a class of its own.
    pub(super) fn single_out(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let class = &mut self.of[usize::from(byte)];
            let size = &mut self.sizes[usize::from(*class)];
            if *size > 1 {
                *size -= 1;
                *class = self.count as u8;
                self.sizes[self.count] = 1;
                self.count += 1;
            }
        }
    }

    /// Tells the bytes of each set from the others.
    ///
    /// PERF: looks at the bytes of each set only, most of which are single letters of names.
    pub(super) fn refine<'a>(&mut self, sets: impl Iterator<Item = &'a ByteSet>) {
        let mut seen = rustc_hash::FxHashSet::default();
        let (mut inside, mut becomes, mut touched) = ([0u16; 256], [0u8; 256], Vec::new());
        for set in sets {
            if self.count == 256 {
                break;
            }
            if let Some(byte) = set.only() {
                self.single_out(&[byte]);
                continue;
            }
            if !seen.insert(set) {
                continue;
            }
            // The classes with bytes in the set, how many those are, and the class that they become
            // if others of the class are not in the set.
            touched.clear();
            for byte in set.iter() {
                let class = usize::from(self.of[usize::from(byte)]);
                if inside[class] == 0 {
                    touched.push(class);
                }
                inside[class] += 1;
            }
            for &class in &touched {
                becomes[class] = class as u8;
                if inside[class] < self.sizes[class] {
                    becomes[class] = self.count as u8;
                    self.sizes[self.count] = inside[class];
                    self.sizes[class] -= inside[class];
                    self.count += 1;
                }
                inside[class] = 0;
            }
            for byte in set.iter() {
                let class = &mut self.of[usize::from(byte)];
                *class = becomes[usize::from(*class)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_of_one_class_if_no_set_tells_them_apart() {
        let set = |low, high| {
            let mut set = ByteSet::EMPTY;
            set.insert_range(low, high);
            set
        };
        let mut sets = vec![set(b'a', b'z'), set(b'f', b'k'), set(0, 255), set(b'0', b'm')];
        sets.push(ByteSet::of(b'g'));
        let mut classes = ByteClasses::default();
        classes.single_out(b"gx");
        sets.push(ByteSet::of(b'x'));
        classes.refine(sets[..2].iter());
        let mut later = classes.clone();
        later.refine(sets.iter());
        for a in 0..=255 {
            for b in 0..=255 {
                let told = sets.iter().any(|set| set.contains(a) != set.contains(b));
                let same = later.table()[usize::from(a)] == later.table()[usize::from(b)];
                assert_eq!(same, !told, "{a} {b}");
            }
        }
        assert_eq!(usize::from(*later.table().iter().max().unwrap()) + 1, later.count());
    }
}
