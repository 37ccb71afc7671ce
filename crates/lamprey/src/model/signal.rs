//! Pending signals: each is taken once, whichever threads take and sleep meanwhile, and what was done before it was sent
//! is seen. A thread that sleeps for ever is a deadlock, which loom reports.

use super::gate::Quiet;
use super::{Broken, check, check_bounded, must_fail};
use crate::signal::pending::{Counter, Pending};
use crate::sync_shim::{Arc, Mutex, Parker, UnsafeCell, thread};

#[derive(Default)]
struct Eventfd(Mutex<(u64, Vec<Parker>)>);

impl Counter for Eventfd {
    fn add(&self) {
        let waiting = {
            let mut state = self.0.lock().unwrap();
            state.0 += 1;
            std::mem::take(&mut state.1)
        };
        waiting.iter().for_each(Parker::unpark);
    }

    fn reset(&self) {
        self.0.lock().unwrap().0 = 0;
    }
}

impl Eventfd {
    /// `poll(2)`: a thread that is woken looks again whether it is readable.
    fn wait(&self) {
        // One for all rounds: the checker ends the wait of each once without a reason.
        let me = Parker::of_current();
        loop {
            {
                let mut state = self.0.lock().unwrap();
                if state.0 != 0 {
                    return;
                }
                state.1.push(me.clone());
            }
            me.park();
        }
    }
}

fn recv(pending: &Pending<Eventfd>) -> u32 {
    loop {
        match pending.take() {
            Some(bit) => return bit,
            None => pending.counter.wait(),
        }
    }
}

fn pending() -> Quiet<Arc<Pending<Eventfd>>> {
    Quiet::new(Arc::new(Pending::new(Eventfd::default())))
}

fn again(pending: &Arc<Pending<Eventfd>>) -> Quiet<Arc<Pending<Eventfd>>> {
    Quiet::new(pending.clone())
}

fn a_thread_waits_for_two() {
    let pending = pending();
    let handlers = [0, 63].map(|bit| {
        let pending = again(&pending);
        thread::spawn(move || pending.set(bit))
    });
    assert_eq!(recv(&pending) + recv(&pending), 63);
    handlers.into_iter().for_each(|handler| handler.join().unwrap());
    assert_eq!(pending.take(), None);
}

fn two_threads_wait_for_two() {
    let pending = pending();
    let (handler, other) = (again(&pending), again(&pending));
    let handler = thread::spawn(move || [3, 5].map(|bit| handler.set(bit)));
    let other = thread::spawn(move || {
        other.counter.wait(); // it has looked before
        recv(&other)
    });
    assert_eq!(recv(&pending) + other.join().unwrap(), 8);
    handler.join().unwrap();
}

#[test]
fn no_signal_is_lost() {
    check_bounded(3, a_thread_waits_for_two);
}

#[test]
fn no_waiter_is_lost() {
    check_bounded(3, two_threads_wait_for_two);
}

#[test]
fn what_was_done_before_is_seen() {
    struct Written(UnsafeCell<u32>);
    // SAFETY: written before the signal and read after it; loom checks that.
    unsafe impl Send for Written {}
    // SAFETY: written before the signal and read after it; loom checks that.
    unsafe impl Sync for Written {}
    check(|| {
        let shared = Arc::new((Written(UnsafeCell::new(0)), Pending::new(Eventfd::default())));
        let theirs = shared.clone();
        let handler = thread::spawn(move || {
            // SAFETY: loom checks that no other thread accesses it meanwhile.
            theirs.0.0.with_mut(|value| unsafe { *value = 7 });
            theirs.1.set(1);
        });
        assert_eq!(recv(&shared.1), 1);
        // SAFETY: loom checks that no thread writes it meanwhile.
        shared.0.0.with(|value| assert_eq!(unsafe { *value }, 7));
        handler.join().unwrap();
    });
}

#[test]
fn the_second_look_is_needed() {
    must_fail(Broken::SignalLook, a_thread_waits_for_two);
}

#[test]
fn the_write_for_others_is_needed() {
    must_fail(Broken::SignalOthers, two_threads_wait_for_two);
}
