//! What `threads` says of a thread that waits: for how long, and for whom. What `stuck` finds.

use crate::common::run;
use lamprey::inspect::{Stuck, ThreadRow, stuck, threads};
use lamprey::sync::{Mutex, RwLock};
use lamprey::{
    Builder, JoinHandle, ThreadKind, Wait, channel, current, parasite, parasite_fn, sleep, yield_now,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Who holds a lock is known.
const LOCKS: bool = cfg!(debug_assertions);

fn host(name: &str, main: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    Builder::new().name(name).spawn(main).unwrap()
}

/// Lists the threads until `is_there` accepts one of them.
fn row_where(is_there: impl Fn(&ThreadRow) -> bool) -> ThreadRow {
    loop {
        if let Some(row) = threads().into_iter().find(&is_there) {
            return row;
        }
        yield_now();
    }
}

fn row_of(name: &str, wait: Wait) -> ThreadRow {
    row_where(|row| row.thread().name() == Some(name) && row.wait() == Some(wait))
}

/// Lists the threads until that one waits for another one.
fn row_with_blocker(name: &str) -> ThreadRow {
    row_where(|row| row.thread().name() == Some(name) && !row.blockers().is_empty())
}

fn names(stuck: &Stuck) -> Vec<&str> {
    let mut names: Vec<_> =
        stuck.threads().iter().map(|row| row.thread().name().unwrap_or_default()).collect();
    names.sort_unstable();
    names
}

/// The ring of that thread: other tests of this process have threads, too.
fn stuck_with(name: &str) -> Option<Stuck> {
    stuck().into_iter().find(|stuck| names(stuck).contains(&name))
}

/// Looks until that thread is stuck.
fn await_stuck(name: &str) -> Stuck {
    loop {
        if let Some(stuck) = stuck_with(name) {
            return stuck;
        }
        yield_now();
    }
}

#[test]
fn a_wait_has_lasted_for_as_long_as_it_has() {
    run(2, || {
        let (tx, rx) = channel::<u8>();
        let before = Instant::now();
        let waits = host("receives", move || assert!(rx.recv().is_err()));
        row_of("receives", Wait::Recv);
        let seen = Instant::now();
        sleep(Duration::from_millis(100));
        let asked = Instant::now();
        let waiting = row_of("receives", Wait::Recv).waiting().unwrap();
        // The clock for this is behind by a round at most when a wait begins, and by its unit.
        assert!(waiting + Duration::from_millis(3) >= asked - seen, "{waiting:?} of {:?}", asked - seen);
        assert!(waiting <= before.elapsed() + Duration::from_secs(10), "{waiting:?}");
        drop(tx);
        waits.join().unwrap();
    });
}

#[test]
fn who_runs_has_no_time_and_waits_for_nobody() {
    run(2, || {
        let me = current().id();
        let row = row_where(|row| row.thread().id() == me && row.thread().kind() == ThreadKind::Host);
        assert!(row.blockers().is_empty());
        let parasite = parasite(async { lamprey::yield_now_async().await });
        assert!(threads().iter().filter(|row| row.wait().is_none()).all(|row| row.waiting().is_none()));
        parasite.join().unwrap();
    });
}

#[test]
fn who_waits_for_a_lock_waits_for_its_holder() {
    run(2, || {
        let lock = Arc::new(Mutex::new(0));
        let held = lock.lock().unwrap();
        let theirs = lock.clone();
        let waits = host("locks", move || drop(theirs.lock().unwrap()));
        let row = if LOCKS { row_with_blocker("locks") } else { row_of("locks", Wait::Lock) };
        let holders: Vec<_> = row.blockers().iter().map(|blocker| blocker.thread().id()).collect();
        if LOCKS {
            assert_eq!(holders, [current().id()]);
            assert!(row.blockers()[0].lock_site().unwrap().file().ends_with("rows.rs"));
            assert!(row.to_string().contains("has held it since"), "{row}");
        } else {
            assert!(holders.is_empty());
        }
        drop(held);
        waits.join().unwrap();
        assert!(threads().iter().all(|row| row.thread().name() != Some("locks")));
    });
}

#[test]
fn all_readers_of_a_lock_are_waited_for() {
    run(2, || {
        let lock = Arc::new(RwLock::new(0));
        let (tx, rx) = channel::<u8>();
        let readers = ["one", "two"].map(|name| {
            let (lock, rx) = (lock.clone(), rx.clone());
            host(name, move || {
                let _read = lock.read().unwrap();
                let _ = rx.recv();
            })
        });
        for name in ["one", "two"] {
            row_of(name, Wait::Recv);
        }
        let writer = host("writer", move || *lock.write().unwrap() += 1);
        let row = row_of("writer", Wait::Write);
        let mut holders: Vec<_> = row.blockers().iter().filter_map(|one| one.thread().name()).collect();
        holders.sort_unstable();
        assert_eq!(holders, if LOCKS { vec!["one", "two"] } else { vec![] });
        drop(tx);
        readers.into_iter().chain([writer]).for_each(|host| host.join().unwrap());
    });
}

#[test]
fn who_joins_waits_for_the_thread_of_the_handle() {
    run(2, || {
        let (tx, rx) = channel::<u8>();
        let of_parasite_fn = {
            let rx = rx.clone();
            parasite_fn(move || rx.recv().is_err())
        };
        let of_parasite = {
            let rx = rx.clone();
            Builder::new().name("a parasite").parasite(async move { rx.recv_async().await.is_err() }).unwrap()
        };
        let joined = host("joined", move || assert!(rx.recv().is_err()));
        let joined_id = joined.id();
        let joiner = host("joiner", move || joined.join().unwrap());
        let joiners = [
            host("joiner of a stackful one", move || assert!(of_parasite_fn.join().unwrap())),
            host("joiner of a stackless one", move || assert!(of_parasite.join().unwrap())),
        ];
        let row = row_with_blocker("joiner");
        assert_eq!(row.blockers()[0].thread().id(), joined_id);
        assert!(row.blockers()[0].lock_site().is_none());
        assert!(row.to_string().contains("it joins host") && row.to_string().contains("`joined`"), "{row}");
        let row = row_with_blocker("joiner of a stackful one");
        assert_eq!(row.blockers()[0].thread().kind(), ThreadKind::Parasite);
        let row = row_with_blocker("joiner of a stackless one");
        assert_eq!(row.blockers()[0].thread().name(), Some("a parasite"));
        drop(tx);
        joiners.into_iter().chain([joiner]).for_each(|joiner| joiner.join().unwrap());
    });
}

/// Two hosts that take two locks in opposite orders, the second one by `second`.
fn crossing(names: [&str; 2], second: impl Fn(&Mutex<i32>) + Clone + Send + 'static) -> [JoinHandle<()>; 2] {
    let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let both = Arc::new(lamprey::sync::Barrier::new(2));
    [(names[0], 0, 1), (names[1], 1, 0)].map(|(name, from, to)| {
        let (locks, both, second) = (locks.clone(), both.clone(), second.clone());
        host(name, move || {
            let _held = locks[from].lock();
            both.wait();
            second(&locks[to]);
        })
    })
}

fn take(lock: &Mutex<i32>) {
    drop(lock.lock());
}

#[test]
fn locks_in_two_orders_are_found_while_others_go_on() {
    if !LOCKS {
        return;
    }
    run(2, || {
        let hosts = crossing(["back", "there"], take);
        let found = await_stuck("there");
        assert_eq!(names(&found), ["back", "there"]);
        let text = found.to_string();
        for part in ["these threads wait for each other", "has held it since", "rows.rs:", "lock of a mutex"]
        {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
        assert!(lamprey::inspect::dump().to_string().contains("these threads wait for each other"));
        hosts.iter().for_each(JoinHandle::cancel);
        hosts.into_iter().for_each(|host| drop(host.join()));
        assert!(stuck_with("there").is_none());
    });
}

#[test]
fn a_wait_with_a_time_limit_ends_by_itself() {
    run(2, || {
        let hosts =
            crossing(["this way", "that way"], |lock| drop(lock.lock_timeout(Duration::from_millis(300))));
        while hosts.iter().any(|host| !host.is_finished()) {
            assert!(stuck_with("this way").is_none() && stuck_with("that way").is_none());
            yield_now();
        }
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn who_joins_a_thread_that_waits_for_its_lock_is_stuck() {
    if !LOCKS {
        return;
    }
    run(2, || {
        let lock = Arc::new(Mutex::new(0));
        let joins = host("joins", move || {
            let held = lock.lock();
            let theirs = lock.clone();
            let child = host("child", move || take(&theirs));
            let _ = child.join();
            drop(held);
        });
        assert_eq!(names(&await_stuck("child")), ["child", "joins"]);
        joins.cancel();
        joins.join().unwrap_err();
    });
}

#[test]
fn joins_in_a_ring_are_found() {
    run(2, || {
        let (give_first, take_first) = channel::<JoinHandle<()>>();
        let (give_second, take_second) = channel::<JoinHandle<()>>();
        let first = host("first", move || drop(take_first.recv().unwrap().join()));
        let second = host("second", move || drop(take_second.recv().unwrap().join()));
        give_first.send(second).unwrap();
        give_second.send(first).unwrap();
        assert_eq!(names(&await_stuck("first")), ["first", "second"]);
    });
    assert!(stuck_with("first").is_none(), "they have ended with their runtime");
}

#[test]
fn who_takes_its_own_lock_again_waits_for_itself() {
    if !LOCKS {
        return;
    }
    run(1, || {
        let again = host("again", || {
            let lock = Mutex::new(0);
            let _held = lock.lock();
            take(&lock);
        });
        let found = await_stuck("again");
        assert_eq!(names(&found), ["again"]);
        assert!(found.to_string().contains("this thread waits for itself"), "{found}");
        again.cancel();
        again.join().unwrap_err();
    });
}

/// Threads that take locks in one order, and wait for each other all the time, are in no ring.
#[test]
fn threads_that_get_on_are_not_stuck() {
    run(2, || {
        let locks: Arc<Vec<_>> = Arc::new((0..4).map(|_| Mutex::new(0)).collect());
        let hosts: Vec<_> = (0..16)
            .map(|n| {
                let locks = locks.clone();
                host("gets on", move || {
                    for round in 0..400 {
                        let (a, b) = ((n + round) % 4, (n * 3 + round / 2) % 4);
                        let first = locks[a.min(b)].lock().unwrap();
                        yield_now();
                        if a != b {
                            *locks[a.max(b)].lock().unwrap() += 1;
                        }
                        drop(first);
                    }
                })
            })
            .collect();
        while hosts.iter().any(|host| !host.is_finished()) {
            assert!(stuck_with("gets on").is_none());
        }
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn a_host_that_only_runs_parasites_has_no_row_while_it_is_idle() {
    run(1, || {
        let (tx, rx) = lamprey::unbounded();
        let waits = parasite(async move { rx.recv_async().await });
        // Nobody's wake but that of a kernel thread outside: so a host of the runtime's own runs it.
        std::thread::spawn(move || tx.send(1).unwrap());
        assert_eq!(waits.join().unwrap(), Ok(1));
        sleep(Duration::from_millis(1));
        // Also of the runtimes of other tests.
        let idle = threads()
            .into_iter()
            .find(|row| row.thread().spawn_site().is_none() && row.wait() == Some(Wait::Turn));
        assert!(idle.is_none(), "{idle:?}");
    });
}
