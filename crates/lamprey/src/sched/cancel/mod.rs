//! Ending early: a whole thread (it is **doomed**), or a part of what it does (a **level** is tripped),
//! unless that is shielded.
//!
//! # States
//! A thread has a chain of frames on its stack, the innermost first: shields, and levels, which are OPEN or
//! TRIPPED. Its blocking calls are to end (`Thread::is_cancelled`) if, seen from inside, a tripped level
//! comes before every shield; or if it is doomed and there is no shield at all.
//!
//! A **stackless parasite** that is polled on the thread's stack has a cancellation of its own: seen from
//! within its poll, the chain ends where the poll began, and the thread is not doomed, whatever it is
//! otherwise. Only the end of the runtime dooms what is polled. (The cancellation of the parasite itself
//! drops its future once the poll is over.)
//!
//! Being cancelled is a state, not a message: every blocking call inside ends, until the level that was
//! tripped has been left. So code that swallows the unwind comes no further than its next blocking call.
//!
//! # Invariants
//! 1. `is_cancelled` is worked out anew ([`weigh`]) whenever a frame comes or goes, a level is tripped, the
//!    thread doomed, or a poll begins or ends on its stack.
//! 2. All of that happens on the thread's own kernel thread. From elsewhere a level is tripped by an errand
//!    ([`crate::thread`]'s `wire`), a host doomed by one ([`ask`]). An OS thread's levels alone are tripped
//!    from elsewhere, by a flag that its next block looks at ([`super::os`]).
//! 3. A frame is left in the reverse order of entering, by the thread itself, also when it unwinds. A
//!    generator that is suspended within one would break that: it ends the process where it is suspended
//!    ([`guard`](super::guard)). Coroutines of other libraries are found when the frame is left, or the
//!    thread ends, if at all.
//!
//! # Checked by
//! `tests/cancel/hosts.rs`, `tests/cancel/race.rs`, `tests/cancel/laws.rs`, `tests/callouts/parasites.rs`;
//! the way to a host: `model::reach`, `model::kin`; levels: `model::wire` (loom).

pub(crate) mod reach;

use self::reach::Asked;
use super::block::{Errand, Woke, current};
use super::must_not_block;
use super::parasite::task::Task;
use super::seat::Seat;
use super::thread::{Kind, State, Thread};
use super::worker::Worker;
use crate::sync_shim::heavy_barrier;
use crate::sync_shim::{AtomicBool, Cell, Ordering};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::time::Instant;

/// One of the chain: see the module's text.
pub(crate) struct Frame {
    outer: Cell<*const Frame>,
    /// The stackless parasite that is polled where it was entered; null if none.
    polled: Cell<*mut Task>,
    is: Is,
}

enum Is {
    Shield,
    /// Of no use for cancellation: something that is the thread's alone is in use.
    Open,
    Level {
        /// Of an OS thread it is set from elsewhere; else it is the home's.
        tripped: AtomicBool,
        /// When it is tripped by the clock: for OS threads, which have no timers.
        deadline: Option<Instant>,
    },
}

impl Frame {
    fn new(is: Is) -> Self {
        Self { outer: Cell::new(ptr::null()), polled: Cell::new(ptr::null_mut()), is }
    }

    pub(crate) fn shield() -> Self {
        Self::new(Is::Shield)
    }

    pub(crate) fn level(deadline: Option<Instant>) -> Self {
        Self::new(Is::Level { tripped: AtomicBool::new(false), deadline })
    }

    pub(crate) fn is_tripped(&self) -> bool {
        // Acquire pairs with the Release store in `set_tripped`.
        matches!(&self.is, Is::Level { tripped, .. } if tripped.load(Ordering::Acquire))
    }

    /// Of a host: by its home, which is to [`weigh`] it. Of an OS thread: by anybody.
    pub(crate) fn set_tripped(&self) {
        if let Is::Level { tripped, .. } = &self.is {
            // Release pairs with the Acquire load in `is_tripped`.
            tripped.store(true, Ordering::Release);
        }
    }
}

/// Enters `frame` on the calling thread, runs `inside`, and leaves it. Where there is nothing that could be
/// cancelled (a worker's root) it only runs `inside`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn within<R>(frame: &Frame, inside: impl FnOnce() -> R) -> R {
    let thread = current();
    // SAFETY: the caller's own descriptor, alive while it runs.
    let thread = unsafe { thread.as_ref() };
    if thread.kind == Kind::Root {
        return inside();
    }
    let _left = enter(thread, frame);
    weigh(thread);
    inside()
}

