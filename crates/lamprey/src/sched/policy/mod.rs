//! Policies: which ready thread a worker runs next (the order of Go's local run queue), where new ones start, and
//! what a worker does that has none.
//!
//! A worker keeps the threads that have not started yet in a queue of its own ([`Unstarted`]): only those can
//! be stolen by other workers. The policy keeps the rest and decides when to take from that queue.
//!
//! One file for each policy: [`Hybrid`], the default; [`Fifo`], [`Lifo`], [`Random`], [`Priority`],
//! [`EarliestDeadline`].

mod answers;
mod call;
mod deadline;
mod fifo;
mod hybrid;
mod lifo;
mod priority;
mod random;

pub use super::hints::Hints;
pub use answers::{Idle, NewThread, Parasites, Place, Workers};
pub use deadline::EarliestDeadline;
pub use fifo::Fifo;
pub use hybrid::Hybrid;
pub use lifo::Lifo;
pub use priority::Priority;
pub use random::Random;

use super::info::ThreadKind;
use super::parasite::task::Task;
use super::thread::Kind;
use super::thread::{Entry, Thread, ThreadState};
use super::waiter::Waiter;
use crate::queue::steal_queue::StealQueue;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// Decides what a worker runs next. Each worker has an instance of its own, called only on its kernel thread.
///
/// Every [`Ready`] that comes in through [`ready`](Policy::ready) must come out of [`next`](Policy::next)
/// once, sooner or later: a thread that is kept for ever starves. The worker counts what goes in and comes out. If `next`
/// returns None although threads are missing, the process ends with a message: they would never run again, and who
/// joins them would wait for ever.
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

    /// The thread to run now: one of those that came in through `ready`, or one that has not started yet. None
    /// if the policy has none; the worker then starts the oldest of `unstarted`, if there are any. (So a policy that
    /// takes none of those starts no thread as long as another is ready.)
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready>;

    /// Whether parasites that have been woken come through [`ready`](Policy::ready) like hosts. Asked once, when the
    /// worker starts. By default they do not: they run ahead of the hosts, on the stack of the thread that has
    /// woken them, as long as their budget lasts.
    fn parasites(&self) -> Parasites {
        Parasites::Ahead
    }

    /// On which worker a new host starts, and whether others may take it; asked on the worker that spawns it, or
    /// where it comes in from outside, unless the program has said so itself
    /// ([`Builder::worker`](crate::Builder::worker)). (A parasite starts at once, where it is spawned.)
    fn place(&mut self, new: &NewThread<'_>, workers: &Workers<'_>) -> Place {
        let _ = (new, workers);
        Place::Anywhere
    }

    /// Nothing is ready here: what the worker does before it sleeps.
    fn idle(&mut self) -> Idle {
        Idle::LookForWork
    }
}

/// Why a thread became ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The event that it waited for has happened.
    Woken,
    /// It is new, and was placed on this worker: by the program ([`Builder::worker`](crate::Builder::worker)), or by
    /// [`Place::On`]. Other new hosts come from [`Unstarted`].
    Spawned,
    /// It yielded ([`yield_now`](crate::yield_now)). `next` is asked after that, and may return the same thread (and is asked
    /// once more if it has taken threads from `Unstarted` meanwhile).
    Yielded,
}

/// A thread that can run now, a host or a parasite. It is the right to run the thread, so it cannot be copied; the
/// thread can run only on this worker, so it cannot leave the kernel thread:
/// ```compile_fail,E0277
/// fn elsewhere(thread: lamprey::Ready) {
///     std::thread::spawn(move || drop(thread));
/// }
/// ```
// A thread (not a parasite without a stack) is a plain pointer: `Hybrid`, which gets no others, need not decode it.
///
/// # Panics
/// When it is dropped, with the thread's name: it would never run again. In a policy that ends the process.
#[repr(transparent)]
#[must_use = "a ready thread that is dropped never runs again"]
pub struct Ready(Waiter, PhantomData<*mut ()>);

impl Ready {
    pub(crate) fn new(right: Waiter) -> Self {
        Self(right, PhantomData)
    }

