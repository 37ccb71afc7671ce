//! Two threads and two channels, one message in flight.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::pingpong::samples;
use anyhow::Result;
use lamprey::{Receiver, Sender};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "pingpong",
    about: "a thread sends a number, another sends it back, over two rendezvous channels; ns for each message",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1000, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::ours("awaited", awaited),
        Variant::rival("tokio", tokio::pingpong),
        Variant::rival("may", may::pingpong),
        Variant::go(),
    ],
};

fn lamprey(workers: usize) -> Result<Runner> {
    ours(workers, |to, i| to.send(i).ok(), |from| from.recv().ok())
}

/// The same hosts, each call made as a future that the host waits for.
fn awaited(workers: usize) -> Result<Runner> {
    ours(workers, |to, i| lamprey::wait(to.send_async(i)).ok(), |from| lamprey::wait(from.recv_async()).ok())
}

fn ours(
    workers: usize,
    send: impl Fn(&Sender<u64>, u64) -> Option<()> + Copy + Send + 'static,
    recv: impl Fn(&Receiver<u64>) -> Option<u64> + Copy + Send + 'static,
) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(2);
        let took = runtime.run(move || {
            let (ping, pinged) = lamprey::channel();
            let (pong, ponged) = lamprey::channel();
            let echo = lamprey::spawn(move || {
                while let Some(i) = recv(&pinged) {
                    send(&pong, i).expect("the pinger waits for the pong");
                }
            });
            let begun = Instant::now();
            for i in 0..rounds {
                send(&ping, i).expect("the echo lives");
                assert_eq!(recv(&ponged), Some(i));
            }
            let took = begun.elapsed();
            drop(ping);
            echo.join().expect("the echo does not panic");
            took
        });
        Ok(samples(took, rounds))
    }))
}
