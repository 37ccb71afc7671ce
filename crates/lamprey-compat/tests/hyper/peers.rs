//! Peers that go away, requests that are given up, and panics.

use crate::common::{FOREVER, run, runtime, within};
use crate::{connect, listener, post};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use lamprey::{JoinError, parasite, spawn, wait, with_timeout};
use lamprey_compat::hyper::LampreyExecutor;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::time::Duration;

/// A server that never answers, of one connection.
async fn silent(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    std::future::pending().await
}

#[test]
fn a_client_that_goes_away_in_its_body_is_an_error_of_the_handler() {
    run(2, || {
        let (listener, address) = listener();
        let (seen, mut failed) = lamprey::mailbox();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let read_all = service_fn(move |request: Request<Incoming>| {
                let seen = seen.clone();
                async move {
                    let read = request.into_body().collect().await;
                    seen.send(read.is_err()).unwrap();
                    Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
                }
            });
            server::conn::http1::Builder::new().serve_connection(stream, read_all).await
        });
        let mut stream = connect(address).into_inner();
        stream.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nnot a hundred").unwrap();
        drop(stream);
        assert_eq!(failed.recv(), Ok(true));
        // Whether the connection ends with an error depends on whether it could still send the answer.
        let _ = server.join().unwrap();
    });
}

#[test]
fn a_server_that_goes_away_is_an_error_of_the_client() {
    run(2, || {
        let (listener, address) = listener();
        let server = spawn(move || {
            let (mut stream, _) = listener.into_inner().accept().unwrap();
            assert!(stream.read(&mut [0; 1000]).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nnot a hundred").unwrap();
        });
        wait(async {
            let (mut sender, connection) =
                client::conn::http1::handshake::<_, Full<Bytes>>(connect(address)).await.unwrap();
            parasite(connection).detach();
            let response = sender.send_request(post(Bytes::new())).await.unwrap();
            assert!(response.into_body().collect().await.is_err());
        });
        server.join().unwrap();
    });
}

#[test]
fn a_request_that_is_out_of_time_closes_its_connection() {
    run(2, || {
        let (listener, address) = listener();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            server::conn::http1::Builder::new().serve_connection(stream, service_fn(silent)).await
        });
        let stream = connect(address);
        let answer = with_timeout(Duration::from_millis(20), || {
            wait(async {
                let (mut sender, connection) =
                    client::conn::http1::handshake::<_, Full<Bytes>>(stream).await.unwrap();
                let request = sender.send_request(post(Bytes::new()));
                futures::future::join(request, connection).await
            })
        });
        assert!(answer.is_err());
        // The server sees the end while its handler is still waiting.
        let _ = server.join().unwrap();
    });
}

#[test]
fn a_panic_in_a_handler_reaches_who_joins_the_connection() {
    run(2, || {
        let (listener, address) = listener();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let panics = service_fn(|request: Request<Incoming>| async move {
                assert!(request.uri().path().is_empty(), "the handler's own panic");
                Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
            });
            server::conn::http1::Builder::new().serve_connection(stream, panics).await
        });
        let mut stream = connect(address).into_inner();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        assert_eq!(stream.read(&mut [0; 8]).unwrap_or(0), 0, "the connection is closed");
        match server.join() {
            Err(JoinError::Panicked(panic)) => {
                assert!(panic.to_string().contains("the handler's own panic"), "{panic}");
            }
            other => panic!("{other:?}"),
        }
    });
}

/// Connections of HTTP/2 have futures of their own, by the executor, which nobody joins.
#[test]
fn a_runtime_that_ends_drops_the_connections_in_flight() {
    /// Says when it has been called, and when it is dropped.
    struct Handling(lamprey::mailbox::Sender<&'static str>);
    impl Handling {
        async fn never(self) -> Result<Response<Full<Bytes>>, Infallible> {
            self.0.send("called").unwrap();
            std::future::pending().await
        }
    }
    impl Drop for Handling {
        fn drop(&mut self) {
            self.0.send("dropped").unwrap();
        }
    }
    within(FOREVER, || {
        let (tx, mut said) = lamprey::mailbox();
        let (listener, address) = listener();
        let runtime = runtime(2);
        runtime.run(|| {
            parasite(async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let tx = tx.clone();
                    let never = service_fn(move |_| Handling(tx.clone()).never());
                    let server = server::conn::http2::Builder::new(LampreyExecutor::new());
                    parasite(server.serve_connection(stream, never)).detach();
                }
            })
            .detach();
            for _ in 0..10 {
                let stream = connect(address);
                parasite(async move {
                    let (mut sender, connection) =
                        client::conn::http2::handshake::<_, _, Full<Bytes>>(LampreyExecutor::new(), stream)
                            .await
                            .unwrap();
                    futures::future::join(sender.send_request(post(Bytes::new())), connection).await.1
                })
                .detach();
            }
            (0..10).for_each(|_| assert_eq!(said.recv(), Ok("called")));
        });
        drop(runtime);
        assert_eq!(said.iter().collect::<Vec<_>>(), ["dropped"; 10]);
    });
}
