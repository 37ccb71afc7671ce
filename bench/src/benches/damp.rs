//! The three micro-benchmarks of *Lightweight Asynchrony Using Parasitic Threads*, 2010, Figure 9: 10,000 parasites
//! against 10,000 hosts.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use anyhow::Result;
use lamprey::{Receiver, Sender};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Threads of each kind.
const N: u64 = 10_000;
const SIZE: Size = Size::UntilTakes { first: N, goal: Duration::from_millis(50) };

/// See `about`.
pub const NONBLOCKING: Bench = Bench {
    name: "nonblocking",
    about: "10,000 hosts are blocked, each sending a number to one channel; 10,000 parasites, or hosts, are spawned and receive \
            one each: half; all is from the first spawn until all have ended; ns for each number",
    workers: &[1],
    size: SIZE,
    runs: 21,
    variants: &[
        Variant::ours("parasites", |w| runner(w, |crowd| nonblocking(crowd, parasite_receives))),
        Variant::ours("hosts", |w| runner(w, |crowd| nonblocking(crowd, host_receives))),
    ],
};

/// See `about`.
pub const BLOCKING: Bench = Bench {
    name: "blocking",
    about: "10,000 parasites, or hosts, are spawned and block, each receiving a number from one channel: half; then 10,000 hosts \
            are spawned and send one each; all is until all have ended; ns for each number",
    workers: &[1],
    size: SIZE,
    runs: 21,
    variants: &[
        Variant::ours("parasites", |w| runner(w, |crowd| blocking(crowd, parasite_receives))),
        Variant::ours("hosts", |w| runner(w, |crowd| blocking(crowd, host_receives))),
    ],
};

/// See `about`.
pub const NWAY: Bench = Bench {
    name: "nway",
    about: "10,000 parasites, or hosts, are spawned and block, each sending a number to a channel of its own: half; then one host \
            receives them; all is until all have ended; ns for each number",
    workers: &[1],
    size: SIZE,
    runs: 21,
    variants: &[
        Variant::ours("parasites", |w| runner(w, |crowd| nway(crowd, parasite_sends))),
        Variant::ours("hosts", |w| runner(w, |crowd| nway(crowd, host_sends))),
    ],
};

type Ends = (Sender<u64>, Receiver<u64>);

/// The state that the threads of a benchmark share. All are on one kernel thread, and it lives as long as the
/// process.
struct Crowd {
    /// One channel for all, then one for each thread.
    channels: Vec<Ends>,
    begun: AtomicU64,
    received: AtomicU64,
    sum: AtomicU64,
    ended: AtomicU64,
}

impl Crowd {
    fn one(&self) -> &Ends {
        &self.channels[0]
    }

    /// Resets the counters for the next round.
    fn reset(&self) {
        // Relaxed: one kernel thread.
        [&self.begun, &self.received, &self.ended].into_iter().for_each(|counter| counter.store(0, Relaxed));
    }

    /// A thread has started, and is about to send or receive.
    fn begin(&self) {
        add(&self.begun, 1);
    }

    /// A receiver has got number `i`.
    fn got(&self, i: u64) {
        add(&self.sum, i);
        add(&self.received, 1);
        add(&self.ended, 1);
    }

    /// A sender has sent its number.
    fn sent(&self) {
        add(&self.ended, 1);
    }
}

/// Adds without a locked instruction, whose time would be measured too.
fn add(counter: &AtomicU64, n: u64) {
    // Relaxed: one kernel thread.
    counter.store(counter.load(Relaxed) + n, Relaxed);
}

/// Yields until `counter` reaches `n`.
fn wait_for(counter: &AtomicU64, n: u64) {
    // Relaxed: one kernel thread.
    while counter.load(Relaxed) < n {
        lamprey::yield_now();
    }
}

/// Runs a benchmark, which returns the time of its first or second half, for as many crowds as `n` numbers
/// need.
fn runner(workers: usize, run: fn(&'static Crowd) -> Duration) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let crowds = n.div_ceil(N);
        let (half, all, sum) = runtime.run(move || {
            let channels = (0..=N).map(|_| lamprey::channel()).collect();
            let [begun, received, sum, ended] = [const { AtomicU64::new(0) }; 4];
            let crowd: &Crowd = Box::leak(Box::new(Crowd { channels, begun, received, sum, ended }));
            let begun = Instant::now();
            let half = (0..crowds)
                .map(|_| {
                    crowd.reset();
                    run(crowd)
                })
                .sum();
            // Relaxed: one kernel thread.
            (half, begun.elapsed(), crowd.sum.load(Relaxed))
        });
        assert_eq!(sum, crowds * (N * (N - 1) / 2), "every number arrives");
        let each = |metric, took| Sample::ns_each(metric, took, crowds * N);
        Ok(vec![each("half", half), each("all", all)])
    }))
}

fn nonblocking(crowd: &'static Crowd, receive: fn(&'static Crowd)) -> Duration {
    (0..N).for_each(|i| host_sends(crowd, crowd.one(), i));
    wait_for(&crowd.begun, N);
    let begun = Instant::now();
    (0..N).for_each(|_| receive(crowd));
    wait_for(&crowd.received, N);
    let half = begun.elapsed();
    wait_for(&crowd.ended, 2 * N);
    half
}

fn blocking(crowd: &'static Crowd, receive: fn(&'static Crowd)) -> Duration {
    let begun = Instant::now();
    (0..N).for_each(|_| receive(crowd));
    wait_for(&crowd.begun, N);
    let half = begun.elapsed();
    (0..N).for_each(|i| host_sends(crowd, crowd.one(), i));
    wait_for(&crowd.ended, 2 * N);
    half
}

fn nway(crowd: &'static Crowd, send: fn(&'static Crowd, &'static Ends, u64)) -> Duration {
    let begun = Instant::now();
    let own = || crowd.channels[1..].iter();
    own().zip(0..).for_each(|(ends, i)| send(crowd, ends, i));
    wait_for(&crowd.begun, N);
    let half = begun.elapsed();
    own().for_each(|(_, rx)| crowd.got(rx.recv().expect("the channel is for ever")));
    wait_for(&crowd.ended, 2 * N);
    half
}

fn host_receives(crowd: &'static Crowd) {
    lamprey::spawn(|| {
        crowd.begin();
        crowd.got(crowd.one().1.recv().expect("the channel is for ever"));
    });
}

fn parasite_receives(crowd: &'static Crowd) {
    lamprey::parasite(async {
        crowd.begin();
        crowd.got(crowd.one().1.recv_async().await.expect("the channel is for ever"));
    })
    .detach();
}

fn host_sends(crowd: &'static Crowd, ends: &'static Ends, i: u64) {
    lamprey::spawn(move || {
        crowd.begin();
        ends.0.send(i).expect("the channel is for ever");
        crowd.sent();
    });
}

fn parasite_sends(crowd: &'static Crowd, ends: &'static Ends, i: u64) {
    lamprey::parasite(async move {
        crowd.begin();
        ends.0.send_async(i).await.expect("the channel is for ever");
        crowd.sent();
    })
    .detach();
}
