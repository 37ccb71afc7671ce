//! The cost of doing nothing, which must be nothing.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::idle::{HOSTS, Window, times};
use anyhow::{Result, ensure};

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

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
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
