//! The parasite half of [`Builder`].

use super::handle::ParasiteHandle;
use super::{send, spawn, stackful};
use crate::sched::parasite::task::INLINE;
use crate::thread::{Builder, Closure};
use std::future::Future;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::Location;

impl Builder {
    /// Like [`parasite`](fn@crate::parasite), with this builder's name, worker and
    /// [`attach_inline`](Self::attach_inline).
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// let reader = lamprey::Builder::new().name("reader").parasite(async move {
    ///     let n: u32 = rx.recv_async().await.unwrap();
    ///     (n, lamprey::current().name().unwrap().to_owned())
    /// })?;
    /// assert_eq!(reader.name(), Some("reader"));
    /// tx.send(1).unwrap();
    /// assert_eq!(reader.join().unwrap(), (1, "reader".to_owned()));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Blocking
    /// Never, unless the future itself calls blocking code.
    #[track_caller]
    pub fn parasite<F>(self, future: F) -> io::Result<ParasiteHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let worker = Self::worker_of("parasite", "parasite_in")?;
        self.asked_stack_size()?;
        let place = self.asked_worker(&worker.shared)?;
        let (flags, is_shared) =
            (if self.is_attached_inline() { INLINE } else { 0 }, place.is_none() && worker.is_parallel());
        let (future, given) = (ManuallyDrop::new(future), self.given());
        // SAFETY: the future is `Send + 'static`, and moved out once.
        Ok(unsafe {
            match (place.filter(|&index| index != worker.remote.index), given) {
                (Some(index), given) => send::send(&worker.shared, index, future, is_shared, flags, given),
                (None, None) => spawn::start(worker, future, is_shared, flags),
                (None, Some(given)) => spawn::start_given(worker, future, is_shared, flags, given),
            }
        })
    }

    /// Like [`parasite_fn`](crate::parasite_fn), with this builder's name, stack size, worker and
    /// [`attach_inline`](Self::attach_inline).
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let deep = lamprey::Builder::new().name("deep").stack_size(1 << 20).parasite_fn(|| {
    ///     lamprey::current().name().unwrap().len()
    /// })?;
    /// assert_eq!(deep.join().unwrap(), 4);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Cancellation
    /// As [`parasite_fn`](crate::parasite_fn).
    ///
    /// # Blocking
    /// Until the closure ends or blocks.
    #[track_caller]
    pub fn parasite_fn<F, T>(self, f: F) -> io::Result<ParasiteHandle<T>>
    where
        F: Closure<T> + Send + 'static,
        T: Send + 'static,
    {
        let (worker, site) = (Self::worker_of("parasite_fn", "spawn_in")?, Location::caller());
        let (given, size) = (self.given(), self.asked_stack_size()?);
        let place = self.asked_worker(&worker.shared)?;
        // SAFETY: closure and result are 'static.
        unsafe {
            if let Some(index) = place.filter(|&index| index != worker.remote.index) {
                return stackful::start_as(self.worker(index), worker, f, site);
            }
            if place.is_none() && given.is_none() && size.is_none() {
                return Ok(stackful::start_or_host(worker, f, site, self.is_attached_inline()));
            }
            let own = (given.is_some() || size.is_some())
                .then(|| (given, size.unwrap_or(worker.shared.stack_size)));
            stackful::start_built(self, own, place.is_some(), worker, f, site)
        }
    }
}
