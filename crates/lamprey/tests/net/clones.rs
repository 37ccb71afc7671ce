//! What is shut down, or closed, through a clone: it is the kernel's socket that is, so whoever waits at another value is told.

use super::common::*;
use super::unix::Place;
use lamprey::Io;
use lamprey::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Who waits.
const WAITERS: [&str; 3] = ["host", "OS thread", "future"];

/// Calls `wait` (or `awaits`) on a thread of each kind, once after `end` and once before it; returns what came of the calls.
fn ended<S: Send + Sync + 'static, T: Send + 'static>(
    made: impl Fn() -> (S, S),
    end: impl Fn(S),
    wait: fn(&S) -> io::Result<T>,
    awaits: impl AsyncFn(&S) -> io::Result<T> + Copy + Send + Sync + 'static,
) -> Vec<(String, io::Result<T>)> {
    let mut all = Vec::new();
    for waiter in WAITERS {
        for waits_before in [true, false] {
            let (socket, clone) = made();
            let mut clone = Some(clone);
            let socket = Arc::new(socket);
            if !waits_before {
                clone.take().map(&end);
            }
            let theirs = socket.clone();
            let outcome = match waiter {
                "host" => lamprey::spawn(move || wait(&theirs)),
                "future" => lamprey::spawn(move || lamprey::wait(awaits(&theirs))),
                _ => {
                    let (tell, told) = lamprey::channel();
                    std::thread::spawn(move || _ = tell.send(wait(&theirs)));
                    lamprey::spawn(move || told.recv().unwrap())
                }
            };
            // Mostly it waits by then.
            lamprey::sleep(Duration::from_millis(5));
            clone.take().map(&end);
            all.push((format!("{waiter}, before: {waits_before}"), outcome.join().unwrap()));
        }
    }
    all
}

#[track_caller]
fn all_at_an_end(what: &str, all: Vec<(String, io::Result<usize>)>) {
    assert!(all.iter().all(|(_, outcome)| matches!(outcome, Ok(0))), "{what}: {all:?}");
}

#[test]
fn a_datagram_socket_that_is_shut_down_has_nothing_more() {
    run(2, || {
        let made = || {
            let (a, b) = UnixDatagram::pair().unwrap();
            std::mem::forget(b); // its end is another matter
            let clone = a.try_clone().unwrap();
            (a, clone)
        };
        let wait = |socket: &UnixDatagram| socket.recv(&mut [0; 8]);
        let awaits = async |socket: &UnixDatagram| socket.recv_async(&mut [0; 8]).await;
        let shut = |clone: UnixDatagram| clone.shutdown(Shutdown::Read).unwrap();
        all_at_an_end("shut down", ended(made, shut, wait, awaits));
        all_at_an_end("closed", ended(made, |clone: UnixDatagram| clone.close(), wait, awaits));
    });
}

/// The program shuts UDP sockets down through their descriptors: the type has no call for it.
#[test]
fn a_udp_socket_that_is_shut_down_has_nothing_more() {
    run(2, || {
        let made = || {
            let a = UdpSocket::bind("127.0.0.1:0").unwrap();
            let clone = a.try_clone().unwrap();
            (a, clone)
        };
        let connected = || {
            let (a, clone) = made();
            a.connect(a.local_addr().unwrap()).unwrap();
            (a, clone)
        };
        // It says that the socket is not connected, and shuts it down.
        let shut = |clone: UdpSocket| _ = rustix::net::shutdown(&clone, rustix::net::Shutdown::Both);
        let wait = |socket: &UdpSocket| socket.recv(&mut [0; 8]);
        let awaits = async |socket: &UdpSocket| socket.recv_async(&mut [0; 8]).await;
        all_at_an_end("without a peer", ended(made, shut, wait, awaits));
        all_at_an_end("with a peer", ended(connected, shut, wait, awaits));
        let awaits =
            async |socket: &UdpSocket| poll_fn(|context| socket.poll_recv(context, &mut [0; 8])).await;
        all_at_an_end("polled", ended(connected, shut, wait, awaits));
        let wait = |socket: &UdpSocket| socket.recv_from(&mut [0; 8]);
        let awaits = async |socket: &UdpSocket| socket.recv_from_async(&mut [0; 8]).await;
        for (waiter, outcome) in ended(made, shut, wait, awaits) {
            assert_eq!(outcome.map_err(|error| error.kind()), Err(ErrorKind::InvalidInput), "{waiter}");
        }
    });
}

