//! What threads wait for, and which threads may wait for ever through channels.

use crate::common::run;
use lamprey::event::{Event, choose, timeout};
use lamprey::inspect::{self, Object, Stuck, ThreadRow, stuck, threads};
use lamprey::stm::{TVar, atomically, check};
use lamprey::sync::{Barrier, Condvar, Mutex, RwLock, Semaphore};
use lamprey::{
    Builder, JoinHandle, MVar, Receiver, Sender, ThreadKind, Wait, bounded, broadcast, channel, mailbox,
    multicast, sleep, spawn, unbounded, watch, yield_now,
};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn host(name: &str, main: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    Builder::new().name(name).spawn(main).unwrap()
}

/// What the thread of that name waits for.
fn object_of(name: &str) -> Object {
    loop {
        let is_it = |row: &ThreadRow| row.thread().name() == Some(name) && !row.on().is_empty();
        if let Some(row) = threads().into_iter().find(is_it) {
            return row.on()[0];
        }
        yield_now();
    }
}

fn site(line: u32) -> String {
    format!("crates/lamprey/tests/inspect/objects.rs:{line}:")
}

#[test]
fn channels_are_named_by_where_they_were_made() {
    run(2, || {
        let line = line!();
        let (tx, rx) = channel::<u8>();
        let (full, buffered) = bounded::<u8>(1);
        let (many, pile) = unbounded::<u8>();
        let variable = MVar::<u8>::empty();
        full.send(1).unwrap();
        let theirs = variable.clone();
        let receiver = rx.clone();
        let hosts = [
            host("of a rendezvous", move || assert!(receiver.recv().is_err())),
            host("of a buffer", move || assert!(full.send(2).is_err())),
            host("of a pile", move || assert!(pile.recv().is_err())),
            host("of a variable", move || assert_eq!(theirs.take(), Ok(7))),
        ];
        let text = |name| object_of(name).to_string();
        let rendezvous = object_of("of a rendezvous");
        assert_eq!((rendezvous.senders(), rendezvous.receivers()), (Some(1), Some(2)));
        assert_eq!(object_of("of a rendezvous").number(), rendezvous.number());
        let number = rendezvous.number().unwrap();
        assert!(text("of a rendezvous").starts_with(&format!("channel {number} made at {}", site(line + 1))));
        assert!(text("of a rendezvous").ends_with(" with 1 sender and 2 receivers"));
        assert!(text("of a buffer").contains(&format!(" made at {}", site(line + 2))));
        assert!(text("of a pile").contains(&format!(" made at {}", site(line + 3))));
        assert!(text("of a variable").starts_with("MVar "));
        assert!(text("of a variable").contains(&format!(" made at {}", site(line + 4))));
        assert_ne!(object_of("of a buffer").number(), object_of("of a pile").number());
        drop((tx, rx, buffered, many));
        variable.put(7).unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn oneshots_are_named_by_where_they_were_made() {
    run(2, || {
        let line = line!() + 1;
        let (tx, rx) = lamprey::oneshot::<u8>();
        let (other, others) = lamprey::oneshot::<u8>();
        let waits = host("of a oneshot", move || assert_eq!(rx.recv(), Ok(1)));
        let future = named("of another oneshot", others.into_future());
        if cfg!(debug_assertions) {
            for (name, line) in [("of a oneshot", line), ("of another oneshot", line + 1)] {
                let object = object_of(name);
                assert_eq!(object.wait(), Wait::Recv);
                assert!(object.site().unwrap().to_string().starts_with(&site(line)), "{object}");
            }
        } else {
            row_of("of a oneshot", Wait::Recv);
        }
        tx.send(1).unwrap();
        other.send(2).unwrap();
        waits.join().unwrap();
        assert_eq!(future.join().unwrap(), Ok(2));
    });
}

fn has(stuck: &Stuck, name: &str) -> bool {
    stuck.threads().iter().any(|row| row.thread().name() == Some(name))
}

/// The first end that is dropped may end the other.
fn cancel(hosts: [JoinHandle<()>; 2]) {
    hosts.iter().for_each(JoinHandle::cancel);
    hosts.into_iter().for_each(|host| drop(host.join()));
}

/// What `stuck` finds of a ring, once it finds it.
fn found_of(name: &str) -> Stuck {
    loop {
        if let Some(found) = stuck().into_iter().find(|stuck| has(stuck, name)) {
            return found;
        }
        sleep(Duration::from_millis(50));
    }
}

/// Two hosts with an end of each of two channels: each waits for a message, to pass it on. A third one, which has ended, has made the
/// channels: no other stack has the remains of an end.
macro_rules! ring {
    ($name:literal, $make:expr) => {{
        #[allow(unused_mut, reason = "some kinds receive with a shared reference")]
        let start = move || {
            let ((to_here, mut here), (to_there, mut there)) = ($make, $make);
            [
                host($name, move || {
                    if let Ok(message) = here.recv() {
                        let _ = to_there.send(message);
                    }
                }),
                host("of a ring", move || {
                    if let Ok(message) = there.recv() {
                        let _ = to_here.send(message);
                    }
                }),
            ]
        };
        spawn(start).join().unwrap()
    }};
}

#[test]
fn hosts_in_a_ring_of_channels_are_possibly_stuck() {
    run(2, || {
        let names = ["ring", "ring of buffers", "ring of piles", "ring of mailboxes", "ring of streams"];
        let rings = [
            ring!("ring", channel::<u8>()),
            ring!("ring of buffers", bounded::<u8>(3)),
            ring!("ring of piles", unbounded::<u8>()),
            ring!("ring of mailboxes", mailbox::<u8>()),
            ring!("ring of streams", broadcast::<u8>(3)),
        ];
        for name in names {
            let found = found_of(name);
            assert!(has(&found, "of a ring") && !found.is_certain());
            let text = found.to_string();
            assert!(text.starts_with("these threads may wait for each other for ever"), "{text}");
            assert!(text.contains("receive on a channel"), "{text}");
            assert!(text.contains("made at crates/lamprey/tests/inspect/objects.rs:"), "{text}");
            assert_eq!(text.matches(" with 1 sender and 1 receiver").count(), 2, "{text}");
            assert!(text.contains(", seen on the stack of host "), "{text}");
        }
        rings.into_iter().for_each(cancel);
    });
}

/// As where the sender that someone has forgotten is its own: a thread that waits for the end of what it sends to itself.
#[test]
fn a_host_that_has_the_last_sender_of_what_it_waits_for_shows_it() {
    run(2, || {
        let (tx, rx) = bounded::<u8>(1);
        let forgets = host("forgets its sender", move || {
            let _mine = tx;
            assert!(rx.recv().is_err());
        });
        let object = object_of("forgets its sender");
        assert_eq!((object.senders(), object.receivers()), (Some(1), Some(1)));
        assert!(object.to_string().ends_with(" with 1 sender and 1 receiver"), "{object}");
        forgets.cancel();
        assert!(forgets.join().is_err());
    });
}

/// Weak senders are not counted, so it is not known whether all who could send are on the stacks that are seen.
#[test]
fn hosts_in_a_ring_with_a_weak_sender_are_not_listed() {
    run(2, || {
        let (give, mut weak) = mailbox();
        let make = move || {
            let (tx, rx) = bounded::<u8>(1);
            give.send(Box::new(tx.downgrade())).unwrap();
            (tx, rx)
        };
        let hosts = ring!("ring with another", make());
        let control = ring!("ring without another", bounded::<u8>(1));
        // Both have waited for as long.
        let found = found_of("ring without another");
        assert!(!has(&found, "ring with another"));
        assert!(!stuck().iter().any(|stuck| has(stuck, "ring with another")));
        weak.recv().unwrap().upgrade().unwrap().send(1).unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        cancel(control);
    });
}

#[test]
fn the_ends_of_channels_are_counted() {
    run(2, || {
        let (tx, rx) = watch(0_u8);
        let (stream, mut first) = multicast::<u8>();
        let more = (tx.clone(), tx.subscribe(), stream.subscribe(), first.clone());
        let mut seen = rx.clone();
        let hosts = [
            host("of a watched value", move || assert!(seen.changed().is_err())),
            host("of a multicast", move || assert!(first.recv().is_err())),
        ];
        for (name, ends) in [("of a watched value", (2, 3)), ("of a multicast", (1, 3))] {
            let object = object_of(name);
            assert_eq!((object.senders(), object.receivers()), (Some(ends.0), Some(ends.1)), "{object}");
        }
        drop((tx, rx, stream, more));
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn hundreds_that_wait_alike_are_one_finding_of_two_lines() {
    const MANY: usize = 400;
    run(2, || {
        let starter = spawn(|| {
            let (to_ones, ones) = channel();
            let (to_others, others) = channel();
            let pass_on = |from: &Receiver<u8>, to: &Sender<u8>| {
                if let Ok(message) = from.recv() {
                    let _ = to.send(message);
                }
            };
            let start = move |from: &Receiver<u8>, to: &Sender<u8>| {
                let (from, to) = (from.clone(), to.clone());
                Builder::new()
                    .name("of a crowd")
                    .stack_size(16 << 10)
                    .spawn(move || pass_on(&from, &to))
                    .unwrap()
            };
            let hosts: Vec<_> =
                (0..MANY).flat_map(|_| [start(&ones, &to_others), start(&others, &to_ones)]).collect();
            hosts
        });
        let hosts = starter.join().unwrap();
        let found = loop {
            let all = |stuck: &Stuck| stuck.threads().len() == 2 * MANY;
            if let Some(found) = stuck().into_iter().find(all) {
                break found;
            }
            sleep(Duration::from_millis(50));
        };
        let text = found.to_string();
        assert!(!found.is_certain());
        assert_eq!(text.matches(&format!("; and {} more that wait like it", MANY - 1)).count(), 2, "{text}");
        assert!(text.len() < 10_000, "{text}");
        hosts.iter().for_each(JoinHandle::cancel);
        hosts.into_iter().for_each(|host| drop(host.join()));
    });
}

#[test]
fn who_waits_for_a_thread_that_sleeps_is_not_stuck() {
    run(2, || {
        let (tx, rx) = channel::<u8>();
        let sender = host("wakes later", move || {
            sleep(Duration::from_millis(1500));
            tx.send(1).unwrap();
        });
        let receiver = host("is woken later", move || assert_eq!(rx.recv(), Ok(1)));
        while !receiver.is_finished() {
            assert!(!stuck().iter().any(|stuck| has(stuck, "is woken later")));
            sleep(Duration::from_millis(100));
        }
        receiver.join().unwrap();
        sender.join().unwrap();
    });
}

/// The row of the thread of that name, once it waits for that.
fn row_of(name: &str, wait: Wait) -> ThreadRow {
    loop {
        let is_it = |row: &ThreadRow| row.thread().name() == Some(name) && row.wait() == Some(wait);
        if let Some(row) = threads().into_iter().find(is_it) {
            return row;
        }
        yield_now();
    }
}

#[test]
fn a_choice_tells_what_its_branches_wait_for() {
    run(2, || {
        let line = line!();
        let (tx, rx) = channel::<u8>();
        let (_many, pile) = channel::<u8>();
        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().unwrap();
        let theirs = lock.clone();
        let all: Vec<_> = (0..10).map(|_| channel::<u8>()).collect();
        let receivers: Vec<_> = all.iter().map(|(_, rx)| rx.clone()).collect();
        let hosts = [
            host("chooses", move || {
                choose((
                    rx.recv_evt().wrap(drop),
                    pile.recv_evt().wrap(drop).boxed(),
                    theirs.lock_evt().wrap(drop),
                    timeout(Duration::from_secs(600)),
                ))
                .sync();
            }),
            host("chooses of many", move || {
                let events: Vec<_> = receivers.iter().map(|rx| rx.recv_evt()).collect();
                choose(events).sync().unwrap_err();
            }),
        ];
        let row = row_of("chooses", Wait::Choice);
        let waits: Vec<_> = row.on().iter().map(Object::wait).collect();
        assert_eq!(waits, [Wait::Recv, Wait::Recv, Wait::Lock, Wait::Sleep]);
        let site_of = |n: usize| row.on()[n].site().map(ToString::to_string).unwrap_or_default();
        assert!(site_of(0).starts_with(&site(line + 1)) && site_of(1).starts_with(&site(line + 2)));
        assert_eq!(site_of(2).starts_with(&site(line + 3)), cfg!(debug_assertions));
        let text = row.to_string();
        assert!(text.contains(": choice of events for "), "{text}");
        assert!(text.contains("; receive on a channel: channel "), "{text}");
        assert!(text.contains("; sleep"), "{text}");
        let many = row_of("chooses of many", Wait::Choice);
        assert_eq!(many.on().len(), 8);
        assert!(many.to_string().contains("; and 2 more"), "{many}");
        drop((tx, held, all));
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn locks_are_named_by_where_they_were_made() {
    run(2, || {
        let line = line!();
        let mutex = Arc::new(Mutex::new(()));
        let table = Arc::new(RwLock::new(()));
        let seats = Arc::new(Semaphore::new(0));
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let start = Arc::new(Barrier::new(2));
        let (held, written) = (mutex.lock().unwrap(), table.write().unwrap());
        let theirs = (mutex.clone(), table.clone(), seats.clone(), pair.clone(), start.clone());
        let hosts = [
            host("of a mutex", move || drop(theirs.0.lock())),
            host("of a table", move || drop(theirs.1.read())),
            host("of a seat", move || drop(theirs.2.acquire(1))),
            host("of a condition", move || {
                let guard = theirs.3.0.lock().unwrap();
                drop(theirs.3.1.wait_while(guard, |is_over| !*is_over));
            }),
            host("of a barrier", move || _ = theirs.4.wait()),
        ];
        let expected = [
            ("of a mutex", Wait::Lock, "mutex ", 1),
            ("of a table", Wait::Read, "RwLock ", 2),
            ("of a seat", Wait::Permit, "semaphore ", 3),
            ("of a condition", Wait::Condvar, "condition variable ", 4),
            ("of a barrier", Wait::Barrier, "barrier ", 5),
        ];
        for (name, wait, kind, lines) in expected {
            let row = row_of(name, wait);
            if wait == Wait::Barrier || cfg!(debug_assertions) {
                let text = row.on()[0].to_string();
                assert!(text.starts_with(kind), "{text}");
                assert!(text.contains(&format!(" made at {}", site(line + lines))), "{text}");
            } else {
                assert!(row.on().is_empty());
            }
            if wait == Wait::Lock && cfg!(debug_assertions) {
                assert_eq!(row.blockers()[0].thread().id(), lamprey::current().id());
            }
        }
        drop((held, written));
        seats.add_permits(1);
        *pair.0.lock().unwrap() = true;
        pair.1.notify_all();
        start.wait();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn scopes_and_descriptors_are_named() {
    run(2, || {
        let (tx, rx) = channel::<()>();
        let line = line!() + 2;
        let owner = host("owns a scope", move || {
            lamprey::scope(|scope| {
                scope.spawn(|| rx.recv());
            });
        });
        let row = row_of("owns a scope", Wait::Scope);
        assert!(row.on()[0].to_string().starts_with("scope "));
        assert!(row.on()[0].site().unwrap().to_string().starts_with(&site(line)));
        drop(tx);
        owner.join().unwrap();

        let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, number) = (listener.local_addr().unwrap(), listener.as_raw_fd());
        let accepts = host("accepts", move || drop(listener.accept().unwrap()));
        let row = row_of("accepts", Wait::Accept);
        assert_eq!(row.on()[0].number(), Some(u64::try_from(number).unwrap()));
        assert_eq!(row.on()[0].to_string(), format!("descriptor {number} (TCP listener at {address})"));
        drop(lamprey::net::TcpStream::connect(address));
        accepts.join().unwrap();
    });
}

fn named<F>(name: &str, future: F) -> lamprey::ParasiteHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    Builder::new().name(name).parasite(future).unwrap()
}

#[test]
fn what_futures_wait_for_is_told() {
    run(2, || {
        let (tx, rx) = channel::<u8>();
        let theirs = rx.clone();
        let line = line!() - 2;
        let waits = host("waits for a future", move || {
            let boxed: std::pin::Pin<Box<dyn Future<Output = _> + Send>> =
                Box::pin(async move { theirs.recv_async().await });
            assert!(lamprey::wait(boxed).is_err());
        });
        let row = row_of("waits for a future", Wait::Future);
        assert_eq!(row.on()[0].wait(), Wait::Recv);
        let text = row.to_string();
        assert!(text.contains("; receive on a channel"), "{text}");
        let receives = named("receives", async move { rx.recv_async().await });
        let sleeps = named("sleeps", async { lamprey::sleep_async(Duration::from_secs(600)).await });
        let foreign = named(
            "of a library",
            std::future::poll_fn(|cx: &mut std::task::Context<'_>| {
                std::mem::forget(cx.waker().clone());
                std::task::Poll::<()>::Pending
            }),
        );
        let receiver = row_of("receives", Wait::Recv);
        row_of("sleeps", Wait::Sleep);
        row_of("of a library", Wait::Future);
        if cfg!(debug_assertions) {
            assert!(
                text.contains(&format!(": channel {} made at ", row.on()[0].number().unwrap())),
                "{text}"
            );
            assert_eq!(receiver.on()[0].number(), row.on()[0].number());
            assert!(receiver.on()[0].site().unwrap().to_string().starts_with(&site(line)));
        }
        sleeps.cancel();
        foreign.cancel();
        drop(tx);
        assert!(receives.join().unwrap().is_err());
        waits.join().unwrap();
        drop((sleeps.join(), foreign.join()));
    });
}

#[test]
fn a_thread_that_computes_tells_how_long() {
    run(2, || {
        // Relaxed (all): flags, with which no data travels.
        let flags = Arc::new([const { AtomicBool::new(false) }; 2]);
        let theirs = flags.clone();
        let computes = host("computes", move || {
            let [begun, stop] = &*theirs;
            begun.store(true, Ordering::Relaxed);
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let [begun, stop] = &*flags;
        while !begun.load(Ordering::Relaxed) {
            // Without a turn: on this worker it would never let this thread go on.
            std::thread::sleep(Duration::from_millis(1));
        }
        let held = loop {
            let rows = threads();
            let row = rows.iter().find(|row| row.thread().name() == Some("computes"));
            if let Some(held) = row.and_then(ThreadRow::held) {
                break held;
            }
        };
        assert!(held >= Duration::from_millis(10), "{held:?}"); // it is asked by a signal after that
        stop.store(true, Ordering::Relaxed);
        computes.join().unwrap();
    });
}

#[test]
fn a_kernel_thread_that_waits_is_listed() {
    let line = line!() + 1;
    let (tx, rx) = channel::<u8>();
    let waits = std::thread::Builder::new().name("no worker".into()).spawn(move || rx.recv()).unwrap();
    run(1, move || {
        let row = row_of("no worker", Wait::Recv);
        let thread = row.thread();
        assert_eq!((thread.kind(), thread.worker()), (ThreadKind::Os, None));
        assert!(thread.id() > 0 && row.waiting().is_some());
        assert!(row.on()[0].site().unwrap().to_string().starts_with(&site(line)));
        let text = inspect::dump().to_string();
        assert!(
            text.contains(&format!(
                "OS thread {} `no worker`, waits: receive on a channel for ",
                thread.id()
            )),
            "{text}"
        );
        tx.send(1).unwrap();
        assert_eq!(waits.join().unwrap(), Ok(1));
        assert!(!threads().iter().any(|row| row.thread().name() == Some("no worker")));
    });
}

#[test]
fn transactional_variables_are_named_by_where_they_were_made() {
    run(2, || {
        let line = line!() + 1;
        let (stock, closed) = (TVar::new(0_u32), TVar::new(false));
        let (theirs, also) = (stock.clone(), closed.clone());
        let buyer = host("of two variables", move || {
            assert!(atomically(|tx| {
                check(theirs.get(tx)? > 0 || also.get(tx)?)?;
                also.get(tx)
            }));
        });
        let row = row_of("of two variables", Wait::Transaction);
        if cfg!(debug_assertions) {
            let sites: Vec<_> = row.on().iter().map(|object| object.site().unwrap().to_string()).collect();
            assert!(
                sites.len() == 2 && sites.iter().all(|place| place.starts_with(&site(line))),
                "{sites:?}"
            );
            assert_ne!(row.on()[0].number(), row.on()[1].number());
            let text = row.to_string();
            assert!(text.contains(": transactional variable "), "{text}");
        } else {
            assert!(row.on().is_empty(), "{row}");
        }
        drop(stock);
        // Memory of a variable that is gone is used for the next one, which is made elsewhere.
        (0..100).for_each(|n| drop(TVar::new(n)));
        let line = line!() + 1;
        let next = TVar::new(0_u32);
        let theirs = next.clone();
        let waits = host("of the next variable", move || atomically(|tx| check(theirs.get(tx)? > 0)));
        if cfg!(debug_assertions) {
            let place = object_of("of the next variable").site().unwrap().to_string();
            assert!(place.starts_with(&site(line)), "{place}");
        }
        atomically(|tx| next.set(tx, 1));
        atomically(|tx| closed.set(tx, true));
        [buyer, waits].into_iter().for_each(|host| host.join().unwrap());
    });
}

/// They are events of one branch, but not to who reads a report.
#[test]
fn locks_that_are_awaited_are_no_choice() {
    run(2, || {
        let line = line!();
        let mutex = Arc::new(Mutex::new(()));
        let table = Arc::new(RwLock::new(()));
        let seats = Arc::new(Semaphore::new(0));
        let (held, written) = (mutex.lock().unwrap(), table.write().unwrap());
        let (of_lock, of_read, of_write, of_seat) =
            (mutex.clone(), table.clone(), table.clone(), seats.clone());
        let awaiting = [
            named("awaits a lock", async move { drop(of_lock.lock_async().await) }),
            named("awaits a read", async move { drop(of_read.read_async().await) }),
            named("awaits a write", async move { drop(of_write.write_async().await) }),
            named("awaits a seat", async move { drop(of_seat.acquire_async(1).await) }),
        ];
        let (rx, other) = (channel::<u8>().1, channel::<u8>());
        let chooses = named("awaits one of two", async move {
            let _other = &other;
            choose((other.1.recv_evt().wrap(drop), timeout(Duration::from_secs(600)))).await;
            drop(rx);
        });
        let expected = [
            ("awaits a lock", Wait::Lock, line + 1),
            ("awaits a read", Wait::Read, line + 2),
            ("awaits a write", Wait::Write, line + 2),
            ("awaits a seat", Wait::Permit, line + 3),
        ];
        for (name, wait, line) in expected {
            let row = row_of(name, wait);
            if cfg!(debug_assertions) {
                let place = row.on()[0].site().unwrap().to_string();
                assert!(place.starts_with(&site(line)), "{row}");
            }
        }
        row_of("awaits one of two", Wait::Choice);
        drop((held, written));
        seats.add_permits(1);
        awaiting.into_iter().for_each(|parasite| parasite.join().unwrap());
        chooses.cancel_and_join().unwrap_err();
    });
}
