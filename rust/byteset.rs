//! A set of bytes.

/// A set of bytes as 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// No byte.
    pub const EMPTY: Self = Self([0; 4]);
    /// All bytes.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// The set of one byte.
    #[inline]
    pub fn of(byte: u8) -> Self {
        let mut set = Self::EMPTY;
        set.insert(byte);
        set
    }

    /// Adds a byte.
    #[inline]
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Takes a byte out.
    #[inline]
    pub fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    /// Adds an inclusive range of bytes.
    pub fn insert_range(&mut self, low: u8, high: u8) {
        for (word, from) in self.0.iter_mut().zip([0u16, 64, 128, 192]) {
            let (first, last) = (u16::from(low).max(from), u16::from(high).min(from + 63));
            if first <= last {
                *word |= u64::MAX >> (63 - (last - first)) << (first - from);
            }
        }
    }

    /// Whether the byte is in the set.
    #[inline]
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// The byte of a set of one byte.
    pub fn only(&self) -> Option<u8> {
        if self.len() == 1 { self.last_up_to(u8::MAX) } else { None }
    }

    /// The bits of the set, bytes 0 to 63 first.
    pub fn words(&self) -> [u64; 4] {
        self.0
    }

    /// Whether the set has no byte.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// How many bytes the set has.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The bytes of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// The bytes that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// The bytes of this set that are not in the other.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// Whether the sets share a byte.
    pub fn intersects(&self, other: &Self) -> bool {
        (0..4).any(|i| self.0[i] & other.0[i] != 0)
    }

    /// The bytes at which the set begins or has just ended.
    #[must_use]
    pub fn cuts(&self) -> Self {
        let carry = |i: usize| if i == 0 { 0 } else { self.0[i - 1] >> 63 };
        Self(std::array::from_fn(|i| self.0[i] ^ (self.0[i] << 1 | carry(i))))
    }

    /// The greatest byte of the set up to the given one.
    #[inline]
    pub fn last_up_to(&self, byte: u8) -> Option<u8> {
        let at = usize::from(byte >> 6);
        let word = self.0[at] & (u64::MAX >> (63 - (byte & 63)));
        if word != 0 {
            return Some((at as u8) << 6 | (63 - word.leading_zeros() as u8));
        }
        let at = (0..at).rev().find(|&i| self.0[i] != 0)?;
        Some((at as u8) << 6 | (63 - self.0[at].leading_zeros() as u8))
    }

    /// Takes out the least byte.
    pub fn pop(&mut self) -> Option<u8> {
        let byte = self.iter().next()?;
        self.remove(byte);
        Some(byte)
    }

    /// The bytes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let words = self.0;
        (0..4u8).flat_map(move |index| {
            let mut rest = words[usize::from(index)];
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as u8;
                    rest &= rest - 1;
                    index * 64 + bit
                })
            })
        })
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::EMPTY;
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_where_membership_changes() {
        let mut set = ByteSet::EMPTY;
        for (low, high) in [(0, 3), (60, 70), (127, 127), (192, 255)] {
            set.insert_range(low, high);
        }
        let cuts: Vec<u8> = set.cuts().iter().collect();
        assert_eq!(cuts, [0, 4, 60, 71, 127, 128, 192]);
        for byte in 0..=255u8 {
            let last = cuts.iter().copied().rfind(|&cut| cut <= byte);
            assert_eq!(set.cuts().last_up_to(byte), last);
        }
        assert_eq!(ByteSet::EMPTY.last_up_to(255), None);
    }

    #[test]
    fn bytes_pop_in_order() {
        let mut set: ByteSet = [200, 7, 64].into_iter().collect();
        let popped: Vec<u8> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!(popped, [7, 64, 200]);
    }
}
