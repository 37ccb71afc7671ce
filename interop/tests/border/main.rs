//! Cancellation and the end of a runtime, across the border between Lamprey and the libraries of others.

mod children;
mod ends;
mod limits;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// Longer than anything takes, on a loaded machine.
const FOREVER: Duration = Duration::from_secs(120);

/// Runs `main` in a runtime of Lamprey's; fails if it hangs.
fn run<T: Send + 'static>(workers: usize, main: impl FnOnce() -> T + Send + 'static) -> T {
    // One provider for the process; an error: another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (done, result) = mpsc::channel();
    let thread = thread::spawn(move || {
        let runtime = lamprey::Runtime::builder().workers(workers).build().unwrap();
        let value = runtime.run(main);
        drop(runtime);
        drop(done.send(value));
    });
    match result.recv_timeout(FOREVER) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hung"),
        Err(mpsc::RecvTimeoutError::Disconnected) => std::panic::resume_unwind(thread.join().unwrap_err()),
    }
}

/// What a connection of the [`silent`] server has seen.
#[derive(Debug, PartialEq)]
enum Seen {
    Request,
    End,
}

/// A server that reads requests and does not answer; says what it sees.
fn silent() -> (SocketAddr, Receiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (saw, seen) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let saw = saw.clone();
            thread::spawn(move || watch(stream, &saw));
        }
    });
    (address, seen)
}

fn watch(mut stream: TcpStream, saw: &Sender<Seen>) {
    let mut head = Vec::new();
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        head.extend(&bytes[..count]);
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            // The beginning of an answer, which is never finished.
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegun");
            let _ = saw.send(Seen::Request);
        }
    }
    let _ = saw.send(Seen::End);
}

/// Waits, on a host, for what the server sees next.
fn next(seen: &Receiver<Seen>, within: Duration) -> Option<Seen> {
    let poll = || {
        loop {
            match seen.try_recv() {
                Ok(seen) => return seen,
                Err(_) => lamprey::sleep(Duration::from_millis(1)),
            }
        }
    };
    lamprey::with_timeout(within, poll).ok()
}

/// Waits, on a host, until the server has seen so many of each.
fn see(seen: &Receiver<Seen>, requests: usize, ends: usize) {
    let mut count = (0, 0);
    while count != (requests, ends) {
        match next(seen, FOREVER).expect("the server sees more") {
            Seen::Request => count.0 += 1,
            Seen::End => count.1 += 1,
        }
        assert!(count.0 <= requests && count.1 <= ends, "{count:?}");
    }
}

/// Reads a whole page by reqwest.
async fn by_reqwest(address: SocketAddr) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let response = client.get(format!("http://{address}/")).send().await.unwrap();
    response.bytes().await.unwrap();
    unreachable!("the server does not finish its answer");
}

/// Reads a whole page by hyper, whose connection is driven beside the request.
async fn by_hyper(address: SocketAddr) {
    use http_body_util::{BodyExt, Empty};
    use hyper::body::Bytes;
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let io = hyper_util::rt::TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
    let asking = async {
        let request = hyper::Request::get("/").header("host", "test").body(Empty::<Bytes>::new()).unwrap();
        sender.send_request(request).await.unwrap().into_body().collect().await
    };
    let both = futures::future::select(Box::pin(asking), Box::pin(connection)).await;
    drop(both);
    unreachable!("the server does not finish its answer");
}

/// Sends its name when it is dropped.
struct Dropped(&'static str, Sender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.1.send(self.0);
    }
}
