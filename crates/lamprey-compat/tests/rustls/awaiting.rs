//! The awaitable forms, in parasites and in another executor.

use super::{configs, lazy_pair, localhost, pair, pattern, run};
use lamprey::net::{TcpListener, TcpStream};
use lamprey_compat::rustls::TlsStream;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn parasites_talk_to_hosts() {
    run(|| {
        let (server, client) = configs();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let echo = lamprey::parasite(async move {
            let (socket, _) = listener.accept_async().await.unwrap();
            let stream = TlsStream::accept_async(socket, server).await.unwrap();
            let mut buf = [0; 10_000];
            while let read @ 1.. = stream.read_async(&mut buf).await.unwrap() {
                stream.write_all_async(&buf[..read]).await.unwrap();
            }
            stream.close_notify_async().await.unwrap();
        });
        let sent = pattern(400_000);
        let stream = TlsStream::connect(TcpStream::connect(address).unwrap(), client, localhost()).unwrap();
        lamprey::scope(|s| {
            s.spawn(|| {
                (&stream).write_all(&sent).unwrap();
                stream.close_notify().unwrap();
            });
            let mut read = Vec::new();
            (&stream).read_to_end(&mut read).unwrap();
            assert!(read == sent);
        });
        echo.join().unwrap();
    });
}

#[test]
fn another_executor_polls_them() {
    let (client, server) = lazy_pair();
    let sent = pattern(400_000);
    std::thread::scope(|s| {
        s.spawn(|| {
            futures::executor::block_on(async {
                client.write_all_async(&sent).await.unwrap();
                client.close_notify_async().await.unwrap();
            });
        });
        futures::executor::block_on(async {
            let mut read = vec![0; sent.len()];
            let mut at = 0;
            while at < read.len() {
                at += server.read_async(&mut read[at..]).await.unwrap();
            }
            assert!(read == sent);
            assert_eq!(server.read_async(&mut [0; 1]).await.unwrap(), 0);
        });
    });
}

#[test]
fn memory_that_is_not_initialised_is_filled() {
    run(|| {
        let (mut client, server) = pair();
        let sent = pattern(100_000);
        lamprey::scope(|s| {
            s.spawn(|| client.write_all(&sent).unwrap());
            let mut read = Vec::new();
            while read.len() < sent.len() {
                let mut buf = [MaybeUninit::uninit(); 30_000];
                let got = lamprey::wait(std::future::poll_fn(|cx| {
                    server.poll_read_uninit(cx, &mut buf).map_ok(|got| got.to_vec())
                }));
                read.extend(got.unwrap());
            }
            assert!(read == sent);
        });
    });
}

#[test]
fn a_future_that_is_dropped_has_read_nothing() {
    run(|| {
        let (client, server) = pair();
        let (client, server) = (Arc::new(client), Arc::new(server));
        for turn in 0..100u8 {
            let reader = server.clone();
            let reading = lamprey::parasite(async move { reader.read_async(&mut [0; 1]).await.unwrap() });
            if turn % 2 == 0 {
                lamprey::yield_now();
            }
            reading.cancel();
            let taken = reading.join().unwrap_or(0);
            let mut writer = &*client;
            writer.write_all(&[turn]).unwrap();
            let mut buf = [0; 1];
            let got = lamprey::wait(lamprey::with_timeout_async(
                Duration::from_secs(60),
                server.read_async(&mut buf),
            ));
            assert_eq!((taken, got.unwrap().unwrap(), buf), (0, 1, [turn]));
        }
    });
}
