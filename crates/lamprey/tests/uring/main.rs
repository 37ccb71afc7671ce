//! What io_uring adds, with both back-ends: the results are the same. Where this machine has no io_uring, the tests of
//! `on_both` say so and run with epoll only.

#[path = "../common/mod.rs"]
mod common;

mod ahead;
mod cancel;
mod choice;
mod endless;
mod exit;
mod fifos;
mod files;
mod forgotten;
mod helped;
mod left;
mod sockets;

use common::*;
use lamprey::{Io, Runtime};

/// The back-ends that this machine has.
fn back_ends() -> Vec<Io> {
    match Io::Uring.check() {
        Ok(()) => vec![Io::Epoll, Io::Uring],
        Err(why) => {
            eprintln!("NOT CHECKED with io_uring: {why}");
            vec![Io::Epoll]
        }
    }
}

/// Runs `main` with each back-end that this machine has.
#[track_caller]
fn on_both(workers: usize, main: impl Fn() + Send + Sync + Clone + 'static) {
    allow_descriptors();
    for io in back_ends() {
        let main = main.clone();
        within(FOREVER, move || runtime_with(io, workers).run(main));
    }
}

/// As many descriptors as this process may have: many systems begin with 1024.
fn allow_descriptors() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
}

fn runtime_with(io: Io, workers: usize) -> Runtime {
    Runtime::builder().workers(workers).io(io).build().unwrap()
}

/// A file with `bytes`, which goes with the value.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn with(name: &str, bytes: &[u8]) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: only the number matters.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Below the build's folder, as `/tmp` may be in memory, which knows no O_DIRECT.
        let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let path = folder.join(format!("uring-{name}-{}-{number}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Bytes that tell where they are.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 7 % 251) as u8).collect()
}
