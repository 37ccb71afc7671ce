//! An echo server with a thread for each connection, under load from a kernel thread of this process.
//!
//! `share` is the part of the connections that are on the worker with the most: with two workers 50 is even.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::tokio_echo;
use crate::work::echo::{CROWDS, runner, samples};
use anyhow::Result;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

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
            // Relaxed: the clients' answers came after what they count, and the figure may be one off.
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
            // Relaxed: only a count.
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
