//! The endpoint: its socket, and the kernel thread that takes connections.

use super::connection;
use super::places::{MOST, Places};
use super::response::Answer;
use super::routes::Answers;
use crate::sched::affinity::unpinned;
use crate::sched::os::LooksOnly;
use crate::sync_shim::watched::Mutex;
use crate::sync_shim::{AtomicBool, Ordering};
use rustix::net::{Shutdown, shutdown};
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The shortest token.
const SHORTEST: usize = 16;

/// What makes the text for Prometheus: the program's.
pub(super) type Metrics = dyn Fn() -> String + Send + Sync;

/// An endpoint, as its kernel threads share it.
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    /// What a request has to name.
    pub(super) token: Option<Box<str>>,
    pub(super) answers: Answers,
    /// Makes the text for Prometheus.
    pub(super) metrics: Mutex<Option<Arc<Metrics>>>,
    listener: TcpListener,
    is_closed: AtomicBool,
    pub(super) places: Places,
}

impl Endpoint {
    pub(super) fn open(address: &str, token: Option<&str>) -> io::Result<Arc<Self>> {
        let wanted = parse(address)?;
        if let Some(token) = token {
            check(token)?;
        } else if !wanted.ip().to_canonical().is_loopback() {
            return Err(invalid(format!(
                "`{address}` can be reached from other machines: serve at 127.0.0.1, or with a token (inspect::serve_with_token)"
            )));
        }
        let cannot =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot serve at `{address}`: {error}"));
        let listener = TcpListener::bind(wanted).map_err(cannot)?;
        let this = Arc::new(Self {
            address: listener.local_addr()?,
            token: token.map(Into::into),
            answers: Answers::default(),
            metrics: Mutex::default(),
            listener,
            is_closed: AtomicBool::new(false),
            places: Places::default(),
        });
        let theirs = this.clone();
        // `lamprey dump PID` finds the port by this name, of which the kernel keeps 15 bytes.
        let name = format!("lamprey:{}", this.address.port());
        thread::Builder::new().name(name).spawn(unpinned(move || theirs.accept()))?;
        Ok(this)
    }

    /// The kernel thread that takes connections, until the endpoint is closed.
    fn accept(self: Arc<Self>) {
        let _looks_only = LooksOnly::begin();
        loop {
            let taken = self.listener.accept();
            // Acquire pairs with the Release store in `close`.
            if self.is_closed.load(Ordering::Acquire) {
                return;
            }
            match taken {
                Ok((stream, _)) => self.take(Arc::new(stream)),
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                // No descriptor or memory is left; maybe there is in a while.
                Err(_) => thread::sleep(Duration::from_millis(200)),
            }
        }
    }

    /// Serves a connection on a kernel thread of its own: a slow client holds up nobody else.
    fn take(self: &Arc<Self>, stream: Arc<TcpStream>) {
        if !self.places.take(&stream) {
            let many = Answer::error(503, format!("{MOST} clients are being answered already"));
            // What does not fit into the socket's buffer is not worth a wait.
            let _ = stream.set_nonblocking(true);
            let _ = (&*stream).write_all(&many.to_bytes(false, false));
            return;
        }
        let (this, its) = (self.clone(), stream.clone());
        let serve = move || {
            let _looks_only = LooksOnly::begin();
            // A fault of ours ends one connection. The panic hook has reported it.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| connection::serve(&this, &its)));
            this.forget(&its);
        };
        if thread::Builder::new().name("lamprey-live".to_owned()).spawn(serve).is_err() {
            self.forget(&stream);
        }
    }

    /// A connection has ended. After the last one no memory is kept.
    fn forget(&self, stream: &TcpStream) {
        if self.places.leave(stream) {
            self.answers.forget();
        }
    }

    /// Takes no more connections, and ends those that are open.
    pub(super) fn close(&self) {
        // Release pairs with the Acquire load in `accept`.
        self.is_closed.store(true, Ordering::Release);
        // A socket that does not listen any more refuses connections, and `accept` fails. Errors: it is over already.
        let _ = shutdown(&self.listener, Shutdown::Both);
        self.places.close();
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, text)
}

fn parse(address: &str) -> io::Result<SocketAddr> {
    let local = address.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    local.or_else(|| address.parse().ok()).ok_or_else(|| {
        invalid(format!("`{address}` is no address to serve at: write IP:PORT, for example 127.0.0.1:0"))
    })
}

/// The characters are those that need no escape in an address.
fn check(token: &str) -> io::Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    // The token itself is not told: an error may end up in a log.
    if token.len() < SHORTEST {
        return Err(invalid(format!(
            "a token of {} bytes is easy to guess: use {SHORTEST} or more",
            token.len()
        )));
    }
    match token.bytes().position(|byte| !is_plain(byte)) {
        Some(at) => Err(invalid(format!("byte {at} of the token is none of A-Z, a-z, 0-9, - . _ ~"))),
        None => Ok(()),
    }
}
