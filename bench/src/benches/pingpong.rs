//! Two threads and two channels, one message in flight.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::pingpong::samples;
use anyhow::Result;
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
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(2);
        let took = runtime.run(move || {
            let (ping, pinged) = lamprey::channel::<u64>();
            let (pong, ponged) = lamprey::channel::<u64>();
            let echo = lamprey::spawn(move || {
                while let Ok(i) = pinged.recv() {
                    pong.send(i).expect("the pinger waits for the pong");
                }
            });
            let begun = Instant::now();
            for i in 0..rounds {
                ping.send(i).expect("the echo lives");
                assert_eq!(ponged.recv().ok(), Some(i));
            }
            let took = begun.elapsed();
            drop(ping);
            echo.join().expect("the echo does not panic");
            took
        });
        Ok(samples(took, rounds))
    }))
}

/// The same hosts, each call made as a future that the host waits for. Written a second time because a function
/// that takes the calls as closures costs `lamprey` 31 instructions more for each message.
fn awaited(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let rounds = n.div_ceil(2);
        let took = runtime.run(move || {
            let (ping, pinged) = lamprey::channel::<u64>();
            let (pong, ponged) = lamprey::channel::<u64>();
            let echo = lamprey::spawn(move || {
                while let Ok(i) = lamprey::wait(pinged.recv_async()) {
                    lamprey::wait(pong.send_async(i)).expect("the pinger waits for the pong");
                }
            });
            let begun = Instant::now();
            for i in 0..rounds {
                lamprey::wait(ping.send_async(i)).expect("the echo lives");
                assert_eq!(lamprey::wait(ponged.recv_async()).ok(), Some(i));
            }
            let took = begun.elapsed();
            drop(ping);
            echo.join().expect("the echo does not panic");
            took
        });
        Ok(samples(took, rounds))
    }))
}
