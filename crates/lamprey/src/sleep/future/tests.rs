//! Alarms alone, on a clock that the tests advance (with workers: `tests/time/awaiting.rs`).

use super::*;
use crate::sched::wakers::wake;
use crate::sync_shim::Mutex;
use crate::time::alarms::BATCH;
use crate::time::ticks::Ticks;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;
use std::thread;

/// Counts its wakes.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn count() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (count.clone(), count.into())
}

fn alarms() -> Arc<Alarms> {
    Arc::new(Alarms::new(Ticks::from_now()))
}

const SECOND: Duration = Duration::from_secs(1);

/// A future that has been polled with `waker` on the worker of `home`, with a deadline `after` tick 0.
fn armed(home: &Arc<Alarms>, after: Duration, waker: Waker) -> Pin<Box<Sleep>> {
    let deadline = home.ticks.begin(0).unwrap() + after;
    let sleep = Box::pin(Sleep::until(Some(deadline)));
    sleep.as_ref().set(home.clone(), deadline, waker);
    sleep
}

/// Advances to `after` tick 0.
fn ring(home: &Alarms, after: Duration) {
    home.ring(home.ticks.after(home.ticks.begin(0).unwrap() + after), wake);
}

#[test]
fn rings_once_when_the_time_has_come_and_not_before() {
    let (home, (woken, waker)) = (alarms(), count());
    let _sleep = armed(&home, 10 * SECOND, waker);
    ring(&home, 10 * SECOND - Duration::from_millis(1));
    assert_eq!(woken.0.load(Ordering::SeqCst), 0);
    for _ in 0..2 {
        ring(&home, 10 * SECOND);
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    }
    assert_eq!(home.next_expiry(), None);
}

#[test]
fn dropped_it_is_out_of_the_wheel_and_has_let_its_waker_go() {
    let (home, (woken, waker)) = (alarms(), count());
    drop(armed(&home, SECOND, waker));
    assert_eq!((home.next_expiry(), Arc::strong_count(&woken)), (None, 1));
    ring(&home, 2 * SECOND);
    assert_eq!(woken.0.load(Ordering::SeqCst), 0);
}

#[test]
fn dropped_after_it_has_rung() {
    let (home, (woken, waker)) = (alarms(), count());
    let sleep = armed(&home, SECOND, waker);
    ring(&home, SECOND);
    drop(sleep);
    assert_eq!((woken.0.load(Ordering::SeqCst), Arc::strong_count(&woken)), (1, 1));
}

#[test]
fn ready_before_it_has_rung_it_lets_its_waker_go() {
    let (home, (woken, waker)) = (alarms(), count());
    let mut sleep = armed(&home, Duration::ZERO, waker);
    assert!(sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    assert_eq!((home.next_expiry(), Arc::strong_count(&woken)), (None, 1));
}

#[test]
fn the_last_waker_counts() {
    let (home, (first, one), (second, two)) = (alarms(), count(), count());
    let sleep = armed(&home, SECOND, one);
    sleep.as_ref().arm(sleep.deadline.unwrap(), &two).unwrap();
    assert_eq!(Arc::strong_count(&first), 1, "let go at once");
    ring(&home, SECOND);
    assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
}

#[test]
fn within_another_future_that_is_polled_again() {
    let (home, (first, one), (second, two)) = (alarms(), count(), count());
    let deadline = Instant::now() + 1000 * SECOND;
    let theirs = home.clone();
    let mut outer = Box::pin(async move {
        let sleep = std::pin::pin!(Sleep::until(Some(deadline)));
        sleep.as_ref().set(theirs, deadline, Waker::noop().clone());
        sleep.await
    });
    for waker in [&one, &two] {
        assert!(outer.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    }
    home.retire(wake);
    assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
}

#[test]
fn only_an_earlier_deadline_than_all_is_sooner() {
    let home = alarms();
    let begin = home.ticks.begin(0).unwrap();
    let sleeps: Vec<_> = (0..3).map(|_| Box::pin(Sleep::until(None))).collect();
    // More than a slot of the wheel apart.
    for (sleep, (seconds, sooner)) in sleeps.iter().zip([(100, true), (200, false), (50, true)]) {
        let waker = Waker::noop().clone();
        assert_eq!(sleep.as_ref().set(home.clone(), begin + seconds * SECOND, waker), sooner, "{seconds}");
    }
}

#[test]
fn all_are_woken_when_the_worker_ends_more_than_a_batch_and_one_of_them_panics() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("a waker that panics"));
        }
    }
    let (home, (woken, waker)) = (alarms(), count());
    let _bad = armed(&home, SECOND / 2, Arc::new(Panics).into());
    let sleeps: Vec<_> = (1..=3 * BATCH as u32).map(|n| armed(&home, n * SECOND, waker.clone())).collect();
    home.retire(wake);
    assert_eq!(woken.0.load(Ordering::SeqCst), 3 * BATCH);
    drop(sleeps);
}

#[test]
fn a_waker_may_own_another_sleep_of_the_same_worker() {
    struct Owns(#[allow(dead_code, reason = "only to be dropped")] Mutex<Option<Pin<Box<Sleep>>>>);
    impl Wake for Owns {
        fn wake(self: Arc<Self>) {}
    }
    let (home, (_, waker)) = (alarms(), count());
    let owner = |after| Arc::new(Owns(Mutex::new(Some(armed(&home, after, waker.clone()))))).into();
    let replaced = armed(&home, SECOND, owner(SECOND));
    replaced.as_ref().arm(replaced.deadline.unwrap(), &waker).unwrap();
    let dropped = armed(&home, SECOND, owner(SECOND));
    drop(dropped);
    let rung = armed(&home, SECOND, owner(9 * SECOND));
    ring(&home, SECOND);
    assert_eq!(home.next_expiry(), None);
    drop((replaced, rung));
}

#[test]
fn dropped_on_another_thread_while_it_rings() {
    let (home, (_, waker)) = (alarms(), count());
    for round in 0..if cfg!(miri) { 3 } else { 50 } {
        let sleeps: Vec<_> =
            (0..100).map(|n| armed(&home, (round * 100 + n) * SECOND / 1000, waker.clone())).collect();
        let dropper = thread::spawn(move || drop(sleeps));
        (0..100).for_each(|n| ring(&home, (round * 100 + n) * SECOND / 1000));
        dropper.join().unwrap();
    }
    assert_eq!(home.next_expiry(), None);
}
