//! A client that fetches pages by HTTP, many at once, but begins no more than so many a second.
//!
//! Each page has a host. All of them wait for one rate limiter, in the order in which they came; the limit in time is around
//! all that one fetch does.
//!
//! ```sh
//! cargo run -p lamprey --example fetch -- 10 127.0.0.1:8080 / /index.html /missing
//! ```
//! The first argument is how many are begun a second. Without arguments it has a server of its own.

use lamprey::net::{TcpListener, TcpStream};
use lamprey::{RateLimiter, scope, spawn, with_timeout};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// The status and the length of a page.
fn get(server: &str, path: &str) -> io::Result<(u16, usize)> {
    let mut stream = TcpStream::connect(server)?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {server}\r\nConnection: close\r\n\r\n")?;
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no HTTP answer: {line:?}")))?;
    while line != "\r\n" && !line.is_empty() {
        line.clear();
        answer.read_line(&mut line)?;
    }
    Ok((status, answer.read_to_end(&mut Vec::new())?))
}

/// Fetches all paths; a line for each, in their order.
fn fetch_all(rate: u32, server: &str, paths: &[String]) -> Vec<String> {
    let limiter = RateLimiter::new(rate, Duration::from_secs(1)).with_burst(1);
    let fetch = |path: &String| {
        limiter.acquire(1);
        match with_timeout(PATIENCE, || get(server, path)) {
            Ok(Ok((status, bytes))) => format!("{status} {bytes:>8} {path}"),
            Ok(Err(error)) => format!("--- {path}: {error}"),
            Err(late) => format!("--- {path}: {late}"),
        }
    };
    let fetch = &fetch;
    scope::join_all(paths.iter().map(|path| move || fetch(path)))
}

/// Answers with pages as long as their names.
fn serve(listener: &TcpListener) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept_with_backoff()?;
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line)?;
        let path = line.split(' ').nth(1).unwrap_or_default();
        write!(stream, "HTTP/1.0 200 OK\r\n\r\n{path}")?;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    lamprey::run(|| {
        let (rate, server, paths) = match &*arguments {
            [rate, server, paths @ ..] if !paths.is_empty() => {
                (rate.parse().map_err(|error| format!("{rate}: {error}"))?, server.clone(), paths.to_vec())
            }
            [] => {
                let listener = TcpListener::bind("127.0.0.1:0")?;
                let server = listener.local_addr()?.to_string();
                spawn(move || serve(&listener));
                (100, server, (0..5).map(|n| format!("/page{n}")).collect())
            }
            _ => return Err("usage: fetch RATE SERVER:PORT PATH...".into()),
        };
        if rate == 0 {
            return Err("0 pages a second are none".into());
        }
        let begun = Instant::now();
        fetch_all(rate, &server, &paths).iter().for_each(|line| println!("{line}"));
        println!("{} pages in {:.1} s", paths.len(), begun.elapsed().as_secs_f64());
        Ok(())
    })
}
