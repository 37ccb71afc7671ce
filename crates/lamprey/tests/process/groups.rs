//! Signals to the group of a child, also when the child itself has ended.

use crate::child::runs;
use crate::common::*;
use lamprey::process::{Child, Command, Stdio};
use lamprey::signal::Signal;
use lamprey::with_timeout;
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// A shell with a group of its own that starts a process and then does `more`; and the number of that process.
fn shell(more: &str) -> (Child, u32) {
    let mut shell = Command::new("sh");
    let script = format!("sleep 1000 & echo $!; {more}");
    shell.args(["-c", &script]).process_group(0).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = shell.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap())
}

/// Whoever has inherited the process may not have reaped it: then it is still in its group.
fn is_gone(child: &mut Child, grandchild: u32) -> bool {
    match child.signal_group(Signal::TERM) {
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            true
        }
        Ok(()) => std::fs::read_to_string(format!("/proc/{grandchild}/stat"))
            .is_ok_and(|stat| stat.contains(") Z ")),
    }
}

#[test]
fn it_gets_signals_as_a_whole() {
    run(1, || {
        let (mut child, grandchild) = shell("wait");
        child.signal_group(Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
        eventually("the shell's child is gone", || !runs(grandchild));
        eventually("nobody is left", || is_gone(&mut child, grandchild));

        let (child, grandchild) = shell("wait");
        drop(child);
        eventually("the shell's child is gone", || !runs(grandchild));
    });
}

#[test]
fn it_gets_signals_after_its_first_process_was_reaped() {
    run(1, || {
        let (mut child, grandchild) = shell("exit 3");
        assert_eq!(child.wait().unwrap().code(), Some(3));
        assert_eq!(child.signal(Signal::TERM).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(runs(grandchild));
        child.signal_group(Signal::KILL).unwrap();
        eventually("the shell's child is gone", || !runs(grandchild));
        eventually("nobody is left", || is_gone(&mut child, grandchild));
        assert_eq!(child.wait().unwrap().code(), Some(3), "asked again");
    });
}

#[test]
fn it_is_killed_on_drop_if_its_first_process_has_ended_and_nobody_knows() {
    run(2, || {
        let (child, grandchild) = shell("exit");
        eventually("the shell has ended", || !runs(child.id()));
        drop(child);
        eventually("the shell's child is gone", || !runs(grandchild));

        // The pipe is held open by the process that the shell has left.
        let (child, grandchild) = shell("exit");
        assert!(with_timeout(Duration::from_millis(20), move || child.wait_with_output()).is_err());
        eventually("the shell's child is gone", || !runs(grandchild));
    });
}

#[test]
fn what_a_child_leaves_behind_stays_when_its_status_was_taken() {
    run(1, || {
        for takes in [
            |child: &mut Child| child.wait().unwrap(),
            |child: &mut Child| loop {
                if let Some(status) = child.try_wait().unwrap() {
                    return status;
                }
                lamprey::yield_now();
            },
        ] {
            let (mut child, grandchild) = shell("exit 3");
            assert_eq!(takes(&mut child).code(), Some(3));
            let group = child.id();
            drop(child);
            assert!(runs(grandchild));
            // SAFETY: it takes two numbers. The group has a process, so it is this one.
            assert_eq!(unsafe { libc::kill(-group.cast_signed(), libc::SIGKILL) }, 0);
        }
    });
}

#[test]
fn a_child_without_one_is_told_apart() {
    run(1, || {
        let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap();
        assert_eq!(child.signal_group(Signal::TERM).unwrap_err().kind(), ErrorKind::NotFound);
        for number in [0, -1, 65, 1000] {
            let refused = child.signal_group(Signal::from_raw(number)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{number}: {refused}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for group in [false, true] {
            let send = |child: &mut Child, signal| {
                if group { child.signal_group(signal) } else { child.signal(signal) }
            };
            assert_eq!(send(&mut child, Signal::from_raw(0)).unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(send(&mut child, Signal::TERM).unwrap_err().kind(), ErrorKind::NotFound);
        }
    });
}
