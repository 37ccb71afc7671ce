//! A bounded load client: keep-alive connections that each send a request as soon as they have the last
//! answer.
//!
//! It has one kernel thread and one epoll instance for all connections, makes one write and usually one read
//! for a request, and compares the body only once for each connection: it must cost less than any server, or
//! it would be measured instead.

use anyhow::{Context, Result, bail, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The time without an answer after which the server counts as hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// The requests.
pub struct Load<'a> {
    /// The server's address.
    pub server: SocketAddr,
    /// The number of connections, all busy at once.
    pub connections: usize,
    /// Absolute path of the file.
    pub path: &'a str,
    /// The expected body.
    pub body: &'a [u8],
}

impl Load<'_> {
    /// Sends `requests` altogether, after a first request on each connection that is not counted. Returns
    /// their time.
    ///
    /// # Errors
    /// If the server cannot be reached, closes a connection, does not answer in time, or answers with
    /// anything but the body.
    pub fn run(&self, requests: u64) -> Result<Duration> {
        let mut poll = Poll::new().context("epoll")?;
        let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.server);
        let mut clients = Vec::with_capacity(self.connections);
        for i in 0..self.connections {
            let stream = std::net::TcpStream::connect(self.server)
                .with_context(|| format!("connect to {}", self.server))?;
            let mut client = Client::greet(stream, request.as_bytes(), self.body)?;
            poll.registry().register(&mut client.stream, Token(i), Interest::READABLE)?;
            clients.push(client);
        }
        let begun = Instant::now();
        let mut unasked = requests;
        let mut unanswered = requests;
        for client in clients.iter_mut().take(requests.try_into().unwrap_or(usize::MAX)) {
            client.ask(request.as_bytes())?;
            unasked -= 1;
        }
        let mut events = Events::with_capacity(self.connections);
        let mut buffer = vec![0; 64 << 10];
        while unanswered > 0 {
            match poll.poll(&mut events, Some(PATIENCE)) {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                other => other.context("epoll")?,
            }
            ensure!(!events.is_empty(), "nothing for {} s: {}", PATIENCE.as_secs(), waiting(&clients));
            for event in &events {
                let client = &mut clients[event.token().0];
                if client.answered(&mut buffer)? {
                    unanswered -= 1;
                    if unasked > 0 {
                        client.ask(request.as_bytes())?;
                        unasked -= 1;
                    }
                }
            }
        }
        Ok(begun.elapsed())
    }
}

/// One connection.
struct Client {
    stream: TcpStream,
    /// The length of the body, in every answer.
    body: usize,
    /// The received part of a header that is not complete yet.
    begun: Vec<u8>,
    /// The number of bytes to come after the header; `None` before it.
    awaited: Option<usize>,
}

impl Client {
    /// The first request: blocking, with a full check of the answer.
    fn greet(mut stream: std::net::TcpStream, request: &[u8], body: &[u8]) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(request).context("send the first request")?;
        let mut got = Vec::new();
        let header = loop {
            let mut part = [0; 16 << 10];
            let n = stream.read(&mut part).context("read the first answer")?;
            ensure!(n > 0, "connection closed in the first answer");
            got.extend_from_slice(&part[..n]);
            if let Some(header) = header(&got, body.len())?
                && got.len() >= header + body.len()
            {
                break header;
            }
        };
        ensure!(&got[header..] == body, "the body is not the file's content");
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            body: body.len(),
            begun: Vec::new(),
            awaited: Some(0),
        })
    }

    fn ask(&mut self, request: &[u8]) -> Result<()> {
        // An idle connection has room for a request, so a short write means a broken server.
        let n = self.stream.write(request).context("send a request")?;
        ensure!(n == request.len(), "a request was cut to {n} bytes");
        self.awaited = None;
        Ok(())
    }

    /// Reads what has arrived; returns whether the answer is complete.
    ///
    /// The events are edges. But nothing follows a complete answer before the next request, and after a read
    /// that did not fill the buffer the next arrival is a new edge: there is no need to read until it would
    /// block.
    fn answered(&mut self, buffer: &mut [u8]) -> Result<bool> {
        let asked = self.awaited != Some(0);
        loop {
            let n = match self.stream.read(buffer) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => return Err(e).context("read an answer"),
            };
            self.take(&buffer[..n])?;
            if n < buffer.len() {
                break;
            }
        }
        Ok(asked && self.awaited == Some(0))
    }

    fn take(&mut self, got: &[u8]) -> Result<()> {
        let (before, body) = match self.awaited {
            Some(awaited) => (awaited, got.len()),
            None if self.begun.is_empty() => match header(got, self.body)? {
                Some(header) => (self.body, got.len() - header),
                None => {
                    self.begun.extend_from_slice(got);
                    return Ok(());
                }
            },
            None => {
                self.begun.extend_from_slice(got);
                let Some(header) = header(&self.begun, self.body)? else { return Ok(()) };
                (self.body, std::mem::take(&mut self.begun).len() - header)
            }
        };
        ensure!(body <= before, "{} bytes more than an answer has", body - before);
        self.awaited = Some(before - body);
        Ok(())
    }
}

