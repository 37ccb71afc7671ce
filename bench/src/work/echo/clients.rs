//! The clients' process: one kernel thread, one epoll instance, and many connections.

use super::MESSAGE;
use crate::harness::{Sample, usage, worker};
use anyhow::{Context, Result, bail, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The time without an answer after which the server counts as hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connects, and exchanges messages as often as the parent orders it.
pub fn serve_orders(server: SocketAddr, connections: usize) -> Result<()> {
    let mut clients = None;
    worker::serve(io::stdin().lock(), io::stdout(), move |messages| {
        let clients = match &mut clients {
            Some(clients) => clients,
            none => none.insert(Clients::new(server, connections)?),
        };
        let (begun, used) = (Instant::now(), usage::processor_time()?);
        let took = clients.exchange(messages)?;
        let busy = usage::processor_time()?.saturating_sub(used);
        Ok(vec![
            Sample::ns_each("message", took, messages),
            Sample::new("client", "%", usage::percent(busy, begun.elapsed())),
        ])
    })
}

/// Connections that have had their first answer.
struct Clients {
    poll: Poll,
    connections: Vec<Connection>,
}

/// A connection, and its message: no two are alike.
struct Connection {
    stream: TcpStream,
    message: [u8; MESSAGE],
    number: u64,
    /// How many bytes of the message have come back.
    back: usize,
}

impl Clients {
    fn new(server: SocketAddr, connections: usize) -> Result<Self> {
        let poll = Poll::new().context("epoll")?;
        let mut all = Vec::with_capacity(connections);
        for at in 0..connections {
            let mut connection = Connection::new(server, at)?;
            poll.registry().register(&mut connection.stream, Token(at), Interest::READABLE)?;
            all.push(connection);
        }
        Ok(Self { poll, connections: all })
    }

    /// Sends `messages` over all connections, until the last one has come back.
    fn exchange(&mut self, messages: u64) -> Result<Duration> {
        let begun = Instant::now();
        let (mut unsent, mut unanswered) = (messages, messages);
        for connection in &mut self.connections {
            connection.send(&mut unsent)?;
        }
        let mut events = Events::with_capacity(1024);
        while unanswered > 0 {
            match self.poll.poll(&mut events, Some(PATIENCE)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other.context("epoll")?,
            }
            ensure!(!events.is_empty(), "nothing came back for {PATIENCE:?}");
            for event in &events {
                let connection = &mut self.connections[event.token().0];
                if connection.receive()? {
                    unanswered -= 1;
                    connection.send(&mut unsent)?;
                }
            }
        }
        Ok(begun.elapsed())
    }
}

impl Connection {
    fn new(server: SocketAddr, at: usize) -> Result<Self> {
        let mut stream = std::net::TcpStream::connect(server).context("connect")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let message = std::array::from_fn(|byte| (at * 31 + byte) as u8);
        stream.write_all(&message)?;
        let mut answer = [0; MESSAGE];
        stream.read_exact(&mut answer).context("the first answer")?;
        ensure!(answer == message, "the first answer is not the message");
        stream.set_nonblocking(true)?;
        Ok(Self { stream: TcpStream::from_std(stream), message, number: 0, back: 0 })
    }

    /// Sends the next message, unless all have been sent.
    fn send(&mut self, unsent: &mut u64) -> Result<()> {
        if *unsent > 0 {
            *unsent -= 1;
            self.number += 1;
            self.back = 0;
            self.message[..8].copy_from_slice(&self.number.to_ne_bytes());
            // An idle connection has room for a message.
            ensure!(self.stream.write(&self.message)? == MESSAGE, "a message was cut");
        }
        Ok(())
    }

    /// Reads what has arrived. Returns whether the message is complete.
    ///
    /// The events are edges: what follows a read that did not fill the buffer is a new one.
    fn receive(&mut self) -> Result<bool> {
        let mut bytes = [0; MESSAGE + 1];
        let count = match self.stream.read(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Ok(0) => bail!("the server closed a connection"),
            read => read?,
        };
        let awaited = &self.message[self.back..];
        ensure!(awaited.starts_with(&bytes[..count]), "what came back is not what was sent");
        self.back += count;
        Ok(self.back == MESSAGE)
    }
}
