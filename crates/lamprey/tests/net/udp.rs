//! UDP between hosts, and between a host and the standard library.

use crate::common::*;
use lamprey::net::UdpSocket;
use std::io::ErrorKind;
use std::time::Duration;

fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").unwrap()
}

#[test]
fn hosts_exchange_datagrams() {
    run(2, || {
        let (a, b) = (socket(), socket());
        let (to_a, to_b) = (a.local_addr().unwrap(), b.local_addr().unwrap());
        let echo = lamprey::spawn(move || {
            let mut buf = [0; 64];
            for _ in 0..200 {
                let (received, from) = b.recv_from(&mut buf).unwrap();
                assert_eq!(from, to_a);
                b.send_to(&buf[..received], from).unwrap();
            }
        });
        a.connect(to_b).unwrap();
        assert_eq!(a.peer_addr().unwrap(), to_b);
        for turn in 0..200_u32 {
            a.send(&turn.to_ne_bytes()).unwrap();
            let mut buf = [0; 64];
            assert_eq!(a.recv(&mut buf).unwrap(), 4);
            assert_eq!(buf[..4], turn.to_ne_bytes());
        }
        echo.join().unwrap();
    });
}

#[test]
fn a_std_peer_gets_and_sends_datagrams() {
    run(1, || {
        let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let to_peer = peer.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let mut buf = [0; 16];
            let (received, from) = peer.recv_from(&mut buf).unwrap();
            peer.send_to(&buf[..received], from).unwrap();
        });
        let socket = socket();
        socket.send_to(b"hello", to_peer).unwrap();
        let mut buf = [0; 16];
        assert_eq!(socket.recv_from(&mut buf).unwrap(), (5, to_peer));
        thread.join().unwrap();
    });
}

#[test]
fn peeking_leaves_the_datagram() {
    run(1, || {
        let (a, b) = (socket(), socket());
        a.send_to(b"datagram", b.local_addr().unwrap()).unwrap();
        let mut buf = [0; 4];
        assert_eq!(b.peek_from(&mut buf).unwrap(), (4, a.local_addr().unwrap()));
        let mut whole = [0; 16];
        assert_eq!(b.recv(&mut whole).unwrap(), 8);
    });
}

#[test]
fn a_receive_that_exceeds_its_timeout_fails() {
    run(1, || {
        let socket = socket();
        socket.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        assert_eq!(socket.recv_from(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
    });
}

#[test]
fn a_datagram_to_nobody_comes_back_as_an_error() {
    run(1, || {
        // A socket that listens to somebody else only is nobody to us, and keeps the address to itself.
        let (elsewhere, other) = (socket(), socket());
        elsewhere.connect(other.local_addr().unwrap()).unwrap();
        let address = elsewhere.local_addr().unwrap();
        let socket = socket();
        socket.connect(address).unwrap();
        socket.send(b"x").unwrap();
        assert_eq!(socket.recv(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn options_reach_the_kernel() {
    run(1, || {
        let socket = socket();
        socket.set_broadcast(true).unwrap();
        socket.set_multicast_ttl_v4(3).unwrap();
        assert!(socket.broadcast().unwrap());
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 3);
    });
}

#[test]
fn closing_ends_a_receive_that_waits() {
    run(1, || {
        let socket = std::sync::Arc::new(socket());
        let theirs = socket.clone();
        let receiver = blocked(move || theirs.recv(&mut [0]).unwrap_err());
        socket.close();
        let error = receiver.join().unwrap();
        assert!(error.get_ref().unwrap().is::<lamprey::net::Closed>());
        assert!(socket.send_to(b"x", "127.0.0.1:9").is_err());
    });
}
