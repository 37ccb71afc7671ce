//! Pipes, standard input and output, and descriptors of one's own, which block only the calling host.
//!
//! ```
//! use std::io::Write;
//!
//! # lamprey::run(|| -> std::io::Result<()> {
//! let (reader, mut writer) = lamprey::io::pipe()?;
//! lamprey::spawn(move || writeln!(writer, "hello").unwrap());
//! assert_eq!(std::io::read_to_string(reader)?, "hello\n");
//! # Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```
//! Traits and helpers are those of [`std::io`]: `BufReader`, `copy`, `Read`, `Write` work with all types of this crate that
//! read or write.
//!
//! | to do | use |
//! |---|---|
//! | read what the user types, or what is piped in | [`stdin`] |
//! | write to standard output or error, however slow the reader | [`stdout`], [`stderr`] |
//! | connect hosts, children, or what needs a descriptor | [`pipe`] |
//! | wait for a descriptor of your own | [`Descriptor`] |
//! | sockets, files, children | [`net`](crate::net), [`fs`](crate::fs), [`process`](crate::process) |

// | file | content |
// |---|---|
// | `socket` | a non-blocking descriptor with its readiness: try, and wait on `EAGAIN` |
// | `sendfile` | file to socket inside the kernel; the worker does not wait for the disk |
// | `simulated` | how sockets of a simulation end |
// | `whole` | reading and writing until all is done |
// | `descriptor`, `pipe`, `stdio` | the public types |
// | `waiting` | blocking calls that wait for a future |
// | `ready`, `broken_pipe` | `poll(2)` that does not wait; `SIGPIPE` |
// | `closed`, `offset`, `options` | the error of a closed socket, valid file offsets, socket options |
//
// The rule of the room: **the system call comes first**. Nothing is registered, locked or allocated for an
// operation that succeeds at once; only `EAGAIN` leads to the event loop of the worker (`driver`), and only
// then does a host block.

mod broken_pipe;
pub(crate) mod closed;
mod descriptor;
pub(crate) mod offset;
pub(crate) mod options;
mod pipe;
pub(crate) mod ready;
mod sendfile;
pub(crate) mod simulated;
pub(crate) mod socket;
pub(crate) mod stdio;
pub(crate) mod waiting;
pub(crate) mod whole;

pub use descriptor::{Descriptor, Interest};
pub use pipe::{PipeReader, PipeWriter, pipe};
pub use stdio::{Lines, Stderr, StderrLock, Stdin, StdinLock, Stdout, StdoutLock, stderr, stdin, stdout};
