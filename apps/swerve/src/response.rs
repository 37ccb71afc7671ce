//! The header of a response, and the sending of header and body in one call where both are in memory.
//!
//! Invariant: every header ends with what it says of the body: a length, or a status that has none. The body
//! that follows has that length, or the connection ends.

use std::io::{self, IoSlice, Write};

use lamprey::net::TcpStream;

use crate::answer::Answer;
use crate::date;
use crate::file::Content;
use crate::status::Status;
use crate::stream;

/// How the request wants to be answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// Header only (HEAD).
    pub(crate) head_only: bool,
    /// Whether the peer speaks HTTP/1.1.
    pub(crate) modern: bool,
    /// Whether the connection goes on afterwards.
    pub(crate) keep_alive: bool,
}

/// What came of a response.
pub(crate) struct Sent {
    pub(crate) status: Status,
    /// Bytes of the body that the peer's queue took.
    pub(crate) bytes: u64,
    /// Whether the response was sent whole: if not, the connection is of no further use.
    pub(crate) whole: bool,
}

/// Sends `answer`. `head` is room for the header.
pub(crate) fn send(
    to: &TcpStream,
    head: &mut Vec<u8>,
    date: &date::Text,
    answer: &Answer,
    manner: Manner,
) -> Sent {
    head.clear();
    match answer {
        Answer::File(file) => {
            begin(head, Status::Ok, date, manner);
            head.extend_from_slice(file.fields());
            head.extend_from_slice(b"\r\n");
            match &file.content {
                _ if manner.head_only => send_both(to, Status::Ok, head, b""),
                Content::Whole(bytes) => send_both(to, Status::Ok, head, bytes),
                Content::Open(fd) => stream::send(to, head, fd, file.length()),
            }
        }
        Answer::NotModified(file) => {
            begin(head, Status::NotModified, date, manner);
            head.extend_from_slice(file.validators());
            head.extend_from_slice(b"\r\n");
            send_both(to, Status::NotModified, head, b"")
        }
        Answer::Moved(address) => {
            begin(head, Status::MovedPermanently, date, manner);
            let _ = write!(head, "Location: {address}\r\n");
            send_page(to, Status::MovedPermanently, head, manner)
        }
        Answer::Status(status) => {
            begin(head, *status, date, manner);
            if *status == Status::MethodNotAllowed {
                head.extend_from_slice(b"Allow: GET, HEAD\r\n");
            }
            send_page(to, *status, head, manner)
        }
    }
}

fn begin(head: &mut Vec<u8>, status: Status, date: &date::Text, manner: Manner) {
    head.extend_from_slice(b"HTTP/1.1 ");
    head.extend_from_slice(status.line().as_bytes());
    head.extend_from_slice(b"\r\nServer: lamprey\r\nDate: ");
    head.extend_from_slice(date);
    head.extend_from_slice(match (manner.keep_alive, manner.modern) {
        (true, true) => b"\r\n",
        (true, false) => b"\r\nConnection: keep-alive\r\n",
        (false, _) => b"\r\nConnection: close\r\n",
    });
}

fn send_page(to: &TcpStream, status: Status, head: &mut Vec<u8>, manner: Manner) -> Sent {
    let page = status.page();
    let _ = write!(head, "Content-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n", page.len());
    send_both(to, status, head, if manner.head_only { b"" } else { page.as_bytes() })
}

fn send_both(to: &TcpStream, status: Status, head: &[u8], body: &[u8]) -> Sent {
    let whole = write_both(to, head, body).is_ok();
    Sent { status, bytes: if whole { body.len() as u64 } else { 0 }, whole }
}

/// Writes `head` and `body` with as few calls as the socket allows.
pub(crate) fn write_both(mut to: &TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let mut parts = [IoSlice::new(head), IoSlice::new(body)];
    let mut rest = &mut parts[..];
    // Drops empty parts at the front, so that the loop ends when nothing is left.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match to.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
