//! A host that starts and ends while two cancelling threads look for it: it gets the cancellation once, or
//! none because it has ended, and no thread touches its worker after the worker is gone.

use super::{Broken, check, check_bounded, must_fail};
use crate::sched::cancel::reach::{Asked, Reach};
use crate::sync_shim::{
    Arc, AtomicBool, AtomicPtr, AtomicU8, Ordering, UnsafeCell, heavy_barrier, relax, thread,
};
use std::ptr;

/// A worker reduced to an inbox for one remote message, and a mark of its end.
struct WorkerShared {
    inbox: AtomicPtr<()>,
    is_gone: UnsafeCell<bool>,
}

struct Host {
    remote: WorkerShared,
    home: AtomicPtr<()>,
    ask: AtomicU8,
    told: AtomicBool,
}

// SAFETY: `is_gone` is written when no thread may touch the worker any more; loom checks that.
unsafe impl Sync for Host {}
// SAFETY: the other fields are atomics; loom checks `is_gone`.
unsafe impl Send for Host {}

const MESSAGE: *mut () = ptr::without_provenance_mut(1);

impl Host {
    fn new() -> Arc<Self> {
        let remote = WorkerShared { inbox: AtomicPtr::new(ptr::null_mut()), is_gone: UnsafeCell::new(false) };
        let (home, ask) = (AtomicPtr::new(ptr::null_mut()), AtomicU8::new(0));
        Arc::new(Self { remote, home, ask, told: AtomicBool::new(false) })
    }

    fn reach(&self) -> Reach<'_, WorkerShared> {
        Reach::new(&self.home, &self.ask)
    }

    /// The worker's root receives the message that was sent.
    fn attend(&self) {
        // AcqRel pairs with the swap in `cancel`.
        if self.remote.inbox.swap(ptr::null_mut(), Ordering::AcqRel) == MESSAGE {
            // Relaxed: read after all threads have ended.
            self.told.store(true, Ordering::Relaxed);
            self.reach().leave();
        }
    }

    /// The whole life of the host on its worker; true if it ran.
    fn live(&self) -> bool {
        self.reach().begin(&self.remote);
        let runs = !self.reach().is_asked();
        self.attend();
        let mut spins = 0;
        if self.reach().end() {
            while self.reach().is_visited() {
                self.attend();
                relax(&mut spins);
            }
        }
        // SAFETY: loom checks that all accesses came before this.
        self.remote.is_gone.with_mut(|gone| unsafe { *gone = true });
        runs
    }

    /// A cancelling thread: what `ask` returned, and whether it sent the message.
    fn cancel(&self) -> (Asked, bool) {
        let asked = self.reach().ask(ptr::null());
        if asked != Asked::Away {
            return (asked, false);
        }
        heavy_barrier();
        let Some(remote) = self.reach().visit() else { return (asked, false) };
        // SAFETY: the visit keeps the worker; that is what the model checks.
        let remote = unsafe { remote.as_ref() };
        // SAFETY: loom checks that no thread writes it meanwhile.
        remote.is_gone.with(|gone| assert!(!unsafe { *gone }, "the worker has gone"));
        // AcqRel pairs with the swap in `attend`.
        remote.inbox.swap(MESSAGE, Ordering::AcqRel);
        (asked, true)
    }
}

fn cancelled_while_it_lives() {
    let host = Host::new();
    let theirs = host.clone();
    let canceller = thread::spawn(move || theirs.cancel());
    let runs = host.live();
    let (asked, sent) = canceller.join().unwrap();
    // Relaxed: all threads have ended.
    assert_eq!(host.told.load(Ordering::Relaxed), sent, "what was sent arrives before the end");
    if !runs {
        assert_eq!(asked, Asked::Away);
    }
}

fn cancelled_while_it_starts() {
    let host = Host::new();
    let theirs = host.clone();
    let canceller = thread::spawn(move || theirs.cancel());
    host.reach().begin(&host.remote);
    let runs = !host.reach().is_asked();
    let (asked, sent) = canceller.join().unwrap();
    assert!(asked == Asked::Away && (sent || !runs), "it runs on, and nobody tells it");
}

#[test]
fn one_that_is_asked_while_it_starts_and_ends_is_told_or_over() {
    check(cancelled_while_it_lives);
}

#[test]
fn one_that_is_asked_while_it_starts_does_not_run_unknowing() {
    check(cancelled_while_it_starts);
}

#[test]
fn of_two_who_ask_one_visits() {
    check_bounded(2, || {
        let host = Host::new();
        let theirs = [host.clone(), host.clone()];
        let [one, two] = theirs.map(|theirs| thread::spawn(move || theirs.cancel()));
        host.live();
        let sent = [one.join().unwrap().1, two.join().unwrap().1];
        assert!(sent != [true, true]);
    });
}

#[test]
fn without_the_light_barrier_it_is_caught() {
    must_fail(Broken::LightBarrier, cancelled_while_it_starts);
    must_fail(Broken::LightBarrier, cancelled_while_it_lives);
}

#[test]
fn without_the_heavy_barrier_it_is_caught() {
    must_fail(Broken::HeavyBarrier, cancelled_while_it_starts);
    must_fail(Broken::HeavyBarrier, cancelled_while_it_lives);
}
