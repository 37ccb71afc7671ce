//! Ten thousand short children: no zombie, no descriptor is left.

use crate::common::*;
use lamprey::process::Command;
use lamprey::{scope, wait};
use std::fs;

/// The children of this process, ended or not.
pub fn children() -> usize {
    let of_thread = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks.map(|task| of_thread(task.unwrap()).split_whitespace().count()).sum()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn ten_thousand_leave_nothing_behind() {
    if role().is_some() {
        return run(2, || {
            let round = |children: usize| {
                scope(|s| {
                    for number in 0..20 {
                        s.spawn(move || (0..children / 20).for_each(|round| short(number + round)));
                    }
                });
                eventually("all are reaped", || self::children() == 0);
            };
            round(100);
            let before = descriptors();
            round(10_000);
            // The reaper's descriptors may have come since, and go only after a while.
            eventually("no descriptor is left", || descriptors() <= before + 1);
        });
    }
    let (output, text) = rerun("ten_thousand_leave_nothing_behind", "child");
    assert!(output.status.success(), "{text}");
}

/// Starts a child that ends at once, and ends it in one of the ways that a program has.
fn short(number: usize) {
    let mut command = Command::new("/bin/true");
    match number % 5 {
        0 => assert!(command.status().unwrap().success()),
        1 => assert!(command.output().unwrap().status.success()),
        2 => assert!(wait(command.status_async()).unwrap().success()),
        3 => drop(command.spawn().unwrap()),
        _ => drop(command.kill_on_drop(true).spawn().unwrap()),
    }
}

#[test]
fn without_descriptors_it_is_an_error_and_nothing_is_left() {
    if role().is_some() {
        return run(1, || {
            // One that is not reaped yet when no descriptor is left for its pidfd.
            let (reader, writer) = lamprey::io::pipe().unwrap();
            let child = Command::new("cat").stdin(reader).spawn().unwrap();
            let mut waited = Command::new("sleep").arg("1000").spawn().unwrap();
            crate::common::awaiting::limit_descriptors(descriptors() as u64);
            let mut files = Vec::new();
            while let Ok(file) = fs::File::open("/dev/null") {
                files.push(file);
            }
            assert!(Command::new("/bin/true").output().is_err());
            assert!(wait(Command::new("/bin/true").output_async()).is_err());
            drop(child);
            drop(writer);
            // One can be waited for without a descriptor.
            let limit = std::time::Duration::from_millis(1);
            assert_eq!(waited.wait_timeout(limit).unwrap_err().kind(), std::io::ErrorKind::TimedOut);
            waited.kill().unwrap();
            assert!(!waited.wait().unwrap().success());
            drop(files.split_off(files.len() / 2));
            drop(files);
            eventually("all are reaped", || children() == 0);
        });
    }
    let (output, text) = rerun("without_descriptors_it_is_an_error_and_nothing_is_left", "child");
    assert!(output.status.success(), "{text}");
}
