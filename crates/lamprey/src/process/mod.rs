//! Child processes, which block only the calling host.
//!
//! ```
//! use lamprey::process::Command;
//!
//! # lamprey::run(|| -> std::io::Result<()> {
//! let output = Command::new("echo").arg("hello").output()?;
//! assert_eq!((output.status.success(), output.stdout.as_slice()), (true, &b"hello\n"[..]));
//! # Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```
//! [`Command`] and [`Child`] have the shape of those of `std`. The pipes of a child are
//! [`PipeWriter`](crate::io::PipeWriter) and [`PipeReader`](crate::io::PipeReader); its end is waited for by a call, in async code
//! or in a choice of events.
//!
//! # What is left behind
//! No child becomes a zombie for longer than it takes to notice: one that is dropped before it has ended, or whose start or wait
//! was cancelled, is waited for in the background (with [`Command::kill_on_drop`], after it was killed). Nothing is done about
//! children that the program starts by other means, and there is no handler for `SIGCHLD`.

// | file | content |
// |---|---|
// | `command` | `Command`: starting one, on the pool for calls that block |
// | `child` | `Child`: its pipes, signals, its end |
// | `output` | collecting what a child writes |
// | `exit` | waiting for the end: a pidfd as a socket |
// | `reaper` | the end of those that nobody waits for |

mod child;
mod command;
mod exit;
mod output;
mod reaper;

pub use child::Child;
pub use command::Command;
pub use exit::exit_evt;
pub use std::process::{ExitStatus, Output, Stdio};
