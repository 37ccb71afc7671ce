//! HTTP/2, whose connections start futures of their own by the executor.

use crate::common::{FOREVER, run, runtime, within};
use crate::{bytes_of, connect, echo, large, listener, post};
use bytes::Bytes;
use futures::future::join_all;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{client, server};
use lamprey::{parasite, wait};
use lamprey_compat::hyper::{LampreyExecutor, LampreyTimer};

#[test]
fn many_requests_at_once_and_large_bodies_both_ways() {
    run(2, || {
        let (listener, address) = listener();
        let server = parasite(async move {
            let (stream, _) = listener.accept().await.unwrap();
            server::conn::http2::Builder::new(LampreyExecutor::new())
                .timer(LampreyTimer::new())
                .serve_connection(stream, service_fn(echo))
                .await
        });
        wait(async {
            let (sender, connection) =
                client::conn::http2::handshake::<_, _, Full<Bytes>>(LampreyExecutor::new(), connect(address))
                    .await
                    .unwrap();
            let connection = parasite(connection);
            let requests = (0..64_u32).map(|n| {
                let mut sender = sender.clone();
                async move {
                    let body = if n % 16 == 0 { large() } else { Bytes::from(format!("request {n}")) };
                    let response = sender.send_request(post(body.clone())).await.unwrap();
                    assert!(bytes_of(response).await.unwrap() == body, "request {n}");
                }
            });
            join_all(requests).await;
            drop(sender);
            connection.await.unwrap().unwrap();
        });
        server.join().unwrap().unwrap();
    });
}

/// The client's connection is polled on a thread of the system: what it starts goes to the runtime of the executor.
#[test]
fn an_executor_of_a_runtime_works_on_any_thread() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (listener, address) = listener();
        let server = runtime.handle().spawn(move || {
            wait(async {
                let (stream, _) = listener.accept().await.unwrap();
                server::conn::http2::Builder::new(LampreyExecutor::new())
                    .serve_connection(stream, service_fn(echo))
                    .await
            })
        });
        let executor = LampreyExecutor::of(runtime.handle());
        wait(async {
            let (mut sender, connection) =
                client::conn::http2::handshake::<_, _, Full<Bytes>>(executor, connect(address))
                    .await
                    .unwrap();
            let exchange = async {
                let response = sender.send_request(post(large())).await.unwrap();
                assert!(bytes_of(response).await.unwrap() == large());
                drop(sender);
            };
            let ((), ended) = futures::future::join(exchange, connection).await;
            ended.unwrap();
        });
        server.join().unwrap().unwrap();
    });
}
