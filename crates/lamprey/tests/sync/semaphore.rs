//! The semaphore, by the moment.

use crate::common::*;
use futures::poll;
use lamprey::event::{Event, choose, never, timeout};
use lamprey::sync::{
    AcquireError, AcquireTimeoutError, LockOptions, Order, Semaphore, SemaphorePermit, TryAcquireError, Wake,
};
use lamprey::{JoinError, JoinHandle, spawn, wait};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LATE: Duration = Duration::from_secs(3600);

type Owned = SemaphorePermit<Arc<Semaphore>>;

fn seats(n: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(n))
}

/// A host that is blocked in `acquire`.
fn asks(seats: &Arc<Semaphore>, n: u32) -> JoinHandle<Result<Owned, AcquireError>> {
    let seats = seats.clone();
    blocked(move || seats.acquire_owned(n))
}

#[test]
fn who_asks_first_is_served_first_whatever_it_asks_for() {
    run(1, || {
        let seats = seats(2);
        let many = asks(&seats, 3);
        let few = asks(&seats, 1);
        assert_eq!(seats.try_acquire(1).err(), Some(TryAcquireError::NoPermits), "it overtakes");
        assert!(!few.is_finished());
        seats.add_permits(1);
        let many = many.join().unwrap().unwrap();
        assert!(!few.is_finished());
        drop(many);
        assert_eq!(few.join().unwrap().unwrap().count(), 1);
        assert_eq!(seats.available_permits(), 3);
    });
}

#[test]
fn permits_that_come_together_serve_all_that_they_are_enough_for() {
    run(1, || {
        let seats = seats(0);
        let hosts: Vec<_> = (0..40).map(|_| asks(&seats, 2)).collect();
        seats.add_permits(79);
        let mut permits = Vec::new();
        let mut hosts = hosts.into_iter();
        permits.extend(hosts.by_ref().take(39).map(|host| host.join().unwrap().unwrap()));
        let last = hosts.next().unwrap();
        assert!(!last.is_finished());
        assert_eq!(seats.available_permits(), 1);
        permits.pop();
        drop(last.join().unwrap().unwrap());
        drop(permits);
        assert_eq!(seats.available_permits(), 79);
    });
}

#[test]
fn the_last_to_come_is_served_first_where_that_is_asked_for() {
    for (order, wake) in
        [(Order::Lifo, Wake::Enqueue), (Order::Lifo, Wake::Switch), (Order::Fifo, Wake::Switch)]
    {
        let served = run(1, move || {
            let seats = Arc::new(Semaphore::with_options(0, LockOptions::new().order(order).wake(wake)));
            let served = Arc::new(Mutex::new(Vec::new()));
            let hosts: Vec<_> = (0..3)
                .map(|n| {
                    let (seats, served) = (seats.clone(), served.clone());
                    blocked(move || {
                        let _remote = seats.acquire(1).unwrap();
                        served.lock().unwrap().push(n);
                    })
                })
                .collect();
            seats.add_permits(1);
            hosts.into_iter().for_each(|host| host.join().unwrap());
            Arc::into_inner(served).unwrap().into_inner().unwrap()
        });
        assert_eq!(served, if order == Order::Lifo { [2, 1, 0] } else { [0, 1, 2] }, "{wake:?}");
    }
}

#[test]
fn a_timeout_in_front_lets_those_behind_go() {
    run(1, || {
        let seats = seats(1);
        let theirs = seats.clone();
        let first = blocked(move || theirs.acquire_timeout(2, SOON).err());
        let behind = asks(&seats, 1);
        assert_eq!(first.join().unwrap(), Some(AcquireTimeoutError::TimedOut));
        assert!(behind.join().unwrap().is_ok());
        assert_eq!(seats.available_permits(), 1);
        assert!(seats.acquire_timeout(1, LATE).is_ok());
    });
}

