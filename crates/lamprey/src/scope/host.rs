//! Hosts as children of a scope.

use super::Scope;
use super::state::Membership;
use crate::events::{FutureEvt, future_evt};
use crate::sched::switch;
use crate::sched::thread::{Abandoned, Thread};
use crate::sched::worker::Worker;
use crate::thread::{Builder, Closure, JoinError, JoinHandle, outside, spawn_member};
use crate::time::TimedOut;
use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};
use std::time::Duration;

/// What to do instead, outside of a host.
const SPAWN_IN: &str = "use Scope::spawn_in with a runtime's Handle";

/// Owns the outcome of a host of a [scope](crate::scope()).
///
/// # Dropping
/// The host runs on; the scope waits for it and drops its result.
pub struct ScopedJoinHandle<'scope, T>(JoinHandle<T>, PhantomData<&'scope mut &'scope ()>);

impl<'scope> Scope<'scope, '_> {
    /// Starts a host that the scope waits for. Like [`spawn`](crate::spawn()), but the closure may borrow.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let text = String::from("borrowed");
    /// let length = lamprey::scope(|s| s.spawn(|| text.len()).join().unwrap());
    /// assert_eq!(length, 8);
    /// # });
    /// ```
    ///
    /// # Panics
    /// Outside of a host: use [`spawn_in`](Self::spawn_in) there.
    ///
    /// # Blocking
    /// Never.
    #[track_caller]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: Closure<T> + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_at(Location::caller(), outside_spawn, f)
    }

    /// Like [`spawn`](Self::spawn), with `site` as the spawn site; outside of a host it panics by `outside`.
    #[track_caller]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn spawn_at<F, T>(
        &'scope self,
        site: &'static Location<'static>,
        outside: fn() -> !,
        f: F,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let Some(worker) = Worker::current() else { outside() };
        // SAFETY: closure and result live for 'scope, the scope waits for its members, and the handle does
        // not outlive the scope. The thread is unstarted, and given up by the call.
        let handle = unsafe {
            spawn_member(worker, site, f, Membership::new(&self.scope_state), |thread| {
                if self.is_moot { abandon(worker, thread) } else { worker.admit(thread) }
            })
        };
        ScopedJoinHandle(handle, PhantomData)
    }

    /// Like [`spawn`](Self::spawn), with the name, stack size and worker of `builder`.
    ///
    /// # Errors
    /// As [`Builder::spawn`].
    ///
    /// # Panics
    /// Outside of a host: use [`spawn_in`](Self::spawn_in) there.
    #[track_caller]
    pub fn spawn_with<F, T>(&'scope self, builder: Builder, f: F) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: Closure<T> + Send + 'scope,
        T: Send + 'scope,
    {
        let Some(handle) = crate::thread::Handle::current() else { outside_spawn_with() };
        self.spawn_in(&handle, builder, f)
    }

    /// Like [`spawn_with`](Self::spawn_with), in the given runtime: for a scope on an OS thread.
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().workers(1).build()?;
    /// let mut count = 0;
    /// lamprey::scope(|s| {
    ///     s.spawn_in(&runtime.handle(), lamprey::Builder::new(), || count += 1).unwrap();
    /// });
    /// assert_eq!(count, 1);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// As [`Builder::spawn`].
    #[track_caller]
    pub fn spawn_in<F, T>(
        &'scope self,
        runtime: &crate::thread::Handle,
        builder: Builder,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: Closure<T> + Send + 'scope,
        T: Send + 'scope,
    {
        self.launch_at(Location::caller(), runtime, builder, f)
    }

    /// Like [`spawn_in`](Self::spawn_in), with `site` as the spawn site.
    pub(crate) fn launch_at<F, T>(
        &'scope self,
        site: &'static Location<'static>,
        runtime: &crate::thread::Handle,
        builder: Builder,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if self.is_moot {
            let text = "a scope that was made while its thread unwinds has no children";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
        let member = Membership::new(&self.scope_state);
        // SAFETY: closure and result live for 'scope, the scope waits for its members, and the handle does
        // not outlive the scope.
        let handle = unsafe { builder.launch_member(runtime.shared(), site, f, member) }?;
        Ok(ScopedJoinHandle(handle, PhantomData))
    }
}

/// # Safety
/// The thread has not started; the caller owns it and gives it up.
unsafe fn abandon(_: &Worker, thread: NonNull<Thread>) {
    // SAFETY: unstarted, and given up by the caller.
    unsafe { switch::abandon(thread, Abandoned::Shutdown) };
}

#[cold]
#[track_caller]
fn outside_spawn() -> ! {
    outside("Scope::spawn", SPAWN_IN)
}

#[cold]
#[track_caller]
fn outside_spawn_with() -> ! {
    outside("Scope::spawn_with", SPAWN_IN)
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the host has ended and returns its result.
    ///
    /// # Errors
    /// A [`JoinError`]. If the scope [propagates](crate::Panics::Propagate) panics, the scope keeps the
    /// panic, and this call returns [`JoinError::Cancelled`].
    ///
    /// # Cancellation
    /// If the caller is cancelled while it waits, the host runs on, and the scope waits for it.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn join(self) -> Result<T, JoinError> {
        self.0.join()
    }

    /// As [`JoinHandle::join_timeout`].
    ///
    /// # Errors
    /// [`TimedOut`] if the host has not ended by then. Within the `Ok`, as [`join`](Self::join).
    ///
    /// # Panics
    /// If the result has been taken before.
    ///
    /// # Cancellation
    /// If the calling host is cancelled while it waits, the handle is left as it was.
    ///
    /// # Blocking
    /// As [`join`](Self::join).
    pub fn join_timeout(&mut self, timeout: Duration) -> Result<Result<T, JoinError>, TimedOut> {
        self.0.join_timeout(timeout)
    }

    /// As [`JoinHandle::join_evt`].
    pub fn join_evt(&mut self) -> FutureEvt<&mut Self> {
        future_evt(self)
    }

    /// [`join_evt`](Self::join_evt) that owns the handle, so that a function can return it. If another event is chosen, the
    /// handle is dropped.
    pub fn into_join_evt(self) -> FutureEvt<Self> {
        future_evt(self)
    }

    /// As [`JoinHandle::cancel`]: cancels this child only.
    #[doc(alias = "abort")]
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// [Cancels](Self::cancel) the host and waits until it has ended.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let ended = lamprey::scope(|s| {
    ///     s.spawn(|| lamprey::sleep(std::time::Duration::MAX)).cancel_and_join()
    /// });
    /// assert!(matches!(ended, Err(lamprey::JoinError::Cancelled(_))));
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`join`](Self::join), usually [`JoinError::Cancelled`].
    ///
    /// # Cancellation
    /// As [`join`](Self::join).
    ///
    /// # Blocking
    /// As [`join`](Self::join).
    pub fn cancel_and_join(self) -> Result<T, JoinError> {
        self.0.cancel_and_join()
    }

    /// True once the host has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// The host's number, unique in its runtime.
    pub fn id(&self) -> u64 {
        self.0.id()
    }

    /// The host's name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.0.name()
    }
}

/// The awaitable form of [`join`](ScopedJoinHandle::join).
impl<T> Future for ScopedJoinHandle<'_, T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
