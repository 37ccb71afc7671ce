//! The programs of `examples/broken`: what their reports say, and that programs which only wait get none.

use crate::common::{FOREVER, within};
use crate::{example, folder, text};
use std::fs::DirEntry;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Programs that look like deadlocks, and are none.
const NONE: [&str; 9] =
    ["timer", "kernel-thread", "token", "call", "socket", "signal", "child", "second-runtime", "told"];

/// Programs that have a lot to do, and hold up none for long.
const BUSY: [&str; 5] = ["alone", "yields", "changes", "on-the-pool", "starved"];

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
    has(&report, &["`first`", "`second`", "`third`", "receive on a channel"]);
    for line in 6..=8 {
        has(&report, &[&format!(" made at crates/lamprey/examples/broken/deadlock.rs:{line}:")]);
    }
    assert_eq!(report.matches(" with 1 sender and 1 receiver").count(), 3, "{report}");
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
    has(&report, &["has held it since crates/lamprey/examples/broken/locks.rs:17:", "it joins host"]);
    has(&report, &["these threads wait for each other:\n  host "]);
}

/// Its standard error until that is whole; then the process is killed.
fn until(name: &str, is_whole: impl Fn(&str) -> bool + Send + 'static) -> String {
    let mut command = example("broken");
    command.arg(name).env("LAMPREY_STUCK_AFTER", "30ms");
    until_of(command, is_whole)
}

/// As [`until`].
fn until_of(mut command: Command, is_whole: impl Fn(&str) -> bool + Send + 'static) -> String {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let errors = BufReader::new(process.stderr.take().unwrap());
    let report = within(FOREVER, move || {
        let (mut lines, mut all) = (errors.lines().map_while(Result::ok), String::new());
        while !is_whole(&all) {
            all += &lines.next().unwrap_or_else(|| panic!("it has ended after {all}"));
            all += "\n";
        }
        all
    });
    process.kill().unwrap();
    process.wait().unwrap();
    report
}

#[test]
fn who_waits_for_each_other_is_named_while_the_rest_goes_on() {
    let report = until("partial", |report| report.matches("transfer\n").count() == 2);
    has(&report, &["lamprey: deadlock: these threads wait for each other:\nhost "]);
    has(&report, &["waits: lock of a mutex for ", "`back` has held it since", "`there` has held it since"]);
    has(&report, &["transfer", "spawned at crates/lamprey/examples/broken/locks.rs:"]);
}

#[test]
fn threads_that_never_end_are_counted_with_their_site_and_age() {
    let output = broken(&["leak"]);
    let report = text(&output.stderr);
    assert!(output.status.success(), "{report}");
    has(&report, &["1001 threads:", "spawned at crates/lamprey/examples/broken/leak.rs:11:"]);
    has(
        &report,
        &[
            "waits: receive on a channel for ",
            "made at crates/lamprey/examples/broken/leak.rs:8:30 with 1 sender and 1001 receivers; and 999 others in the same way, for ",
            "leak::serve",
        ],
    );
}

