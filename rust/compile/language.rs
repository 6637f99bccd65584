//! stub
use crate::error::GrammarError;
use crate::grammar::GrammarBuilder;
use crate::index::ExprId;
pub(crate) struct Languages;
impl Languages {
    pub(crate) fn new() -> Self {
        Self
    }
    pub(crate) fn is_empty(&mut self, _: &GrammarBuilder, _: ExprId) -> Result<bool, GrammarError> {
        unimplemented!()
    }
    pub(crate) fn matches(
        &mut self,
        _: &GrammarBuilder,
        _: ExprId,
        _: &[u8],
    ) -> Result<bool, GrammarError> {
        unimplemented!()
    }
    pub(crate) fn words(
        &mut self,
        _: &GrammarBuilder,
        _: ExprId,
        _: usize,
    ) -> Result<Option<Vec<Vec<u8>>>, GrammarError> {
        unimplemented!()
    }
}
