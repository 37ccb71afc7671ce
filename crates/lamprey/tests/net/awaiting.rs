//! Sockets in async code: on hosts, on OS threads, in tasks of tokio, dropped and moved at every moment.

use crate::common::awaiting::*;
use crate::common::*;
use futures::executor::block_on;
use futures::future::{join, join_all, join3, try_join};
use lamprey::net::{Closed, TcpListener, TcpStream, ToSocketAddrs, UdpSocket, UnixListener, UnixStream};
use lamprey::{sleep_async, wait, with_timeout_async};
use std::cell::Cell;
use std::fmt::Debug;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr as UnixAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const LOCAL: &str = "127.0.0.1:0";

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(LOCAL).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// Two connected streams that can be in two places at once.
fn shared_pair() -> (Arc<UnixStream>, Arc<UnixStream>) {
    let (a, b) = UnixStream::pair().unwrap();
    (Arc::new(a), Arc::new(b))
}

/// A name that nobody has had.
fn unix_address() -> UnixAddr {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("lamprey-async-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    UnixAddr::from_abstract_name(name).unwrap()
}

/// A read of one byte that owns its socket.
type Read1 = Pin<Box<dyn Future<Output = io::Result<u8>> + Send>>;

fn read_1(stream: &Arc<UnixStream>) -> Read1 {
    let stream = stream.clone();
    Box::pin(async move {
        let mut byte = [0];
        stream.read_exact_async(&mut byte).await.map(|()| byte[0])
    })
}

/// One that waits, as it has been polled on a worker of `runtime`.
fn waiting_on(runtime: &lamprey::Runtime, stream: &Arc<UnixStream>, waker: &Waker) -> Read1 {
    let mut read = read_1(stream);
    runtime.run(|| assert!(poll(&mut read, waker).is_pending()));
    read
}

#[track_caller]
fn assert_closed<T: Debug>(result: io::Result<T>) {
    let error = result.unwrap_err();
    assert!(error.get_ref().is_some_and(|inner| inner.is::<Closed>()), "{error}");
}

// What they do.

#[test]
fn tcp_both_ways_at_once() {
    everywhere(|| async {
        let listener = TcpListener::bind_async(LOCAL).await.unwrap();
        let connect = TcpStream::connect_async(listener.local_addr().unwrap());
        let (client, accepted) = join(connect, listener.accept_async()).await;
        let (client, (server, from)) = (client.unwrap(), accepted.unwrap());
        assert_eq!(client.local_addr().unwrap(), from);
        let content = pattern(1 << 20);
        // A reader and a writer on each of the two sockets.
        let talk = |stream: TcpStream| {
            let content = &content;
            async move {
                let mut received = vec![0; content.len()];
                try_join(stream.write_all_async(content), stream.read_exact_async(&mut received))
                    .await
                    .unwrap();
                assert!(received == *content);
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                stream.read_to_end_async(&mut received).await.unwrap()
            }
        };
        assert_eq!(join(talk(client), talk(server)).await, (0, 0));
    });
}

#[test]
fn every_call_of_a_stream() {
    everywhere(|| async {
        let (a, b) = pair();
        let later = async {
            sleep_async(Duration::from_millis(2)).await;
            a.write_vectored_async(&[IoSlice::new(b"one"), IoSlice::new(b"two")]).await
        };
        let mut seen = [0; 8];
        let (peeked, written) = join(b.peek_async(&mut seen), later).await;
        assert_eq!((peeked.unwrap(), written.unwrap(), &seen[..6]), (6, 6, &b"onetwo"[..]));
        let (mut first, mut second) = ([0; 2], [0; 8]);
        let mut bufs = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        assert_eq!(b.read_vectored_async(&mut bufs).await.unwrap(), 6);
        assert_eq!((&first, &second[..4]), (b"on", &b"etwo"[..]));

        assert_eq!(a.write_async(b"gr\xc3\xbc\xc3").await.unwrap(), 5);
        assert_eq!(b.read_async(&mut first).await.unwrap(), 2);
        a.write_all_async(b"\x9fe").await.unwrap();
        drop(a);
        let mut text = String::from("gr");
        assert_eq!(b.read_to_string_async(&mut text).await.unwrap(), 5);
        assert_eq!(text, "gr\u{fc}\u{df}e");
        let error = b.read_exact_async(&mut first).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
    });
}

#[test]
fn what_is_not_text_leaves_the_text_alone() {
    block_on(async {
        let (a, b) = pair();
        a.write_all_async(b"\xff").await.unwrap();
        drop(a);
        let mut text = String::from("as it was");
        assert_eq!(b.read_to_string_async(&mut text).await.unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(text, "as it was");
    });
}

#[test]
fn unix_streams() {
    everywhere(|| async {
        let address = unix_address();
        let listener = UnixListener::bind_addr(&address).unwrap();
        let (client, accepted) =
            join(UnixStream::connect_addr_async(&address), listener.accept_with_backoff_async()).await;
        let (client, (server, _)) = (client.unwrap(), accepted.unwrap());
        client.write_all_async(b"hello").await.unwrap();
        drop(client);
        let mut text = String::new();
        server.read_to_string_async(&mut text).await.unwrap();
        assert_eq!(text, "hello");
        let nobody = UnixStream::connect_async("/nowhere/at/all").await;
        assert_eq!(nobody.unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_unix_listener_whose_queue_is_full() {
    everywhere(|| async {
        let address = unix_address();
        let listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let first = UnixStream::connect_addr_async(&address).await.unwrap();
        let mut second = pin!(UnixStream::connect_addr_async(&address));
        let early = with_timeout_async(Duration::from_millis(5), second.as_mut()).await;
        assert!(early.is_err(), "there is no room");
        drop(listener.accept().unwrap());
        second.await.unwrap();
        drop(first);
    });
}

#[test]
fn datagrams() {
    everywhere(|| async {
        let a = UdpSocket::bind_async(LOCAL).await.unwrap();
        let b = UdpSocket::bind_async(LOCAL).await.unwrap();
        let (to_a, to_b) = (a.local_addr().unwrap(), b.local_addr().unwrap());
        let mut buf = [0; 16];
        let (received, sent) = join(b.peek_from_async(&mut buf), a.send_to_async(b"hello", to_b)).await;
        assert_eq!((received.unwrap(), sent.unwrap()), ((5, to_a), 5));
        assert_eq!(b.recv_from_async(&mut buf).await.unwrap(), (5, to_a));
        a.connect_async(to_b).await.unwrap();
        b.connect_async(to_a).await.unwrap();
        a.send_async(b"again").await.unwrap();
        assert_eq!(b.peek_async(&mut buf).await.unwrap(), 5);
        assert_eq!(b.recv_async(&mut buf).await.unwrap(), 5);
        assert_eq!(&buf[..5], b"again");
        let error = a.send_to_async(b"", &[][..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    });
}

#[test]
fn names_are_looked_up() {
    everywhere(|| async {
        assert!(!lamprey::net::lookup_async("localhost:80").await.unwrap().is_empty());
        for address in ["127.0.0.1", "::1"] {
            let found: Vec<_> = (address, 9).to_socket_addrs_async().await.unwrap().collect();
            assert_eq!(found, [(address.parse::<std::net::IpAddr>().unwrap(), 9).into()]);
        }
        let name = (String::from("localhost"), 9);
        assert_ne!(ToSocketAddrs::to_socket_addrs_async(&&name).await.unwrap().count(), 0);
        let error = lamprey::net::lookup_async("no-port").await.unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidInput && error.to_string().contains("no-port"), "{error}");
        let error = TcpStream::connect_async("no.such.name.invalid:1").await.unwrap_err();
        assert!(error.to_string().contains("no.such.name.invalid"), "{error}");
    });
}

#[test]
fn the_first_address_that_answers_counts() {
    everywhere(|| async {
        let listener = TcpListener::bind(LOCAL).unwrap();
        let nobody = TcpListener::bind(LOCAL).unwrap().local_addr().unwrap();
        let both = [nobody, listener.local_addr().unwrap()];
        assert_eq!(TcpStream::connect_async(&both[..]).await.unwrap().peer_addr().unwrap(), both[1]);
        let refused = TcpStream::connect_async(nobody).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(TcpStream::connect_async(&[][..]).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        let zero = TcpStream::connect_timeout_async(&both[1], Duration::ZERO).await;
        assert_eq!(zero.unwrap_err().kind(), ErrorKind::InvalidInput);
        TcpStream::connect_timeout_async(&both[1], FOREVER).await.unwrap();
    });
}

#[test]
fn their_futures_can_be_sent() {
    let (stream, _) = pair();
    let listener = TcpListener::bind(LOCAL).unwrap();
    let (unix, _) = UnixStream::pair().unwrap();
    let socket = UdpSocket::bind(LOCAL).unwrap();
    let address = listener.local_addr().unwrap();
    let (mut buf, mut bytes) = ([0; 1], Vec::new());
    drop(is_send(stream.read_async(&mut buf)));
    drop(is_send(stream.read_vectored_async(&mut [IoSliceMut::new(&mut buf)])));
    drop(is_send(stream.write_vectored_async(&[IoSlice::new(&buf)])));
    drop(is_send(stream.read_to_end_async(&mut bytes)));
    drop(is_send(stream.write_all_async(&buf)));
    drop(is_send(stream.sendfile_async(io::stdin(), 0, 1)));
    drop(is_send(unix.peek_async(&mut buf)));
    drop(is_send(socket.recv_from_async(&mut buf)));
    drop(is_send(socket.send_to_async(&[0], "localhost:1")));
    drop(is_send(listener.accept_with_backoff_async()));
    drop(is_send(listener.incoming().next_async()));
    drop(is_send(TcpStream::connect_async((String::new(), 1))));
    drop(is_send(TcpStream::connect_timeout_async(&address, FOREVER)));
    drop(is_send(UnixStream::connect_async("x")));
    drop(is_send(lamprey::net::lookup_async("x")));
}

#[test]
fn a_thousand_wait_at_once() {
    everywhere(|| async {
        let pairs: Vec<_> = (0..200).map(|_| UnixStream::pair().unwrap()).collect();
        let readers = join_all(pairs.iter().map(|(a, _)| async {
            let mut byte = [0];
            a.read_exact_async(&mut byte).await.map(|()| byte[0])
        }));
        let writers = async {
            sleep_async(Duration::from_millis(1)).await;
            for (n, (_, b)) in pairs.iter().enumerate().rev() {
                b.write_all_async(&[n as u8]).await.unwrap();
            }
        };
        let (read, ()) = join(readers, writers).await;
        assert!(read.into_iter().map(Result::unwrap).eq((0..200).map(|n| n as u8)));
    });
}

// Limits of time, and of waiting.

#[test]
fn timeouts_hold_and_are_not_early() {
    everywhere(|| async {
        let (a, b) = pair();
        let limit = Duration::from_millis(10);
        a.set_read_timeout(Some(limit)).unwrap();
        a.set_write_timeout(Some(limit)).unwrap();
        let start = Instant::now();
        assert_eq!(a.read_async(&mut [0]).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(start.elapsed() >= limit);
        let start = Instant::now();
        let error = loop {
            match a.write_async(&[0; 65536]).await {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(start.elapsed() >= limit);
        b.write_all_async(b"x").await.unwrap();
        assert_eq!(a.read_async(&mut [0; 9]).await.unwrap(), 1, "it can be used on");
    });
}

#[test]
fn a_nonblocking_socket_is_awaited_like_others() {
    everywhere(|| async {
        let (a, b) = pair();
        a.set_nonblocking(true).unwrap();
        assert_eq!((&a).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut byte = [0];
        let mut read = Box::pin(a.read_async(&mut byte));
        let (_, waker) = Wakes::new();
        assert!(poll(&mut read, &waker).is_pending());
        b.write_all_async(b"x").await.unwrap();
        assert_eq!(read.await.unwrap(), 1);
        let listener = TcpListener::bind(LOCAL).unwrap();
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut incoming = listener.incoming();
        let mut next = Box::pin(incoming.next_async());
        assert!(poll(&mut next, &waker).is_pending());
        let _peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        next.await.unwrap().unwrap();
    });
}

#[test]
fn a_socket_that_is_always_ready_lets_others_run() {
    everywhere(|| async {
        let (a, b) = pair();
        a.write_all_async(b"x").await.unwrap();
        let done = Cell::new(false);
        let busy = async {
            let mut looks = 0_u64;
            while !done.get() {
                // Never has to wait.
                b.peek_async(&mut [0]).await.unwrap();
                looks += 1;
            }
            looks
        };
        let other = async {
            sleep_async(Duration::from_millis(2)).await;
            done.set(true);
        };
        assert!(join(busy, other).await.0 > 0);
    });
}

// Dropped, at each moment.

#[test]
fn dropped_before_its_first_poll() {
    let (a, b) = shared_pair();
    (&*b).write_all(b"x").unwrap();
    drop(read_1(&a));
    assert_eq!((&*a).read(&mut [0; 9]).unwrap(), 1);
}

#[test]
fn dropped_while_it_waits() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (a, b) = shared_pair();
        let (wakes, waker) = Wakes::new();
        // One goes at home, one from outside, one in the middle of the list.
        let reads = [(); 3].map(|()| waiting_on(&runtime, &a, &waker));
        let [first, second, third] = reads;
        drop(waker);
        drop(second);
        runtime.run(move || drop(first));
        thread::spawn(move || drop(third)).join().unwrap();
        assert_eq!(Arc::strong_count(&wakes), 1, "no waker is left");
        (&*b).write_all(b"x").unwrap();
        assert_eq!(runtime.run(|| block_on_read(&a)), 1);
        assert_eq!(wakes.count(), 0);
    });
}

fn block_on_read(stream: &UnixStream) -> usize {
    let mut stream = stream;
    stream.read(&mut [0; 9]).unwrap()
}

#[test]
fn dropped_after_the_edge_it_has_taken_nothing() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (a, b) = shared_pair();
        let (wakes, waker) = Wakes::new();
        let dropped = waiting_on(&runtime, &a, &waker);
        let mut other = waiting_on(&runtime, &a, &waker);
        (&*b).write_all(b"x").unwrap();
        eventually("both are woken", || wakes.count() == 2);
        drop(dropped);
        assert!(matches!(poll(&mut other, &waker), Poll::Ready(Ok(b'x'))));
    });
}

#[test]
fn nothing_is_lost_when_reads_are_dropped_at_any_time() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (a, b) = shared_pair();
        const BYTES: usize = 3000;
        let writer = thread::spawn(move || {
            let mut random = fastrand::Rng::with_seed(1);
            for n in 0..BYTES {
                (&*b).write_all(&[n as u8]).unwrap();
                if random.u8(..) < 40 {
                    thread::sleep(Duration::from_micros(random.u64(..60)));
                }
            }
        });
        let mut random = fastrand::Rng::with_seed(2);
        let mut received = Vec::new();
        while received.len() < BYTES {
            let stream = a.clone();
            let limit = Duration::from_micros(random.u64(..100));
            let read = async move { with_timeout_async(limit, read_1(&stream)).await };
            let byte = match random.u8(..3) {
                0 => block_on(read),
                1 => runtime.run(move || wait(read)),
                _ => in_tokio(read),
            };
            received.extend(byte.map(Result::unwrap));
        }
        writer.join().unwrap();
        assert!(received.into_iter().eq((0..BYTES).map(|n| n as u8)));
    });
}

#[test]
fn a_connect_that_is_dropped_closes_its_socket() {
    within(FOREVER, || {
        // An address that does not answer: the listener's queue is full.
        let listener = std::net::TcpListener::bind(LOCAL).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        block_on(async {
            let limit = Duration::from_millis(20);
            let mut open = Vec::new();
            for _ in 0..8 {
                if let Ok(stream) = with_timeout_async(limit, TcpStream::connect_async(address)).await {
                    open.push(stream.unwrap());
                }
            }
            assert!(open.len() < 8, "the queue has an end");
            let late = TcpStream::connect_timeout_async(&address, limit).await;
            assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
        });
    });
}

// Closed while it waits.

#[test]
fn close_while_futures_wait() {
    everywhere(|| async {
        let (a, _peer) = pair();
        let listener = TcpListener::bind(LOCAL).unwrap();
        let socket = UdpSocket::bind(LOCAL).unwrap();
        let full = async {
            loop {
                if let Err(error) = a.write_all_async(&[0; 65536]).await {
                    return error;
                }
            }
        };
        let (mut byte, mut datagram) = ([0], [0]);
        let waiting = join_all([
            Box::pin(async { a.read_async(&mut byte).await.map(drop) })
                as Pin<Box<dyn Future<Output = io::Result<()>>>>,
            Box::pin(async { listener.accept_async().await.map(drop) }),
            Box::pin(async { listener.accept_with_backoff_async().await.map(drop) }),
            Box::pin(async { socket.recv_async(&mut datagram).await.map(drop) }),
        ]);
        // The others are polled first, so they wait.
        let close = async {
            listener.close();
            socket.close();
            a.close();
        };
        let (waiting, full, ()) = join3(waiting, full, close).await;
        waiting.into_iter().for_each(assert_closed);
        // One that came in between the two steps of `close` fails as a broken pipe.
        assert!(matches!(full.kind(), ErrorKind::NotConnected | ErrorKind::BrokenPipe), "{full}");
        assert_closed(a.write_async(b"x").await);
        assert!(listener.incoming().next_async().await.is_none());
    });
}

#[test]
fn close_races_with_waiting() {
    within(FOREVER, || {
        let runtime = runtime(2);
        for _ in 0..300 {
            let (a, b) = shared_pair();
            let read = read_1(&a);
            let reader = runtime.handle().spawn(move || wait(read));
            let closer = runtime.handle().spawn(move || a.close());
            drop(b);
            // Either the end of the stream or the close came first.
            assert!(reader.join().unwrap().is_err());
            closer.join().unwrap();
        }
    });
}

#[test]
fn closed_by_a_host_while_a_task_waits() {
    within(FOREVER, || {
        let (a, _b) = shared_pair();
        let closer = a.clone();
        let runtime = runtime(1);
        let task = blocked_os(move || in_tokio(read_1(&a)));
        runtime.run(move || closer.close());
        assert_closed(task.join().unwrap());
    });
}

// Here, there, and somewhere else.

#[test]
fn a_host_an_os_thread_and_futures_wait_for_one_socket() {
    within(FOREVER, || {
        let runtime = runtime(2);
        let (a, b) = shared_pair();
        const EACH: usize = 500;
        let host = runtime.handle().spawn({
            let a = a.clone();
            move || (0..EACH).for_each(|_| (&*a).read_exact(&mut [0]).unwrap())
        });
        let os = thread::spawn({
            let a = a.clone();
            move || (0..EACH).for_each(|_| (&*a).read_exact(&mut [0]).unwrap())
        });
        let many = |a: Arc<UnixStream>| async move {
            for _ in 0..EACH {
                read_1(&a).await.unwrap();
            }
        };
        let futures = many(a.clone());
        let on_host = runtime.handle().spawn(move || wait(futures));
        let futures = many(a.clone());
        let task = thread::spawn(move || in_tokio(futures));
        let mut random = fastrand::Rng::with_seed(5);
        let mut left = 4 * EACH;
        while left > 0 {
            let count = random.usize(1..=left.min(5));
            (&*b).write_all(&vec![0; count]).unwrap();
            left -= count;
            thread::yield_now();
        }
        host.join().unwrap();
        os.join().unwrap();
        on_host.join().unwrap();
        task.join().unwrap();
    });
}

#[test]
fn moved_between_threads_between_polls() {
    within(FOREVER, || {
        let (first, second) = (runtime(1), runtime(1));
        let (a, b) = shared_pair();
        let wakers = [(); 3].map(|()| Wakes::new());
        let mut read = waiting_on(&first, &a, &wakers[0].1);
        second.run(|| assert!(poll(&mut read, &wakers[1].1).is_pending()));
        assert!(poll(&mut read, &wakers[2].1).is_pending());
        (&*b).write_all(b"x").unwrap();
        eventually("the last one is woken", || wakers[2].0.count() == 1);
        assert_eq!((wakers[0].0.count(), wakers[1].0.count()), (0, 0));
        let host = second.handle().spawn(move || wait(read));
        assert_eq!(host.join().unwrap().unwrap(), b'x');
    });
}

#[test]
fn a_runtime_ends_while_a_future_waits() {
    within(FOREVER, || {
        let gone = runtime(1);
        let (a, b) = shared_pair();
        let (wakes, waker) = Wakes::new();
        let read = waiting_on(&gone, &a, &waker);
        let never_again = waiting_on(&gone, &a, &waker);
        drop(gone);
        assert_eq!(wakes.count(), 2);
        drop(never_again);
        // It goes on elsewhere, by another reactor.
        let reader = blocked_os(move || block_on(read));
        (&*b).write_all(b"x").unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), b'x');
    });
}

#[test]
fn a_runtime_ends_while_a_task_of_another_executor_waits_on_it() {
    within(FOREVER, || {
        let gone = runtime(1);
        let (a, b) = shared_pair();
        let (_, waker) = Wakes::new();
        let read = waiting_on(&gone, &a, &waker);
        let reader = blocked_os(move || in_tokio(read));
        drop(gone);
        (&*b).write_all(b"x").unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), b'x');
    });
}

