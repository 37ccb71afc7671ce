//! Messages to the person who started the server.

use std::io::Write;

/// Prints a message to standard error. If that is closed, the server goes on.
pub(crate) fn notice(message: &str) {
    let _ = writeln!(std::io::stderr(), "lamprey serve: {message}");
}
