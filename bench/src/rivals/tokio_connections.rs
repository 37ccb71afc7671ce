//! tokio's tasks that wait for connections on which nothing comes.

use super::tokio::{run, runtime};
use crate::harness::Runner;
use crate::work::connections::{BUFFER, received, samples};
use crate::work::waiting::{Over, Waiting};
use ::tokio::io::AsyncReadExt;
use ::tokio::net::UnixStream;
use ::tokio::runtime::Runtime;
use ::tokio::time::sleep;
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;

/// See `benches::connections`.
pub fn connections(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let start = |waiting: Arc<Waiting>, streams: Vec<std::os::unix::net::UnixStream>| {
            run(&runtime, async move {
                for (at, stream) in streams.into_iter().enumerate() {
                    let waiting = waiting.clone();
                    stream.set_nonblocking(true)?;
                    let mut stream = UnixStream::from_std(stream)?;
                    ::tokio::spawn(async move {
                        waiting.begins();
                        let mut bytes = [0; BUFFER];
                        let count = stream.read(&mut bytes).await.expect("the peer is open");
                        received(at, &bytes[..count]);
                        waiting.ends();
                    });
                }
                Ok(())
            })
        };
        samples(n, start, |over| until(&runtime, over))
    }))
}

/// Runs the tasks of `runtime` until something is so.
pub(super) fn until(runtime: &Runtime, over: Over<'_>) {
    runtime.block_on(async {
        while !over() {
            sleep(Duration::from_millis(1)).await;
        }
    });
}
