//! How actors end, who learns of it, and who ends with them.

use crate::common::{FOREVER, run, within};
use crate::messages::{Ask, start};
use lamprey::actor::{self, Address, Ended, Inbox};
use lamprey::event::{Event, choose};
use lamprey::{JoinError, JoinHandle, Runtime, TimedOut, sleep};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An actor that waits for ever, and what it sets when it unwinds.
fn sleeper() -> (Address<()>, JoinHandle<()>, Arc<AtomicBool>) {
    struct Unwinds(Arc<AtomicBool>);
    impl Drop for Unwinds {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let over = Arc::new(AtomicBool::new(false));
    let unwinds = Unwinds(over.clone());
    let (address, host) = actor::spawn(move |_: &mut Inbox<()>| {
        let _unwinds = unwinds;
        sleep(Duration::MAX);
    });
    (address, host, over)
}

#[test]
fn a_monitor_says_how_it_has_ended() {
    for workers in [1, 2] {
        run(workers, || {
            let (address, host) = start();
            let monitor = address.monitor();
            assert_eq!(monitor.wait_timeout(Duration::from_millis(1)), Err(TimedOut));
            assert_eq!(monitor.try_wait(), None);
            address.tell(Ask::Panic).unwrap();
            let Ended::Panicked(text) = monitor.wait() else { panic!("{monitor:?}") };
            assert!(text.starts_with("told to (at ") && text.contains("messages.rs:"), "{text}");
            let Err(JoinError::Panicked(panic)) = host.join() else { panic!("it panicked") };
            assert_eq!(panic.message(), "told to");

            let (address, host) = start();
            let monitors = [address.monitor(), address.monitor()];
            drop(address);
            assert_eq!(lamprey::wait(monitors[0].wait_async()), Ended::Returned);
            assert_eq!(monitors[1].wait_evt().sync(), Ended::Returned);
            assert_eq!(lamprey::wait(async { monitors[1].clone().await }), Ended::Returned);
            assert_eq!(monitors[0].try_wait(), Some(Ended::Returned));
            host.join().unwrap();
        });
    }
}

#[test]
fn the_first_of_many_to_end() {
    run(2, || {
        let (first, _host) = start();
        let (second, _sleeps, _) = sleeper();
        let watch = choose((
            first.monitor().wait_evt().wrap(|ended| ("first", ended)),
            second.monitor().wait_evt().wrap(|ended| ("second", ended)),
        ));
        second.cancel();
        assert_eq!(watch.sync(), ("second", Ended::Cancelled));
    });
}

#[test]
fn cancelled_it_unwinds_and_its_host_with_it() {
    for workers in [1, 2] {
        run(workers, || {
            // By its address, by its handle; before it has started, and while it waits.
            for by_address in [true, false] {
                for started in [true, false] {
                    let (address, host, over) = sleeper();
                    let monitor = address.monitor();
                    if started {
                        address.tell(()).unwrap();
                        crate::common::yield_until("it runs", || host_runs(&host));
                    }
                    if by_address {
                        address.cancel()
                    } else {
                        host.cancel()
                    };
                    assert!(matches!(monitor.wait(), Ended::Cancelled | Ended::NotRun));
                    assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
                    assert!(over.load(Ordering::SeqCst));
                    address.cancel(); // again: nothing
                }
            }
        });
    }
}

/// Enough of a sign: the tests hold either way.
fn host_runs(host: &JoinHandle<()>) -> bool {
    (0..3).for_each(|_| lamprey::yield_now());
    !host.is_finished()
}

#[test]
fn its_runtime_s_end_is_its_end() {
    within(FOREVER, || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let monitor = runtime.run(|| {
            let (address, _host, _) = sleeper();
            lamprey::yield_now();
            address.monitor()
        });
        assert!(runtime.shutdown(FOREVER).is_empty());
        assert!(matches!(monitor.wait(), Ended::Cancelled | Ended::NotRun));
    });
}

#[test]
fn an_inbox_that_is_dropped_has_not_run() {
    let (address, inbox) = actor::inbox::<()>();
    address.tell(()).unwrap();
    drop(inbox);
    assert_eq!(address.monitor().wait(), Ended::NotRun);
    assert!(address.tell(()).is_err());
}

#[test]
fn on_an_os_thread() {
    let (address, mut inbox) = actor::inbox::<u32>();
    let thread = std::thread::spawn(move || inbox.run(|inbox| inbox.iter().sum::<u32>()));
    address.tell(2).unwrap();
    address.cancel();
    within(FOREVER, move || {
        assert_eq!(thread.join().unwrap(), Err(Ended::Cancelled));
        assert_eq!(address.monitor().wait(), Ended::Cancelled);
    });
}

