//! A client of hyper 1, by itself: hosts that ask at the same time, over a connection each (HTTP/1) or over one for all (HTTP/2).
//!
//! ```text
//! cargo run --example hyper_client -- http://127.0.0.1:3000/ 8           # eight hosts, HTTP/1
//! cargo run --example hyper_client -- http://127.0.0.1:3000/ 8 --http2   # one connection for all of them
//! ```

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::{http1, http2};
use hyper::header::HOST;
use hyper::{Request, Response, Uri, body::Incoming};
use lamprey::net::TcpStream;
use lamprey::{scope, wait, with_timeout};
use lamprey_compat::Async;
use lamprey_compat::hyper::LampreyExecutor;
use std::error::Error;
use std::time::Duration;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[lamprey::main]
fn main() -> Fallible<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_http2 = arguments.iter().any(|argument| argument == "--http2");
    arguments.retain(|argument| argument != "--http2");
    let [url, hosts] = &arguments[..] else { return Err("usage: hyper_client URL HOSTS [--http2]".into()) };
    let url: Uri = url.parse().map_err(|error| format!("{url} is no URL: {error}"))?;
    let hosts: usize = hosts.parse().map_err(|_| format!("{hosts} is no number of hosts"))?;
    if url.scheme_str() != Some("http") || url.host().is_none() {
        return Err(format!("{url}: this client speaks http://HOST[:PORT]/PATH").into());
    }

    let shared = if is_http2 { Some(connect_http2(&url)?) } else { None };
    let answers: Vec<Fallible<String>> = scope(|s| {
        let ask = |_| {
            s.spawn(|| {
                // A limit of time around blocking code: when it is over, the request is dropped, and its connection or stream closed.
                with_timeout(Duration::from_secs(60), || match &shared {
                    Some(sender) => ask_http2(sender.clone(), &url),
                    None => ask_http1(&url),
                })?
            })
        };
        let asking: Vec<_> = (0..hosts).map(ask).collect();
        asking.into_iter().map(|host| host.join().expect("a host does not panic")).collect()
    });
    for answer in answers {
        println!("{}", answer?);
    }
    Ok(())
}

/// Connects, sends one request, and reads the answer.
fn ask_http1(url: &Uri) -> Fallible<String> {
    let (mut sender, connection) = wait(http1::handshake(Async::new(connect(url)?)))?;
    // What moves the bytes; it ends when `sender` is dropped.
    let _connection = lamprey::parasite(connection);
    let request = Request::get(url.path_and_query().map_or("/", |path| path.as_str()))
        .header(HOST, url.authority().map_or("", |authority| authority.as_str()))
        .body(Empty::<Bytes>::new())?;
    wait(async { read(sender.send_request(request).await?).await })
}

fn connect_http2(url: &Uri) -> Fallible<http2::SendRequest<Empty<Bytes>>> {
    let (sender, connection) = wait(http2::handshake(LampreyExecutor::new(), Async::new(connect(url)?)))?;
    lamprey::parasite(async {
        if let Err(error) = connection.await {
            eprintln!("the connection ended early: {error}");
        }
    })
    .detach();
    Ok(sender)
}

/// One of the requests that share a connection.
fn ask_http2(mut sender: http2::SendRequest<Empty<Bytes>>, url: &Uri) -> Fallible<String> {
    let request = Request::get(url).body(Empty::<Bytes>::new())?;
    wait(async {
        sender.ready().await?;
        read(sender.send_request(request).await?).await
    })
}

async fn read(response: Response<Incoming>) -> Fallible<String> {
    let (status, version) = (response.status(), response.version());
    let body = response.into_body().collect().await?.to_bytes();
    Ok(format!("{version:?} {status}: {}", String::from_utf8_lossy(&body).trim_end()))
}

fn connect(url: &Uri) -> Fallible<TcpStream> {
    let (host, port) = (url.host().unwrap_or_default(), url.port_u16().unwrap_or(80));
    let stream = TcpStream::connect((host, port))
        .map_err(|error| format!("cannot connect to {host}:{port}: {error}"))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
