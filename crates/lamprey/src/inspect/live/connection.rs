//! A connection: requests one after the other, each with a limit of time.

use super::accept::Endpoint;
use super::request::{Head, Request};
use super::response::Answer;
use super::routes;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long a client may take for the head of a request, and how long a connection stays open between two.
const PATIENCE: Duration = Duration::from_secs(10);
/// The slowest client that gets an answer whole, in bytes a second, beside that.
const SLOWEST: u64 = 16 << 10;
/// The longest head of a request.
const LONGEST: usize = 16 << 10;

/// Serves the connection until the client closes it, is too slow, or breaks the rules.
pub(super) fn serve(endpoint: &Endpoint, stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut unread = Vec::new();
    while let Ok(true) = serve_one(endpoint, stream, &mut unread) {}
}

/// Serves one request. `unread` is what has come, and has not been read; false: the connection is over.
fn serve_one(endpoint: &Endpoint, stream: &TcpStream, unread: &mut Vec<u8>) -> io::Result<bool> {
    endpoint.places.wait(stream);
    let head = read_head(stream, unread)?;
    endpoint.places.answer(stream);
    let (answer, is_head, goes_on) = match head {
        None => return Ok(false),
        Some(Err(answer)) => (answer, false, false),
        Some(Ok(head)) => match Request::of(&head, endpoint) {
            Ok(request) => (routes::answer(&request, endpoint), head.is_head, head.keeps_open),
            Err(answer) => (answer, head.is_head, false),
        },
    };
    let bytes = answer.to_bytes(is_head, goes_on);
    endpoint.places.wait(stream);
    write(stream, &bytes)?;
    if !goes_on {
        linger(stream);
    }
    Ok(goes_on)
}

/// The next head; `None` if the client has gone, or sends nothing.
fn read_head(mut stream: &TcpStream, unread: &mut Vec<u8>) -> io::Result<Option<Result<Head, Answer>>> {
    let mut deadline = Instant::now() + PATIENCE;
    let mut is_new = true;
    loop {
        if is_new && !unread.is_empty() {
            match Head::parse(unread) {
                Ok(Some((head, length))) => {
                    unread.drain(..length);
                    return Ok(Some(Ok(head)));
                }
                Ok(None) if unread.len() < LONGEST => {}
                Ok(None) => {
                    return Ok(Some(Err(Answer::error(431, format!("a head of more than {LONGEST} bytes")))));
                }
                Err(answer) => return Ok(Some(Err(answer))),
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let slow = || Answer::error(408, format!("the head has not come within {PATIENCE:?}"));
            return Ok((!unread.is_empty()).then(|| Err(slow())));
        }
        stream.set_read_timeout(Some(left))?;
        let mut piece = [0; 4096];
        match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(length) => {
                // The head's time begins with its first byte.
                if unread.is_empty() {
                    deadline = Instant::now() + PATIENCE;
                }
                // A head ends with a line: no need to look before.
                is_new = piece[..length].contains(&b'\n') || unread.len() + length >= LONGEST;
                unread.extend_from_slice(&piece[..length]);
            }
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                _ => return Err(error),
            },
        }
    }
}

/// Writes `bytes`, for as long as a slow client may take.
fn write(mut stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE + Duration::from_secs(bytes.len() as u64 / SLOWEST);
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => bytes = &bytes[length..],
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Lets the client read the last answer: a socket that is closed with bytes unread resets the connection.
fn linger(mut stream: &TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let deadline = Instant::now() + Duration::from_secs(1);
    while Instant::now() < deadline && matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
}
