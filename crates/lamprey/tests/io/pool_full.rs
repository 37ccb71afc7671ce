//! A pool whose threads are all busy: who waits, who is refused, what is given up, what is counted; and the other pools.

use super::names::Folder;
use crate::common::awaiting::{Wakes, poll};
use crate::common::*;
use lamprey::{
    Io, Runtime, RuntimeBuilder, ThreadPoolStats, block, block_async, block_timeout, compute, try_block,
    try_block_async,
};
use rustix::fs::{CWD, FileType, mknodat};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(5);

fn one_of_each() -> RuntimeBuilder {
    Runtime::builder().workers(1).blocking_threads(1).compute_threads(1).blocking_queue(1)
}

/// Runs `main` with the one thread of the pool for calls that block occupied until the sender is dropped.
fn occupied<T: Send + 'static>(main: impl FnOnce(mpsc::Sender<()>) -> T + Send + 'static) -> T {
    within(FOREVER, || {
        one_of_each().build().unwrap().run(|| {
            let (let_go, held_up) = mpsc::channel::<()>();
            let (started, starts) = mpsc::channel();
            lamprey::spawn(move || {
                block(move || {
                    started.send(()).unwrap();
                    let _ = held_up.recv();
                })
            });
            lamprey::yield_now();
            starts.recv().unwrap();
            main(let_go)
        })
    })
}

fn stats() -> ThreadPoolStats {
    here().stats().blocking
}

#[test]
fn a_call_that_may_be_refused_is_when_the_queue_is_full() {
    occupied(|let_go| {
        // One may wait, also of those that may be refused.
        let waits = blocked(|| try_block(|| 1).map_err(|full| full.to_string()));
        let full = try_block(|| 2).unwrap_err();
        let text = full.to_string();
        assert!(text.contains("(1) are busy") && text.contains("1 calls wait"), "{text}");
        let full_too = lamprey::wait(try_block_async(|| 3)).unwrap_err();
        // Those that wait are not bounded.
        let more: Vec<_> = (0..10).map(|n| blocked(move || block(move || n))).collect();
        let found = stats();
        assert_eq!((found.threads, found.idle, found.queued), (1, 0, 11));
        assert_eq!((found.calls, found.waited, found.rejected), (12, 11, 2));
        drop(let_go);
        assert_eq!(waits.join().unwrap(), Ok(1));
        assert_eq!(more.into_iter().map(|host| host.join().unwrap()).sum::<i32>(), 45);
        assert_eq!((full.into_inner()(), full_too.into_inner()()), (2, 3));
        eventually("a thread is free", || stats().idle == 1);
        assert_eq!((try_block(|| 3).unwrap(), stats().queued), (3, 0));
        assert_eq!(lamprey::wait(try_block_async(|| 4)).unwrap(), 4);
    });
}

#[test]
fn a_time_limit_is_for_the_wait_and_not_for_the_call() {
    occupied(|let_go| {
        let (made, dropped) = (counter(), counter());
        let (theirs, guard) = (made.clone(), Counted(dropped.clone()));
        let call = move || {
            let _guard = guard;
            tick(&theirs);
        };
        assert_eq!(block_timeout(SHORT, call), Err(lamprey::TimedOut));
        assert_eq!((count(&dropped), stats().queued, stats().rejected), (1, 0, 1));
        assert_eq!(block_timeout(Duration::ZERO, || ()), Err(lamprey::TimedOut));
        drop(let_go);
        assert_eq!(block(|| 1), 1); // behind it, if it were still queued
        assert_eq!(count(&made), 0);
        eventually("a thread is free", || stats().idle == 1);
        assert_eq!(block_timeout(Duration::ZERO, || 7), Ok(7), "a free thread takes it");
        assert_eq!(block_timeout(SHORT, || thread::sleep(SHORT * 4)), Ok(()), "it had begun");
        assert_eq!(block_timeout(Duration::MAX, || 8), Ok(8));
    });
}

#[test]
fn what_waits_and_is_given_up_is_never_made_and_takes_no_room() {
    occupied(|let_go| {
        let (made, dropped) = (counter(), counter());
        let call = |made: &Arc<_>, dropped: &Arc<_>| {
            let (made, guard) = (Arc::clone(made), Counted(Arc::clone(dropped)));
            move || {
                let _guard = guard;
                tick(&made);
            }
        };
        let hosts: Vec<_> = (0..5)
            .map(|_| {
                let call = call(&made, &dropped);
                blocked(move || block(call))
            })
            .collect();
        let (_, waker) = Wakes::new();
        let mut futures: Vec<_> = (0..5).map(|_| Box::pin(block_async(call(&made, &dropped)))).collect();
        futures.iter_mut().for_each(|future| assert!(poll(future, &waker).is_pending()));
        assert_eq!(stats().queued, 10);
        hosts.iter().for_each(|host| host.cancel());
        hosts.into_iter().for_each(|host| assert!(host.join().is_err()));
        futures.truncate(2);
        assert_eq!((stats().queued, count(&dropped)), (2, 8));
        assert!(lamprey::with_timeout(SHORT, || block(call(&made, &dropped))).is_err());
        drop(let_go);
        futures.into_iter().for_each(lamprey::wait);
        assert_eq!((count(&made), count(&dropped)), (2, 11));
    });
}

