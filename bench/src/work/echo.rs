//! The clients of an echo server, for any server: a kernel thread of this process with many connections.

use crate::harness::Sample;
use anyhow::{Context, Result, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The numbers of connections.
pub const CROWDS: [usize; 2] = [64, 1000];
/// The length of a message.
pub const MESSAGE: usize = 16;
/// The time without an answer after which the server counts as hung.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connections that have had their first answer.
pub struct Clients {
    poll: Poll,
    streams: Vec<TcpStream>,
}

impl Clients {
    /// Opens this many connections and waits for the first answer on each.
    pub fn new(server: SocketAddr, connections: usize) -> Result<Self> {
        let poll = Poll::new().context("epoll")?;
        let mut streams = Vec::with_capacity(connections);
        for at in 0..connections {
            let mut stream = std::net::TcpStream::connect(server).context("connect")?;
            stream.set_nodelay(true)?;
            stream.write_all(&[0; MESSAGE])?;
            stream.read_exact(&mut [0; MESSAGE])?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(at), Interest::READABLE)?;
            streams.push(stream);
        }
        Ok(Self { poll, streams })
    }

    /// Sends `messages` over all connections, until the last one has come back.
    pub fn exchange(&mut self, messages: u64) -> Result<Duration> {
        let begun = Instant::now();
        let (mut unsent, mut unanswered) = (messages, messages);
        for stream in &mut self.streams {
            send(stream, &mut unsent)?;
        }
        let mut events = Events::with_capacity(self.streams.len());
        while unanswered > 0 {
            match self.poll.poll(&mut events, Some(PATIENCE)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other.context("epoll")?,
            }
            ensure!(!events.is_empty(), "nothing came back for {PATIENCE:?}");
            for event in &events {
                let stream = &mut self.streams[event.token().0];
                let mut bytes = [0; MESSAGE + 1];
                match stream.read(&mut bytes) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                    read => ensure!(read? == MESSAGE, "a message came back in pieces"),
                }
                unanswered -= 1;
                send(stream, &mut unsent)?;
            }
        }
        Ok(begun.elapsed())
    }
}

fn send(stream: &mut TcpStream, unsent: &mut u64) -> Result<()> {
    if *unsent > 0 {
        *unsent -= 1;
        ensure!(stream.write(&[1; MESSAGE])? == MESSAGE, "a message was cut");
    }
    Ok(())
}

/// Starts a server with `start` for each of [`CROWDS`], and connects to it.
pub fn runner(mut start: impl FnMut() -> Result<SocketAddr>) -> Result<Vec<Clients>> {
    CROWDS.iter().map(|&crowd| Clients::new(start()?, crowd)).collect()
}

/// Exchanges messages over each crowd in turn.
pub fn samples(clients: &mut [Clients], messages: u64) -> Result<Vec<Sample>> {
    let each = clients.iter_mut().zip(CROWDS);
    each.map(|(clients, crowd)| {
        let took = clients.exchange(messages)?;
        Ok(Sample::ns_each(&format!("message_{crowd}"), took, messages))
    })
    .collect()
}
