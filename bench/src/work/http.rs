//! The site, the process that serves it, and the load, for any server.
//!
//! With one worker, the server is kept on one core and the client on another, so that the scheduler's
//! decisions are not measured. With more, they share all cores; that is the same for Lamprey and its rivals.

use super::load::Load;
use crate::harness::{Runner, Sample, cores, usage};
use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const CONNECTIONS: usize = 64;
const FILE: &str = "file.bin";
const FILE_SIZE: usize = 10 << 10;

/// A directory with one file to serve, and room for a server's own files.
pub struct Site {
    place: TempDir,
    body: Vec<u8>,
}

impl Site {
    /// A new site.
    pub fn new() -> Result<Self> {
        let place = tempfile::tempdir().context("cannot make a directory")?;
        let site = Self { place, body: (0..FILE_SIZE).map(|i| (i % 251) as u8).collect() };
        fs::create_dir(site.root())?;
        fs::write(site.root().join(FILE), &site.body)?;
        // nginx started by root serves as user nobody, which must be able to read the site.
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(site.place(), everybody)?;
        Ok(site)
    }

    /// The directory around the served one.
    pub fn place(&self) -> &Path {
        self.place.path()
    }

    /// The served directory.
    pub fn root(&self) -> PathBuf {
        self.place().join("www")
    }
}

/// An address that was free a moment ago.
pub fn free_port() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?)
}

/// A server process and its site. Its drop ends the process.
pub struct Server {
    child: Child,
    address: SocketAddr,
    site: Site,
}

impl Server {
    /// Starts `command` and waits until it accepts connections.
    pub fn start(mut command: Command, address: SocketAddr, site: Site, workers: usize) -> Result<Self> {
        let apart = cores::apart(workers);
        if apart {
            // Child processes inherit this; the thread moves to its own core below.
            cores::stay_on(0)?;
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child =
            command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?;
        if apart {
            cores::stay_on(1)?;
        }
        let mut server = Self { child, address, site };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended with {status}");
            }
            if begun.elapsed() > Duration::from_secs(10) {
                bail!("the server does not listen on {address}");
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(server)
    }

    /// A runner that puts the load on this server.
    pub fn runner(self) -> Result<Runner> {
        Ok(Box::new(move |requests| {
            let used = usage::processor_time()?;
            let begun = Instant::now();
            let path = format!("/{FILE}");
            let body = &self.site.body;
            let load = Load { server: self.address, connections: CONNECTIONS, path: &path, body };
            let took = load.run(requests)?;
            let busy = usage::processor_time()?.saturating_sub(used);
            Ok(vec![
                Sample::ns_each("request", took, requests),
                Sample::new("client", "%", usage::percent(busy, begun.elapsed())),
            ])
        }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // TERM, so that nginx ends its workers. The child has not been waited for, so its process number is
        // still valid.
        let asked = kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM);
        let begun = Instant::now();
        while asked.is_ok() && begun.elapsed() < Duration::from_secs(3) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let ended = self.child.kill().and_then(|()| self.child.wait());
        if let Err(e) = ended {
            eprintln!("bench: cannot end server process {}: {e}", self.child.id());
        }
    }
}
