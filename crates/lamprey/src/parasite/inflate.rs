//! Inflation: a parasite becomes a host (Sivaramakrishnan, Ziarek, Prasad and Jagannathan, *Lightweight Asynchrony Using
//! Parasitic Threads*, 2011, 2.3.1).
//!
//! A stackless parasite that may migrate gets a real host, which any idle worker can take before it starts.
//! From then on that host polls the parasite, and the parasite's wakers wake the host (HOSTED). A parasite
//! that may not migrate stays stackless, and is from then on queued among the hosts: on its own worker a
//! stack would bring no gain. A stackful parasite has its stack already; it is queued, and the thread below
//! it goes on.
//!
//! # Invariants
//! 1. While a task is HOSTED, its host is running it, or blocked for the one wake that carries the right to
//!    run, or about to block for it. `Task::link` is that host.
//! 2. [`Carried`] owns the right to run until the host starts; if it is dropped before, it ends the task as
//!    cancelled.

use crate::queue::inbox::Linked;
use crate::sched::parasite::finish::{finish, finish_cancelled};
use crate::sched::parasite::life::Turn;
use crate::sched::parasite::task::{HEAVY, HOSTED, Task};
use crate::sched::parts::PartsRef;
use crate::sched::thread::Kind;
use crate::sched::wait::{self, Waited};
use crate::sched::worker::Worker;
use crate::sched::{self, Wait};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// Turns the calling parasite into a host. Use `.await` in a stackless parasite, [`sync`](Inflate::sync) in a
/// stackful one.
///
/// For a parasite that has long work to do: its spawner, or the thread that attached it, goes on. Outside of
/// a parasite it does nothing.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let sum = lamprey::parasite(async {
///     lamprey::parasite::inflate().await; // from here on in parallel with the spawner, if a worker is free
///     (0..1000_u64).sum::<u64>()
/// });
/// assert_eq!(sum.join().unwrap(), 499_500);
/// # });
/// ```
pub fn inflate() -> Inflate {
    Inflate { asked: false }
}

/// The result of [`inflate`].
#[derive(Debug)]
#[must_use = "await it, or call `sync`"]
pub struct Inflate {
    asked: bool,
}

impl Inflate {
    /// Inflates the calling stackful parasite.
    ///
    /// # Cancellation
    /// A cancelled parasite unwinds from here or from its next blocking call, inflated or not.
    ///
    /// # Blocking
    /// The thread below goes on first; the caller is queued among the hosts. In a host, on an OS thread, and
    /// inside a stackless parasite (whose poll is a call on another thread's stack) it does nothing.
    pub fn sync(self) {
        if let Some(worker) = Worker::current()
            && worker.running_ref().kind == Kind::Parasite
            && worker.running_ref().polled().is_none()
            && !sched::must_not_block()
        {
            worker.inflate_running();
        }
    }
}

impl Future for Inflate {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let task = Worker::current().and_then(|worker| worker.running_ref().polled());
        // SAFETY: the task that is being polled by this thread, so it is alive.
        let flags = task.map(|task| unsafe { &(*task.as_ptr()).life.flags });
        match flags {
            Some(flags) if !self.asked && flags.get() & (HOSTED | HEAVY) == 0 => {
                self.asked = true;
                flags.set(flags.get() | HEAVY);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            _ if sched::gives_way(cx) => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }
}

/// [`TaskBody::inflate`](crate::sched::parasite::task::TaskBody::inflate).
///
/// # Safety
/// The caller holds the right to run the task, which is shared, and gives it up; no poll of it is under way.
/// `worker` points at the calling kernel thread's [`Worker`].
pub(super) unsafe fn carry_out(task: NonNull<Task>, worker: NonNull<()>) {
    // SAFETY: `worker` points at the calling kernel thread's `Worker` (contract).
    let worker = unsafe { worker.cast::<Worker>().as_ref() };
    worker.remote.counters.inflated.add(1);
    if worker.records() {
        worker.note_task_inflated(task);
    }
    let carried = Carried(task);
    #[cfg(debug_assertions)]
    // SAFETY: the right to run keeps the task alive; the field is constant.
    let site = unsafe { task.as_ref() }.spawn_site;
    #[cfg(not(debug_assertions))]
    let site = std::panic::Location::caller();
    drop(crate::thread::spawn_on(worker, site, move || carried.host()));
}

/// A task on its way to its host (invariant 2).
struct Carried(NonNull<Task>);

// SAFETY: the right to run a shared task may go to any worker of its runtime.
unsafe impl Send for Carried {}

impl Drop for Carried {
    fn drop(&mut self) {
        // SAFETY: the right to run is ours.
        unsafe { finish_cancelled(self.0) }
    }
}

impl Carried {
    /// The body of the host: polls the task until it is over or cancelled.
    fn host(self) {
        let task = ManuallyDrop::new(self).0;
        let Some(worker) = Worker::current() else { crate::bug::bug!("a host without a worker") };
        // SAFETY: the right to run is ours and keeps the task alive. `end` gives it up, and the wake returns
        // it; the task is not touched after `finish`.
        unsafe {
            let entry = task.as_ref();
            let flags = &entry.life.flags;
            flags.set((flags.get() & !HEAVY) | HOSTED);
            while entry.life.begin() == Turn::Run {
                let me = worker.running_ref();
                let before = me.act_for(task.as_ptr());
                let over = (entry.body.poll)(task);
                me.act_for(before);
                if over {
                    return finish(task);
                }
                let (waited, turn) = wait_for_turn(task);
                match (waited, turn) {
                    (Waited::Done, Turn::Again) if worker.take_turn() => {
                        entry.life.begin();
                        break;
                    }
                    (Waited::Done, Turn::Again) | (Waited::Woken | Waited::Late(_), _) => {}
                    // The right to run is ours: `finish_cancelled` drops the future.
                    _ => break,
                }
            }
            finish_cancelled(task);
        }
    }
}

/// Gives up the right to run the task, whose future is pending, and waits until it is back. A thread that
/// must not switch (`Refused`) has not given it up; in all other cases it is the caller's again.
///
/// # Safety
/// The calling thread is the task's host, and has the right.
pub(super) unsafe fn wait_for_turn(task: NonNull<Task>) -> (Waited, Turn) {
    // SAFETY: alive: its structural owner does not end before its host does.
    let Task { link, life, .. } = unsafe { task.as_ref() };
    let mut turn = Turn::Idle;
    let enter = |me| {
        link.set(Linked::into_raw(me));
        turn = life.end();
        turn == Turn::Idle
    };
    // If this fails, a wake is under way and carries the right.
    let leave = |_| life.cancel(true).is_err();
    // SAFETY: as above.
    let parts = PartsRef(unsafe { task.as_ref() });
    let waited = wait::wait(parts.on(Wait::Future), None, enter, leave);
    if matches!(waited, Waited::Woken | Waited::Late(_)) {
        life.must_be_queued();
    }
    (waited, turn)
}
