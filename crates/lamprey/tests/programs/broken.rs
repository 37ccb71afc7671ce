//! The programs of `examples/broken`: what their reports say, and that programs which only wait get none.

use crate::common::{FOREVER, within};
use crate::{example, text};
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Programs that look like deadlocks, and are none.
const NONE: [&str; 9] =
    ["timer", "kernel-thread", "token", "call", "socket", "signal", "child", "second-runtime", "told"];

/// Runs one of them; a program that stands still is looked at after one second instead of four.
fn broken(arguments: &[&str]) -> Output {
    let mut command: Command = example("broken");
    command.args(arguments).env("LAMPREY_STUCK_AFTER", "30ms");
    within(FOREVER, move || command.output().unwrap())
}

/// Its standard error, after a deadlock that has ended it.
#[track_caller]
fn deadlock(name: &str, threads: &str) -> String {
    let output = broken(&[name]);
    let report = text(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{report}");
    assert!(!text(&output.stdout).contains("came to its end"), "{report}");
    let head = format!("lamprey: deadlock: {threads}, and nothing is under way");
    assert!(report.contains(&head), "{report}");
    report
}

#[track_caller]
fn has(report: &str, all: &[&str]) {
    for part in all {
        assert!(report.contains(part), "`{part}` is not in {report}");
    }
}

#[test]
fn a_ring_of_three_names_who_waits_and_where() {
    let report = deadlock("deadlock", "all 4 threads wait");
    has(&report, &["`first`", "`second`", "`third`", "and 2 others in the same way", "receive on a channel"]);
    has(
        &report,
        &[
            "host 3 `main`",
            "waits: join",
            "examples/broken/deadlock.rs:19\n",
            "examples/broken/deadlock.rs:14:",
            "pass_on",
        ],
    );
    assert!(!report.contains("lamprey/src/"), "the runtime's own calls are left out: {report}");
}

#[test]
fn two_locks_in_two_orders_name_their_holders() {
    let report = deadlock("locks", "all 3 threads wait");
    has(&report, &["lock of a mutex", "`there`", "`back`", "transfer"]);
}

#[test]
fn a_receiver_that_keeps_its_own_sender_is_found() {
    let report = deadlock("lost", "the only thread waits");
    has(&report, &["host 3 `main`", "receive on a channel", "examples/broken/lost.rs:12\n"]);
}

#[test]
fn parasites_are_in_the_report() {
    let report = deadlock("parasites", "all 3 threads wait");
    has(
        &report,
        &["parasite", "broken::parasites::serve", "; and another one in the same way", "waits: join"],
    );
}

#[test]
fn a_kernel_thread_that_waits_in_a_call_is_no_reason_to_go_on() {
    let report = deadlock("outside", "the only thread waits");
    has(&report, &["host 3 `main`", "receive on a channel", "examples/broken/outside.rs:13\n"]);
}

/// What a program has used before it stands still is at rest then: pools, the ring's kernel threads, closed sockets.
#[test]
fn a_deadlock_after_input_and_output_is_found() {
    for io in ["epoll", "uring"] {
        let mut command = example("broken");
        command.arg("after-io").envs([("LAMPREY_STUCK_AFTER", "30ms"), ("LAMPREY_IO", io)]);
        let output = within(FOREVER, move || command.output().unwrap());
        let report = text(&output.stderr);
        assert_eq!(output.status.code(), Some(101), "{io}: {report}");
        has(&report, &["deadlock: the only thread waits", "examples/broken/after_io.rs:23\n"]);
    }
}

#[test]
fn a_stuck_worker_is_named_with_its_thread() {
    let output = broken(&["stuck"]);
    let report = text(&output.stderr);
    assert!(output.status.success(), "{report}");
    has(
        &report,
        &["worker 0 has been held up for", "`computes` spawned at crates/lamprey/examples/broken/stuck.rs:"],
    );
}

#[test]
fn an_overflow_names_its_host() {
    let output = broken(&["overflow"]);
    let report = text(&output.stderr);
    assert!(!output.status.success(), "{report}");
    has(&report, &["stack overflow in host", "`digs`", "broken::overflow::dig"]);
}

#[test]
fn what_only_waits_is_not_reported() {
    std::thread::scope(|scope| {
        for name in NONE {
            scope.spawn(move || {
                let output = broken(&["none", name]);
                let report = text(&output.stderr);
                assert!(output.status.success(), "{name}: {report}");
                assert_eq!(
                    (text(&output.stdout).as_str(), report.as_str()),
                    ("came to its end\n", ""),
                    "{name}"
                );
            });
        }
    });
}

#[test]
fn who_sleeps_for_ever_wants_to() {
    let mut processes = ["for-ever", "for-ever-outside"].map(|name| {
        let mut command = example("broken");
        command.args(["none", name]).env("LAMPREY_STUCK_AFTER", "30ms").stderr(Stdio::piped());
        command.spawn().unwrap()
    });
    std::thread::sleep(Duration::from_secs(4)); // they are looked at after one second, and after three
    for process in &mut processes {
        assert!(process.try_wait().unwrap().is_none(), "it has ended");
        process.kill().unwrap();
    }
    for process in processes {
        assert_eq!(text(&process.wait_with_output().unwrap().stderr), "");
    }
}

/// It is said, ten seconds later, if the threads cannot be ended.
#[test]
fn a_shielded_thread_keeps_the_process() {
    let mut command = example("broken");
    command.arg("shielded").env("LAMPREY_STUCK_AFTER", "30ms").stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let errors = BufReader::new(process.stderr.take().unwrap());
    let report = within(FOREVER, move || {
        let is_last = |line: &String| line.contains("could not be ended by cancelling its threads");
        let (mut lines, mut all) = (errors.lines().map_while(Result::ok), Vec::new());
        while !all.last().is_some_and(is_last) {
            all.push(lines.next().expect("it has ended"));
        }
        all.concat()
    });
    process.kill().unwrap();
    process.wait().unwrap();
    has(&report, &["deadlock: the only thread waits", "examples/broken/shielded.rs:7", "could not be ended"]);
}

#[test]
fn an_unknown_name_says_which_there_are() {
    let output = broken(&["nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    has(&text(&output.stderr), &["`nonsense` is none of: deadlock, locks"]);
}
