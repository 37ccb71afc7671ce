//! Unix streams.

use crate::common::*;
use lamprey::net::{UnixListener, UnixStream};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// A path that no other test uses, removed at the end.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lamprey-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn hosts_talk_over_a_path() {
    run(2, || {
        let place = Place::new("echo");
        let listener = UnixListener::bind(&place.0).unwrap();
        assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(&*place.0));
        lamprey::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                lamprey::spawn(move || std::io::copy(&mut &stream, &mut &stream).unwrap());
            }
        });
        let clients: Vec<_> = (0..100_u8)
            .map(|client| {
                let path = place.0.clone();
                lamprey::spawn(move || {
                    let mut stream = UnixStream::connect(path).unwrap();
                    stream.write_all(&[client; 1000]).unwrap();
                    let mut received = [0; 1000];
                    stream.read_exact(&mut received).unwrap();
                    assert_eq!(received, [client; 1000]);
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
}

#[test]
fn a_std_peer_talks_over_an_abstract_name() {
    run(1, || {
        let name = format!("lamprey-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        let peer = std::thread::spawn({
            let address = address.clone();
            move || {
                let mut peer = std::os::unix::net::UnixStream::connect_addr(&address).unwrap();
                peer.write_all(b"hello").unwrap();
            }
        });
        let (mut stream, from) = listener.accept().unwrap();
        assert!(from.is_unnamed());
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        peer.join().unwrap();
        assert!(UnixStream::connect_addr(&address).is_ok());
    });
}

#[test]
fn the_peers_name_is_known() {
    run(1, || {
        let place = Place::new("named");
        let named = Place::new("client");
        let listener = UnixListener::bind(&place.0).unwrap();
        let fd = rustix::net::socket(rustix::net::AddressFamily::UNIX, rustix::net::SocketType::STREAM, None)
            .unwrap();
        rustix::net::bind(&fd, &rustix::net::SocketAddrUnix::new(&*named.0).unwrap()).unwrap();
        rustix::net::connect(&fd, &rustix::net::SocketAddrUnix::new(&*place.0).unwrap()).unwrap();
        let (_stream, from) = listener.accept().unwrap();
        assert_eq!(from.as_pathname(), Some(&*named.0));
    });
}

#[test]
fn a_full_queue_makes_connecting_wait() {
    run(1, || {
        let place = Place::new("full");
        let listener = std::os::unix::net::UnixListener::bind(&place.0).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let clients: Vec<_> = (0..5)
            .map(|_| {
                let path = place.0.clone();
                blocked(move || UnixStream::connect(path).map(drop))
            })
            .collect();
        assert!(clients.iter().any(|client| !client.is_finished()), "the queue is never full");
        let listener = UnixListener::from_std(listener).unwrap();
        for _ in 0..5 {
            listener.accept().unwrap();
        }
        clients.into_iter().for_each(|client| client.join().unwrap().unwrap());
    });
}

#[test]
fn a_pair_is_connected_both_ways() {
    run(1, || {
        let (mut a, mut b) = UnixStream::pair().unwrap();
        let echo = lamprey::spawn(move || {
            let mut buf = [0; 3];
            b.read_exact(&mut buf).unwrap();
            assert_eq!(b.write_vectored(&[IoSlice::new(&buf), IoSlice::new(b"!")]).unwrap(), 4);
        });
        a.write_all(b"one").unwrap();
        let mut answer = String::new();
        a.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "one!");
        echo.join().unwrap();
        assert_eq!(a.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn bad_paths_are_errors() {
    run(1, || {
        let long = "x".repeat(200);
        assert_eq!(UnixListener::bind(&long).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(UnixStream::connect("").unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(UnixStream::connect("/does/not/exist").unwrap_err().kind(), ErrorKind::NotFound);
        let place = Place::new("taken");
        let _listener = UnixListener::bind(&place.0).unwrap();
        assert_eq!(UnixListener::bind(&place.0).unwrap_err().kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn closing_ends_an_accept_that_waits_and_refuses_new_connections() {
    run(1, || {
        let place = Place::new("close");
        let listener = Arc::new(UnixListener::bind(&place.0).unwrap());
        let theirs = listener.clone();
        let acceptor = blocked(move || theirs.accept().unwrap_err());
        listener.close();
        assert!(acceptor.join().unwrap().get_ref().unwrap().is::<lamprey::net::Closed>());
        assert_eq!(UnixStream::connect(&place.0).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn the_peer_is_known() {
    run(1, || {
        let place = Place::new("cred");
        let listener = UnixListener::bind(&place.0).unwrap();
        let client = UnixStream::connect(&place.0).unwrap();
        let server = listener.accept().unwrap().0;
        // SAFETY: these calls cannot fail, and have no arguments.
        let me = unsafe { (libc::geteuid(), libc::getegid()) };
        for end in [client, server] {
            let cred = end.peer_cred().unwrap();
            assert_eq!((cred.uid(), cred.gid(), cred.pid()), (me.0, me.1, Some(std::process::id())));
        }
    });
}
