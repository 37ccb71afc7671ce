//! The load on a gRPC server: `h2load`, with as many calls under way as there are requests that wait for their answer.
//!
//! With one worker the server has one core and h2load another; with two they share both (`harness::cores`).

use super::grpc::{self, PATH, Text};
use super::http::Server;
use anyhow::{Context, Result, ensure};
use bench_harness::{Runner, Sample, cores, programs, usage};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Connections, and calls under way on each.
const LOADS: [(usize, usize); 2] = [(1, 32), (16, 4)];

/// Starts a server in this process, and prepares loads on it.
///
/// # Errors
/// Those of `start`; if the server's answer is wrong; if there is no h2load.
pub fn under_load<S: 'static>(workers: usize, start: impl FnOnce() -> Result<Server<S>>) -> Result<Runner> {
    cores::serve(workers)?;
    let Server { lives, address, .. } = start()?;
    grpc::check(address)?;
    let program = programs::find("h2load").context("Debian: nghttp2-client")?;
    let mut message = tempfile::NamedTempFile::new()?;
    message.write_all(&Text::usual().frame())?;
    Ok(Box::new(move |seconds| {
        let _serves = &lives;
        let mut samples = Vec::new();
        for (connections, calls) in LOADS {
            let (used, before, begun) =
                (usage::processor_time()?, usage::processor_time_of_children()?, Instant::now());
            let mut command = command(&program, address, message.path(), seconds);
            command.args([
                "--clients",
                &connections.to_string(),
                "--max-concurrent-streams",
                &calls.to_string(),
            ]);
            let h2load = cores::beside(workers, || command.spawn().context("cannot run h2load"))?;
            let output = h2load.wait_with_output()?;
            let busy = usage::processor_time_of_children()?.saturating_sub(before);
            let client = usage::percent(busy, begun.elapsed());
            let used = usage::processor_time()?.saturating_sub(used);
            let said = String::from_utf8_lossy(&output.stdout);
            ensure!(
                output.status.success(),
                "h2load: {}{}",
                said.trim(),
                String::from_utf8_lossy(&output.stderr).trim()
            );
            let (took, answered) = figures(&said)?;
            samples.push(Sample::ns_each(&format!("call_{connections}"), took, answered));
            samples.push(Sample::ns_each(&format!("cpu_{connections}"), used, answered));
            samples.push(Sample::new(&format!("client_{connections}"), "%", client));
        }
        Ok(samples)
    }))
}

fn command(program: &Path, server: SocketAddr, message: &Path, seconds: u64) -> Command {
    let mut command = Command::new(program);
    command.args(["--threads", "1", "--duration", &seconds.to_string(), "--data"]).arg(message);
    command.args(["--header", "content-type: application/grpc", "--header", "te: trailers"]);
    command.arg(format!("http://{server}{PATH}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The time that h2load took, and the number of answers with status 200.
fn figures(said: &str) -> Result<(Duration, u64)> {
    let line = |name: &str| {
        said.lines()
            .find_map(|l| l.strip_prefix(name))
            .with_context(|| format!("h2load prints no {name}: {said}"))
    };
    let took = line("finished in ")?.split(',').next().unwrap_or_default();
    let seconds = match (took.strip_suffix("ms"), took.strip_suffix('s')) {
        (Some(millis), _) => millis.parse::<f64>().context("h2load's time")? / 1e3,
        (None, seconds) => seconds.context("h2load's time")?.parse()?,
    };
    let requests = line("requests: ")?;
    let counts = |what: &str| {
        let part = requests.split(", ").find_map(|part| part.strip_suffix(what));
        part.and_then(|count| count.trim().parse::<u64>().ok())
            .with_context(|| format!("h2load prints no{what}: {requests}"))
    };
    ensure!(counts(" failed")? == 0 && counts(" errored")? == 0, "h2load: {requests}");
    let answered = line("status codes: ")?.split(" 2xx").next().unwrap_or_default();
    let answered = answered.parse().context("h2load's number of answers")?;
    ensure!(answered > 0, "no call was answered");
    Ok((Duration::from_secs_f64(seconds), answered))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\nfinished in 2.00s, 30000.00 req/s, 3.3MB/s\nrequests: 60000 total, 60032 started, 60000 done, 60000 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 60000 2xx, 0 3xx, 0 4xx, 0 5xx\n";

    #[test]
    fn figures_are_read() {
        assert_eq!(figures(SAID).unwrap(), (Duration::from_secs(2), 60_000));
        assert_eq!(figures(&SAID.replace("2.00s", "500.00ms")).unwrap().0, Duration::from_millis(500));
    }

    #[test]
    fn errors_are_reported() {
        assert!(figures(&SAID.replace("0 failed", "3 failed")).unwrap_err().to_string().contains("3 failed"));
        assert!(figures("").is_err() && figures(&SAID.replace("60000 2xx", "0 2xx")).is_err());
    }
}
