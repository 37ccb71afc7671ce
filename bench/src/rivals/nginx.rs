//! nginx with a minimal configuration, in a directory of its own.

use crate::harness::Runner;
use crate::harness::programs::find;
use crate::work::http::{Server, Site, free_port};
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;

/// The default: each request opens the file.
pub fn plain(workers: usize) -> Result<Runner> {
    http(workers, "off")
}

/// Keeps files open and caches their metadata for a second, as swerve does.
pub fn caching(workers: usize) -> Result<Runner> {
    http(workers, "max=1000; open_file_cache_valid 1s")
}

/// No access log, sendfile, and practically no limit on the requests of a connection.
fn http(workers: usize, open_file_cache: &str) -> Result<Runner> {
    let nginx = find("nginx")?;
    let site = Site::new()?;
    let address = free_port()?;
    let place = site.place().display();
    let configuration = format!(
        "worker_processes {workers};
daemon off;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache {open_file_cache};
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    server {{ listen {address}; root {root}; }}
}}
",
        root = site.root().display()
    );
    let file = site.place().join("nginx.conf");
    fs::write(&file, configuration).context("cannot write nginx.conf")?;
    let mut command = Command::new(nginx);
    // Without `-e` it would open the system's log before it reads the configuration.
    command.arg("-c").arg(file).arg("-e").arg(site.place().join("error.log")).arg("-p").arg(site.place());
    Server::start(command, address, site, workers)?.runner()
}
