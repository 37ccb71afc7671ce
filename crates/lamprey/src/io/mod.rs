//! Input and output: what sockets, pipes and files have in common.
//!
//! | file | what it is |
//! |---|---|
//! | `socket` | a descriptor with its readiness: "try, and wait when the kernel says so" |
//! | `sendfile` | file to socket inside the kernel, without a worker that waits for a disk |
//! | `whole` | reading and writing until all is done |
//! | `closed`, `offset`, `options` | closing while somebody waits, places in a file, socket options |
//!
//! The rule of the room: **the system call comes first**. Nothing is registered, locked or allocated for an
//! operation that can be done at once; only `EAGAIN` leads to the event loop of the worker (`driver`), and
//! only then does a host block.

pub(crate) mod closed;
pub(crate) mod offset;
pub(crate) mod options;
mod sendfile;
pub(crate) mod socket;
pub(crate) mod whole;
