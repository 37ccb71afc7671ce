//! The poll forms of sockets: without a future between two polls.

use crate::common::awaiting::*;
use crate::common::*;
use futures::future::{join, join3};
use lamprey::event::Event;
use lamprey::net::{Closed, TcpListener, TcpStream, UdpSocket, UnixListener, UnixStream};
use std::future::poll_fn;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::linux::net::SocketAddrExt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

const LOCAL: &str = "127.0.0.1:0";

async fn read_all(stream: &TcpStream, mut bytes: impl FnMut(&[u8])) {
    let mut buf = vec![MaybeUninit::uninit(); 10_000];
    loop {
        // A part of the buffer is initialised: what is returned is that part.
        let read =
            poll_fn(|cx| stream.poll_read_uninit(cx, &mut buf).map_ok(|read| (read.as_ptr(), read.len())));
        match read.await.unwrap().1 {
            0 => return,
            count => {
                // SAFETY: initialised by the call.
                bytes(unsafe { buf[..count].assume_init_ref() });
            }
        }
    }
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| stream.poll_write(cx, bytes)).await.unwrap();
        bytes = &bytes[count..];
    }
}

#[test]
fn a_listener_and_streams_both_ways_at_once() {
    everywhere(|| async {
        let listener = TcpListener::bind(LOCAL).unwrap();
        let connect = TcpStream::connect_async(listener.local_addr().unwrap());
        let (client, accepted) = join(connect, poll_fn(|cx| listener.poll_accept(cx))).await;
        let (client, (server, from)) = (client.unwrap(), accepted.unwrap());
        assert_eq!(client.local_addr().unwrap(), from);
        let content = pattern(1 << 20);
        let send = async {
            write_all(&client, &content).await;
            client.shutdown(std::net::Shutdown::Write).unwrap();
        };
        let echo = async {
            let mut held = Vec::new();
            read_all(&server, |bytes| held.extend_from_slice(bytes)).await;
            write_all(&server, &held).await;
            server.shutdown(std::net::Shutdown::Write).unwrap();
        };
        let mut received = Vec::new();
        let receive = read_all(&client, |bytes| received.extend_from_slice(bytes));
        join3(send, echo, receive).await;
        assert!(received == content);
    });
}

#[test]
fn several_buffers() {
    everywhere(|| async {
        let (a, b) = UnixStream::pair().unwrap();
        let bufs = [IoSlice::new(b"he"), IoSlice::new(b""), IoSlice::new(b"llo")];
        assert_eq!(poll_fn(|cx| a.poll_write_vectored(cx, &bufs)).await.unwrap(), 5);
        let (mut one, mut two) = ([0; 1], [0; 9]);
        let mut bufs = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
        assert_eq!(poll_fn(|cx| b.poll_read_vectored(cx, &mut bufs)).await.unwrap(), 5);
        assert_eq!((&one, &two[..4]), (b"h", &b"ello"[..]));
    });
}

#[test]
fn datagrams() {
    everywhere(|| async {
        let (a, b) = (UdpSocket::bind(LOCAL).unwrap(), UdpSocket::bind(LOCAL).unwrap());
        let (to, from) = (b.local_addr().unwrap(), a.local_addr().unwrap());
        poll_fn(|cx| b.poll_writable(cx)).await.unwrap();
        let mut buf = [0; 8];
        let receive = poll_fn(|cx| b.poll_recv_from(cx, &mut buf));
        let (received, sent) = join(receive, poll_fn(|cx| a.poll_send_to(cx, b"hello", &to))).await;
        assert_eq!((received.unwrap(), sent.unwrap()), ((5, from), 5));
        a.connect(to).unwrap();
        b.connect(from).unwrap();
        assert_eq!(poll_fn(|cx| a.poll_send(cx, b"again")).await.unwrap(), 5);
        assert_eq!(poll_fn(|cx| b.poll_recv(cx, &mut buf)).await.unwrap(), 5);
        assert_eq!(&buf[..5], b"again");
    });
}

