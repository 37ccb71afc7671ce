//! Addresses at which somebody else answers: told clearly, in bounded time and memory.

use crate::{failed, lamprey};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

const HTML: &str = "<html>\n<head><title>404 Not Found</title></head>";

/// The address of a service that does `serve` with each connection on which something was asked.
fn service(serve: impl Fn(&mut TcpStream) -> std::io::Result<()> + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let serve = serve.clone();
            // Errors: the one who has asked is gone.
            thread::spawn(move || _ = stream.read(&mut [0; 4096]).and_then(|_| serve(&mut stream)));
        }
    });
    address
}

/// The commands that ask, for `address`, with little memory and patience.
fn ask(address: &str, timeout: &str) -> [Output; 3] {
    let program = env!("CARGO_BIN_EXE_lamprey");
    [&["top", "--once"][..], &["dump"], &["record"]].map(|arguments| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 1000000 && exec \"$@\"", "sh", program]).args(arguments);
        command.args([address, "--timeout", timeout]).env_remove("LAMPREY_TOKEN").output().unwrap()
    })
}

fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn another_service_is_told_with_what_it_has_said() {
    for (head, body, part) in [
        ("404 Not Found\r\nServer: nginx/1.22.1\r\nContent-Type: text/html", HTML, "nginx/1.22.1"),
        ("404 Not Found\r\nServer: nginx/1.22.1\r\nContent-Type: text/html", HTML, "404 Not Found"),
        ("200 OK\r\nContent-Type: text/html", HTML, "`<html> <head><title>404"),
        ("200 OK\r\nContent-Type: application/json", r#"{"status":"up"}"#, r#"`{"status":"up"}`"#),
        ("301 Moved Permanently\r\nLocation: https://example.org/", "", "https://example.org/"),
        ("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"", "no", "HTTP 401"),
        ("502 Bad Gateway", "", "HTTP 502"),
        ("200 OK", "\u{1b}[2J\u{7}", "HTTP 200"),
    ] {
        let whole = answer(head, body);
        let address = service(move |stream| stream.write_all(whole.as_bytes()));
        for output in ask(&address, "60") {
            let not_as = format!("{address} answers, but not as a Lamprey endpoint: ");
            failed(&output, &[&not_as, part, "lamprey::inspect::serve"]);
            assert!(!output.stderr.contains(&0x1b), "{output:?}");
        }
    }
}

#[test]
fn what_is_no_http_is_told() {
    for text in ["SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "-ERR unknown command\r\n", "\u{1}\u{2}\u{3}\r\n\r\n"]
    {
        let address = service(move |stream| stream.write_all(text.as_bytes()));
        for output in ask(&address, "60") {
            failed(&output, &[&address, "not as a Lamprey endpoint"]);
        }
    }
}

#[test]
fn bytes_without_end_end() {
    for (first, again) in [
        ("", "x"),
        ("HTTP/1.1 200 OK\r\nX: ", "x"),
        ("HTTP/1.1 200 OK\r\n", "X: y\r\n"),
        ("HTTP/1.1 200 OK\r\n\r\n", "x"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    ] {
        let address = service(move |stream| {
            stream.write_all(first.as_bytes())?;
            let many = again.repeat(10_000);
            loop {
                stream.write_all(many.as_bytes())?;
            }
        });
        for output in ask(&address, "60") {
            failed(&output, &[&address, "not as a Lamprey endpoint"]);
        }
    }
}

#[test]
fn who_says_nothing_or_little_is_not_waited_for() {
    for piece in ["", "X: y\r\n"] {
        let address = service(move |stream| {
            stream.write_all(if piece.is_empty() { b"" } else { b"HTTP/1.1 200 OK\r\n" })?;
            loop {
                thread::sleep(Duration::from_millis(50));
                stream.write_all(piece.as_bytes())?;
            }
        });
        for output in ask(&address, "1") {
            failed(&output, &[&address, "within 1s", "--timeout"]);
        }
    }
    let bad = lamprey().args(["dump", "127.0.0.1:1", "--timeout", "never"]).output().unwrap();
    assert!(bad.status.code() == Some(2) && String::from_utf8_lossy(&bad.stderr).contains("0.1 to 3600"));
}
