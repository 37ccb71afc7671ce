//! Why a server could not start: the value that cannot be used, the error of the system, and what to do.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be served.
    Root {
        /// The folder as it was given.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The address cannot be listened on.
    Listen {
        /// The address as it was given.
        addr: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The thread that writes the log could not be started.
    Log {
        /// The error of the system.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Root { path, source } => {
                write!(f, "cannot serve `{}`: {source}; name a folder that can be read", path.display())
            }
            Error::Listen { addr, source } => {
                write!(f, "cannot listen on {addr}: {source}; ")?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => {
                        write!(
                            f,
                            "stop what listens there, or choose another port with --addr (0 takes a free one)"
                        )
                    }
                    io::ErrorKind::PermissionDenied => write!(f, "choose a port above 1023 with --addr"),
                    _ => write!(f, "choose an address of this machine with --addr"),
                }
            }
            Error::Log { source } => write!(f, "cannot start the log's thread: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Root { source, .. } | Error::Listen { source, .. } | Error::Log { source } => Some(source),
        }
    }
}
