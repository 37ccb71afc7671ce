//! How the outcome of a host finds whoever joins it, and what happens when nobody does.

use crate::common::*;
use lamprey::{Builder, JoinError, JoinHandle, channel, sleep, spawn, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::time::Duration;

fn payload<T>(outcome: Result<T, JoinError>) -> Box<dyn std::any::Any + Send> {
    match outcome {
        Err(JoinError::Panicked(payload)) => payload.into_payload(),
        Err(error) => panic!("not a panic: {error}"),
        Ok(_) => panic!("no panic"),
    }
}

#[test]
fn a_panics_payload_reaches_the_joiner() {
    run(2, || {
        let text = payload(spawn(|| panic!("plain")).join());
        assert_eq!(text.downcast_ref(), Some(&"plain"));
        let owned = payload(spawn(|| panic!("{}", 1 + 1)).join());
        assert_eq!(owned.downcast_ref::<String>().unwrap(), "2");
        let number = payload(spawn(|| panic_any(42_u64)).join());
        assert_eq!(number.downcast_ref(), Some(&42_u64));
        let later = payload(
            spawn(|| {
                yield_now();
                panic_any("later")
            })
            .join(),
        );
        assert_eq!(later.downcast_ref(), Some(&"later"));
    });
}

#[test]
fn an_error_says_what_has_happened() {
    let error = run(1, || spawn(|| panic!("no such key")).join()).unwrap_err();
    assert!(error.to_string().contains("no such key"), "{error}");
    assert!(format!("{error:?}").contains("no such key"));
    let cancelled = {
        let handle = runtime(1).handle();
        handle.spawn(|| ()).join().unwrap_err()
    };
    assert!(cancelled.to_string().contains("cancelled"), "{cancelled}");
}

#[test]
fn hosts_before_and_after_a_panicked_one_are_untouched() {
    run(1, || {
        let hosts: Vec<_> = (0..50).map(|n| spawn(move || assert!(n % 7 != 3, "every seventh"))).collect();
        let failed = hosts.into_iter().map(JoinHandle::join).filter(Result::is_err).count();
        assert_eq!(failed, 7);
    });
}

#[test]
fn a_panic_drops_what_the_host_owns() {
    let drops = counter();
    let held = Counted(drops.clone());
    run(1, move || {
        let host = spawn(move || {
            let _held = held;
            yield_now();
            panic!("with something in hand");
        });
        let _: () = host.join().map_err(drop).unwrap_err();
    });
    assert_eq!(count(&drops), 1);
}

#[test]
fn os_threads_join_hosts() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    let joiner = OsThread::current();
    let slow = handle.spawn(move || {
        eventually("the join", || joiner.is_asleep());
        "slow"
    });
    assert_eq!(slow.join().unwrap(), "slow");
    let quick = handle.spawn(|| "quick");
    eventually("the end of a quick host", || quick.is_finished());
    assert_eq!(quick.join().unwrap(), "quick");
    let failed = handle.spawn(|| panic_any(3_i8));
    assert_eq!(
        payload(std::thread::spawn(move || failed.join()).join().unwrap()).downcast_ref(),
        Some(&3_i8)
    );
}

#[test]
fn a_handle_can_be_joined_elsewhere_than_it_was_made() {
    run(2, || {
        let (tx, rx) = channel();
        let host = spawn(move || rx.recv().unwrap());
        let begun = counter();
        let theirs = begun.clone();
        let joiner = move || {
            tick(&theirs);
            host.join().unwrap() + 1
        };
        let other = Builder::new().worker(1).spawn(joiner).unwrap();
        all_blocked(&here(), || count(&begun) == 1);
        tx.send(5).unwrap();
        assert_eq!(other.join().unwrap(), 6);
    });
}

#[test]
fn is_finished_turns_true_at_the_end_and_not_before() {
    run(1, || {
        let (tx, rx) = channel::<()>();
        let host = spawn(move || rx.recv().unwrap());
        yield_now();
        assert!(!host.is_finished());
        tx.send(()).unwrap();
        crate::common::yield_until("the end", || host.is_finished());
        host.join().unwrap();
    });
}