#[test]
fn what_came_before_the_end_of_a_udp_socket_is_received() {
    run(1, || {
        let (a, b) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        b.send_to(b"one", a.local_addr().unwrap()).unwrap();
        let _ = rustix::net::shutdown(&a, rustix::net::Shutdown::Read);
        let mut buf = [0; 8];
        assert_eq!((a.recv(&mut buf).unwrap(), a.recv(&mut buf).unwrap(), &buf[..3]), (3, 0, &b"one"[..]));
        // The write side has been left alone.
        a.send_to(b"two", b.local_addr().unwrap()).unwrap();
        assert_eq!(b.recv(&mut buf).unwrap(), 3);
    });
}

#[test]
fn what_came_before_the_end_is_received() {
    run(1, || {
        let (a, b) = UnixDatagram::pair().unwrap();
        b.send(b"one").unwrap();
        a.try_clone().unwrap().shutdown(Shutdown::Read).unwrap();
        let mut buf = [0; 8];
        assert_eq!((a.recv(&mut buf).unwrap(), a.recv(&mut buf).unwrap(), &buf[..3]), (3, 0, &b"one"[..]));
        assert_eq!(b.send(b"two").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_socket_that_was_shut_down_before_it_came_is_at_its_end() {
    run(1, || {
        let (a, _b) = std::os::unix::net::UnixDatagram::pair().unwrap();
        a.shutdown(Shutdown::Both).unwrap();
        assert_eq!(UnixDatagram::from_std(a).unwrap().recv(&mut [0; 8]).unwrap(), 0);
        let (a, _b) = std::os::unix::net::UnixStream::pair().unwrap();
        a.shutdown(Shutdown::Both).unwrap();
        assert_eq!(UnixStream::from_std(a).unwrap().read(&mut [0; 8]).unwrap(), 0);
    });
}

#[test]
fn streams_that_are_shut_down_have_nothing_more() {
    run(2, || {
        let made = || {
            let (a, b) = UnixStream::pair().unwrap();
            std::mem::forget(b);
            let clone = a.try_clone().unwrap();
            (a, clone)
        };
        let shut = |clone: UnixStream| clone.shutdown(Shutdown::Read).unwrap();
        let wait = |mut socket: &UnixStream| socket.read(&mut [0; 8]);
        all_at_an_end("Unix", ended(made, shut, wait, async |socket| socket.read_async(&mut [0; 8]).await));

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let made = || {
            let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            std::mem::forget(listener.accept().unwrap());
            let clone = a.try_clone().unwrap();
            (a, clone)
        };
        let shut = |clone: TcpStream| clone.shutdown(Shutdown::Read).unwrap();
        let wait = |mut socket: &TcpStream| socket.read(&mut [0; 8]);
        all_at_an_end("TCP", ended(made, shut, wait, async |socket| socket.read_async(&mut [0; 8]).await));
    });
}

#[test]
fn listeners_that_are_closed_accept_no_more() {
    run(2, || {
        let check = |what: &str, all: Vec<(String, io::Result<()>)>| {
            let is_right = |outcome: &io::Result<()>| {
                outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::InvalidInput)
            };
            assert!(all.iter().all(|(_, outcome)| is_right(outcome)), "{what}: {all:?}");
        };
        let made = || {
            let place = Place::new("clones");
            let listener = UnixListener::bind(&place.0).unwrap();
            let clone = listener.try_clone().unwrap();
            (listener, clone)
        };
        let wait = |listener: &UnixListener| listener.accept().map(drop);
        let awaits = async |listener: &UnixListener| listener.accept_async().await.map(drop);
        check("Unix", ended(made, |clone: UnixListener| clone.close(), wait, awaits));

        let made = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let clone = listener.try_clone().unwrap();
            (listener, clone)
        };
        let wait = |listener: &TcpListener| listener.accept().map(drop);
        let awaits = async |listener: &TcpListener| listener.accept_async().await.map(drop);
        check("TCP", ended(made, |clone: TcpListener| clone.close(), wait, awaits));
    });
}

/// Of a clone the kernel sends no event here, so this is the same value.
#[test]
fn a_writer_without_room_hears_of_the_shutdown() {
    run(2, || {
        for waiter in ["host", "OS thread"] {
            let (a, _b) = UnixStream::pair().unwrap();
            let a = Arc::new(a);
            let theirs = a.clone();
            let (tell, told) = lamprey::channel();
            let fill = move || {
                let ended = loop {
                    if let Err(error) = (&*theirs).write(&[0; 4096]) {
                        break error.kind();
                    }
                };
                _ = tell.send(ended);
            };
            let host = if waiter == "host" {
                Some(lamprey::spawn(fill))
            } else {
                std::thread::spawn(fill);
                None
            };
            // Mostly it waits by then.
            lamprey::sleep(Duration::from_millis(5));
            a.shutdown(Shutdown::Write).unwrap();
            assert_eq!(told.recv().unwrap(), ErrorKind::BrokenPipe, "{waiter}");
            if let Some(host) = host {
                host.join().unwrap();
            }
        }
    });
}

/// How a program comes by a second value of one socket of the kernel.
#[derive(Debug, Clone, Copy)]
enum Way {
    TryClone,
    /// Through the type of the standard library.
    Std,
    /// `dup` of the descriptor.
    Dup,
    /// As another process gets it.
    Message,
}

const WAYS: [Way; 4] = [Way::TryClone, Way::Std, Way::Dup, Way::Message];

fn passed(fd: BorrowedFd<'_>) -> OwnedFd {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut room);
    let fds = [fd];
    assert!(message.push(SendAncillaryMessage::ScmRights(&fds)));
    sendmsg(&ours, &[IoSlice::new(b"x")], &mut message, SendFlags::empty()).unwrap();
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut room);
    recvmsg(&theirs, &mut [IoSliceMut::new(&mut [0])], &mut message, RecvFlags::CMSG_CLOEXEC).unwrap();
    let RecvAncillaryMessage::ScmRights(mut fds) = message.drain().next().unwrap() else { unreachable!() };
    fds.next().unwrap()
}

/// A second value of `$socket`, by each way.
macro_rules! clone_by {
    ($way:expr, $socket:expr, $type:ty) => {
        match $way {
            Way::TryClone => $socket.try_clone().unwrap(),
            Way::Std => <$type>::from_std($socket.try_clone().unwrap().into_std().unwrap()).unwrap(),
            Way::Dup => <$type>::from_std($socket.as_fd().try_clone_to_owned().unwrap().into()).unwrap(),
            Way::Message => <$type>::from_std(passed($socket.as_fd()).into()).unwrap(),
        }
    };
}

/// Who waits at the one value or at the other.
const BOTH: [(bool, &str); 6] = [
    (false, "host"),
    (false, "future"),
    (false, "OS thread"),
    (true, "host"),
    (true, "future"),
    (true, "OS thread"),
];

/// Runs `wait` (or `awaits`) on threads of all kinds at both values; lets them go on by `go_on`, once they wait; all end.
fn all_end<S: Send + Sync + 'static>(
    what: &str,
    [socket, clone]: [Arc<S>; 2],
    wait: fn(&S),
    awaits: impl AsyncFn(&S) + Copy + Send + Sync + 'static,
    go_on: impl Fn() -> bool,
) {
    let ended = counter();
    for (at_clone, waiter) in BOTH {
        let (socket, ended) = (if at_clone { clone.clone() } else { socket.clone() }, ended.clone());
        let works = move || {
            if waiter == "future" {
                lamprey::wait(awaits(&socket))
            } else {
                wait(&socket)
            }
            tick(&ended);
        };
        if waiter == "OS thread" {
            std::thread::spawn(works);
        } else {
            drop(lamprey::spawn(works));
        }
    }
    // Mostly they wait by then.
    lamprey::sleep(Duration::from_millis(5));
    assert_eq!(count(&ended), 0, "{what}");
    while go_on() {}
    eventually(what, || count(&ended) == BOTH.len());
}

