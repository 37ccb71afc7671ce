//! What children read and write.

use crate::common::*;
use lamprey::process::{Command, Stdio};
use lamprey::{scope, spawn, wait};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};

#[test]
fn a_megabyte_goes_in_and_out() {
    run(1, || {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let bytes = pattern(1 << 20);
        let mut stdin = child.stdin.take().unwrap();
        let writer = spawn({
            let bytes = bytes.clone();
            move || stdin.write_all(&bytes)
        });
        let mut back = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut back).unwrap();
        assert!(back == bytes);
        writer.join().unwrap().unwrap();
        assert!(child.wait().unwrap().success());
    });
}

#[test]
fn both_outputs_are_collected_at_once() {
    run(1, || {
        // It fills one pipe, then the other.
        let script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
        let output = Command::new("sh").args(["-c", script]).output().unwrap();
        assert_eq!((output.stdout.len(), output.stderr.len()), (300_000, 600_000));
    });
}

#[test]
fn wait_closes_the_input() {
    run(1, || {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(child.wait().unwrap().success());
        let child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(child.wait_with_output().unwrap().status.success());
    });
}

#[test]
fn a_child_that_does_not_read_breaks_the_pipe() {
    run(1, || {
        let mut child = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(stdin.write_all(b"nobody").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn children_form_a_pipeline() {
    run(1, || {
        let mut numbers = Command::new("seq").args(["1", "1000"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut evens = Command::new("grep");
        let evens = evens.arg("[02468]$").stdin(numbers.stdout.take().unwrap()).stdout(Stdio::piped());
        let evens = evens.spawn().unwrap();
        let output = evens.wait_with_output().unwrap();
        assert_eq!(output.stdout.split(|&byte| byte == b'\n').count(), 501);
        assert!(numbers.wait().unwrap().success());
    });
}

#[test]
fn a_conversation_of_lines() {
    run(1, || {
        let mut child = Command::new("sh")
            .args(["-c", "while read line; do echo got $line; done"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for number in 0..100 {
            writeln!(stdin, "{number}").unwrap();
            assert_eq!(lines.next().unwrap().unwrap(), format!("got {number}"));
        }
        drop(stdin);
        assert!(lines.next().is_none());
        assert!(child.wait().unwrap().success());
    });
}

#[test]
fn a_hundred_at_once_in_async_code() {
    run(2, || {
        scope(|s| {
            for number in 0..100 {
                s.spawn(move || {
                    let output = wait(Command::new("echo").arg(number.to_string()).output_async()).unwrap();
                    assert_eq!(output.stdout, format!("{number}\n").into_bytes());
                });
            }
        });
    });
}