#[test]
fn cancelled_while_it_waits_it_lets_those_behind_go() {
    run(1, || {
        let seats = seats(1);
        let first = asks(&seats, 2);
        let behind = asks(&seats, 1);
        first.cancel();
        assert!(matches!(first.join(), Err(JoinError::Cancelled(_))));
        drop(behind.join().unwrap().unwrap());
        assert_eq!(seats.available_permits(), 1);
    });
}

#[test]
fn cancelled_while_granted_it_passes_its_permits_on() {
    run(1, || {
        let seats = seats(0);
        let first = asks(&seats, 1);
        let behind = asks(&seats, 1);
        // On one worker: cancelled, but it has not gone on yet when the permit is granted to it.
        first.cancel();
        seats.add_permits(1);
        assert!(matches!(first.join(), Err(JoinError::Cancelled(_))));
        drop(behind.join().unwrap().unwrap());
        assert_eq!(seats.available_permits(), 1);
    });
}

#[test]
fn a_future_that_is_dropped_passes_its_permits_on() {
    run(1, || {
        let seats = seats(0);
        wait(async {
            let mut first = Box::pin(seats.acquire_async(1));
            assert!(poll!(&mut first).is_pending());
            let behind = asks(&seats, 1);
            seats.add_permits(1);
            drop(first);
            drop(behind.await.unwrap().unwrap());
        });
        wait(async {
            let _all = seats.acquire_async(1).await.unwrap();
            let mut never = pin!(seats.acquire_async(1));
            assert!(poll!(&mut never).is_pending());
        });
        assert_eq!(seats.available_permits(), 1);
    });
}

#[test]
fn the_losers_of_a_choice_have_nothing() {
    run(2, || {
        let all: Vec<_> = (0..4).map(|_| Semaphore::new(1)).collect();
        for _ in 0..200 {
            let got = choose((
                choose(all.iter().map(|seats| seats.acquire_evt(1).wrap(Some)).collect::<Vec<_>>()),
                timeout(LATE).wrap(|()| None),
            ));
            let seat = got.sync().unwrap().unwrap();
            assert_eq!(all.iter().map(Semaphore::available_permits).sum::<u64>(), 3);
            drop(seat);
        }
        let held: Vec<_> = all.iter().map(|seats| seats.acquire(1).unwrap()).collect();
        let in_vain = choose(all.iter().map(|seats| seats.acquire_evt(1)).collect::<Vec<_>>());
        assert!(in_vain.sync_timeout(SOON).is_none());
        drop(held);
        assert_eq!(all.iter().map(Semaphore::available_permits).sum::<u64>(), 4);
    });
}

#[test]
fn a_choice_takes_part_in_the_line() {
    run(1, || {
        let seats = seats(0);
        let theirs = seats.clone();
        let chooser =
            blocked(move || choose((theirs.acquire_owned_evt(1).wrap(Some), never().wrap(|()| None))).sync());
        let behind = asks(&seats, 1);
        seats.add_permits(1);
        let seat = chooser.join().unwrap().unwrap().unwrap();
        assert!(!behind.is_finished());
        drop(seat);
        drop(behind.join().unwrap().unwrap());
    });
}

#[test]
fn closed_it_turns_all_away_and_what_is_out_stays_good() {
    run(1, || {
        let seats = seats(1);
        let seat = seats.acquire(1).unwrap();
        let hosts: Vec<_> = (0..40).map(|_| asks(&seats, 1)).collect();
        let theirs = seats.clone();
        let chooser = blocked(move || theirs.acquire_owned_evt(1).sync().err());
        seats.close();
        assert!(hosts.into_iter().all(|host| host.join().unwrap().err() == Some(AcquireError::Closed)));
        assert_eq!(chooser.join().unwrap(), Some(AcquireError::Closed));
        assert_eq!(seats.try_acquire(1).err(), Some(TryAcquireError::Closed));
        assert_eq!(seats.acquire_timeout(1, LATE).err(), Some(AcquireTimeoutError::Closed));
        assert_eq!(wait(seats.acquire_async(1)).err(), Some(AcquireError::Closed));
        assert!(seats.is_closed());
        drop(seat);
        assert_eq!(seats.available_permits(), 1);
    });
}