/// With each event loop.
fn with_both_loops(main: impl Fn() + Copy + Send + 'static) {
    for io in [Io::Epoll, Io::Auto] {
        let runtime = quiet().workers(2).io(io).build().unwrap();
        within(FOREVER, move || runtime.run(main));
    }
}

#[test]
fn readers_of_all_values_of_a_socket_are_woken() {
    with_both_loops(|| {
        for way in WAYS {
            let (a, b) = UnixStream::pair().unwrap();
            let both = [Arc::new(clone_by!(way, a, UnixStream)), Arc::new(a)];
            let wait = |mut socket: &UnixStream| assert_eq!(socket.read(&mut [0]).unwrap(), 1);
            let awaits = async |socket: &UnixStream| {
                assert_eq!(socket.read_async(&mut [0]).await.unwrap(), 1);
            };
            let sent = counter();
            all_end(&format!("bytes, {way:?}"), both, wait, awaits, || {
                tick(&sent);
                (&b).write_all(&[1]).unwrap();
                count(&sent) < BOTH.len()
            });

            let (a, b) = UnixDatagram::pair().unwrap();
            let both = [Arc::new(clone_by!(way, a, UnixDatagram)), Arc::new(a)];
            let wait = |socket: &UnixDatagram| assert_eq!(socket.recv(&mut [0]).unwrap(), 1);
            let awaits = async |socket: &UnixDatagram| {
                assert_eq!(socket.recv_async(&mut [0]).await.unwrap(), 1);
            };
            let sent = counter();
            all_end(&format!("datagrams, {way:?}"), both, wait, awaits, || {
                tick(&sent);
                b.send(&[1]).unwrap();
                count(&sent) < BOTH.len()
            });
        }
    });
}

