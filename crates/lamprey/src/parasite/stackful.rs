//! Stackful parasites: closures that start at once, on a context that is kept ready, and may block anywhere.
//!
//! # States of the outcome
//! The closure ends before it blocks: the outcome goes back to the spawner's frame ([`Started`]), and nothing is allocated. It
//! blocks: the spawner goes on and makes a [`Packet`], where the outcome goes later.
//!
//! # Invariants
//! 1. The spawner does not go on before the closure has been moved to the parasite's stack and that has blocked or ended; so
//!    its frame is there for both.
//! 2. `Context::packet` is set by the spawner right after that, on the same kernel thread, before anything else runs: the
//!    parasite finds it null exactly if it has never blocked.
//! 3. A packet has one structural owner, parasite and handle together (completion word), and references of errands.
//! 4. `Head::thread` is the parasite's descriptor until it ends, for its home worker only.

use super::handle::{Outcome, ParasiteHandle};
use super::place::{caught, drop_outcome};
use super::spawn::outside;
use crate::sched::block::Errand;
use crate::sched::completion::{Completion, Published};
use crate::sched::contexts::{Call, Context};
use crate::sched::life::Refs;
use crate::sched::thread::{State, Thread};
use crate::sched::worker::{Seat, Worker, give_block, take_block};
use crate::sched::{Waiter, Who};
use crate::thread::{JoinError, local};
use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Starts a closure **now**, on a pooled stack on top of the caller (parasitic-threads-2011, 2.2).
///
/// If it does not block, its result is in the handle when this returns. When it blocks, anywhere and at any depth, the
/// caller goes on; the parasite is then a thread that waits, and whoever unblocks it runs it, ahead of the hosts. It stays on its
/// worker (kernel thread).
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (tx, rx) = lamprey::channel();
/// let lines = lamprey::parasite_fn(move || rx.iter().filter(|n| n % 2 == 0).count()); // blocks inside the iterator
/// (0..10).for_each(|n| tx.send(n).unwrap());
/// drop(tx);
/// assert_eq!(lines.join().unwrap(), 5);
/// # });
/// ```
/// It may outlive the caller's frame, so it must not borrow from it:
/// ```compile_fail,E0373
/// # lamprey::run(|| {
/// let text = String::from("here");
/// lamprey::parasite_fn(|| println!("{text}")).detach();
/// # });
/// ```
///
/// # Errors
/// None here; if no stack can be had, the handle has [`JoinError::NoStack`].
///
/// # Panics
/// Outside of a host. A panic *in* the parasite stays in it and reaches whoever joins.
///
/// # Blocking
/// Until the closure ends or blocks.
#[inline(always)]
#[track_caller]
pub fn parasite_fn<F, T>(f: F) -> ParasiteHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let Some(worker) = Worker::current() else { outside("parasite_fn") };
    // SAFETY: closure and result are 'static.
    unsafe { start_or_host(worker, f, Location::caller(), false) }
}

/// As [`parasite_fn`], for a closure that is not `Send`.
///
/// # Panics
/// Outside of a host.
#[inline(always)]
#[track_caller]
pub fn parasite_fn_local<F, T>(f: F) -> ParasiteHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let Some(worker) = Worker::current() else { outside("parasite_fn_local") };
    // SAFETY: closure and result are 'static, and it stays on this kernel thread.
    unsafe { start(worker, f, Location::caller(), false) }
}

/// A call on the frame of its spawner.
#[repr(C)]
struct Started<F, T> {
    call: Call,
    closure: UnsafeCell<ManuallyDrop<F>>,
    outcome: UnsafeCell<MaybeUninit<Outcome<T>>>,
    over: Cell<bool>,
}

