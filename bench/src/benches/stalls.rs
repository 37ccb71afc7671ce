//! Who waits while a thread computes on one of two workers.
//!
//! A thread starts another one (or a parasite) and then computes, without a blocking call, for as long as the size says. What the other one waits for
//! comes soon; the sample is how much later than that it runs. In `spawner` it is the thread itself that sleeps, and what it has
//! started computes.

use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::tokio_stalls;
use anyhow::Result;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// When what is waited for comes.
pub const SOON: Duration = Duration::from_millis(10);

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "stalls",
    about: "us that a thread waits for too long while another one computes for 1 s (quick: 0.2 s) on one of two workers: for a timer, \
            a socket, a message from outside (parasites, tasks), to be started (unstarted), and asleep beside what it has spawned \
            (spawner)",
    workers: &[2],
    size: Size::Exactly { full: 1000, quick: 200, tiny: 50 },
    runs: 5,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival("tokio", tokio_stalls::stalls),
        Variant::go(),
    ],
};

/// Computes for so long.
pub fn compute(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The samples of all kinds; `late` runs one of them, and says how late it was.
pub fn samples(mut late: impl FnMut(&str) -> Result<Duration>) -> Result<Vec<Sample>> {
    let kinds = ["timer", "socket", "message", "unstarted", "spawner"];
    kinds.iter().map(|kind| Ok(Sample::new(kind, "us", late(kind)?.as_secs_f64() * 1e6))).collect()
}

/// A byte that comes soon after the connection has been accepted; says when on the channel.
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

/// Calls `send` soon, from a kernel thread of its own; says when on the channel.
pub fn soon_from_outside(says: Sender<Instant>, send: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        thread::sleep(SOON);
        let _ = says.send(Instant::now());
        send();
    });
}

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::runtime(workers)?;
    Ok(Box::new(move |milliseconds| {
        let long = Duration::from_millis(milliseconds);
        samples(|kind| {
            let (ran, runs) = mpsc::channel();
            let (says, due) = mpsc::channel();
            let kind = kind.to_owned();
            // Whoever computes is a host of its own, and not the main one, for which an OS thread waits.
            runtime.run(move || {
                lamprey::spawn(move || stall(&kind, long, ran, says)).join().expect("it ends")
            })?;
            Ok(runs.recv()?.saturating_duration_since(due.recv()?))
        })
    }))
}

fn stall(kind: &str, long: Duration, ran: Sender<Instant>, says: Sender<Instant>) -> Result<()> {
    let tell = move || ran.send(Instant::now()).expect("the bench waits for it");
    match kind {
        "timer" => {
            says.send(Instant::now() + SOON)?;
            lamprey::parasite(async move {
                lamprey::sleep_async(SOON).await;
                tell();
            })
            .detach();
        }
        "socket" => {
            let stream = lamprey::net::TcpStream::from_std(TcpStream::connect(byte_from_outside(says)?)?)?;
            lamprey::parasite(async move {
                let mut byte = [0];
                stream.read_async(&mut byte).await.expect("a byte comes");
                tell();
            })
            .detach();
        }
        "message" => {
            let (tx, rx) = lamprey::bounded(1);
            soon_from_outside(says, move || tx.send(()).expect("it is waited for"));
            lamprey::parasite(async move {
                rx.recv_async().await.expect("it comes");
                tell();
            })
            .detach();
        }
        "unstarted" => {
            says.send(Instant::now())?;
            drop(lamprey::spawn(tell));
        }
        _ => {
            let computes = lamprey::spawn(move || compute(long));
            says.send(Instant::now() + SOON)?;
            lamprey::sleep(SOON);
            tell();
            computes.join().expect("it ends");
            return Ok(());
        }
    }
    compute(long);
    Ok(())
}
