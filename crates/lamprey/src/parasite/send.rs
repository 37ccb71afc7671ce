//! Starting stackless parasites from any thread: [`Handle::parasite`], and what a [`Builder`] adds.
//!
//! On a worker of the runtime it is the call [`parasite`](fn@crate::parasite). From everywhere else the caller's stack is not the
//! runtime's, so nothing is polled on it: the caller places the future in a block of the worker that is to be its home
//! ([`Outside`](crate::sched::parasite::outside::Outside)), and sends it to that worker's inbox. So it is also where code runs that must not wait: in
//! a waker, a policy, a source, and in a destructor of a host that unwinds.

use super::handle::ParasiteHandle;
use super::{place, spawn};
use crate::sched::drops::run_quietly;
use crate::sched::hints::Given;
use crate::sched::parasite::notify::post;
use crate::sched::parasite::outside::Outside;
use crate::sched::parasite::owned::OutsideSlab;
use crate::sched::parasite::task::INLINE;
use crate::sched::shared::Shared;
use crate::sched::worker::{Worker, new_slab};
use crate::thread::{Builder, Handle, JoinError};
use std::future::Future;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;

impl Handle {
    /// Starts a parasite in this runtime, from anywhere: on any host of any runtime, on an OS thread, on a thread of tokio,
    /// in a waker.
    ///
    /// On a host of this runtime it is [`parasite`](fn@crate::parasite): the parasite starts now, on the caller's stack.
    /// Everywhere else it is queued, and this call runs no code of it: a worker of the runtime polls it at its next
    /// scheduling point, as it does with a parasite that has been woken. The worker is the next in turn, as for
    /// [`spawn`](Self::spawn). It is queued on the caller's own worker where code of the program must not wait: in a waker
    /// that Lamprey calls, in a [`Policy`](crate::Policy), in a [`Source`](crate::Source), and in a destructor while its host
    /// unwinds.
    ///
    /// If the runtime has ended, or ends before the parasite has been polled, its future is dropped, and joining it returns
    /// [`JoinError::Cancelled`].
    ///
    /// # Examples
    /// An OS thread starts parasites, and joins them:
    /// ```
    /// let runtime = lamprey::Runtime::new()?;
    /// let (tx, mut rx) = lamprey::mailbox();
    /// let sum = runtime.handle().parasite(async move {
    ///     let mut sum = 0;
    ///     while let Ok(n) = rx.recv_async().await {
    ///         sum += n;
    ///     }
    ///     sum
    /// });
    /// (1..=10).for_each(|n| tx.send(n).unwrap());
    /// drop(tx);
    /// assert_eq!(sum.join().unwrap(), 55);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    /// It changes its kernel thread, so it must be `Send`:
    /// ```compile_fail,E0277
    /// # let runtime = lamprey::Runtime::new().unwrap();
    /// let local = std::rc::Rc::new(1);
    /// runtime.handle().parasite(async move { drop(local) }).detach();
    /// ```
    /// and so must be its result:
    /// ```compile_fail,E0277
    /// # let runtime = lamprey::Runtime::new().unwrap();
    /// runtime.handle().parasite(async { std::rc::Rc::new(1) }).detach();
    /// ```
    /// It may outlive the caller, so it must not borrow:
    /// ```compile_fail,E0373
    /// # let runtime = lamprey::Runtime::new().unwrap();
    /// let text = String::from("here");
    /// runtime.handle().parasite(async { println!("{text}") }).detach();
    /// ```
    ///
    /// # Errors
    /// None here; if there is no memory for its state, the handle returns [`JoinError::NoStack`].
    ///
    /// # Panics
    /// A panic *in* the parasite is caught, and reaches the thread that joins it.
    ///
    /// # Cancellation
    /// As [`parasite`](fn@crate::parasite). One that is dropped before it has been polled is never polled.
    ///
    /// # Blocking
    /// Never, unless the caller is a host of this runtime, and the future itself calls blocking code.
    #[doc(alias = "spawn")]
    #[doc(alias = "Executor")]
    #[track_caller]
    pub fn parasite<F>(&self, future: F) -> ParasiteHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: future and output are `'static`.
        unsafe { start_in(self.shared(), future) }
    }
}

