//! Which sockets an address reaches, and errors of sockets without connections: beside the kernel's.

use lamprey::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use lamprey::sim::Machine;
use lamprey::{Runtime, sleep};
use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
/// Time in which a datagram arrives, or its refusal.
const REST: Duration = Duration::from_millis(50);

fn said<T: Debug>(result: io::Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?} {:?}", error.kind(), error.raw_os_error()),
    }
}

/// Asks the kernel and simulations. A port that the kernel has chosen may be another program's at an address beside: what differs is
/// asked again.
fn both_say(what: fn() -> Vec<String>) {
    let mut real = lamprey::run(what);
    for seed in 0..3 {
        let simulated = Runtime::simulated(seed).run(what);
        for _ in 0..4 {
            if difference(&real, &simulated).is_some() {
                real = lamprey::run(what);
            }
        }
        let difference = difference(&real, &simulated);
        assert!(difference.is_none(), "{}", difference.unwrap());
    }
}

fn difference(real: &[String], simulated: &[String]) -> Option<String> {
    let differing = real.iter().zip(simulated).filter(|(real, simulated)| real != simulated);
    let lines: Vec<_> =
        differing.map(|(real, simulated)| format!("{real}\n  simulated: {simulated}")).collect();
    (!lines.is_empty() || real.len() != simulated.len()).then(|| lines.join("\n"))
}

/// Addresses of this machine, of IPv6 too if it has any.
fn own() -> Vec<&'static str> {
    let has_six = std::net::TcpListener::bind("[::1]:0").is_ok();
    let four = ["0.0.0.0", "127.0.0.1", "127.0.0.2"];
    let six = ["::", "::1", "::ffff:127.0.0.1", "::ffff:127.0.0.2"];
    four.into_iter().chain(six.into_iter().filter(|_| has_six)).collect()
}

/// Who connects to `to`, at the port of a listener on `at`: the addresses of both ends, as each sees them.
fn met(at: &str, to: &str) -> String {
    let listener = TcpListener::bind(SocketAddr::new(at.parse().unwrap(), 0)).unwrap();
    let to = SocketAddr::new(to.parse().unwrap(), listener.local_addr().unwrap().port());
    let ip = |address: io::Result<SocketAddr>| address.unwrap().ip();
    said(TcpStream::connect_timeout(&to, MINUTE).map(|client| {
        let (server, from) = listener.accept().unwrap();
        let ends: [IpAddr; 4] =
            [ip(client.local_addr()), ip(client.peer_addr()), ip(server.local_addr()), from.ip()];
        ends
    }))
}

#[test]
fn listeners_are_reached_as_the_kernels() {
    both_say(|| {
        let pairs = own().into_iter().flat_map(|at| own().into_iter().map(move |to| (at, to)));
        pairs.map(|(at, to)| format!("{to} to a listener on {at}: {}", met(at, to))).collect()
    });
}

/// Where a socket on `at` says that it is, when it has connected to one on `to`; and who that one says has sent to it, and the other way.
fn exchanged(at: &str, to: &str) -> Vec<String> {
    let on = |ip: &str| UdpSocket::bind(SocketAddr::new(ip.parse().unwrap(), 0)).unwrap();
    let (near, far) = (on(at), on(to));
    let port = |socket: &UdpSocket| socket.local_addr().unwrap().port();
    let towards = |ip: &str, socket: &UdpSocket| SocketAddr::new(ip.parse().unwrap(), port(socket));
    let ip = |address: io::Result<SocketAddr>| said(address.map(|address| address.ip()));
    let receive = |socket: &UdpSocket| {
        socket.set_read_timeout(Some(MINUTE)).unwrap();
        said(socket.recv_from(&mut [0; 5]).map(|(count, from)| (count, from.ip())))
    };
    let sent = near.send_to(b"one", towards(to, &far));
    let mut all = vec![said(sent.as_ref().map_err(|error| error.kind().into()))];
    if sent.is_ok() {
        all.push(receive(&far));
    }
    let connected = near.connect(towards(to, &far));
    let is_connected = connected.is_ok();
    all.extend([said(connected), ip(near.local_addr()), ip(near.peer_addr())]);
    if is_connected {
        all.extend([said(near.send(b"two")), receive(&far)]);
        let back = SocketAddr::new(near.local_addr().unwrap().ip(), port(&near));
        let answered = far.send_to(b"back", back);
        let arrives = answered.is_ok();
        all.push(said(answered.map_err(|error| error.kind().into())));
        if arrives {
            all.push(receive(&near));
        }
    }
    all
}

