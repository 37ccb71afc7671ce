//! tokio's version of a thread that computes while others wait.

use super::tokio::{run, runtime};
use crate::harness::Runner;
use crate::work::stalls::{SOON, byte_from_outside, compute, samples, soon_from_outside};
use ::tokio::net::TcpStream;
use ::tokio::sync::oneshot;
use ::tokio::time::sleep;
use anyhow::Result;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

/// The bench of Lamprey, with tokio.
pub fn stalls(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |milliseconds| {
        let long = Duration::from_millis(milliseconds);
        samples(|kind| {
            let (ran, runs) = mpsc::channel();
            let (says, due) = mpsc::channel();
            run(&runtime, stall(kind.to_owned(), long, ran, says))?;
            Ok(runs.recv()?.saturating_duration_since(due.recv()?))
        })
    }))
}

async fn stall(kind: String, long: Duration, ran: Sender<Instant>, says: Sender<Instant>) -> Result<()> {
    let tell = move || ran.send(Instant::now()).expect("the bench waits for it");
    match &*kind {
        "timer" => {
            says.send(Instant::now() + SOON)?;
            let waits = sleep(SOON);
            ::tokio::spawn(async move {
                waits.await;
                tell();
            });
        }
        "socket" => {
            let stream = TcpStream::connect(byte_from_outside(says)?).await?;
            ::tokio::spawn(async move {
                stream.readable().await.expect("a byte comes");
                tell();
            });
        }
        "message" => {
            let (tx, rx) = oneshot::channel();
            soon_from_outside(says, move || tx.send(()).expect("it is waited for"));
            ::tokio::spawn(async move {
                rx.await.expect("it comes");
                tell();
            });
        }
        "unstarted" => {
            says.send(Instant::now())?;
            ::tokio::spawn(async move { tell() });
        }
        _ => {
            let computes = ::tokio::spawn(async move { compute(long) });
            says.send(Instant::now() + SOON)?;
            sleep(SOON).await;
            tell();
            return Ok(computes.await?);
        }
    }
    compute(long);
    Ok(())
}
