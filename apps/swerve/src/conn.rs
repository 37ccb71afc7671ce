//! One connection, from its first request to its end: plain blocking code on a host of its own.
//!
//! Invariant: requests are answered once each, in the order of their arrival, and the next one is read only
//! when all bytes of this one are consumed. If the end of a request is not known, or too far away, the
//! connection ends after the answer.

use std::io;
use std::net::SocketAddr;

use lamprey::CancelToken;
use lamprey::net::TcpStream;

use crate::answer::Answer;
use crate::date::DateClock;
use crate::line::Method;
use crate::reader::{Reader, RequestHead};
use crate::request::{self, Body, Request};
use crate::response::{self, ResponseForm};
use crate::service::Service;
use crate::status::Status;
use crate::transmit::write_both;

/// Serves the connection `stream` to the peer `addr`.
pub(crate) fn serve(service: &Service, stream: &TcpStream, addr: SocketAddr) {
    // Each response is written in one piece: the kernel need not wait for more.
    if stream.set_nodelay(true).is_err() || stream.set_write_timeout(Some(service.limits.write_time)).is_err()
    {
        return;
    }
    let mut conn = Conn {
        service,
        stream,
        addr,
        stop: service.stop.child(),
        reader: Reader::new(),
        head: Vec::with_capacity(512),
        name: Vec::new(),
        line: Vec::new(),
        clock: DateClock::new(),
    };
    loop {
        match conn.exchange() {
            Ok(NextStep::Request) => {}
            Ok(NextStep::Linger) => return conn.reader.linger(stream, &service.limits),
            // An error means that the peer has gone or takes nothing: no answer would reach it.
            Ok(NextStep::Close) | Err(_) => return,
        }
    }
}

/// What follows a request.
enum NextStep {
    Request,
    Close,
    /// The peer may still be sending.
    Linger,
}

/// What became of a request's body.
enum BodyOutcome {
    Consumed,
    /// It is not read, so no request can follow it.
    Unread,
    TimedOut,
}

/// What is kept of a request once its bytes are consumed.
struct Demand {
    form: ResponseForm,
    body: Body,
    expects_continue: bool,
}

impl Demand {
    fn of(request: &Request<'_>) -> Demand {
        let form = ResponseForm {
            head_only: request.method == Method::Head,
            is_http_1_1: request.is_http_1_1,
            keep_alive: request.keep_alive,
        };
        Demand { form, body: request.body, expects_continue: request.expects_continue }
    }
}

struct Conn<'a> {
    service: &'a Service,
    stream: &'a TcpStream,
    addr: SocketAddr,
    /// A token of its own, so that no two connections contend for it.
    stop: CancelToken,
    reader: Reader,
    /// A buffer for the header of a response.
    head: Vec<u8>,
    /// A buffer for the name of a file.
    name: Vec<u8>,
    /// The request line for the log.
    line: Vec<u8>,
    clock: DateClock,
}

impl Conn<'_> {
    /// Reads one request and answers it.
    fn exchange(&mut self) -> io::Result<NextStep> {
        let (service, limits) = (self.service, &self.service.limits);
        self.line.clear();
        let length = match self.reader.head(self.stream, &self.stop, limits)? {
            RequestHead::Complete(length) => length,
            RequestHead::Refused(status) => return Ok(self.refuse(status, self.has_head())),
            RequestHead::Closed => return Ok(NextStep::Close),
        };
        let block = &self.reader.filled()[..length];
        if service.log.is_some() {
            self.line.extend(block.iter().take_while(|byte| !b"\r\n".contains(byte)));
        }
        let (demand, answer) = match request::parse(block) {
            Ok(request) if request.target.len() > limits.target_bytes => {
                return Ok(self.refuse(Status::UriTooLong, request.method == Method::Head));
            }
            Ok(request) => (Demand::of(&request), service.site.answer(&request, &mut self.name)),
            Err(status) => return Ok(self.refuse(status, self.has_head())),
        };
        self.reader.consume(length);
        self.respond(demand, &answer)
    }

    fn respond(&mut self, mut demand: Demand, answer: &Answer) -> io::Result<NextStep> {
        let consumed = match self.consume_body(&demand, answer)? {
            BodyOutcome::Consumed => true,
            BodyOutcome::Unread => false,
            BodyOutcome::TimedOut => {
                return Ok(self.refuse(Status::RequestTimeout, demand.form.head_only));
            }
        };
        demand.form.keep_alive &= consumed && !self.stop.is_cancelled();
        if !self.send(answer, demand.form) {
            return Ok(NextStep::Close);
        }
        if demand.form.keep_alive {
            // A peer whose next request has always arrived never makes this host wait.
            lamprey::yield_now();
            return Ok(NextStep::Request);
        }
        Ok(if consumed && self.reader.filled().is_empty() { NextStep::Close } else { NextStep::Linger })
    }

    /// Reads the body of a request and drops it, if it is short enough. No file needs it.
    fn consume_body(&mut self, demand: &Demand, answer: &Answer) -> io::Result<BodyOutcome> {
        let limits = &self.service.limits;
        let length = match demand.body {
            Body::None => return Ok(BodyOutcome::Consumed),
            Body::Length(length) if length <= limits.body_bytes => length,
            Body::Length(_) | Body::Chunked => return Ok(BodyOutcome::Unread),
        };
        if demand.expects_continue {
            // A client that is refused need not send its body.
            if matches!(answer, Answer::Status(_)) {
                return Ok(BodyOutcome::Unread);
            }
            write_both(self.stream, b"HTTP/1.1 100 Continue\r\n\r\n", b"")?;
        }
        let in_time = self.reader.discard(self.stream, length, limits)?;
        Ok(if in_time { BodyOutcome::Consumed } else { BodyOutcome::TimedOut })
    }

    /// Whether what cannot be understood begins like a HEAD, whose answer has no body.
    fn has_head(&self) -> bool {
        self.reader.filled().starts_with(b"HEAD ")
    }

    /// Answers a request that cannot be understood; no request can follow it.
    fn refuse(&mut self, status: Status, head_only: bool) -> NextStep {
        let form = ResponseForm { head_only, is_http_1_1: true, keep_alive: false };
        if self.send(&Answer::Status(status), form) { NextStep::Linger } else { NextStep::Close }
    }

    /// Sends `answer` and logs it; false if it was not sent whole.
    fn send(&mut self, answer: &Answer, form: ResponseForm) -> bool {
        let sent = response::send(self.stream, &mut self.head, self.clock.now(), answer, form);
        if let Some(log) = &self.service.log {
            log.line(self.addr.ip(), self.clock.now(), &self.line, sent.status, sent.bytes);
        }
        sent.whole
    }
}
