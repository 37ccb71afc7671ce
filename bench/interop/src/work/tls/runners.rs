//! The loads on a server of this process.

use crate::work::http::Server;
use anyhow::{Context, Result};
use bench_harness::process::Variant as Process;
use bench_harness::{Runner, Sample, cores, usage};
use std::process::Command;
use std::time::Duration;

/// Starts a server, and its clients in another process.
fn start<S>(workers: usize, what: &str, server: impl FnOnce() -> Result<Server<S>>) -> Result<(S, Process)> {
    cores::serve(workers)?;
    let Server { lives, address, .. } = server()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["tls-clients", what, &address.to_string()]);
    Ok((lives, cores::beside(workers, || Process::start(&mut command))?))
}

fn seconds(samples: &[Sample], metric: &str) -> Result<Duration> {
    let sample = samples.iter().find(|sample| sample.metric == metric);
    Ok(Duration::from_secs_f64(sample.with_context(|| format!("the clients say no {metric}"))?.value))
}

/// So many MiB each way over one connection; `cpu` is the server's processor time for a MiB that goes out and one that comes in.
pub fn bulk<S: 'static>(workers: usize, server: impl FnOnce() -> Result<Server<S>>) -> Result<Runner> {
    let (lives, mut clients) = start(workers, "bulk", server)?;
    Ok(Box::new(move |mebibytes| {
        let _serves = &lives;
        let used = usage::processor_time()?;
        let (_, samples) = clients.run(mebibytes)?;
        let used = usage::processor_time()?.saturating_sub(used);
        Ok(vec![
            Sample::ns_each("send", seconds(&samples, "send")?, mebibytes),
            Sample::ns_each("receive", seconds(&samples, "receive")?, mebibytes),
            Sample::ns_each("cpu", used, mebibytes),
        ])
    }))
}

/// So many handshakes, by 16 clients at a time; `cpu` is the server's processor time for each.
pub fn handshakes<S: 'static>(workers: usize, server: impl FnOnce() -> Result<Server<S>>) -> Result<Runner> {
    let (lives, mut clients) = start(workers, "handshakes", server)?;
    Ok(Box::new(move |count| {
        let _serves = &lives;
        let used = usage::processor_time()?;
        let (_, samples) = clients.run(count)?;
        let used = usage::processor_time()?.saturating_sub(used);
        Ok(vec![
            Sample::ns_each("handshake", seconds(&samples, "handshakes")?, count),
            Sample::ns_each("cpu", used, count),
        ])
    }))
}
