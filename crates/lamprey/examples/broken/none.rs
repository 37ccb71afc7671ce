//! Programs in which all threads wait for a while, and something comes in the end: none of these is a deadlock. Each comes to its end.

use lamprey::{Builder, Runtime, WakeToken, channel, sleep, spawn, suspend};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

/// Longer than a program has to stand still until it is looked at.
const AWHILE: Duration = Duration::from_secs(3);

pub const PROGRAMS: [(&str, fn()); 11] = [
    ("for-ever", for_ever),
    ("for-ever-outside", for_ever_outside),
    ("timer", timer),
    ("kernel-thread", kernel_thread),
    ("token", token),
    ("call", call),
    ("socket", socket),
    ("signal", signal),
    ("child", child),
    ("second-runtime", second_runtime),
    ("told", told),
];

/// Sleeps until somebody kills it, as its author wants. (This program and the next one do not come to their end.)
fn for_ever() {
    sleep(Duration::MAX);
}

/// A thread of `std` sleeps.
fn for_ever_outside() {
    let (_tx, rx) = channel::<()>();
    thread::spawn(|| sleep(Duration::MAX));
    rx.recv().unwrap();
}

fn timer() {
    sleep(AWHILE);
}

/// A thread of `std` has the sender.
fn kernel_thread() {
    let (tx, rx) = channel();
    thread::spawn(move || {
        thread::sleep(AWHILE);
        tx.send(()).unwrap();
    });
    spawn(move || rx.recv().unwrap()).join().unwrap();
}

fn token() {
    let wake_later = |token: WakeToken| {
        thread::spawn(move || {
            thread::sleep(AWHILE);
            token.wake();
        });
    };
    suspend(wake_later).unwrap();
}

/// A call on the pool that nobody waits for has the sender.
fn call() {
    let (tx, rx) = channel();
    let call = Builder::new().name("calls").spawn(move || {
        lamprey::block(move || {
            thread::sleep(AWHILE);
            tx.send(()).unwrap();
        });
    });
    rx.recv().unwrap();
    call.unwrap().join().unwrap();
}

fn socket() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let theirs = lamprey::net::UnixStream::try_from(theirs).unwrap();
    let reads = spawn(move || (&theirs).read(&mut [0; 1]).unwrap());
    thread::spawn(move || {
        thread::sleep(AWHILE);
        std::io::Write::write_all(&mut ours, b"x").unwrap();
    });
    assert_eq!(reads.join().unwrap(), 1);
}

/// Nothing in the process sends it.
fn signal() {
    let signals = lamprey::signal::listen(&[lamprey::signal::Signal::USR1]).unwrap();
    let me = std::process::id().to_string();
    let script = format!("sleep {}; kill -USR1 {me}", AWHILE.as_secs());
    let mut sender = std::process::Command::new("sh").args(["-c", &script]).spawn().unwrap();
    signals.recv().unwrap();
    sender.wait().unwrap();
}

fn child() {
    let seconds = AWHILE.as_secs().to_string();
    assert!(lamprey::process::Command::new("sleep").arg(seconds).status().unwrap().success());
}

/// The thread of another runtime has the sender.
fn second_runtime() {
    let (tx, rx) = channel();
    let other = Runtime::builder().workers(1).build().unwrap();
    let sends = other.handle().spawn(move || {
        sleep(AWHILE);
        tx.send(()).unwrap();
    });
    rx.recv().unwrap();
    sends.join().unwrap();
}

/// What the crate cannot see ends the wait: the program says so.
fn told() {
    let runtime = Runtime::builder().workers(1).deadlocks(false).build().unwrap();
    let (tx, rx) = channel::<()>();
    let waits = runtime.handle().spawn(move || rx.recv().is_err());
    sleep(AWHILE);
    drop(tx);
    assert!(waits.join().unwrap());
}
