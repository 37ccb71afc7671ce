//! Look-ups while the one thread that makes them is busy, which only the crate itself can bring about. The names here are
//! addresses in forms that only the C library knows, so that it answers without asking others. (All else: `tests/net/names.rs`.)

use super::*;
use crate::driver::pool::{Class, block_in};
use crate::{JoinError, JoinHandle, Runtime, TimedOut, spawn, with_timeout, with_timeout_async, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

fn at(last: u8, port: u16) -> Vec<SocketAddr> {
    vec![([127, 0, 0, last], port).into()]
}

/// Spawns a host and returns when it waits in `call`. For a runtime with one worker.
fn blocked<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let begun = Arc::new(AtomicBool::new(false));
    let begins = begun.clone();
    let host = spawn(move || {
        begins.store(true, Ordering::SeqCst);
        call()
    });
    while !begun.load(Ordering::SeqCst) {
        yield_now();
    }
    host
}

/// Runs `main` where the pool for look-ups has one thread, which is busy until the sender is dropped.
fn with_busy_pool(main: impl FnOnce(mpsc::Sender<()>) + Send) {
    Runtime::builder().workers(1).lookup_threads(1).build().unwrap().run(|| {
        let (let_go, held_up) = mpsc::channel::<()>();
        let busy = blocked(move || block_in(Class::Lookups, move || held_up.recv().is_err()));
        main(let_go);
        busy.join().unwrap();
    });
}

#[test]
fn who_asks_leaves_at_once_and_others_get_the_answer() {
    with_busy_pool(|let_go| {
        let first = blocked(|| lookup("127.1:80"));
        let second = blocked(|| lookup("127.1:81"));
        let third = spawn(|| crate::wait(lookup_async("127.1:82")));
        assert!(matches!(first.cancel_and_join(), Err(JoinError::Cancelled(_))));
        let late = with_timeout(Duration::from_millis(1), || lookup("127.1:80"));
        assert!(matches!(late, Err(TimedOut)));
        let late = crate::wait(with_timeout_async(Duration::from_millis(1), lookup_async("127.1:80")));
        assert!(matches!(late, Err(TimedOut)));
        drop(let_go);
        assert_eq!(second.join().unwrap().unwrap(), at(1, 81));
        assert_eq!(third.join().unwrap().unwrap(), at(1, 82));
    });
}

#[test]
fn what_nobody_waits_for_any_more_is_not_asked() {
    with_busy_pool(|let_go| {
        let left = blocked(|| lookup("127.22:80"));
        let late = with_timeout(Duration::from_millis(1), || lookup("127.23:80"));
        assert!(matches!(late, Err(TimedOut)), "{late:?}");
        assert!(matches!(left.cancel_and_join(), Err(JoinError::Cancelled(_))));
        let stays = blocked(|| lookup("127.24:80"));
        drop(let_go);
        assert_eq!(stays.join().unwrap().unwrap(), at(24, 80));
        // Those before it in the line are over by now, and have brought no answer.
        assert!(["127.22", "127.23"].iter().all(|host| names().known(host).is_none()));
        assert!(names().known("127.24").is_some());
        assert_eq!(lookup("127.22:80").unwrap(), at(22, 80));
    });
}

#[test]
fn a_host_that_unwinds_asks_itself() {
    struct Asks;
    impl Drop for Asks {
        fn drop(&mut self) {
            assert_eq!(lookup("127.3:80").unwrap(), at(3, 80));
        }
    }
    with_busy_pool(|let_go| {
        let unwinds = blocked(|| {
            let _asks = Asks;
            crate::sleep(Duration::MAX);
        });
        let waits = blocked(|| lookup("127.3:81"));
        assert!(matches!(unwinds.cancel_and_join(), Err(JoinError::Cancelled(_))));
        drop(let_go);
        assert_eq!(waits.join().unwrap().unwrap(), at(3, 81));
    });
}
