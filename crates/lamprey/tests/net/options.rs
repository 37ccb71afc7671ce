//! Options of sockets, and descriptors of other owners.

use crate::common::*;
use lamprey::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixStream};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

#[test]
fn what_is_set_is_what_is_got() {
    run(1, || {
        let listener = TcpListener::bind(HERE).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(stream.linger().unwrap(), None);
        stream.set_linger(Some(Duration::from_secs(3))).unwrap();
        assert_eq!(stream.linger().unwrap(), Some(Duration::from_secs(3)));
        stream.set_keepalive(true).unwrap();
        stream.set_keepalive_time(Duration::from_secs(60)).unwrap();
        stream.set_keepalive_interval(Duration::from_secs(5)).unwrap();
        stream.set_keepalive_retries(4).unwrap();
        assert!(stream.keepalive().unwrap());
        assert_eq!(stream.keepalive_time().unwrap(), Duration::from_secs(60));
        assert_eq!(stream.keepalive_interval().unwrap(), Duration::from_secs(5));
        assert_eq!(stream.keepalive_retries().unwrap(), 4);
        assert!(stream.set_keepalive_retries(u32::MAX).is_err());
        stream.set_quickack(true).unwrap();
        stream.set_tos_v4(0x10).unwrap();
        assert_eq!(stream.tos_v4().unwrap(), 0x10);
        assert!(stream.tclass_v6().is_err(), "it is of IPv4");
        stream.set_send_buffer_size(64 << 10).unwrap();
        assert!(stream.send_buffer_size().unwrap() >= 64 << 10);

        let udp = UdpSocket::bind(HERE).unwrap();
        udp.set_recv_buffer_size(64 << 10).unwrap();
        assert!(udp.recv_buffer_size().unwrap() >= 64 << 10);
        udp.set_multicast_if_v4(Ipv4Addr::LOCALHOST).unwrap();
        assert_eq!(udp.multicast_if_v4().unwrap(), Ipv4Addr::LOCALHOST);
        let (unix, _) = UnixStream::pair().unwrap();
        unix.set_send_buffer_size(64 << 10).unwrap();
        assert!(unix.send_buffer_size().unwrap() >= 64 << 10);
    });
}

#[test]
fn a_linger_of_zero_resets() {
    run(1, || {
        let listener = TcpListener::bind(HERE).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        stream.set_linger(Some(Duration::ZERO)).unwrap();
        drop(stream);
        assert_eq!(peer.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_socket_is_set_up_before_it_listens_or_connects() {
    run(1, || {
        let socket = || {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseport(true).unwrap();
            assert!(socket.reuseport().unwrap());
            socket
        };
        let first = socket();
        first.bind(HERE).unwrap();
        let address = first.local_addr().unwrap();
        let first = first.listen(16).unwrap();
        // A second one at the same port.
        let second = socket();
        second.bind(address).unwrap();
        drop(second.listen(16).unwrap());
        let third = TcpSocket::new_v4().unwrap();
        assert_eq!(third.bind(address).unwrap_err().kind(), ErrorKind::AddrInUse);

        let from = TcpSocket::new_v4().unwrap();
        from.bind((Ipv4Addr::new(127, 0, 0, 3), 0).into()).unwrap();
        let stream = from.connect_timeout(address, FOREVER).unwrap();
        let (_, peer) = first.accept().unwrap();
        assert_eq!(peer.ip(), Ipv4Addr::new(127, 0, 0, 3));
        assert_eq!(stream.local_addr().unwrap(), peer);
        let awaited = lamprey::wait(TcpSocket::new_v4().unwrap().connect_async(address)).unwrap();
        assert_eq!(awaited.peer_addr().unwrap(), address);
        drop(first);
        let refused = TcpSocket::new_v4().unwrap().connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn descriptors_of_others_are_checked() {
    run(1, || {
        let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        listener.bind(&HERE.into()).unwrap();
        let error = TcpListener::from_fd(listener.try_clone().unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("TcpListener: it is a socket that does not listen"), "{error}");
        listener.listen(8).unwrap();
        let error = TcpStream::from_fd(listener.try_clone().unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("TcpStream: it is a socket that listens"), "{error}");
        let listener = TcpListener::from_fd(listener).unwrap();
        let connecting = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        let connecting = TcpSocket::try_from(OwnedFd::from(connecting)).unwrap();
        let mut stream = connecting.connect(listener.local_addr().unwrap()).unwrap();
        stream.write_all(b"hello").unwrap();
        let mut text = [0; 5];
        listener.accept().unwrap().0.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"hello");

        let (a, b) = UnixDatagram::pair().unwrap();
        let error = UnixStream::try_from(OwnedFd::from(a)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = UdpSocket::from_fd(b).unwrap_err();
        assert!(error.to_string().ends_with("UdpSocket: it is a socket of the family 1"), "{error}");
        let error = TcpSocket::from_fd(std::fs::File::open("/dev/null").unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("TcpSocket: it is no socket"), "{error}");
        let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let connected = std::net::TcpStream::connect(std.local_addr().unwrap()).unwrap();
        let error = TcpSocket::from_fd(connected).unwrap_err();
        assert!(error.to_string().ends_with("it is a socket that is connected"), "{error}");
        let error = TcpSocket::from_fd(std).unwrap_err();
        assert!(error.to_string().ends_with("it is a socket that listens"), "{error}");
    });
}

#[test]
fn a_simulation_keeps_options_and_changes_nothing() {
    lamprey::Runtime::simulated(1).run(|| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(([0, 0, 0, 0], 80).into()).unwrap();
        assert_eq!(socket.bind(HERE).unwrap_err().kind(), ErrorKind::InvalidInput);
        let listener = socket.listen(8).unwrap();
        assert_eq!(listener.local_addr().unwrap().port(), 80);
        let at = SocketAddr::from(([127, 0, 0, 1], 80));
        let stream = TcpSocket::new_v4().unwrap().connect(at).unwrap();
        assert_eq!(stream.linger().unwrap(), None);
        stream.set_linger(Some(Duration::ZERO)).unwrap();
        assert_eq!(stream.linger().unwrap(), Some(Duration::ZERO));
        stream.set_send_buffer_size(1).unwrap();
        stream.set_keepalive_time(Duration::from_secs(7)).unwrap();
        assert_eq!(stream.keepalive_time().unwrap(), Duration::from_secs(7));
        // A descriptor that is taken apart and put together again is still the simulation's.
        let mut stream = TcpStream::from_fd(OwnedFd::from(stream)).unwrap();
        stream.write_all(&[7; 1000]).unwrap();
        let mut bytes = [0; 1000];
        listener.accept().unwrap().0.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, [7; 1000]);
        let bound = TcpSocket::new_v4().unwrap();
        bound.bind(([0, 0, 0, 0], 81).into()).unwrap();
        let error = bound.connect(at).unwrap_err();
        assert_eq!((error.kind(), error.to_string().contains("0.0.0.0:81")), (ErrorKind::Unsupported, true));
    });
}

/// The standard library makes its sockets of any descriptor.
#[test]
fn a_socket_of_another_kind_is_refused_from_the_standard_library_too() {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let (a, b) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    let error = TcpStream::from_std(a.into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().ends_with("cannot be a TcpStream: it is a socket of the family 1"), "{error}");
    let error = lamprey::net::UnixStream::from_std(b.into()).unwrap_err();
    assert!(error.to_string().ends_with("it is a socket of the type 5"), "{error}");
}
