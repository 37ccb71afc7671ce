//! Cancelling: of a host by its handle, of a part by its deadline; what a shield puts off; in every kind of
//! wait.

use crate::common::{Counted, FOREVER, run, within};
use lamprey::{JoinError, TimedOut, bounded, channel, shield, spawn, with_deadline, with_timeout, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(1000);
const SHORT: Duration = Duration::from_millis(2);

fn is_cancelled<T>(outcome: Result<T, JoinError>) -> bool {
    matches!(outcome, Err(JoinError::Cancelled(_)))
}

/// A host that waits in `wait` for ever is cancelled; its destructors have run when it has been joined.
#[track_caller]
fn ends(wait: impl FnOnce() + Send + 'static) {
    let rung = Arc::new(AtomicUsize::new(0));
    let bell = Counted(rung.clone());
    let host = spawn(move || {
        let _bell = bell;
        wait();
    });
    yield_now();
    yield_now();
    host.cancel();
    assert!(is_cancelled(host.join()));
    assert_eq!(rung.load(Ordering::SeqCst), 1);
}

#[test]
fn in_any_wait_it_ends_at_once() {
    for workers in [1, 2] {
        run(workers, || {
            ends(|| {
                let (_tx, rx) = channel::<u32>();
                let _ = rx.recv();
            });
            ends(|| {
                let (tx, _rx) = channel::<u32>();
                let _ = tx.send(1);
            });
            ends(|| {
                let (_tx, rx) = bounded::bounded::<u32>(1);
                let _ = rx.recv();
            });
            ends(|| lamprey::sleep(LONG));
            ends(|| {
                let (_tx, rx) = channel::<u32>();
                let _ = rx.recv_timeout(LONG);
            });
            ends(|| {
                let _ = spawn(|| lamprey::sleep(LONG)).join();
            });
            ends(|| {
                lamprey::wait(lamprey::sleep_async(LONG));
            });
            ends(|| {
                let _ = lamprey::suspend(std::mem::forget);
            });
            ends(|| {
                use lamprey::event::{Event, choose, timeout};
                let (_tx, rx) = channel::<u32>();
                choose((rx.recv_evt().wrap(drop), timeout(LONG))).sync();
            });
            ends(|| {
                let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
                let _ = listener.accept();
            });
            ends(|| {
                loop {
                    yield_now();
                }
            });
        });
    }
}

#[test]
fn from_an_os_thread() {
    run(2, || {
        let (tx, rx) = channel::<u32>();
        let host = spawn(move || rx.recv());
        yield_now();
        let host = std::thread::spawn(move || {
            host.cancel();
            host
        })
        .join()
        .unwrap();
        assert!(is_cancelled(host.join()));
        assert!(tx.send(1).is_err());
    });
}

#[test]
fn before_it_has_started_it_is_dropped_unrun() {
    run(1, || {
        let rung = Arc::new(AtomicUsize::new(0));
        let bell = Counted(rung.clone());
        let host = spawn(move || {
            let _bell = bell;
            panic!("it ran");
        });
        host.cancel();
        host.cancel();
        assert!(is_cancelled(host.join()));
        assert_eq!(rung.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn after_its_end_nothing_happens() {
    run(2, || {
        let host = spawn(|| 7);
        while !host.is_finished() {
            yield_now();
        }
        host.cancel();
        assert_eq!(host.join().unwrap(), 7);
    });
}

#[test]
fn one_that_comes_to_its_end_first_has_a_result() {
    run(1, || {
        let host = spawn(|| {
            while !lamprey::is_cancelled() {
                shield(yield_now);
            }
            7
        });
        yield_now();
        host.cancel();
        assert_eq!(host.join().unwrap(), 7);
    });
}

#[test]
fn one_that_swallows_it_comes_no_further_than_its_next_call() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let host = spawn(move || {
            let first = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rx.recv()));
            assert!(first.is_err());
            let _ = rx.recv();
            unreachable!("it blocked again");
        });
        yield_now();
        host.cancel();
        assert!(is_cancelled(host.join()));
        drop(tx);
    });
}

