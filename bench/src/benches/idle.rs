//! Doing nothing must cost nothing.

use crate::harness::{Bench, Runner, Sample, Size, Variant, usage};
use crate::rivals::{may, tokio};
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

/// Threads that wait for a message.
pub const HOSTS: usize = 100;

/// See `about`. The size is the window in milliseconds.
pub const BENCH: Bench = Bench {
    name: "idle",
    about: "100 threads wait for a message, one for a connection and one sleeps, for 10 s (quick: 2 s) in a fresh process; \
            processor time of the process in % of the time that passed",
    workers: &[1, 2],
    size: Size::Exactly { full: 10_000, quick: 2000, tiny: 50 },
    runs: 5,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival("tokio", tokio::idle),
        Variant::rival("may", may::idle),
        Variant::go(),
    ],
};

/// Time to come to rest, and the time that is measured.
pub fn times(millis: u64) -> (Duration, Duration) {
    (Duration::from_millis(millis.min(500)), Duration::from_millis(millis))
}

/// The time that is measured.
pub struct Window {
    opened: Instant,
    used: Duration,
}

impl Window {
    /// From now.
    pub fn open() -> Result<Self> {
        Ok(Self { opened: Instant::now(), used: usage::processor_time()? })
    }

    /// Until now.
    pub fn close(self) -> Result<Vec<Sample>> {
        let used = usage::processor_time()?.saturating_sub(self.used);
        Ok(vec![Sample::new("cpu", "%", usage::percent(used, self.opened.elapsed()))])
    }
}

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let (_gate, closed) = lamprey::channel::<()>();
            for _ in 0..HOSTS {
                let closed = closed.clone();
                lamprey::spawn(move || closed.recv());
            }
            let listener = lamprey::net::TcpListener::bind("127.0.0.1:0")?;
            let accept = lamprey::spawn(move || listener.accept().map(drop));
            let (settle, window) = times(n);
            lamprey::sleep(settle);
            let idle = Window::open()?;
            lamprey::sleep(window);
            let samples = idle.close()?;
            ensure!(!accept.is_finished(), "nobody was to connect");
            Ok(samples)
        })
    }))
}
