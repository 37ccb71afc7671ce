//! Waiting by trying: a host that tries, or looks, again and again lets its worker's other hosts run, whatever it calls. A table
//! of every public call that somebody could do that with, held against the source.

#![allow(
    clippy::len_zero,
    clippy::nonminimal_bool,
    clippy::unit_arg,
    reason = "each call is to be made as it is"
)]

#[path = "../common/mod.rs"]
mod common;

mod exempt;
mod in_vain;
mod mixed;
mod scan;
mod table;
mod within_a_future;
