//! A web server of plain blocking code: a host for each connection, `httparse` for what it reads.
//!
//! It does what hyper does for such requests: it keeps connections alive, takes requests that come in pieces or several at a time, skips their bodies,
//! says the date, and refuses what it does not understand.

use crate::work::http::{HELLO, TEXT};
use httparse::{EMPTY_HEADER, Request, Status};
use lamprey::net::TcpStream;
use std::io::{self, Read, Write};
use std::time::SystemTime;

/// The longest header that is taken.
const LONGEST: usize = 8 << 10;

const REFUSED: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// What the header of a request says.
struct Asked {
    /// Its length.
    header: usize,
    /// The length of the body that follows it.
    body: usize,
    /// Whether more requests may come.
    keep_alive: bool,
}

/// Answers the requests of a connection until it is closed.
pub fn serve(stream: &TcpStream) {
    // The peer is gone: nobody is left to be told.
    let _ = answer(stream);
}

fn answer(mut stream: &TcpStream) -> io::Result<()> {
    let mut bytes = [0; LONGEST];
    let mut filled = 0;
    let mut answers = Vec::with_capacity(256);
    let mut date = Date::default();
    loop {
        let mut begin = 0;
        let mut open = true;
        while open && begin < filled {
            let asked = match parse(&bytes[begin..filled]) {
                Ok(Some(asked)) => asked,
                Ok(None) if filled - begin < LONGEST => break,
                Ok(None) | Err(_) => return stream.write_all(REFUSED),
            };
            date.look();
            write_hello(&mut answers, &date.text, asked.keep_alive);
            open = asked.keep_alive;
            begin += asked.header;
            let here = asked.body.min(filled - begin);
            begin += here;
            skip(stream, asked.body - here)?;
        }
        bytes.copy_within(begin..filled, 0);
        filled -= begin;
        stream.write_all(&answers)?;
        answers.clear();
        if !open {
            return Ok(());
        }
        match stream.read(&mut bytes[filled..])? {
            0 => return Ok(()),
            read => filled += read,
        }
    }
}

/// `None` if the header is not complete.
fn parse(bytes: &[u8]) -> Result<Option<Asked>, httparse::Error> {
    let mut fields = [EMPTY_HEADER; 32];
    let mut request = Request::new(&mut fields);
    let Status::Complete(header) = request.parse(bytes)? else { return Ok(None) };
    let mut asked = Asked { header, body: 0, keep_alive: request.version == Some(1) };
    for field in request.headers {
        if field.name.eq_ignore_ascii_case("content-length") {
            let length = str::from_utf8(field.value).ok().and_then(|value| value.trim().parse().ok());
            asked.body = length.ok_or(httparse::Error::HeaderValue)?;
        } else if field.name.eq_ignore_ascii_case("connection") {
            asked.keep_alive &= !field.value.eq_ignore_ascii_case(b"close");
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(httparse::Error::HeaderName);
        }
    }
    Ok(Some(asked))
}

fn write_hello(answers: &mut Vec<u8>, date: &str, keep_alive: bool) {
    let close = if keep_alive { "" } else { "connection: close\r\n" };
    let length = HELLO.len();
    write!(
        answers,
        "HTTP/1.1 200 OK\r\n{close}content-type: {TEXT}\r\ncontent-length: {length}\r\ndate: {date}\r\n\r\n{HELLO}"
    )
    .expect("a Vec takes all");
}

fn skip(stream: &TcpStream, body: usize) -> io::Result<()> {
    io::copy(&mut stream.take(body as u64), &mut io::sink()).map(drop)
}

/// The date as a header has it, written anew when the second has changed.
#[derive(Default)]
struct Date {
    second: u64,
    text: String,
}

impl Date {
    fn look(&mut self) {
        let now = SystemTime::now();
        let second = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if second != self.second {
            *self = Self { second, text: httpdate::fmt_http_date(now) };
        }
    }
}
