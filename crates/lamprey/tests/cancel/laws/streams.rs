//! Sockets, listeners and the pool: bytes go in once and in order, each connection is accepted once, and a
//! call is made or not.

use super::attempt::{Endpoint, Plan, Tries, plans, start};
use super::holds;
use super::series::endpoint;
use crate::common::pattern;
use lamprey::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const CASES: u32 = 30;
const BYTES: usize = 300_000;

/// A stream, and what has come out of it or is to go into it.
struct Out<S>(S, Vec<u8>);
struct In<S>(S, Vec<u8>);

macro_rules! stream {
    ($stream:ty) => {
        impl Endpoint for Out<$stream> {
            /// False at the end.
            type Item = bool;
            fn go(&mut self) -> bool {
                let mut buf = [0; 3000];
                let length = (&self.0).read(&mut buf).unwrap();
                self.1.extend(&buf[..length]);
                length != 0
            }
            async fn go_async(&mut self) -> bool {
                let mut buf = [0; 3000];
                let length = self.0.read_async(&mut buf).await.unwrap();
                self.1.extend(&buf[..length]);
                length != 0
            }
        }
        impl Endpoint for In<$stream> {
            type Item = ();
            fn go(&mut self) {
                let length = (&self.0).write(&self.1[..self.1.len().min(7000)]).unwrap();
                self.1.drain(..length);
            }
            async fn go_async(&mut self) {
                let length = self.0.write_async(&self.1[..self.1.len().min(7000)]).await.unwrap();
                self.1.drain(..length);
            }
        }
    };
}
stream!(TcpStream);
stream!(UnixStream);

/// All bytes come out as they have gone in, whatever is cancelled on both sides.
fn carries<S: Send + Sync + 'static>(plans: (Plan, Plan), streams: (S, S), close: fn(&S))
where
    Out<S>: Endpoint<Item = bool>,
    In<S>: Endpoint<Item = ()>,
{
    let mut write = In(streams.0, pattern(BYTES));
    let writer = start(plans.0.seat, move || {
        let mut tries = Tries::new(plans.0);
        while !write.1.is_empty() {
            tries.short(&mut write);
        }
        close(&write.0);
    });
    let mut read = Out(streams.1, Vec::new());
    let reader = start(plans.1.seat, move || {
        let mut tries = Tries::new(plans.1);
        while tries.until_done(&mut read) {}
        read.1
    });
    writer();
    assert!(reader() == pattern(BYTES), "other bytes, or other places");
}

#[test]
fn a_local_stream_carries_each_byte_once() {
    holds(CASES, &(plans(), plans()), |plans| {
        let pair = UnixStream::pair().unwrap();
        carries(plans, pair, |stream| stream.shutdown(Shutdown::Write).unwrap());
    });
}

#[test]
fn a_tcp_stream_carries_each_byte_once() {
    holds(CASES, &(plans(), plans()), |plans| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let pair = (client, listener.accept().unwrap().0);
        carries(plans, pair, |stream| stream.shutdown(Shutdown::Write).unwrap());
    });
}

endpoint!(Accepts(TcpListener) -> TcpStream {
    |listener| listener.accept().unwrap().0,
    listener.accept_async().await.unwrap().0
});

#[test]
fn each_connection_is_accepted_once() {
    const CONNECTIONS: u8 = 12;
    holds(CASES, &plans(), |plan| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|n| {
                lamprey::spawn(move || {
                    (0..n % 4).for_each(|_| lamprey::yield_now());
                    TcpStream::connect(address).unwrap().write_all(&[n]).unwrap();
                })
            })
            .collect();
        let mut end = Accepts(listener);
        let server = start(plan.seat, move || {
            let mut tries = Tries::new(plan);
            (0..CONNECTIONS)
                .map(|_| {
                    let mut byte = [0];
                    tries.until_done(&mut end).read_exact(&mut byte).unwrap();
                    byte[0]
                })
                .collect::<Vec<_>>()
        });
        clients.into_iter().for_each(|client| client.join().unwrap());
        let mut seen = server();
        seen.sort_unstable();
        assert_eq!(seen, (0..CONNECTIONS).collect::<Vec<_>>());
    });
}

endpoint!(Datagrams(UdpSocket) -> u8 {
    |socket| {
        let mut buf = [0; 8];
        socket.recv_from(&mut buf).unwrap();
        buf[0]
    },
    {
        let mut buf = [0; 8];
        socket.recv_from_async(&mut buf).await.unwrap();
        buf[0]
    }
});

#[test]
fn a_datagram_is_not_lost_on_a_receive_that_was_cancelled() {
    const COUNT: u8 = 20;
    holds(CASES, &plans(), |plan| {
        let (from, to) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let (address, mut random) = (to.local_addr().unwrap(), fastrand::Rng::with_seed(plan.seed));
        let sender = lamprey::spawn(move || {
            for n in 0..COUNT {
                super::attempt::pause(&mut random);
                from.send_to(&[n], address).unwrap();
            }
        });
        let mut end = Datagrams(to);
        let receiver = start(plan.seat, move || {
            let mut tries = Tries::new(plan);
            (0..COUNT).map(|_| tries.until_done(&mut end)).collect::<Vec<_>>()
        });
        sender.join().unwrap();
        assert_eq!(receiver(), (0..COUNT).collect::<Vec<_>>());
    });
}

/// What the calls on the pool have done: how many ran, and how many closures are gone.
#[derive(Default)]
struct Calls {
    made: AtomicUsize,
    ran: AtomicUsize,
    gone: AtomicUsize,
}

/// A part of a call's closure.
struct Part(Arc<Calls>);

impl Part {
    fn new(calls: &Arc<Calls>) -> Self {
        calls.made.fetch_add(1, SeqCst);
        Self(calls.clone())
    }
    fn run(&self) {
        self.0.ran.fetch_add(1, SeqCst);
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.0.gone.fetch_add(1, SeqCst);
    }
}

endpoint!(Blocks(Arc<Calls>) -> () {
    |calls| {
        let part = Part::new(calls);
        lamprey::block(move || part.run());
    },
    {
        let part = Part::new(calls);
        lamprey::block_async(move || part.run()).await;
    }
});

#[test]
fn a_call_on_the_pool_has_run_or_its_closure_is_dropped() {
    holds(CASES, &plans(), |plan| {
        let calls = Arc::new(Calls::default());
        let mut end = Blocks(calls.clone());
        let caller = start(plan.seat, move || {
            let (mut tries, mut done) = (Tries::new(plan), 0);
            for _ in 0..20 {
                done += usize::from(tries.once(&mut end).is_some());
            }
            (done, tries.dropped)
        });
        let (done, dropped) = caller();
        // A call whose future was dropped may still be under way.
        crate::common::eventually("the last closure", || calls.gone.load(SeqCst) == calls.made.load(SeqCst));
        let ran = calls.ran.load(SeqCst);
        // A blocking call that has unwound has not run; one whose future was dropped may have.
        assert!(done <= ran && ran <= done + dropped, "{ran} ran, {done} done, {dropped} dropped");
    });
}