#[test]
fn datagrams_are_exchanged_as_by_the_kernel() {
    both_say(|| {
        let pairs = own().into_iter().flat_map(|at| own().into_iter().map(move |to| (at, to)));
        // Which addresses a socket that has one of its own does not reach is not told apart.
        let pairs = pairs.filter(|(at, to)| ["0.0.0.0", "::", *to].contains(at));
        pairs.map(|(at, to)| format!("from {at} to {to}: {:?}", exchanged(at, to))).collect()
    });
}

#[test]
fn one_port_on_several_addresses_as_the_kernels() {
    both_say(|| {
        let pairs = own().into_iter().flat_map(|first| own().into_iter().map(move |second| (first, second)));
        pairs
            .map(|(first, second)| {
                let on = |ip: &str, port| TcpListener::bind(SocketAddr::new(ip.parse().unwrap(), port));
                let listener = on(first, 0).unwrap();
                let port = listener.local_addr().unwrap().port();
                format!("{second} beside {first}: {}", said(on(second, port).map(drop)))
            })
            .collect()
    });
}

#[test]
fn options_are_kept_in_whole_seconds_as_by_the_kernel() {
    both_say(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let most = Duration::from_secs(i32::MAX as u64);
        let nano = Duration::from_nanos(1);
        let times =
            [Duration::ZERO, nano, Duration::from_millis(1500), Duration::from_secs(2), most, most + nano];
        let far = [Duration::from_secs(32767), Duration::from_secs(32768), Duration::MAX];
        let mut all = Vec::new();
        for time in times.into_iter().chain(far) {
            all.push(format!("linger {time:?}: {}", said(stream.set_linger(Some(time)))));
            all.push(said(stream.linger()));
            all.push(format!("time {time:?}: {}", said(stream.set_keepalive_time(time))));
            all.push(format!("interval {time:?}: {}", said(stream.set_keepalive_interval(time))));
            if stream.set_keepalive_time(time).is_ok() {
                all.extend([said(stream.keepalive_time()), said(stream.keepalive_interval())]);
            }
        }
        all.extend([said(stream.set_linger(None)), said(stream.linger())]);
        all.extend([0, 1, 127, 128, u32::MAX].map(|count| said(stream.set_keepalive_retries(count))));
        all
    });
}

/// A socket of the family of `ip`, which shares its address or not.
fn socket_for(ip: &str, shares: bool) -> TcpSocket {
    let is_six = ip.parse::<IpAddr>().unwrap().is_ipv6();
    let socket = if is_six { TcpSocket::new_v6() } else { TcpSocket::new_v4() }.unwrap();
    socket.set_reuseaddr(shares).unwrap();
    socket
}

/// Two sockets at one port, what becomes of each that listens then, and of a listener beside them.
fn bound(first: &str, second: &str, share: [bool; 2]) -> String {
    let at = |ip: &str, port| SocketAddr::new(ip.parse().unwrap(), port);
    let (one, other) = (socket_for(first, share[0]), socket_for(second, share[1]));
    one.bind(at(first, 0)).unwrap();
    let port = one.local_addr().unwrap().port();
    assert_ne!(port, 0);
    let beside = said(other.bind(at(second, port)));
    let listener = said(TcpListener::bind(at(second, port)).map(drop));
    let listens = one.listen(8);
    let later =
        if beside == "()" { said(other.listen(8).map(drop)) } else { said(other.bind(at(second, 0))) };
    let third = said(socket_for(second, true).bind(at(second, port)));
    let is_met = said(TcpStream::connect_timeout(&at(first, port), MINUTE).map(drop));
    drop(listens);
    let after = said(socket_for(second, true).bind(at(second, port)));
    format!("{second} beside {first}, {share:?}: {beside}, {listener}, {later}, {third}, {is_met}, {after}")
}

