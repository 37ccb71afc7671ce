//! The load: `wrk`, with 64 keep-alive connections that each ask again as soon as they are answered.
//!
//! With one worker the server has one core and wrk another; with two they share both (`harness::cores`).

use anyhow::{Context, Result, bail, ensure};
use bench_harness::{Sample, cores, programs, usage};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;

/// A load on one server.
pub struct Wrk {
    program: PathBuf,
    url: String,
    workers: usize,
}

impl Wrk {
    /// For a server with `workers` workers.
    pub fn new(server: SocketAddr, path: &str, workers: usize) -> Result<Self> {
        let program = programs::find("wrk")?;
        Ok(Self { program, url: format!("http://{server}{path}"), workers })
    }

    /// Puts the load on the server for some seconds; `server` says how much processor time that has used. `request`: wall time for each;
    /// `cpu`: the server's processor time for each, which other work on the machine changes less; `p50`, `p99`: until the answer; `client`: the part of
    /// the time that wrk computed: near 100, wrk was measured and not the server.
    pub fn run(&self, seconds: u64, server: impl Fn() -> Result<Duration>) -> Result<Vec<Sample>> {
        let used = server()?;
        let (before, begun) = (usage::processor_time_of_children()?, Instant::now());
        let mut command = Command::new(&self.program);
        command.args(["--threads", "1", "--latency", "--connections"]).arg(CONNECTIONS.to_string());
        command.arg("--duration").arg(format!("{seconds}s")).arg(&self.url);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let wrk = cores::beside(self.workers, || command.spawn().context("cannot run wrk"))?;
        let output = wrk.wait_with_output()?;
        let busy = usage::processor_time_of_children()?.saturating_sub(before);
        let client = usage::percent(busy, begun.elapsed());
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success(),
            "wrk: {}{}",
            said.trim(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let used = server()?.saturating_sub(used);
        let (requests, mut samples) = figures(&said)?;
        samples.insert(1, Sample::ns_each("cpu", used, requests));
        samples.push(Sample::new("client", "%", client));
        Ok(samples)
    }
}

/// The number of requests, and the figures, in what wrk has printed.
fn figures(said: &str) -> Result<(u64, Vec<Sample>)> {
    if let Some(errors) =
        said.lines().map(str::trim).find(|l| l.starts_with("Socket errors") || l.starts_with("Non-2xx"))
    {
        bail!("wrk: {errors}");
    }
    let field = |name: &str| {
        let value = said.lines().find_map(|l| l.trim().strip_prefix(name)).map(str::trim);
        value.with_context(|| format!("wrk prints no {name}: {said}"))
    };
    let rate: f64 = field("Requests/sec:")?.parse().context("wrk's rate")?;
    ensure!(rate > 0.0, "no request was answered");
    let requests =
        said.lines().find_map(|l| l.trim().split_once(" requests in ")).context("no number of requests")?.0;
    let samples = vec![
        Sample::new("request", "ns", 1e9 / rate),
        Sample::new("p50", "us", micros(field("50%")?)?),
        Sample::new("p99", "us", micros(field("99%")?)?),
    ];
    Ok((requests.parse().context("wrk's number of requests")?, samples))
}

/// A time as wrk prints it, such as `1.25ms`.
fn micros(text: &str) -> Result<f64> {
    for (unit, factor) in [("us", 1.0), ("ms", 1e3), ("s", 1e6)] {
        if let Some(number) = text.strip_suffix(unit) {
            return Ok(number.parse::<f64>().with_context(|| format!("not a time: {text}"))? * factor);
        }
    }
    bail!("not a time: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Running 1s test @ http://127.0.0.1:1/\n  1 threads and 64 connections\n  Latency Distribution\n     50%  521.00us\n     99%    1.25ms\n  90 requests in 1.00s\nRequests/sec: 100000.00\nTransfer/sec: 1.00MB\n";

    #[test]
    fn figures_are_read() {
        let expected = [
            Sample::new("request", "ns", 1e4),
            Sample::new("p50", "us", 521.0),
            Sample::new("p99", "us", 1250.0),
        ];
        let (requests, samples) = figures(SAID).unwrap();
        assert_eq!((requests, &samples[..]), (90, &expected[..]));
    }

    #[test]
    fn errors_are_reported() {
        let said = format!("{SAID}  Socket errors: connect 0, read 3, write 0, timeout 0\n");
        assert!(figures(&said).unwrap_err().to_string().contains("read 3"));
        assert!(figures("").is_err() && figures(&SAID.replace("100000.00", "0.00")).is_err());
    }

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(micros("2.00s").unwrap(), 2e6);
        assert!(micros("2.00").is_err());
    }
}
