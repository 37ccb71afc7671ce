//! Several things in one loop, futures that are polled by hand, and the places at which nobody may switch.

use crate::common::beside::compute;
use crate::common::{FOREVER, run, within};
use lamprey::event::{choose_all, future_evt};
use lamprey::stm::{TVar, atomically};
use lamprey::sync::{Barrier, Mutex, Semaphore};
use lamprey::{IVar, JoinError, bounded, channel, oneshot, sleep, sleep_async, spawn};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// What has come true does not begin the count anew.
#[test]
fn one_that_is_true_and_one_that_is_not_yet() {
    run(1, || {
        let (one, other) = (IVar::new(), IVar::new());
        one.put(1).unwrap();
        let theirs = other.clone();
        spawn(move || theirs.put(1));
        while !(one.try_get().is_some() && other.try_get().is_some()) {}
        let (ended, host) = (spawn(|| ()), spawn(|| sleep(Duration::from_millis(1))));
        while !(ended.is_finished() && host.is_finished()) {}
        let (lock, permits) = (Mutex::new(0), Semaphore::new(1));
        let host = spawn(|| ());
        while !(lock.try_lock().is_ok() && permits.try_acquire(1).is_ok() && host.is_finished()) {}
    });
}

/// A host that computes before each look is found out, too.
#[test]
fn who_computes_between_its_looks() {
    run(1, || {
        let (token, done) = (lamprey::CancelToken::new(), lamprey::CancelToken::new());
        let other = token.clone();
        spawn(move || other.cancel());
        while !token.is_cancelled() {
            compute(50);
        }
        done.cancel();
    });
}

