//! After a TCP read that has not filled its buffer, the next one waits without looking: it must not miss what has come.

use crate::common::awaiting::*;
use crate::common::*;
use lamprey::event::{Event, choose};
use lamprey::net::{TcpListener, TcpStream};
use rustix::net::{SendFlags, send};
use std::future::poll_fn;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn pair() -> (TcpStream, std::net::TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    peer.set_nodelay(true).unwrap();
    (listener.accept().unwrap().0, peer)
}

/// Reads with a buffer that is never full, by the blocking form, or by the poll form.
fn read_some(stream: &TcpStream, by_polls: bool) -> Vec<u8> {
    let mut buf = [0; 64];
    let read = if by_polls {
        lamprey::wait(poll_fn(|cx| stream.poll_read(cx, &mut buf)))
    } else {
        (&*stream).read(&mut buf)
    };
    buf[..read.unwrap()].to_vec()
}

fn read_to_end(stream: &TcpStream, by_polls: bool) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let some = read_some(stream, by_polls);
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

fn in_both_forms(test: impl Fn(bool) + Send + Copy + 'static) {
    for by_polls in [false, true] {
        for workers in [1, 2] {
            run(workers, move || test(by_polls));
        }
        within(FOREVER, move || test(by_polls));
    }
}

#[test]
fn bytes_that_come_in_pieces() {
    in_both_forms(|by_polls| {
        let (stream, mut peer) = pair();
        let sender = std::thread::spawn(move || {
            for piece in 0..2000_u32 {
                peer.write_all(&piece.to_le_bytes()).unwrap();
                if piece % 16 == 0 {
                    std::thread::yield_now();
                }
            }
        });
        let bytes = read_to_end(&stream, by_polls);
        let pieces: Vec<_> =
            bytes.chunks(4).map(|piece| u32::from_le_bytes(piece.try_into().unwrap())).collect();
        assert!(pieces.iter().copied().eq(0..2000), "{} pieces", pieces.len());
        lamprey::block(move || sender.join()).unwrap();
    });
}

#[test]
fn an_answer_to_each_message() {
    in_both_forms(|by_polls| {
        let (stream, mut peer) = pair();
        let echo = std::thread::spawn(move || {
            let mut buf = [0; 64];
            for _ in 0..500 {
                let count = peer.read(&mut buf).unwrap();
                peer.write_all(&buf[..count]).unwrap();
            }
        });
        for message in 0..500_u32 {
            (&stream).write_all(&message.to_le_bytes()).unwrap();
            assert_eq!(read_some(&stream, by_polls), message.to_le_bytes());
        }
        lamprey::block(move || echo.join()).unwrap();
    });
}

#[test]
fn the_end_that_comes_with_the_bytes() {
    in_both_forms(|by_polls| {
        for _ in 0..50 {
            let (stream, mut peer) = pair();
            // It is registered, and waits, when both come at once.
            let reader = std::thread::spawn({
                let stream = Arc::new(stream);
                let theirs = stream.clone();
                move || {
                    drop(stream);
                    read_to_end(&theirs, by_polls)
                }
            });
            peer.write_all(b"abc").unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            assert_eq!(lamprey::block(move || reader.join()).unwrap(), b"abc");
        }
    });
}

#[test]
fn the_end_that_is_reported_with_the_bytes() {
    in_both_forms(|by_polls| {
        for _ in 0..50 {
            let (stream, mut peer) = pair();
            let stream = Arc::new(stream);
            let theirs = stream.clone();
            let reader =
                lamprey::Handle::current().map(|handle| handle.spawn(move || read_to_end(&theirs, by_polls)));
            let Some(reader) = reader else { return };
            lamprey::yield_now();
            peer.write_all(b"abc").unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            assert_eq!(reader.join().unwrap(), b"abc");
        }
    });
}

