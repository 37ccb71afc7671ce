//! Futures that are dropped, anywhere: before the kernel has their operation they have no effect; later it is given up.

use crate::common::beside::compute_until;
use crate::common::*;
use crate::fifos::fifo;
use crate::{Scratch, runtime_with};
use lamprey::Io;
use lamprey::fs::OpenOptions;
use std::future::Future;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

type Begun = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Begins an open.
fn open(options: &OpenOptions, path: &Path) -> Begun {
    let (options, path) = (options.clone(), path.to_owned());
    let mut open: Begun = Box::pin(async move { drop(options.open_async(path).await) });
    assert!(open.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    open
}

/// Drops it on another kernel thread, or here.
fn drop_somewhere(begun: Begun, elsewhere: bool) {
    if elsewhere {
        std::thread::spawn(move || drop(begun)).join().unwrap();
    }
}

/// True if somebody reads, or waits to read.
fn has_reader(fifo: &Scratch) -> bool {
    let writer = std::fs::OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&fifo.0);
    writer.is_ok()
}

/// Runs `main` where there is a ring.
fn with_ring(workers: usize, main: impl FnOnce() + Send + 'static) {
    if let Err(why) = Io::Uring.check() {
        return eprintln!("NOT CHECKED: {why}");
    }
    within(FOREVER, move || runtime_with(Io::Uring, workers).run(main));
}

#[test]
fn an_open_that_is_dropped_before_it_is_submitted_makes_no_file() {
    with_ring(1, || {
        for turn in 0..20 {
            let scratch = Scratch::with("left", b"");
            std::fs::remove_file(&scratch.0).unwrap();
            let begun = open(OpenOptions::new().write(true).create_new(true), &scratch.0);
            drop_somewhere(begun, turn % 2 == 0);
            // The ring is looked at.
            lamprey::sleep(Duration::from_millis(1));
            assert!(lamprey::fs::metadata(&scratch.0).is_err(), "turn {turn}");
        }
    });
}

#[test]
fn an_open_that_is_dropped_is_given_up_by_the_kernel() {
    with_ring(1, || {
        for turn in 0..20 {
            let fifo = fifo("left");
            let begun = open(OpenOptions::new().read(true), &fifo.0);
            if turn % 4 < 2 {
                eventually_here("the kernel opens", || has_reader(&fifo));
            }
            drop_somewhere(begun, turn % 2 == 0);
            eventually_here("the kernel has given it up", || !has_reader(&fifo));
        }
    });
}

/// An idle worker gives it up.
#[test]
fn an_open_that_is_dropped_while_its_worker_computes_is_given_up() {
    with_ring(2, || {
        let host = lamprey::Builder::new().worker(0).spawn(|| {
            let fifo = fifo("left-computes");
            let begun = open(OpenOptions::new().read(true), &fifo.0);
            compute_until(|| has_reader(&fifo));
            drop_somewhere(begun, true);
            compute_until(|| !has_reader(&fifo));
        });
        host.unwrap().join().unwrap();
    });
}

/// As [`eventually`], but lets other threads run.
#[track_caller]
fn eventually_here(what: &str, is: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + FOREVER / 2;
    while !is() {
        assert!(std::time::Instant::now() < deadline, "{what}");
        lamprey::sleep(Duration::from_micros(200));
    }
}
