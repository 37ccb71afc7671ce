//! Lamprey's sockets, pipes, files and standard streams by the traits of tokio, without a runtime of tokio.

#[path = "../../../lamprey/tests/common/mod.rs"]
mod common;

mod files;
mod pipes;
mod races;
mod sockets;
mod stdio;
