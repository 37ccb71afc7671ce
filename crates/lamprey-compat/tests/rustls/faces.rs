//! The traits of other libraries, by `Async`.

use super::{pair, pattern, run};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response};
use lamprey_compat::Async;
use lamprey_compat::hyper::LampreyExecutor;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::sync::Arc;

#[test]
fn futures_io() {
    use futures::io::{AsyncReadExt, AsyncWriteExt, copy};
    run(|| {
        let (client, server) = pair();
        let echo = lamprey::parasite(async move {
            let (reader, mut writer) = Async::new(server).split();
            copy(reader, &mut writer).await.unwrap();
            writer.close().await.unwrap();
        });
        let sent = pattern(300_000);
        lamprey::scope(|s| {
            s.spawn(|| {
                (&client).write_all(&sent).unwrap();
                client.close_notify().unwrap();
            });
            let mut read = Vec::new();
            (&client).read_to_end(&mut read).unwrap();
            assert!(read == sent);
        });
        echo.join().unwrap();
    });
}

#[test]
fn tokio_io() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
    run(|| {
        let (client, server) = pair();
        let echo = lamprey::parasite(async move {
            let server = Arc::new(server);
            let (mut reader, mut writer) = (Async::new(server.clone()), Async::new(server));
            copy(&mut reader, &mut writer).await.unwrap();
            writer.shutdown().await.unwrap();
        });
        let sent = pattern(300_000);
        let mut client = Async::new(Arc::new(client));
        let mut reader = client.clone();
        let reading = lamprey::parasite(async move {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).await.unwrap();
            read
        });
        lamprey::wait(async {
            client.write_all(&sent).await.unwrap();
            client.shutdown().await.unwrap();
        });
        assert!(reading.join().unwrap() == sent);
        echo.join().unwrap();
    });
}

async fn echo(request: Request<hyper::body::Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(request.into_body().collect().await.unwrap().to_bytes())))
}

#[test]
fn hyper_speaks_http_1_and_2() {
    run(|| {
        for is_2 in [false, true] {
            let (client, server) = pair();
            let serving = lamprey::parasite(async move {
                let server = Async::new(server);
                // The client goes without `close_notify`: an error, or none.
                let _ = match is_2 {
                    true => {
                        hyper::server::conn::http2::Builder::new(LampreyExecutor::new())
                            .serve_connection(server, service_fn(echo))
                            .await
                    }
                    false => {
                        hyper::server::conn::http1::Builder::new()
                            .serve_connection(server, service_fn(echo))
                            .await
                    }
                };
            });
            let sent = Bytes::from(pattern(200_000));
            let answer = lamprey::wait(async {
                let request = Request::post("https://localhost/").body(Full::new(sent.clone())).unwrap();
                let client = Async::new(client);
                let response = if is_2 {
                    let made = hyper::client::conn::http2::handshake(LampreyExecutor::new(), client).await;
                    let (mut sender, connection) = made.unwrap();
                    lamprey::parasite(connection).detach();
                    sender.send_request(request).await
                } else {
                    let (mut sender, connection) =
                        hyper::client::conn::http1::handshake(client).await.unwrap();
                    lamprey::parasite(connection).detach();
                    sender.send_request(request).await
                };
                response.unwrap().into_body().collect().await.unwrap().to_bytes()
            });
            assert!(answer == sent, "{} bytes", answer.len());
            serving.join().unwrap();
        }
    });
}