/// Runs `f` on top of the running thread until it ends or blocks.
///
/// # Safety
/// `f` and its result borrow nothing that ends before the parasite; they may stay on this kernel thread.
#[inline(always)]
pub(super) unsafe fn start<F: FnOnce() -> T, T>(
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
    attach_inline: bool,
) -> ParasiteHandle<T> {
    if worker.must_not_switch() {
        return refuse(f);
    }
    worker.seat.counters.stackful.add(1);
    let started = Started {
        call: Call { run: run::<F, T> },
        closure: UnsafeCell::new(ManuallyDrop::new(f)),
        outcome: UnsafeCell::new(MaybeUninit::uninit()),
        over: Cell::new(false),
    };
    let start = worker.seat.ticks();
    // SAFETY: `started` lives until the end of this function.
    let context = unsafe { worker.run_on_top(NonNull::from(&started).cast(), site, attach_inline) };
    if worker.seat.ticks() != start {
        worker.blame_spawner(start);
    }
    match context {
        // SAFETY: the parasite has ended and written its outcome, once.
        Ok(_) if started.over.get() => match unsafe { started.outcome.into_inner().assume_init() } {
            Ok(value) => ParasiteHandle::value(value),
            Err(error) => ParasiteHandle::failed(error),
        },
        Ok(context) => {
            worker.seat.counters.reified.add(1);
            worker.stand_alone(context);
            let packet = Packet::new(Some((worker, context)));
            // SAFETY: the parasite has blocked: its context is alive.
            unsafe { context.as_ref() }.packet.set(packet.as_ptr().cast());
            ParasiteHandle::of_packet(packet)
        }
        Err(error) => {
            drop(ManuallyDrop::into_inner(started.closure.into_inner()));
            ParasiteHandle::failed(JoinError::NoStack(error))
        }
    }
}

/// As [`start`], for a closure that may travel: it starts as a host if its spawner has a penalty to pay.
///
/// # Safety
/// As for [`start`].
#[inline(always)]
pub(super) unsafe fn start_or_host<F: FnOnce() -> T + Send + 'static, T: Send + 'static>(
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
    attach_inline: bool,
) -> ParasiteHandle<T> {
    if worker.is_to_start_as_host() && !worker.must_not_switch() {
        return start_as_host(worker, f);
    }
    // SAFETY: as promised by the caller.
    unsafe { start(worker, f, site, attach_inline) }
}

#[cold]
#[inline(never)]
fn start_as_host<F: FnOnce() -> T + Send + 'static, T: Send + 'static>(
    worker: &Worker,
    f: F,
) -> ParasiteHandle<T> {
    let counters = &worker.seat.counters;
    counters.stackful.add(1);
    counters.reified.add(1);
    counters.inflated.add(1);
    let packet = Packet::new(None);
    let errand = Hosted { packet, closure: Some(f) };
    drop(crate::thread::spawn(move || errand.run()));
    ParasiteHandle::of_packet(packet)
}

/// A parasite on its way to be a host. Dropped unrun, it ends as cancelled.
struct Hosted<F, T> {
    packet: NonNull<Packet<T>>,
    closure: Option<F>,
}

// SAFETY: closure and outcome are `Send` (bounds of `start_as_host`); the packet is the parasite's share.
unsafe impl<F: Send, T: Send> Send for Hosted<F, T> {}

impl<F: FnOnce() -> T, T> Hosted<F, T> {
    fn run(mut self) {
        let (Some(worker), Some(closure)) = (Worker::current(), self.closure.take()) else { return };
        // SAFETY: alive by the parasite's share.
        let head = unsafe { &self.packet.as_ref().head };
        head.thread.set(worker.running().as_ptr());
        // StoreLoad race: our home against our look at `ordered`; pairs with the two in `Packet::cancel`.
        head.home.store(Arc::into_raw(worker.seat.clone()).cast_mut(), Ordering::SeqCst);
        // StoreLoad race: as above.
        let outcome = if head.ordered.load(Ordering::SeqCst) {
            drop(closure);
            Err(JoinError::Cancelled)
        } else {
            catch_unwind(AssertUnwindSafe(closure)).map_err(caught)
        };
        // SAFETY: the parasite's share, given up here.
        unsafe { Packet::publish(std::mem::ManuallyDrop::new(self).packet, outcome) }
    }
}

