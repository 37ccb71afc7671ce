//! hyper's limits in time, by Lamprey's timers.

use crate::common::run;
use crate::{bytes_of, connect, echo, listener, post};
use bytes::Bytes;
use http_body_util::Full;
use hyper::rt::Timer;
use hyper::service::service_fn;
use hyper::{client, server};
use lamprey::{parasite, wait};
use lamprey_compat::hyper::{LampreyExecutor, LampreyTimer};
use std::io::{Read, Write};
use std::pin::Pin;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(30);

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    run(1, || {
        let (listener, address) = listener();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            server::conn::http1::Builder::new()
                .timer(LampreyTimer::new())
                .header_read_timeout(SOON)
                .serve_connection(stream, service_fn(echo))
                .await
        });
        let mut stream = connect(address).into_inner();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nunfinished").unwrap();
        // The server gives up, and the connection ends.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(server.join().unwrap().unwrap_err().is_timeout());
    });
}

#[test]
fn a_head_in_time_is_answered_and_the_limit_begins_anew() {
    run(1, || {
        let (listener, address) = listener();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            server::conn::http1::Builder::new()
                .timer(LampreyTimer::new())
                .header_read_timeout(Duration::from_secs(60))
                .serve_connection(stream, service_fn(echo))
                .await
        });
        wait(async {
            let (mut sender, connection) =
                client::conn::http1::handshake::<_, Full<Bytes>>(connect(address)).await.unwrap();
            let connection = parasite(connection);
            for _ in 0..3 {
                let response = sender.send_request(post(Bytes::from_static(b"in time"))).await.unwrap();
                assert_eq!(bytes_of(response).await.unwrap(), "in time");
            }
            drop(sender);
            connection.await.unwrap().unwrap();
        });
        server.join().unwrap().unwrap();
    });
}

#[test]
fn pings_that_nobody_answers_end_the_connection() {
    run(1, || {
        let (listener, address) = listener();
        // Takes the connection, and says nothing that a client of HTTP/2 waits for.
        let deaf = parasite(async move { listener.accept().await.unwrap() });
        let client = parasite(async move {
            let (_sender, connection) = client::conn::http2::Builder::new(LampreyExecutor::new())
                .timer(LampreyTimer::new())
                .keep_alive_interval(SOON)
                .keep_alive_timeout(SOON)
                .keep_alive_while_idle(true)
                .handshake::<_, Full<Bytes>>(connect(address))
                .await
                .unwrap();
            connection.await
        });
        let connection = deaf.join().unwrap();
        let error = client.join().unwrap().unwrap_err();
        assert!(error.is_timeout(), "{error:?}");
        drop(connection);
    });
}

#[test]
fn a_sleep_is_moved_while_a_task_waits_for_it() {
    run(1, || {
        let timer = LampreyTimer::new();
        let mut sleep = timer.sleep(Duration::from_secs(3600));
        let begin = Instant::now();
        let first = parasite(async move {
            // Waits for an hour, is moved, and is over soon.
            let pending = futures::poll!(&mut sleep).is_pending();
            timer.reset(&mut sleep, Instant::now() + SOON);
            sleep.await;
            pending
        });
        assert!(first.join().unwrap());
        assert!(begin.elapsed() >= SOON);
        wait(timer.sleep_until(begin));
    });
}

/// A timer that is not Lamprey's has made the sleep.
#[test]
fn a_sleep_of_another_timer_is_replaced() {
    struct Forever;
    impl Future for Forever {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
            std::task::Poll::Pending
        }
    }
    impl hyper::rt::Sleep for Forever {}
    run(1, || {
        let mut sleep: Pin<Box<dyn hyper::rt::Sleep>> = Box::pin(Forever);
        LampreyTimer::new().reset(&mut sleep, Instant::now() + Duration::from_millis(1));
        wait(sleep);
    });
}

/// The hour of the limit is the simulation's: nobody waits for it.
#[test]
fn in_a_simulation_the_limits_are_virtual() {
    for seed in 0..5 {
        lamprey::Runtime::simulated(seed).run(|| {
            let (listener, address) = listener();
            let server = parasite(async move {
                let (stream, _) = listener.accept().await.unwrap();
                server::conn::http1::Builder::new()
                    .timer(LampreyTimer::new())
                    .header_read_timeout(Duration::from_secs(3600))
                    .serve_connection(stream, service_fn(echo))
                    .await
            });
            let mut stream = connect(address).into_inner();
            stream.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\npingPOST /").unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.ends_with(b"ping"), "{}", String::from_utf8_lossy(&answer));
            assert!(server.join().unwrap().unwrap_err().is_timeout());
        });
    }
}
