//! What a descriptor is: the addresses of a socket, the path of a file. It is asked for when a report is written, so that a thread that waits
//! pays nothing for it.
//!
//! A report may be written long after the thread was looked at. The descriptor may have been closed since, and its number be another's: then the
//! report says what it is now.

use rustix::fs::readlink;
use rustix::net::{AddressFamily, SocketAddrAny, SocketType, getpeername, getsockname, sockopt};
use std::fmt;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};

/// What the descriptor with this number is, for people; `None` if there is none.
pub(super) fn description(number: u64) -> Option<String> {
    let number = RawFd::try_from(number).ok()?;
    // SAFETY: it is not -1. It may be closed at any time: what is asked below changes nothing, whatever the number stands for, and fails if for
    // nothing.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    of_socket(fd).or_else(|| of_file(number))
}

fn of_socket(fd: BorrowedFd<'_>) -> Option<String> {
    let family = sockopt::socket_domain(fd).ok()?;
    let local = getsockname(fd).ok().and_then(address);
    let peer = getpeername(fd).ok().flatten().and_then(address);
    let kind = match sockopt::socket_type(fd).ok()? {
        SocketType::STREAM if is_of_internet(family) => "TCP",
        SocketType::DGRAM if is_of_internet(family) => "UDP",
        _ if family == AddressFamily::UNIX => "Unix",
        _ => "other",
    };
    let listens = sockopt::socket_acceptconn(fd) == Ok(true);
    Some(match (local, peer) {
        (Some(local), _) if listens => format!("{kind} listener at {local}"),
        (Some(local), Some(peer)) => format!("{kind} socket from {local} to {peer}"),
        (Some(local), None) => format!("{kind} socket at {local}"),
        (None, Some(peer)) => format!("{kind} socket to {peer}"),
        (None, None) => format!("{kind} socket"),
    })
}

fn is_of_internet(family: AddressFamily) -> bool {
    matches!(family, AddressFamily::INET | AddressFamily::INET6)
}

/// `None` for a socket that has no address.
fn address(address: SocketAddrAny) -> Option<String> {
    if let Ok(address) = SocketAddr::try_from(address.clone()) {
        return Some(address.to_string());
    }
    let address = rustix::net::SocketAddrUnix::try_from(address).ok()?;
    match (address.path_bytes(), address.abstract_name()) {
        (Some(path), _) if !path.is_empty() => Some(escaped(path)),
        (_, Some(name)) if !name.is_empty() => Some(format!("@{}", escaped(name))),
        _ => None,
    }
}

/// What `/proc` says of a descriptor that is no socket: a path, or the kind of what has none.
fn of_file(number: RawFd) -> Option<String> {
    let text = readlink(format!("/proc/self/fd/{number}"), Vec::new()).ok()?;
    let text = escaped(text.as_bytes());
    Some(match text.strip_prefix("anon_inode:") {
        Some(kind) => kind.trim_matches(['[', ']']).to_owned(),
        None => text.split_once(":[").map_or(text.as_str(), |(kind, _)| kind).to_owned(),
    })
}

/// Bytes of the program's, or of others, as text that is safe in a terminal.
fn escaped(bytes: &[u8]) -> String {
    bytes.utf8_chunks().fold(String::new(), |text, chunk| {
        let invalid =
            fmt::from_fn(|f| chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}")));
        text + &format!("{}{invalid}", chunk.valid().escape_debug())
    })
}

#[cfg(test)]
mod tests {
    use super::{description, escaped};
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
    use std::{fs, net};

    fn of(fd: &impl AsRawFd) -> String {
        description(fd.as_raw_fd().try_into().unwrap()).unwrap()
    }

    #[test]
    fn sockets_of_the_internet() {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        assert_eq!(of(&listener), format!("TCP listener at {here}"));
        let stream = net::TcpStream::connect(here).unwrap();
        assert_eq!(of(&stream), format!("TCP socket from {} to {here}", stream.local_addr().unwrap()));
        let socket = net::UdpSocket::bind("[::1]:0").unwrap();
        assert_eq!(of(&socket), format!("UDP socket at {}", socket.local_addr().unwrap()));
        socket.connect(socket.local_addr().unwrap()).unwrap();
        assert_eq!(of(&socket), format!("UDP socket from {0} to {0}", socket.local_addr().unwrap()));
    }

    #[test]
    fn unix_sockets() {
        let folder = std::env::temp_dir().join(format!("lamprey-descriptor-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a\nb");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(of(&listener), format!("Unix listener at {}/a\\nb", folder.display()));
        let stream = UnixStream::connect(&path).unwrap();
        assert_eq!(of(&stream), format!("Unix socket to {}/a\\nb", folder.display()));
        assert_eq!(of(&UnixDatagram::unbound().unwrap()), "Unix socket");
        let name = format!("lamprey descriptor {}", std::process::id());
        let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        assert_eq!(of(&hidden), format!("Unix listener at @{name}"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_no_socket() {
        let (reader, _writer) = std::io::pipe().unwrap();
        assert_eq!(of(&reader), "pipe");
        assert_eq!(of(&fs::File::open("/dev/null").unwrap()), "/dev/null");
        let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        assert_eq!(of(&event), "eventfd");
        assert_eq!(description(RawFd::MAX.try_into().unwrap()), None);
        assert_eq!(description(u64::MAX), None);
    }

    #[test]
    fn bytes_that_are_no_text() {
        assert_eq!(escaped(b"a\xff\x1b[2Jz"), "a\\xff\\u{1b}[2Jz");
    }
}