#[test]
fn unix_listeners_and_readiness() {
    everywhere(|| async {
        let name = format!("lamprey-polls-{}-{:?}", std::process::id(), std::thread::current().id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        let connect = UnixStream::connect_addr_async(&address);
        let (client, accepted) = join(connect, poll_fn(|cx| listener.poll_accept(cx))).await;
        let (client, (server, _)) = (client.unwrap(), accepted.unwrap());
        let readable = poll_fn(|cx| server.poll_readable(cx));
        let write = poll_fn(|cx| client.poll_write(cx, b"x"));
        let (readable, written) = join(readable, write).await;
        assert_eq!((readable.unwrap(), written.unwrap()), ((), 1));
        let mut byte = [0];
        assert_eq!(poll_fn(|cx| server.poll_read(cx, &mut byte)).await.unwrap(), 1);
    });
}

#[test]
fn pipes() {
    everywhere(|| async {
        let (reader, writer) = lamprey::io::pipe().unwrap();
        let mut buf = [MaybeUninit::uninit(); 8];
        let read = poll_fn(|cx| reader.poll_read_uninit(cx, &mut buf).map_ok(|read| read.to_vec()));
        let (read, written) = join(read, poll_fn(|cx| writer.poll_write(cx, b"hello"))).await;
        assert_eq!((read.unwrap(), written.unwrap()), (b"hello".to_vec(), 5));
        let bufs = [IoSlice::new(b"a"), IoSlice::new(b"b")];
        assert_eq!(poll_fn(|cx| writer.poll_write_vectored(cx, &bufs)).await.unwrap(), 2);
        let mut buf = [0; 8];
        assert_eq!(poll_fn(|cx| reader.poll_read(cx, &mut buf)).await.unwrap(), 2);
        drop(writer);
        assert_eq!(poll_fn(|cx| reader.poll_read(cx, &mut buf)).await.unwrap(), 0);
    });
}

fn poll_read(stream: &UnixStream, waker: &Waker) -> Poll<usize> {
    stream.poll_read(&mut Context::from_waker(waker), &mut [0; 8]).map(|read| read.unwrap())
}

/// Polls until the socket has nothing, and the task is registered: a poll now and then gives way.
fn poll_until_pending(stream: &UnixStream, wakes: &Wakes, waker: &Waker) {
    loop {
        let before = wakes.count();
        assert!(poll_read(stream, waker).is_pending());
        if wakes.count() == before {
            return;
        }
    }
}

#[test]
fn the_last_task_that_polled_is_woken_once() {
    run(1, || {
        let (a, mut b) = UnixStream::pair().unwrap();
        let ((first, first_waker), (last, last_waker)) = (Wakes::new(), Wakes::new());
        poll_until_pending(&a, &first, &first_waker);
        poll_until_pending(&a, &last, &last_waker);
        let (before, last_before) = (first.count(), last.count());
        b.write_all(b"x").unwrap();
        yield_until("the last task is woken", || last.count() == last_before + 1);
        assert_eq!(first.count(), before, "another task has replaced it");
        b.write_all(b"y").unwrap();
        (0..100).for_each(|_| lamprey::yield_now());
        assert_eq!(last.count(), last_before + 1, "it has not polled since");
    });
}

#[test]
fn a_task_is_woken_beside_threads_and_futures() {
    run(1, || {
        let (a, mut b) = UnixStream::pair().unwrap();
        let a = Arc::new(a);
        let thread = {
            let a = a.clone();
            lamprey::spawn(move || a.readable_evt().sync().unwrap())
        };
        let future = {
            let a = a.clone();
            lamprey::parasite(async move { a.read_async(&mut [0; 1]).await.map(drop) })
        };
        lamprey::yield_now();
        let (wakes, waker) = Wakes::new();
        poll_until_pending(&a, &wakes, &waker);
        let before = wakes.count();
        b.write_all(b"ab").unwrap();
        future.join().unwrap().unwrap();
        thread.join().unwrap();
        yield_until("the task is woken", || wakes.count() > before);
        assert_eq!(poll_read(&a, &waker), Poll::Ready(1));
    });
}

#[test]
fn close_wakes_and_fails() {
    run(1, || {
        let (a, _b) = UnixStream::pair().unwrap();
        let (wakes, waker) = Wakes::new();
        poll_until_pending(&a, &wakes, &waker);
        let before = wakes.count();
        a.close();
        assert_eq!(wakes.count(), before + 1);
        let Poll::Ready(Err(error)) = a.poll_read(&mut Context::from_waker(&waker), &mut [0]) else {
            panic!("a closed socket waits")
        };
        assert!(error.get_ref().is_some_and(|inner| inner.is::<Closed>()), "{error}");
    });
}

#[test]
fn a_full_socket_is_writable_again() {
    everywhere(|| async {
        let (a, mut b) = UnixStream::pair().unwrap();
        let bytes = vec![7; 64 << 10];
        let mut sent = 0;
        let (wakes, waker) = Wakes::new();
        loop {
            let before = wakes.count();
            match a.poll_write(&mut Context::from_waker(&waker), &bytes) {
                Poll::Ready(count) => sent += count.unwrap(),
                Poll::Pending if wakes.count() == before => break,
                Poll::Pending => {}
            }
        }
        let mut received = vec![0; sent];
        let read = async { b.read_exact(&mut received).unwrap() };
        read.await;
        let more = poll_fn(|cx| a.poll_write(cx, b"more")).await.unwrap();
        assert_eq!(more, 4);
    });
}

/// A socket that is always ready gives way now and then.
#[test]
fn polls_give_way() {
    run(1, || {
        let (a, mut b) = UnixStream::pair().unwrap();
        b.write_all(&[0; 4096]).unwrap();
        let (wakes, waker) = Wakes::new();
        let mut buf = [0; 1];
        let pending = (0..1000)
            .filter(|_| a.poll_read(&mut Context::from_waker(&waker), &mut buf).is_pending())
            .count();
        assert!((1..100).contains(&pending), "{pending} of 1000 polls gave way");
        assert_eq!(wakes.count(), pending);
    });
}

/// The task owns the socket, whose slot has its waker: it is freed all the same.
#[test]
fn a_task_that_owns_its_socket_is_freed() {
    run(1, || {
        let (a, b) = UnixStream::pair().unwrap();
        let counted = Arc::new(());
        let theirs = counted.clone();
        let parasite = lamprey::parasite(async move {
            let _theirs = theirs;
            poll_fn(|cx| a.poll_read(cx, &mut [0])).await.unwrap()
        });
        drop(parasite);
        assert_eq!(Arc::strong_count(&counted), 1);
        assert_eq!((&b).read(&mut [0]).unwrap(), 0, "the socket is closed");
    });
}

/// Its destructor panics, once.
struct PanicsWhenDropped(Arc<AtomicUsize>);

impl Wake for PanicsWhenDropped {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("on purpose: the waker is dropped");
    }
}