#[test]
fn first_come_first_served() {
    occupied(|let_go| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let hosts: Vec<_> = (0..20)
            .map(|n| {
                let order = order.clone();
                blocked(move || block(|| order.lock().unwrap().push(n)))
            })
            .collect();
        drop(let_go);
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn calls_that_block_for_ever_starve_no_other_class() {
    occupied(|let_go| {
        let queued = blocked(|| block(|| ()));
        let folder = Folder::new("classes");
        let path = folder.0.join("a");
        lamprey::fs::write(&path, "text").unwrap();
        lamprey::fs::rename(&path, folder.0.join("b")).unwrap();
        assert!(lamprey::fs::exists(folder.0.join("b")).unwrap());
        assert!(!lamprey::net::lookup("localhost:1").unwrap().is_empty());
        assert_eq!(compute(|| 6 * 7), 42);
        let all = here().stats();
        assert_eq!((all.compute.calls, all.blocking.queued), (1, 1));
        // None, if it shared the look-up of another test.
        assert!(all.lookups.calls <= 1);
        assert!(all.files.calls >= 2);
        drop(let_go);
        queued.join().unwrap();
    });
}

#[test]
fn files_and_computations_that_take_for_ever_starve_no_other_class() {
    within(FOREVER, || {
        let runtime = one_of_each().file_threads(1).io(Io::Epoll).build().unwrap();
        runtime.run(|| {
            let folder = Folder::new("fifo");
            let fifo = folder.0.join("fifo");
            mknodat(CWD, &fifo, FileType::Fifo, 0o600.into(), 0).unwrap();
            let path = fifo.clone();
            let read = std::fs::File::options().read(true).clone();
            let opens = blocked(move || lamprey::fs::File::open_with(&read, path).unwrap());
            let (let_go, held_up) = mpsc::channel::<()>();
            let computes = blocked(move || compute(move || held_up.recv()));
            let also = blocked(|| compute(|| 1));
            assert_eq!(block(|| 2), 2);
            assert!(lamprey::net::lookup("localhost:1").is_ok());
            // The thread of the first may not have taken it yet.
            let is_taken = || (here().stats().compute.queued, here().stats().files.threads) == (1, 1);
            eventually("one computes, and one waits", is_taken);
            // The other end, on a thread of another pool.
            drop(block(|| std::fs::File::options().write(true).open(&fifo).unwrap()));
            opens.join().unwrap();
            drop(let_go);
            assert!(computes.join().unwrap().is_err());
            assert_eq!(also.join().unwrap(), 1);
        });
    });
}

#[test]
fn a_pool_has_at_least_one_thread() {
    let refused = |builder: RuntimeBuilder| builder.build().unwrap_err().to_string();
    let new = Runtime::builder;
    assert!(refused(new().file_threads(0)).contains("1 file thread, not 0"));
    assert!(refused(new().lookup_threads(0)).contains("1 lookup thread, not 0"));
    assert!(refused(new().compute_threads(0)).contains("1 compute thread, not 0"));
}

#[test]
fn on_an_os_thread_and_within_a_call_nothing_is_refused() {
    assert_eq!(try_block(|| 1).unwrap(), 1);
    assert_eq!(futures::executor::block_on(try_block_async(|| 1)).unwrap(), 1);
    assert_eq!(block_timeout(Duration::ZERO, || 2), Ok(2));
    occupied(|let_go| {
        drop(let_go);
        let both = block(|| (try_block(|| 1).unwrap(), block_timeout(Duration::ZERO, || 2).unwrap()));
        assert_eq!(both, (1, 2));
    });
}

#[test]
fn in_a_simulation_the_same_seed_refuses_the_same() {
    let attempt = |seed| {
        Runtime::simulated(seed).run(|| {
            let hosts: Vec<_> = (0..50)
                .map(|_| {
                    lamprey::spawn(|| {
                        let limited = block_timeout(Duration::from_micros(200), || ()).is_ok();
                        (limited, try_block(|| ()).is_ok(), compute(|| 1))
                    })
                })
                .collect();
            hosts.into_iter().map(|host| host.join().unwrap()).collect::<Vec<_>>()
        })
    };
    let all: Vec<_> = (0..20).map(attempt).collect();
    assert_eq!(all, (0..20).map(attempt).collect::<Vec<_>>());
    assert!(all.iter().flatten().any(|(limited, ..)| !limited));
    assert!(all.iter().flatten().any(|(limited, refused, _)| *limited && *refused));
}
