//! The header of a response, and which bytes follow it.
//!
//! Invariant: every header ends with what it says of the body: a length, or a status that has none. The body
//! that follows has that length, or the connection ends.

use std::io::Write;

use lamprey::net::TcpStream;

use crate::answer::Answer;
use crate::date::DateText;
use crate::file::Content;
use crate::status::Status;
use crate::transmit::{Sent, send_bytes, send_file};

/// The form of a response, as the request determines it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseForm {
    /// Only the header is sent (HEAD).
    pub(crate) head_only: bool,
    /// Whether the peer speaks HTTP/1.1.
    pub(crate) is_http_1_1: bool,
    /// Whether the connection goes on afterwards.
    pub(crate) keep_alive: bool,
}

/// Sends `answer`. `head` is a buffer for the header.
pub(crate) fn send(
    to: &TcpStream,
    head: &mut Vec<u8>,
    date: &DateText,
    answer: &Answer,
    form: ResponseForm,
) -> Sent {
    head.clear();
    match answer {
        Answer::File(file) => {
            begin(head, Status::Ok, date, form);
            head.extend_from_slice(file.fields());
            head.extend_from_slice(b"\r\n");
            match &file.content {
                _ if form.head_only => send_bytes(to, Status::Ok, head, b""),
                Content::Whole(bytes) => send_bytes(to, Status::Ok, head, bytes),
                Content::Open(fd) => send_file(to, head, fd, file.length()),
            }
        }
        Answer::NotModified(file) => {
            begin(head, Status::NotModified, date, form);
            head.extend_from_slice(file.validator_lines());
            head.extend_from_slice(b"\r\n");
            send_bytes(to, Status::NotModified, head, b"")
        }
        Answer::Moved(address) => {
            begin(head, Status::MovedPermanently, date, form);
            let _ = write!(head, "Location: {address}\r\n");
            send_page(to, Status::MovedPermanently, head, form)
        }
        Answer::Status(status) => {
            begin(head, *status, date, form);
            if *status == Status::MethodNotAllowed {
                head.extend_from_slice(b"Allow: GET, HEAD\r\n");
            }
            send_page(to, *status, head, form)
        }
    }
}

fn begin(head: &mut Vec<u8>, status: Status, date: &DateText, form: ResponseForm) {
    head.extend_from_slice(b"HTTP/1.1 ");
    head.extend_from_slice(status.line().as_bytes());
    head.extend_from_slice(b"\r\nServer: lamprey\r\nDate: ");
    head.extend_from_slice(date);
    head.extend_from_slice(match (form.keep_alive, form.is_http_1_1) {
        (true, true) => b"\r\n",
        (true, false) => b"\r\nConnection: keep-alive\r\n",
        (false, _) => b"\r\nConnection: close\r\n",
    });
}

fn send_page(to: &TcpStream, status: Status, head: &mut Vec<u8>, form: ResponseForm) -> Sent {
    let page = status.page();
    let _ = write!(head, "Content-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n", page.len());
    send_bytes(to, status, head, if form.head_only { b"" } else { page.as_bytes() })
}
