//! The resource usage of this process: memory from /proc, processor time from getrusage.

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use std::fs;
use std::time::Duration;

/// The bytes of memory that the process holds now, including its page tables.
///
/// A sparse stack costs up to a page-table page for every page that it touches, so resident pages alone do
/// not show its cost. `smaps_rollup` walks the pages; the counters in `status` lag behind by a batch for each
/// thread.
pub fn memory() -> Result<u64> {
    Ok(resident()? + page_tables()?)
}

/// The bytes of the process's resident pages.
pub fn resident() -> Result<u64> {
    Ok(kib(&read("/proc/self/smaps_rollup")?, "Rss:")? * 1024)
}

/// The bytes of the process's page tables, and of all small objects of the kernel (sockets, files, registrations). Those
/// of other processes are among them: only a difference by many megabytes means something.
pub fn kernel() -> Result<u64> {
    Ok(kib(&read("/proc/meminfo")?, "Slab:")? * 1024 + page_tables()?)
}

fn page_tables() -> Result<u64> {
    Ok(kib(&read("/proc/self/status")?, "VmPTE:")? * 1024)
}

/// The largest number of bytes of resident pages that the process has had, and its page tables.
///
/// Page tables are counted as they are now: the kernel has no mark of their largest size, and seldom frees
/// them before the mapping goes.
pub fn peak_memory() -> Result<u64> {
    let status = read("/proc/self/status")?;
    Ok((kib(&status, "VmHWM:")? + kib(&status, "VmPTE:")?) * 1024)
}

/// The user and system time that the process and its threads have used so far.
pub fn processor_time() -> Result<Duration> {
    time_of(UsageWho::RUSAGE_SELF)
}

fn time_of(who: UsageWho) -> Result<Duration> {
    let usage = getrusage(who).context("getrusage")?;
    let micros = |t: nix::sys::time::TimeVal| t.tv_sec() as u64 * 1_000_000 + t.tv_usec() as u64;
    Ok(Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time())))
}

/// The user and system time that the child processes have used which have been waited for.
pub fn processor_time_of_children() -> Result<Duration> {
    time_of(UsageWho::RUSAGE_CHILDREN)
}

/// The user and system time that another process and its threads have used so far, in steps of 10 ms.
pub fn processor_time_of(process: u32) -> Result<Duration> {
    let stat = read(&format!("/proc/{process}/stat"))?;
    // The name, which comes before in parentheses, may have spaces.
    let (_, fields) = stat.rsplit_once(')').context("no name in /proc/PID/stat")?;
    let ticks = |n| fields.split_whitespace().nth(n).and_then(|ticks| ticks.parse::<u64>().ok());
    let (user, system) = ticks(11).zip(ticks(12)).context("no times in /proc/PID/stat")?;
    Ok(Duration::from_millis((user + system) * 10))
}

/// `part` in percent of `whole`.
pub fn percent(part: Duration, whole: Duration) -> f64 {
    100.0 * part.as_secs_f64() / whole.as_secs_f64()
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}

fn kib(text: &str, field: &str) -> Result<u64> {
    let line =
        text.lines().find_map(|l| l.strip_prefix(field)).with_context(|| format!("no field {field}"))?;
    let number = line.trim().strip_suffix("kB").with_context(|| format!("{field} is not in kB: {line}"))?;
    number.trim().parse().with_context(|| format!("{field} is not a number: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_from_proc_text() {
        let text = "VmRSS:\t     100 kB\nVmPTE:\t      52 kB\n";
        assert_eq!(kib(text, "VmPTE:").unwrap(), 52);
        assert!(kib(text, "VmSwap:").unwrap_err().to_string().contains("VmSwap"));
        assert!(kib("VmPTE:\t 52 pages\n", "VmPTE:").is_err());
    }

    #[test]
    fn touched_pages_are_counted() {
        let before = memory().unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let grown = memory().unwrap() - before;
        assert!(grown >= 60 << 20, "64 MiB were touched, {grown} bytes seen");
        drop(block);
    }

    #[test]
    fn work_is_counted_as_processor_time() {
        let before = processor_time().unwrap();
        let mut x = 1_u64;
        while processor_time().unwrap() == before {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(x != 0);
    }

    #[test]
    fn another_process_is_counted_as_this_one_is() {
        let begun = processor_time().unwrap();
        while processor_time().unwrap() - begun < Duration::from_millis(50) {
            std::hint::black_box((0..10_000).sum::<u64>());
        }
        assert!(processor_time_of(std::process::id()).unwrap() >= Duration::from_millis(30));
        assert!(processor_time_of(u32::MAX).is_err());
    }

    #[test]
    fn percent_of_a_whole() {
        assert_eq!(percent(Duration::from_secs(1), Duration::from_secs(4)), 25.0);
    }
}
