//! Each public call that tries or looks, with a program that waits by it alone: it ends only if the host that waits gives way to
//! those who make true what it waits for, on the runtime's only worker.

mod channels;
mod more_channels;
mod places;
mod sockets;
mod sync;
mod threads;

use crate::common::{FOREVER, runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

pub const ZERO: Duration = Duration::ZERO;

/// One program, and what it calls.
pub struct Row {
    /// As `crate::scan` names them.
    pub calls: &'static [&'static str],
    program: fn(),
}

macro_rules! rows {
    ($([$($call:literal),+ $(,)?] $body:block)+) => {
        pub const ROWS: &[$crate::table::Row] = &[$($crate::table::Row { calls: &[$($call),+], program: || $body }),+];
    };
}
use rows;

pub fn all() -> impl Iterator<Item = &'static Row> {
    [channels::ROWS, more_channels::ROWS, places::ROWS, sockets::ROWS, sync::ROWS, threads::ROWS]
        .into_iter()
        .flatten()
}

/// Has another host of the worker do it, once the caller lets it run.
fn later<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) {
    drop(lamprey::spawn(f));
}

/// A flag that another host sets, once the caller lets it run.
fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    later(move || other.store(true, Ordering::Relaxed));
    flag
}

#[test]
fn who_waits_by_trying_lets_others_run() {
    all_end(all(), |program| runtime(1).run(program));
}

/// In a simulation, too.
#[test]
fn who_waits_by_trying_lets_others_run_in_a_simulation() {
    let rows = [channels::ROWS, more_channels::ROWS, sync::ROWS, threads::ROWS].into_iter().flatten();
    all_end(rows, |program| lamprey::Runtime::simulated(7).run(program));
}

/// Runs the programs, all at the same time; fails with the names of those that do not end.
fn all_end(rows: impl Iterator<Item = &'static Row>, run: fn(fn())) {
    let begun: Vec<_> = rows
        .map(|row| {
            let (send, done) = mpsc::channel();
            std::thread::spawn(move || send.send(run(row.program)));
            (row.calls, done)
        })
        .collect();
    let until = Instant::now() + FOREVER;
    let ends = |done: &mpsc::Receiver<()>| {
        done.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok()
    };
    let failed: Vec<_> = begun.iter().filter(|(_, done)| !ends(done)).map(|(calls, _)| calls).collect();
    assert!(failed.is_empty(), "hung, or failed: {failed:#?}");
}