#[test]
fn one_that_unwinds_does_not_wait() {
    struct Late<'a>(&'a Semaphore, &'a Mutex<Vec<Option<AcquireError>>>);
    impl Drop for Late<'_> {
        fn drop(&mut self) {
            let mut seen = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            seen.push(self.0.acquire(1).err());
            seen.push(self.0.acquire(2).err());
            seen.push(self.0.acquire_evt(2).sync().err());
        }
    }
    run(1, || {
        let seats = seats(1);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (theirs, told) = (seats.clone(), seen.clone());
        let host = spawn(move || {
            let _late = Late(&theirs, &told);
            panic!("on purpose");
        });
        let _: Result<(), _> = host.join();
        let unwinding = Some(AcquireError::Unwinding);
        assert_eq!(
            *seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
            [None, unwinding, unwinding]
        );
        assert_eq!(seats.available_permits(), 1);
    });
}

#[test]
fn nothing_is_asked_for() {
    run(1, || {
        let seats = seats(0);
        assert_eq!(seats.acquire(0).unwrap().count(), 0);
        let waits = asks(&seats, 1);
        assert_eq!(seats.try_acquire(0).err(), Some(TryAcquireError::NoPermits), "others wait");
        seats.add_permits(1);
        waits.join().unwrap().unwrap().forget();
        assert_eq!(seats.available_permits(), 0);
    });
    let too_many = std::panic::catch_unwind(|| drop(Semaphore::new(0).try_acquire(u32::MAX)));
    assert!(too_many.unwrap_err().downcast_ref::<String>().unwrap().contains("4294967295 permits"));
}

#[test]
fn hosts_of_two_runtimes_parasites_and_os_threads_share_the_permits() {
    const EACH: usize = 500;
    let (seats, inside, most) = (seats(3), counter(), counter());
    let work = {
        let (seats, inside, most) = (seats.clone(), inside.clone(), most.clone());
        move |n: usize| {
            let permit = seats.acquire(1 + n as u32 % 3).unwrap();
            enter(&inside, &most, permit.count());
            if n.is_multiple_of(8) {
                lamprey::yield_now();
            }
            leave(&inside, permit.count());
        }
    };
    let run_hosts = |work: fn(usize) -> usize, hosts: usize, job: Box<dyn Fn(usize) + Send + Sync>| {
        let job = Arc::new(job);
        std::thread::spawn(move || {
            run(2, move || {
                let hosts: Vec<_> = (0..hosts)
                    .map(|_| {
                        let job = job.clone();
                        spawn(move || (0..EACH).for_each(|n| job(work(n))))
                    })
                    .collect();
                hosts.into_iter().for_each(|host| host.join().unwrap());
            });
        })
    };
    let runtimes =
        [run_hosts(|n| n, 4, Box::new(work.clone())), run_hosts(|n| n + 1, 4, Box::new(work.clone()))];
    let os = std::thread::spawn(move || (0..EACH).for_each(work));
    let (theirs, inside2, most2) = (seats.clone(), inside.clone(), most.clone());
    run(1, move || {
        let parasite = lamprey::parasite(async move {
            for n in 0..EACH {
                let permit = theirs.acquire_async(1 + n as u32 % 3).await.unwrap();
                enter(&inside2, &most2, permit.count());
                lamprey::yield_now_async().await;
                leave(&inside2, permit.count());
            }
        });
        parasite.join().unwrap();
    });
    os.join().unwrap();
    runtimes.into_iter().for_each(|runtime| runtime.join().unwrap());
    assert_eq!(count(&inside), 0);
    assert!(count(&most) <= 3, "{}", count(&most));
    assert_eq!(seats.available_permits(), 3);
}

fn enter(inside: &AtomicUsize, most: &AtomicUsize, n: u32) {
    let now = inside.fetch_add(n as usize, Ordering::SeqCst) + n as usize;
    most.fetch_max(now, Ordering::SeqCst);
}

fn leave(inside: &AtomicUsize, n: u32) {
    inside.fetch_sub(n as usize, Ordering::SeqCst);
}