#[test]
fn a_receiver_that_keeps_its_own_sender_is_found() {
    let report = deadlock("lost", "the only thread waits");
    has(&report, &["host 3 `main`", "receive on a channel", "examples/broken/lost.rs:12\n"]);
    has(
        &report,
        &["; channel 1 made at crates/lamprey/examples/broken/lost.rs:6:26 with 1 sender and 1 receiver\n"],
    );
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

/// The report of a program that does not come to its end.
#[track_caller]
fn endless(name: &str) -> String {
    let mut command = example("broken");
    command.arg(name).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let errors = BufReader::new(process.stderr.take().unwrap());
    let report = within(FOREVER, move || {
        let lines = errors.lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    });
    process.kill().unwrap();
    process.wait().unwrap();
    report
}

#[test]
fn a_stuck_worker_is_named_with_its_thread() {
    let output = broken(&["stuck"]);
    let report = text(&output.stderr);
    assert!(output.status.success(), "{report}");
    has(
        &report,
        &[
            "worker 0 has been held up for",
            "`computes` spawned at crates/lamprey/examples/broken/stuck.rs:",
            "Behind it waits a host whose time has come",
            "It computes: call lamprey::yield_now",
            "compute\n",
            "/examples/broken/stuck.rs:",
        ],
    );
    assert_eq!(report.matches("held up").count(), 1, "{report}");
}

#[test]
fn a_lock_of_std_is_named_with_the_call_and_who_may_hold_it() {
    let report = endless("std-mutex");
    has(
        &report,
        &[
            "worker 0 has been held up for",
            "`second` spawned at crates/lamprey/examples/broken/std_mutex.rs:11:",
            "Behind it waits a host whose time has come",
            "It waits in std::sync::Mutex::lock, called at ",
            "examples/broken/std_mutex.rs:17: use lamprey::sync::Mutex",
            "may be with a thread of the same worker",
            "`first` spawned at crates/lamprey/examples/broken/std_mutex.rs:11:45: sleep",
            "add\n",
        ],
    );
}

/// Nothing is ready, and nothing is due: what is known is that a thread waits for a lock, and which others might have it.
#[test]
fn a_deadlock_with_a_lock_of_std_is_named() {
    let report = endless("std-mutex-for-ever");
    has(
        &report,
        &[
            "`reporter` spawned at crates/lamprey/examples/broken/std_mutex_for_ever.rs:14:",
            "It waits in std::sync::Mutex::lock, called at ",
            "examples/broken/std_mutex_for_ever.rs:15: use lamprey::sync::Mutex",
            "`keeper` spawned at crates/lamprey/examples/broken/std_mutex_for_ever.rs:10:58: receive on a channel",
        ],
    );
    assert!(!report.contains("Behind it waits"), "{report}");
}

#[test]
fn what_has_a_lot_to_do_is_not_reported() {
    for name in BUSY {
        let output = broken(&["busy", name]);
        let report = text(&output.stderr);
        assert!(output.status.success(), "{name}: {report}");
        assert_eq!((text(&output.stdout).as_str(), report.as_str()), ("came to its end\n", ""), "{name}");
    }
}

#[test]
fn an_overflow_names_its_host() {
    let output = broken(&["overflow"]);
    let report = text(&output.stderr);
    assert!(!output.status.success(), "{report}");
    has(&report, &["stack overflow in host", "`digs`", "broken::overflow::dig", "the last call repeats "]);
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
    let report = until("shielded", |report| report.contains("could not be ended by cancelling its threads"));
    has(&report, &["deadlock: the only thread waits", "examples/broken/shielded.rs:7", "could not be ended"]);
}

#[test]
fn an_unknown_name_says_which_there_are() {
    let output = broken(&["nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    has(&text(&output.stderr), &["`nonsense` is none of: deadlock, locks"]);
}

/// What is in the files of a folder, by their names.
fn files(folder: &Path) -> Vec<(String, String)> {
    let name = |entry: &DirEntry| entry.file_name().into_string().unwrap();
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (name(&entry), std::fs::read_to_string(entry.path()).unwrap())).collect()
}

#[test]
fn what_led_to_a_report_is_at_its_end_and_in_a_file() {
    const LED: &str = "What led there (inspect::recording has more):\n";
    for (name, why, parts) in [
        ("deadlock", "deadlock", &["`first` waits: receive on a channel", "`main` waits: join"][..]),
        ("std-mutex", "stuck-worker", &["`second` (", " runs\n"]),
        ("panic", "panic", &["`parser` is woken by host ", " `reader`", "`parser` ends"]),
    ] {
        let folder = folder(&format!("led-to-{name}"));
        let mut command: Command = example("broken");
        // The folder is made.
        let records = folder.join("records");
        command.arg(name).env("LAMPREY_STUCK_AFTER", "30ms").env("LAMPREY_RECORD_DIR", &records);
        let report = until_of(command, |report| report.contains("All that is recorded is in "));
        let (_, led) = report.split_once(LED).unwrap_or_else(|| panic!("{name}: {report}"));
        has(led, parts);
        assert!(led.lines().take_while(|line| line.contains(" ago  ")).count() <= 8, "{led}");
        let files = files(&records);
        assert!(!files.is_empty(), "{report}");
        for (file, text) in files {
            assert!(file.starts_with("lamprey-") && file.ends_with(&format!("-{why}.txt")), "{file}");
            assert!(report.contains(&file), "{file} is not in {report}");
            assert!(text.contains("worker 0: ") && text.contains("`main`"), "{text}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_program_whose_recorder_is_off_has_shorter_reports() {
    let mut command: Command = example("broken");
    command.arg("deadlock").env("LAMPREY_RECORDER", "off");
    let report = text(&within(FOREVER, move || command.output().unwrap()).stderr);
    has(&report, &["deadlock: all 4 threads wait"]);
    assert!(!report.contains("What led there"), "{report}");
}
