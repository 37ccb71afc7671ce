//! Channels of every kind, and the suites of other systems restated for them.

#[path = "../common/mod.rs"]
mod common;

mod closing;
mod family;
mod forms;
mod go;
mod oneshot;
mod put_back;
mod rendezvous;
mod std_mpsc;
mod unbounded;
mod values;
mod weak;
