//! Actors: messages, ends, links, supervision.

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod messages;
mod supervised;