/// Drops the socket when it is woken.
struct DropsSocket(Mutex<Option<Arc<UnixStream>>>);

impl Wake for DropsSocket {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

/// The reactor is then the last owner of what the wakers are kept in.
#[test]
fn a_wake_drops_the_socket_with_a_waker_whose_destructor_panics() {
    run(1, || {
        let (a, mut b) = UnixStream::pair().unwrap();
        let a = Arc::new(a);
        let drops = Arc::new(AtomicUsize::new(0));
        let bytes = vec![0; 64 << 10];
        let counting = Wakes::new();
        // Both directions have to wait.
        while !matches!(a.poll_write(&mut Context::from_waker(&counting.1), &bytes), Poll::Pending)
            || counting.0.count() != 0
        {
            counting.0.0.store(0, Ordering::SeqCst);
        }
        let reader = Waker::from(Arc::new(PanicsWhenDropped(drops.clone())));
        assert!(a.poll_read(&mut Context::from_waker(&reader), &mut [0]).is_pending());
        drop(reader);
        let writer = Waker::from(Arc::new(DropsSocket(Mutex::new(Some(a.clone())))));
        assert!(a.poll_write(&mut Context::from_waker(&writer), &bytes).is_pending());
        drop((a, writer));
        // It becomes writable, and readable.
        b.write_all(b"x").unwrap();
        b.set_nonblocking(true).unwrap();
        yield_until("the socket is dropped", || {
            loop {
                match (&b).read(&mut [0; 4096]) {
                    Ok(0) => return true,
                    Ok(_) => {}
                    Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
                }
            }
        });
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    });
}
