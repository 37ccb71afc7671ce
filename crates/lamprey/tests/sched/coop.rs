//! Hosts whose calls always succeed at once do not keep their worker's timers, sockets and other hosts
//! waiting, whatever they call.

use crate::common::beside::{TIMES, compute, serves_others};
use crate::common::{FOREVER, run, within};
use lamprey::event::{Event, always, choose, never};
use lamprey::net::{TcpListener, TcpStream};
use lamprey::sync::{Mutex, RwLock, Semaphore};
use lamprey::{JoinError, channel, parasite, parasite_fn, sleep, spawn, wait};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

#[test]
fn bounded_channels() {
    serves_others(|| {
        let (tx, rx) = lamprey::bounded(4);
        Box::new(move || {
            tx.send(1).unwrap();
            rx.recv().unwrap();
        })
    });
}

#[test]
fn two_hosts_that_feed_each_other() {
    run(1, || {
        let done = Arc::new(AtomicBool::new(false));
        let ((to, from), (back, answers)) = (lamprey::bounded(1000), lamprey::bounded(1000));
        (0..500).for_each(|n| to.send(n).unwrap());
        let echo = spawn(move || from.iter().try_for_each(|n| back.send(n)));
        let is_done = done.clone();
        let first = spawn(move || {
            while !is_done.load(Ordering::Relaxed) {
                to.send(answers.recv().unwrap()).unwrap();
            }
        });
        (0..TIMES).for_each(|_| sleep(Duration::from_millis(1)));
        done.store(true, Ordering::Relaxed);
        first.join().unwrap();
        let _ = echo.join().unwrap();
    });
}

#[test]
fn other_channels() {
    serves_others(|| {
        let (tx, mut rx) = lamprey::mailbox();
        Box::new(move || {
            tx.send(1).unwrap();
            rx.recv().unwrap();
        })
    });
    serves_others(|| {
        let place = lamprey::MVar::empty();
        Box::new(move || {
            place.put(1).unwrap();
            place.take().unwrap();
        })
    });
    serves_others(|| {
        Box::new(|| {
            let (tx, rx) = lamprey::oneshot();
            tx.send(1).unwrap();
            rx.recv().unwrap();
        })
    });
}

#[test]
fn locks() {
    serves_others(|| {
        let mutex = Mutex::new(0);
        Box::new(move || *mutex.lock().unwrap() += 1)
    });
    serves_others(|| {
        let lock = RwLock::new(0);
        Box::new(move || {
            *lock.write().unwrap() += 1;
            assert_ne!(*lock.read().unwrap(), 0);
        })
    });
    serves_others(|| {
        let permits = Semaphore::new(1);
        Box::new(move || drop(permits.acquire(1).unwrap()))
    });
}

/// A guard that is never dropped is waited for, but not for ever.
#[test]
fn locks_that_are_never_released() {
    serves_others(|| {
        Box::new(|| {
            let mutex: &'static _ = Box::leak(Box::new(Mutex::new(0)));
            std::mem::forget(mutex.lock().unwrap());
        })
    });
}

/// A host whose time is over while it holds a mutex yields after it has released that, whichever of its calls
/// finds out: else others would wait for the lock until the host's next turn, and others for theirs.
#[test]
fn who_holds_a_lock_does_not_give_way_in_the_next_one() {
    for parity in 0..2 {
        run(1, move || {
            let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
            let (theirs, done) = (locks.clone(), Arc::new(AtomicBool::new(false)));
            let is_done = done.clone();
            let busy = spawn(move || {
                (0..parity).for_each(|_| *theirs[0].lock().unwrap() += 1);
                while !is_done.load(Ordering::Relaxed) {
                    let mut outer = theirs[0].lock().unwrap();
                    *outer += 1;
                    *theirs[1].lock().unwrap() += 1;
                }
            });
            let is_held = |_: &u32| {
                lamprey::yield_now();
                locks.iter().any(|lock| lock.try_lock().is_err())
            };
            let held = (0..TIMES).filter(is_held).count();
            done.store(true, Ordering::Relaxed);
            busy.join().unwrap();
            assert!(held <= TIMES as usize / 4, "held {held} times of {TIMES}");
        });
    }
}

