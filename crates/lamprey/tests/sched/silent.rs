//! A worker that is held up while others wait for it: who holds it up is named on standard error, once. Each
//! in a process of its own.

use crate::common::{FOREVER, again, outcome, role, within};
use lamprey::{Builder, JoinHandle, Runtime};
use rustix::time::{ClockId, clock_gettime};
use std::hint::spin_loop;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(60);

/// The time of a processor that this kernel thread has had.
fn own_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

fn compute_for(time: Duration) {
    let start = own_time();
    while own_time() - start < time {
        std::hint::spin_loop();
    }
}

/// Calls `waste_time` until the report has been made, as the parent process sees it on the pipe and says by closing
/// standard input.
fn until_reported(waste_time: impl Fn()) {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_line(&mut String::new());
        IS_OVER.store(true, Ordering::Release);
    });
    while !IS_OVER.load(Ordering::Acquire) {
        waste_time();
    }
}

/// A host that waits for a byte, and the other end of its socket.
fn reader() -> (UnixStream, JoinHandle<usize>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let theirs = lamprey::net::UnixStream::try_from(theirs).unwrap();
    let waits = lamprey::spawn(move || (&theirs).read(&mut [0]).unwrap());
    lamprey::yield_now();
    (ours, waits)
}

fn act(how: &str) {
    let runtime = Runtime::builder().workers(1).stuck_after(LIMIT).build().unwrap();
    match how {
        "placed host" => runtime.run(|| {
            let waits = Builder::new().worker(0).spawn(|| ()).unwrap();
            until_reported(spin_loop);
            waits.join().unwrap();
        }),
        "one of many" => runtime.run(|| {
            let gives_way = lamprey::spawn(|| (0..1000).for_each(|_| lamprey::yield_now()));
            lamprey::yield_now();
            let (tx, rx) = lamprey::bounded::<u8>(1);
            let wait = |_| {
                lamprey::spawn({
                    let rx = rx.clone();
                    move || rx.recv().unwrap_err()
                })
            };
            let blocked: Vec<_> = (0..100).map(wait).collect();
            lamprey::yield_now();
            until_reported(spin_loop);
            drop(tx);
            blocked.into_iter().for_each(|host| _ = host.join().unwrap());
            gives_way.join().unwrap();
        }),
        "socket" => runtime.run(|| {
            let (mut ours, waits) = reader();
            ours.write_all(b"x").unwrap();
            until_reported(spin_loop);
            waits.join().unwrap();
        }),
        "socket, asleep" => runtime.run(|| {
            let (mut ours, waits) = reader();
            std::thread::spawn(move || {
                std::thread::sleep(LIMIT);
                ours.write_all(b"x").unwrap();
                std::thread::park();
            });
            let _ = std::io::stdin().read_line(&mut String::new());
            waits.join().unwrap();
        }),
        "short sleeps" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            until_reported(|| std::thread::sleep(Duration::from_millis(1)));
            waits.join().unwrap();
        }),
        "ready host" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            until_reported(spin_loop);
            waits.join().unwrap();
        }),
        "timer" => runtime.run(|| {
            let waits = lamprey::spawn(|| lamprey::sleep(Duration::from_millis(20)));
            lamprey::yield_now();
            until_reported(spin_loop);
            waits.join().unwrap();
        }),
        "message from outside" => runtime.run(|| {
            let (tx, rx) = lamprey::channel();
            let waits = lamprey::spawn(move || rx.recv().unwrap());
            lamprey::yield_now();
            std::thread::spawn(move || tx.send(1).unwrap());
            until_reported(spin_loop);
            waits.join().unwrap();
        }),
        "parasite" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            drop(lamprey::parasite(async { until_reported(spin_loop) }).join());
            waits.join().unwrap();
        }),
        "in the kernel" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            let _ = std::io::stdin().read_line(&mut String::new());
            waits.join().unwrap();
        }),
        // Nobody is named.
        "alone" => runtime.run(|| compute_for(8 * LIMIT)),
        "with blocked ones" => runtime.run(|| {
            let (tx, rx) = lamprey::channel::<u8>();
            let waits = lamprey::spawn(move || rx.recv().unwrap_err());
            lamprey::yield_now();
            compute_for(8 * LIMIT);
            drop(tx);
            waits.join().unwrap();
        }),
        "busy" => runtime.run(|| {
            let other = lamprey::spawn(|| (0..30).for_each(|_| lamprey::yield_now()));
            (0..30).for_each(|_| {
                compute_for(LIMIT / 6);
                lamprey::yield_now();
            });
            other.join().unwrap();
        }),
        "starved" => runtime.run(|| {
            for _ in 0..16 {
                std::thread::spawn(|| {
                    loop {
                        spin_loop();
                    }
                });
            }
            let other = lamprey::spawn(|| (0..20).for_each(|_| lamprey::yield_now()));
            (0..20).for_each(|_| {
                compute_for(LIMIT / 4);
                lamprey::yield_now();
            });
            other.join().unwrap();
        }),
        "in a call on the pool" => runtime.run(|| {
            let other = lamprey::spawn(|| lamprey::sleep(LIMIT / 4));
            lamprey::block(|| std::thread::sleep(8 * LIMIT));
            lamprey::compute(|| compute_for(4 * LIMIT));
            other.join().unwrap();
        }),
        "idle" => runtime.run(|| lamprey::sleep(8 * LIMIT)),
        "again and again" => runtime.run(|| {
            let compute = || {
                let waits = lamprey::spawn(|| ());
                compute_for(3 * LIMIT);
                waits.join().unwrap();
            };
            until_reported(compute);
            (0..5).for_each(|_| compute());
        }),
        "deaf" => runtime.run(|| {
            let waits = lamprey::spawn(|| ());
            // SAFETY: plain sets of numbers.
            unsafe {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigaddset(&raw mut set, libc::SIGURG);
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            }
            until_reported(spin_loop);
            waits.join().unwrap();
        }),
        "main waits" => _ = runtime.run(|| std::io::stdin().read_line(&mut String::new())),
        other => panic!("{other}"),
    }
}

