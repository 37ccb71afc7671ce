//! Events: the algebra, its laws, and choices under load.

#[path = "../common/mod.rs"]
mod common;

mod algebra;
mod asynchronous;
mod choose_all;
mod exact;
mod fair;
mod kinds;
mod laws;
mod limit;
mod panic;
mod race;
mod select;
