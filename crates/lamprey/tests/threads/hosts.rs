//! Hosts from their spawn to their end: results, names, places in the source, turns.

use crate::common::{Counted, FOREVER, Fifo, count, counter, run, runtime, tick, within, yield_until};
use lamprey::{Builder, Handle, JoinError, ThreadKind, current, spawn, yield_now};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn every_host_gives_its_own_result() {
    for workers in [1, 2] {
        let results = run(workers, || {
            let hosts: Vec<_> = (0..1000_u64).map(|n| spawn(move || n * n)).collect();
            hosts.into_iter().map(|host| host.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(results.iter().copied().eq((0..1000).map(|n| n * n)));
    }
}

#[test]
fn hosts_spawn_hosts_that_spawn_hosts() {
    fn tree(depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let children = [(); 3].map(|()| spawn(move || tree(depth - 1)));
        children.into_iter().map(|child| child.join().unwrap()).sum::<u32>() + 1
    }
    for workers in [1, 2] {
        assert_eq!(run(workers, || tree(6)), (3_u32.pow(7) - 1) / 2);
    }
}

#[test]
fn a_chain_of_hosts_each_joined_by_its_parent() {
    fn chain(left: u32) -> u32 {
        if left == 0 { 0 } else { spawn(move || chain(left - 1)).join().unwrap() + 1 }
    }
    assert_eq!(run(1, || chain(2000)), 2000);
}

#[test]
fn run_lends_what_its_caller_owns() {
    let runtime = runtime(2);
    let mut words = vec!["one"];
    let length = runtime.run(|| {
        words.push("two");
        yield_now();
        words.len()
    });
    assert_eq!((length, words), (2, vec!["one", "two"]));
}

#[test]
fn a_panic_of_the_main_host_comes_out_of_run() {
    let runtime = runtime(1);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.run(|| std::panic::panic_any(7_u8));
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7_u8));
    assert_eq!(runtime.run(|| 1), 1, "the runtime goes on");
}

#[test]
fn spawn_outside_of_a_host_says_what_to_use() {
    let caught = std::panic::catch_unwind(|| drop(spawn(|| ())));
    let text = *caught.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("outside of a host") && text.contains("Handle"), "{text}");
}

#[test]
fn the_builder_names_what_it_refuses() {
    let outside = Builder::new().spawn(|| ()).unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::NotConnected);
    run(2, || {
        let text = |builder: Builder| {
            let error = builder.spawn(|| ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            error.to_string()
        };
        assert!(text(Builder::new().worker(2)).contains("no worker 2"));
        assert!(text(Builder::new().worker(usize::MAX)).contains(&usize::MAX.to_string()));
        let large = (1 << 30) + 1;
        assert!(text(Builder::new().stack_size(large)).contains(&large.to_string()));
        assert!(text(Builder::new().stack_size(usize::MAX)).contains(&usize::MAX.to_string()));
    });
}

#[test]
fn a_refused_closure_is_dropped_once() {
    let drops = counter();
    let held = Counted(drops.clone());
    run(1, move || drop(Builder::new().worker(9).spawn(move || drop(held)).unwrap_err()));
    assert_eq!(count(&drops), 1);
}

#[test]
fn the_runtime_builder_names_what_it_refuses() {
    let refused = |builder: lamprey::RuntimeBuilder| {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        error.to_string()
    };
    let new = lamprey::Runtime::builder;
    assert!(refused(new().workers(0)).contains("not 0"));
    assert!(refused(new().workers(1025)).contains("not 1025"));
    assert!(refused(new().blocking_threads(0)).contains("not 0"));
    assert!(refused(new().stack_size(usize::MAX)).contains(&usize::MAX.to_string()));
}

#[test]
fn every_stack_size_from_nothing_to_megabytes_runs() {
    run(1, || {
        for bytes in [0, 1, 16 << 10, (16 << 10) + 1, 64 << 10, 256 << 10, (256 << 10) + 1, 8 << 20] {
            let host = Builder::new().stack_size(bytes).spawn(move || {
                yield_now();
                bytes
            });
            assert_eq!(host.unwrap().join().unwrap(), bytes);
        }
    });
}

#[test]
fn a_large_stack_can_be_used_to_its_depth() {
    #[inline(never)]
    fn deep(top: usize, bytes: usize, level: usize) -> usize {
        let frame = std::hint::black_box([7u8; 1024]);
        // AddressSanitizer keeps locals elsewhere, and its tests are optimised: a call takes a known amount.
        let used = if cfg!(feature = "asan") { level * 1200 } else { top - frame.as_ptr().addr() };
        if used >= bytes { used } else { deep(top, bytes, level + 1).max(usize::from(frame[0])) }
    }
    run(1, || {
        let host = Builder::new().stack_size(8 << 20).spawn(|| {
            let top = 0u8;
            deep((&raw const top).addr(), 7 << 20, 0)
        });
        assert!(host.unwrap().join().unwrap() >= 7 << 20);
    });
}

#[test]
fn current_tells_name_place_and_kind() {
    run(2, || {
        let line = line!() + 1;
        let host = Builder::new().name("reader").spawn(current).unwrap();
        assert_eq!(host.name(), Some("reader"));
        let id = host.id();
        let info = host.join().unwrap();
        assert_eq!((info.id(), info.name(), info.kind()), (id, Some("reader"), ThreadKind::Host));
        assert!(info.worker().is_some_and(|worker| worker < 2));
        let site = info.spawn_site().unwrap();
        assert_eq!((site.file(), site.line()), (file!(), line));
    });
    let outside = current();
    assert_eq!((outside.kind(), outside.worker(), outside.id()), (ThreadKind::Os, None, 0));
    assert!(outside.spawn_site().is_none() && Handle::current().is_none());
}

