//! Asking a host to end, from any thread: the order travels to its home ([`reach`](super::reach)).

use super::reach::Asked;
use crate::sched::errand::Errand;
use crate::sched::seat::Seat;
use crate::sched::thread::{State, Thread};
use crate::sched::worker::Worker;
use crate::sync_shim::{Cell, heavy_barrier};
use std::ptr::{self, NonNull};

/// An order to end on its way to a host's home.
#[repr(C)]
struct Order {
    /// First, so that an errand is an order.
    errand: Errand,
    thread: NonNull<Thread>,
}

/// A host that has been asked to end; it may have to be told.
pub(crate) struct Call {
    thread: NonNull<Thread>,
    asked: Asked,
    /// Where it is, if it is elsewhere and has been found.
    home: Option<NonNull<Seat>>,
}

/// Asks a host to end: it unwinds from the blocking call that it is in, or comes to next; one that has not
/// started does not.
///
/// # Safety
/// A host whose object stays alive until this returns.
pub(crate) unsafe fn ask(thread: NonNull<Thread>) {
    // SAFETY: as promised by the caller.
    unsafe {
        let mut call = call_off(thread);
        find_all([&mut call]);
        tell_all([call]);
    }
}

/// The first of three steps of [`ask`].
///
/// # Safety
/// The host's object is alive, and stays so until [`find_all`] has returned.
pub(crate) unsafe fn call_off(thread: NonNull<Thread>) -> Call {
    let here = Worker::current().map_or(ptr::null(), Worker::seat_ptr);
    // SAFETY: as promised by the caller.
    Call { thread, asked: unsafe { thread.as_ref() }.reach().ask(here), home: None }
}

/// The second step of [`ask`], for many: with one heavy barrier. From here on each of them has ended, or will
/// see for itself, and is not touched any more; or it cannot end before it has been told, or, if it is this
/// worker's, before the caller blocks.
///
/// # Safety
/// See [`call_off`]. A host that was asked while it ended may not have seen it, so only its owner knows that
/// it is still there.
pub(crate) unsafe fn find_all<'a>(calls: impl IntoIterator<Item = &'a mut Call>) {
    let mut away = calls.into_iter().filter(|call| call.asked == Asked::Away).peekable();
    if away.peek().is_some() {
        heavy_barrier();
    }
    for call in away {
        // SAFETY: as promised by the caller.
        call.home = unsafe { call.thread.as_ref() }.reach().visit();
    }
}

/// The third step of [`ask`].
///
/// # Safety
/// They have been found, and the caller has not blocked since it called them off.
pub(crate) unsafe fn tell_all(calls: impl IntoIterator<Item = Call>) {
    for call in calls {
        match (call.asked, Worker::current(), call.home) {
            // SAFETY: of this worker, where nobody else has run: it has not ended.
            (Asked::Here, Some(worker), _) => unsafe { worker.cancel(call.thread) },
            // SAFETY: it waits for the end of the visit before it ends.
            (Asked::Away, _, Some(home)) => unsafe { send_order(home, call.thread) },
            _ => {}
        }
    }
}

/// # Safety
/// The host has been found there, and not been told.
unsafe fn send_order(home: NonNull<Seat>, thread: NonNull<Thread>) {
    let errand = Errand { link: Cell::new(ptr::null_mut()), run: carry_out };
    let order = NonNull::from(Box::leak(Box::new(Order { errand, thread })));
    // SAFETY: a visited host's home is there until the visit is over (contract).
    unsafe { Seat::send(home, order.cast()) };
}

/// [`Errand::run`]: the order has arrived.
///
/// # Safety
/// The errand heads an order; its host waits for the end of the visit before it ends.
unsafe fn carry_out(errand: NonNull<Errand>, worker: Option<&Worker>) {
    // SAFETY: leaked by `send_order`, and run once. The host is there until the visit is over.
    unsafe {
        let thread = Box::from_raw(errand.cast::<Order>().as_ptr()).thread;
        if let Some(worker) = worker
            && thread.as_ref().state.get() != State::Finished
        {
            worker.cancel(thread);
        }
        thread.as_ref().reach().leave();
    }
}

const _: () = assert!(std::mem::offset_of!(Order, errand) == 0);