/// Runs `inside`, which uses something that is the calling thread's alone: no other thread may go on in the
/// middle of it.
pub(crate) fn open<R>(inside: impl FnOnce() -> R) -> R {
    let frame = Frame::new(Is::Open);
    let thread = current();
    // SAFETY: the caller's own descriptor, alive while it runs.
    let _left = enter(unsafe { thread.as_ref() }, &frame);
    inside()
}

/// Makes `frame` the innermost of the calling thread, until what this gives is dropped.
#[cfg_attr(not(debug_assertions), inline(always))]
fn enter<'a>(thread: &'a Thread, frame: &'a Frame) -> Left<'a> {
    if !thread.is_lamprey() {
        super::guard::mark_generators(); // there is perhaps no runtime yet
    }
    frame.outer.set(thread.frames.replace(frame));
    frame.polled.set(thread.polling.get());
    Left { thread, frame }
}

/// Leaves the frame, also when what is inside unwinds.
struct Left<'a> {
    thread: &'a Thread,
    frame: &'a Frame,
}

impl Drop for Left<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if !ptr::eq(self.thread.frames.get(), self.frame) || !ptr::eq(current().as_ptr(), self.thread) {
            frame_misused();
        }
        self.thread.frames.set(self.frame.outer.get());
        weigh(self.thread);
    }
}

/// A thread ends, and has left all its frames: who trips one of them reaches the thread. (It has not if a
/// coroutine of another library was leaked in the middle of one.)
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn must_be_outside(thread: &Thread) {
    if !thread.frames.get().is_null() {
        frame_misused();
    }
}

/// The thread-locals of an OS thread are destroyed. True if that is because it has called `process::exit`
/// within its frames: they are still on its stack, where it is. Of a thread that ends there is none.
#[cold]
pub(super) fn exits_inside(thread: &Thread) -> bool {
    let innermost = thread.frames.get().addr();
    if innermost == 0 {
        return false;
    }
    // Above us, and on the same stack: this is a call that was made within it.
    let here = ptr::from_ref(&innermost).addr();
    if !(here..top_of_own_stack().unwrap_or(usize::MAX)).contains(&innermost) {
        frame_misused();
    }
    true
}

/// Of the calling kernel thread.
fn top_of_own_stack() -> Option<usize> {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: they are filled in, read and destroyed here, in this order.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut limit, mut size) = (ptr::null_mut(), 0);
        let found = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut limit, &raw mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        found.then_some(limit.addr() + size)
    }
}

/// Ends the process: what comes next would be a use of memory that is gone.
#[cold]
#[inline(never)]
fn frame_misused() -> ! {
    crate::bug::say!(
        "a shield, deadline, token or scope was not left in the reverse order of entering, or not at all: a coroutine was \
         suspended in the middle of it, and then leaked or resumed elsewhere"
    );
    std::process::abort()
}

/// Works out whether the thread's blocking calls are to end.
#[cfg_attr(not(debug_assertions), inline(always))]
fn weigh(thread: &Thread) {
    if thread.is_lamprey() {
        thread.set_cancelled(is_due(thread));
    }
}

/// True if the caller's runtime ends and will cancel it, though its worker may not have come to that yet:
/// others may have ended for that reason already.
#[cfg(not(loom))]
pub(crate) fn is_about_to_end() -> bool {
    let Some(worker) = Worker::current() else { return false };
    // Acquire pairs with the Release store in `Shared::stop`.
    worker.shared.stopping.load(Ordering::Acquire)
        && !std::thread::panicking()
        && !is_shielded(worker.running_ref())
}

#[cfg(not(loom))]
fn is_shielded(thread: &Thread) -> bool {
    let mut frame = thread.frames.get();
    // SAFETY: entered frames are alive until they are left.
    while let Some(entry) = unsafe { frame.as_ref() } {
        if matches!(entry.is, Is::Shield) {
            return true;
        }
        frame = entry.outer.get();
    }
    false
}

