//! Functions that a thread has its scheduler call: `nbio`, `blio`.

use super::call::Request;
use super::slot::{Aim, Slot};
use super::thread::Trace;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Has the scheduler call `function`, which does not block, and returns what that returns.
///
/// # Examples
/// ```
/// use lamprey::trace::{Call, Trace, nbio};
///
/// let trace = Trace::new(async {
///     let sum = nbio(|| 2 + 3).await;
///     assert_eq!(sum, 5);
/// });
/// let Call::Nbio(io) = trace.step() else { panic!("another call") };
/// let rest = io.perform();
/// assert!(matches!(rest.step(), Call::Ret));
/// ```
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls. A panic of `function` is the
/// thread's: it goes to the caller of [`Io::perform`].
pub fn nbio<T: Send, F: FnOnce() -> T + Send>(function: F) -> FunctionCall<F, T> {
    FunctionCall { request: || Request::Nbio, state: State::Fresh(function) }
}

/// As [`nbio`], for a function that may block: a scheduler sends it to a kernel thread that may.
///
/// # Panics
/// As [`nbio`].
pub fn blio<T: Send, F: FnOnce() -> T + Send>(function: F) -> FunctionCall<F, T> {
    FunctionCall { request: || Request::Blio, state: State::Fresh(function) }
}

/// A future: see [`nbio`] and [`blio`].
#[must_use = "a system call is made when it is awaited"]
pub struct FunctionCall<F, T> {
    request: fn() -> Request,
    state: State<F, T>,
}

enum State<F, T> {
    Fresh(F),
    Asked(F),
    Done(T),
    Taken,
}

// Nothing is pinned: the function and its result are moved.
impl<F, T> Unpin for FunctionCall<F, T> {}

impl<T, F: FnOnce() -> T> Future for FunctionCall<F, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let slot = Slot::of(context);
        self.state = match std::mem::replace(&mut self.state, State::Taken) {
            State::Done(value) if slot.aim.get() == Aim::Run => return Poll::Ready(value),
            State::Asked(function) if slot.reaches(Aim::Perform) => State::Done(function()),
            // Asked, and still not done: it has been moved to another thread than the one that has asked.
            State::Fresh(function) | State::Asked(function) => match slot.ask((), |()| (self.request)()) {
                None => State::Asked(function),
                Some(()) => State::Fresh(function),
            },
            state => state,
        };
        Poll::Pending
    }
}

impl<F, T> fmt::Debug for FunctionCall<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCall").finish_non_exhaustive()
    }
}

/// A function to be called for a thread, and the thread. It may be sent to another kernel thread first.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub struct Io(pub(super) Trace);

impl Io {
    /// Calls the function. The thread that is returned finds its result when it is stepped.
    ///
    /// # Panics
    /// With the function's own panic: the thread is gone then, unwound.
    ///
    /// # Cancellation
    /// As the function's: a host that is cancelled in it unwinds, and the thread is gone.
    ///
    /// # Blocking
    /// As the function does.
    pub fn perform(self) -> Trace {
        self.0.resume(Aim::Perform, None).0
    }
}
