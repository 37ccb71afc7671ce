//! Looking up names, with the C library. The names here are addresses in forms that only the C library knows, so that it
//! answers without asking others.

use crate::common::*;
use lamprey::net::{lookup, lookup_async, lookup_evt};
use lamprey::{JoinError, Runtime, TimedOut, block, spawn, with_timeout, with_timeout_async};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

fn at(last: u8, port: u16) -> Vec<SocketAddr> {
    vec![([127, 0, 0, last], port).into()]
}

/// Runs `main` where the pool has one thread, which is busy until the sender is dropped.
fn with_busy_pool(main: impl FnOnce(mpsc::Sender<()>) + Send + 'static) {
    let builder = Runtime::builder().workers(1).blocking_threads(1);
    within(FOREVER, move || {
        builder.build().unwrap().run(|| {
            let (let_go, held_up) = mpsc::channel::<()>();
            let busy = blocked(move || block(move || held_up.recv().is_err()));
            main(let_go);
            busy.join().unwrap();
        });
    });
}

#[test]
fn who_asks_leaves_at_once_and_others_get_the_answer() {
    with_busy_pool(|let_go| {
        let first = blocked(|| lookup("127.1:80"));
        let second = blocked(|| lookup("127.1:81"));
        let third = spawn(|| lamprey::wait(lookup_async("127.1:82")));
        assert!(matches!(first.cancel_and_join(), Err(JoinError::Cancelled(_))));
        let late = with_timeout(Duration::from_millis(1), || lookup("127.1:80"));
        assert!(matches!(late, Err(TimedOut)));
        let late = lamprey::wait(with_timeout_async(Duration::from_millis(1), lookup_async("127.1:80")));
        assert!(matches!(late, Err(TimedOut)));
        drop(let_go);
        assert_eq!(second.join().unwrap().unwrap(), at(1, 81));
        assert_eq!(third.join().unwrap().unwrap(), at(1, 82));
    });
}

#[test]
fn a_pool_thread_does_not_wait_for_its_own_pool() {
    let builder = Runtime::builder().workers(1).blocking_threads(1);
    within(FOREVER, move || {
        builder.build().unwrap().run(|| {
            let (let_go, held_up) = mpsc::channel::<()>();
            let busy = blocked(move || {
                block(move || {
                    let _ = held_up.recv();
                    lookup("127.2:80")
                })
            });
            // Waits for the pool.
            let other = blocked(|| lookup("127.2:81"));
            drop(let_go);
            assert_eq!(busy.join().unwrap().unwrap(), at(2, 80));
            assert_eq!(other.join().unwrap().unwrap(), at(2, 81));
        });
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
            lamprey::sleep(Duration::MAX);
        });
        let waits = blocked(|| lookup("127.3:81"));
        assert!(matches!(unwinds.cancel_and_join(), Err(JoinError::Cancelled(_))));
        drop(let_go);
        assert_eq!(waits.join().unwrap().unwrap(), at(3, 81));
    });
}

#[test]
fn all_threads_may_ask() {
    use lamprey::event::Event;
    assert_eq!(within(FOREVER, || lookup("127.4:80")).unwrap(), at(4, 80));
    awaiting::everywhere(|| async {
        assert_eq!(lookup_async("127.5:80").await.unwrap(), at(5, 80));
    });
    assert_eq!(lookup_evt("127.6:80").sync().unwrap(), at(6, 80));
}

#[test]
fn what_is_no_name_is_an_error() {
    for bad in ["", "localhost", "localhost:", "localhost:65536", ":"] {
        let error = lookup(bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
        assert!(error.to_string().contains(&format!("\"{bad}\"")), "{error}");
    }
    let error = lookup("a name with spaces:80").unwrap_err();
    assert!(error.to_string().contains("a name with spaces"), "{error}");
}
