//! Sockets.

#[path = "../common/mod.rs"]
mod common;

mod awaiting;
mod clones;
mod close;
mod drained;
mod eyeballs;
mod names;
mod options;
mod os_thread;
mod polls;
mod serve;
mod tcp;
mod udp;
mod unix;
mod unix_datagram;
