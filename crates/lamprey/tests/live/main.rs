//! The endpoint: what it answers, to whom, and when.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod closing;
mod held_up;
mod places;
mod requests;
mod tokens;
mod totals;

use lamprey::inspect::Server;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A connection that ends a test that hangs.
fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(common::FOREVER)).unwrap();
    stream
}

/// All that comes after `request`, until the endpoint closes the connection.
#[track_caller]
fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = connect(address);
    stream.write_all(request).unwrap();
    rest(stream)
}

/// All that still comes.
fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// Status and body of the answer to a GET.
#[track_caller]
fn get(address: SocketAddr, path: &str) -> (u16, String) {
    taken_apart(&ask(address, format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()))
}

/// Status and body.
#[track_caller]
fn taken_apart(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {answer}"));
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap();
    (status.parse().unwrap(), body.to_owned())
}

/// The answer to a GET, as JSON.
#[track_caller]
fn json(server: &Server, path: &str) -> Value {
    let (status, body) = get(server.addr(), path);
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// Asserts that it is refused with this status and a text that has `part`.
#[track_caller]
fn refused(answer: &str, status: u16, part: &str) {
    let (its, body) = taken_apart(answer);
    assert_eq!(its, status, "{answer}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert!(body["error"].as_str().unwrap().contains(part), "{body}");
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
