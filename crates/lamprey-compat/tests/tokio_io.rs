//! Lamprey's sockets, pipes, files and standard streams by the traits of tokio, without a runtime of tokio.

#[path = "tokio_io/sockets.rs"]
mod sockets;
