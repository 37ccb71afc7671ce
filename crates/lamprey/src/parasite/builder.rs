//! Parasites with choices of their own: the parasite half of [`Builder`].

use super::handle::ParasiteHandle;
use super::{spawn, stackful};
use crate::sched::parasite::task::INLINE;
use crate::sched::worker::Worker;
use crate::thread::Builder;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::Location;

impl Builder {
    /// As [`parasite`](fn@crate::parasite), with this builder's choice of
    /// [`attach_inline`](Self::attach_inline). Name, stack size and place do not apply: the parasite has no
    /// stack, and starts where it is.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::atomic::{AtomicBool, Ordering};
    /// # lamprey::run(|| {
    /// static RAN: AtomicBool = AtomicBool::new(false);
    /// let (tx, rx) = lamprey::channel::<()>();
    /// let parasite = lamprey::Builder::new().attach_inline(true).parasite(async move {
    ///     let _ = rx.recv_async().await;
    ///     RAN.store(true, Ordering::Relaxed);
    /// });
    /// tx.send(()).unwrap(); // runs it, before it returns
    /// assert!(RAN.load(Ordering::Relaxed));
    /// # parasite.join().unwrap();
    /// # });
    /// ```
    ///
    /// # Panics
    /// Outside of a host.
    #[track_caller]
    pub fn parasite<F>(self, future: F) -> ParasiteHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let Some(worker) = Worker::current() else { spawn::outside("Builder::parasite") };
        let flags = if self.is_attached_inline() { INLINE } else { 0 };
        // SAFETY: it is `Send`, and borrows nothing.
        unsafe { spawn::start(worker, ManuallyDrop::new(future), worker.is_parallel(), flags) }
    }

    /// As [`parasite_fn`](crate::parasite_fn), with this builder's choice of
    /// [`attach_inline`](Self::attach_inline).
    ///
    /// # Panics
    /// Outside of a host.
    #[track_caller]
    pub fn parasite_fn<F, T>(self, f: F) -> ParasiteHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let Some(worker) = Worker::current() else { spawn::outside("Builder::parasite_fn") };
        // SAFETY: closure and result are 'static.
        unsafe { stackful::start_or_host(worker, f, Location::caller(), self.is_attached_inline()) }
    }
}
