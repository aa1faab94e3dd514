//! Conditions: not in place yet.
use crate::event::Event;
use crate::rules::Block;
use crate::shell::Parsed;
pub(crate) struct Document<'a>(std::marker::PhantomData<&'a ()>);
impl<'a> Document<'a> {
    pub(crate) fn new(_: &'a Event<'a>, _: Option<&'a Parsed>) -> Self {
        Self(std::marker::PhantomData)
    }
    pub(crate) fn evaluate(&self, _: &Block) -> Option<Vec<usize>> {
        None
    }
}
