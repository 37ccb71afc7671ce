//! Input and output: what sockets, pipes and files have in common.
//!
//! | file | content |
//! |---|---|
//! | `socket` | a non-blocking descriptor with its readiness: try, and wait on `EAGAIN` |
//! | `sendfile` | file to socket inside the kernel; the worker does not wait for the disk |
//! | `simulated` | how sockets of a simulation end |
//! | `whole` | reading and writing until all is done |
//! | `closed`, `offset`, `options` | the error of a closed socket, valid file offsets, socket options |
//!
//! The rule of the room: **the system call comes first**. Nothing is registered, locked or allocated for an
//! operation that succeeds at once; only `EAGAIN` leads to the event loop of the worker (`driver`), and only
//! then does a host block.

pub(crate) mod closed;
pub(crate) mod offset;
pub(crate) mod options;
mod sendfile;
pub(crate) mod simulated;
pub(crate) mod socket;
pub(crate) mod whole;
