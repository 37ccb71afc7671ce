//! What a look-up has found, in a form that many can have.

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
            // An error of the system, such as no descriptors, says nothing of the name.
            let keep = if error.raw_os_error().is_some() { Keep::Not } else { Keep::AsUsual };
            // The resolver's error does not contain the name.
            let text = format!("cannot look up \"{host}\": {error}").into();
            Answer { found: Err(Failure { kind: error.kind(), text }), keep }
        }
    }
}