#[test]
fn sockets_are_bound_as_the_kernels() {
    both_say(|| {
        let pairs = own().into_iter().flat_map(|first| own().into_iter().map(move |second| (first, second)));
        let shares = [[false, false], [true, true], [true, false], [false, true]];
        pairs.flat_map(|(first, second)| shares.map(|share| bound(first, second, share))).collect()
    });
}

#[test]
fn a_bound_socket_keeps_its_port_until_it_is_dropped_as_the_kernels() {
    both_say(|| {
        let any = || "127.0.0.1:0".parse::<SocketAddr>().unwrap();
        let bind = |at: SocketAddr| {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(at).map(|()| socket)
        };
        let one = bind(any()).unwrap();
        let at = one.local_addr().unwrap();
        let mut all = vec![said(bind(at).map(drop)), said(TcpStream::connect(at).map(drop))];
        drop(one);
        let again = bind(at).unwrap();
        all.push(said(bind(at).map(drop)));
        let listener = again.listen(8).unwrap();
        assert_eq!(listener.local_addr().unwrap(), at);
        let from = bind(any()).unwrap();
        let own = from.local_addr().unwrap();
        let client = from.connect(at).unwrap();
        assert_eq!((client.local_addr().unwrap(), listener.accept().unwrap().1), (own, own));
        all.extend([said(bind("8.8.8.8:0".parse().unwrap()).map(drop)), said(bind(at).map(drop))]);
        let unbound = TcpSocket::new_v6().unwrap().listen(8).unwrap().local_addr().unwrap();
        all.push(format!("{}", unbound.ip()));
        all
    });
}

#[test]
fn a_machine_that_fails_lets_go_of_its_bound_sockets() {
    Runtime::simulated(1).run(|| {
        let there = Machine::new("there");
        let bind = || {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("0.0.0.0:80".parse().unwrap()).map(|()| socket)
        };
        // Nothing is left that could say that it is dropped.
        there.spawn(move || std::mem::forget(bind().unwrap())).join().unwrap();
        assert_eq!(
            there.spawn(move || bind().map(drop)).join().unwrap().unwrap_err().kind(),
            io::ErrorKind::AddrInUse
        );
        bind().unwrap(); // another machine's
        there.crash();
        there.restart();
        there.spawn(move || bind().map(drop)).join().unwrap().unwrap();
    });
}

#[test]
fn a_refused_datagram_is_told_once_as_by_the_kernel() {
    both_say(|| {
        let pair = || {
            let (socket, nobody) =
                (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
            socket.set_nonblocking(true).unwrap();
            socket.connect(nobody.local_addr().unwrap()).unwrap();
            socket
        };
        let error =
            |socket: &UdpSocket| said(socket.take_error().map(|error| error.map(|error| error.kind())));
        let send = |socket: &UdpSocket| {
            let sent = said(socket.send(b"x"));
            sleep(REST);
            sent
        };
        let receive = |socket: &UdpSocket| said(socket.recv(&mut [0; 5]));
        let (asks, sends, receives) = (pair(), pair(), pair());
        vec![
            format!("{} {} {}", error(&asks), send(&asks), error(&asks)),
            format!("{} {} {} {}", error(&asks), send(&asks), receive(&asks), error(&asks)),
            format!("{} {} {} {}", send(&sends), send(&sends), send(&sends), send(&sends)),
            format!("{} {} {}", send(&receives), receive(&receives), receive(&receives)),
        ]
    });
}

#[test]
fn what_may_not_be_is_refused_as_by_the_kernel() {
    both_say(|| {
        let socket = TcpSocket::new_v4().unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let any = || "127.0.0.1:0".parse().unwrap();
        vec![
            said(socket.bind(any())),
            said(socket.bind(any())),
            said(datagrams.send_to(b"x", "127.255.255.255:9")),
            said(datagrams.send_to(b"x", "255.255.255.255:9")),
            said(datagrams.send_to(b"x", "[::1]:9")),
        ]
    });
}
