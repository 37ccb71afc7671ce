//! `suspend`: the thread goes on when its token has been used or dropped, whenever that is, and sees the
//! writes before that.

use super::{Broken, check, must_fail};
use crate::sched::worker::wait_or;
use crate::sync_shim::{Arc, UnsafeCell, thread};
use crate::thread::{Abandoned, WakeToken, suspend, suspend_async};

/// A value that the other side writes before it uses the token.
struct Written(UnsafeCell<u32>);

// SAFETY: written before the token's use and read after the suspension; loom checks that.
unsafe impl Sync for Written {}
// SAFETY: written before the token's use and read after the suspension; loom checks that.
unsafe impl Send for Written {}

impl Written {
    fn new() -> Arc<Self> {
        Arc::new(Self(UnsafeCell::new(0)))
    }

    fn write(&self) {
        // SAFETY: loom checks that no other thread accesses it meanwhile.
        self.0.with_mut(|value| unsafe { *value = 7 });
    }

    fn read(&self) -> u32 {
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.0.with(|value| unsafe { *value })
    }
}

/// The token goes to another thread, which uses it.
fn used_elsewhere() {
    let written = Written::new();
    let theirs = written.clone();
    let mut waker = None;
    let ended = suspend(|token| {
        waker = Some(thread::spawn(move || {
            theirs.write();
            token.wake();
        }));
    });
    assert_eq!((ended, written.read()), (Ok(()), 7));
    waker.unwrap().join().unwrap();
}

/// The same as a future; the token is used, or dropped.
fn awaited(used: bool) {
    let written = Written::new();
    let theirs = written.clone();
    let mut waker = None;
    let ended = wait_or(
        suspend_async(|token| {
            waker = Some(thread::spawn(move || {
                theirs.write();
                if used { token.wake() } else { drop(token) }
            }));
        }),
        false,
        |_| None,
    );
    assert_eq!((ended, written.read()), (if used { Ok(()) } else { Err(Abandoned) }, 7));
    waker.unwrap().join().unwrap();
}

#[test]
fn a_future_is_ready_when_its_token_is_used_or_dropped() {
    check(|| awaited(true));
    check(|| awaited(false));
}

#[test]
fn a_future_that_is_dropped_leaves_a_token_that_does_nothing() {
    check(|| {
        let mut waker = None;
        let mut future = Box::pin(suspend_async(|token| waker = Some(thread::spawn(move || token.wake()))));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = std::future::Future::poll(future.as_mut(), &mut context);
        drop(future);
        waker.unwrap().join().unwrap();
    });
}

#[test]
fn the_thread_goes_on_when_its_token_is_used() {
    check(used_elsewhere);
}

#[test]
fn the_thread_goes_on_when_its_token_is_dropped() {
    check(|| {
        let mut dropper = None;
        let ended = suspend(|token| dropper = Some(thread::spawn(move || drop(token))));
        assert_eq!(ended, Err(Abandoned));
        dropper.unwrap().join().unwrap();
    });
}

#[test]
fn a_token_that_is_used_before_the_thread_waits() {
    check(|| assert_eq!(suspend(WakeToken::wake), Ok(())));
}

#[test]
fn of_two_suspensions_each_hears_of_its_own_token() {
    check(|| {
        let (mut first, mut second) = (None, None);
        assert_eq!(suspend(|token| first = Some(thread::spawn(move || token.wake()))), Ok(()));
        assert_eq!(suspend(|token| second = Some(thread::spawn(move || drop(token)))), Err(Abandoned));
        first.unwrap().join().unwrap();
        second.unwrap().join().unwrap();
    });
}

#[test]
fn exchanges_that_order_nothing_are_caught() {
    must_fail(Broken::Exchange, used_elsewhere);
}
