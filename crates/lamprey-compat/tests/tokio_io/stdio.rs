//! Standard streams by tokio's traits, each test in a process of its own.

use crate::common::{again, role, run};
use lamprey::wait;
use lamprey_compat::Async;
use std::io::{Read, Write};
use std::pin::Pin;
use std::process::Stdio;
use std::task::Poll;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, ReadBuf};

/// Starts `test` of this file again; gives it `input` when it has written a line with `mark`; returns what it has written.
#[track_caller]
fn fed(test: &str, mark: &str, input: &str) -> String {
    let mut child = again(test, "child").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains(mark) {
        assert!(std::io::BufRead::read_line(&mut output, &mut text).unwrap() > 0, "{text}");
    }
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    output.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success(), "{text}");
    text
}

#[test]
fn lines_are_read_and_answered() {
    if role().is_some() {
        return run(2, || {
            let mut out = Async::new(lamprey::io::stdout());
            let mut lines = BufReader::new(Async::new(lamprey::io::stdin())).lines();
            wait(async {
                out.write_all(b"\nready\n").await?;
                while let Some(line) = lines.next_line().await? {
                    out.write_all(format!("got {line}").as_bytes()).await?;
                    // There is no end of a line yet: only the flush writes it.
                    out.flush().await?;
                    out.write_all(b"\n").await?;
                }
                out.write_all(b"the end\n").await?;
                out.shutdown().await
            })
            .unwrap();
        });
    }
    let text = fed("lines_are_read_and_answered", "ready", "one\ntwo\nthree");
    for line in ["got one", "got two", "got three", "the end"] {
        assert!(text.lines().any(|written| written == line), "{line}: {text}");
    }
}

#[test]
fn a_read_of_the_input_that_is_dropped_loses_nothing() {
    if role().is_some() {
        return run(1, || {
            let mut input = Async::new(lamprey::io::stdin());
            let mut buf = [0; 64];
            let pending = wait(std::future::poll_fn(|cx| {
                Poll::Ready(Pin::new(&mut input).poll_read(cx, &mut ReadBuf::new(&mut buf)).is_pending())
            }));
            assert!(pending);
            writeln!(lamprey::io::stdout(), "\nnothing yet").unwrap();
            let mut line = String::new();
            wait(BufReader::with_capacity(3, input).read_line(&mut line)).unwrap();
            writeln!(lamprey::io::stdout(), "\nread {line}").unwrap();
        });
    }
    let text = fed("a_read_of_the_input_that_is_dropped_loses_nothing", "nothing yet", "all of it\n");
    assert!(text.lines().any(|line| line == "read all of it"), "{text}");
}
