//! Registration: not in place yet.
use super::Exit;
use crate::harness::Harness;
use crate::world::World;
use std::path::{Path, PathBuf};
pub(crate) fn install(_: &[String]) -> Exit {
    Exit::Failed
}
pub(crate) fn uninstall(_: &[String]) -> Exit {
    Exit::Failed
}
pub(crate) fn ensure(_: &[String]) -> Exit {
    Exit::Failed
}
pub(crate) fn status(_: &[String]) -> Exit {
    Exit::Failed
}
pub(crate) fn settings_files(_: &World) -> Vec<PathBuf> {
    vec![]
}
pub(crate) fn lost_hooks(_: &World, _: Harness, _: Option<&Path>) -> Option<String> {
    None
}
