//! What tokio's context costs on Lamprey's threads, beside the same on tokio: for each poll, for each wake from the other runtime's thread,
//! for each request of reqwest.
//!
//! `cargo run --release --example tokio_cost -- [ROUNDS]`
//!
//! One worker on either side. Each figure is the best of 15 runs, because other programs can only add to it. A wake leads to another kernel thread and back, so it depends on where the
//! kernel runs the two.

use reqwest::Client;
use std::future::{Future, poll_fn};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::ExitCode;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// Ready after so many polls; wakes itself in each.
async fn polls(count: u32) {
    for _ in 0..count {
        let mut is_second = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut is_second, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// A task on tokio's thread sends each number back; `rounds` of them.
async fn round_trips(handle: Handle, rounds: u32) {
    let (there, mut arrived) = mpsc::channel(1);
    let (back, mut returned) = mpsc::channel(1);
    handle.spawn(async move {
        while let Some(n) = arrived.recv().await {
            let _ = back.send(n).await;
        }
    });
    for n in 0..rounds {
        there.send(n).await.expect("the task receives");
        assert_eq!(returned.recv().await, Some(n));
    }
}

async fn requests(client: Client, page: String, rounds: u32) {
    for _ in 0..rounds {
        let response = client.get(&page).send().await.expect("the server answers");
        assert_eq!(response.bytes().await.expect("its body").len(), 5);
    }
}

/// A server with a kernel thread for each connection.
fn serve() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let page = format!("http://{}/", listener.local_addr()?);
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.set_nodelay(true);
            thread::spawn(move || {
                // The client sends one request at a time, in one piece.
                while let Ok(1..) = stream.read(&mut [0; 4096]) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
                }
            });
        }
    });
    Ok(page)
}

fn best(run: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(run).take(15).min().unwrap_or_default()
}

/// The time of a future on a host, on a host in tokio's context, and in a task of tokio.
fn row<F: Future<Output = ()> + Send + 'static>(name: &str, rounds: u32, make: impl Fn() -> F, bare: bool) {
    let on_host = bare.then(|| {
        best(|| {
            let begun = Instant::now();
            lamprey::wait(make());
            begun.elapsed()
        })
    });
    let in_context = best(|| {
        let future = make();
        let begun = Instant::now();
        lamprey_compat::tokio(future).wait();
        begun.elapsed()
    });
    let own = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let own = own.expect("a kernel thread");
    let in_task = best(|| {
        let future = make();
        let timed = async move {
            let begun = Instant::now();
            future.await;
            begun.elapsed()
        };
        lamprey::wait(own.spawn(timed)).expect("it does not panic")
    });
    lamprey::block(move || drop(own));
    let each = |time: Duration| format!("{:.1} ns", time.as_nanos() as f64 / f64::from(rounds));
    let on_host = on_host.map_or("-".to_owned(), each);
    println!("| {name} | {on_host} | {} | {} |", each(in_context), each(in_task));
}

fn main() -> ExitCode {
    let Ok(rounds @ 10..) = std::env::args().nth(1).as_deref().unwrap_or("20000").parse::<u32>() else {
        eprintln!("usage: tokio_cost [ROUNDS], at least 10");
        return ExitCode::from(2);
    };
    rustls::crypto::ring::default_provider().install_default().expect("this is the only call");
    let page = serve().expect("a server on a port of this machine");
    let runtime = lamprey::Runtime::builder().workers(1).build().expect("a worker");
    runtime.run(|| {
        let tokio = lamprey_compat::tokio::handle().expect("a kernel thread for tokio");
        println!("| each | host | host in tokio's context | task of tokio |\n|---|---|---|---|");
        row("poll", rounds * 10, || polls(rounds * 10), true);
        row(
            "message to a task on the thread `lamprey-tokio`, and back",
            rounds,
            || round_trips(tokio.clone(), rounds),
            true,
        );
        let requests = || {
            let client = Client::builder().no_proxy().build().expect("a client");
            requests(client, page.clone(), rounds / 10)
        };
        row("request of reqwest, kept alive", rounds / 10, requests, false);
    });
    ExitCode::SUCCESS
}
