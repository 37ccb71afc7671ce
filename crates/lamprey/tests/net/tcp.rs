//! TCP between hosts, and between hosts and peers that are not Lamprey's.

use crate::common::*;
use lamprey::net::{TcpListener, TcpStream};
use std::io::{BufRead, BufReader, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Echoes every connection until its end, one host for each.
fn echo_server(listener: TcpListener) {
    lamprey::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            lamprey::spawn(move || std::io::copy(&mut &stream, &mut &stream).unwrap());
        }
    });
}

fn pair() -> (TcpStream, TcpStream) {
    let (listener, address) = listener();
    let client = TcpStream::connect(address).unwrap();
    (client, listener.accept().unwrap().0)
}

/// A host's stream and the standard library's at the other end.
fn pair_with_std() -> (TcpStream, std::net::TcpStream) {
    let (listener, address) = listener();
    let peer = std::net::TcpStream::connect(address).unwrap();
    (listener.accept().unwrap().0, peer)
}

fn echo_between_hosts(workers: usize) {
    run(workers, || {
        let (listener, address) = listener();
        echo_server(listener);
        let clients: Vec<_> = (0..500_u32)
            .map(|client| {
                lamprey::spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    for turn in 0..3_u32 {
                        let sent = [client.to_ne_bytes(), turn.to_ne_bytes()].concat();
                        stream.write_all(&sent).unwrap();
                        let mut received = [0; 8];
                        stream.read_exact(&mut received).unwrap();
                        assert_eq!(sent, received);
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
}

#[test]
fn five_hundred_hosts_talk_to_five_hundred_hosts_on_one_worker() {
    echo_between_hosts(1);
}

#[test]
fn five_hundred_hosts_talk_to_five_hundred_hosts_on_two_workers() {
    echo_between_hosts(2);
}

#[test]
fn a_std_client_on_an_os_thread_talks_to_hosts() {
    run(1, || {
        let (listener, address) = listener();
        echo_server(listener);
        lamprey::block(|| {
            let mut peer = std::net::TcpStream::connect(address).unwrap();
            let sent = pattern(300_000);
            let writer = std::thread::spawn({
                let (mut peer, sent) = (peer.try_clone().unwrap(), sent.clone());
                move || {
                    peer.write_all(&sent).unwrap();
                    peer.shutdown(Shutdown::Write).unwrap();
                }
            });
            let mut received = Vec::new();
            peer.read_to_end(&mut received).unwrap();
            writer.join().unwrap();
            assert!(received == sent);
        });
    });
}

#[test]
fn a_host_talks_to_a_std_server_on_an_os_thread() {
    run(1, || {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut peer, _) = server.accept().unwrap();
            let mut text = String::new();
            peer.read_to_string(&mut text).unwrap();
            peer.write_all(text.to_uppercase().as_bytes()).unwrap();
        });
        let mut stream = TcpStream::connect(address).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), address);
        stream.write_all(b"plain blocking code").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "PLAIN BLOCKING CODE");
        server.join().unwrap();
    });
}

#[test]
fn another_process_talks_to_hosts() {
    if let Some(address) = role() {
        let mut peer = std::net::TcpStream::connect(address).unwrap();
        peer.write_all(b"from elsewhere").unwrap();
        let mut received = [0; 14];
        peer.read_exact(&mut received).unwrap();
        assert_eq!(&received, b"from elsewhere");
        return;
    }
    run(2, || {
        let (listener, address) = listener();
        echo_server(listener);
        let mut process = again("another_process_talks_to_hosts", &address.to_string());
        let output = lamprey::block(move || process.output().unwrap());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    });
}

#[test]
fn large_transfers_keep_every_byte_in_order() {
    run(2, || {
        let (mut a, mut b) = pair();
        let sent = pattern(8 << 20);
        let copy = sent.clone();
        let writer = lamprey::spawn(move || a.write_all(&copy).unwrap());
        let mut received = Vec::new();
        b.read_to_end(&mut received).unwrap();
        writer.join().unwrap();
        assert!(received == sent);
    });
}

