//! Unix datagrams.

use super::unix::Place;
use crate::common::awaiting::everywhere;
use crate::common::*;
use lamprey::event::{Event, choose, timeout};
use lamprey::net::{Closed, UnixDatagram};
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram as Peer};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn datagrams_by_path_keep_their_bounds() {
    run(2, || {
        let (place, back) = (Place::new("dgram"), Place::new("dgram-back"));
        let server = UnixDatagram::bind(&place.0).unwrap();
        let echo = lamprey::spawn(move || {
            let mut buf = [0; 64];
            for _ in 0..200 {
                let (received, from) = server.recv_from(&mut buf).unwrap();
                server.send_to_addr(&buf[..received], &from).unwrap();
            }
            let (received, from) = server.recv_from(&mut buf).unwrap();
            assert!(received == 0 && from.is_unnamed());
        });
        let client = UnixDatagram::bind(&back.0).unwrap();
        client.connect(&place.0).unwrap();
        assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(&*place.0));
        for turn in 0..200_u32 {
            client.send(&turn.to_ne_bytes()).unwrap();
            let mut buf = [0; 64];
            assert_eq!(client.peek(&mut buf).unwrap(), 4);
            let (received, from) = client.recv_from(&mut buf).unwrap();
            assert_eq!((received, from.as_pathname()), (4, Some(&*place.0)));
            assert_eq!(buf[..4], turn.to_ne_bytes());
        }
        UnixDatagram::unbound().unwrap().send_to(b"", &place.0).unwrap();
        echo.join().unwrap();
    });
}

#[test]
fn a_std_peer_over_an_abstract_name() {
    run(1, || {
        let name = format!("lamprey-dgram-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let peer = Peer::bind_addr(&address).unwrap();
        let socket = UnixDatagram::unbound().unwrap();
        socket.send_to_addr(b"one", &address).unwrap();
        socket.connect_addr(&address).unwrap();
        socket.send(b"two").unwrap();
        let mut buf = [0; 8];
        assert_eq!((peer.recv(&mut buf).unwrap(), peer.recv(&mut buf).unwrap()), (3, 3));
        assert_eq!(&buf[..3], b"two");
        let theirs = UnixDatagram::from_std(peer).unwrap().into_std().unwrap();
        assert_eq!(theirs.local_addr().unwrap().as_abstract_name(), Some(name.as_bytes()));
        let mine =
            UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(format!("{name}-2")).unwrap()).unwrap();
        theirs.send_to_addr(b"three", &mine.local_addr().unwrap()).unwrap();
        let (_, from) = mine.recv_from(&mut buf).unwrap();
        assert_eq!(from.as_abstract_name(), Some(name.as_bytes()));
    });
}

/// Fills the queue of the receiver at `place`.
fn fill(sender: &UnixDatagram, place: &Place) -> usize {
    sender.set_nonblocking(true).unwrap();
    let sent = (0..).take_while(|_| sender.send_to(b"x", &place.0).is_ok()).count();
    assert_eq!(sender.send_to(b"x", &place.0).unwrap_err().kind(), ErrorKind::WouldBlock);
    sender.set_nonblocking(false).unwrap();
    sent
}

#[test]
fn a_sender_waits_for_room() {
    for connected in [false, true] {
        run(1, move || {
            let place = Place::new(&format!("room-{connected}"));
            let receiver = UnixDatagram::bind(&place.0).unwrap();
            let sender = UnixDatagram::unbound().unwrap();
            let full = fill(&sender, &place);
            sender.set_write_timeout(Some(Duration::from_millis(10))).unwrap();
            if connected {
                sender.connect(&place.0).unwrap();
            }
            let to = place.0.clone();
            let send = move |sender: &UnixDatagram| {
                if connected { sender.send(b"y") } else { sender.send_to(b"y", &to) }
            };
            let begun = Instant::now();
            assert_eq!(send(&sender).unwrap_err().kind(), ErrorKind::TimedOut);
            assert!(begun.elapsed() >= Duration::from_millis(10));
            sender.set_write_timeout(None).unwrap();
            let waits = blocked(move || send(&sender));
            let mut buf = [0; 2];
            for _ in 0..full {
                assert_eq!(receiver.recv(&mut buf).unwrap(), 1);
            }
            assert_eq!(receiver.recv(&mut buf).unwrap(), 1);
            assert_eq!(buf[0], b'y');
            assert_eq!(waits.join().unwrap().unwrap(), 1);
        });
    }
}

#[test]
fn who_waits_is_cancelled_timed_out_and_closed() {
    run(1, || {
        let (here, there) = UnixDatagram::pair().unwrap();
        let here = Arc::new(here);
        let theirs = here.clone();
        let waits = blocked(move || theirs.recv(&mut [0; 8]));
        assert!(matches!(waits.cancel_and_join(), Err(lamprey::JoinError::Cancelled(_))));
        here.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        assert_eq!(here.recv_from(&mut [0; 8]).unwrap_err().kind(), ErrorKind::TimedOut);
        here.set_read_timeout(None).unwrap();
        let mut buf = [0; 8];
        let received =
            choose((here.recv_evt(&mut buf), timeout(Duration::from_millis(1)).wrap(|()| Ok(99)))).sync();
        assert_eq!(received.unwrap(), 99);
        // All of them have taken nothing.
        there.send(b"kept").unwrap();
        assert_eq!(here.recv(&mut buf).unwrap(), 4);
        let theirs = here.clone();
        let waits = blocked(move || theirs.recv(&mut [0; 8]));
        here.close();
        let error = waits.join().unwrap().unwrap_err();
        assert!(error.get_ref().unwrap().is::<Closed>());
        assert!(there.send(b"to nobody").is_err());
    });
}