#[test]
fn events() {
    serves_others(|| Box::new(|| assert_eq!(choose((always(1), never())).sync(), 1)));
    serves_others(|| {
        let (tx, rx) = lamprey::bounded(4);
        Box::new(move || {
            choose((tx.send_evt(1).wrap(drop), never())).sync();
            rx.recv_evt().sync().unwrap();
        })
    });
}

#[test]
fn tries() {
    serves_others(|| {
        let (tx, rx) = channel::<u8>();
        Box::new(move || assert!(rx.try_recv().is_err() && tx.try_send(1).is_err()))
    });
    serves_others(|| {
        let (tx, rx) = lamprey::bounded(1);
        let (_full, empty) = (tx.try_send(1), lamprey::MVar::<u8>::empty());
        Box::new(move || {
            assert!(tx.try_send(1).is_err() && empty.try_take().is_none());
            assert_eq!(rx.len(), 1);
        })
    });
    serves_others(|| {
        let (mutex, lock, permits) = (Mutex::new(0), RwLock::new(0), Semaphore::new(0));
        std::mem::forget(mutex.try_lock());
        std::mem::forget(lock.try_read());
        Box::new(move || {
            assert!(
                mutex.try_lock().is_err() && lock.try_write().is_err() && permits.try_acquire(1).is_err()
            );
        })
    });
    serves_others(|| {
        let value = lamprey::IVar::new();
        value.put(1).unwrap();
        Box::new(move || assert_eq!(value.get(), 1))
    });
    serves_others(|| {
        let (_tx, mut rx) = lamprey::mailbox::<u8>();
        Box::new(move || assert!(rx.try_recv().is_err()))
    });
}

#[test]
fn parasites() {
    serves_others(|| {
        let lock = Mutex::new(0);
        Box::new(move || {
            let (one, other) = (parasite(async { 1 }), parasite_fn(|| 2));
            *lock.lock().unwrap() += one.join().unwrap() + other.join().unwrap();
        })
    });
    serves_others(|| {
        let (tx, rx) = lamprey::bounded(4);
        Box::new(move || {
            let _ = wait(tx.send_async(1));
            let _ = wait(rx.recv_async());
        })
    });
}

/// Who only looks whether somebody has ended lets him run.
#[test]
fn is_finished() {
    run(1, || {
        let host = spawn(|| sleep(Duration::from_millis(1)));
        while !host.is_finished() {}
        let (tx, rx) = channel::<u8>();
        let parasite = parasite(async move { rx.recv_async().await.unwrap() });
        let sender = spawn(move || tx.send(1).unwrap());
        while !parasite.is_finished() {}
        sender.join().unwrap();
    });
}

/// What it calls gives way under the parasite, too.
#[test]
fn within_parasites() {
    for stackful in [false, true] {
        run(1, move || {
            let done = Arc::new(AtomicBool::new(false));
            let is_done = done.clone();
            let work = move || {
                let (tx, rx) = lamprey::bounded(4);
                let lock = Mutex::new(0);
                while !is_done.load(Ordering::Relaxed) {
                    tx.send(1).unwrap();
                    *lock.lock().unwrap() += rx.recv().unwrap();
                }
            };
            let sleeper = spawn(move || {
                (0..TIMES).for_each(|_| sleep(Duration::from_millis(1)));
                done.store(true, Ordering::Relaxed);
            });
            if stackful {
                parasite_fn(work).join().unwrap();
            } else {
                parasite(async move { work() }).join().unwrap();
            }
            sleeper.join().unwrap();
        });
    }
}

#[test]
fn sockets_and_files() {
    serves_others(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut other = listener.accept().unwrap().0;
        Box::new(move || {
            let mut bytes = [0; 64];
            one.write_all(&bytes).unwrap();
            other.read_exact(&mut bytes).unwrap();
        })
    });
    let path = std::env::temp_dir().join(format!("lamprey-coop-{}", std::process::id()));
    let file = std::fs::File::create(&path).unwrap();
    file.write_all_at(&vec![7; 8 << 20], 0).unwrap();
    let theirs = path.clone();
    serves_others(move || {
        let file = lamprey::fs::File::open(theirs).unwrap();
        let mut bytes = vec![0; 8 << 20];
        Box::new(move || {
            let count = file.read_at(&mut bytes, 0).unwrap();
            assert!(count != 0 && bytes[..count].iter().all(|byte| *byte == 7));
        })
    });
    std::fs::remove_file(path).unwrap();
}

