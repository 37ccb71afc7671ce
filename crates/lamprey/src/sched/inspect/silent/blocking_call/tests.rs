//! Finds the calls of threads that really wait in them, whatever this is built with.

use super::*;
use crate::sched::inspect::stuck::{Look, look};
use crate::sched::inspect::unwind::Code;
use crate::sched::worker::Worker;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const FOREVER: Duration = Duration::from_secs(30);
/// How long a call waits that nothing ends early; it is made again until it has been found.
const AWHILE: Duration = Duration::from_millis(200);

/// Runs `wait` in a host until `end` is called, which is when the call has been found; both are called again and again until `wait`
/// has returned after `end`. The call must have one of these names (which depends on what the build has), and this replacement.
#[track_caller]
fn found(
    names: &[&str],
    instead: &str,
    is_lock: bool,
    mut wait: impl FnMut() + Send + 'static,
    end: impl FnOnce(),
) {
    let runtime = crate::Runtime::builder().workers(1).stuck_after(Duration::MAX).build().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let (ready, start) = mpsc::channel();
    let theirs = is_over.clone();
    let host = runtime.handle().spawn(move || {
        ready.send(Worker::current().unwrap().remote.tid.load(Ordering::SeqCst)).unwrap();
        while !theirs.load(Ordering::SeqCst) {
            wait();
        }
    });
    let tid = start.recv().unwrap();
    let code = Code::read();
    let mut walker = code.walker();
    let deadline = Instant::now() + FOREVER;
    loop {
        let answer = look(tid, Some(&mut walker), deadline);
        let call = match &answer {
            Look::Computes(threads, _) => find(&threads[0].stack),
            Look::Schedules | Look::Silent => Found::Nothing,
        };
        match call {
            Found::Call(call) if names.contains(&&*call.name) => {
                assert_eq!((call.instead, call.is_lock), (instead, is_lock), "{names:?}");
                break;
            }
            other => {
                let Look::Computes(threads, _) = &answer else { continue };
                let stack = crate::sched::inspect::stack_trace::Stack::new(threads[0].stack.clone(), 0);
                assert!(Instant::now() < deadline, "{names:?}: {other:?}\n{stack}");
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    is_over.store(true, Ordering::SeqCst);
    end();
    host.join().unwrap();
}

#[test]
fn locks() {
    let lock = Arc::new(Mutex::new(()));
    let (held, theirs) = (lock.lock().unwrap(), lock.clone());
    found(
        &["std::sync::Mutex::lock"],
        "lamprey::sync::Mutex",
        true,
        move || drop(theirs.lock()),
        || drop(held),
    );

    let lock = Arc::new(RwLock::new(()));
    let (held, theirs) = (lock.write().unwrap(), lock.clone());
    found(
        &["std::sync::RwLock::read", "std::sync::RwLock (read)", "std::sync::RwLock"],
        "lamprey::sync::RwLock",
        true,
        move || drop(theirs.read()),
        || drop(held),
    );
    let (held, theirs) = (lock.read().unwrap(), lock.clone());
    found(
        &["std::sync::RwLock::write", "std::sync::RwLock (write)", "std::sync::RwLock"],
        "lamprey::sync::RwLock",
        true,
        move || drop(theirs.write()),
        || drop(held),
    );
}

#[test]
fn conditions() {
    let both = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = both.clone();
    let wait = move || {
        let mut is_over = theirs.0.lock().unwrap();
        while !*is_over {
            is_over = theirs.1.wait(is_over).unwrap();
        }
    };
    let end = || {
        *both.0.lock().unwrap() = true;
        both.1.notify_all();
    };
    found(
        &["std::sync::Condvar::wait", "std::sync::Condvar::wait (wait)"],
        "lamprey::sync::Condvar, with the mutex beside it",
        true,
        wait,
        end,
    );

    let barrier = Arc::new(Barrier::new(2));
    let theirs = barrier.clone();
    let wait = move || _ = theirs.wait();
    found(&["std::sync::Barrier::wait"], "lamprey::sync::Barrier", true, wait, move || _ = barrier.wait());
}

#[test]
fn channels() {
    let instead = "lamprey::channel, lamprey::bounded or lamprey::unbounded";
    let (tx, rx) = mpsc::channel::<u8>();
    found(
        &["std::sync::mpsc::Receiver::recv", "std::sync::mpsc (recv)", "std::sync::mpsc"],
        instead,
        true,
        move || _ = rx.recv(),
        || drop(tx),
    );
    let (tx, rx) = mpsc::sync_channel::<u8>(0);
    found(
        &["std::sync::mpsc::SyncSender::send", "std::sync::mpsc (send)", "std::sync::mpsc"],
        instead,
        true,
        move || _ = tx.send(1),
        || drop(rx),
    );
}

#[test]
fn initialisation() {
    let cell = Arc::new(OnceLock::new());
    let (go_on, told) = mpsc::channel::<()>();
    let (began, begins) = mpsc::channel();
    let theirs = cell.clone();
    let initialises = thread::spawn(move || {
        theirs.get_or_init(|| {
            began.send(()).unwrap();
            told.recv().unwrap();
        });
    });
    begins.recv().unwrap();
    found(
        &["std::sync::OnceLock"],
        "lamprey::sync::OnceLock",
        true,
        move || _ = cell.get_or_init(|| ()),
        || go_on.send(()).unwrap(),
    );
    initialises.join().unwrap();
}

#[test]
fn threads() {
    found(&["std::thread::sleep"], "lamprey::sleep", false, || thread::sleep(AWHILE), || ());
    found(&["std::thread::park"], "lamprey::suspend", true, || thread::park_timeout(AWHILE), || ());

    let instead = "lamprey::spawn, or lamprey::block(|| thread.join())";
    let sleeps = || _ = thread::spawn(|| thread::sleep(AWHILE)).join();
    found(&["std::thread::JoinHandle::join"], instead, true, sleeps, || ());

    let waits = || thread::scope(|scope| _ = scope.spawn(|| thread::sleep(AWHILE)));
    found(&["std::thread::scope"], "lamprey::scope, or lamprey::block around it", true, waits, || ());
}

#[test]
fn input_and_output() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accept = ["std::net::TcpListener::accept", "std::net (accept)", "std::net"];
    let ends = || drop(std::net::TcpStream::connect(address));
    found(&accept, "lamprey::net", false, move || drop(listener.accept()), ends);

    let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let read = ["std::os::unix::net::UnixStream::read", "std::os::unix::net (read)", "std::net"];
    found(&read, "lamprey::net", false, move || _ = theirs.read(&mut [0]), || drop(ours));

    let (reader, writer) = std::io::pipe().unwrap();
    let mut file = std::fs::File::from(OwnedFd::from(reader));
    let read = ["std::fs::File::read", "std::fs (read)", "std::fs"];
    found(&read, "lamprey::fs", false, move || _ = file.read(&mut [0]), || drop(writer));
}

#[test]
fn processes() {
    let sleeps = || _ = std::process::Command::new("sleep").arg("0.2").status();
    let status = ["std::process::Command::status", "std::process (status)", "std::process"];
    found(&status, "lamprey::process", false, sleeps, || ());
}

#[test]
fn calls_of_c() {
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let wait = move || {
        let mut waits = libc::pollfd { fd: theirs.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one element, which is alive.
        unsafe { libc::poll(&raw mut waits, 1, -1) };
    };
    let ends = || ours.write_all(b"x").unwrap();
    found(&["a system call that waits"], "lamprey::block around it", false, wait, ends);
}

fn frame(name: &str, place: &str) -> Frame {
    let (file, line) = place.split_once(':').unzip();
    Frame::new(name.to_owned(), file.map(PathBuf::from), line.map(|line| line.parse().unwrap()))
}

fn search(frames: &[(&str, &str)]) -> Option<(String, Option<String>)> {
    let mut search = Search::default();
    frames.iter().for_each(|(name, place)| search.pass(&frame(name, place)));
    match search.found {
        Found::Call(found) => Some((found.name, found.place)),
        Found::Own => Some(("of its own".to_owned(), None)),
        Found::Nothing => None,
    }
}

#[test]
fn the_outermost_call_before_the_program_counts() {
    let futex =
        ("std::sys::pal::unix::futex::futex_wait", "/rustc/1/library/std/src/sys/pal/unix/futex.rs:72");
    let program = ("app::<impl app::Own>::work", "src/work.rs:12");
    let place = Some("src/work.rs:12".to_owned());
    let barrier = [
        ("syscall", ""),
        futex,
        ("<std::sys::sync::condvar::futex::Condvar>::wait", ""),
        ("<std::sync::barrier::Barrier>::wait", ""),
        ("core::ops::function::FnOnce::call_once", "/rustc/1/library/core/src/ops/function.rs:250"),
        program,
        ("std::thread::sleep", ""),
    ];
    assert_eq!(search(&barrier), Some(("std::sync::Barrier::wait".to_owned(), place.clone())));
    // Debug information with lines only.
    let lines = [
        ("write_contended", "/rustc/1/library/std/src/sys/sync/rwlock/futex.rs:60"),
        ("write<u8>", "/rustc/1/library/std/src/sync/poison/rwlock.rs:400"),
        ("{closure#0}", "src/work.rs:12"),
        ("sleep", "/rustc/1/library/std/src/thread/functions.rs:300"),
    ];
    assert_eq!(search(&lines), Some(("std::sync::RwLock (write)".to_owned(), place.clone())));
    // By a library of C, that of the system beneath.
    let c = [("__GI___clock_nanosleep", ""), ("backoff_wait", "backoff.c:7"), program];
    assert_eq!(search(&c), Some(("sleep of C".to_owned(), place.clone())));
    let name = [("getaddrinfo", ""), ("std::sys::net::connection::socket::lookup_host", ""), program];
    assert_eq!(search(&name), Some(("a lookup of a name (std::net::ToSocketAddrs)".to_owned(), place)));
    // Inlined into the base of its stack.
    let inlined = [
        ("<std::sys::sync::mutex::futex::Mutex>::lock_contended", ""),
        ("lamprey::thread::join_cell::run::<app::work>", ""),
    ];
    assert_eq!(search(&inlined), Some(("std::sync::Mutex::lock".to_owned(), None)));
}

#[test]
fn what_the_crate_itself_waits_in_is_no_fault_of_the_program() {
    let own = [("__poll", ""), ("lamprey::net::resolve::ask", ""), ("app::work", "src/work.rs:12")];
    assert_eq!(search(&own), Some(("of its own".to_owned(), None)));
    let computes = [("app::sum", "src/work.rs:9"), ("app::work", "src/work.rs:12")];
    assert_eq!(search(&computes), None);
    assert_eq!(search(&[]), None);
}
