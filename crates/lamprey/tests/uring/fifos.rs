//! FIFOs: an open waits until the other end is opened, which may be never.

use crate::common::*;
use crate::{Scratch, back_ends, runtime_with};
use lamprey::Io;
use lamprey::fs::{File, OpenOptions, metadata};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

pub(crate) fn fifo(name: &str) -> Scratch {
    let scratch = Scratch::with(name, b"");
    std::fs::remove_file(&scratch.0).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &scratch.0, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    scratch
}

/// Opens the end that does not wait for the other.
fn reader(fifo: &Scratch) -> std::fs::File {
    std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&fifo.0).unwrap()
}

#[test]
fn a_cancelled_open_has_opened_or_unwinds() {
    for io in back_ends() {
        let runtime = runtime_with(io, 1);
        let attempt = move |turn: u64| {
            let fifo = fifo("cancelled");
            let path = fifo.0.clone();
            let host = lamprey::spawn(move || OpenOptions::new().write(true).open(path).map(drop));
            (0..turn % 3).for_each(|_| lamprey::yield_now());
            // The kernel is in the middle of it, mostly.
            lamprey::sleep(Duration::from_micros(turn * 100));
            host.cancel();
            // What the pool has begun is not interrupted.
            let _reader = (io == Io::Epoll).then(|| reader(&fifo));
            if let Ok(opened) = host.join() {
                opened.unwrap();
            }
        };
        within(FOREVER, move || runtime.run(move || (0..30).for_each(attempt)));
    }
}

#[test]
fn as_many_opens_may_wait_as_there_may_be_blocking_threads() {
    const WAIT: usize = 100;
    for io in back_ends() {
        let builder = lamprey::Runtime::builder().workers(1).io(io).blocking_threads(WAIT + 1);
        let runtime = builder.build().unwrap();
        within(FOREVER, move || {
            runtime.run(|| {
                let fifos: Vec<_> = (0..WAIT).map(|_| fifo("many")).collect();
                let writers: Vec<_> = fifos
                    .iter()
                    .map(|fifo| {
                        let path = fifo.0.clone();
                        lamprey::spawn(move || OpenOptions::new().write(true).open(path).map(drop))
                    })
                    .collect();
                lamprey::yield_now();
                assert!(metadata("Cargo.toml").unwrap().is_file());
                // The last one first: all the others wait.
                let _readers: Vec<_> = fifos.iter().rev().map(|fifo| File::open(&fifo.0).unwrap()).collect();
                writers.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
            });
        });
    }
}