/// What the clients wait for, for the message about a silent server.
fn waiting(clients: &[Client]) -> String {
    let headless = clients.iter().filter(|c| c.awaited.is_none()).count();
    let cut = clients.iter().filter(|c| c.awaited.is_some_and(|bytes| bytes > 0)).count();
    format!("of {} connections, {headless} wait for an answer, and {cut} for the rest of one", clients.len())
}

/// The length of the header in `got`, once it is complete.
fn header(got: &[u8], body: usize) -> Result<Option<usize>> {
    let mut fields = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(length) = response.parse(got).context("not an HTTP answer")? else {
        return Ok(None);
    };
    ensure!(response.code == Some(200), "not a 200: {}", first_line(got));
    let field = response.headers.iter().find(|f| f.name.eq_ignore_ascii_case("content-length"));
    let promised = field.map_or("none", |f| str::from_utf8(f.value).unwrap_or("not text"));
    ensure!(promised == body.to_string(), "Content-Length is {promised}, the file has {body} bytes");
    Ok(Some(length))
}

fn first_line(text: &[u8]) -> String {
    let line = text.split(|b| *b == b'\r').next().unwrap_or_default();
    String::from_utf8_lossy(line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::thread;

    /// Answers every request on every connection with the next of `answers`, `times` times each.
    fn serve(answers: &'static [&'static [u8]], times: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                thread::spawn(move || {
                    let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                    let requests = lines.filter(String::is_empty).take(times);
                    for (_, answer) in requests.zip(answers.iter().cycle()) {
                        // In two pieces, which the client must join.
                        let (head, tail) = answer.split_at(answer.len() / 2);
                        let _gone = (&stream).write_all(head).and_then(|()| (&stream).write_all(tail));
                    }
                });
            }
        });
        address
    }

    fn load(server: SocketAddr, body: &[u8], requests: u64) -> Result<Duration> {
        Load { server, connections: 3, path: "/file", body }.run(requests)
    }

    const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

    #[test]
    fn every_request_is_answered() {
        let took = load(serve(&[GOOD], usize::MAX), b"hello", 100).unwrap();
        assert!(took > Duration::ZERO);
    }

    #[test]
    fn answers_may_differ_in_their_headers() {
        const LONGER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nAge: 1000\r\n\r\nhello";
        load(serve(&[GOOD, LONGER], usize::MAX), b"hello", 100).unwrap();
    }

    #[test]
    fn a_later_answer_is_looked_at_too() {
        const WRONG: &[u8] = b"HTTP/1.1 500 Oh\r\nContent-Length: 5\r\n\r\nhello";
        let error = load(serve(&[GOOD, WRONG], usize::MAX), b"hello", 100).unwrap_err();
        assert!(error.to_string().contains("500 Oh"), "{error}");
    }

    #[test]
    fn fewer_requests_than_connections_are_fine() {
        load(serve(&[GOOD], usize::MAX), b"hello", 2).unwrap();
    }

    #[test]
    fn a_wrong_body_is_refused() {
        let error = load(serve(&[GOOD], usize::MAX), b"jello", 1).unwrap_err();
        assert!(error.to_string().contains("body"), "{error}");
    }

    #[test]
    fn a_wrong_status_is_refused() {
        let error =
            load(serve(&[b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"], 9), b"", 1).unwrap_err();
        assert!(error.to_string().contains("404 Not Found"), "{error}");
    }

    #[test]
    fn a_closed_connection_is_an_error() {
        let error = load(serve(&[GOOD], 4), b"hello", 100).unwrap_err();
        assert!(
            format!("{error:#}").contains("connection") || format!("{error:#}").contains("reset"),
            "{error:#}"
        );
    }
}
