//! The clients, on OS threads, by rustls's own stream over std's sockets.

use super::configuration::client;
use super::{CHUNK, Order, part};
use anyhow::{Result, anyhow, ensure};
use bench_harness::{Sample, worker};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The time without an answer after which a server counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many make handshakes at a time.
const CROWD: u64 = 16;

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// Does the orders of a parent until its input ends: `bulk`, so many MiB each way, or `handshakes`, so many.
///
/// # Errors
/// If the parent cannot be understood or answered.
pub fn serve_orders(what: &str, server: SocketAddr) -> Result<()> {
    let config = client()?;
    let run: fn(SocketAddr, &Arc<ClientConfig>, u64) -> Result<Vec<Sample>> = match what {
        "bulk" => bulk,
        "handshakes" => handshakes,
        other => return Err(anyhow!("no load `{other}`: it is `bulk` or `handshakes`")),
    };
    worker::serve(io::stdin().lock(), io::stdout(), |n| run(server, &config, n))
}

fn connect(server: SocketAddr, config: &Arc<ClientConfig>) -> Result<Stream> {
    let socket = TcpStream::connect(server)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(StreamOwned::new(ClientConnection::new(config.clone(), ServerName::try_from("localhost")?)?, socket))
}

/// The samples are the seconds that the bytes took.
fn bulk(server: SocketAddr, config: &Arc<ClientConfig>, mebibytes: u64) -> Result<Vec<Sample>> {
    let bytes = mebibytes << 20;
    let mut chunk = vec![7; CHUNK];
    let mut stream = connect(server, config)?;
    let begun = Instant::now();
    stream.write_all(&Order::Send(bytes).bytes())?;
    let mut left = bytes;
    while left > 0 {
        let read = stream.read(&mut chunk)?;
        ensure!(read > 0 && chunk[..read].iter().step_by(4099).all(|byte| *byte == 7), "not what was sent");
        left = left.saturating_sub(read as u64);
    }
    let received = begun.elapsed();
    let mut stream = connect(server, config)?;
    let begun = Instant::now();
    stream.write_all(&Order::Receive(bytes).bytes())?;
    let mut left = bytes;
    while left > 0 {
        stream.write_all(&chunk[..part(left)])?;
        left -= part(left) as u64;
    }
    stream.read_exact(&mut chunk[..1])?;
    let sent = begun.elapsed();
    Ok(vec![
        Sample::new("send", "s", received.as_secs_f64()),
        Sample::new("receive", "s", sent.as_secs_f64()),
    ])
}

/// The sample is the seconds that all took: from a client's connection until its first byte from the server.
fn handshakes(server: SocketAddr, config: &Arc<ClientConfig>, count: u64) -> Result<Vec<Sample>> {
    let begun = Instant::now();
    let crowd: Vec<_> = (0..CROWD)
        .map(|client| {
            let config = config.clone();
            let mine = count / CROWD + u64::from(client < count % CROWD);
            thread::spawn(move || (0..mine).try_for_each(|_| greet(server, &config)))
        })
        .collect();
    for client in crowd {
        client.join().map_err(|_| anyhow!("a client has panicked"))??;
    }
    Ok(vec![Sample::new("handshakes", "s", begun.elapsed().as_secs_f64())])
}

fn greet(server: SocketAddr, config: &Arc<ClientConfig>) -> Result<()> {
    let mut stream = connect(server, config)?;
    stream.write_all(&Order::Send(1).bytes())?;
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    ensure!(byte == [7], "not what was sent");
    Ok(())
}
