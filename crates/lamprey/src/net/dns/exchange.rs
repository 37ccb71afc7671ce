//! One question to one name server: over UDP, and over TCP if the answer does not fit into a datagram.
//!
//! Invariant: an answer counts only if it comes from the server (the socket is connected), and has the number and the question
//! that were sent. Each question has a socket, and so a port, of its own.
//!
//! The question has no extensions (EDNS): there are servers, and routers before them, that answer such a question with an error
//! or not at all. What does not fit into 512 bytes comes over TCP instead.

use super::reply::Reply;
use crate::net::{TcpStream, UdpSocket};
use crate::sleep::with_timeout_async;
use crate::world;
use hickory_proto::op::{Message, Query};
use hickory_proto::rr::{Name, RecordType};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// Room for an answer over UDP: more than a server may send. One that fills it may have been longer, and counts as cut off: the kernel
/// does not say whether it has left out the end of a datagram.
const ROOM: usize = 4096;

/// A question, and its bytes.
struct Question {
    message: Message,
    bytes: Vec<u8>,
}

/// Asks `server` for the records of this type. It has so long for an answer over UDP, and as long again over TCP.
///
/// # Errors
/// `TimedOut`; `InvalidData` for an answer over TCP that is none; those of the sockets.
pub(super) async fn ask(
    server: SocketAddr,
    name: &Name,
    record: RecordType,
    timeout: Duration,
    uses_tcp: bool,
) -> io::Result<Reply> {
    let question = question(name, record)?;
    if uses_tcp {
        return within(timeout, server, over_tcp(server, &question)).await;
    }
    let reply = within(timeout, server, over_udp(server, &question)).await?;
    if !reply.is_cut() {
        return Ok(reply);
    }
    match within(timeout, server, over_tcp(server, &question)).await {
        // Some addresses are better than none, where TCP does not pass.
        Err(_) if reply.is_final() && reply.addresses().next().is_some() => Ok(reply),
        whole => whole,
    }
}

async fn within<T>(
    timeout: Duration,
    server: SocketAddr,
    asking: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let late = |_| {
        let text = format!("the name server {server} has not answered within {timeout:?}");
        io::Error::new(io::ErrorKind::TimedOut, text)
    };
    with_timeout_async(timeout, asking).await.map_err(late)?
}

fn question(name: &Name, record: RecordType) -> io::Result<Question> {
    let mut message = Message::query();
    message.metadata.id = number();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name.clone(), record));
    let bytes = message.to_vec().map_err(io::Error::other)?;
    Ok(Question { message, bytes })
}

/// A number that others cannot guess; in a simulation, chance's.
fn number() -> u16 {
    let simulated = world::with(|world| world.chance.below(1 << 16) as u16);
    simulated.unwrap_or_else(|| RandomState::new().hash_one(0) as u16)
}

async fn over_udp(server: SocketAddr, question: &Question) -> io::Result<Reply> {
    let any = if server.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind_async((any, 0)).await?;
    socket.connect_async(server).await?;
    socket.send_async(&question.bytes).await?;
    let mut buf = vec![0; ROOM];
    loop {
        let received = socket.recv_async(&mut buf).await?;
        // Anything else may be forged, or late: the answer may still come.
        if let Some(reply) = reply_in(&buf[..received], question) {
            return Ok(if received == buf.len() { reply.cut() } else { reply });
        }
    }
}

async fn over_tcp(server: SocketAddr, question: &Question) -> io::Result<Reply> {
    let stream = TcpStream::connect_async(server).await?;
    let length = u16::try_from(question.bytes.len()).map_err(io::Error::other)?;
    let whole = [&length.to_be_bytes()[..], &question.bytes].concat();
    stream.write_all_async(&whole).await?;
    let mut length = [0; 2];
    stream.read_exact_async(&mut length).await?;
    let mut answer = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact_async(&mut answer).await?;
    reply_in(&answer, question).ok_or_else(|| {
        let text = format!("the name server {server} has sent over TCP what is no answer");
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

fn reply_in(bytes: &[u8], question: &Question) -> Option<Reply> {
    Reply::read(bytes).filter(|reply| reply.answers(&question.message))
}