/// All of a large file that is in memory is read by one call, as it is by `std`.
#[test]
fn a_large_read_is_not_cut_short() {
    const LENGTH: usize = 3 << 20;
    let path = std::env::temp_dir().join(format!("lamprey-whole-{}", std::process::id()));
    let bytes: Vec<u8> = (0..LENGTH).map(|n| (n % 251) as u8).collect();
    std::fs::write(&path, &bytes).unwrap();
    let theirs = path.clone();
    run(1, move || {
        let mut file = lamprey::fs::File::open(&theirs).unwrap();
        let mut read = vec![0; LENGTH];
        file.read_exact(&mut read).unwrap();
        assert_eq!(read, bytes);
        // Pages may leave memory at any time; then a call is cut short.
        crate::common::eventually("a whole read", || {
            let mut read = vec![0; LENGTH + 5];
            file.read_at(&mut read, 0).unwrap() == LENGTH && read[..LENGTH] == bytes
        });
        let out = lamprey::fs::File::create(theirs.with_extension("out")).unwrap();
        let mut written = 0;
        while written < LENGTH {
            written += out.write_at(&bytes[written..], written as u64).unwrap();
        }
        assert_eq!(std::fs::read(theirs.with_extension("out")).unwrap(), bytes);
    });
    std::fs::remove_file(path.with_extension("out")).unwrap();
    std::fs::remove_file(path).unwrap();
}

/// It would not end otherwise: none of its calls waits.
#[test]
fn a_cancelled_host_whose_calls_never_wait_ends() {
    run(1, || {
        let host = spawn(|| {
            let (tx, rx) = lamprey::bounded(4);
            loop {
                tx.send(1).unwrap();
                rx.recv().unwrap();
            }
        });
        sleep(Duration::from_millis(1));
        host.cancel();
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    });
}

/// What says that it never waits does not unwind either.
#[test]
fn a_cancelled_host_that_only_tries_goes_on() {
    run(1, || {
        let (done, finished) = lamprey::oneshot();
        let host = spawn(move || {
            let (_tx, rx) = channel::<u8>();
            while !lamprey::is_cancelled() {
                assert!(rx.try_recv().is_err());
            }
            let until = std::time::Instant::now() + Duration::from_millis(20);
            while std::time::Instant::now() < until {
                assert!(rx.try_recv().is_err());
            }
            done.send(()).unwrap();
        });
        sleep(Duration::from_millis(1));
        host.cancel();
        finished.recv().unwrap();
    });
}

