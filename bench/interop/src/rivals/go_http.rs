//! Go's `net/http`: the program in `bench/go`, whose first sample is its port.

use crate::work::http::{HELLO, Server, under_load};
use anyhow::{Context, Result};
use bench_harness::process::Variant as Process;
use bench_harness::{Runner, programs};
use std::process::Command;

/// The server.
pub fn hello(workers: usize) -> Result<Runner> {
    under_load(workers, "/", HELLO, || {
        let mut command = Command::new(programs::go::program()?);
        let mut server = Process::start(command.args(["http", &workers.to_string()]))?;
        let (_, samples) = server.run(1)?;
        let port = samples.first().context("Go's server says no port")?.value;
        let process = Some(server.id());
        Ok(Server { lives: server, address: ([127, 0, 0, 1], port as u16).into(), process })
    })
}
