//! A server that ends well: at SIGTERM or Ctrl-C it accepts no more, lets the open conversations come to their end, cancels
//! those that take too long, and says what it has done.
//!
//! ```sh
//! cargo run -p lamprey --example graceful -- 127.0.0.1:7000 10
//! ```
//! Each line that a client sends comes back in capitals. The second argument is how many seconds the conversations
//! have left. Without arguments it serves a client of its own, and sends itself the signal.

use lamprey::net::{TcpListener, TcpStream};
use lamprey::process::Command;
use lamprey::signal::{self, Signal};
use lamprey::{CancelToken, scope, spawn};
use std::io::{self, BufRead, BufReader, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Default)]
struct Counts {
    lines: AtomicUsize,
    ended: AtomicUsize,
    cut_off: AtomicUsize,
}

/// A conversation. It counts how it has ended, however it does.
fn talk(mut stream: &TcpStream, counts: &Counts) {
    /// Unwound, it was cut off.
    struct CutOff<'a>(&'a Counts);
    impl Drop for CutOff<'_> {
        fn drop(&mut self) {
            self.0.cut_off.fetch_add(1, Ordering::Relaxed); // Relaxed: read when all have ended
        }
    }
    let cut_off = CutOff(counts);
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        counts.lines.fetch_add(1, Ordering::Relaxed); // Relaxed: as above
        if writeln!(stream, "{}", line.to_uppercase()).is_err() {
            break;
        }
    }
    std::mem::forget(cut_off);
    counts.ended.fetch_add(1, Ordering::Relaxed); // Relaxed: as above
}

/// Serves until a signal comes, and then for at most `grace`.
fn serve(listener: &TcpListener, grace: Duration) -> io::Result<Counts> {
    let (stop, counts) = (CancelToken::new(), Counts::default());
    let signals = signal::listen(&[Signal::TERM, Signal::INT])?;
    scope(|s| {
        s.spawn(|| {
            if let Ok(signal) = signals.recv() {
                println!("{signal}: no new connections");
                stop.cancel();
            }
        });
        let serving = listener.serving().until(&stop).finish_within(grace);
        let ended = serving.serve(s, |stream, _| talk(&stream, &counts));
        s.cancel(); // who waits for a signal, if an error has come first
        ended
    })?;
    Ok(counts)
}

/// A client that has a word before the signal, and one after it.
fn demonstrate(address: std::net::SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let mut answers = BufReader::new(stream.try_clone()?).lines();
    let mut say = |text: &str| -> io::Result<()> {
        writeln!(stream, "{text}")?;
        println!("{}", answers.next().transpose()?.unwrap_or_default());
        Ok(())
    };
    say("hello")?;
    Command::new("kill").args(["-TERM", &std::process::id().to_string()]).status()?;
    say("goodbye")
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next();
    let grace = arguments.next().unwrap_or("10".to_owned());
    let seconds = grace.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let grace = seconds.ok_or_else(|| format!("{grace} seconds are no time"))?;
    lamprey::run(|| {
        let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0"))?;
        let here = listener.local_addr()?;
        println!("listening on {here}");
        let shows = address.is_none().then(|| spawn(move || demonstrate(here)));
        let Counts { lines, ended, cut_off } = serve(&listener, grace)?;
        let count = AtomicUsize::into_inner;
        println!("{} lines; {} conversations ended, {} cut off", count(lines), count(ended), count(cut_off));
        Ok(shows.map_or(Ok(()), |shows| shows.join().unwrap())?)
    })
}
