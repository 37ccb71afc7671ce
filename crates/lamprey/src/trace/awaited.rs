//! Threads that await futures of other kinds than system calls.

use super::call::Call;
use super::thread::Trace;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker};

/// A thread that awaits a future which is no system call: one of Lamprey's channels or timers, or of another
/// library. That future has not been given a waker yet.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub struct Await(pub(super) Trace);

impl Await {
    /// Keeps the thread until the future wakes it, and then calls `resume` with it, once, wherever the wake
    /// happens: `resume` puts the thread into a queue, and does not block. If the thread makes a system call
    /// instead, because the future is ready by now, returns that, and drops `resume`.
    ///
    /// # Examples
    /// ```
    /// use lamprey::trace::{Call, Trace};
    /// use std::sync::mpsc;
    ///
    /// let (tx, rx) = lamprey::oneshot::<u32>();
    /// let trace = Trace::new(async move { assert_eq!(rx.await, Ok(5)) });
    ///
    /// let (ready, queue) = mpsc::channel();
    /// let Call::Await(wait) = trace.step() else { panic!("a call") };
    /// assert!(wait.until_woken(move |rest| ready.send(rest).unwrap()).is_none());
    /// tx.send(5).unwrap();
    /// assert!(matches!(queue.recv().unwrap().step(), Call::Ret));
    /// ```
    ///
    /// # Panics
    /// With the thread's own panic: the thread is gone then.
    pub fn until_woken(self, resume: impl FnOnce(Trace) + Send + 'static) -> Option<Call> {
        let kept = Arc::new(Kept(Mutex::new(State { is_woken: false, trace: None, resume: Some(resume) })));
        match self.0.step_with(&Waker::from(Arc::clone(&kept))) {
            Call::Await(Self(trace)) => {
                kept.put(trace);
                None
            }
            call => Some(call),
        }
    }
}

/// A thread on its way to sleep or asleep. Whoever comes second, the sleeper or the wake, calls `resume`.
struct Kept<F>(Mutex<State<F>>);

struct State<F> {
    is_woken: bool,
    trace: Option<Trace>,
    resume: Option<F>,
}

impl<F: FnOnce(Trace)> Kept<F> {
    fn state(&self) -> MutexGuard<'_, State<F>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, trace: Trace) {
        let mut state = self.state();
        state.trace = Some(trace);
        if state.is_woken {
            resume(state);
        }
    }
}

impl<F: FnOnce(Trace) + Send> Wake for Kept<F> {
    fn wake(self: Arc<Self>) {
        let mut state = self.state();
        state.is_woken = true;
        resume(state);
    }
}

/// Resumes the thread if it is there, without the lock.
fn resume<F: FnOnce(Trace)>(mut state: MutexGuard<'_, State<F>>) {
    if state.trace.is_none() {
        return;
    }
    let (trace, resume) = (state.trace.take(), state.resume.take());
    drop(state);
    if let (Some(trace), Some(resume)) = (trace, resume) {
        resume(trace);
    }
}
