//! Go's echo server: the program in `go/`, whose first sample is its port.

use crate::harness::process::Variant as Process;
use crate::harness::{Runner, cores, programs};
use crate::work::echo::runner;
use anyhow::{Context, Result};
use std::cell::RefCell;
use std::process::Command;

/// The server of Lamprey's bench, with goroutines.
pub fn echo(workers: usize) -> Result<Runner> {
    cores::serve(workers)?;
    let server = Process::start(Command::new(programs::go::program()?).args(["echo", &workers.to_string()]))?;
    runner(workers, RefCell::new(server), |server| {
        let (_, samples) = server.borrow_mut().run(1)?;
        let port = samples.first().context("Go's server says no port")?.value;
        Ok(([127, 0, 0, 1], port as u16).into())
    })
}