impl<F, T> Drop for Hosted<F, T> {
    fn drop(&mut self) {
        drop(self.closure.take());
        // SAFETY: as in `run`, which has not got to it.
        unsafe { Packet::publish(self.packet, Err(JoinError::Cancelled)) }
    }
}

/// The caller unwinds, or its runtime ends.
#[cold]
fn refuse<F, T>(f: F) -> ParasiteHandle<T> {
    drop(f);
    let why = if std::thread::panicking() { JoinError::Unwinding } else { JoinError::Cancelled };
    ParasiteHandle::failed(why)
}

/// [`Call::run`].
///
/// # Safety
/// `call` heads a `Started<F, T>` whose spawner waits below; called once, on the context's own stack.
unsafe fn run<F: FnOnce() -> T, T>(call: NonNull<Call>, context: &Context) {
    // SAFETY: invariants 1 and 2.
    unsafe {
        let started = call.cast::<Started<F, T>>();
        let closure = ManuallyDrop::take(&mut *started.as_ref().closure.get());
        let outcome = catch_unwind(AssertUnwindSafe(closure)).map_err(caught);
        if !context.thread.locals.get().is_null() {
            local::end(&context.thread);
        }
        match NonNull::new(context.packet.get().cast_mut()) {
            None => {
                (*started.as_ref().outcome.get()).write(outcome);
                started.as_ref().over.set(true);
            }
            Some(packet) => Packet::<T>::publish(packet.cast(), outcome),
        }
    }
}

/// The part of a packet that does not depend on the type of the outcome.
#[repr(C)]
pub(super) struct Head {
    /// The order to end, when it comes from elsewhere. First, so that an errand is a packet.
    errand: Errand,
    pub(super) completion: Completion,
    refs: Refs,
    ordered: AtomicBool,
    thread: Cell<*const Thread>,
    /// Null until it has started; holds a count.
    home: AtomicPtr<Seat>,
    free: unsafe fn(NonNull<Head>),
}

/// Where the outcome of a parasite that has blocked goes. See the module's text.
#[repr(C)]
pub(super) struct Packet<T> {
    pub(super) head: Head,
    outcome: UnsafeCell<MaybeUninit<Outcome<T>>>,
}

impl<T> Packet<T> {
    #[cold]
    #[inline(never)]
    fn new(started: Option<(&Worker, NonNull<Context>)>) -> NonNull<Self> {
        let (home, thread) = started.map_or((ptr::null_mut(), ptr::null()), |(worker, context)| {
            (Arc::into_raw(worker.seat.clone()).cast_mut(), context.cast::<Thread>().as_ptr().cast_const())
        });
        let packet = take_block(Layout::new::<Self>()).cast::<Self>();
        let head = Head {
            errand: Errand { link: Cell::new(ptr::null_mut()), run: end_parasite },
            completion: Completion::new(),
            refs: Refs::new(),
            ordered: AtomicBool::new(false),
            thread: Cell::new(thread),
            home: AtomicPtr::new(home),
            free: free::<T>,
        };
        // SAFETY: fresh memory of this layout.
        unsafe { packet.write(Self { head, outcome: UnsafeCell::new(MaybeUninit::uninit()) }) };
        packet
    }

    /// The parasite has ended.
    ///
    /// # Safety
    /// The parasite's own packet; called once, by the parasite.
    unsafe fn publish(packet: NonNull<Self>, outcome: Outcome<T>) {
        // SAFETY: alive by the parasite's share; after the word says `Kept`, the handle may have freed it.
        unsafe {
            packet.as_ref().head.thread.set(ptr::null());
            (*packet.as_ref().outcome.get()).write(outcome);
            match packet.as_ref().head.completion.publish() {
                Published::Kept => {}
                Published::Owed(waiter) => waiter.wake_kept(),
                Published::Unwanted => {
                    drop_outcome(
                        (*packet.as_ref().outcome.get()).assume_init_read(),
                        "on a stack of its own",
                    );
                    Self::drop_owner(packet);
                }
            }
        }
    }

