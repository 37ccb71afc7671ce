//! The program runs under each row.

use crate::common::{FOREVER, again, outcome, role, within};
use crate::confined::{Refusal, can_confine, start, start_sometimes};
use crate::exercise::{self, DONE, IDLE};
use crate::rows::{self, Met, ROWS, Row};
use lamprey::{Builder, Io, Runtime};
use std::hint::black_box;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Runs a command for which calls are refused to its end; returns also how often they were.
fn confined(mut command: Command, refusals: &[Refusal], error: i32) -> (Output, usize) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    to_the_end(start(&mut command, refusals, error))
}

/// As [`confined`], one time in `every`.
fn sometimes_confined(
    mut command: Command,
    refusals: &[Refusal],
    error: i32,
    every: usize,
) -> (Output, usize) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    to_the_end(start_sometimes(&mut command, refusals, error, every))
}

fn to_the_end(started: std::io::Result<(Child, Arc<AtomicUsize>)>) -> (Output, usize) {
    let (child, hits) = started.unwrap();
    let output = within(FOREVER, move || child.wait_with_output().unwrap());
    (output, hits.load(Ordering::SeqCst))
}

fn text(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs the program: it must do its work, and idle. Returns how often it was refused.
fn run_program(what: &str, refusals: &[Refusal], error: i32, every: usize, io: &str) -> usize {
    let name = std::io::Error::from_raw_os_error(error);
    let what = format!("{what} refused by {name}, one time in {every}, {io}");
    let mut command = again("programs_do_without_what_is_refused", "exercise");
    command.env("LAMPREY_IO", io);
    let (output, hits) = sometimes_confined(command, refusals, error, every);
    let text = text(&output);
    assert!(output.status.success() && text.contains(DONE), "{what}: {text}");
    let idle = text.split(IDLE).nth(1).and_then(|rest| rest.lines().next()).expect(&text);
    let idle: u64 = idle.parse().unwrap();
    // Nothing takes so much that waits; a thread that spins takes several times as much, unless others have the processors.
    assert!(
        idle < 100_000,
        "{what}: {idle} us of processor time in a second of idling, refused {hits} times"
    );
    hits
}

/// Runs the program under a row; returns how often it was refused.
fn run_row(row: &Row, error: i32, io: &str) -> usize {
    let hits = run_program(row.name, &[row.refusal], error, 1, io);
    match row.met {
        Met::AtMost(most) => assert!(hits <= most, "{}, {error}, {io}: {hits} times", row.name),
        Met::Never(why) => assert_eq!(hits, 0, "{}, {error}, {io}: {why}", row.name),
    }
    hits
}

#[test]
fn programs_do_without_what_is_refused() {
    if role().is_some() {
        return exercise::main();
    }
    if !can_confine() {
        return;
    }
    let ios: &[&str] = if Io::Uring.check().is_ok() { &["epoll", "auto"] } else { &["epoll"] };
    let left = Mutex::new(ROWS.iter());
    let work = || {
        while let Some(row) = { left.lock().unwrap().next() } {
            let runs = ios.iter().flat_map(|io| row.errors.iter().map(move |error| (*error, *io)));
            let hits: usize = runs.map(|(error, io)| run_row(row, error, io)).sum();
            let without_ring = ios.len() == 1 && row.name.starts_with("io_uring");
            let is_met = hits != 0 || without_ring || matches!(row.met, Met::Never(_));
            assert!(is_met, "{}: nothing has met the refusal", row.name);
        }
    };
    // They sleep most of the time.
    thread::scope(|s| (0..6).for_each(|_| drop(s.spawn(work))));
}

/// As on a kernel from before all of them, or in a sandbox that knows none.
#[test]
fn programs_do_without_all_of_it_at_once() {
    if !can_confine() {
        return;
    }
    for error in [libc::EPERM, libc::EACCES, libc::ENOSYS] {
        let fit = ROWS.iter().filter(|row| row.errors.contains(&error));
        let refusals: Vec<_> = fit.map(|row| row.refusal).collect();
        let hits = run_program("all", &refusals, error, 1, "auto");
        assert!(hits > 10, "{hits}");
    }
}

/// A wait for events fails now and then, as for want of memory: what it would have told is fetched by the next.
#[test]
fn events_are_not_lost_when_a_wait_fails() {
    if !can_confine() {
        return;
    }
    let waits: Vec<_> = rows::WAITS.iter().map(|&call| Refusal { call, only: None }).collect();
    let work = |error| {
        for (every, io) in [(2, "auto"), (3, "auto"), (2, "epoll"), (3, "epoll")] {
            assert!(run_program("waits", &waits, error, every, io) > 10);
        }
    };
    thread::scope(|s| {
        [libc::ENOMEM, libc::EAGAIN, libc::EIO].map(|error| drop(s.spawn(move || work(error))))
    });
}

/// Without any way to wait for events timers still go off, and what is said names the call that was made last.
#[test]
fn a_wait_of_which_all_forms_are_refused_is_told_by_its_name() {
    const ME: &str = "a_wait_of_which_all_forms_are_refused_is_told_by_its_name";
    if role().is_some() {
        lamprey::run(|| lamprey::sleep(Duration::from_micros(20_300)));
        return println!("{DONE}");
    }
    if !can_confine() {
        return;
    }
    let refusals: Vec<_> = rows::WAITS.iter().map(|&call| Refusal { call, only: None }).collect();
    for error in [libc::EPERM, libc::EACCES, libc::ENOSYS, libc::EINVAL] {
        let mut command = again(ME, "wait");
        command.env("LAMPREY_IO", "epoll");
        let (output, _) = confined(command, &refusals, error);
        let text = text(&output);
        assert!(output.status.success() && text.contains(DONE), "{error}: {text}");
        assert!(text.contains("lamprey: epoll_pwait2 fails ("), "{error}: {text}");
    }
}

/// io_uring that was demanded and is refused is an error, with what to do.
#[test]
fn a_ring_that_is_demanded_and_refused_is_an_error() {
    const ME: &str = "a_ring_that_is_demanded_and_refused_is_an_error";
    if role().is_some() {
        return println!("error: {}", Runtime::builder().workers(1).build().unwrap_err());
    }
    if !can_confine() {
        return;
    }
    for call in [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register] {
        for error in [libc::EPERM, libc::ENOSYS] {
            let mut command = again(ME, "demand");
            command.env("LAMPREY_IO", "uring");
            let (output, _) = confined(command, &[Refusal { call, only: None }], error);
            let text = text(&output);
            assert!(output.status.success() && text.contains("error: no io_uring"), "{call} {error}: {text}");
            assert!(text.contains("LAMPREY_IO=epoll"), "{call} {error}: {text}");
        }
    }
}

/// What cannot be replaced: then there is no runtime, and the error says so.
#[test]
fn without_what_cannot_be_replaced_a_runtime_is_an_error() {
    const ME: &str = "without_what_cannot_be_replaced_a_runtime_is_an_error";
    if role().is_some() {
        return println!("error: {}", Runtime::builder().workers(2).build().unwrap_err());
    }
    if !can_confine() {
        return;
    }
    for call in [libc::SYS_eventfd2, libc::SYS_epoll_create1, libc::SYS_epoll_ctl] {
        for error in [libc::EPERM, libc::ENOSYS] {
            let (output, hits) = confined(again(ME, "build"), &[Refusal { call, only: None }], error);
            let text = text(&output);
            assert!(
                output.status.success() && text.contains("error: ") && hits < 40,
                "{call} {error}: {text}"
            );
        }
    }
}

#[inline(never)]
#[expect(unconditional_recursion, reason = "this is the test")]
fn without_end(n: u64) -> u64 {
    let frame = black_box([n; 16]);
    without_end(n + 1) + frame[3]
}

/// The report of an overflow has the stack, which is read while it may go away.
#[test]
fn an_overflow_is_reported_without_the_call_that_reads_memory() {
    const ME: &str = "an_overflow_is_reported_without_the_call_that_reads_memory";
    if role().is_some() {
        return Runtime::builder().workers(1).build().unwrap().run(|| {
            Builder::new().name("deep").spawn(|| without_end(0)).unwrap().join().unwrap();
        });
    }
    let (_, plain) = outcome(again(ME, "overflow"));
    assert!(plain.contains("without_end"), "{plain}");
    if !can_confine() {
        return;
    }
    for error in [libc::EPERM, libc::ENOSYS] {
        let refusal = Refusal { call: libc::SYS_process_vm_readv, only: None };
        let (output, hits) = confined(again(ME, "overflow"), &[refusal], error);
        let text = text(&output);
        assert!(text.contains("`deep`") && text.contains("without_end"), "{text}");
        assert!((1..10).contains(&hits), "{hits}");
    }
}