#[test]
fn shielded_it_waits_to_the_end_of_the_shield() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let got = Arc::new(AtomicUsize::new(0));
        let theirs = got.clone();
        let host = spawn(move || {
            shield(|| {
                shield(|| theirs.fetch_add(rx.recv().unwrap() as usize, Ordering::SeqCst));
                theirs.fetch_add(rx.recv().unwrap() as usize, Ordering::SeqCst);
            });
            assert!(lamprey::is_cancelled());
            let _ = rx.recv();
        });
        yield_now();
        host.cancel();
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert!(is_cancelled(host.join()));
        assert_eq!(got.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn a_deadline_ends_what_is_inside_and_nothing_else() {
    for workers in [1, 2] {
        run(workers, deadlines);
    }
    within(FOREVER, deadlines); // an OS thread
}

fn deadlines() {
    let (tx, rx) = channel::<u32>();
    let rung = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let ended = with_timeout(SHORT, || {
        let _bell = Counted(rung.clone());
        rx.recv()
    });
    assert_eq!(ended, Err(TimedOut));
    assert!(start.elapsed() >= SHORT);
    assert_eq!(rung.load(Ordering::SeqCst), 1);
    assert!(!lamprey::is_cancelled());
    // The thread goes on as before.
    assert!(rx.recv_timeout(SHORT).is_err());
    assert_eq!(with_timeout(LONG, || 7), Ok(7));
    assert_eq!(with_timeout(Duration::MAX, || 7), Ok(7));
    assert_eq!(with_deadline(start, || 7), Ok(7), "what does not block is not ended");
    assert_eq!(with_deadline(start, || rx.recv()), Err(TimedOut));
    drop(tx);
}

#[test]
fn the_outer_of_two_deadlines_passes_through_the_inner() {
    let nested = || {
        let (_tx, rx) = channel::<u32>();
        let outer = with_timeout(SHORT, || {
            let inner = with_timeout(LONG, || rx.recv());
            unreachable!("the inner caught it: {inner:?}")
        });
        assert_eq!(outer, Err::<(), _>(TimedOut));
        let outer = with_timeout(LONG, || with_timeout(SHORT, || rx.recv()));
        assert_eq!(outer, Ok(Err(TimedOut)));
        // Both have passed: it is the outer's.
        let outer = with_timeout(SHORT, || {
            with_timeout(SHORT, || {
                std::thread::sleep(SHORT * 3);
                rx.recv()
            })
        });
        assert!(outer.is_err() || outer == Ok(Err(TimedOut)));
        // A deadline within a shield works; one around it waits.
        let outer = with_timeout(SHORT, || {
            shield(|| {
                assert_eq!(with_timeout(SHORT * 2, || rx.recv()), Err(TimedOut));
                assert!(rx.recv_timeout(SHORT).is_err());
                7
            })
        });
        assert_eq!(outer, Ok(7));
    };
    run(1, nested);
    within(FOREVER, nested);
}

#[test]
fn a_panic_goes_through_a_deadline() {
    run(1, || {
        let caught = std::panic::catch_unwind(|| with_timeout(LONG, || panic!("mine")));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "mine");
        assert!(!lamprey::is_cancelled());
    });
}

#[test]
fn in_a_stackful_parasite_a_deadline_is_its_own() {
    run(1, || {
        let (_tx, rx) = channel::<u32>();
        let parasite = lamprey::parasite_fn(move || with_timeout(SHORT, || rx.recv()));
        assert_eq!(parasite.join().unwrap(), Err(TimedOut));
        assert!(!lamprey::is_cancelled());
    });
}

#[test]
fn a_blocking_call_in_a_destructor_of_a_cancelled_host_fails() {
    struct Sends(lamprey::Sender<u32>, Arc<AtomicBool>);
    impl Drop for Sends {
        fn drop(&mut self) {
            self.1.store(self.0.send(1).is_err(), Ordering::SeqCst);
        }
    }
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let failed = Arc::new(AtomicBool::new(false));
        let sends = Sends(tx, failed.clone());
        let host = spawn(move || {
            let _sends = sends;
            lamprey::sleep(LONG);
        });
        yield_now();
        host.cancel();
        assert!(is_cancelled(host.join()));
        assert!(failed.load(Ordering::SeqCst));
        assert!(rx.recv().is_err());
    });
}

#[test]
fn a_call_on_the_pool_is_taken_back_or_waited_for() {
    let runtime = lamprey::Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
    within(FOREVER, move || {
        runtime.run(|| {
            let (go, gate) = std::sync::mpsc::channel::<()>();
            let (began, begun) = channel();
            let first = spawn(move || {
                let value = lamprey::block(move || {
                    began.send(()).unwrap();
                    gate.recv().unwrap();
                    7
                });
                shield(|| assert_eq!(value, 7));
                assert!(lamprey::is_cancelled());
                value
            });
            begun.recv().unwrap();
            let rung = Arc::new(AtomicUsize::new(0));
            let bell = Counted(rung.clone());
            let second = spawn(move || lamprey::block(move || drop(bell)));
            yield_now();
            first.cancel();
            second.cancel();
            // The only thread of the pool is busy with the first.
            assert!(is_cancelled(second.join()));
            assert_eq!(rung.load(Ordering::SeqCst), 1);
            assert!(!first.is_finished());
            go.send(()).unwrap();
            assert_eq!(first.join().unwrap(), 7, "it has happened, so its value counts");
        });
    });
}

#[test]
fn an_os_thread_that_sleeps_is_ended_by_its_deadline_and_its_token() {
    within(FOREVER, || {
        assert_eq!(with_timeout(SHORT, || lamprey::sleep(LONG)), Err(TimedOut));
        let token = lamprey::CancelToken::new();
        let theirs = token.clone();
        let sleeper = std::thread::spawn(move || theirs.run(|| lamprey::sleep(LONG)));
        std::thread::sleep(SHORT);
        token.cancel();
        assert_eq!(sleeper.join().unwrap(), Err(lamprey::Cancelled));
    });
}

#[test]
fn cancelled_when_it_has_just_been_given_a_value_it_returns_that() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let receiver = spawn(move || {
            let got = rx.recv().unwrap();
            assert!(lamprey::is_cancelled());
            got
        });
        yield_now();
        tx.send(7).unwrap(); // it has been woken, and has not run since
        receiver.cancel();
        assert_eq!(receiver.join().unwrap(), 7);

        let (tx, rx) = channel::<u32>();
        let sender = spawn(move || {
            tx.send(8).unwrap();
            assert!(lamprey::is_cancelled());
        });
        yield_now();
        assert_eq!(rx.recv().unwrap(), 8);
        sender.cancel();
        sender.join().unwrap();
    });
}
