//! Programs that listen, and programs that connect.

use crate::common::{FOREVER, within};
use crate::{Running, example, fed, text};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A program that listens, and its address.
fn server(name: &str, arguments: &[&str]) -> (Running, String) {
    let mut command = example(name);
    command.arg("127.0.0.1:0").args(arguments);
    let mut running = Running::start(command);
    let address = running.address();
    (running, address)
}

/// A connection that gives up rather than hang.
fn connect(address: &str) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(FOREVER)).unwrap();
    BufReader::new(stream)
}

fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

fn say(stream: &BufReader<TcpStream>, text: &str) {
    writeln!(stream.get_ref(), "{text}").unwrap();
}

#[test]
fn who_chats_hears_the_others() {
    let (chat, address) = server("chat", &[]);
    let (mut ann, mut bob) = (connect(&address), connect(&address));
    assert_eq!([line(&mut ann), line(&mut bob)], ["your name?"; 2]);
    say(&ann, "Ann");
    say(&bob, "Bob");
    // Bob says it until Ann has heard it: she may be in the room later than he is.
    let heard = Arc::new(AtomicBool::new(false));
    let has_heard = heard.clone();
    let listens = thread::spawn(move || {
        while line(&mut ann) != "Bob: hi" {}
        has_heard.store(true, Ordering::SeqCst);
        ann
    });
    while !heard.load(Ordering::SeqCst) {
        say(&bob, "hi");
        thread::sleep(Duration::from_millis(2));
    }
    let mut ann = listens.join().unwrap();
    say(&ann, "bye");
    // Not closed while there is something to read: that would reset the connection, and nobody would hear it.
    ann.get_ref().shutdown(Shutdown::Write).unwrap();
    ann.read_to_end(&mut Vec::new()).unwrap();
    while line(&mut bob) != "Ann: bye" {} // and nothing of his own
    assert_eq!(line(&mut bob), "Ann: has gone");
    chat.signal("INT");
    assert_eq!(chat.end(), "the room is closed\n");
}

/// A server that greets with its name until it is told to end.
fn greeter(name: &'static str) -> (SocketAddr, impl FnOnce()) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, over) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
    let is_over = over.clone();
    let greets = thread::spawn(move || {
        for stream in listener.incoming() {
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            let _ = stream.unwrap().write_all(name.as_bytes()); // an error: a health check
        }
    });
    let end = move || {
        over.store(true, Ordering::SeqCst);
        TcpStream::connect(address).unwrap();
        greets.join().unwrap();
    };
    (address, end)
}

#[test]
fn the_proxy_goes_round_those_that_are_up() {
    let ((one, end_one), (two, end_two)) = (greeter("one"), greeter("two"));
    let (mut proxy, address) = server("proxy", &[&one.to_string(), &two.to_string()]);
    let ask = || {
        let mut answer = String::new();
        connect(&address).read_to_string(&mut answer).map(|_| answer)
    };
    let mut seen = BTreeSet::new();
    while seen.len() < 2 {
        // An error, or nothing: no backend was up yet.
        seen.extend(ask().ok().filter(|answer| !answer.is_empty()));
    }
    assert_eq!(seen, BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    end_one();
    assert_eq!(proxy.until("is down"), format!("{one} is down"));
    (0..5).for_each(|_| assert_eq!(ask().unwrap(), "two"));
    end_two();
    proxy.until(&format!("{two} is down"));
    let _ = ask(); // is hung up on
    proxy.until("no backend is up");
    proxy.signal("INT");
    proxy.end();
}

#[test]
fn the_server_ends_when_the_conversations_have() {
    let (mut server, address) = server("graceful", &["1000"]);
    let mut talk = connect(&address);
    say(&talk, "hello");
    assert_eq!(line(&mut talk), "HELLO");
    server.signal("TERM");
    server.until("no new connections");
    say(&talk, "more");
    assert_eq!(line(&mut talk), "MORE");
    drop(talk);
    assert_eq!(server.end(), "2 lines; 1 conversations ended, 0 cut off\n");
}

#[test]
fn the_server_cuts_off_those_that_take_too_long() {
    let (mut server, address) = server("graceful", &["0.02"]);
    let mut talk = connect(&address);
    say(&talk, "hello");
    assert_eq!(line(&mut talk), "HELLO");
    server.signal("INT");
    server.until("no new connections");
    assert_eq!(server.end(), "1 lines; 0 conversations ended, 1 cut off\n");
    assert_eq!(line(&mut talk), "", "it was hung up on");
}

/// A server for so many requests: each page is as long as its path; the counter counts.
fn pages(count: usize, counter: Arc<AtomicUsize>) -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serves = thread::spawn(move || {
        for stream in listener.incoming().take(count) {
            let mut stream = BufReader::new(stream.unwrap());
            let request = line(&mut stream);
            while !line(&mut stream).is_empty() {}
            counter.fetch_add(1, Ordering::SeqCst);
            let path = request.split(' ').nth(1).unwrap();
            let status = if path == "/missing" { "404 Not Found" } else { "200 OK" };
            write!(stream.get_mut(), "HTTP/1.0 {status}\r\nA: b\r\n\r\n{path}").unwrap();
        }
    });
    (address, serves)
}

#[test]
fn pages_are_fetched_no_faster_than_is_said() {
    let counter = Arc::new(AtomicUsize::new(0));
    let (address, serves) = pages(6, counter.clone());
    let mut command = example("fetch");
    command.args(["50", &address.to_string(), "/", "/a", "/missing", "/ab", "/abc", "/abcd"]);
    let begun = Instant::now();
    let output = fed(command, "");
    assert!(begun.elapsed() >= Duration::from_millis(5 * 20), "five of them had to wait");
    assert!(output.status.success());
    let output = text(&output.stdout);
    let lines: Vec<_> =
        output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = ["200 1 /", "200 2 /a", "404 8 /missing", "200 3 /ab", "200 4 /abc", "200 5 /abcd"];
    assert_eq!(lines[..6], expected);
    assert!(lines[6].starts_with("6 pages in "));
    within(FOREVER, move || serves.join().unwrap());
    assert_eq!(counter.load(Ordering::SeqCst), 6);
}

#[test]
fn a_server_that_is_gone_is_no_disaster() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = example("fetch");
    command.args(["1000", &gone.to_string(), "/a"]);
    let output = fed(command, "");
    assert!(
        output.status.success() && text(&output.stdout).starts_with("--- /a: "),
        "{}",
        text(&output.stdout)
    );
}
