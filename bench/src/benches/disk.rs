//! Random reads of a file, a thread for each that is under way (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007,
//! Figure 17).

use super::ours::runtime;
use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{fio, os_disk, tokio_disk};
use crate::work::disk::{BLOCK, Plan, THREADS};
use anyhow::Result;
use lamprey::fs::{AlignedBuf, File};
use std::sync::Arc;
use std::time::Instant;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "disk",
    about: "random reads of 4 KB, O_DIRECT, of a file of 1 GB by 1, 16, 256, 4096 and 65,536 threads at a time (pthread: 16,000 at most); ns of wall \
            time for each read, from when all threads are there until the last has ended",
    workers: &[1, 2],
    size: Size::Exactly { full: 16_384, quick: 4096, tiny: 64 },
    runs: 5,
    variants: &[
        Variant::ours("hosts", hosts).io("epoll"),
        Variant::ours("hosts_uring", hosts).io("uring"),
        Variant::ours("parasites", parasites).io("epoll"),
        Variant::ours("parasites_uring", parasites).io("uring"),
        Variant::rival("pthread", os_disk::disk),
        Variant::rival("tokio-blocking", tokio_disk::disk),
        Variant::rival_around("fio-uring", "fio", fio::uring),
        Variant::rival_around("fio-aio", "fio", fio::aio),
        Variant::rival_around("fio-psync", "fio", fio::psync),
    ],
};

fn hosts(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let plan = Plan::new(n)?;
        let file = Arc::new(File::from(plan.open()?));
        plan.samples(&THREADS, u64::MAX, |threads, done| {
            runtime.run(|| {
                let (gate, closed) = lamprey::channel::<()>();
                let mut all = Vec::new();
                for thread in 0..threads {
                    let (file, closed, reads) =
                        (file.clone(), closed.clone(), plan.reads(thread, threads, done));
                    let mut buffer = AlignedBuf::new(BLOCK)?;
                    all.push(lamprey::spawn(move || {
                        let _opened = closed.recv();
                        let mut reads = reads;
                        while let Some(offset) = reads.next() {
                            let count = file.read_at(&mut buffer, offset)?;
                            reads.check(count, &buffer);
                        }
                        anyhow::Ok(())
                    }));
                }
                lamprey::yield_now();
                let begun = Instant::now();
                drop(gate);
                all.into_iter().try_for_each(|thread| thread.join().expect("reading does not panic"))?;
                Ok(begun.elapsed())
            })
        })
    }))
}

fn parasites(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let plan = Plan::new(n)?;
        let file = Arc::new(File::from(plan.open()?));
        plan.samples(&THREADS, u64::MAX, |threads, done| {
            runtime.run(|| {
                let (gate, closed) = lamprey::channel::<()>();
                let mut all = Vec::new();
                for thread in 0..threads {
                    let (file, closed, mut reads) =
                        (file.clone(), closed.clone(), plan.reads(thread, threads, done));
                    let mut buffer = AlignedBuf::new(BLOCK)?;
                    all.push(lamprey::parasite(async move {
                        let _opened = closed.recv_async().await;
                        while let Some(offset) = reads.next() {
                            let count = file.read_at_async(&mut buffer, offset).await?;
                            reads.check(count, &buffer);
                        }
                        anyhow::Ok(())
                    }));
                }
                let begun = Instant::now();
                drop(gate);
                all.into_iter().try_for_each(|thread| thread.join().expect("reading does not panic"))?;
                Ok(begun.elapsed())
            })
        })
    }))
}
