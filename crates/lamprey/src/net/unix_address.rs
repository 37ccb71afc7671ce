//! Addresses of Unix sockets, from those of the standard library to those of the kernel and back.

use crate::sched::coop;
use rustix::net::{SocketAddrAny, SocketAddrUnix};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;
use std::path::Path;

pub(super) fn by_path(path: &Path) -> io::Result<SocketAddrUnix> {
    // The standard library checks the path and words the errors; it rejects an empty path, which names no
    // socket.
    to_kernel(&coop::looked(SocketAddr::from_pathname(path), Result::is_err)?)
}

pub(super) fn to_kernel(address: &SocketAddr) -> io::Result<SocketAddrUnix> {
    if let Some(path) = address.as_pathname() {
        return Ok(SocketAddrUnix::new(path.as_os_str().as_bytes())?);
    }
    match address.as_abstract_name() {
        Some(name) => Ok(SocketAddrUnix::new_abstract_name(name)?),
        None => {
            coop::look();
            Err(io::Error::new(io::ErrorKind::InvalidInput, "an unnamed Unix address names no socket"))
        }
    }
}

/// The address of a sender; one that is not bound has none.
pub(super) fn from_kernel(address: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
    let address = address.map(SocketAddrUnix::try_from).transpose()?;
    let Some(address) = address else { return SocketAddr::from_pathname("") };
    if let Some(name) = address.abstract_name() {
        return SocketAddr::from_abstract_name(name);
    }
    let path = address.path_bytes().unwrap_or_default();
    // Some kernels count the terminating zero.
    let path = path.split(|&byte| byte == 0).next().unwrap_or_default();
    SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path))
}
