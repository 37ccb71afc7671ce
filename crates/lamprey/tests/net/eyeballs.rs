//! Connecting to one of several addresses.

use crate::common::awaiting::everywhere;
use crate::common::*;
use lamprey::net::{TcpListener, TcpStream};
use lamprey::{TimedOut, with_timeout};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream as Peer};
use std::time::{Duration, Instant};

/// The delay of an attempt.
const DELAY: Duration = Duration::from_millis(250);

/// An address that answers no request: a listener with a full queue.
struct Hole {
    listener: std::net::TcpListener,
    queued: Vec<Peer>,
    address: SocketAddr,
}

fn hole() -> Hole {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    socket.listen(0).unwrap();
    let listener = std::net::TcpListener::from(socket);
    let address = listener.local_addr().unwrap();
    let queued = (0..10)
        .map_while(|_| Peer::connect_timeout(&address, Duration::from_millis(100)).ok())
        .collect::<Vec<_>>();
    assert!(queued.len() < 10, "its queue is never full");
    Hole { listener, queued, address }
}

/// An address that refuses.
fn refusing() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

#[test]
fn an_address_that_does_not_answer_is_passed_by() {
    run(1, || {
        let (hole, listener) = (hole(), TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let good = listener.local_addr().unwrap();
        let begun = Instant::now();
        let stream = TcpStream::connect(&[hole.address, hole.address, good][..]).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), good);
        assert!(begun.elapsed() >= 2 * DELAY, "{:?}", begun.elapsed());
        assert_eq!(listener.accept().unwrap().1, stream.local_addr().unwrap());
    });
}

#[test]
fn the_first_one_is_taken_where_it_answers() {
    run(2, || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (good, other) =
            (listener.local_addr().unwrap(), TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        for _ in 0..20 {
            let stream = TcpStream::connect(&[refusing(), good, other.local_addr().unwrap()][..]).unwrap();
            assert_eq!(stream.peer_addr().unwrap(), good);
            listener.accept().unwrap();
        }
        other.set_nonblocking(true).unwrap();
        assert_eq!(other.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody was there");
    });
}

#[test]
fn a_slow_one_may_still_win() {
    run(1, || {
        let (slow, hole) = (hole(), hole());
        let address = slow.address;
        let opens = std::thread::spawn(move || {
            std::thread::sleep(2 * DELAY);
            // Its queue has room: the kernel's next try comes through.
            let accepted = slow.queued.iter().map(|_| slow.listener.accept().unwrap()).collect::<Vec<_>>();
            (slow, accepted)
        });
        let stream = TcpStream::connect(&[address, hole.address][..]).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), address);
        opens.join().unwrap();
    });
}

#[test]
fn errors_are_those_of_the_last() {
    run(1, || {
        let error = TcpStream::connect(&[refusing(), refusing()][..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpStream::connect(&[][..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = lamprey::wait(TcpStream::connect_async(&[][..])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn it_ends_with_its_thread_or_its_time() {
    run(1, || {
        let (one, two) = (hole(), hole());
        let both = [one.address, two.address];
        let waits = blocked(move || TcpStream::connect(&both[..]));
        assert!(matches!(waits.cancel_and_join(), Err(lamprey::JoinError::Cancelled(_))));
        let late = with_timeout(Duration::from_millis(20), || TcpStream::connect(&both[..]).map(drop));
        assert!(matches!(late, Err(TimedOut)));
        let late =
            lamprey::with_timeout_async(Duration::from_millis(20), TcpStream::connect_async(&both[..]));
        assert!(lamprey::wait(late).is_err());
    });
}

#[test]
fn a_host_that_unwinds_waits_for_none() {
    struct Connects([SocketAddr; 2]);
    impl Drop for Connects {
        fn drop(&mut self) {
            let error = TcpStream::connect(&self.0[..]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        }
    }
    run(1, || {
        let (one, two) = (hole(), hole());
        let both = [one.address, two.address];
        let host = blocked(move || {
            let _connects = Connects(both);
            lamprey::sleep(Duration::MAX);
        });
        assert!(matches!(host.cancel_and_join(), Err(lamprey::JoinError::Cancelled(_))));
    });
}

#[test]
fn it_works_everywhere() {
    everywhere(|| async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let good = listener.local_addr().unwrap();
        let none = SocketAddr::from((Ipv6Addr::LOCALHOST, refusing().port()));
        let stream = TcpStream::connect_async(&[none, good][..]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), good);
    });
}
