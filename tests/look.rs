//! `lamprey top`, `dump` and `record`, started as processes, on a program that is this one, and on endpoints that are none.

#[path = "look/foreign.rs"]
mod foreign;
#[path = "look/frames.rs"]
mod frames;
#[path = "look/terminal.rs"]
mod terminal;
#[path = "look/watching.rs"]
mod watching;

use lamprey::inspect::{Server, serve, serve_with_token};
use lamprey::{Builder, Runtime, channel};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const TOKEN: &str = "a-token-of-some-length";

fn lamprey() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lamprey"));
    command.stdin(Stdio::null()).env_remove("LAMPREY_TOKEN");
    command
}

fn run(arguments: &[&str]) -> Output {
    lamprey().args(arguments).output().unwrap()
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Asserts that the command ends with 1 after one line that holds all of `parts`.
#[track_caller]
fn failed(output: &Output, parts: &[&str]) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("lamprey: ") && text.lines().count() == 1, "{text}");
    parts.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in {text:?}"));
}

/// An endpoint of this process, where three hosts named `reader` wait for ever, two named `sleeper` sleep, and one joins them. It is the only one whose kernel thread has its name: those
/// of other tests are in processes of their own, or have a token.
fn endpoint() -> &'static str {
    static ENDPOINT: OnceLock<(Server, String)> = OnceLock::new();
    let (_, address) = ENDPOINT.get_or_init(|| {
        let (ready, is_ready) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            Runtime::builder().workers(1).build().unwrap().run(|| {
                let (tx, rx) = channel::<u32>();
                let readers = [(); 3].map(|()| {
                    let rx = rx.clone();
                    Builder::new().name("reader").spawn(move || rx.recv().ok()).unwrap()
                });
                let sleeper = |()| {
                    Builder::new()
                        .name("sleeper")
                        .spawn(|| lamprey::sleep(Duration::from_secs(1 << 30)))
                        .unwrap()
                };
                let sleepers = [(); 2].map(sleeper);
                // All wait, but this one, which will.
                while lamprey::inspect::threads().iter().filter(|row| row.wait().is_some()).count() < 5 {
                    lamprey::yield_now();
                }
                ready.send(()).unwrap();
                sleepers.into_iter().for_each(|sleeper| _ = sleeper.join());
                readers.into_iter().for_each(|reader| _ = reader.join());
                drop(tx);
            });
        });
        is_ready.recv().unwrap();
        let server = serve("127.0.0.1:0").unwrap();
        let address = server.addr().to_string();
        (server, address)
    });
    address
}

#[test]
fn a_dump_lists_the_threads_of_an_address_or_a_process() {
    let address = endpoint();
    for target in [address, &format!("http://{address}/")] {
        let text = succeeded(&run(&["dump", target]));
        assert!(text.contains("`reader`") && text.contains("receive on a channel"), "{target}: {text}");
    }
    assert!(succeeded(&run(&["dump", "--stuck", address])).contains("no threads that wait for each other"));
    // Another test of this process may have an endpoint, with a token: which of them a number finds is not said, nor that it is still there
    // when it is asked.
    let pid = std::process::id().to_string();
    let deadline = Instant::now() + Duration::from_secs(100);
    while !run(&["dump", &pid, "--token", TOKEN]).status.success() {
        assert!(Instant::now() < deadline, "process {pid} is not found");
    }
}