#[test]
fn the_awaitable_forms_work_everywhere() {
    everywhere(|| async {
        let (a, b) = UnixDatagram::pair().unwrap();
        let mut buf = [0; 8];
        a.send_async(b"hello").await.unwrap();
        assert_eq!(b.peek_async(&mut buf).await.unwrap(), 5);
        assert_eq!(b.recv_async(&mut buf).await.unwrap(), 5);
        let name = format!("lamprey-everywhere-{:p}", &raw const buf);
        let address = SocketAddr::from_abstract_name(format!("{name}-{}", std::process::id())).unwrap();
        let bound = UnixDatagram::bind_addr(&address).unwrap();
        UnixDatagram::unbound().unwrap().send_to_addr_async(b"to", &address).await.unwrap();
        let (received, from) = bound.recv_from_async(&mut buf).await.unwrap();
        assert!(received == 2 && from.is_unnamed());
    });
}

#[test]
fn bad_names_are_errors() {
    let long = "x".repeat(200);
    for error in [
        UnixDatagram::bind(&long).map(drop).unwrap_err(),
        UnixDatagram::bind("a\0b").map(drop).unwrap_err(),
        UnixDatagram::unbound().unwrap().send_to(b"", &long).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    assert_eq!(UnixDatagram::unbound().unwrap().send(b"").unwrap_err().kind(), ErrorKind::NotConnected);
}

#[test]
fn within_a_machine_of_a_simulation() {
    lamprey::Runtime::simulated(3).run(|| {
        let (here, there) = UnixDatagram::pair().unwrap();
        here.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let begun = lamprey::sim::now();
        assert_eq!(here.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(lamprey::sim::now() - begun >= Duration::from_secs(60));
        let sends = lamprey::spawn(move || {
            lamprey::sleep(Duration::from_secs(1));
            there.send(b"hello").unwrap()
        });
        assert_eq!(here.recv(&mut [0; 8]).unwrap(), 5);
        sends.join().unwrap();
    });
}

/// CPU time of this process.
fn cpu_time() -> Duration {
    let usage = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(usage.tv_sec as u64, usage.tv_nsec as u32)
}

#[test]
fn a_sender_to_a_full_queue_that_is_not_its_peers_does_not_spin() {
    if role().is_some() {
        return run(1, || {
            let place = Place::new("full");
            let server = UnixDatagram::bind(&place.0).unwrap();
            let client = UnixDatagram::unbound().unwrap();
            client.set_write_timeout(Some(Duration::from_millis(1))).unwrap();
            while client.send_to(b"x", &place.0).is_ok() {}
            client.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
            let before = cpu_time();
            assert_eq!(client.send_to(b"x", &place.0).unwrap_err().kind(), ErrorKind::TimedOut);
            let late = lamprey::wait(client.send_to_async(b"x", &place.0)).unwrap_err();
            assert_eq!(late.kind(), ErrorKind::TimedOut);
            // One that spins would have needed what the machine gave it of four seconds.
            let spent = cpu_time() - before;
            assert!(spent < Duration::from_millis(500), "{spent:?}");
            client.set_write_timeout(None).unwrap();
            let waits = lamprey::spawn({
                let path = place.0.clone();
                move || client.send_to(b"last", path)
            });
            while server.recv(&mut [0; 8]).unwrap() != 4 {}
            assert_eq!(waits.join().unwrap().unwrap(), 4);
        });
    }
    let (output, text) = rerun("a_sender_to_a_full_queue_that_is_not_its_peers_does_not_spin", "alone");
    assert!(output.status.success(), "{text}");
}

#[test]
fn shutting_down_wakes_those_that_wait_and_those_to_come() {
    run(2, || {
        let (x, y) = UnixDatagram::pair().unwrap();
        let (x, y) = (Arc::new(x), Arc::new(y));
        let reader = Arc::clone(&y);
        let host = lamprey::spawn(move || reader.recv(&mut [0; 4]));
        let awaiting = Arc::clone(&y);
        let parasite = lamprey::parasite(async move { awaiting.recv_async(&mut [0; 4]).await });
        let os_thread = std::thread::spawn({
            let y = y.clone();
            move || y.recv(&mut [0; 4])
        });
        y.shutdown(std::net::Shutdown::Both).unwrap();
        assert!(x.send(b"x").is_err());
        assert_eq!(host.join().unwrap().unwrap(), 0);
        assert_eq!(parasite.join().unwrap().unwrap(), 0);
        assert_eq!(os_thread.join().unwrap().unwrap(), 0);
        assert_eq!(y.recv(&mut [0; 4]).unwrap(), 0);
        assert_eq!(y.send(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}
