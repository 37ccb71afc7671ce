//! Alarms of futures: none is lost and none rings for a dropped future, although the future is dropped, moved
//! or polled meanwhile.
//!
//! The wheel's time is a number, which the model moves beyond all deadlines. (The clock's own deadline never
//! passes.)

use super::{Broken, check, must_fail};
use crate::sched::wakers::wake;
use crate::sleep::Sleep;
use crate::sync_shim::{AtomicUsize, Ordering, thread, thread_local};
use crate::time::alarms::Alarms;
use crate::time::ticks::Ticks;
use std::cell::RefCell;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

thread_local! {
    static CURRENT: RefCell<Option<Arc<Alarms>>> = RefCell::new(None);
}

/// The alarms of the worker that the calling loom thread plays.
pub(crate) fn current() -> Option<Arc<Alarms>> {
    CURRENT.with(|current| current.borrow().clone())
}

fn alarms() -> Arc<Alarms> {
    Arc::new(Alarms::new(Ticks::from_now()))
}

fn play_with(alarms: &Arc<Alarms>) {
    CURRENT.with(|current| *current.borrow_mut() = Some(alarms.clone()));
}

/// A waker that counts its wakes.
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        // Relaxed: a number that is read after all threads have ended.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self(AtomicUsize::new(0)));
        (count.clone(), count.into())
    }

    fn get(&self) -> usize {
        // Relaxed: all threads have ended.
        self.0.load(Ordering::Relaxed)
    }
}

/// Not dropped by a model that fails.
type Asleep = ManuallyDrop<Pin<Box<Sleep>>>;

fn armed(waker: &Waker) -> Asleep {
    let deadline = Instant::now() + Duration::from_secs(1000);
    let mut sleep = ManuallyDrop::new(Box::pin(Sleep::until(Some(deadline))));
    poll(&mut sleep, waker);
    sleep
}

fn poll(sleep: &mut Asleep, waker: &Waker) {
    assert!(sleep.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
}

fn end(sleep: Asleep) {
    drop(ManuallyDrop::into_inner(sleep));
}

#[test]
fn a_future_is_dropped_while_its_alarm_rings() {
    check(|| {
        let (home, (woken, waker)) = (alarms(), Count::new());
        play_with(&home);
        let sleep = armed(&waker);
        drop(waker);
        let theirs = home.clone();
        let worker = thread::spawn(move || theirs.ring(u64::MAX, wake));
        end(sleep);
        worker.join().unwrap();
        assert!(woken.get() <= 1 && Arc::strong_count(&woken) == 1);
        assert_eq!(home.next_expiry(), None);
    });
}

/// Another thread polls the future with another waker.
fn polled_again_while_it_rings() {
    let (home, (_, first), (woken, second)) = (alarms(), Count::new(), Count::new());
    play_with(&home);
    let mut sleep = armed(&first);
    let theirs = home.clone();
    let worker = thread::spawn(move || theirs.ring(u64::MAX, wake));
    poll(&mut sleep, &second);
    worker.join().unwrap();
    home.ring(u64::MAX, wake);
    assert_eq!(woken.get(), 1, "the waker of the last poll counts");
    end(sleep);
}

#[test]
fn a_future_is_polled_again_while_its_alarm_rings() {
    check(polled_again_while_it_rings);
}

#[test]
fn a_future_is_polled_elsewhere_while_its_worker_ends() {
    check(|| {
        let (ends, stays) = (alarms(), alarms());
        let ((_, first), (woken, second)) = (Count::new(), Count::new());
        play_with(&ends);
        let mut sleep = armed(&first);
        let theirs = ends.clone();
        let worker = thread::spawn(move || theirs.retire(wake));
        play_with(&stays);
        poll(&mut sleep, &second);
        worker.join().unwrap();
        assert_eq!(ends.next_expiry(), None, "it is left where nobody looks");
        assert!((woken.get() == 1) != stays.next_expiry().is_some(), "woken, or set elsewhere");
        end(sleep);
    });
}

#[test]
fn an_alarm_that_has_rung_and_is_not_set_again_is_caught() {
    must_fail(Broken::AlarmRung, polled_again_while_it_rings);
}