/// A destructor that runs because its host unwinds must not give way: two unwinds on one kernel thread would
/// be mixed up.
#[test]
fn nobody_gives_way_while_it_unwinds() {
    struct Tries;
    impl Drop for Tries {
        fn drop(&mut self) {
            let (tx, rx) = lamprey::bounded(4);
            let until = std::time::Instant::now() + Duration::from_millis(20);
            while std::time::Instant::now() < until {
                tx.send(1).unwrap();
                rx.recv().unwrap();
                assert!(rx.try_recv().is_err());
            }
        }
    }
    within(FOREVER, || {
        let runtime = crate::common::runtime(1);
        runtime.run(|| {
            let hosts: Vec<_> = (0..3)
                .map(|_| {
                    spawn(|| {
                        let _tries = Tries;
                        std::panic::resume_unwind(Box::new("on purpose"));
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| assert!(host.join().is_err()));
        });
    });
}

/// The next host that wants the lock would wait for it on the kernel thread of the one that has it.
#[test]
fn no_call_that_never_waits_gives_way_under_a_lock_of_std() {
    for workers in [1, 2] {
        run(workers, || {
            let lock = Arc::new(std::sync::Mutex::new(()));
            let hosts: Vec<_> = (0..4)
                .map(|_| {
                    let lock = lock.clone();
                    spawn(move || {
                        let (tx, mut rx) = lamprey::mailbox();
                        let (bounded, got) = lamprey::bounded(1);
                        let (all, _keep) = lamprey::broadcast(1);
                        let (value, mutex) = (lamprey::MVar::empty(), Mutex::new(0));
                        let until = std::time::Instant::now() + Duration::from_millis(30);
                        while std::time::Instant::now() < until {
                            let _held = lock.lock().unwrap();
                            tx.send(1).unwrap();
                            assert_eq!(rx.try_recv(), Ok(1));
                            bounded.try_send(1).unwrap();
                            assert_eq!(got.try_recv(), Ok(1));
                            assert_eq!(all.send(1), Ok(1));
                            value.try_put(1).unwrap();
                            assert_eq!(value.try_take(), Some(1));
                            assert_eq!(*mutex.try_lock().unwrap(), 0);
                            assert!(!format!("{mutex:?}").is_empty());
                            parasite(async {}).detach();
                            // One that fails now and then is not yet in vain.
                            assert!(got.try_recv().is_err());
                        }
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
    }
}

/// A host that computes before each of its calls is found out by the second of them.
#[test]
fn who_computes_between_calls_gives_way_at_the_next() {
    run(1, || {
        let done = Arc::new(AtomicBool::new(false));
        let is_done = done.clone();
        let calls = Arc::new(AtomicU32::new(0));
        let made = calls.clone();
        let busy = spawn(move || {
            let (tx, rx) = lamprey::bounded(4);
            while !is_done.load(Ordering::Relaxed) {
                let until = std::time::Instant::now() + Duration::from_millis(1);
                while std::time::Instant::now() < until {
                    std::hint::spin_loop();
                }
                tx.send(1).unwrap();
                rx.recv().unwrap();
                made.fetch_add(1, Ordering::Relaxed);
            }
        });
        lamprey::yield_now();
        let before = calls.load(Ordering::Relaxed);
        (0..TIMES).for_each(|_| lamprey::yield_now());
        let between = calls.load(Ordering::Relaxed) - before;
        assert!(between <= 4 * TIMES, "{between} calls of the other between {TIMES} turns");
        done.store(true, Ordering::Relaxed);
        busy.join().unwrap();
    });
}

/// Hosts that share a cursor get pieces of the file that are whole, as by `read(2)`.
#[test]
fn reads_at_a_shared_cursor_are_in_one_piece() {
    const NUMBERS: u32 = 2 << 20;
    let path = std::env::temp_dir().join(format!("lamprey-cursor-{}", std::process::id()));
    let bytes: Vec<u8> = (0..NUMBERS).flat_map(u32::to_ne_bytes).collect();
    std::fs::write(&path, &bytes).unwrap();
    let theirs = path.clone();
    run(2, move || {
        let file = Arc::new(lamprey::fs::File::open(theirs).unwrap());
        let hosts: Vec<_> = (0..4)
            .map(|_| {
                let file = file.clone();
                spawn(move || {
                    let mut bytes = vec![0; 4 * NUMBERS as usize];
                    let mut all = 0;
                    loop {
                        let count = (&*file).read(&mut bytes).unwrap();
                        let numbers: Vec<_> = bytes[..count]
                            .chunks_exact(4)
                            .map(|n| u32::from_ne_bytes(n.try_into().unwrap()))
                            .collect();
                        assert!(numbers.windows(2).all(|two| two[1] == two[0] + 1), "torn");
                        all += count;
                        if count == 0 {
                            return all;
                        }
                    }
                })
            })
            .collect();
        let read: usize = hosts.into_iter().map(|host| host.join().unwrap()).sum();
        assert_eq!(read, bytes.len());
    });
    std::fs::remove_file(path).unwrap();
}

/// Who spawns a host and yields, on one worker, finds it at its first call that waits, however long it has
/// computed before, and whatever a host before it has done that had the same place in memory.
#[test]
fn nobody_gives_way_at_his_first_call() {
    run(1, || {
        let (tx, rx) = lamprey::bounded(4);
        for round in 0..2000 {
            compute(round % 3 * 100);
            let state = Arc::new(AtomicU32::new(0));
            for micros in [0, 300] {
                let (tx, theirs) = (tx.clone(), state.clone());
                let host = spawn(move || {
                    theirs.store(1, Ordering::Relaxed);
                    compute(micros);
                    tx.send(1).unwrap();
                    theirs.store(2, Ordering::Relaxed);
                });
                crate::common::yield_until("its start", || state.load(Ordering::Relaxed) != 0);
                assert_eq!(state.swap(0, Ordering::Relaxed), 2, "round {round}, after {micros} us");
                host.join().unwrap();
                rx.try_recv().unwrap();
                (0..round % 67).for_each(|_| lamprey::yield_now());
            }
        }
    });
}
