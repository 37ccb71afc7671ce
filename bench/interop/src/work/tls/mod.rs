//! What the servers of the benches `tls_bulk` and `tls_handshakes` do, and their clients, which are a process of their own.
//!
//! A connection begins with an order: one byte that says what is wanted, and the number of bytes. With one worker the server has one core
//! and its clients another (`harness::cores`).

mod clients;
mod configuration;
mod runners;

pub use clients::serve_orders;
pub use configuration::server;
pub use runners::{bulk, handshakes};

use std::io::{self, Read, Write};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The length of what is written at a time, and of the buffer for reading.
pub const CHUNK: usize = 64 << 10;

/// The length of an order.
const ORDER: usize = 9;

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// So many bytes from the server.
    Send(u64),
    /// The server is to take so many bytes, and to answer with one.
    Receive(u64),
}

impl Order {
    fn bytes(self) -> [u8; ORDER] {
        let (what, count) = match self {
            Self::Send(count) => (b's', count),
            Self::Receive(count) => (b'r', count),
        };
        let mut bytes = [what; ORDER];
        bytes[1..].copy_from_slice(&count.to_be_bytes());
        bytes
    }

    fn read(bytes: [u8; ORDER]) -> io::Result<Self> {
        let [what, count @ ..] = bytes;
        let count = u64::from_be_bytes(count);
        match what {
            b's' => Ok(Self::Send(count)),
            b'r' => Ok(Self::Receive(count)),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("no order: {what}"))),
        }
    }
}

/// How many bytes of a chunk are to be sent.
fn part(left: u64) -> usize {
    left.min(CHUNK as u64) as usize
}

/// Does what a client wants, by blocking code.
pub fn obey(mut stream: impl Read + Write) -> io::Result<()> {
    let mut order = [0; ORDER];
    stream.read_exact(&mut order)?;
    let mut chunk = vec![7; CHUNK];
    match Order::read(order)? {
        Order::Send(mut left) => {
            while left > 0 {
                stream.write_all(&chunk[..part(left)])?;
                left -= part(left) as u64;
            }
        }
        Order::Receive(mut left) => {
            while left > 0 {
                left = match stream.read(&mut chunk)? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    read => left.saturating_sub(read as u64),
                };
            }
            stream.write_all(b"!")?;
        }
    }
    stream.flush()
}

/// Does what a client wants, by async code.
pub async fn obey_async(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut order = [0; ORDER];
    stream.read_exact(&mut order).await?;
    let mut chunk = vec![7; CHUNK];
    match Order::read(order)? {
        Order::Send(mut left) => {
            while left > 0 {
                stream.write_all(&chunk[..part(left)]).await?;
                left -= part(left) as u64;
            }
        }
        Order::Receive(mut left) => {
            while left > 0 {
                left = match stream.read(&mut chunk).await? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    read => left.saturating_sub(read as u64),
                };
            }
            stream.write_all(b"!").await?;
        }
    }
    stream.flush().await
}
