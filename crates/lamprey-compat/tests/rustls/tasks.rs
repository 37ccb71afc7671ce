//! The tasks that poll a stream: when they are woken, and when they let others run.

use super::{Tls, configs, lazy_pair, localhost, pair, run};
use lamprey::net::TcpStream;
use lamprey_compat::Async;
use lamprey_compat::rustls::TlsStream;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// A task that runs when it is woken, as some executors do it.
struct Inline {
    stream: Arc<Tls>,
    polls: AtomicUsize,
}

impl Inline {
    fn poll(self: &Arc<Self>) {
        // Relaxed: a count; it is read after a call that has woken.
        self.polls.fetch_add(1, Ordering::Relaxed);
        let waker = Waker::from(self.clone());
        let _ = self.stream.poll_read(&mut Context::from_waker(&waker), &mut [0; 4]);
    }
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        self.poll();
    }
}

#[test]
fn a_waker_that_polls_the_stream_when_the_handshake_ends() {
    run(|| {
        let (client, server) = lazy_pair();
        let client = Arc::new(client);
        let task = Arc::new(Inline { stream: client.clone(), polls: AtomicUsize::new(0) });
        lamprey::scope(|s| {
            s.spawn(|| server.handshake().unwrap());
            task.poll();
            client.handshake().unwrap();
        });
        // Relaxed: as above.
        assert!(task.polls.load(Ordering::Relaxed) > 1, "it was not woken");
        server.abort().unwrap();
    });
}

/// Waits for the stream's lock when it is dropped.
struct Looks(Arc<Tls>);

impl Wake for Looks {
    fn wake(self: Arc<Self>) {
        drop(self);
    }
}

impl Drop for Looks {
    fn drop(&mut self) {
        let _ = self.0.protocol_version();
    }
}

#[test]
fn a_waker_that_uses_the_stream_when_the_next_one_takes_its_place() {
    run(|| {
        let (client, _server) = pair();
        let client = Arc::new(client);
        for _ in 0..2 {
            let waker = Waker::from(Arc::new(Looks(client.clone())));
            let polled = client.poll_read(&mut Context::from_waker(&waker), &mut [0; 4]);
            assert!(polled.is_pending());
        }
        client.abort().unwrap();
    });
}

#[test]
fn a_task_that_is_woken_while_another_one_polls() {
    run(|| {
        let (client, server) = pair();
        lamprey::scope(|s| {
            let reader = s.spawn(|| {
                let mut all = Vec::new();
                (&client).read_to_end(&mut all).unwrap();
                all.len()
            });
            // Wakes of the reader come in the middle of the writer's polls.
            s.spawn(|| (0..2_000).for_each(|_| (&client).write_all(&[1; 100]).unwrap()));
            s.spawn(|| {
                let mut rest = 2_000 * 100;
                while rest > 0 {
                    rest -= (&server).read(&mut [0; 1_000]).unwrap();
                }
            });
            (0..2_000).for_each(|_| (&server).write_all(&[2; 100]).unwrap());
            server.close_notify().unwrap();
            assert_eq!(reader.join().unwrap(), 2_000 * 100);
        });
    });
}

#[test]
fn a_writer_whose_peer_reads_at_once_lets_others_run() {
    for has_flushed in [false, true] {
        let (server, client) = configs();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // As fast as can be: it decrypts nothing.
        let peer = std::thread::spawn(move || {
            let (mut there, _) = listener.accept().unwrap();
            let mut conn = rustls::ServerConnection::new(server).unwrap();
            while conn.is_handshaking() {
                conn.complete_io(&mut there).unwrap();
            }
            let mut bytes = vec![0; 1 << 20];
            while there.read(&mut bytes).is_ok_and(|count| count > 0) {}
        });
        let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
        runtime.run(|| {
            let here = TcpStream::connect(address).unwrap();
            let stream = Arc::new(TlsStream::connect(here, client, localhost()).unwrap());
            let mut writer = Async::new(stream.clone());
            // It ends by itself after so many turns that nobody else has had, and says so.
            let writing = lamprey::parasite(async move {
                for _ in 0..300_000 {
                    if writer.write(&[0; 100]).await.is_err() || has_flushed && writer.flush().await.is_err()
                    {
                        return true;
                    }
                }
                false
            });
            for _ in 0..10 {
                lamprey::sleep(Duration::from_millis(2));
            }
            stream.abort().unwrap();
            assert!(writing.join().unwrap(), "nobody else has run, flushed: {has_flushed}");
        });
        peer.join().unwrap();
    }
}

#[test]
fn what_a_write_owes_is_a_wake_too() {
    run(|| {
        let (client, server) = pair();
        let mut client = Async::new(client);
        let writing = lamprey::parasite(async move {
            for _ in 0..20_000 {
                client.write_all(&[7; 1_000]).await.unwrap();
            }
            client.shutdown().await.unwrap();
        });
        let mut all = 0;
        let mut bytes = vec![0; 1 << 16];
        loop {
            match (&server).read(&mut bytes).unwrap() {
                0 => break,
                count => all += count,
            }
        }
        assert_eq!(all, 20_000_000);
        writing.join().unwrap();
        assert!(matches!(server.poll_flush(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
    });
}