#[test]
fn writers_without_room_at_all_values_of_a_socket_are_woken() {
    with_both_loops(|| {
        for way in WAYS {
            let (a, b) = UnixStream::pair().unwrap();
            a.set_nonblocking(true).unwrap();
            while (&a).write(&[0; 1024]).is_ok() {}
            a.set_nonblocking(false).unwrap();
            let both = [Arc::new(clone_by!(way, a, UnixStream)), Arc::new(a)];
            let wait = |mut socket: &UnixStream| socket.write_all(&[1; 64]).unwrap();
            let awaits = async |socket: &UnixStream| socket.write_all_async(&[1; 64]).await.unwrap();
            all_end(&format!("bytes, {way:?}"), both, wait, awaits, || {
                b.set_nonblocking(true).unwrap();
                (&b).read(&mut [0; 65536]).is_ok()
            });

            let (a, b) = UnixDatagram::pair().unwrap();
            a.set_nonblocking(true).unwrap();
            while a.send(&[0; 1024]).is_ok() {}
            a.set_nonblocking(false).unwrap();
            let both = [Arc::new(clone_by!(way, a, UnixDatagram)), Arc::new(a)];
            let wait = |socket: &UnixDatagram| assert_eq!(socket.send(&[1]).unwrap(), 1);
            let awaits = async |socket: &UnixDatagram| assert_eq!(socket.send_async(&[1]).await.unwrap(), 1);
            all_end(&format!("datagrams, {way:?}"), both, wait, awaits, || {
                b.set_nonblocking(true).unwrap();
                b.recv(&mut [0; 2048]).is_ok()
            });
        }
    });
}
