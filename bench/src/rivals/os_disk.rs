//! Reads of a disk by OS threads. On one core for one worker.

use super::threads::cores;
use crate::harness::Runner;
use crate::work::disk::{BLOCK, Plan};
use anyhow::{Context, Result};
use lamprey::fs::AlignedBuf;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Barrier, OnceLock};
use std::thread::Builder;
use std::time::Instant;

/// A thread takes four memory mappings (a stack, one for signals, a guard for each), and a process has at most 65,530.
const MOST: u64 = 16_000;
const THREADS: [u64; 5] = [1, 16, 256, 4096, MOST];
/// The stack of a thread.
const STACK: usize = 64 << 10;

/// See `benches::disk`.
pub fn disk(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(|n| {
        let plan = Plan::new(n)?;
        let file = Arc::new(plan.open()?);
        plan.samples(&THREADS, MOST, |threads, done| {
            let (gate, begun) = (Arc::new(Barrier::new(threads as usize)), Arc::new(OnceLock::new()));
            let mut all = Vec::new();
            for thread in 0..threads {
                let (file, gate, begun) = (file.clone(), gate.clone(), begun.clone());
                let (mut buffer, mut reads) = (AlignedBuf::new(BLOCK)?, plan.reads(thread, threads, done));
                let body = move || {
                    // By the one that comes last, and before the gate opens: behind it others may have the core, and read, first.
                    let arrived = Instant::now();
                    if gate.wait().is_leader() {
                        begun.set(arrived).expect("there is one leader");
                    }
                    while let Some(offset) = reads.next() {
                        let count = file.read_at(&mut buffer, offset)?;
                        reads.check(count, &buffer);
                    }
                    anyhow::Ok(())
                };
                all.push(Builder::new().stack_size(STACK).spawn(body).context("a kernel thread")?);
            }
            all.into_iter().try_for_each(|thread| thread.join().expect("reading does not panic"))?;
            Ok(begun.get().expect("all have come to the gate").elapsed())
        })
    }))
}
