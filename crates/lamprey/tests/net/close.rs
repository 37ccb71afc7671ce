//! `close` while somebody waits: hosts and OS threads, in every kind of call.

use crate::common::*;
use lamprey::net::{Closed, TcpListener, TcpStream, UdpSocket};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

fn listener() -> Arc<TcpListener> {
    Arc::new(TcpListener::bind("127.0.0.1:0").unwrap())
}

fn pair() -> (Arc<TcpStream>, TcpStream) {
    let listener = listener();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (Arc::new(client), listener.accept().unwrap().0)
}

#[track_caller]
fn assert_closed<T: std::fmt::Debug>(result: io::Result<T>) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConnected, "{error}");
    assert!(error.get_ref().is_some_and(|inner| inner.is::<Closed>()), "{error}");
}

fn fill(mut stream: &TcpStream) -> io::Result<()> {
    loop {
        stream.write_all(&[0; 65536])?;
    }
}

#[test]
fn close_while_hosts_accept() {
    run(2, || {
        let listener = listener();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let listener = listener.clone();
                blocked_in(&here(), move || listener.accept())
            })
            .collect();
        listener.close();
        waiting.into_iter().for_each(|host| assert_closed(host.join().unwrap()));
        assert_closed(listener.accept());
    });
}

#[test]
fn close_while_hosts_read() {
    run(2, || {
        let (stream, mut peer) = pair();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let stream = stream.clone();
                blocked_in(&here(), move || (&*stream).read(&mut [0]))
            })
            .collect();
        stream.close();
        stream.close();
        waiting.into_iter().for_each(|host| assert_closed(host.join().unwrap()));
        assert_closed((&*stream).write(b"x"));
        assert_eq!(peer.read(&mut [0]).unwrap(), 0, "the peer sees the end");
    });
}

#[test]
fn close_while_a_host_writes() {
    run(1, || {
        let (stream, _peer) = pair();
        let theirs = stream.clone();
        let writer = blocked(move || fill(&theirs));
        stream.close();
        // The write that waits fails as closed; one that came in between the two steps of `close`, as a
        // broken pipe.
        assert!(matches!(
            writer.join().unwrap().unwrap_err().kind(),
            ErrorKind::NotConnected | ErrorKind::BrokenPipe
        ));
    });
}

#[test]
fn close_while_os_threads_wait() {
    within(FOREVER, || {
        let listener = listener();
        let (stream, _peer) = pair();
        let acceptor = blocked_os({
            let listener = listener.clone();
            move || listener.accept()
        });
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let stream = stream.clone();
                blocked_os(move || (&*stream).read(&mut [0]))
            })
            .collect();
        let writer = blocked_os({
            let stream = stream.clone();
            move || fill(&stream)
        });
        listener.close();
        stream.close();
        assert_closed(acceptor.join().unwrap());
        readers.into_iter().for_each(|reader| assert_closed(reader.join().unwrap()));
        assert!(writer.join().unwrap().is_err());
    });
}

#[test]
fn close_while_an_os_thread_waits_for_what_no_shutdown_reaches() {
    within(FOREVER, || {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        let theirs = socket.clone();
        let receiver = blocked_os(move || theirs.recv(&mut [0]));
        socket.close();
        assert_closed(receiver.join().unwrap());
    });
}

#[test]
fn close_by_an_os_thread_while_a_host_waits_and_the_other_way_round() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (first, _peer) = pair();
        let theirs = first.clone();
        let host = blocked_in(&runtime.handle(), move || (&*theirs).read(&mut [0]));
        first.close();
        assert_closed(host.join().unwrap());

        let (second, _peer) = pair();
        let theirs = second.clone();
        let thread = blocked_os(move || (&*theirs).read(&mut [0]));
        runtime.run(move || second.close());
        assert_closed(thread.join().unwrap());
    });
}

#[test]
fn incoming_ends_when_the_listener_is_closed() {
    run(1, || {
        let listener = listener();
        let address = listener.local_addr().unwrap();
        let theirs = listener.clone();
        let accepted = counter();
        let seen = accepted.clone();
        let served =
            lamprey::spawn(move || theirs.incoming().inspect(|_| tick(&seen)).map(Result::unwrap).count());
        for _ in 0..3 {
            TcpStream::connect(address).unwrap();
        }
        yield_until("all are accepted, and the server waits", || count(&accepted) == 3);
        listener.close();
        assert_eq!(served.join().unwrap(), 3);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn incoming_reports_a_listener_that_is_of_no_use_once() {
    run(1, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // Behind the listener's back.
        rustix::net::shutdown(&listener, rustix::net::Shutdown::Both).unwrap();
        let mut incoming = listener.incoming();
        assert!(incoming.next().unwrap().is_err());
        assert!(incoming.next().is_none());
    });
}

#[test]
fn close_races_with_waiting() {
    run(2, || {
        for _ in 0..300 {
            let (stream, peer) = pair();
            let theirs = stream.clone();
            let reader = lamprey::spawn(move || (&*theirs).read(&mut [0]).map(|_| ()));
            let closer = lamprey::spawn(move || stream.close());
            drop(peer);
            // Either the end of the stream or the close came first.
            let _ = reader.join().unwrap();
            closer.join().unwrap();
        }
    });
}
