//! Reads of a disk by tokio's tasks: `spawn_blocking`, as `tokio::fs` does it, which has no reads at an offset.

use super::tokio::{run, runtime};
use crate::harness::Runner;
use crate::work::disk::{BLOCK, Plan, THREADS};
use ::tokio::sync::broadcast;
use ::tokio::task::spawn_blocking;
use anyhow::Result;
use lamprey::fs::AlignedBuf;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Instant;

/// See `benches::disk`.
pub fn disk(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let plan = Arc::new(Plan::new(n)?);
        let file = Arc::new(plan.open()?);
        plan.samples(&THREADS, u64::MAX, |threads, done| {
            let (plan, file) = (plan.clone(), file.clone());
            run(&runtime, async move {
                let (gate, _) = broadcast::channel::<()>(1);
                let mut all = Vec::new();
                for thread in 0..threads {
                    let (file, mut closed) = (file.clone(), gate.subscribe());
                    let (mut buffer, mut reads) =
                        (AlignedBuf::new(BLOCK)?, plan.reads(thread, threads, done));
                    all.push(::tokio::spawn(async move {
                        let _opened = closed.recv().await;
                        while let Some(offset) = reads.next() {
                            let file = file.clone();
                            let read = move || file.read_at(&mut buffer, offset).map(|count| (count, buffer));
                            let (count, filled) = spawn_blocking(read).await??;
                            reads.check(count, &filled);
                            buffer = filled;
                        }
                        anyhow::Ok(())
                    }));
                }
                ::tokio::task::yield_now().await;
                let begun = Instant::now();
                drop(gate);
                for thread in all {
                    thread.await??;
                }
                Ok(begun.elapsed())
            })
        })
    }))
}