impl Builder {
    /// Starts a parasite in the given runtime, as [`Handle::parasite`], with this builder's name, hints, worker and
    /// [`attach_inline`](Self::attach_inline). May be called from any thread.
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().workers(2).build()?;
    /// let builder = lamprey::Builder::new().name("second").worker(1);
    /// let parasite = builder.parasite_in(&runtime.handle(), async { lamprey::current().worker() })?;
    /// assert_eq!(parasite.name(), Some("second"));
    /// assert_eq!(parasite.join().unwrap(), Some(1));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` as for [`spawn`](Self::spawn).
    ///
    /// # Cancellation
    /// As [`Handle::parasite`].
    ///
    /// # Blocking
    /// As [`Handle::parasite`].
    #[track_caller]
    pub fn parasite_in<F>(self, handle: &Handle, future: F) -> io::Result<ParasiteHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let shared = handle.shared();
        self.asked_stack_size()?;
        let place = self.asked_worker(shared)?;
        let flags = if self.is_attached_inline() { INLINE } else { 0 };
        let is_shared = place.is_none() && is_parallel(shared);
        let here = ours(shared).filter(|worker| place.is_none_or(|index| index == worker.remote.index));
        let future = ManuallyDrop::new(future);
        // SAFETY: the future is `Send`, it and its output are `'static`; moved out once.
        Ok(unsafe {
            match (here.filter(|worker| may_poll(worker)), self.given()) {
                (Some(worker), None) => spawn::start(worker, future, is_shared, flags),
                (Some(worker), Some(given)) => spawn::start_given(worker, future, is_shared, flags, given),
                (None, given) => {
                    let index = place.or(here.map(|worker| worker.remote.index));
                    let index = index.unwrap_or_else(|| shared.next_place());
                    send(shared, index, future, is_shared, flags, given)
                }
            }
        })
    }
}

/// Starts a parasite of the runtime of `shared`, from anywhere.
///
/// # Safety
/// What the future borrows outlives it, and the handle; a handle of a future that borrows is not dropped before the parasite
/// has ended.
#[track_caller]
pub(crate) unsafe fn start_in<F>(shared: &Arc<Shared>, future: F) -> ParasiteHandle<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    let (future, is_shared, here) = (ManuallyDrop::new(future), is_parallel(shared), ours(shared));
    // SAFETY: the future is `Send`; the rest is the caller's promise. Moved out once.
    unsafe {
        match here {
            Some(worker) if may_poll(worker) => spawn::start(worker, future, is_shared, 0),
            Some(worker) => send(shared, worker.remote.index, future, is_shared, 0, None),
            None => send(shared, shared.next_place(), future, is_shared, 0, None),
        }
    }
}

/// The calling thread's worker, if that is one of this runtime.
fn ours(shared: &Arc<Shared>) -> Option<&'static Worker> {
    Worker::current().filter(|worker| Arc::ptr_eq(&worker.shared, shared))
}

/// True if code that may block may be called here: not in a waker, a policy, a source or an unwind.
fn may_poll(worker: &Worker) -> bool {
    !worker.running_ref().is_barred() && !std::thread::panicking()
}

/// As [`Worker::is_parallel`], of each worker of the runtime.
fn is_parallel(shared: &Shared) -> bool {
    shared.remotes().len() > 1 && !shared.options.simulated
}

/// Places a future in a block of a worker, and sends it there. If that worker ends, or is in a parent of this process, the future is
/// dropped here.
///
/// # Safety
/// The future and its output are `Send`; what they borrow outlives them. The future is moved out of `future`.
#[cfg_attr(debug_assertions, track_caller)]
pub(super) unsafe fn send<F: Future>(
    shared: &Shared,
    index: usize,
    mut future: ManuallyDrop<F>,
    is_shared: bool,
    flags: u8,
    given: Option<Arc<Given>>,
) -> ParasiteHandle<F::Output> {
    #[cfg(debug_assertions)]
    let site = std::panic::Location::caller();
    let remote = &shared.remotes()[index];
    let place = |outside: &Outside<Box<OutsideSlab>>| {
        outside.place(
            || Box::new(OutsideSlab(new_slab(remote.clone()))),
            |slab| {
                // SAFETY: as promised by the caller; under the lock of the slab, so no other thread knows the task yet.
                let task = unsafe { place::place_outside(slab, &future, is_shared, flags) }?;
                // SAFETY: just placed.
                unsafe {
                    #[cfg(debug_assertions)]
                    (&raw mut (*task.as_ptr()).spawn_site).write(site);
                    given.into_iter().for_each(|given| place::give::<F>(task, given));
                }
                Some(task)
            },
        )
    };
    match shared.is_here().then_some(&remote.outside).and_then(place) {
        Some(Some(task)) => {
            let handle = ParasiteHandle::of_task(task);
            // The right to run goes with it, or, in owned mode, the reference of the post.
            post(task);
            handle
        }
        // SAFETY: not moved yet.
        Some(None) => unsafe { spawn::no_memory(&future) },
        None => {
            // SAFETY: not moved yet, and dropped once.
            run_quietly(|| unsafe { ManuallyDrop::drop(&mut future) });
            ParasiteHandle::failed(JoinError::cancelled())
        }
    }
}
