//! Who is connected, and how they end.
//!
//! Invariant: a peer is listed from its acceptance until its [`Seat`] is dropped, whatever ends its host.
//! Once `stopping` is set, no peer goes on waiting for a request: each one either sees it before it waits, or
//! is seen waiting by [`Live::stop`].
//!
//! # Orderings
//! The two sides write one flag and read the other (`idle` then `stopping` in `Peer::idle`, `stopping` then
//! `idle` in `Live::stop`): a StoreLoad race. These four accesses are SeqCst; with anything weaker both sides
//! could read the old value, and the connection would hold up the stop.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lamprey::net::TcpStream;

/// The connections of a server.
pub(crate) struct Live {
    stopping: Arc<AtomicBool>,
    table: Mutex<Table>,
}

struct Table {
    peers: HashMap<u64, Arc<Peer>>,
    next: u64,
    /// Connections for each worker.
    load: Vec<usize>,
}

/// One connection.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    pub(crate) addr: SocketAddr,
    /// Waits for a request of which nothing has come.
    idle: AtomicBool,
    stopping: Arc<AtomicBool>,
}

/// A place in the list: dropping it takes the peer off.
pub(crate) struct Seat {
    live: Arc<Live>,
    id: u64,
    pub(crate) peer: Arc<Peer>,
    /// The worker that has the fewest connections.
    pub(crate) worker: usize,
}

impl Live {
    pub(crate) fn new() -> Live {
        let table = Table { peers: HashMap::new(), next: 0, load: vec![0] };
        Live { stopping: Arc::default(), table: Mutex::new(table) }
    }

    /// Spreads the connections to come over this many workers. To be called before the first one.
    pub(crate) fn spread_over(&self, workers: usize) {
        self.table().load.resize(workers, 0);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a new connection.
    pub(crate) fn enter(self: &Arc<Live>, stream: TcpStream, addr: SocketAddr) -> Seat {
        let peer =
            Arc::new(Peer { stream, addr, idle: AtomicBool::new(false), stopping: self.stopping.clone() });
        let mut table = self.table();
        let worker = (0..table.load.len()).min_by_key(|&worker| table.load[worker]).unwrap_or(0);
        let id = table.next;
        table.next += 1;
        table.load[worker] += 1;
        table.peers.insert(id, peer.clone());
        Seat { live: self.clone(), id, peer, worker }
    }

    /// How many are connected.
    pub(crate) fn count(&self) -> usize {
        self.table().peers.len()
    }

    pub(crate) fn stopping(&self) -> bool {
        // Acquire: pairs with the SeqCst store in `stop`, so that who sees the listener closed also sees why.
        self.stopping.load(Ordering::Acquire)
    }

    /// Lets the requests that run finish, and ends the connections that wait for one.
    pub(crate) fn stop(&self) {
        // SeqCst: pairs with the load in `Peer::idle`, the StoreLoad race of Orderings.
        self.stopping.store(true, Ordering::SeqCst);
        for peer in self.table().peers.values() {
            // SeqCst: pairs with the store in `Peer::idle`, the StoreLoad race of Orderings.
            if peer.idle.load(Ordering::SeqCst) {
                peer.stop_reading();
            }
        }
    }

    /// Ends all connections at once.
    pub(crate) fn cut(&self) {
        for peer in self.table().peers.values() {
            // The error says that it has ended by itself.
            let _ = peer.stream.shutdown(Shutdown::Both);
        }
    }
}

impl Peer {
    /// Waits with `wait` for the first byte of a request. When the server stops, a wait that has got nothing
    /// ends as if the peer had closed; a request that has come already is still read.
    pub(crate) fn idle(&self, wait: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        // SeqCst: pairs with the load in `Live::stop`, the StoreLoad race of Orderings.
        self.idle.store(true, Ordering::SeqCst);
        // SeqCst: pairs with the store in `Live::stop`, the StoreLoad race of Orderings.
        if self.stopping.load(Ordering::SeqCst) {
            self.stop_reading();
        }
        let result = wait();
        // Relaxed: a stop that still sees `true` ends the next wait, which it should.
        self.idle.store(false, Ordering::Relaxed);
        result
    }

    fn stop_reading(&self) {
        // The error says that it has ended by itself.
        let _ = self.stream.shutdown(Shutdown::Read);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.live.table();
        table.peers.remove(&self.id);
        table.load[self.worker] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lamprey::net::TcpListener;
    use std::io::{Read, Write};
    use std::net::TcpStream as Client;

    fn pair(listener: &TcpListener) -> (Client, TcpStream, SocketAddr) {
        let client = Client::connect(listener.local_addr().unwrap()).unwrap();
        let (server, addr) = listener.accept().unwrap();
        (client, server, addr)
    }

    #[test]
    fn new_ones_go_to_the_worker_with_the_fewest() {
        let (listener, live) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(Live::new()));
        live.spread_over(2);
        let mut clients = Vec::new();
        let mut enter = || {
            let (client, server, addr) = pair(&listener);
            clients.push(client);
            live.enter(server, addr)
        };
        let (first, second, third) = (enter(), enter(), enter());
        assert_eq!((first.worker, second.worker, third.worker), (0, 1, 0));
        drop(first);
        drop(third);
        assert_eq!(live.count(), 1);
        assert_eq!(enter().worker, 0);
    }

    #[test]
    fn stop_before_the_wait_ends_it_but_what_has_come_is_read() {
        let (listener, live) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(Live::new()));
        let (mut client, server, addr) = pair(&listener);
        let seat = live.enter(server, addr);
        client.write_all(b"abc").unwrap();
        live.stop();
        let mut buffer = [0; 8];
        let mut read = || seat.peer.idle(|| (&seat.peer.stream).read(&mut buffer)).unwrap();
        assert_eq!((read(), read()), (3, 0));
    }

    #[test]
    fn stop_during_the_wait_ends_it() {
        let (listener, live) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(Live::new()));
        let (_client, server, addr) = pair(&listener);
        let seat = live.enter(server, addr);
        let peer = seat.peer.clone();
        let waiting = std::thread::spawn(move || peer.idle(|| (&peer.stream).read(&mut [0; 8])).unwrap());
        while !seat.peer.idle.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        live.stop();
        assert_eq!(waiting.join().unwrap(), 0);
    }
}
