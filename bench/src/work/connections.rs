//! Connections on which nothing comes, the memory that they cost, and the proof that their threads did wait.

use super::waiting::{Over, Waiting};
use crate::harness::{Sample, descriptors, usage};
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Instant;

/// The bytes that a thread can read at once.
pub const BUFFER: usize = 64;

/// Makes `n` connections, or as many as there are descriptors for, and has `start` start a thread for each, which [begins](Waiting::begins), waits to read,
/// looks at what it has [`received`] and [ends](Waiting::ends). `until` runs the threads until something is so.
pub fn samples(
    n: u64,
    start: impl FnOnce(Arc<Waiting>, Vec<UnixStream>) -> Result<()>,
    until: impl Fn(Over<'_>),
) -> Result<Vec<Sample>> {
    let n = n.min(descriptors::available()? / 2);
    let bare = usage::kernel()?;
    let pairs = (0..n).map(|_| UnixStream::pair()).collect::<Result<Vec<_>, _>>();
    let (here, mut there): (Vec<_>, Vec<_>) = pairs.context("socketpair")?.into_iter().unzip();
    let waiting = Arc::new(Waiting::default());
    let (without, begun) = (usage::resident()?, Instant::now());
    start(waiting.clone(), here)?;
    until(&|| waiting.begun() == n);
    let took = begun.elapsed();
    let (user, kernel) = (usage::resident()?, usage::kernel()?);
    ensure!(waiting.ended() == 0, "{} threads did not wait", waiting.ended());
    for (at, stream) in there.iter_mut().enumerate() {
        stream.write_all(&[greeting(at)])?;
    }
    until(&|| waiting.ended() == n);
    let each = |grown: u64| grown as f64 / n as f64;
    Ok(vec![
        Sample::new("user", "bytes", each(user.saturating_sub(without))),
        Sample::new("kernel", "bytes", each(kernel.saturating_sub(bare))),
        Sample::ns_each("create", took, n),
        Sample::new("connections", "-", n as f64),
    ])
}

fn greeting(at: usize) -> u8 {
    at as u8
}

/// Fails unless this is what thread `at` was sent.
pub fn received(at: usize, bytes: &[u8]) {
    assert_eq!(bytes, [greeting(at)], "what thread {at} has read");
}