#[test]
fn who_holds_a_worker_up_is_named_once() {
    const ME: &str = "who_holds_a_worker_up_is_named_once";
    if let Some(how) = role() {
        return act(&how);
    }
    for (how, io, waiting, does) in [
        ("ready host", "", "a host that has not started", "It computes"),
        ("placed host", "", "a host that is ready", "It computes"),
        ("one of many", "", "host ", "It computes"),
        ("timer", "", "a host whose time has come", "It computes"),
        ("message from outside", "", "what was sent to it from elsewhere", "It computes"),
        ("parasite", "", "a host that has not started", "It computes"),
        ("in the kernel", "", "a host that has not started", "It waits in std::io::"),
        ("short sleeps", "", "a host that has not started", "It waits in std::thread::sleep, called at "),
        ("socket", "epoll", "what was sent to it from elsewhere", "It computes"),
        ("socket", "uring", "what was sent to it from elsewhere", "It computes"),
        ("socket, asleep", "epoll", "what was sent to it from elsewhere", "It waits in std::io::"),
        ("socket, asleep", "uring", "what was sent to it from elsewhere", "It waits in std::io::"),
    ] {
        let how_and_io = format!("{how} {io}");
        let mut command = again(ME, how);
        if !io.is_empty() {
            command.env("LAMPREY_IO", io);
        }
        let mut process = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let reports = |line: &String| line.contains("has been held up for");
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let (report, lines) = within(FOREVER, move || {
            let first = lines.find(reports).unwrap();
            let rest: Vec<_> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            (format!("{first}\n{}", rest.join("\n")), lines)
        });
        assert!(
            report.contains("worker 0") && report.contains("tests/sched/silent.rs:"),
            "{how_and_io}: {report}"
        );
        assert_eq!(
            report.contains("parasite `sched::silent::act"),
            how == "parasite",
            "{how_and_io}: {report}"
        );
        let (_, rest) = report.split_once("Behind it waits ").unwrap();
        assert!(rest.starts_with(waiting), "{how_and_io}: {report}");
        let (_, stack) = rest.split_once(does).unwrap_or_else(|| panic!("{how_and_io}: {report}"));
        assert!(stack.contains("tests/sched/silent.rs:"), "{how_and_io}: {report}");
        drop(process.stdin.take());
        // One that lasts for ten seconds, which is long for this machine, is named twice.
        assert!(within(FOREVER, move || lines.filter(reports).count()) <= 1, "{how_and_io}");
        assert!(within(FOREVER, move || process.wait().unwrap()).success(), "{how_and_io}");
    }
}

#[test]
fn who_holds_up_nobody_is_not_named() {
    const ME: &str = "who_holds_up_nobody_is_not_named";
    if let Some(how) = role() {
        return act(&how);
    }
    for how in ["alone", "with blocked ones", "busy", "starved", "in a call on the pool", "idle"] {
        let (output, text) = outcome(again(ME, how));
        assert!(output.status.success(), "{how}: {text}");
        assert!(!text.contains("held up"), "{how}: {text}");
    }
}

/// A thread that computes for a moment, again and again, is named once; so is a worker that does not answer.
#[test]
fn a_place_is_named_once() {
    const ME: &str = "a_place_is_named_once";
    if let Some(how) = role() {
        return act(&how);
    }
    for (how, says) in [
        ("again and again", "It computes"),
        ("deaf", "by a thread that does not answer: it blocks SIGURG (kernel thread "),
    ] {
        let mut process = again(ME, how).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let lines = within(FOREVER, move || {
            assert!(lines.any(|line| line.contains(says)), "{how}");
            lines
        });
        drop(process.stdin.take());
        assert_eq!(
            within(FOREVER, move || lines.filter(|line| line.contains("held up")).count()),
            0,
            "{how}"
        );
        assert!(within(FOREVER, move || process.wait().unwrap()).success(), "{how}");
    }
}

/// How often a kernel thread of this name has gone to sleep.
fn sleeps_of(process: u32, name: &str) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().map(|task| task.unwrap().path());
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let task = tasks.into_iter().find(|task| read(task.join("comm")).trim_end() == name);
    let status = task.map(|task| read(task.join("status"))).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.map_or(0, |count| count.trim().parse().unwrap())
}

/// A server whose main host waits in a call of `std` has a worker that never sleeps. The ticker then looks once a second: it is enough
/// to see that in one of the seconds of this test.
#[test]
fn a_worker_that_sleeps_in_the_kernel_costs_next_to_nothing() {
    const ME: &str = "a_worker_that_sleeps_in_the_kernel_costs_next_to_nothing";
    if let Some(how) = role() {
        return act(&how);
    }
    let mut process = again(ME, "main waits").stdin(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + FOREVER;
    loop {
        let before = sleeps_of(process.id(), "lamprey-tick");
        let start = Instant::now();
        std::thread::sleep(Duration::from_secs(1));
        let sleeps = sleeps_of(process.id(), "lamprey-tick") - before;
        // Else 66 times: a quarter of the limit is 15 ms.
        if before > 10 && sleeps <= 4 && start.elapsed() < Duration::from_millis(1500) {
            break;
        }
        assert!(Instant::now() < deadline, "{sleeps} in a second");
    }
    drop(process.stdin.take());
    assert!(within(FOREVER, move || process.wait().unwrap()).success());
}