fn is_due(thread: &Thread) -> bool {
    let polled = thread.polling.get();
    let mut frame = thread.frames.get();
    // SAFETY: entered frames are alive until they are left.
    while let Some(entry) = unsafe { frame.as_ref() }
        && entry.polled.get() == polled
    {
        match &entry.is {
            Is::Shield => return false,
            Is::Level { .. } if entry.is_tripped() => return true,
            Is::Level { .. } | Is::Open => frame = entry.outer.get(),
        }
    }
    if polled.is_null() { thread.doomed.get() } else { Worker::current().is_some_and(Worker::is_ending) }
}

impl Thread {
    /// From now on `task` is what runs on this stack: a stackless parasite that is polled, or null for the
    /// thread's own account. Gives what did before, to go back to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn act_for(&self, task: *mut Task) -> *mut Task {
        let before = self.polling.replace(task);
        if !self.frames.get().is_null() || self.doomed.get() {
            weigh_anew(self);
        }
        before
    }
}

#[cold]
#[inline(never)]
fn weigh_anew(thread: &Thread) {
    weigh(thread);
}

/// What an OS thread has to expect of its levels, while it does not unwind.
pub(super) enum Outlook {
    Tripped,
    /// One is tripped then.
    At(Instant),
    Clear,
}

/// See [`Outlook`]. A level whose time has come is tripped by the look.
pub(super) fn outlook(thread: &Thread) -> Outlook {
    let mut frame = thread.frames.get();
    if frame.is_null() || std::thread::panicking() {
        return Outlook::Clear;
    }
    let now = Instant::now();
    let mut next: Option<Instant> = None;
    // SAFETY: entered frames are alive until they are left.
    while let Some(entry) = unsafe { frame.as_ref() } {
        let deadline = match &entry.is {
            Is::Shield => break,
            Is::Open => &None,
            Is::Level { deadline, .. } => deadline,
        };
        if deadline.is_some_and(|at| at <= now) {
            entry.set_tripped();
        }
        if entry.is_tripped() {
            return Outlook::Tripped;
        }
        next = [next, *deadline].into_iter().flatten().min();
        frame = entry.outer.get();
    }
    next.map_or(Outlook::Clear, Outlook::At)
}

/// True if the calling thread's blocking calls are to end now.
pub(super) fn is_cancelled(thread: &Thread) -> bool {
    match thread.kind {
        Kind::Root => false,
        Kind::Os => matches!(outlook(thread), Outlook::Tripped),
        Kind::Host | Kind::Parasite => thread.is_cancelled(),
    }
}

impl Worker {
    /// Marks a thread of this worker: it is to end.
    #[cold]
    pub(super) fn doom(&self, thread: &Thread) {
        thread.doomed.set(true);
        weigh(thread);
    }

    /// Dooms a thread of this worker, and ends its block unless it is shielded.
    ///
    /// # Safety
    /// As for [`interrupt`](Self::interrupt).
    pub(crate) unsafe fn cancel(&self, thread: NonNull<Thread>) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.doom(thread.as_ref());
            self.interrupt_if_cancelled(thread);
        }
    }

    /// Trips a level of a thread of this worker.
    ///
    /// # Safety
    /// As for [`interrupt`](Self::interrupt); `frame` is one of the thread's, entered and not left.
    pub(crate) unsafe fn trip(&self, frame: &Frame, thread: NonNull<Thread>) {
        frame.set_tripped();
        // SAFETY: as promised by the caller.
        unsafe {
            weigh(thread.as_ref());
            self.interrupt_if_cancelled(thread);
        }
    }

    /// # Safety
    /// As for [`interrupt`](Self::interrupt).
    unsafe fn interrupt_if_cancelled(&self, thread: NonNull<Thread>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if thread.as_ref().is_cancelled() {
                self.interrupt(thread, Woke::Cancelled);
            }
        }
    }

    /// A host of this worker ends: somebody who is on the way to cancel it is waited for, by letting the root
    /// take in what has been sent.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn part(&self, me: &Thread) {
        must_be_outside(me);
        if me.reach().end() {
            self.await_visitor(me);
        }
    }

    #[cold]
    fn await_visitor(&self, me: &Thread) {
        while me.reach().is_visited() {
            self.give_way_to_root(me);
        }
    }
}

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

/// True where a level would be of no use: blocking calls fail anyhow, and its end might have to wait.
pub(crate) fn is_moot() -> bool {
    must_not_block() || Worker::current().is_some_and(Worker::is_on_root)
}

const _: () = assert!(std::mem::offset_of!(Order, errand) == 0);
