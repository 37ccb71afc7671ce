//! Scopes, tokens and supervisors.

#[path = "../common/mod.rs"]
mod common;

mod added;
mod children;
mod hostile;
mod race;
mod supervisor;
