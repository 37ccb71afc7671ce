//! The events that another thread waits for: their time and their source.

use crate::harness::Sample;
use anyhow::Result;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

/// The time until the event.
pub const SOON: Duration = Duration::from_millis(10);

/// Computes for `time`.
pub fn compute(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The samples of all kinds; `late` runs one kind, and returns the delay.
pub fn samples(mut late: impl FnMut(&str) -> Result<Duration>) -> Result<Vec<Sample>> {
    let kinds = ["timer", "socket", "message", "unstarted", "spawner"];
    kinds.iter().map(|kind| Ok(Sample::new(kind, "us", late(kind)?.as_secs_f64() * 1e6))).collect()
}

/// Sends a byte soon after the connection was accepted; sends the time of that on the channel.
pub fn byte_from_outside(says: Sender<Instant>) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || -> Result<()> {
        let (mut stream, _) = listener.accept()?;
        thread::sleep(SOON);
        says.send(Instant::now())?;
        stream.write_all(b"x")?;
        // Until the other side has read it.
        thread::sleep(SOON);
        Ok(())
    });
    Ok(address)
}

/// Calls `send` soon, from a new kernel thread; sends the time of that on the channel.
pub fn soon_from_outside(says: Sender<Instant>, send: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        thread::sleep(SOON);
        let _ = says.send(Instant::now());
        send();
    });
}
