//! An echo server with a thread for each connection, under load from another process.
//!
//! `share` is the part of the connections that are on the worker with the most: with two workers 50 is even.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Sample, Size, Variant, cores};
use crate::rivals::{go_echo, may_echo, monoio_echo, tokio_echo};
use crate::work::echo::{self, Load, MESSAGE, crowds};
use anyhow::Result;
use lamprey::net::{TcpListener, TcpStream};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "echo",
    about: "64, or 10,000, connections from another process to an echo server with a thread for each; each sends 1 KB again as soon as that \
            has come back; ns of wall time for each message; client: % of the time that the clients computed; share: % of the \
            connections on the worker that has most of them",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 100_000, goal: Duration::from_secs(1) },
    runs: 7,
    variants: &[
        Variant::ours("hosts", hosts).io("epoll"),
        Variant::ours("hosts_uring", hosts).io("uring"),
        Variant::ours("hosts_ahead", hosts_ahead).io("uring"),
        Variant::ours("parasites", parasites).io("epoll"),
        Variant::ours("parasites_uring", parasites).io("uring"),
        Variant::rival("tokio", tokio_echo::echo),
        Variant::rival("may", may_echo::echo),
        Variant::rival("monoio", monoio_echo::echo),
        Variant::rival_around("go", "go", go_echo::echo),
    ],
};

/// How many connections of each crowd live on each worker.
type Lives = Arc<Vec<[AtomicUsize; 2]>>;

fn hosts(workers: usize) -> Result<Runner> {
    on_hosts(workers, false)
}

/// The kernel receives before it is asked.
fn hosts_ahead(workers: usize) -> Result<Runner> {
    on_hosts(workers, true)
}

fn on_hosts(workers: usize, ahead: bool) -> Result<Runner> {
    cores::serve(workers)?;
    let runtime = runtime(workers)?;
    let lives: Lives = Arc::new((0..workers).map(|_| Default::default()).collect());
    let mut numbers = 0..;
    let mut load = Load::start(workers, || {
        let (crowd, lives) = (numbers.next().unwrap_or_default(), lives.clone());
        listen(&runtime, move |stream| {
            let lives = lives.clone();
            stream.set_read_ahead(ahead);
            drop(lamprey::spawn(move || {
                let worker = lamprey::current().worker().expect("a host");
                // Relaxed: only a count.
                lives[worker][crowd].fetch_add(1, Ordering::Relaxed);
                echoes(stream);
            }));
        })
    })?;
    Ok(Box::new(move |messages| {
        let _serves = &runtime;
        let mut samples = load.run(messages)?;
        for (crowd, connections) in crowds().into_iter().enumerate() {
            // Relaxed: the clients' answers came after what they count, and the figure may be one off.
            let most = lives.iter().map(|worker| worker[crowd].load(Ordering::Relaxed)).max().unwrap_or(0);
            let share = 100.0 * most as f64 / connections as f64;
            samples.push(Sample::new(&format!("share_{connections}"), "%", share));
        }
        Ok(samples)
    }))
}

fn parasites(workers: usize) -> Result<Runner> {
    cores::serve(workers)?;
    echo::runner(workers, runtime(workers)?, |runtime| {
        listen(runtime, |stream| lamprey::parasite(echoes_async(stream)).detach())
    })
}

/// Starts a host that accepts connections, for ever. Returns its address.
fn listen(
    runtime: &lamprey::Runtime,
    mut accepted: impl FnMut(TcpStream) + Send + 'static,
) -> Result<SocketAddr> {
    let (says, address) = mpsc::channel();
    let accepts = move || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        says.send(listener.local_addr().expect("it is bound")).expect("the bench waits for it");
        for stream in listener.incoming() {
            let stream = stream.expect("it is accepted");
            let _ = stream.set_nodelay(true);
            accepted(stream);
        }
    };
    runtime.run(|| drop(lamprey::spawn(accepts)));
    Ok(address.recv()?)
}

fn echoes(mut stream: TcpStream) {
    let mut bytes = [0; MESSAGE];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        if stream.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

async fn echoes_async(stream: TcpStream) {
    let mut bytes = [0; MESSAGE];
    while let Ok(count @ 1..) = stream.read_async(&mut bytes).await {
        if stream.write_all_async(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
