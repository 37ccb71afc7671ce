//! The endpoint of a process: its kernel thread is named `lamprey:PORT`, and has a socket that listens there.

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How the name of the kernel thread begins that takes the endpoint's connections.
const NAME: &str = "lamprey:";

/// HOST:PORT of the endpoint of the process `number`.
pub fn address_of(number: &str) -> Result<String, String> {
    let there_is_none = || format!("there is no process {number} (an address is written HOST:PORT)");
    let pid: i32 = number.parse().map_err(|_| there_is_none())?;
    let process = Process::new(pid).map_err(|_| there_is_none())?;
    let ports = ports(&process);
    if ports.is_empty() {
        return Err(none(number));
    }
    let mut entries = process.tcp().unwrap_or_default();
    entries.extend(process.tcp6().unwrap_or_default());
    let own = sockets(&process);
    let is_it = |entry: &&TcpNetEntry| {
        entry.state == TcpState::Listen
            && ports.contains(&entry.local_address.port())
            && own.as_ref().is_none_or(|own| own.contains(&entry.inode))
    };
    let entry = entries.iter().find(is_it).ok_or_else(|| none(number))?;
    let mut address = entry.local_address;
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    Ok(address.to_string())
}

/// The ports that names of its kernel threads tell.
fn ports(process: &Process) -> Vec<u16> {
    let tasks = process.tasks().into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| task.stat().ok()).map(|stat| stat.comm);
    names.filter_map(|name| name.strip_prefix(NAME)?.parse().ok()).collect()
}

/// The sockets that it has open; `None` if that may not be read.
fn sockets(process: &Process) -> Option<HashSet<u64>> {
    let all = process.fd().ok()?.filter_map(|fd| match fd.ok()?.target {
        FDTarget::Socket(inode) => Some(inode),
        _ => None,
    });
    Some(all.collect())
}

fn none(number: &str) -> String {
    format!(
        "process {number} has opened no endpoint (lamprey::inspect::serve). A program that has called inspect::dump_at prints its threads at \
         `kill -QUIT {number}`; of any other `gdb -p {number} -batch -x tools/gdb_hosts.py -ex 'lamprey-hosts bt'` lists them"
    )
}
