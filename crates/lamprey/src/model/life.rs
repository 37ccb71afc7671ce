//! The life of a stackless parasite: one holder of the right to run, no wake lost, its link in one list, its
//! memory freed once and last.
//!
//! The task is the real one, with real wakers; the worker is [`worker`](crate::sched::worker) of this build.
//! The two modes differ in which threads may run the parasite, so most models come in both.

use super::{Broken, check, check_bounded, must_fail};
use crate::sched::worker::{Parasite, Worker, WorkerShared};
use crate::sync_shim::{Arc, AtomicBool, Ordering, thread};
use std::future::{Future, poll_fn};
use std::task::{Poll, Waker};

const SHARED: bool = true;
const OWNED: bool = false;

/// The events that the waking threads signal to a future, apart from the wake.
#[derive(Clone)]
struct Events(Arc<[AtomicBool; 2]>);

impl Events {
    fn new() -> Self {
        Self(Arc::new([AtomicBool::new(false), AtomicBool::new(false)]))
    }

    fn happen(&self, at: usize) {
        // Relaxed: the wake makes it visible to the next poll.
        self.0[at].store(true, Ordering::Relaxed);
    }

    /// Ready when the first `count` events have happened.
    fn all(&self, count: usize) -> impl Future<Output = ()> + use<> {
        let events = self.0.clone();
        poll_fn(move |_| {
            // Relaxed: the wake of each event makes it visible.
            let all = events[..count].iter().all(|event| event.load(Ordering::Relaxed));
            if all { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    /// A thread outside of the runtime signals an event.
    fn happens_outside(&self, at: usize, waker: Waker) -> thread::JoinHandle<()> {
        let events = self.clone();
        thread::spawn(move || {
            events.happen(at);
            waker.wake();
        })
    }

    /// Another worker signals an event.
    fn happens_on_a_worker(&self, at: usize, waker: Waker) -> thread::JoinHandle<()> {
        let events = self.clone();
        thread::spawn(move || {
            Worker::play(&WorkerShared::new(), |worker| {
                events.happen(at);
                waker.wake();
                worker.run();
            })
        })
    }
}

/// Yields once: the first poll wakes itself and is pending.
async fn give_way() {
    let mut asked = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Plays the home worker: `others` gets the parasite before it starts, and starts the other threads. The
/// parasite must have ended in the end.
fn at_home<W: Future<Output = ()> + 'static>(
    is_shared: bool,
    work: W,
    others: impl FnOnce(&Parasite) -> Vec<thread::JoinHandle<()>>,
) {
    Worker::play(&WorkerShared::new(), |worker| {
        let parasite = Parasite::new(worker, is_shared, work);
        let others = others(&parasite);
        parasite.start(worker);
        worker.run();
        others.into_iter().for_each(|other| other.join().unwrap());
        worker.run();
        assert!(parasite.is_freed(), "a wake was lost");
    });
}

fn one_wake(is_shared: bool) {
    let events = Events::new();
    at_home(is_shared, events.all(1), |parasite| {
        parasite.detach();
        vec![events.happens_outside(0, parasite.waker())]
    });
}

fn two_wakes(is_shared: bool) {
    let events = Events::new();
    at_home(is_shared, events.all(2), |parasite| {
        parasite.detach();
        vec![events.happens_on_a_worker(0, parasite.waker()), events.happens_outside(1, parasite.waker())]
    });
}

fn a_wake_while_it_gives_way(is_shared: bool) {
    let events = Events::new();
    let event = events.all(1);
    let work = async {
        give_way().await;
        event.await;
    };
    at_home(is_shared, work, |parasite| {
        parasite.detach();
        vec![events.happens_outside(0, parasite.waker())]
    });
}

/// It is looked at while it waits, is woken, or is cancelled.
fn a_look(cancels: bool) {
    let events = Events::new();
    Worker::play(&WorkerShared::new(), |worker| {
        let parasite = Parasite::in_sight(worker, SHARED, events.all(1));
        let handle = parasite.clone();
        let other = if cancels {
            thread::spawn(move || {
                handle.cancel();
                handle.detach();
            })
        } else {
            parasite.detach();
            events.happens_outside(0, parasite.waker())
        };
        parasite.start(worker);
        parasite.look(worker);
        worker.run();
        other.join().unwrap();
        worker.run();
        assert!(parasite.is_freed(), "a wake was lost");
    });
}

/// The handle is dropped while the parasite runs, waits, or is woken.
fn cancel(is_shared: bool) {
    let events = Events::new();
    at_home(is_shared, events.all(1), |parasite| {
        let handle = parasite.clone();
        let dropped = thread::spawn(move || {
            handle.cancel();
            handle.detach();
        });
        vec![dropped, events.happens_outside(0, parasite.waker())]
    });
}

/// The parasite ends by itself while its handle is dropped elsewhere.
fn cancel_while_it_ends(is_shared: bool) {
    at_home(is_shared, give_way(), |parasite| {
        let handle = parasite.clone();
        let dropped = thread::spawn(move || {
            handle.cancel();
            handle.detach();
        });
        vec![dropped]
    });
}

/// Its number is asked for while it is woken and ends.
fn a_number(is_shared: bool) {
    let events = Events::new();
    at_home(is_shared, events.all(1), |parasite| {
        let handle = parasite.clone();
        let asked = thread::spawn(move || {
            handle.number();
            handle.detach();
        });
        vec![asked, events.happens_outside(0, parasite.waker())]
    });
}

/// The parasite has ended while its wakers are still in use.
fn late_wakers(is_shared: bool) {
    let events = Events::new();
    at_home(is_shared, std::future::ready(()), |parasite| {
        parasite.detach();
        vec![events.happens_outside(0, parasite.waker()), events.happens_on_a_worker(1, parasite.waker())]
    });
}

/// As [`late_wakers`], before a handle exists.
fn late_waker_of_one_that_never_waits(is_shared: bool) {
    Worker::play(&WorkerShared::new(), |worker| {
        let parasite = Parasite::new(worker, is_shared, std::future::ready(()));
        let other = Events::new().happens_outside(0, parasite.waker());
        parasite.run_at_once();
        other.join().unwrap();
        worker.run();
        assert!(parasite.is_freed());
    });
}

#[test]
fn a_wake_while_it_runs_shared() {
    check(|| one_wake(SHARED));
}

#[test]
fn a_wake_while_it_runs_owned() {
    check(|| one_wake(OWNED));
}

#[test]
fn a_look_while_it_is_woken() {
    check_bounded(3, || a_look(false));
}

#[test]
fn a_look_while_it_is_cancelled() {
    check_bounded(3, || a_look(true));
}

#[test]
fn the_model_sees_a_look_that_forgets_a_wake() {
    must_fail(Broken::LookAgain, || a_look(false));
    must_fail(Broken::LookAgain, || a_look(true));
}

#[test]
fn a_number_while_it_is_woken_and_ends() {
    check_bounded(3, || a_number(SHARED));
    check_bounded(3, || a_number(OWNED));
}

#[test]
fn a_number_that_outlives_its_parasite_is_caught() {
    must_fail(Broken::NumberStays, || a_number(SHARED));
    must_fail(Broken::NumberStays, || a_number(OWNED));
}

#[test]
fn two_wakes_while_it_runs_shared() {
    check_bounded(3, || two_wakes(SHARED));
}

#[test]
fn two_wakes_while_it_runs_owned() {
    check_bounded(3, || two_wakes(OWNED));
}

#[test]
fn a_wake_while_it_gives_way_shared() {
    check_bounded(3, || a_wake_while_it_gives_way(SHARED));
}

#[test]
fn a_wake_while_it_gives_way_owned() {
    check_bounded(3, || a_wake_while_it_gives_way(OWNED));
}

#[test]
fn cancel_against_wake_and_run_shared() {
    check_bounded(3, || cancel(SHARED));
}

#[test]
fn cancel_against_wake_and_run_owned() {
    check_bounded(3, || cancel(OWNED));
}

#[test]
fn cancel_while_it_gives_way_or_ends_shared() {
    check(|| cancel_while_it_ends(SHARED));
}

#[test]
fn cancel_while_it_gives_way_or_ends_owned() {
    check(|| cancel_while_it_ends(OWNED));
}

#[test]
fn the_last_reference_against_the_end_shared() {
    check_bounded(3, || late_wakers(SHARED));
}

#[test]
fn the_last_reference_against_the_end_owned() {
    check_bounded(3, || late_wakers(OWNED));
}

#[test]
fn a_waker_that_outlives_one_that_never_waits() {
    check(|| late_waker_of_one_that_never_waits(SHARED));
    check(|| late_waker_of_one_that_never_waits(OWNED));
}

#[test]
fn without_order_in_the_state_it_is_caught() {
    must_fail(Broken::LifeOrder, || one_wake(SHARED));
    must_fail(Broken::LifeOrder, || two_wakes(OWNED));
    must_fail(Broken::LifeOrder, || a_wake_while_it_gives_way(OWNED));
}

#[test]
fn without_order_in_the_references_it_is_caught() {
    must_fail(Broken::RefsOrder, || late_wakers(SHARED));
    must_fail(Broken::RefsOrder, || late_wakers(OWNED));
}

#[test]
fn a_link_in_two_lists_is_caught() {
    must_fail(Broken::Link, || a_wake_while_it_gives_way(OWNED));
}

#[test]
fn a_forgotten_wake_is_caught() {
    must_fail(Broken::Again, || one_wake(SHARED));
}
