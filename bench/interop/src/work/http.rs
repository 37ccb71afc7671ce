//! The answer to each request of the benches `http` and `axum`, and the start of a server under load.

use super::wrk::Wrk;
use anyhow::{Context, Result, ensure};
use bench_harness::{Runner, cores, usage};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response};
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The body of `http`.
pub const HELLO: &str = "Hello, World!";
/// Its type, which every server says.
pub const TEXT: &str = "text/plain; charset=utf-8";

/// The time without an answer after which a server counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// The answer of `http`, by hyper.
pub async fn respond(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(HELLO.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    Ok(response)
}

/// A server.
pub struct Server<S> {
    /// What keeps it alive.
    pub lives: S,
    /// Its address.
    pub address: SocketAddr,
    /// Its process; `None` is this one.
    pub process: Option<u32>,
}

/// Starts a server in this process, and prepares a load on `path`.
///
/// # Errors
/// Those of `start`; if the server's answer is not a 200 with `body`; if there is no wrk.
pub fn under_load<S: 'static>(
    workers: usize,
    path: &str,
    body: &str,
    start: impl FnOnce() -> Result<Server<S>>,
) -> Result<Runner> {
    cores::serve(workers)?;
    let Server { lives, address, process } = start()?;
    check(address, path, body)?;
    let wrk = Wrk::new(address, path, workers)?;
    Ok(Box::new(move |seconds| {
        let _serves = &lives;
        wrk.run(seconds, || process.map_or_else(usage::processor_time, usage::processor_time_of))
    }))
}

/// Looks at the answers to two requests on one connection.
fn check(address: SocketAddr, path: &str, body: &str) -> Result<()> {
    let stream = TcpStream::connect(address).with_context(|| format!("connect to {address}"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answers = BufReader::new(&stream);
    for _ in 0..2 {
        write!(&stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").context("send a request")?;
        let mut line = String::new();
        answers.read_line(&mut line).context("read an answer")?;
        ensure!(line.starts_with("HTTP/1.1 200 "), "not a 200: {line:?}");
        let mut length = None;
        while line != "\r\n" {
            line.clear();
            ensure!(answers.read_line(&mut line)? > 0, "the header ends in the middle");
            if let Some(("content-length", value)) = line.to_ascii_lowercase().split_once(':') {
                length = Some(value.trim().parse::<usize>().context("a length that is no number")?);
            }
        }
        let mut got = vec![0; length.context("no Content-Length")?];
        answers.read_exact(&mut got)?;
        ensure!(got == body.as_bytes(), "the body is {:?}", String::from_utf8_lossy(&got));
    }
    Ok(())
}
