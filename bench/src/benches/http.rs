//! A web server with a real file, under a bounded load from this process.
//!
//! `client` is the part of the time for which the load client was busy: near 100, the client was measured and
//! not the server.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::nginx;
use crate::work::http::{Server, Site, free_port};
use anyhow::Result;
use std::process::Command;
use std::time::Duration;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "http",
    about: "GET a file of 10 KB over 64 keep-alive connections, each asking again when it is answered; ns of wall time for each \
            request; client: % of the time that the load client computed",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 640, goal: Duration::from_secs(1) },
    runs: 7,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival_around("nginx", "nginx", nginx::plain),
        Variant::rival_around("nginx-caching", "nginx", nginx::caching),
    ],
};

/// Lamprey's server, as `lamprey serve` runs it, in a process of its own.
fn lamprey(workers: usize) -> Result<Runner> {
    let site = Site::new()?;
    let address = free_port()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg(site.root()).arg("--addr").arg(address.to_string());
    command.arg("--workers").arg(workers.to_string());
    Server::start(command, address, site, workers)?.runner()
}
