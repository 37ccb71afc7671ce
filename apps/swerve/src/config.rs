//! The configuration of a server. All limits are here, so that tests can use small ones.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What to serve, where, and within which limits.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use swerve::Config;
/// let mut config = Config::new("site", "127.0.0.1:0".parse().unwrap());
/// config.limits.idle_time = Duration::from_secs(5);
/// assert_eq!(config.limits.head_bytes, 16 * 1024);
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder whose files are served. Symbolic links that lead out of it are refused.
    pub root: PathBuf,
    /// The address to listen on; port 0 takes a free port.
    pub addr: SocketAddr,
    /// Whether a line for each request is written to standard output.
    pub log: bool,
    /// What a client may use of time and memory.
    pub limits: Limits,
}

impl Config {
    /// Serves `root` on `addr`, without a log, within the default limits.
    pub fn new(root: impl Into<PathBuf>, addr: SocketAddr) -> Config {
        Config { root: root.into(), addr, log: false, limits: Limits::default() }
    }
}

/// What a client may use of time and memory, and how long the server trusts its cache.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest header block (request line and fields) in bytes; a longer one is answered with 431.
    pub head_bytes: usize,
    /// The longest request target in bytes; a longer one is answered with 414.
    pub target_bytes: usize,
    /// The longest request body in bytes that is read and dropped; a longer one ends the connection.
    pub body_bytes: u64,
    /// How long a request may take to arrive, from its first byte to its last; after that the answer is 408.
    pub head_time: Duration,
    /// How long a connection may wait for a request; after that it is answered with 408.
    pub idle_time: Duration,
    /// How long a peer may take none of the bytes sent to it; after that the connection ends.
    pub write_time: Duration,
    /// How long the bytes of a refused peer are still read, so that the answer reaches it.
    pub linger_time: Duration,
    /// How long a server that stops waits for the requests that run.
    pub stop_time: Duration,
    /// The most connections at once; more wait in the kernel's queue.
    pub connections: usize,
    /// The oldest answer from memory: a changed file is seen within this time.
    pub fresh: Duration,
    /// The largest file in bytes that is kept in memory; larger ones are streamed.
    pub small_bytes: u64,
    /// How many bytes of files are kept in memory.
    pub cache_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head_bytes: 16 * 1024,
            target_bytes: 8 * 1024,
            body_bytes: 64 * 1024,
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(60),
            write_time: Duration::from_secs(60),
            linger_time: Duration::from_secs(2),
            stop_time: Duration::from_secs(5),
            connections: 65_536,
            fresh: Duration::from_secs(1),
            small_bytes: 256 * 1024,
            cache_bytes: 64 * 1024 * 1024,
        }
    }
}