#[test]
fn a_read_that_stops_at_urgent_data() {
    in_both_forms(|by_polls| {
        let (stream, mut peer) = pair();
        peer.write_all(b"one").unwrap();
        assert_eq!(read_some(&stream, by_polls), b"one");
        // The reader is registered, so that the urgent data comes as an edge.
        peer.write_all(b"two").unwrap();
        assert_eq!(read_some(&stream, by_polls), b"two");
        peer.write_all(b"ab").unwrap();
        send(&peer, b"!", SendFlags::OOB).unwrap();
        peer.write_all(b"cd").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        assert_eq!(read_to_end(&stream, by_polls), b"abcd");
    });
}

/// A thread that does not wait gets no edge: it looks each time.
#[test]
fn without_waiting_each_read_looks() {
    within(FOREVER, || {
        runtime(1).run(without_waiting);
        without_waiting();
    });
}

fn without_waiting() {
    let (stream, mut peer) = pair();
    stream.set_nonblocking(true).unwrap();
    for _ in 0..20 {
        peer.write_all(b"abc").unwrap();
        let mut received = 0;
        while received < 3 {
            match (&stream).read(&mut [0; 64]) {
                Ok(count) => received += count,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }
}

#[test]
fn a_time_limit_looks_once_more() {
    run(1, || {
        let (stream, mut peer) = pair();
        peer.write_all(b"abc").unwrap();
        assert_eq!(read_some(&stream, false), b"abc");
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let error = (&stream).read(&mut [0; 64]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        // Another host holds the worker up, so that the edge is not fetched before the time has passed.
        let written = Arc::new(AtomicBool::new(false));
        let theirs = written.clone();
        lamprey::spawn(move || {
            peer.write_all(b"def").unwrap();
            std::thread::sleep(Duration::from_millis(20));
            theirs.store(true, Ordering::SeqCst);
            peer
        });
        assert_eq!((&stream).read(&mut [0; 64]).unwrap(), 3);
        assert!(written.load(Ordering::SeqCst));
    });
}

#[test]
fn a_choice_with_a_default_finds_what_is_there() {
    run(1, || {
        let (stream, mut peer) = pair();
        for _ in 0..20 {
            peer.write_all(b"abc").unwrap();
            let mut buf = [0; 64];
            let read = lamprey::event::future_evt(stream.read_async(&mut buf)).wrap(|read| read.unwrap());
            // The bytes are in the socket (loopback), whether the worker has fetched their edge or not.
            assert_eq!(choose((read, lamprey::event::timeout(FOREVER).wrap(|()| 0))).sync(), 3);
        }
        peer.write_all(b"abc").unwrap();
        assert_eq!(read_some(&stream, false), b"abc");
        peer.write_all(b"def").unwrap();
        let mut future = Box::pin(async { stream.read_async(&mut [0; 64]).await.unwrap() });
        let (_, waker) = Wakes::new();
        // A future gives way now and then, and always looks.
        assert!((0..2).any(|_| poll(&mut future, &waker).is_ready()));
    });
}

/// Reads once when it is dropped.
struct ReadsAtTheEnd(TcpStream, std::net::TcpStream);

impl Drop for ReadsAtTheEnd {
    fn drop(&mut self) {
        self.1.write_all(b"def").unwrap();
        assert_eq!((&self.0).read(&mut [0; 64]).unwrap(), 3);
    }
}

#[test]
fn a_destructor_of_an_unwinding_host_finds_what_is_there() {
    run(1, || {
        let host = lamprey::spawn(|| {
            let (stream, mut peer) = pair();
            peer.write_all(b"abc").unwrap();
            assert_eq!(read_some(&stream, false), b"abc");
            let _at_the_end = ReadsAtTheEnd(stream, peer);
            std::panic::resume_unwind(Box::new("away"));
        });
        assert!(host.join().is_err());
    });
}

#[test]
fn two_owners_read_in_turn() {
    in_both_forms(|by_polls| {
        let (stream, mut peer) = pair();
        let clone = stream.try_clone().unwrap();
        for _ in 0..50 {
            peer.write_all(b"abc").unwrap();
            assert_eq!(read_some(&stream, by_polls), b"abc");
            peer.write_all(b"def").unwrap();
            assert_eq!(read_some(&clone, by_polls), b"def");
        }
    });
}
