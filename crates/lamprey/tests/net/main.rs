//! Sockets.

#[path = "../common/mod.rs"]
mod common;

mod awaiting;
mod close;
mod os_thread;
mod serve;
mod tcp;
mod udp;
mod unix;
