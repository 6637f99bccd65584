//! Splits.
/// Store.
#[derive(Debug, Default)]
pub struct SplitStore;
impl SplitStore {
    /// Bytes.
    pub fn memory_bytes(&self) -> usize {
        0
    }
}
