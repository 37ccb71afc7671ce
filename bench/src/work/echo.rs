//! The clients of an echo server, for any server: for each crowd a process with many connections.
//!
//! With one worker, the server is kept on one core and the clients on another (`harness::cores`).

mod clients;

pub use clients::serve_orders;

use crate::harness::process::Variant as Process;
use crate::harness::report::is_tiny;
use crate::harness::{Runner, Sample, cores};
use anyhow::Result;
use std::net::SocketAddr;
use std::process::Command;

/// The numbers of connections; of a tiny run fewer.
pub fn crowds() -> [usize; 2] {
    if is_tiny() { [4, 64] } else { [64, 10_000] }
}

/// The length of a message.
pub const MESSAGE: usize = 1 << 10;

/// The processes of the clients, one for each of [`crowds`].
pub struct Load(Vec<Process>);

impl Load {
    /// Starts a server with `start` for each crowd, and its clients.
    pub fn start(workers: usize, mut start: impl FnMut() -> Result<SocketAddr>) -> Result<Self> {
        let mut processes = Vec::new();
        for crowd in crowds() {
            let server = start()?;
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("clients").arg(server.to_string()).arg(crowd.to_string());
            processes.push(cores::beside(workers, || Process::start(&mut command))?);
        }
        Ok(Self(processes))
    }

    /// Exchanges messages over each crowd in turn.
    pub fn run(&mut self, messages: u64) -> Result<Vec<Sample>> {
        let mut samples = Vec::new();
        for (process, crowd) in self.0.iter_mut().zip(crowds()) {
            let (_, of_crowd) = process.run(messages)?;
            let named = |sample: Sample| Sample { metric: format!("{}_{crowd}", sample.metric), ..sample };
            samples.extend(of_crowd.into_iter().map(named));
        }
        Ok(samples)
    }
}

/// The load on a server that lives as long as `server`.
pub fn runner<S: 'static>(
    workers: usize,
    server: S,
    mut start: impl FnMut(&S) -> Result<SocketAddr>,
) -> Result<Runner> {
    let mut load = Load::start(workers, || start(&server))?;
    Ok(Box::new(move |messages| {
        let _serves = &server;
        load.run(messages)
    }))
}