/// Polls it on one worker, with a waker that does nothing, until another host of that worker has made it ready.
fn by_hand<F: Future>(future: F) -> F::Output {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

#[test]
fn futures_polled_by_hand() {
    run(1, || {
        let (tx, rx) = channel();
        spawn(move || (tx.send(1), tx.send(2), tx.send(3), tx.send(4)));
        assert_eq!(by_hand(rx.recv_async()), Ok(1));
        assert_eq!(by_hand(rx.recv_evt().into_future()), Ok(2));
        assert_eq!(by_hand(choose_all((rx.recv_evt(), rx.recv_evt())).into_future()), [Ok(3), Ok(4)]);
        let (tx, rx) = channel();
        spawn(move || rx.recv());
        by_hand(tx.send_async(1)).unwrap();
        let (tx, rx) = bounded(1);
        spawn(move || tx.send(1));
        assert_eq!(by_hand(rx.recv_async()), Ok(1));
        let (tx, rx) = oneshot();
        spawn(move || tx.send(1));
        assert_eq!(by_hand(rx), Ok(1));
        let place = IVar::new();
        let theirs = place.clone();
        spawn(move || theirs.put(1));
        assert_eq!(by_hand(place.get_async()), 1);
    });
}

#[test]
fn more_futures_polled_by_hand() {
    run(1, || {
        by_hand(spawn(|| ())).unwrap();
        by_hand(lamprey::parasite(sleep_async(Duration::from_millis(1)))).unwrap();
        by_hand(future_evt(sleep_async(Duration::from_millis(1))).into_future());
        assert_eq!(by_hand(lamprey::block_async(|| 1)), 1);
        let lock = Arc::new(Mutex::new(0));
        let held = lock.clone();
        let (tell, told) = oneshot();
        spawn(move || {
            let _held = held.lock().unwrap();
            tell.send(()).unwrap();
            sleep(Duration::from_millis(1));
        });
        told.recv().unwrap();
        drop(by_hand(lock.lock_async()));
        let barrier = Arc::new(Barrier::new(2));
        let other = barrier.clone();
        spawn(move || other.wait());
        by_hand(barrier.wait_async());
        let (put, take) = std::sync::mpsc::channel::<lamprey::WakeToken>();
        spawn(move || take.recv().unwrap().wake());
        by_hand(lamprey::suspend_async(|token| put.send(token).unwrap())).unwrap();
        let (reader, mut writer) = lamprey::io::pipe().unwrap();
        spawn(move || std::io::Write::write_all(&mut writer, &[1]));
        assert_eq!(by_hand(reader.read_async(&mut [0])).unwrap(), 1);
        let path = std::env::temp_dir().join(format!("lamprey-by-hand-{}", std::process::id()));
        by_hand(lamprey::fs::write_async(&path, vec![b'1'])).unwrap();
        assert_eq!(by_hand(lamprey::fs::read_async(&path)).unwrap(), b"1");
        std::fs::remove_file(path).unwrap();
    });
}

/// For long, and without a scheduling point.
fn look_for_long(value: &IVar<u8>) {
    let until = Instant::now() + Duration::from_millis(20);
    let (lock, permits) = (Mutex::new(0), Semaphore::new(0));
    while Instant::now() < until {
        assert!(value.try_get().is_none() && !lamprey::is_cancelled() && permits.available_permits() == 0);
        assert!(lock.try_lock().is_ok());
    }
}

/// An unwind, a transaction, a waker, a thread that is none of Lamprey's.
#[test]
fn nobody_gives_way_where_nobody_may() {
    struct LooksInDrop;
    impl Drop for LooksInDrop {
        fn drop(&mut self) {
            look_for_long(&IVar::new());
        }
    }
    struct Looks;
    impl std::task::Wake for Looks {
        fn wake(self: Arc<Self>) {
            look_for_long(&IVar::new());
        }
    }
    run(1, || {
        let turns = Arc::new(AtomicUsize::new(0));
        let (others, done) = (turns.clone(), Arc::new(AtomicBool::new(false)));
        let is_done = done.clone();
        let other = spawn(move || {
            while !is_done.load(Ordering::Relaxed) {
                others.fetch_add(1, Ordering::Relaxed);
                lamprey::yield_now();
            }
        });
        let host = spawn(|| {
            let _looks = LooksInDrop;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(matches!(host.join(), Err(JoinError::Panicked(_))));
        let variable = TVar::new(0);
        atomically(|tx| {
            let before = turns.load(Ordering::Relaxed);
            look_for_long(&IVar::new());
            assert_eq!(turns.load(Ordering::Relaxed), before);
            variable.set(tx, 1)
        });
        let (tx, rx) = channel();
        let mut waits = pin!(rx.recv_async());
        assert!(waits.as_mut().poll(&mut Context::from_waker(&Arc::new(Looks).into())).is_pending());
        let before = turns.load(Ordering::Relaxed);
        tx.try_send(1).unwrap();
        assert_eq!(turns.load(Ordering::Relaxed), before);
        done.store(true, Ordering::Relaxed);
        other.join().unwrap();
    });
    within(FOREVER, || look_for_long(&IVar::new()));
}

/// Looks a few times under a lock of `std`, as a library does for each message that it handles.
fn handle_a_message(lock: &std::sync::Mutex<IVar<u8>>) {
    let value = lock.lock().unwrap();
    for _ in 0..20 {
        assert!(value.try_get().is_none() && !lamprey::is_cancelled());
        let _now = lamprey::sim::now();
    }
}

/// A thread that has given way with the lock would leave the other one, and with it their worker, waiting for ever.
#[test]
fn who_works_between_its_looks_does_not_give_way_under_a_lock_of_std() {
    fn all_handle_messages() {
        let lock = Arc::new(std::sync::Mutex::new(IVar::new()));
        let hosts = [(), ()].map(|()| {
            let lock = lock.clone();
            spawn(move || {
                for _ in 0..5_000 {
                    handle_a_message(&lock);
                    lamprey::yield_now();
                }
            })
        });
        let parasites = [(), ()].map(|()| {
            let (lock, mut polls) = (lock.clone(), 0);
            lamprey::parasite(std::future::poll_fn(move |context| {
                handle_a_message(&lock);
                polls += 1;
                context.waker().wake_by_ref();
                if polls < 5_000 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
            }))
        });
        hosts.into_iter().for_each(|host| host.join().unwrap());
        parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
    }
    run(1, all_handle_messages);
    within(FOREVER, || lamprey::Runtime::simulated(1).run(all_handle_messages));
}

/// No thread waits for another by reading the clock, and libraries do so under their locks.
#[test]
fn who_reads_the_clock_does_not_give_way() {
    run(1, || {
        let turns = Arc::new(AtomicUsize::new(0));
        let others = turns.clone();
        spawn(move || others.fetch_add(1, Ordering::Relaxed));
        let until = Instant::now() + Duration::from_millis(20);
        while lamprey::sim::now() < until {}
        assert_eq!(turns.load(Ordering::Relaxed), 0);
    });
}

/// In a simulation the clock goes on while somebody waits for it by looking.
#[test]
fn who_looks_at_the_clock_of_a_simulation() {
    within(FOREVER, || {
        lamprey::Runtime::simulated(3).run(|| {
            let until = lamprey::sim::now() + Duration::from_millis(1);
            while lamprey::sim::now() < until {}
            let other = lamprey::sim::Machine::new("other");
            let theirs = other.clone();
            spawn(move || theirs.crash());
            while other.is_up() {}
        });
    });
}
