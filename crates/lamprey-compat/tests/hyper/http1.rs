//! HTTP/1.

use crate::common::run;
use crate::{bytes_of, connect, echo, large, listener, post};
use bytes::Bytes;
use http_body_util::{Empty, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, client, server};
use lamprey::net::TcpStream;
use lamprey::{parasite, spawn, wait};
use lamprey_compat::Async;
use std::convert::Infallible;
use std::io::{Read, Write};

#[test]
fn many_requests_on_one_connection_and_large_bodies_both_ways() {
    run(2, || {
        let (listener, address) = listener();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            server::conn::http1::Builder::new().serve_connection(stream, service_fn(echo)).await
        });
        wait(async {
            let (mut sender, connection) =
                client::conn::http1::handshake::<_, Full<Bytes>>(connect(address)).await.unwrap();
            let connection = parasite(connection);
            for n in 0..100 {
                let body = Bytes::from(format!("request {n}"));
                let response = sender.send_request(post(body.clone())).await.unwrap();
                assert_eq!(response.status(), StatusCode::OK);
                assert_eq!(bytes_of(response).await.unwrap(), body);
                sender.ready().await.unwrap();
            }
            let response = sender.send_request(post(large())).await.unwrap();
            assert!(bytes_of(response).await.unwrap() == large());
            drop(sender);
            connection.await.unwrap().unwrap();
        });
        server.join().unwrap().unwrap();
    });
}

#[test]
fn a_handler_may_block_its_parasite_on_channels_of_hosts() {
    run(2, || {
        let (listener, address) = listener();
        let (ask, asked) = lamprey::rpc::<u64, u64>();
        spawn(move || {
            for (n, reply) in asked.iter() {
                lamprey::sleep(std::time::Duration::from_micros(100));
                let _ = reply.send(n * n);
            }
        });
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let squares = service_fn(|request: Request<Incoming>| {
                let ask = ask.clone();
                async move {
                    let n = request.uri().path()[1..].parse().unwrap();
                    let square = ask.call_async(n).await.unwrap();
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(square.to_string()))))
                }
            });
            server::conn::http1::Builder::new().serve_connection(stream, squares).await
        });
        wait(async {
            let (mut sender, connection) = client::conn::http1::handshake(connect(address)).await.unwrap();
            let connection = parasite(connection);
            for n in 0..20_u64 {
                let request = Request::get(format!("/{n}")).header("host", "x").body(Empty::<Bytes>::new());
                let response = sender.send_request(request.unwrap()).await.unwrap();
                assert_eq!(bytes_of(response).await.unwrap(), (n * n).to_string());
            }
            drop(sender);
            connection.await.unwrap().unwrap();
        });
        server.join().unwrap().unwrap();
    });
}

/// After the upgrade both sides take the socket out of hyper and use it in plain blocking code.
#[test]
fn an_upgraded_connection_becomes_a_socket_of_lamprey_again() {
    /// The socket, and what was read of it already.
    fn socket(upgraded: hyper::upgrade::Upgraded) -> (TcpStream, Bytes) {
        let parts = upgraded.downcast::<Async<TcpStream>>().ok().unwrap();
        (parts.io.into_inner(), parts.read_buf)
    }
    run(2, || {
        let (listener, address) = listener();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let upgrade = service_fn(|mut request: Request<Incoming>| async move {
                assert_eq!(request.headers()["upgrade"], "echo");
                parasite(async move {
                    let (mut stream, early) = socket(hyper::upgrade::on(&mut request).await.unwrap());
                    spawn(move || {
                        stream.write_all(&early).unwrap();
                        let mut four = [0; 4];
                        while stream.read_exact(&mut four).is_ok() {
                            stream.write_all(&four).unwrap();
                        }
                    });
                })
                .detach();
                let response =
                    Response::builder().status(101).header("upgrade", "echo").header("connection", "upgrade");
                Ok::<_, Infallible>(response.body(Empty::<Bytes>::new()).unwrap())
            });
            server::conn::http1::Builder::new().serve_connection(stream, upgrade).with_upgrades().await
        });
        let mut stream = wait(async {
            let (mut sender, connection) = client::conn::http1::handshake(connect(address)).await.unwrap();
            let connection = parasite(connection.with_upgrades());
            let request = Request::get("/")
                .header("host", "x")
                .header("connection", "upgrade")
                .header("upgrade", "echo");
            let response = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
            assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
            let (stream, early) = socket(hyper::upgrade::on(response).await.unwrap());
            assert!(early.is_empty());
            connection.await.unwrap().unwrap();
            stream
        });
        server.join().unwrap().unwrap();
        for text in [b"ping", b"pong"] {
            stream.write_all(text).unwrap();
            let mut four = [0; 4];
            stream.read_exact(&mut four).unwrap();
            assert_eq!(&four, text);
        }
    });
}
