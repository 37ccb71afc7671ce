//! Datagrams: lost, duplicated, reordered; and errors.

use lamprey::net::{TcpSocket, UdpSocket};
use lamprey::sim::{self, Link, Machine};
use lamprey::{Runtime, channel};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The numbers that arrive of 0..200, in their order.
fn sent_over(seed: u64, link: Link) -> Vec<u32> {
    Runtime::simulated(seed).run(move || {
        let (ready, is_ready) = channel();
        let there = Machine::new("there");
        let receiver = there.spawn(move || {
            let socket = UdpSocket::bind("0.0.0.0:53").unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            ready.send(()).unwrap();
            let mut numbers = Vec::new();
            let mut bytes = [0; 4];
            while let Ok((count, from)) = socket.recv_from(&mut bytes) {
                assert_eq!((count, from.to_string()), (4, "10.0.0.1:49152".to_owned()));
                numbers.push(u32::from_be_bytes(bytes));
            }
            numbers
        });
        is_ready.recv().unwrap();
        sim::network().set_links(link);
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        for number in 0_u32..200 {
            assert_eq!(socket.send_to(&number.to_be_bytes(), "there:53").unwrap(), 4);
            lamprey::sleep(Duration::from_micros(50));
        }
        receiver.join().unwrap()
    })
}

#[test]
fn all_arrive_in_order_on_a_good_link() {
    let same = Duration::from_millis(1);
    assert_eq!(sent_over(1, Link::new().latency(same..=same)), (0..200).collect::<Vec<_>>());
}

#[test]
fn they_are_lost_duplicated_and_reordered() {
    let same = Duration::from_millis(1);
    let good = Link::new().latency(same..=same);
    let lossy = sent_over(2, good.loss(0.2));
    assert!((100..190).contains(&lossy.len()) && lossy.is_sorted(), "{lossy:?}");
    let twice = sent_over(3, good.duplication(0.2));
    assert!((210..300).contains(&twice.len()) && twice.is_sorted(), "{twice:?}");
    let late = sent_over(4, good.reordering(0.2));
    assert!(late.len() == 200 && !late.is_sorted(), "{late:?}");
}