#[test]
fn two_hosts_read_and_write_the_same_stream_at_once() {
    run(2, || {
        let (listener, address) = listener();
        echo_server(listener);
        let stream = Arc::new(TcpStream::connect(address).unwrap());
        let sent = Arc::new(pattern(4 << 20));
        let writer = lamprey::spawn({
            let (stream, sent) = (stream.clone(), sent.clone());
            move || {
                (&*stream).write_all(&sent).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
            }
        });
        let reader = lamprey::spawn(move || {
            let mut received = Vec::new();
            (&*stream).read_to_end(&mut received).unwrap();
            received
        });
        writer.join().unwrap();
        assert!(reader.join().unwrap() == *sent);
    });
}

#[test]
fn several_hosts_read_one_stream_and_each_byte_arrives_once() {
    run(2, || {
        let (mut a, b) = pair();
        let b = Arc::new(b);
        let readers: Vec<_> = (0..8)
            .map(|_| {
                let b = b.clone();
                lamprey::spawn(move || {
                    let mut sum = 0_u64;
                    let mut buf = [0; 256];
                    loop {
                        match (&*b).read(&mut buf).unwrap() {
                            0 => return sum,
                            n => sum += buf[..n].iter().map(|&byte| u64::from(byte)).sum::<u64>(),
                        }
                    }
                })
            })
            .collect();
        let sent = pattern(200_000);
        for part in sent.chunks(777) {
            a.write_all(part).unwrap();
            lamprey::yield_now();
        }
        drop(a);
        let sum: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert_eq!(sum, sent.iter().map(|&byte| u64::from(byte)).sum::<u64>());
    });
}