#[test]
fn linked_they_end_together_however_one_ends() {
    for workers in [1, 2] {
        run(workers, || {
            let ends: [fn(Address<Ask>); 3] = [
                drop,                                        // returns
                |address| address.tell(Ask::Panic).unwrap(), // panics
                |address: Address<Ask>| address.cancel(),    // is cancelled
            ];
            for end in ends {
                for first in [true, false] {
                    let ((one, _host), (other, host, over)) = (start(), sleeper());
                    if first {
                        one.link(&other)
                    } else {
                        other.link(&one)
                    }
                    end(one);
                    assert_eq!(other.monitor().wait(), Ended::Linked);
                    assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
                    assert!(over.load(Ordering::SeqCst));
                }
            }
        });
    }
}

#[test]
fn linked_to_one_that_has_ended_it_ends_at_once() {
    run(1, || {
        let (gone, inbox) = actor::inbox::<()>();
        drop(inbox);
        let (other, _host, _) = sleeper();
        other.link(&gone);
        assert_eq!(other.monitor().wait(), Ended::Linked);
        let (other, _host, _) = sleeper();
        gone.link(&other);
        assert_eq!(other.monitor().wait(), Ended::Linked);
    });
}

#[test]
fn a_ring_of_links_ends_as_a_whole_and_a_link_to_itself_is_none() {
    run(2, || {
        let actors: Vec<_> = (0..100).map(|_| sleeper()).collect();
        for (n, (address, ..)) in actors.iter().enumerate() {
            address.link(&actors[(n + 1) % actors.len()].0);
            address.link(address);
        }
        actors[42].0.cancel();
        assert_eq!(actors[42].0.monitor().wait(), Ended::Cancelled);
        for (n, (address, ..)) in actors.iter().enumerate().filter(|(n, _)| *n != 42) {
            assert_eq!(address.monitor().wait(), Ended::Linked, "{n}");
        }
        actors.into_iter().for_each(|(_, host, _)| assert!(host.join().is_err()));
    });
}

#[test]
fn two_that_are_linked_while_they_end() {
    run(2, || {
        for _ in 0..200 {
            let ((one, _a, _), (other, _b, _)) = (sleeper(), sleeper());
            let (theirs, linked) = (other.clone(), one.clone());
            let links = lamprey::Builder::new().spread().spawn(move || linked.link(&theirs)).unwrap();
            one.cancel();
            links.join().unwrap();
            assert_eq!(one.monitor().wait(), Ended::Cancelled);
            assert_eq!(other.monitor().wait(), Ended::Linked);
        }
    });
}

/// Many linked actors make `link` look at many; none of these looks gives way while the hub's list is locked.
#[test]
fn links_to_one_hub_from_several_hosts() {
    let program = || {
        let (hub, _inbox) = actor::inbox::<()>();
        let hosts = [(); 2].map(|()| {
            let hub = hub.clone();
            lamprey::spawn(move || {
                let actors: Vec<_> = (0..200).map(|_| actor::inbox::<()>()).collect();
                for (address, _) in &actors {
                    hub.link(address);
                    lamprey::yield_now();
                }
                actors.len()
            })
        });
        assert_eq!(hosts.map(|host| host.join().unwrap()), [200, 200]);
    };
    within(FOREVER, move || Runtime::simulated(1).run(program));
    run(1, program);
}

#[test]
fn a_run_begins_after_tries_in_vain() {
    // The looks of `run` are counted with these, so one of these numbers would make it give way.
    for tries in 120..136 {
        within(FOREVER, move || {
            Runtime::simulated(1).run(move || {
                let (address, mut inbox) = actor::inbox::<()>();
                let watcher = lamprey::spawn(move || {
                    for _ in 0..tries {
                        let _ = address.monitor();
                        lamprey::yield_now();
                    }
                });
                (0..tries).for_each(|_| assert!(inbox.try_recv().is_err()));
                assert_eq!(inbox.run(|_| 1), Ok(1));
                watcher.join().unwrap();
            });
        });
    }
}

#[test]
fn a_run_within_a_run_is_a_part_of_it() {
    run(1, || {
        let (address, mut inbox) = actor::inbox::<()>();
        let monitor = address.monitor();
        let inner = inbox.run(|inbox| (inbox.run(|_| 1), monitor.try_wait()));
        assert_eq!(inner, Ok((Ok(1), None)));
        assert_eq!(monitor.wait(), Ended::Returned);
        assert_eq!(inbox.run(|_| address.monitor().try_wait()), Ok(None)); // a new one
    });
}
