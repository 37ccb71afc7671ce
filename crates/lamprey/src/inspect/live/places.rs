//! The connections that are open. A client that is waited for gives up its place when another one comes and all are taken.
//!
//! Who asks at once, and reads what it gets, is waited for during a moment only. So clients that are slow, or mean it ill, cannot keep an operator
//! out, however many they are.

use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Most connections at a time.
pub(super) const MOST: usize = 32;
/// Most kernel threads that serve them, with those that are about to end.
const MOST_THREADS: usize = 2 * MOST;

struct Place {
    stream: Arc<TcpStream>,
    /// The moment since which it is the client's turn to ask, or to read. `None` while an answer is made.
    waits_since: Option<Instant>,
    /// It has been closed for another client; its kernel thread will notice.
    is_given_up: bool,
}

#[derive(Default)]
pub(super) struct Places(Mutex<Vec<Place>>);

impl Places {
    /// A place for a connection. `false` if there is none: an answer is being made for each of the others.
    pub(super) fn take(&self, stream: &Arc<TcpStream>) -> bool {
        let mut places = self.lock();
        if places.len() >= MOST_THREADS {
            return false;
        }
        if places.iter().filter(|place| !place.is_given_up).count() >= MOST {
            let waiting = places.iter_mut().filter(|place| !place.is_given_up && place.waits_since.is_some());
            let Some(slowest) = waiting.min_by_key(|place| place.waits_since) else { return false };
            slowest.is_given_up = true;
            let _ = slowest.stream.shutdown(Shutdown::Both);
        }
        places.push(Place { stream: stream.clone(), waits_since: Some(Instant::now()), is_given_up: false });
        true
    }

    /// From now on it is the client's turn.
    pub(super) fn wait(&self, stream: &TcpStream) {
        self.set(stream, Some(Instant::now()));
    }

    /// From now on an answer is made.
    pub(super) fn answer(&self, stream: &TcpStream) {
        self.set(stream, None);
    }

    fn set(&self, stream: &TcpStream, waits_since: Option<Instant>) {
        let mut places = self.lock();
        if let Some(place) = places.iter_mut().find(|place| std::ptr::eq(&*place.stream, stream)) {
            place.waits_since = waits_since;
        }
    }

    /// The connection has ended. True if it was the last one.
    pub(super) fn leave(&self, stream: &TcpStream) -> bool {
        let mut places = self.lock();
        places.retain(|place| !std::ptr::eq(&*place.stream, stream));
        places.is_empty()
    }

    /// Ends all connections.
    pub(super) fn close(&self) {
        for place in &*self.lock() {
            let _ = place.stream.shutdown(Shutdown::Both);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
