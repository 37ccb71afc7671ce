//! Events: the algebra, its laws, and choices under load.

#[path = "../common/mod.rs"]
mod common;

mod algebra;
mod asynchronous;
mod callback;
mod choose_all;
mod exact;
mod fair;
mod handlers;
mod kinds;
mod laws;
mod limit;
mod owned;
mod panic;
mod race;
mod select;
#[cfg(feature = "macros")]
mod select_errors;
mod wide;
