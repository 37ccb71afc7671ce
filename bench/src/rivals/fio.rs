//! fio (Debian: `fio`), which reads the same file with as many reads under way. It does not look at what it reads.

use super::threads::cores;
use crate::harness::{Runner, Sample, programs};
use crate::work::disk::{BLOCK, Plan, THREADS};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::process::Command;

/// The most reads that one of fio's threads has under way.
const MOST_EACH: u64 = 4096;

/// With io_uring.
pub fn uring(workers: usize) -> Result<Runner> {
    deep(workers, "io_uring")
}

/// With Linux AIO.
pub fn aio(workers: usize) -> Result<Runner> {
    deep(workers, "libaio")
}

/// With a thread for each read. fio takes the longest of their times, each from its own start: with many threads, which
/// do not start at once, that is too short.
pub fn psync(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(|n| samples(n, 16, |threads| Shape { engine: "psync", jobs: threads, depth: 1 })))
}

/// With as many reads under way in one thread as it may have.
fn deep(workers: usize, engine: &'static str) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(move |n| {
        samples(n, u64::MAX, |threads| Shape {
            engine,
            jobs: threads.div_ceil(MOST_EACH),
            depth: threads.min(MOST_EACH),
        })
    }))
}

/// How fio reads.
struct Shape {
    engine: &'static str,
    jobs: u64,
    depth: u64,
}

fn samples(n: u64, most: u64, shape: impl Fn(u64) -> Shape) -> Result<Vec<Sample>> {
    let plan = Plan::new(n)?;
    let run = |threads| {
        let reads = plan.each(threads) * threads;
        let took = shape(threads).run(&plan, reads)?;
        Ok(Sample::new(&format!("read_{threads}"), "ns", took))
    };
    plan.crowds(&THREADS, most).into_iter().map(run).collect()
}

impl Shape {
    /// The nanoseconds of each of so many reads.
    fn run(&self, plan: &Plan, reads: u64) -> Result<f64> {
        let mut command = Command::new(programs::find("fio")?);
        command.args(["--name=disk", "--rw=randread", "--direct=1", "--readonly", "--thread"]);
        command.args(["--norandommap", "--group_reporting", "--output-format=json"]);
        command.arg(format!("--filename={}", plan.path.display()));
        command.arg(format!("--bs={BLOCK}")).arg(format!("--ioengine={}", self.engine));
        command.arg(format!("--iodepth={}", self.depth)).arg(format!("--numjobs={}", self.jobs));
        // Without the second, fio would go round a file that is smaller than what it reads.
        command.arg(format!("--number_ios={}", reads / self.jobs)).arg("--io_size=1t");
        let output = command.output().context("cannot run fio")?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "fio: {}", error.lines().next().unwrap_or("no reason given"));
        let text = String::from_utf8_lossy(&output.stdout);
        // It may say something before its JSON.
        let json = text.find('{').map_or("", |at| &text[at..]);
        let said: Value = serde_json::from_str(json).context("fio's output")?;
        let read = &said["jobs"][0]["read"];
        let number = |name: &str| read[name].as_f64().with_context(|| format!("fio does not say {name}"));
        let made = number("total_ios")?;
        ensure!(made == reads as f64, "fio has made {made} of {reads} reads");
        let rate = number("iops")?;
        ensure!(rate > 0.0, "fio says that {reads} reads took no time");
        Ok(1e9 / rate)
    }
}
