//! A server that sends back what it is sent, a thread for each connection, under load from a kernel thread of this process.
//!
//! `share` is the part of the connections that live on the worker with most of them: 50 of two workers is even.

use super::runtime;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::tokio_echo;
use anyhow::{Context, Result, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "echo",
    about: "64, or 1000, connections to an echo server with a thread for each; each sends 16 bytes again as soon as they have come back; ns of wall \
            time for each message; share: % of the connections on the worker that has most of them",
    workers: &[2],
    size: Size::UntilTakes { first: 10_000, goal: Duration::from_secs(1) },
    runs: 7,
    variants: &[Variant::ours("lamprey", lamprey), Variant::rival("tokio", tokio_echo::echo)],
};

/// Numbers of connections.
pub const CROWDS: [usize; 2] = [64, 1000];
/// Length of a message.
pub const MESSAGE: usize = 16;
/// No answer for this long is a hung server.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connections that have greeted the server.
pub struct Clients {
    poll: Poll,
    streams: Vec<TcpStream>,
}

impl Clients {
    /// So many, each of which has had its first answer.
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

    /// Sends `messages` over all of them, until the last has come back.
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

/// The samples of a server for each of [`CROWDS`], which `start` starts.
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

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    let lives: Arc<Vec<[AtomicUsize; 2]>> = Arc::new((0..workers).map(|_| Default::default()).collect());
    let mut crowds = 0..;
    let mut clients = runner(|| {
        let (crowd, lives) = (crowds.next().unwrap_or_default(), lives.clone());
        let (says, address) = mpsc::channel();
        runtime.run(move || drop(lamprey::spawn(move || serve(&says, &lives, crowd))));
        Ok(address.recv()?)
    })?;
    Ok(Box::new(move |messages| {
        let _serves = &runtime;
        let mut samples = samples(&mut clients, messages)?;
        for (crowd, connections) in CROWDS.iter().enumerate() {
            let most = lives.iter().map(|worker| worker[crowd].load(Ordering::Relaxed)).max().unwrap_or(0);
            samples.push(Sample::new(
                &format!("share_{connections}"),
                "%",
                100.0 * most as f64 / *connections as f64,
            ));
        }
        Ok(samples)
    }))
}

fn serve(says: &mpsc::Sender<SocketAddr>, lives: &Arc<Vec<[AtomicUsize; 2]>>, crowd: usize) {
    let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    says.send(listener.local_addr().expect("it is bound")).expect("the bench waits for it");
    for stream in listener.incoming() {
        let (mut stream, lives) = (stream.expect("it is accepted"), lives.clone());
        let _ = stream.set_nodelay(true);
        drop(lamprey::spawn(move || {
            let worker = lamprey::current().worker().expect("a host");
            lives[worker][crowd].fetch_add(1, Ordering::Relaxed);
            let mut bytes = [0; 64];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                if stream.write_all(&bytes[..count]).is_err() {
                    return;
                }
            }
        }));
    }
}