#[test]
fn a_recording_is_printed_or_saved_in_each_format() {
    assert!(succeeded(&run(&["record", endpoint()])).contains("`reader`"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let saved = run(&["record", endpoint(), "--format", "perfetto", "--out", file.to_str().unwrap()]);
    assert_eq!(succeeded(&saved), "");
    let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(!trace["traceEvents"].as_array().unwrap().is_empty());
    let why = run(&["record", endpoint(), "--why", "1"]);
    if why.status.success() {
        assert!(succeeded(&why).contains("ago"));
    } else {
        failed(&why, &["of this thread"]);
    }
    failed(&run(&["record", endpoint(), "--why", "999999999@0"]), &["nothing is recorded of this thread"]);
    let odd = run(&["record", endpoint(), "--why", "main"]);
    assert_eq!(odd.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&odd.stderr).contains("7@1"));
    let nowhere = folder.path().join("none").join("trace");
    failed(&run(&["record", endpoint(), "--out", nowhere.to_str().unwrap()]), &[nowhere.to_str().unwrap()]);
    // What this program is built without is said, and no file is left.
    let dial9 = folder.path().join("trace.bin");
    let output = run(&["record", endpoint(), "--format", "dial9", "--out", dial9.to_str().unwrap()]);
    if !output.status.success() {
        failed(&output, &["dial9", "404"]);
        assert!(!dial9.exists());
    }
}

#[test]
fn what_cannot_be_asked_is_told_with_its_value() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for command in ["top", "dump", "record"] {
        failed(&run(&[command, "nowhere"]), &["`nowhere`", "HOST:PORT"]);
        failed(&run(&[command, &free]), &[&free, "refused"]);
        failed(&run(&[command, "999999999"]), &["no process 999999999"]);
        let unknown = run(&[command, "--frob", endpoint()]);
        assert_eq!(unknown.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&unknown.stderr).contains("--frob"));
        assert_eq!(run(&[command]).status.code(), Some(2));
        assert!(succeeded(&run(&[command, "--help"])).contains("ADDR|PID"));
    }
    let bad = run(&["record", endpoint(), "--format", "gif"]);
    assert!(bad.status.code() == Some(2) && String::from_utf8_lossy(&bad.stderr).contains("gif"));
    let bad = run(&["top", endpoint(), "--delay", "0"]);
    assert!(bad.status.code() == Some(2) && String::from_utf8_lossy(&bad.stderr).contains("0.1"));
    failed(&run(&["top", endpoint()]), &["terminal", "--once"]);
}

#[test]
fn a_process_without_an_endpoint_is_told_how_else_to_look() {
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = child.id().to_string();
    let output = run(&["dump", &pid]);
    child.kill().unwrap();
    child.wait().unwrap();
    failed(&output, &[&pid, "inspect::serve", "kill -QUIT", "gdb"]);
}

#[test]
fn a_token_is_given_as_an_option_in_the_environment_or_in_the_address() {
    let server = serve_with_token("127.0.0.1:0", TOKEN).unwrap();
    let address = server.addr().to_string();
    let in_address = |token: &str| format!("http://{address}/?token={token}");
    let with_variable = |token: &str, target: &str| {
        lamprey().args(["dump", target]).env("LAMPREY_TOKEN", token).output().unwrap()
    };
    let wrong = "another-token-of-some";
    let ways = ["--token TOKEN", "LAMPREY_TOKEN", &in_address("TOKEN")];
    for command in [&["dump"][..], &["record"], &["top", "--once"], &["top"]] {
        let none = run(&[command, &[&address]].concat());
        failed(&none, &[&["wants a token", "none was given"][..], &ways].concat());
        let bad = run(&[command, &[&address, "--token", wrong]].concat());
        failed(&bad, &[&["the token in --token is wrong"][..], &ways].concat());
        assert!(!String::from_utf8_lossy(&bad.stderr).contains(wrong), "{bad:?}");
    }
    failed(&run(&["dump", &in_address(wrong)]), &["the token in the address is wrong"]);
    failed(&with_variable(wrong, &address), &["the token in the variable LAMPREY_TOKEN is wrong"]);
    failed(&run(&["dump", &address, "--token", "a token"]), &["--token", "characters"]);
    // What is written counts more than the environment.
    succeeded(&with_variable(wrong, &in_address(TOKEN)));
    succeeded(&run(&["dump", &address, "--token", TOKEN]));
    succeeded(&run(&["dump", &in_address(TOKEN)]));
    succeeded(&with_variable(TOKEN, &address));
}

/// An endpoint that answers `body` to everything.
fn strange(body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let head =
                BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            head.for_each(drop);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nLamprey-Endpoint: 1\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    address
}

/// Of another version, another system, or none.
#[test]
fn fields_that_are_missing_or_of_another_kind_are_left_out() {
    for body in [
        "{}",
        "[]",
        r#"{"system":"picothreads","threads":"7","workers":null,"states":[],"runtimes":[{"workers":[{"id":"c-1","ready":null}]}],"groups":[{"count":3}]}"#,
        r#"{"groups":[{"key":7,"count":-1,"names":null,"site":{},"oldest_ns":1.5,"blockers":[{"id":1},"text",null]}],"delay":{}}"#,
    ] {
        succeeded(&run(&["top", "--once", &strange(body).to_string()]));
    }
    let text = succeeded(&run(&["top", "--once", &strange(r#"{"program":"a\u001b[2Jb"}"#).to_string()]));
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let address = strange("<html>").to_string();
    failed(&run(&["top", "--once", &address]), &[&address, "no JSON"]);
}
