//! The open connections: what is shut down when a stop takes too long.
//!
//! Invariant: every stream that a connection still uses is listed. The list also has entries of streams that
//! are gone, but is never longer than twice the live ones of its last sweep (or [`SMALLEST_SWEEP`]).

use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use lamprey::net::TcpStream;

/// A list shorter than this is not swept.
const SMALLEST_SWEEP: usize = 64;

/// Streams that belong to connections. The list keeps no socket open.
pub(crate) struct OpenStreams(Mutex<List>);

struct List {
    streams: Vec<Weak<TcpStream>>,
    /// The length at which streams that are gone are dropped from the list.
    sweep_at: usize,
}

impl OpenStreams {
    pub(crate) fn new() -> OpenStreams {
        OpenStreams(Mutex::new(List { streams: Vec::new(), sweep_at: SMALLEST_SWEEP }))
    }

    /// Lists `stream` until its last owner drops it.
    pub(crate) fn add(&self, stream: &Arc<TcpStream>) {
        let mut list = self.list();
        if list.streams.len() >= list.sweep_at {
            list.streams.retain(|stream| stream.strong_count() > 0);
            // Twice the live ones: a sweep costs constant time for each connection that is added.
            list.sweep_at = (2 * list.streams.len()).max(SMALLEST_SWEEP);
        }
        list.streams.push(Arc::downgrade(stream));
    }

    /// Shuts all streams down: reads of their connections see the end, writes fail.
    pub(crate) fn shut_down(&self) {
        for stream in self.list().streams.iter().filter_map(Weak::upgrade) {
            // An error means that the connection has ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// The list, for a moment in which no host can block.
    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lamprey::net::TcpListener;
    use std::io::Read;
    use std::net::TcpStream as Client;

    #[test]
    fn ended_connections_are_swept_and_live_ones_shut_down() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let accept = || {
            let client = Client::connect(listener.local_addr().unwrap()).unwrap();
            (client, Arc::new(listener.accept().unwrap().0))
        };
        let open = OpenStreams::new();
        let (mut client, live) = accept();
        open.add(&live);
        for _ in 0..10 * SMALLEST_SWEEP {
            open.add(&accept().1);
        }
        let listed = open.list().streams.len();
        assert!(listed <= SMALLEST_SWEEP, "{listed} streams are listed");
        open.shut_down();
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        assert_eq!((&*live).read(&mut [0]).unwrap(), 0);
    }
}
