//! A client that knows nothing of the server: bytes on a socket of the standard library.

use super::LIMIT;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

pub struct Client(TcpStream);

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        Self(stream)
    }

    pub fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
    }

    pub fn get(&mut self, path: &str) -> (u16, String) {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"));
        self.answer().unwrap()
    }

    pub fn post(&mut self, path: &str, kind: &str, body: &str) -> (u16, String) {
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        self.answer().unwrap()
    }

    /// The head of the next answer, and its body by its `content-length`.
    pub fn answer(&mut self) -> io::Result<(u16, String)> {
        let head = self.head()?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.0.read_exact(&mut body)?;
        Ok((status, String::from_utf8(body).unwrap()))
    }

    /// The head of the next answer.
    pub fn head(&mut self) -> io::Result<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        Ok(String::from_utf8(head).unwrap())
    }

    pub fn read(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// True if the server has closed the connection, without another byte.
    pub fn is_closed(&mut self) -> bool {
        loop {
            match self.0.read(&mut [0]) {
                Ok(read) => return read == 0,
                // A signal ends a read that has a time limit, also where it restarts others.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == io::ErrorKind::ConnectionReset,
            }
        }
    }
}
