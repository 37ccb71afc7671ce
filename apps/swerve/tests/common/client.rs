//! A folder with a few files, the address of the server that serves it, and a client for single bytes.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Long enough for a loaded machine: reaching it is a failure, not a measurement.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A folder that holds `site`, the folder to be served.
pub fn folder() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("site");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(root.join("index.html"), "<h1>home</h1>").unwrap();
    std::fs::write(root.join("a.txt"), "alpha").unwrap();
    std::fs::write(root.join("b.txt"), "beta").unwrap();
    std::fs::write(root.join("empty"), "").unwrap();
    std::fs::write(root.join("sub/index.html"), "<h1>sub</h1>").unwrap();
    temp
}

/// Where a server is, and what it serves.
pub struct Place {
    pub addr: SocketAddr,
    pub temp: tempfile::TempDir,
}

impl Place {
    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn root(&self) -> PathBuf {
        self.temp.path().join("site")
    }

    /// The folder around the server's folder.
    pub fn outside(&self) -> &Path {
        self.temp.path()
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.addr)
    }

    /// One request on a connection of its own.
    pub fn get(&self, target: &str) -> Response {
        self.connect().get(target)
    }

    /// The response to these bytes on a connection of its own.
    pub fn raw(&self, request: &str) -> Response {
        let mut client = self.connect();
        client.send(request);
        client.response()
    }
}

/// One connection.
pub struct Client {
    pub stream: TcpStream,
    received: Vec<u8>,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub version: String,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn connect(addr: SocketAddr) -> Client {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, received: Vec::new() }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub fn get(&mut self, target: &str) -> Response {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n"));
        self.response()
    }

    /// Reads one response with its body.
    pub fn response(&mut self) -> Response {
        let mut response = self.response_head();
        if let Some(length) = response.field("Content-Length") {
            let length: usize = length.parse().unwrap();
            response.body = self.take(length);
        }
        response
    }

    /// Reads one response to a HEAD request, or the header of another.
    pub fn response_head(&mut self) -> Response {
        let end = loop {
            if let Some(at) = self.received.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(
                self.more() > 0,
                "the connection ended within a header: {:?}",
                String::from_utf8_lossy(&self.received)
            );
        };
        let head = String::from_utf8(self.take(end)).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let (version, rest) = lines.next().unwrap().split_once(' ').unwrap();
        let split =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        Response {
            status: rest[..3].parse().unwrap(),
            version: version.to_owned(),
            fields: lines.map(|line| split(line).unwrap_or_else(|| panic!("no field: {line:?}"))).collect(),
            body: Vec::new(),
        }
    }

    /// Exactly `count` bytes.
    pub fn take(&mut self, count: usize) -> Vec<u8> {
        while self.received.len() < count {
            assert!(self.more() > 0, "the connection ended {} bytes early", count - self.received.len());
        }
        let rest = self.received.split_off(count);
        std::mem::replace(&mut self.received, rest)
    }

    /// Everything up to the end of the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() > 0 {}
        std::mem::take(&mut self.received)
    }

    /// Asserts that the server ends the connection and sends nothing more.
    pub fn ends(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "more came: {:?}", String::from_utf8_lossy(&rest));
    }

    /// Asserts that the connection still serves.
    pub fn goes_on(&mut self) {
        assert_eq!(self.get("/a.txt").body, b"alpha");
    }

    fn more(&mut self) -> usize {
        let mut buffer = [0; 64 * 1024];
        let count = match self.stream.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return self.more(),
            Err(error) => panic!("nothing came in {PATIENCE:?}: {error}"),
        };
        self.received.extend_from_slice(&buffer[..count]);
        count
    }
}

impl Response {
    /// The value of a field that may be missing, but not repeated.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} twice");
        value
    }

    /// The value of a field that must not be missing.
    pub fn expect(&self, name: &str) -> &str {
        self.field(name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// Pseudo-random bytes, the same for each call.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