#[test]
fn a_socket_waited_for_outside_first_serves_a_host_next() {
    within(FOREVER, || {
        let (a, b) = shared_pair();
        assert!(block_on(with_timeout_async(Duration::from_millis(2), read_1(&a))).is_err());
        let host = runtime(1).run(|| {
            let reader = blocked(move || block_on_read(&a));
            (&*b).write_all(b"x").unwrap();
            reader.join().unwrap()
        });
        assert_eq!(host, 1);
    });
}

#[test]
fn woken_for_nothing_it_waits_on() {
    block_on(async {
        let (a, b) = shared_pair();
        let mut read = read_1(&a);
        let mut polls = 0;
        let byte = poll_fn(|context| {
            polls += 1;
            match polls {
                1..100 => context.waker().wake_by_ref(),
                100 => drop((&*b).write(b"x").unwrap()),
                _ => {}
            }
            // Polled after the byte has been sent, before it has been told of.
            read.as_mut().poll(context)
        });
        assert_eq!(byte.await.unwrap(), b'x');
    });
}

// Out of descriptors.

#[test]
fn where_no_reactor_can_be_had_waiting_is_an_error() {
    const NAME: &str = "where_no_reactor_can_be_had_waiting_is_an_error";
    if role().is_none() {
        let (output, text) = rerun(NAME, "child");
        assert!(output.status.success(), "{text}");
        return;
    }
    let (a, b) = shared_pair();
    limit_descriptors(0);
    assert_eq!(block_on(read_1(&a)).unwrap_err().raw_os_error(), Some(libc::EMFILE));
    // What need not wait goes on.
    block_on(b.write_all_async(b"x")).unwrap();
    assert_eq!(block_on(read_1(&a)).unwrap(), b'x');
    assert_eq!(block_on(lamprey::block_async(|| 5)), 5);
}

#[test]
fn an_accept_loop_waits_for_descriptors() {
    const NAME: &str = "an_accept_loop_waits_for_descriptors";
    if role().is_none() {
        let (output, text) = rerun(NAME, "child");
        assert!(output.status.success(), "{text}");
        return;
    }
    limit_descriptors(64);
    everywhere(|| async {
        let listener = TcpListener::bind(LOCAL).unwrap();
        let address = listener.local_addr().unwrap();
        sleep_async(Duration::from_millis(1)).await; // starts what keeps the time outside, which needs descriptors
        let peer = TcpStream::connect(address).unwrap();
        let all = || (0..).map_while(|_| std::fs::File::open("/dev/null").ok());
        let mut held: Vec<_> = all().collect();
        let refused = listener.accept_async().await.unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EMFILE));
        let mut accept = pin!(listener.accept_with_backoff_async());
        let mut tries = 0;
        let accepted = poll_fn(|context| {
            tries += 1;
            match tries {
                // The runtime of the place before may give its last ones back only now.
                1..4 => held.extend(all()),
                4 => held.clear(),
                _ => {}
            }
            accept.as_mut().poll(context)
        });
        assert_eq!(accepted.await.unwrap().1, peer.local_addr().unwrap());
    });
}