#[test]
fn a_detached_host_runs_to_its_end() {
    let ends = counter();
    let theirs = ends.clone();
    run(2, move || {
        for _ in 0..100 {
            let ends = theirs.clone();
            drop(spawn(move || {
                yield_now();
                tick(&ends);
            }));
        }
        eventually("the last end", || count(&theirs) == 100);
    });
    assert_eq!(count(&ends), 100);
}

#[test]
fn a_result_that_nobody_takes_is_dropped_once() {
    for workers in [1, 2] {
        let drops = counter();
        let theirs = drops.clone();
        run(workers, move || {
            for n in 0..200 {
                let held = Counted(theirs.clone());
                let host = spawn(move || held);
                match n % 3 {
                    0 => drop(host),
                    1 => {
                        eventually("the end", || host.is_finished());
                        drop(host);
                    }
                    _ => drop(host.join()),
                }
            }
            eventually("all drops", || count(&theirs) == 200);
        });
        assert_eq!(count(&drops), 200);
    }
}

/// Blocks in its destructor until it is let go.
struct Reluctant(lamprey::Receiver<()>, std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Drop for Reluctant {
    fn drop(&mut self) {
        sleep(Duration::from_millis(1));
        self.0.recv().unwrap();
        tick(&self.1);
    }
}

#[test]
fn the_result_of_a_detached_host_may_block_while_it_is_dropped() {
    run(1, || {
        let (tx, rx) = channel();
        let drops = counter();
        let result = Reluctant(rx, drops.clone());
        drop(spawn(move || result));
        let other = spawn(|| 1);
        assert_eq!(other.join().unwrap(), 1);
        tx.send(()).unwrap();
        eventually("the drop", || count(&drops) == 1);
    });
}

#[test]
fn a_panic_in_the_destructor_of_an_unwanted_result_ends_nothing() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    run(1, || {
        drop(spawn(|| Bad));
        let late = spawn(|| Bad);
        eventually("the end", || late.is_finished());
        drop(late);
        assert_eq!(spawn(|| 1).join().unwrap(), 1);
    });
}

#[test]
fn joining_while_unwinding_fails_at_once() {
    struct Joins(Option<JoinHandle<()>>, std::sync::Arc<std::sync::atomic::AtomicUsize>);
    impl Drop for Joins {
        fn drop(&mut self) {
            if matches!(self.0.take().unwrap().join(), Err(JoinError::Unwinding(_))) {
                tick(&self.1);
            }
        }
    }
    run(1, || {
        let refused = counter();
        let theirs = refused.clone();
        let (tx, rx) = channel::<()>();
        let endless = spawn(move || rx.recv().unwrap_or_default());
        let host = spawn(move || {
            let _joins = Joins(Some(endless), theirs);
            panic!("now");
        });
        payload(host.join());
        assert_eq!(count(&refused), 1);
        drop(tx);
    });
}

#[test]
fn joining_a_host_that_has_ended_works_while_unwinding() {
    struct Joins(Option<JoinHandle<u8>>, std::sync::Arc<std::sync::atomic::AtomicUsize>);
    impl Drop for Joins {
        fn drop(&mut self) {
            assert_eq!(self.0.take().unwrap().join().unwrap(), 9);
            tick(&self.1);
        }
    }
    run(1, || {
        let done = counter();
        let ended = spawn(|| 9);
        eventually("its end", || ended.is_finished());
        let held = Joins(Some(ended), done.clone());
        let caught = catch_unwind(AssertUnwindSafe(move || {
            let _held = held;
            panic!("now");
        }));
        assert!(caught.is_err());
        assert_eq!(count(&done), 1);
    });
}

#[test]
fn a_caught_panic_leaves_the_host_able_to_block() {
    run(1, || {
        for _ in 0..20 {
            assert!(catch_unwind(|| panic!("caught")).is_err());
            yield_now();
            sleep(Duration::from_micros(100));
            assert_eq!(spawn(|| 1).join().unwrap(), 1);
        }
    });
}

