//! `hyper_client` and a server of hyper on tokio.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use interop::peer;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// A server that counts its connections.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    _runtime: tokio::runtime::Runtime,
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    tokio::time::sleep(Duration::from_millis(20)).await;
    let text = format!("{} by {}\n", request.uri().path(), request.method());
    Ok(Response::new(Full::from(text)))
}

fn start() -> Server {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let (address, connections) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = connections.clone();
    runtime.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, SeqCst);
            tokio::spawn(async move {
                let http = Builder::new(TokioExecutor::new());
                let _ = http.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
            });
        }
    });
    Server { address, connections, _runtime: runtime }
}

#[test]
fn eight_hosts_by_http1_have_a_connection_each() {
    let server = start();
    let text = peer::output(
        peer::example("hyper_client").args([&format!("http://{}/some?q=1", server.address), "8"]),
    );
    assert_eq!(text, "HTTP/1.1 200 OK: /some by GET\n".repeat(8));
    assert_eq!(server.connections.load(SeqCst), 8);
}

#[test]
fn eight_hosts_by_http2_share_one() {
    let server = start();
    let text = peer::output(peer::example("hyper_client").args([
        &format!("http://{}/some", server.address),
        "8",
        "--http2",
    ]));
    assert_eq!(text, "HTTP/2.0 200 OK: /some by GET\n".repeat(8));
    assert_eq!(server.connections.load(SeqCst), 1);
}

#[test]
fn what_cannot_be_asked_is_said() {
    let port = peer::free_port();
    let said = |arguments: &[&str], part: &str| {
        let (status, text) = peer::Running::start(peer::example("hyper_client").args(arguments)).end();
        assert!(!status.success() && text.contains(part), "{text}");
    };
    said(&[], "usage");
    said(&["http://x y", "1"], "is no URL");
    said(&["https://127.0.0.1/", "1"], "speaks http://");
    said(&["http://127.0.0.1/", "many"], "no number of hosts");
    said(&[&format!("http://127.0.0.1:{port}/"), "1"], "cannot connect to 127.0.0.1");
}