    /// The right itself, which the caller must use.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_right(self) -> Waiter {
        ManuallyDrop::new(self).0
    }

    /// What the right is for.
    fn who(&self) -> Result<&Thread, &Task> {
        if let Some(thread) = self.0.as_thread() {
            // SAFETY: a ready thread is alive until it has run, which needs this very value.
            return Ok(unsafe { thread.as_ref() });
        }
        let task = self.0.as_task().unwrap_or_else(|| crate::bug::bug!("neither thread nor task is ready"));
        // SAFETY: the right to run, which this is, keeps the parasite alive.
        Err(unsafe { task.as_ref() })
    }

    /// The thread's number, unique in its runtime and never used again.
    pub fn id(&self) -> u64 {
        self.who().map_or_else(Task::number, |thread| thread.label.id.get())
    }

    /// True for a parasite without a stack, which has no number until somebody asks.
    pub(crate) fn is_stackless(&self) -> bool {
        self.who().is_err()
    }

    /// Whether it is a host or a parasite.
    pub fn kind(&self) -> ThreadKind {
        match self.who() {
            Ok(thread) if thread.kind != Kind::Parasite => ThreadKind::Host,
            _ => ThreadKind::Parasite,
        }
    }

    /// The name given to [`Builder::name`](crate::Builder::name).
    pub fn name(&self) -> Option<&str> {
        self.who().map_or_else(Task::given_name, |thread| thread.label.name()).map(Arc::as_ref)
    }

    /// What the program has said of it ([`Builder::priority`](crate::Builder::priority) and the calls beside it).
    pub fn hints(&self) -> &Hints {
        self.who().map_or_else(Task::hints, |thread| thread.label.hints())
    }

    /// Where it was spawned; None of a parasite without a stack, in builds without debug assertions.
    pub fn spawn_site(&self) -> Option<&'static Location<'static>> {
        match self.who() {
            Ok(thread) => Some(thread.label.spawn_site.get()),
            #[cfg(debug_assertions)]
            Err(task) => Some(task.spawn_site),
            #[cfg(not(debug_assertions))]
            Err(_) => None,
        }
    }

    /// True once it has run for the first time: it stays on its worker from then on.
    pub fn is_started(&self) -> bool {
        self.who().map_or(true, |thread| thread.state.get() != ThreadState::Unstarted)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Ready");
        fields.field("kind", &self.kind()).field("id", &self.id()).field("name", &self.name());
        fields.field("spawn_site", &self.spawn_site().map(ToString::to_string)).finish()
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!(
                "a ready thread was dropped, which would never run again: {self:?}; a policy must return it"
            );
        }
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
pub struct Unstarted<'a> {
    queue: &'a StealQueue<Entry>,
    /// How many the policy has taken.
    taken: usize,
    _of_the_worker: PhantomData<*mut ()>,
}

impl<'a> Unstarted<'a> {
    /// Of the calling worker's queue, for one call of its policy.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of(queue: &'a StealQueue<Entry>) -> Self {
        Self { queue, taken: 0, _of_the_worker: PhantomData }
    }

    /// Takes the oldest one. It then belongs to the policy, and other workers can no longer take it.
    pub fn pop(&mut self) -> Option<Ready> {
        // SAFETY: an `Unstarted` is made only by the owning worker, on its kernel thread, for one call of the
        // policy.
        let entry = unsafe { self.queue.pop_oldest() }?;
        self.taken += 1;
        Some(Ready::new(Waiter::thread(entry.0)))
    }

    /// Takes one of those that were spawned since the last call, the first of them; if there are none, one of
    /// those before; now and then the oldest of all. Threads that spawn others and wait for them then run depth
    /// first, which needs the fewest stacks. (The default policy uses this.)
    pub fn pop_newest(&mut self) -> Option<Ready> {
        self.take_newest().map(|thread| Ready::new(Waiter::thread(thread)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_newest(&mut self) -> Option<NonNull<Thread>> {
        // SAFETY: an `Unstarted` is made only by the owning worker, on its kernel thread, for one call of the
        // policy.
        let entry = unsafe { self.queue.next() }?;
        self.taken += 1;
        Some(entry.0)
    }

    /// True when there is none.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// The policy of one worker. The default policy is a type of its own here, so that its calls are inlined into
/// every switch.
pub(crate) struct PolicySlot {
    /// Why a call may have to do more than to ask the default policy: the bits PROGRAM, QUEUES, RECORDED, WATCHED. The hot paths look
    /// whether there is any.
    more: Cell<u8>,
    /// The default policy; not used beside a program's.
    hybrid: UnsafeCell<Hybrid>,
    program: Option<Program>,
}

/// A policy of the program.
///
/// It is taken out of its cell for the duration of a call, so that a call back into the runtime finds the cell empty
/// instead of making a second `&mut`. A panic must not unwind into the middle of a switch.
pub(crate) struct Program {
    policy: Cell<Option<Box<dyn Policy>>>,
    parasites: Parasites,
    /// How many threads the policy has: what it was given, less what it has returned.
    held: Cell<usize>,
}
