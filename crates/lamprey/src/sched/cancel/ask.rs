//! Killing a host from any thread: the order is sent to its home worker, which [`reach`](super::reach) finds.

use super::reach::Asked;
use crate::sched::remote_message::RemoteMessage;
use crate::sched::thread::{Thread, ThreadState};
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::{Cell, heavy_barrier};
use std::ptr::{self, NonNull};

/// A remote message to a host's home worker: kill the host.
#[repr(C)]
struct CancelOrder {
    /// The first field: a pointer to it is a pointer to the order.
    message: RemoteMessage,
    thread: NonNull<Thread>,
}

/// A host that has been asked to end; an order may have to be sent.
pub(crate) struct CancelRequest {
    thread: NonNull<Thread>,
    asked: Asked,
    /// Its home, if that is another worker and has been found.
    home: Option<NonNull<WorkerShared>>,
}

/// Asks a host to end: it unwinds from its current or next blocking call. A host that has not started will
/// not start.
///
/// # Safety
/// `thread` is a host whose object stays alive until this returns.
pub(crate) unsafe fn ask(thread: NonNull<Thread>) {
    // SAFETY: the host's object is alive (contract), and the three steps follow each other without a block.
    unsafe {
        let mut call = request_cancel(thread);
        find_all([&mut call]);
        tell_all([call]);
    }
}

/// The first of three steps of [`ask`]: marks the host as asked.
///
/// # Safety
/// The host's object is alive, and stays so until [`find_all`] has returned.
pub(crate) unsafe fn request_cancel(thread: NonNull<Thread>) -> CancelRequest {
    let here = Worker::current().map_or(ptr::null(), Worker::remote_ptr);
    // SAFETY: the host's object is alive (contract).
    CancelRequest { thread, asked: unsafe { thread.as_ref() }.reach().ask(here), home: None }
}

/// The second step of [`ask`], for many hosts with one heavy barrier. After it a host has ended, or will see
/// the request itself, and is not touched any more; or it cannot end before the order has arrived; or, if it
/// is of the caller's worker, before the caller blocks.
///
/// # Safety
/// The hosts' objects are alive until this returns. (A host that was asked while it ended may not have seen
/// the request, so its `ask` word does not keep it alive.)
pub(crate) unsafe fn find_all<'a>(calls: impl IntoIterator<Item = &'a mut CancelRequest>) {
    let mut away = calls.into_iter().filter(|call| call.asked == Asked::Away).peekable();
    if away.peek().is_some() {
        heavy_barrier();
    }
    for call in away {
        // SAFETY: the host's object is alive (contract).
        call.home = unsafe { call.thread.as_ref() }.reach().visit();
    }
}

/// The third step of [`ask`]: kills the hosts of this worker, and sends orders to the others.
///
/// # Safety
/// [`find_all`] has returned for these calls, and the caller has not blocked since [`request_cancel`].
pub(crate) unsafe fn tell_all(calls: impl IntoIterator<Item = CancelRequest>) {
    for call in calls {
        match (call.asked, Worker::current(), call.home) {
            // SAFETY: a host of this worker, on which no other thread has run since `request_cancel`: it has
            // not ended.
            (Asked::Here, Some(worker), _) => unsafe { worker.cancel(call.thread) },
            // SAFETY: the host has been found, and waits for the end of the visit before it ends.
            (Asked::Away, _, Some(home)) => unsafe { send_order(home, call.thread) },
            _ => {}
        }
    }
}

/// # Safety
/// The host has been found at `home`, and no order has been sent to it.
unsafe fn send_order(home: NonNull<WorkerShared>, thread: NonNull<Thread>) {
    let message = RemoteMessage { link: Cell::new(ptr::null_mut()), run: carry_out };
    let order = NonNull::from(Box::leak(Box::new(CancelOrder { message, thread })));
    // SAFETY: a visited host (contract) does not end before the visit is over, so its home is alive.
    unsafe { WorkerShared::send(home, order.cast()) };
}

/// [`RemoteMessage::run`]: carries out an order that has arrived.
///
/// # Safety
/// The message is the head of an `CancelOrder`; the order's host waits for the end of the visit before it
/// ends.
unsafe fn carry_out(message: NonNull<RemoteMessage>, worker: Option<&Worker>) {
    // SAFETY: leaked by `send_order`, and run once. The host is alive until the visit is over (contract).
    unsafe {
        let thread = Box::from_raw(message.cast::<CancelOrder>().as_ptr()).thread;
        if let Some(worker) = worker
            && thread.as_ref().state.get() != ThreadState::Finished
        {
            worker.cancel(thread);
        }
        thread.as_ref().reach().leave();
    }
}

const _: () = assert!(std::mem::offset_of!(CancelOrder, message) == 0);