#[test]
fn connected_sockets_hear_only_their_peer_and_that_nobody_is_there() {
    Runtime::simulated(5).run(|| {
        let (one, other) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let third = UdpSocket::bind("127.0.0.1:0").unwrap();
        one.connect(other.local_addr().unwrap()).unwrap();
        assert_eq!(one.peer_addr().unwrap(), other.local_addr().unwrap());
        third.send_to(b"no", one.local_addr().unwrap()).unwrap();
        lamprey::sleep(Duration::from_secs(1));
        other.send_to(b"yes", one.local_addr().unwrap()).unwrap();
        let mut bytes = [0; 9];
        assert_eq!(one.peek(&mut bytes).unwrap(), 3);
        assert_eq!((one.recv(&mut bytes).unwrap(), &bytes[..3]), (3, &b"yes"[..]));
        other.send_to(b"longer than that", one.local_addr().unwrap()).unwrap();
        assert_eq!(lamprey::wait(one.recv_async(&mut bytes)).unwrap(), 9);
        assert_eq!(lamprey::wait(one.send_async(b"back")).unwrap(), 4);
        assert_eq!(other.recv_from(&mut bytes).unwrap(), (4, one.local_addr().unwrap()));
        drop(other);
        one.send(b"anybody?").unwrap();
        assert_eq!(one.recv(&mut bytes).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn errors_are_those_of_a_real_socket() {
    Runtime::simulated(6).run(|| {
        let there = Machine::new("there");
        let socket = UdpSocket::bind("0.0.0.0:7").unwrap();
        assert_eq!(UdpSocket::bind("10.0.0.1:7").unwrap_err().kind(), ErrorKind::AddrInUse);
        assert_eq!(socket.send(b"x").unwrap_err().raw_os_error(), Some(libc::EDESTADDRREQ));
        assert_eq!(socket.send_to(&[0; 65_508], "there:7").unwrap_err().raw_os_error(), Some(libc::EMSGSIZE));
        assert_eq!(socket.send_to(b"x", "8.8.8.8:7").unwrap_err().kind(), ErrorKind::NetworkUnreachable);
        let group = (Ipv4Addr::new(239, 1, 1, 1), Ipv4Addr::UNSPECIFIED);
        assert_eq!(
            socket.join_multicast_v4(&group.0, &group.1).unwrap_err().raw_os_error(),
            Some(libc::EOPNOTSUPP)
        );
        let everybody = (Ipv4Addr::BROADCAST, 7);
        assert_eq!(socket.send_to(b"x", everybody).unwrap_err().kind(), ErrorKind::PermissionDenied);
        socket.set_broadcast(true).unwrap();
        let (ready, is_ready) = channel();
        let host = there.spawn(move || {
            let socket = UdpSocket::bind("0.0.0.0:7").unwrap();
            ready.send(()).unwrap();
            socket.recv_from(&mut [0; 9]).unwrap().1.to_string()
        });
        is_ready.recv().unwrap();
        socket.send_to(b"x", everybody).unwrap();
        assert_eq!(host.join().unwrap(), "10.0.0.1:7");
    });
}

/// The calls of a socket whose peer is not there any more. A refusal is told once, by the next call of either kind.
#[test]
fn refusals_are_told_as_by_the_kernel() {
    fn calls() -> Vec<Result<usize, ErrorKind>> {
        let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let (socket, gone) = (bind(), bind());
        socket.connect(gone.local_addr().unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        drop(gone);
        let calls: [fn(&UdpSocket) -> std::io::Result<usize>; 9] = [
            |socket| socket.send(&[1]),
            |socket| socket.send(&[1]),
            |socket| socket.send(&[1]),
            |socket| socket.recv(&mut [0]),
            |socket| socket.recv(&mut [0]),
            |socket| socket.send(&[1]),
            |socket| socket.recv(&mut [0]),
            |socket| socket.send(&[1]),
            |socket| socket.send(&[1]),
        ];
        let call = |call: fn(&UdpSocket) -> std::io::Result<usize>| {
            let result = call(&socket).map_err(|error| error.kind());
            lamprey::sleep(Duration::from_millis(20));
            result
        };
        calls.map(call).into()
    }
    let real = lamprey::run(calls);
    for seed in 0..5 {
        assert_eq!(Runtime::simulated(seed).run(calls), real);
    }
}

/// Odd arguments, by the kernel and simulated: both say the same.
#[test]
fn odd_arguments_are_refused_as_by_the_kernel() {
    fn calls() -> Vec<(&'static str, Option<i32>)> {
        let code = |result: std::io::Result<()>| result.err().and_then(|error| error.raw_os_error());
        let v4 = UdpSocket::bind("127.0.0.1:0").unwrap();
        let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = lamprey::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let tcp = |v6: bool| if v6 { TcpSocket::new_v6() } else { TcpSocket::new_v4() }.unwrap();
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        vec![
            ("to port 0", code(v4.send_to(b"x", "127.0.0.1:0").map(drop))),
            ("from v4 to v6", code(v4.send_to(b"x", "[::1]:9").map(drop))),
            ("connected from v4 to v6", code(v4.connect("[::1]:9"))),
            ("no time to live", code(v4.set_ttl(0))),
            ("no time to live of a listener", code(listener.set_ttl(0))),
            ("too long a time to live", code(stream.set_ttl(256))),
            ("the longest time to live", code(stream.set_ttl(255))),
            ("v4 bound to v6", code(tcp(false).bind(at("[::1]:0")))),
            ("v6 bound to v4", code(tcp(true).bind(at("127.0.0.1:0")))),
            ("v4 connected to v6", code(tcp(false).connect(at("[::1]:9")).map(drop))),
            ("v6 connected to v4", code(tcp(true).connect(at("127.0.0.1:9")).map(drop))),
        ]
    }
    assert_eq!(Runtime::simulated(1).run(calls), lamprey::run(calls));
}
