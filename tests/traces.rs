//! The scheduler and the servers of `examples/trace_scheduler.rs`, asked by many clients at a time.

#[path = "../examples/trace_scheduler.rs"]
mod trace_scheduler;

use lamprey::trace::{self, fork, lock, nbio, throw, unlock, yield_};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use trace_scheduler::{Scheduler, echo, send_file, serve};

/// Long enough for a loaded machine: reaching it is a failure, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// An echo server and a file server, of this package's folder, in a scheduler that is never ended.
fn servers() -> (SocketAddr, SocketAddr) {
    let (echoes, files) = (listener(), listener());
    let addresses = (echoes.local_addr().unwrap(), files.local_addr().unwrap());
    let dir: Arc<Path> = Path::new(env!("CARGO_MANIFEST_DIR")).into();
    std::thread::spawn(|| {
        Scheduler::run(2, async move {
            fork(serve(echoes, echo)).await;
            serve(files, move |stream| send_file(Arc::clone(&dir), stream)).await;
        })
    });
    addresses
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn fetch(address: SocketAddr, name: &str) -> Vec<u8> {
    let mut stream = connect(address);
    stream.write_all(name.as_bytes()).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    all
}

#[test]
fn many_connections_are_echoed() {
    let (echoes, _) = servers();
    let mut clients: Vec<_> = (0..200).map(|_| connect(echoes)).collect();
    for round in 0..5 {
        for (n, client) in clients.iter_mut().enumerate() {
            client.write_all(format!("{round} {n};").as_bytes()).unwrap();
        }
    }
    for (n, mut client) in clients.into_iter().enumerate() {
        client.shutdown(Shutdown::Write).unwrap();
        let mut all = String::new();
        client.read_to_string(&mut all).unwrap();
        assert_eq!(all, (0..5).map(|round| format!("{round} {n};")).collect::<String>());
    }
}

#[test]
fn more_than_the_sockets_hold_is_echoed() {
    let (echoes, _) = servers();
    let sent: Vec<u8> = (0..8_000_000u32).map(|n| (n % 251) as u8).collect();
    let (mut client, theirs) = (connect(echoes), sent.clone());
    let mut writer = client.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        writer.write_all(&theirs).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
    writer.join().unwrap();
    assert!(all == sent, "{} of {} bytes, or others", all.len(), sent.len());
}

#[test]
fn files_come_whole_and_errors_are_said() {
    let (_, files) = servers();
    let lock = std::fs::read("Cargo.lock").unwrap();
    let clients: Vec<_> = (0..20).map(|_| std::thread::spawn(move || fetch(files, "Cargo.lock\n"))).collect();
    for client in clients {
        assert!(client.join().unwrap() == lock);
    }
    let table = [
        ("nix\n", "error: No such file"),
        ("../secret\n", "error: not a name within"),
        ("/etc/passwd\n", "error: not a name within"),
        (&*"x".repeat(4352), "error: no name of a file"),
        ("src\n", "error: Is a directory"),
    ];
    for (name, answer) in table {
        let text = String::from_utf8(fetch(files, name)).unwrap();
        assert!(text.starts_with(answer), "{name:?}: {text}");
    }
}

#[test]
fn a_scheduler_ends_with_its_last_thread() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    let (tx, rx) = lamprey::bounded(2);
    Scheduler::run(3, async move {
        let mutex = trace::Mutex::new();
        for n in 0..100 {
            let (tx, mutex) = (tx.clone(), Arc::clone(&mutex));
            fork(async move {
                lock(&mutex).await;
                yield_().await;
                unlock(&mutex).await;
                tx.send_async(n).await.unwrap();
            })
            .await;
        }
        drop(tx);
        let mut sum = 0;
        while let Ok(n) = rx.recv_async().await {
            sum += n;
        }
        nbio(|| DONE.store(sum, Ordering::Relaxed)).await;
    })
    .unwrap();
    assert_eq!(DONE.load(Ordering::Relaxed), 4950);
}

#[test]
fn threads_that_panic_and_throw_end_alone() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    Scheduler::run(2, async {
        for n in 0..30 {
            fork(async move {
                yield_().await;
                match n % 3 {
                    0 => panic!("one of the panics of this test"),
                    1 => throw("one of the exceptions of this test").await,
                    _ => trace::blio(|| assert!(n > 2, "one of the panics of this test")).await,
                }
                DONE.fetch_add(1, Ordering::Relaxed);
            })
            .await;
        }
    })
    .unwrap();
    assert_eq!(DONE.load(Ordering::Relaxed), 9);
}
