//! Multishots: what is received and accepted before a call asks for it.

use crate::{on_both, pattern};
use lamprey::net::{TcpListener, TcpStream, UnixStream};
use std::io::{ErrorKind, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

fn pair() -> (UnixStream, UnixStream) {
    let (a, b) = UnixStream::pair().unwrap();
    a.set_read_ahead(true);
    (a, b)
}

/// Lets the kernel receive for `a` from now on: a read has found nothing.
fn arm(a: &UnixStream) {
    a.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    assert_eq!((&mut &*a).read(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
    a.set_read_timeout(None).unwrap();
}

#[test]
fn all_bytes_come_once_and_in_order_however_slow_the_reader_is() {
    on_both(2, || {
        let (mut a, mut b) = pair();
        let sent = pattern(3_000_000); // many times what is kept
        let theirs = sent.clone();
        let writer = lamprey::spawn(move || {
            for (at, piece) in theirs.chunks(7001).enumerate() {
                b.write_all(piece).unwrap();
                if at % 16 == 0 {
                    lamprey::sleep(Duration::from_micros(50));
                }
            }
        });
        let (mut received, mut turn) = (Vec::new(), 0);
        let mut buf = vec![0; 50_000];
        loop {
            turn += 1;
            let most = 1 + turn * 7919 % buf.len();
            match a.read(&mut buf[..most]).unwrap() {
                0 => break,
                count => received.extend_from_slice(&buf[..count]),
            }
            if turn % 64 == 0 {
                lamprey::sleep(Duration::from_millis(1));
            }
        }
        writer.join().unwrap();
        assert!(received == sent);
        assert_eq!(a.read(&mut buf).unwrap(), 0, "the end stays the end");
    });
}

#[test]
fn more_streams_than_buffers_make_progress() {
    on_both(1, || {
        let hosts: Vec<_> = (0..300)
            .map(|at| {
                let (mut a, mut b) = pair();
                arm(&a);
                b.write_all(&pattern(20_000)).unwrap(); // five buffers
                drop(b);
                lamprey::spawn(move || {
                    lamprey::sleep(Duration::from_millis(at % 7));
                    let mut received = Vec::new();
                    a.read_to_end(&mut received).unwrap();
                    assert!(received == pattern(20_000), "stream {at}");
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn every_form_of_reading_sees_the_same_bytes() {
    on_both(1, || {
        let (mut a, mut b) = pair();
        arm(&a);
        b.write_all(b"abcdefghij").unwrap();
        lamprey::wait(async { a.readable_evt().await }).unwrap();
        let mut buf = [0; 4];
        assert_eq!((a.peek(&mut buf).unwrap(), &buf), (4, b"abcd"));
        let mut clone = a.try_clone().unwrap();
        assert_eq!((clone.read(&mut buf[..2]).unwrap(), &buf[..2]), (2, &b"ab"[..]));
        let (mut c, mut d) = ([0; 1], [0; 3]);
        let count = a.read_vectored(&mut [IoSliceMut::new(&mut c), IoSliceMut::new(&mut d)]).unwrap();
        let mut rest = [c.to_vec(), d.to_vec()].concat();
        rest.truncate(count);
        drop(a);
        while rest.len() < 8 {
            let count = lamprey::wait(clone.read_async(&mut buf)).unwrap();
            rest.extend_from_slice(&buf[..count]);
        }
        assert_eq!(rest, b"cdefghij");
        drop(b);
        assert_eq!(clone.read(&mut buf).unwrap(), 0);
    });
}

#[test]
fn a_close_ends_a_read_that_waits() {
    on_both(2, || {
        let (a, _b) = pair();
        let a = std::sync::Arc::new(a);
        let theirs = a.clone();
        let reader = lamprey::spawn(move || (&mut &*theirs).read(&mut [0]).unwrap_err().kind());
        lamprey::sleep(Duration::from_millis(2));
        a.close();
        assert_eq!(reader.join().unwrap(), ErrorKind::NotConnected);
    });
}

#[test]
fn the_peer_sees_the_end_when_the_stream_is_dropped() {
    on_both(2, || {
        for _ in 0..20 {
            let (a, mut b) = pair();
            arm(&a);
            b.write_all(b"unread").unwrap();
            drop(a);
            let mut buf = [0; 8];
            match b.read(&mut buf) {
                Ok(count) => assert_eq!(count, 0),
                // The kernel had not received the bytes yet.
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
            }
        }
    });
}

#[test]
fn a_stream_is_not_given_away_with_bytes_that_would_be_lost() {
    on_both(1, || {
        let (mut a, mut b) = pair();
        arm(&a);
        b.write_all(b"abc").unwrap();
        a.set_read_ahead(false);
        b.write_all(b"def").unwrap();
        b.shutdown(Shutdown::Write).unwrap();
        let mut all = Vec::new();
        a.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"abcdef");
        a.write_all(b"x").unwrap();
        a.into_std().unwrap();
        b.read_exact(&mut [0]).unwrap();

        let (a, _b) = pair();
        arm(&a);
        match a.into_std() {
            Ok(_) => {} // epoll
            Err(error) => assert_eq!(error.kind(), ErrorKind::ResourceBusy),
        }
    });
}

#[test]
fn connections_are_accepted_ahead_and_none_is_lost() {
    on_both(2, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_accept_ahead(true);
        let address = listener.local_addr().unwrap();
        let server = lamprey::spawn(move || {
            for turn in 0..500 {
                let (mut stream, peer) = if turn % 3 == 0 {
                    lamprey::wait(listener.accept_async()).unwrap()
                } else {
                    listener.accept().unwrap()
                };
                assert!(peer.ip().is_loopback());
                lamprey::spawn(move || {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    stream.write_all(&byte).unwrap();
                });
            }
        });
        let clients: Vec<_> = (0..500)
            .map(|n| {
                lamprey::spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    stream.write_all(&[n as u8]).unwrap();
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    assert_eq!(byte[0], n as u8);
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        server.join().unwrap();
    });
}

#[test]
fn connections_that_nobody_has_asked_for_end_with_the_listener() {
    on_both(1, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_accept_ahead(true);
        let address = listener.local_addr().unwrap();
        let first = lamprey::spawn(move || listener.accept().map(|_| listener).unwrap());
        let mut clients: Vec<_> = (0..10).map(|_| TcpStream::connect(address).unwrap()).collect();
        drop(first.join().unwrap());
        for client in &mut clients {
            match client.read(&mut [0]) {
                Ok(count) => assert_eq!(count, 0),
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
            }
        }
    });
}

#[test]
fn a_plain_thread_reads_what_a_workers_ring_has_received() {
    on_both(1, || {
        let (a, mut b) = pair();
        arm(&a);
        let reader = std::thread::spawn(move || {
            let mut received = Vec::new();
            { a }.read_to_end(&mut received).unwrap();
            received
        });
        for piece in pattern(30_000).chunks(1000) {
            lamprey::sleep(Duration::from_micros(300)); // it mostly waits
            b.write_all(piece).unwrap();
        }
        drop(b);
        let received = lamprey::block(|| reader.join().unwrap());
        assert!(received == pattern(30_000));
    });
}
