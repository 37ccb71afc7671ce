//! Accepting connections.
//!
//! Invariant: only a stop ends the loop. Running out of descriptors, memory or seats makes it wait a little,
//! so that connections that end make room, and is reported now and then.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lamprey::net::TcpListener;

use crate::conn;
use crate::server::Shared;

/// How long to wait when there is no room: short for a client, long for a processor.
const PAUSE: Duration = Duration::from_millis(10);
/// How often trouble that goes on is reported.
const REPEAT: Duration = Duration::from_secs(10);

/// Accepts until the server stops.
pub(crate) fn run(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut trouble = Trouble::default();
    while !shared.live.stopping() {
        let seats = shared.limits.connections;
        if shared.live.count() >= seats {
            trouble.pause(&format!("{seats} connections are open, which is the limit: new ones wait"));
            continue;
        }
        match accept(listener, shared) {
            Ok(()) => {}
            Err(_) if shared.live.stopping() => return,
            // The peer gave up while it waited in the queue.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => trouble.pause(&format!("cannot take a connection: {error}; new ones wait")),
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) -> io::Result<()> {
    let (stream, addr) = listener.accept()?;
    let seat = shared.live.enter(stream, addr);
    let shared = shared.clone();
    // The handle is not kept: a connection's end is seen in the list, a panic is reported by the runtime.
    lamprey::Builder::new().worker(seat.worker).spawn(move || conn::serve(&shared, &seat)).map(drop)
}

/// When something was wrong last, so that it is said now and then and not a hundred times a second.
#[derive(Default)]
struct Trouble(Option<Instant>);

impl Trouble {
    fn pause(&mut self, what: &str) {
        if self.0.is_none_or(|said| said.elapsed() >= REPEAT) {
            crate::say(what);
            self.0 = Some(Instant::now());
        }
        lamprey::sleep(PAUSE);
    }
}