#[test]
fn the_site_is_the_callers_for_each_way_to_spawn() {
    let site = |info: lamprey::ThreadInfo| info.spawn_site().unwrap().line();
    let runtime = runtime(1);
    assert_eq!(site(runtime.run(current)), line!());
    let handle = runtime.handle();
    assert_eq!(site(handle.spawn(current).join().unwrap()), line!());
    let built = Builder::new().spawn_in(&handle, current).unwrap().join().unwrap();
    assert_eq!(site(built), line!() - 1);
    assert_eq!(runtime.run(move || site(spawn(current).join().unwrap())), line!());
}

#[test]
fn no_two_hosts_have_one_number() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    let mut ids: Vec<u64> = (0..100).map(|_| handle.spawn(|| current().id()).join().unwrap()).collect();
    ids.extend(runtime.run(|| {
        let hosts: Vec<_> = (0..2)
            .map(|worker| {
                let spawner =
                    || (0..100).map(|_| spawn(|| current().id()).join().unwrap()).collect::<Vec<_>>();
                Builder::new().worker(worker).spawn(spawner).unwrap()
            })
            .collect();
        hosts.into_iter().flat_map(|host| host.join().unwrap()).collect::<Vec<_>>()
    }));
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 300);
}

#[test]
fn os_threads_spawn_through_a_handle() {
    let runtime = runtime(2);
    let threads: Vec<_> = (0..4_usize)
        .map(|n| {
            let handle = runtime.handle();
            std::thread::spawn(move || {
                (0..200_usize).map(|m| handle.spawn(move || n * m).join().unwrap()).sum::<usize>()
            })
        })
        .collect();
    let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(sum, 6 * (199 * 200 / 2));
}

#[test]
fn a_handle_that_outlives_its_runtime_spawns_nothing() {
    let handle = {
        let runtime = runtime(2);
        runtime.handle()
    };
    let drops = counter();
    let held = Counted(drops.clone());
    let ran = counter();
    let theirs = ran.clone();
    let host = handle.spawn(move || {
        let _held = held;
        tick(&theirs);
    });
    assert!(host.is_finished());
    assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    assert_eq!((count(&drops), count(&ran)), (1, 0));
    let placed = Builder::new().worker(1).spawn_in(&handle, || ()).unwrap();
    assert!(matches!(placed.join(), Err(JoinError::Cancelled(_))));
}

#[test]
fn hosts_that_yield_for_ever_hold_up_no_new_one() {
    for workers in [1, 2] {
        run(workers, || {
            let stop = Arc::new(AtomicBool::new(false));
            let yielders: Vec<_> = (0..3)
                .map(|_| {
                    let stop = stop.clone();
                    spawn(move || {
                        while !stop.load(Ordering::Relaxed) {
                            yield_now();
                        }
                    })
                })
                .collect();
            let (ran, theirs) = (counter(), stop.clone());
            let seen = ran.clone();
            let third = spawn(move || {
                tick(&seen);
                theirs.store(true, Ordering::Relaxed);
            });
            yield_until("the third host's turn", || count(&ran) == 1);
            third.join().unwrap();
            yielders.into_iter().for_each(|host| host.join().unwrap());
        });
    }
}

#[test]
fn hosts_that_wake_each_other_for_ever_hold_up_nobody() {
    run(1, || {
        let (ping, pinged) = lamprey::channel::<()>();
        let (pong, ponged) = lamprey::channel::<()>();
        let a = spawn(move || while ping.send(()).is_ok() && ponged.recv().is_ok() {});
        let (stop, rounds) = (Arc::new(AtomicBool::new(false)), counter());
        let (theirs, turns) = (stop.clone(), rounds.clone());
        let b = spawn(move || {
            while !theirs.load(Ordering::Relaxed) && pinged.recv().is_ok() && pong.send(()).is_ok() {
                tick(&turns);
            }
        });
        (0..100).for_each(|_| spawn(yield_now).join().unwrap());
        assert!(count(&rounds) >= 100, "the two had {} turns beside 100 hosts", count(&rounds));
        stop.store(true, Ordering::Relaxed);
        b.join().unwrap();
        a.join().unwrap();
    });
}

#[test]
fn yielding_alone_comes_back() {
    /// Counts how often it is asked for another host.
    struct Asked(Fifo, Arc<AtomicUsize>);
    impl lamprey::Policy for Asked {
        fn ready(&mut self, thread: lamprey::Ready, why: lamprey::Why) {
            self.0.ready(thread, why);
        }
        fn next(&mut self, unstarted: &mut lamprey::Unstarted<'_>) -> Option<lamprey::Ready> {
            tick(&self.1);
            self.0.next(unstarted)
        }
    }
    let asked = counter();
    let theirs = asked.clone();
    let policy = move || Asked(Fifo::default(), theirs.clone());
    let runtime = lamprey::Runtime::builder().workers(1).policy(policy).build().unwrap();
    within(FOREVER, move || {
        runtime.run(|| {
            let (me, before) = (current().id(), count(&asked));
            (0..10_000).for_each(|_| yield_now());
            assert!(count(&asked) - before >= 10_000, "a yield has looked for nobody");
            assert_eq!(current().id(), me);
        });
    });
    yield_now(); // an OS thread
}

#[test]
fn the_first_host_is_named_main() {
    let name = || current().name().map(str::to_owned);
    assert_eq!(lamprey::run(name).as_deref(), Some("main"));
    assert_eq!(runtime(1).run(name).as_deref(), Some("main"));
}
