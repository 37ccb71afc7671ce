//! What a look-up has found, in a form that many can have.

use rustix::event::{EventfdFlags, eventfd};
use std::ffi::CStr;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The answer for a name.
#[derive(Clone, Debug)]
pub(in crate::net) struct Answer {
    /// The addresses, with the port 0; or the error.
    pub(in crate::net) found: Result<Arc<[SocketAddr]>, Failure>,
    pub(in crate::net) keep: Keep,
}

/// For how long an answer is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::net) enum Keep {
    /// As long as the cache says.
    AsUsual,
    /// So long, if the cache has nothing against it.
    #[cfg_attr(not(feature = "hickory"), allow(dead_code, reason = "only DNS knows it"))]
    AtMost(Duration),
    /// It says nothing of the name.
    Not,
}

/// An [`io::Error`] that can be copied.
#[derive(Clone, Debug)]
pub(in crate::net) struct Failure {
    pub(in crate::net) kind: io::ErrorKind,
    pub(in crate::net) text: Arc<str>,
}

impl Answer {
    /// The addresses with this port.
    pub(super) fn at_port(&self, port: u16) -> io::Result<Vec<SocketAddr>> {
        match &self.found {
            Ok(addresses) => Ok(addresses.iter().copied().map(|address| with_port(address, port)).collect()),
            Err(failure) => Err(io::Error::new(failure.kind, failure.text.to_string())),
        }
    }
}

fn with_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}

/// Asks the C library. Blocks the kernel thread.
pub(super) fn ask_the_system(host: &str) -> Answer {
    match std::net::ToSocketAddrs::to_socket_addrs(&(host, 0)) {
        Ok(addresses) => Answer { found: Ok(addresses.collect()), keep: Keep::AsUsual },
        Err(error) => {
            let is_none = says_that_there_is_none(&error);
            let error = if is_none { shortage().unwrap_or(error) } else { error };
            // An error of the system, such as no descriptors, says nothing of the name.
            let is_of_system = error.raw_os_error().is_some();
            let keep = if is_of_system { Keep::Not } else { Keep::AsUsual };
            let kind = if is_none && !is_of_system { io::ErrorKind::NotFound } else { error.kind() };
            Answer { found: Err(failure(kind, host, &error)), keep }
        }
    }
}

/// The answer when nobody can ask, for this reason.
pub(super) fn not_asked(host: &str, error: &io::Error) -> Answer {
    Answer { found: Err(failure(error.kind(), host, error)), keep: Keep::Not }
}

/// The resolver's error, and that of a pool, does not contain the name.
fn failure(kind: io::ErrorKind, host: &str, error: &io::Error) -> Failure {
    Failure { kind, text: format!("cannot look up \"{host}\": {error}").into() }
}

/// What keeps the process from reading files and asking servers, if anything does: the C library then says that there is no such name.
fn shortage() -> Option<io::Error> {
    eventfd(0, EventfdFlags::CLOEXEC).err().map(Into::into)
}

/// True if the name is none, or has no address. `std` says so only in the C library's words; and of a text with a NUL, which the
/// C library cannot be asked for, that the input is bad.
fn says_that_there_is_none(error: &io::Error) -> bool {
    let is_said = |code| {
        // SAFETY: the call takes any number, and returns a text that lives as long as the process.
        let text = unsafe { CStr::from_ptr(libc::gai_strerror(code)) };
        error.to_string().ends_with(&*text.to_string_lossy())
    };
    error.kind() == io::ErrorKind::InvalidInput
        || [libc::EAI_NONAME, libc::EAI_NODATA].into_iter().any(is_said)
}
