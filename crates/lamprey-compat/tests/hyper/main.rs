//! hyper's servers and clients on Lamprey: its I/O, its executor, its timer.

#[path = "../../../lamprey/tests/common/mod.rs"]
mod common;

mod http1;
mod http2;
mod limits;
mod machines;
mod peers;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use lamprey::net::{TcpListener, TcpStream};
use lamprey_compat::Async;
use std::convert::Infallible;
use std::net::SocketAddr;

/// A listener, and where.
fn listener() -> (Async<TcpListener>, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener.into(), address)
}

fn connect(address: SocketAddr) -> Async<TcpStream> {
    TcpStream::connect(address).unwrap().into()
}

/// Sends back what comes, while it comes.
async fn echo(request: Request<Incoming>) -> Result<Response<Incoming>, Infallible> {
    Ok(Response::new(request.into_body()))
}

/// More than sockets and windows of HTTP/2 hold.
fn large() -> Bytes {
    (0..3_000_000_u32).map(|n| (n % 251) as u8).collect()
}

fn post(body: Bytes) -> Request<Full<Bytes>> {
    Request::post("http://localhost/").header("host", "localhost").body(Full::new(body)).unwrap()
}

/// The whole body.
async fn bytes_of(response: Response<Incoming>) -> Result<Bytes, hyper::Error> {
    Ok(response.into_body().collect().await?.to_bytes())
}