/// How often `part` is in `text`.
fn times(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn an_unjoined_panic_is_reported_in_one_line_however_the_handle_goes() {
    match role().as_deref() {
        Some("before") => run(1, || drop(Builder::new().name("killed").spawn(|| panic!("why")).unwrap())),
        Some("after") => run(1, || {
            let host = Builder::new().name("killed").spawn(|| panic!("why")).unwrap();
            eventually("its end", || host.is_finished());
            drop(host);
        }),
        Some("from outside") => {
            let runtime = runtime(1);
            let host = Builder::new().name("killed").spawn_in(&runtime.handle(), || panic!("why")).unwrap();
            eventually("its end", || host.is_finished());
            drop(host);
        }
        Some("joined") => run(1, || {
            let host = Builder::new().name("killed").spawn(|| panic!("why")).unwrap();
            payload(host.join());
        }),
        Some("with a hook of the program's") => run(1, || {
            std::panic::set_hook(Box::new(|info| eprintln!("panicked at {}", info.location().unwrap())));
            drop(Builder::new().name("killed").spawn(|| panic!("why")).unwrap());
        }),
        Some(other) => unreachable!("{other}"),
        None => {
            for role in ["before", "after", "from outside", "joined", "with a hook of the program's"] {
                let (output, text) =
                    rerun("an_unjoined_panic_is_reported_in_one_line_however_the_handle_goes", role);
                assert!(output.status.success(), "{role}: {text}");
                // The panic hook's own message, as for any thread.
                assert_eq!(times(&text, "panicked at"), 1, "{role}: {text}");
                // Beside it one line, which names the thread.
                assert_eq!(times(&text, "lamprey: "), 1, "{role}: {text}");
                let line = text.lines().find(|line| line.starts_with("lamprey: ")).unwrap();
                assert!(line.contains("killed"), "{role}: {line}");
                assert!(line.contains("spawned at crates/lamprey/tests/threads/join.rs:"), "{role}: {line}");
                let is_alone = role == "with a hook of the program's";
                assert_eq!(line.contains("panicked and nobody joined it: why"), is_alone, "{role}: {line}");
            }
        }
    }
}

#[test]
fn many_joiners_of_many_hosts_from_many_sides() {
    within(crate::common::FOREVER, || {
        let (a, b) = (runtime(2), runtime(1));
        let hosts: Vec<_> = (0..300_u64)
            .map(|n| {
                a.handle().spawn(move || {
                    if n % 3 == 0 {
                        sleep(Duration::from_micros(n));
                    }
                    n
                })
            })
            .collect();
        let joiners: Vec<_> = hosts
            .into_iter()
            .enumerate()
            .map(|(at, host)| if at % 2 == 0 { b.handle().spawn(|| host.join().unwrap()) } else { host })
            .collect();
        assert_eq!(joiners.into_iter().map(|host| host.join().unwrap()).sum::<u64>(), 299 * 150);
    });
}

/// So that `?` works in functions that return the error types that programs use.
#[test]
fn errors_are_send_and_sync() {
    fn check<E: std::error::Error + Send + Sync + 'static>() {}
    check::<JoinError>();
    check::<lamprey::scope::SupervisorError<std::io::Error>>();
    run(1, || {
        let fails = || -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            lamprey::spawn(|| panic!("on purpose")).join()?;
            Ok(())
        };
        assert!(fails().unwrap_err().to_string().contains("panicked: on purpose"));
    });
}

#[test]
fn a_payload_that_is_not_sync_can_be_taken() {
    run(1, || {
        let host = lamprey::spawn(|| std::panic::panic_any(std::cell::Cell::new(7)));
        let Err(JoinError::Panicked(panic)) = host.join() else { panic!("it has not panicked") };
        assert!(panic.is::<std::cell::Cell<i32>>() && !panic.is::<u8>());
        let payload = panic.into_payload().downcast::<std::cell::Cell<i32>>().unwrap();
        assert_eq!(payload.get(), 7);
    });
}
