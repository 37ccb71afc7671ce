//! A TCP proxy that looks after its backends: each is tried every so often, and connections go round those that answered.
//!
//! A health check is a connect with a time limit. A connection for which no backend can be had is closed.
//!
//! ```sh
//! cargo run -p lamprey --example proxy -- 127.0.0.1:7000 127.0.0.1:8001 127.0.0.1:8002
//! ```
//! Without arguments it has two backends of its own, one of which dies. Ctrl-C ends it.

use lamprey::net::{Shutdown, TcpListener, TcpStream};
use lamprey::{CancelToken, interval, scope, signal, spawn};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const EVERY: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(5);

struct Backend {
    address: SocketAddr,
    /// What the last check said.
    is_up: AtomicBool,
}

impl Backend {
    fn new(address: SocketAddr) -> Self {
        Self { address, is_up: AtomicBool::new(false) }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&self.address, PATIENCE)
    }

    /// Notes whether it answers, and says so if that is new.
    fn note(&self, is_up: bool) {
        // Relaxed: nothing else is published by it.
        if self.is_up.swap(is_up, Ordering::Relaxed) != is_up {
            println!("{} is {}", self.address, if is_up { "up" } else { "down" });
        }
    }

    /// Checks it again and again.
    fn check(&self) {
        let mut ticks = interval(EVERY);
        loop {
            ticks.tick();
            self.note(self.connect().is_ok());
        }
    }
}

/// A connection to the next backend that is up.
fn pick(backends: &[Backend], turn: &AtomicUsize) -> Option<TcpStream> {
    // Relaxed: any order of turns is fair.
    let first = turn.fetch_add(1, Ordering::Relaxed);
    let round = (0..backends.len()).map(|n| &backends[(first + n) % backends.len()]);
    round
        .filter(|backend| backend.is_up.load(Ordering::Relaxed))
        .find_map(|backend| backend.connect().inspect_err(|_| backend.note(false)).ok())
}

/// Copies in both directions until both are at their end.
fn join(client: &TcpStream, backend: &TcpStream) {
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        // An error ends this direction, as the end of the stream does.
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    };
    scope(|s| {
        s.spawn(|| copy(client, backend));
        copy(backend, client);
    });
}

/// Serves until `stop` is cancelled.
fn serve(listener: &TcpListener, backends: &[Backend], stop: &CancelToken) -> io::Result<()> {
    let turn = AtomicUsize::new(0);
    scope(|s| {
        backends.iter().for_each(|backend| drop(s.spawn(|| backend.check())));
        let ended = listener.serving().until(stop).serve(s, |client, _| match pick(backends, &turn) {
            Some(backend) => join(&client, &backend),
            None => println!("no backend is up"),
        });
        s.cancel();
        ended
    })
}

/// A backend that greets with its number, and hangs up.
fn greeter(number: usize) -> io::Result<(SocketAddr, lamprey::JoinHandle<()>)> {
    use io::Write;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let greets = move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.write_all(format!("backend {number}").as_bytes()); // an error: only a check
        }
    };
    Ok((address, spawn(greets)))
}

/// Connects until an answer is as wanted.
fn until(proxy: SocketAddr, wanted: &str) -> io::Result<()> {
    while io::read_to_string(TcpStream::connect(proxy)?)? != wanted {
        lamprey::sleep(EVERY);
    }
    println!("served by {wanted}");
    Ok(())
}

/// The first of two backends dies.
fn demonstrate(proxy: SocketAddr, first: lamprey::JoinHandle<()>) -> io::Result<()> {
    until(proxy, "backend 1")?;
    let _ = first.cancel_and_join(); // an error: it was cancelled
    until(proxy, "backend 2")
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let here = arguments.next();
    let addresses: Vec<SocketAddr> = arguments
        .map(|text| text.parse().map_err(|error| format!("{text}: {error}")))
        .collect::<Result<_, _>>()?;
    lamprey::run(|| {
        let (listener, stop) =
            (TcpListener::bind(here.as_deref().unwrap_or("127.0.0.1:0"))?, CancelToken::new());
        let proxy = listener.local_addr()?;
        println!("listening on {proxy}");
        let (signals, ends) = (signal::ctrl_c()?, stop.clone());
        spawn(move || signals.recv().map(|_| ends.cancel()));
        let mut backends: Vec<_> = addresses.into_iter().map(Backend::new).collect();
        let mut shows = None;
        if here.is_none() {
            let [(one, first), (two, _)] = [greeter(1)?, greeter(2)?];
            backends.extend([Backend::new(one), Backend::new(two)]);
            let ends = stop.clone();
            shows = Some(spawn(move || {
                let shown = demonstrate(proxy, first);
                ends.cancel();
                shown
            }));
        }
        serve(&listener, &backends, &stop)?;
        Ok(shows.map_or(Ok(()), |shows| shows.join().unwrap())?)
    })
}
