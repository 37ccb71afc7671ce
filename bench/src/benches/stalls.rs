//! The delay of waiting threads while a thread computes on one of two workers.
//!
//! A thread starts another thread (or a parasite) and then computes, without a blocking call, for as long as
//! the size says. The event that the other one waits for comes soon; the sample is the time from then until
//! it runs. In `spawner` the starting thread sleeps, and the started one computes.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::tokio_stalls;
use crate::work::stalls::{SOON, byte_from_outside, compute, samples, soon_from_outside};
use anyhow::Result;
use std::net::TcpStream;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

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

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |milliseconds| {
        let long = Duration::from_millis(milliseconds);
        samples(|kind| {
            let (ran, runs) = mpsc::channel();
            let (says, due) = mpsc::channel();
            let kind = kind.to_owned();
            // The computing thread is a host of its own, and not the main host, for which an OS thread waits.
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
