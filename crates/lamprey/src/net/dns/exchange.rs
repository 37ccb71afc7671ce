//! One question to one name server: over UDP, and over TCP if the answer does not fit into a datagram.
//!
//! Invariant: an answer counts only if it comes from the server (the socket is connected), and has the number and the question
//! that were sent. Each question has a socket, and so a port, of its own.

use crate::net::{TcpStream, UdpSocket};
use crate::sleep::with_timeout_async;
use crate::world;
use hickory_proto::op::{Message, MessageType, Query};
use hickory_proto::rr::{Name, RecordType};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// The most bytes of an answer over UDP that is asked for: none that is fragmented.
const MOST: usize = 1232;

/// Asks `server` for the records of this type.
///
/// # Errors
/// `TimedOut`; `InvalidData` for an answer over TCP that is none; those of the sockets.
pub(super) async fn ask(
    server: SocketAddr,
    name: &Name,
    record: RecordType,
    timeout: Duration,
) -> io::Result<Message> {
    let asking = async {
        let (question, bytes) = question(name, record)?;
        let answer = over_udp(server, &question, &bytes).await?;
        if answer.metadata.truncation { over_tcp(server, &question, &bytes).await } else { Ok(answer) }
    };
    let late = |_| {
        let text = format!("the name server {server} has not answered within {timeout:?}");
        io::Error::new(io::ErrorKind::TimedOut, text)
    };
    with_timeout_async(timeout, asking).await.map_err(late)?
}

fn question(name: &Name, record: RecordType) -> io::Result<(Message, Vec<u8>)> {
    let mut question = Message::query();
    question.metadata.id = number();
    question.metadata.recursion_desired = true;
    question.add_query(Query::query(name.clone(), record));
    let mut edns = hickory_proto::op::Edns::new();
    edns.set_max_payload(MOST as u16);
    question.set_edns(edns);
    let bytes = question.to_vec().map_err(io::Error::other)?;
    Ok((question, bytes))
}

/// A number that others cannot guess; in a simulation, chance's.
fn number() -> u16 {
    let simulated = world::with(|world| world.chance.below(1 << 16) as u16);
    simulated.unwrap_or_else(|| RandomState::new().hash_one(0) as u16)
}

async fn over_udp(server: SocketAddr, question: &Message, bytes: &[u8]) -> io::Result<Message> {
    let any = if server.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind_async((any, 0)).await?;
    socket.connect_async(server).await?;
    socket.send_async(bytes).await?;
    let mut buf = [0; MOST];
    loop {
        let received = socket.recv_async(&mut buf).await?;
        // Anything else may be forged, or late: the answer may still come.
        if let Ok(answer) = Message::from_vec(&buf[..received])
            && answers(&answer, question)
        {
            return Ok(answer);
        }
    }
}

async fn over_tcp(server: SocketAddr, question: &Message, bytes: &[u8]) -> io::Result<Message> {
    let stream = TcpStream::connect_async(server).await?;
    let length = u16::try_from(bytes.len()).map_err(io::Error::other)?;
    let whole = [&length.to_be_bytes()[..], bytes].concat();
    stream.write_all_async(&whole).await?;
    let mut length = [0; 2];
    stream.read_exact_async(&mut length).await?;
    let mut answer = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact_async(&mut answer).await?;
    let bad = |what| {
        let text = format!("the name server {server} has sent over TCP what is no answer{what}");
        io::Error::new(io::ErrorKind::InvalidData, text)
    };
    let answer = Message::from_vec(&answer).map_err(|error| bad(format!(": {error}")))?;
    if answers(&answer, question) { Ok(answer) } else { Err(bad(String::new())) }
}

fn answers(answer: &Message, question: &Message) -> bool {
    let is_same = |(a, q): (&Query, &Query)| {
        a.query_type() == q.query_type() && a.name().to_lowercase() == q.name().to_lowercase()
    };
    answer.metadata.id == question.metadata.id
        && answer.metadata.message_type == MessageType::Response
        && answer.queries.len() == question.queries.len()
        && answer.queries.iter().zip(&question.queries).all(is_same)
}