    /// Moves the outcome out.
    ///
    /// # Safety
    /// Done, and the caller's alone; its last use.
    pub(super) unsafe fn take(packet: NonNull<Self>) -> Outcome<T> {
        // SAFETY: as promised by the caller.
        unsafe {
            let outcome = (*packet.as_ref().outcome.get()).assume_init_read();
            Self::drop_owner(packet);
            outcome
        }
    }

    /// The handle is gone.
    ///
    /// # Safety
    /// The handle's share, given up by this.
    pub(super) unsafe fn detach(packet: NonNull<Self>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if !packet.as_ref().head.completion.detach() {
                drop_outcome(Self::take(packet), "on a stack of its own");
            }
        }
    }

    /// Asks the parasite to end.
    ///
    /// # Safety
    /// The handle's share lasts beyond this call.
    pub(super) unsafe fn cancel(packet: NonNull<Self>) {
        // SAFETY: alive by the handle's share.
        let head = unsafe { &packet.as_ref().head };
        // StoreLoad race: our order against our look at `home`; pairs with the two in `Hosted::run`. Only one is sent.
        if head.completion.is_done() || head.ordered.swap(true, Ordering::SeqCst) {
            return;
        }
        // StoreLoad race: as above. Null: it has not started, and will see the order when it does.
        let Some(home) = NonNull::new(head.home.load(Ordering::SeqCst)) else { return };
        if let Some(worker) = Worker::current()
            && ptr::eq(worker.seat_ptr(), home.as_ptr())
        {
            return end_here(head, worker);
        }
        head.refs.retain();
        // SAFETY: the packet has a count of its home; the errand has a reference to the packet.
        unsafe {
            let home = Seat::retain(home);
            if let Err(entry) = home.deliver(Waiter::errand(packet.cast()))
                && let Who::Errand(errand) = entry.who()
            {
                (errand.as_ref().run)(errand, None);
            }
        }
    }

    /// # Safety
    /// The structural owner's claim, given up here; the outcome has been taken.
    unsafe fn drop_owner(packet: NonNull<Self>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if packet.as_ref().head.refs.drop_owner() {
                free::<T>(packet.cast());
            }
        }
    }
}

/// Cancels the parasite of a packet on its home worker.
fn end_here(head: &Head, worker: &Worker) {
    if let Some(thread) = NonNull::new(head.thread.get().cast_mut()) {
        // SAFETY: invariant 4: it has not ended.
        unsafe {
            if thread.as_ref().state.get() != State::Finished {
                worker.cancel(thread);
            }
        }
    }
}

/// [`Errand::run`]: the order to end has arrived.
///
/// # Safety
/// The errand heads a packet and comes with a reference to it.
unsafe fn end_parasite(errand: NonNull<Errand>, worker: Option<&Worker>) {
    let head = errand.cast::<Head>();
    // SAFETY: as promised by the caller.
    unsafe {
        if let Some(worker) = worker {
            end_here(head.as_ref(), worker);
        }
        if head.as_ref().refs.release() {
            (head.as_ref().free)(head);
        }
    }
}

/// # Safety
/// Nobody has a claim on the packet any more; its outcome has been taken.
unsafe fn free<T>(head: NonNull<Head>) {
    // SAFETY: made by `Packet::new` with this layout.
    unsafe {
        // Relaxed: nobody else has a claim any more.
        let home = head.as_ref().home.load(Ordering::Relaxed);
        if !home.is_null() {
            drop(Arc::from_raw(home.cast_const()));
        }
        give_block(head.cast(), Layout::new::<Packet<T>>());
    }
}

const _: () = assert!(std::mem::offset_of!(Head, errand) == 0);
