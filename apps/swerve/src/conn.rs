//! One connection, from its first request to its end: plain blocking code on a host of its own.
//!
//! Invariant: a request is answered once, in the order of arrival, and the next one is read only when the
//! bytes of this one are all used. Where the end of a request is not known, or not worth waiting for, the
//! connection ends after the answer.

use std::io;
use std::sync::Arc;

use crate::answer::Answer;
use crate::date::Clock;
use crate::live::Seat;
use crate::reader::{Head, Reader};
use crate::request::{self, Body, Method, Request};
use crate::response::{self, Manner, write_both};
use crate::server::Shared;
use crate::status::Status;

/// Serves one connection.
pub(crate) fn serve(shared: &Arc<Shared>, seat: &Seat) {
    let mut conn = Conn {
        shared,
        seat,
        reader: Reader::new(),
        head: Vec::with_capacity(512),
        name: Vec::new(),
        line: Vec::new(),
        clock: Clock::new(),
    };
    let stream = &seat.peer.stream;
    // Each response is written in one piece: waiting for more would only delay it.
    if stream.set_nodelay(true).is_err() || stream.set_write_timeout(Some(shared.limits.write_time)).is_err()
    {
        return;
    }
    loop {
        match conn.turn() {
            Ok(After::Next) => {}
            Ok(After::Linger) => return conn.reader.linger(&seat.peer, &shared.limits),
            // An error here is a peer that has gone or takes nothing: there is nobody to tell.
            Ok(After::End) | Err(_) => return,
        }
    }
}

/// What follows a request.
enum After {
    Next,
    End,
    /// The peer may still be sending.
    Linger,
}

/// What became of a request's body.
enum Rest {
    UsedUp,
    /// It is not read: nothing can follow it.
    Left,
    Late,
}

/// What is known of a request once its bytes are used up.
struct Asked {
    manner: Manner,
    body: Body,
    expects: bool,
}

struct Conn<'a> {
    shared: &'a Arc<Shared>,
    seat: &'a Seat,
    reader: Reader,
    /// Room for a response's header.
    head: Vec<u8>,
    /// Room for a file's name.
    name: Vec<u8>,
    /// The request line for the log.
    line: Vec<u8>,
    clock: Clock,
}

impl Conn<'_> {
    /// One request and its answer.
    fn turn(&mut self) -> io::Result<After> {
        let limits = &self.shared.limits;
        self.line.clear();
        let length = match self.reader.head(&self.seat.peer, limits)? {
            Head::Complete(length) => length,
            Head::Refused(status) => return Ok(self.refuse(status)),
            Head::Gone => return Ok(After::End),
        };
        let block = &self.reader.filled()[..length];
        if self.shared.log.is_some() {
            self.line.extend(block.iter().take_while(|byte| !b"\r\n".contains(byte)));
        }
        let (asked, answer) = match request::parse(block) {
            Ok(request) if request.target.len() > limits.target_bytes => {
                return Ok(self.refuse(Status::UriTooLong));
            }
            Ok(request) => (asked(&request), self.shared.site.answer(&request, &mut self.name)),
            Err(status) => return Ok(self.refuse(status)),
        };
        self.reader.consume(length);
        self.respond(asked, &answer)
    }

    fn respond(&mut self, mut asked: Asked, answer: &Answer) -> io::Result<After> {
        let used_up = match self.use_up(&asked, answer)? {
            Rest::UsedUp => true,
            Rest::Left => false,
            Rest::Late => return Ok(self.refuse(Status::RequestTimeout)),
        };
        asked.manner.keep_alive &= used_up && !self.shared.live.stopping();
        if !self.send(answer, asked.manner) {
            return Ok(After::End);
        }
        if asked.manner.keep_alive {
            // A peer whose next request is always there never makes the read wait: let the others have their
            // turn.
            lamprey::yield_now();
            return Ok(After::Next);
        }
        Ok(if used_up && self.reader.filled().is_empty() { After::End } else { After::Linger })
    }

    /// Reads the body of a request, which no file needs, if it is short enough to be worth it.
    fn use_up(&mut self, asked: &Asked, answer: &Answer) -> io::Result<Rest> {
        let (peer, limits) = (&self.seat.peer, &self.shared.limits);
        let length = match asked.body {
            Body::None => return Ok(Rest::UsedUp),
            Body::Length(length) if length <= limits.body_bytes => length,
            Body::Length(_) | Body::Chunked => return Ok(Rest::Left),
        };
        if asked.expects {
            // A client that is refused anyway need not send it.
            if matches!(answer, Answer::Status(_)) {
                return Ok(Rest::Left);
            }
            write_both(&peer.stream, b"HTTP/1.1 100 Continue\r\n\r\n", b"")?;
        }
        Ok(if self.reader.discard(peer, length, limits)? { Rest::UsedUp } else { Rest::Late })
    }

    /// Answers what cannot be understood; nothing can follow it.
    fn refuse(&mut self, status: Status) -> After {
        let manner = Manner { head_only: false, modern: true, keep_alive: false };
        if self.send(&Answer::Status(status), manner) { After::Linger } else { After::End }
    }

    /// Sends `answer` and logs it; whether it was sent whole.
    fn send(&mut self, answer: &Answer, manner: Manner) -> bool {
        let peer = &self.seat.peer;
        let sent = response::send(&peer.stream, &mut self.head, self.clock.now(), answer, manner);
        if let Some(log) = &self.shared.log {
            log.line(peer.addr.ip(), self.clock.now(), &self.line, sent.status, sent.bytes);
        }
        sent.whole
    }
}

fn asked(request: &Request<'_>) -> Asked {
    let manner = Manner {
        head_only: request.method == Method::Head,
        modern: request.modern,
        keep_alive: request.keep_alive,
    };
    Asked { manner, body: request.body, expects: request.expects }
}