#[test]
fn several_hosts_accept_on_one_listener() {
    run(2, || {
        let (listener, address) = listener();
        let listener = Arc::new(listener);
        for _ in 0..4 {
            let listener = listener.clone();
            lamprey::spawn(move || {
                while let Ok((mut stream, _)) = listener.accept() {
                    stream.write_all(b"x").unwrap();
                }
            });
        }
        let clients: Vec<_> = (0..60)
            .map(|_| {
                lamprey::spawn(move || {
                    let mut byte = [0];
                    TcpStream::connect(address).unwrap().read_exact(&mut byte).unwrap();
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        listener.close();
    });
}

#[test]
fn a_read_that_exceeds_its_timeout_fails_and_the_stream_goes_on() {
    run(1, || {
        let (mut a, mut b) = pair();
        let limit = Duration::from_millis(20);
        b.set_read_timeout(Some(limit)).unwrap();
        assert_eq!(b.read_timeout().unwrap(), Some(limit));
        let start = Instant::now();
        assert_eq!(b.read(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(start.elapsed() >= limit);
        a.write_all(b"late").unwrap();
        let mut received = [0; 4];
        b.read_exact(&mut received).unwrap();
        assert_eq!(&received, b"late");
    });
}

#[test]
fn a_write_that_exceeds_its_timeout_fails() {
    run(1, || {
        let (mut a, _b) = pair();
        a.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        let error = loop {
            if let Err(error) = a.write(&[0; 65536]) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    });
}

#[test]
fn a_timeout_of_zero_is_refused() {
    run(1, || {
        let (a, _b) = pair();
        assert_eq!(a.set_read_timeout(Some(Duration::ZERO)).unwrap_err().kind(), ErrorKind::InvalidInput);
        let address = a.local_addr().unwrap();
        assert_eq!(
            TcpStream::connect_timeout(&address, Duration::ZERO).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    });
}

#[test]
fn a_nonblocking_stream_fails_instead_of_waiting() {
    run(1, || {
        let (mut a, mut b) = pair();
        b.set_nonblocking(true).unwrap();
        assert_eq!(b.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        b.set_nonblocking(false).unwrap();
        a.write_all(b"x").unwrap();
        assert_eq!(b.read(&mut [0]).unwrap(), 1);
    });
}

#[test]
fn a_reset_peer_gives_an_error_to_the_host_that_waits() {
    run(1, || {
        let (mut stream, peer) = pair_with_std();
        let reader = blocked(move || stream.read(&mut [0]).unwrap_err().kind());
        // Closing without lingering sends a reset.
        rustix::net::sockopt::set_socket_linger(&peer, Some(Duration::ZERO)).unwrap();
        drop(peer);
        assert_eq!(reader.join().unwrap(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn writing_to_a_peer_that_is_gone_is_an_error_and_no_signal() {
    if role().is_none() {
        let output = again("writing_to_a_peer_that_is_gone_is_an_error_and_no_signal", "die of SIGPIPE")
            .output()
            .unwrap();
        assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
        return;
    }
    // SAFETY: sets the default action, which runs no code of ours. Rust's start-up had ignored the signal.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    run(1, || {
        let gone = |error: std::io::Error| {
            matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
        };
        let writes: [fn(&TcpStream) -> std::io::Result<usize>; 3] = [
            |mut stream| stream.write(b"x"),
            |mut stream| stream.write_vectored(&[IoSlice::new(b"x"), IoSlice::new(b"y")]),
            |stream| stream.sendfile(&std::fs::File::open("Cargo.toml")?, 0, 10).map(|sent| sent as usize),
        ];
        for write in writes {
            let (stream, peer) = pair_with_std();
            drop(peer);
            let error = (0..1000).find_map(|_| {
                lamprey::sleep(Duration::from_millis(1));
                write(&stream).err()
            });
            assert!(gone(error.expect("a peer that is gone takes no bytes")));
        }
    });
}

#[test]
fn half_a_connection_can_be_closed() {
    run(1, || {
        let (mut a, mut b) = pair();
        a.write_all(b"question").unwrap();
        a.shutdown(Shutdown::Write).unwrap();
        let mut question = String::new();
        b.read_to_string(&mut question).unwrap();
        assert_eq!(question, "question");
        b.write_all(b"answer").unwrap();
        drop(b);
        let mut answer = String::new();
        a.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer");
    });
}

/// Whether the peer has closed its half, as far as the kernel has heard.
fn is_at_its_end(stream: &TcpStream) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut polled = [PollFd::new(stream, PollFlags::RDHUP)];
    poll(&mut polled, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap();
    polled[0].revents().contains(PollFlags::RDHUP)
}

/// How many bytes that were sent have not arrived yet.
fn unacknowledged(stream: &std::net::TcpStream) -> libc::c_int {
    let mut bytes = 0;
    // SAFETY: TIOCOUTQ writes a `c_int` to the address it is given.
    assert_eq!(unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) }, 0);
    bytes
}

/// What comes after a read that has emptied the socket ends the next one. `and_then` makes it come, together
/// with the bytes (so that there is no edge for it alone) or after they were read.
fn after_a_short_read(and_then: fn(std::net::TcpStream), outcome: Result<usize, ErrorKind>) {
    run(1, move || {
        for together in [true, false] {
            let (mut stream, mut peer) = pair_with_std();
            let mut buf = [0; 64];
            for _ in 0..2 {
                peer.write_all(b"short").unwrap();
                assert_eq!(stream.read(&mut buf).unwrap(), 5);
            }
            peer.write_all(b"last").unwrap();
            if together {
                and_then(peer);
                eventually("the end has arrived", || is_at_its_end(&stream));
                lamprey::sleep(Duration::from_millis(1)); // the worker asks for readiness meanwhile
                assert_eq!(stream.read(&mut buf).unwrap(), 4);
            } else {
                assert_eq!(stream.read(&mut buf).unwrap(), 4);
                lamprey::spawn(move || and_then(peer)); // runs when this host waits
            }
            assert_eq!(stream.read(&mut buf).map_err(|error| error.kind()), outcome);
        }
    });
}

#[test]
fn the_end_after_a_short_read_is_seen() {
    after_a_short_read(drop, Ok(0));
}

#[test]
fn half_the_end_after_a_short_read_is_seen() {
    // The peer's other half stays open, in a clone that is never closed.
    let half = |peer: std::net::TcpStream| {
        std::mem::forget(peer.try_clone().unwrap());
        peer.shutdown(Shutdown::Write).unwrap();
    };
    after_a_short_read(half, Ok(0));
}

#[test]
fn more_bytes_after_a_short_read_are_seen() {
    run(1, || {
        let (mut stream, mut peer) = pair_with_std();
        for turn in 0..500_u32 {
            peer.write_all(&turn.to_ne_bytes()).unwrap();
            let mut buf = [0; 64];
            assert_eq!(stream.read(&mut buf).unwrap(), 4);
            assert_eq!(buf[..4], turn.to_ne_bytes());
        }
    });
}

#[test]
fn bytes_behind_an_urgent_one_are_seen() {
    run(1, || {
        let (mut stream, mut peer) = pair_with_std();
        for _ in 0..3 {
            peer.write_all(b"before").unwrap();
            rustix::net::send(&peer, b"!", rustix::net::SendFlags::OOB).unwrap();
            peer.write_all(b"behind").unwrap();
            eventually("all have arrived", || unacknowledged(&peer) == 0);
            let (mut received, mut buf) = (Vec::new(), [0; 64]);
            while received.len() < 12 {
                let count = stream.read(&mut buf).unwrap();
                received.extend_from_slice(&buf[..count]);
            }
            assert_eq!(received, b"beforebehind");
        }
    });
}

#[test]
fn a_nonblocking_read_after_a_short_one_asks_the_kernel() {
    run(1, || {
        let (mut stream, mut peer) = pair_with_std();
        peer.write_all(b"a").unwrap();
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 1);
        peer.write_all(b"b").unwrap();
        stream.set_nonblocking(true).unwrap();
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 1);
        assert_eq!(stream.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn shutting_down_for_reading_ends_a_read_that_waits() {
    run(1, || {
        let (a, _b) = pair();
        let a = Arc::new(a);
        let reader = blocked({
            let a = a.clone();
            move || (&*a).read(&mut [0]).unwrap()
        });
        a.shutdown(Shutdown::Read).unwrap();
        assert_eq!(reader.join().unwrap(), 0);
    });
}

#[test]
fn vectored_calls_fill_and_send_several_buffers() {
    run(1, || {
        let (mut a, mut b) = pair();
        assert_eq!(
            a.write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")]).unwrap(),
            5
        );
        let (mut x, mut y) = ([0; 3], [0; 3]);
        assert_eq!(b.read_vectored(&mut [IoSliceMut::new(&mut x), IoSliceMut::new(&mut y)]).unwrap(), 5);
        assert_eq!((&x, &y[..2]), (b"abc", &b"de"[..]));
        let many = vec![IoSlice::new(b"z"); 3000];
        assert!(a.write_vectored(&many).unwrap() >= 1);
    });
}

#[test]
fn peeking_waits_and_takes_nothing() {
    run(1, || {
        let (mut a, mut b) = pair();
        let peeker = blocked(move || {
            let mut buf = [0; 4];
            let seen = b.peek(&mut buf).unwrap();
            assert_eq!(&buf[..seen], b"peek");
            b.read_exact(&mut buf).unwrap();
            buf
        });
        a.write_all(b"peek").unwrap();
        assert_eq!(&peeker.join().unwrap(), b"peek");
    });
}

#[test]
fn options_reach_the_kernel() {
    run(1, || {
        let (a, b) = pair();
        a.set_nodelay(true).unwrap();
        a.set_ttl(7).unwrap();
        assert!(a.nodelay().unwrap());
        assert_eq!(a.ttl().unwrap(), 7);
        assert_eq!(a.peer_addr().unwrap(), b.local_addr().unwrap());
        assert!(a.take_error().unwrap().is_none());
        for fd in [a.as_fd(), b.as_fd()] {
            assert!(rustix::fs::fcntl_getfl(fd).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
            assert!(rustix::io::fcntl_getfd(fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        }
    });
}

/// An address that refuses connections: bound (so nobody else gets it), but not listened on.
fn refusing() -> (std::net::TcpListener, SocketAddr) {
    use rustix::net::{AddressFamily, SocketType, bind, socket};
    let fd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&fd, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let bound = std::net::TcpListener::from(fd);
    let address = bound.local_addr().unwrap();
    (bound, address)
}

#[test]
fn a_refused_connection_is_an_error() {
    run(1, || {
        let (_bound, address) = refusing();
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn the_next_address_is_tried_when_one_refuses() {
    run(1, || {
        let (_bound, refusing) = refusing();
        let (_listener, address) = listener();
        let stream = TcpStream::connect(&[refusing, address][..]).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), address);
        let none: &[SocketAddr] = &[];
        assert_eq!(TcpStream::connect(none).unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn a_taken_port_is_an_error() {
    run(1, || {
        let (_listener, address) = listener();
        assert_eq!(TcpListener::bind(address).unwrap_err().kind(), ErrorKind::AddrInUse);
    });
}

/// The kernel ends the io_uring of a process some milliseconds after the process, with the listener that waits in it.
#[test]
fn the_port_of_a_server_that_was_killed_is_free_at_once() {
    const ME: &str = "the_port_of_a_server_that_was_killed_is_free_at_once";
    if role().is_some() {
        return lamprey::run(|| {
            let (listener, address) = listener();
            println!("at {address}");
            while listener.accept().is_ok() {}
        });
    }
    for _ in 0..5 {
        let mut server = again(ME, "server").stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let address =
            lines.map_while(Result::ok).find_map(|line| line.split_once("at ").map(|(_, at)| at.to_owned()));
        // It accepts, and then probably waits for the next connection.
        drop(std::net::TcpStream::connect(address.as_ref().unwrap()).unwrap());
        std::thread::sleep(Duration::from_millis(20));
        server.kill().unwrap();
        server.wait().unwrap();
        lamprey::run(move || drop(TcpListener::bind(address.unwrap()).unwrap()));
    }
}

#[test]
fn connecting_gives_up_after_its_timeout() {
    run(1, || {
        // A listener that never accepts drops the packets of new connections once its queue (of 1) is full.
        let full = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&full, 0).unwrap();
        let address = full.local_addr().unwrap();
        let limit = Duration::from_millis(300);
        let mut waiting = Vec::new();
        let error = loop {
            let start = Instant::now();
            match TcpStream::connect_timeout(&address, limit) {
                Ok(stream) => waiting.push(stream),
                Err(error) => {
                    assert!(start.elapsed() >= limit);
                    break error;
                }
            }
            assert!(waiting.len() < 100, "the queue is never full");
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    });
}

#[test]
fn a_stream_goes_on_after_its_runtime_has_ended() {
    within(FOREVER, || {
        let (mut a, b) = runtime(1).run(|| {
            let (a, mut b) = pair();
            // Registers both with the reactor of this runtime.
            b.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            b.read(&mut [0]).unwrap_err();
            b.set_read_timeout(None).unwrap();
            (a, b)
        });
        let second = runtime(1);
        let reader = blocked_in(&second.handle(), move || {
            let mut b = b;
            let mut text = String::new();
            b.read_to_string(&mut text).unwrap();
            text
        });
        second.run(move || a.write_all(b"still here").unwrap());
        assert_eq!(reader.join().unwrap(), "still here");
    });
}

#[test]
fn a_host_waits_on_while_the_runtime_that_served_its_socket_ends() {
    within(FOREVER, || {
        let first = runtime(1);
        let (mut a, b) = first.run(pair);
        let b = Arc::new(b);
        // The first to wait, so the stream is registered with the first runtime.
        first.run({
            let b = b.clone();
            move || {
                b.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
                (&*b).read(&mut [0]).unwrap_err();
                b.set_read_timeout(None).unwrap();
            }
        });
        let second = runtime(1);
        let reader = blocked_in(&second.handle(), move || {
            let mut buf = [0; 4];
            (&*b).read_exact(&mut buf).unwrap();
            buf
        });
        drop(first);
        all_blocked(&second.handle(), || true);
        a.write_all(b"data").unwrap();
        assert_eq!(&reader.join().unwrap(), b"data");
    });
}

#[test]
fn a_runtime_that_ends_unwinds_the_hosts_that_wait_for_sockets() {
    struct Flag(Arc<AtomicBool>);
    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    within(FOREVER, || {
        let ended = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let flags = ended.clone().map(Flag);
        let runtime = runtime(1);
        let [reading, accepting] = flags;
        runtime.run(move || {
            let (listener, _) = listener();
            let (a, mut b) = pair();
            drop(blocked(move || {
                let _flags = (reading, a);
                b.read_exact(&mut [0]).unwrap();
            }));
            drop(blocked(move || {
                let _flag = accepting;
                listener.accept().unwrap();
            }));
        });
        assert!(ended.iter().all(|flag| !flag.load(Ordering::SeqCst)));
        drop(runtime);
        assert!(ended.iter().all(|flag| flag.load(Ordering::SeqCst)));
    });
}

#[test]
fn a_host_that_unwinds_does_not_wait() {
    struct ReadsOnDrop(TcpStream, Arc<AtomicBool>);
    impl Drop for ReadsOnDrop {
        fn drop(&mut self) {
            let refused = self.0.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
            self.1.store(refused, Ordering::SeqCst);
        }
    }
    run(1, || {
        let (_a, b) = pair();
        let refused = Arc::new(AtomicBool::new(false));
        let guard = ReadsOnDrop(b, refused.clone());
        let host = lamprey::spawn(move || {
            let _guard = guard;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(host.join().is_err());
        assert!(refused.load(Ordering::SeqCst));
    });
}

#[test]
fn a_socket_that_is_always_ready_does_not_keep_the_worker() {
    run(1, || {
        let (mut a, b) = pair();
        a.write_all(b"x").unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = stop.clone();
        lamprey::spawn(move || theirs.store(true, Ordering::SeqCst));
        while !stop.load(Ordering::SeqCst) {
            b.peek(&mut [0]).unwrap();
        }
    });
}

#[test]
fn conversions_keep_the_connection_and_its_timeouts() {
    run(1, || {
        let (a, mut b) = pair();
        let limit = Some(Duration::from_secs(3));
        a.set_read_timeout(limit).unwrap();
        let mut plain = a.into_std().unwrap();
        assert_eq!(plain.read_timeout().unwrap(), limit);
        assert!(!rustix::fs::fcntl_getfl(&plain).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
        plain.write_all(b"x").unwrap();
        let again = TcpStream::from_std(plain).unwrap();
        assert_eq!((again.read_timeout().unwrap(), again.write_timeout().unwrap()), (limit, None));
        let clone = again.try_clone().unwrap();
        drop(again);
        (&clone).write_all(b"y").unwrap();
        assert_eq!(clone.read_timeout().unwrap(), limit);
        let mut received = [0; 2];
        b.read_exact(&mut received).unwrap();
        assert_eq!(&received, b"xy");
    });
}

#[test]
fn sockets_that_are_gone_are_registered_nowhere() {
    /// Descriptors in the epoll sets of this process.
    fn registered() -> usize {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
        let sets = open
            .filter(|fd| std::fs::read_link(fd).is_ok_and(|link| link.ends_with("anon_inode:[eventpoll]")));
        let infos = sets.map(|fd| {
            std::fs::read_to_string(PathBuf::from("/proc/self/fdinfo").join(fd.file_name().unwrap()))
        });
        infos.map(|info| info.unwrap().matches("tfd:").count()).sum()
    }
    if role().is_none() {
        // Alone in a process, because other tests have sets of their own.
        let output = again("sockets_that_are_gone_are_registered_nowhere", "child").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    run(1, || {
        let (_a, b) = pair();
        let before = registered();
        // The kernel keeps a descriptor that has been duplicated in the set when it is closed.
        let clone = b.try_clone().unwrap();
        clone.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        clone.peek(&mut [0]).unwrap_err();
        assert_eq!(registered(), before + 1);
        drop(clone);
        assert_eq!(registered(), before);
        let clone = b.try_clone().unwrap();
        clone.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        clone.peek(&mut [0]).unwrap_err();
        let _plain = clone.into_std().unwrap();
        assert_eq!(registered(), before);
    });
}

#[test]
fn names_are_looked_up_without_blocking_the_worker() {
    run(1, || {
        let found = lamprey::net::lookup("localhost:80").unwrap();
        assert!(
            !found.is_empty()
                && found.iter().all(|address| address.ip().is_loopback() && address.port() == 80)
        );
        assert_eq!(lamprey::net::lookup("[::1]:9").unwrap(), ["[::1]:9".parse().unwrap()]);
        assert_eq!(lamprey::net::lookup("no port").unwrap_err().kind(), ErrorKind::InvalidInput);
        let error = lamprey::net::lookup("does-not-exist.invalid:1").unwrap_err();
        assert!(error.to_string().contains("does-not-exist.invalid"), "{error}");
        let (listener, address) = listener();
        lamprey::spawn(move || listener.accept().unwrap());
        TcpStream::connect(("localhost", address.port())).unwrap();
    });
}
