//! The machine and the software of the measurement.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::SystemTime;

/// The load (runnable threads, mean of the last minute) above which other work distorts the numbers.
const QUIET: f64 = 0.3;

/// The state of the machine at the start.
#[derive(Serialize, Debug)]
pub struct Machine {
    bench: &'static str,
    cpu: String,
    cores: usize,
    memory_mib: u64,
    kernel: String,
    rustc: &'static str,
    load_average: Vec<f64>,
    unix_time: u64,
    versions: BTreeMap<&'static str, String>,
}

impl Machine {
    /// Collects the facts; of `crates` the versions that `lock`, the text of a Cargo.lock, has. What cannot be found is reported as `unknown`, which does not prevent measuring.
    pub fn look(lock: &str, crates: &[&'static str]) -> Self {
        Self {
            bench: "machine",
            cpu: field("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mib: field("/proc/meminfo", "MemTotal")
                .trim_end_matches(" kB")
                .parse::<u64>()
                .unwrap_or(0)
                / 1024,
            kernel: text("/proc/sys/kernel/osrelease"),
            rustc: env!("LAMPREY_BENCH_RUSTC"),
            load_average: text("/proc/loadavg").split(' ').take(3).filter_map(|n| n.parse().ok()).collect(),
            unix_time: SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_secs()),
            versions: versions(lock, crates),
        }
    }

    /// A warning if other programs are running.
    pub fn noise(&self) -> Option<String> {
        let load = *self.load_average.first()?;
        (load > QUIET).then(|| format!("load average is {load}: other work is in these numbers"))
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".into(), |s| s.trim().to_owned())
}

fn field(path: &str, name: &str) -> String {
    let all = text(path);
    let line = all.lines().find(|l| l.starts_with(name));
    line.and_then(|l| l.split_once(':')).map_or_else(|| "unknown".into(), |(_, v)| v.trim().to_owned())
}

/// The versions of the rivals: crates as locked at build time, programs as found on PATH.
fn versions(lock: &str, crates: &[&'static str]) -> BTreeMap<&'static str, String> {
    let mut found: BTreeMap<_, _> =
        crates.iter().filter_map(|name| Some((*name, locked(lock, name)?))).collect();
    found.extend(said("go", "version").map(|v| ("go", v)));
    found.extend(said("nginx", "-v").map(|v| ("nginx", v)));
    found.extend(said("fio", "--version").map(|v| ("fio", v)));
    found.extend(said("wrk", "-v").map(|v| ("wrk", v)));
    found
}

fn locked(lock: &str, name: &str) -> Option<String> {
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    rest.split('"').next().map(str::to_owned)
}

/// The first line that `program flag` prints, on either stream.
fn said(program: &str, flag: &str) -> Option<String> {
    let output = Command::new(program).arg(flag).output().ok()?;
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&both).lines().next().map(|l| l.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        let lock = "[[package]]\nname = \"may\"\nversion = \"0.3.51\"\n";
        assert_eq!(locked(lock, "may").as_deref(), Some("0.3.51"));
        assert_eq!(locked(lock, "tokio"), None);
    }

    #[test]
    fn this_machine_has_cores_and_a_kernel() {
        let machine = Machine::look("", &[]);
        assert!(machine.cores > 0);
        assert_ne!(machine.kernel, "unknown");
        assert_eq!(machine.load_average.len(), 3);
    }

    #[test]
    fn a_busy_machine_is_noisy() {
        let mut machine = Machine::look("", &[]);
        machine.load_average = vec![1.7, 0.0, 0.0];
        assert!(machine.noise().unwrap().contains("1.7"));
        machine.load_average = vec![0.0, 9.0, 9.0];
        assert_eq!(machine.noise(), None);
    }
}
