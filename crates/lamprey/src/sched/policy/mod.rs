//! Policies: which ready thread a worker runs next (the order of Go's local run queue).
//!
//! A worker keeps the threads that have not started yet in a queue of its own ([`Unstarted`]): only those can
//! be stolen by other workers. The policy keeps the rest and decides when to take from that queue.

mod call;
mod hybrid;

pub use hybrid::Hybrid;

use super::thread::{Entry, Thread, ThreadState};
use crate::queue::steal_queue::StealQueue;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// Decides what a worker runs next. Each worker has an instance of its own, called only on its kernel thread.
///
/// Every [`Ready`] that comes in through [`ready`](Policy::ready) must come out of [`next`](Policy::next)
/// once, sooner or later: a thread that is kept for ever starves, and one that is dropped never runs again.
///
/// # Examples
/// The simplest policy, first come first served:
/// ```
/// use std::collections::VecDeque;
/// use lamprey::{Policy, Ready, Runtime, Unstarted, Why};
///
/// #[derive(Default)]
/// struct Fifo(VecDeque<Ready>);
/// impl Policy for Fifo {
///     fn ready(&mut self, thread: Ready, _why: Why) {
///         self.0.push_back(thread);
///     }
///     fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
///         self.0.extend(unstarted.pop());
///         self.0.pop_front()
///     }
///     fn len(&self) -> usize {
///         self.0.len()
///     }
/// }
///
/// let runtime = Runtime::builder().workers(1).policy(Fifo::default).build()?;
/// assert_eq!(runtime.run(|| lamprey::spawn(|| 7).join().unwrap()), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Blocking
/// No method may call a blocking call of this crate, spawn, or wake: the worker is in the middle of a switch.
/// A blocking call, or the start of a stackful parasite, ends the process with a message.
///
/// # Panics
/// A panic in a policy aborts the process: the worker could not continue.
#[doc(alias = "Scheduler")]
pub trait Policy: 'static {
    /// A thread has become ready to run.
    fn ready(&mut self, thread: Ready, why: Why);

    /// The thread to run now: one of those that came in through `ready`, or one that has not started yet.
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready>;

    /// How many threads the policy holds (those in `unstarted` not counted).
    fn len(&self) -> usize;

    /// True when the policy holds no thread.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why a thread became ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The event that it waited for has happened.
    Woken,
    /// It is new, and was placed on this worker by the program ([`Builder::worker`](crate::Builder::worker)).
    Spawned,
    /// It yielded ([`yield_now`](crate::yield_now)).
    Yielded,
}

/// A thread that can run now. It is the right to run the thread, so it cannot be copied; the thread can run
/// only on this worker, so it cannot leave the kernel thread:
/// ```compile_fail,E0277
/// fn elsewhere(thread: lamprey::Ready) {
///     std::thread::spawn(move || drop(thread));
/// }
/// ```
#[derive(Debug)]
#[repr(transparent)]
#[must_use = "a ready thread that is dropped never runs again"]
pub struct Ready(pub(crate) NonNull<Thread>);

impl Ready {
    fn thread(&self) -> &Thread {
        // SAFETY: a ready thread is alive until it has run, which needs this very value.
        unsafe { self.0.as_ref() }
    }

    /// The thread's number, unique in its runtime.
    pub fn id(&self) -> u64 {
        self.thread().label.id.get()
    }

    /// The name given to [`Builder::name`](crate::Builder::name).
    pub fn name(&self) -> Option<&str> {
        self.thread().label.name.as_ref().map(Arc::as_ref)
    }

    /// Where it was spawned.
    pub fn spawn_site(&self) -> &'static Location<'static> {
        self.thread().label.spawn_site.get()
    }

    /// True once it has run for the first time: it stays on its worker from then on.
    pub fn is_started(&self) -> bool {
        self.thread().state.get() != ThreadState::Unstarted
    }
}

/// The worker's threads that have not started yet.
///
/// Only the worker itself may take from it, so it does not leave the kernel thread:
/// ```compile_fail,E0277
/// fn elsewhere(mut unstarted: lamprey::Unstarted<'_>) {
///     std::thread::scope(|scope| drop(scope.spawn(|| unstarted.pop())));
/// }
/// ```
#[derive(Debug)]
pub struct Unstarted<'a>(&'a StealQueue<Entry>, PhantomData<*mut ()>);

impl Unstarted<'_> {
    /// Takes the oldest one. It then belongs to the policy, and other workers can no longer take it.
    pub fn pop(&mut self) -> Option<Ready> {
        // SAFETY: an `Unstarted` is made only by the owning worker, on its kernel thread, for one call of the
        // policy.
        unsafe { self.0.pop_oldest() }.map(|entry| Ready(entry.0))
    }

    /// Takes one of those that were spawned since the last call, the first of them; if there are none, one of
    /// those before; now and then the oldest of all. Threads that spawn others and wait for them then run depth
    /// first, which needs the fewest stacks. (The default policy uses this.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn pop_newest(&mut self) -> Option<Ready> {
        // SAFETY: an `Unstarted` is made only by the owning worker, on its kernel thread, for one call of the
        // policy.
        unsafe { self.0.next() }.map(|entry| Ready(entry.0))
    }

    /// True when there is none.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The policy of one worker. The default policy is a type of its own here, so that its calls are inlined into
/// every switch.
///
/// A policy of the program is taken out of its cell for the duration of a call, so that a call back into the
/// runtime finds the cell empty instead of making a second `&mut`. A panic must not unwind into the middle of
/// a switch.
pub(crate) enum PolicySlot {
    Hybrid(UnsafeCell<Hybrid>),
    Program(Cell<Option<Box<dyn Policy>>>),
}
