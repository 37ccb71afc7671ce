//! The callback event: an event that a plain function call fulfils, once, from any thread. It is a oneshot whose sender is
//! shared, as interfaces that take callbacks ask for `Fn`, `FnMut` or `FnOnce`.

use super::err::{RecvError, SendError};
use super::oneshot::{self, oneshot};
use crate::events::algebra::awaitable;
use crate::events::{Event, FutureEvt, future_evt};
use crate::sched::coop;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::fmt;
use std::sync::{Arc, PoisonError};

/// An event, and the callback that fulfils it: for libraries that tell by a call that something has happened (a C library, the
/// thread of a driver, a garbage collector).
///
/// # Examples
/// ```
/// use lamprey::event::{Event, callback, choose, timeout};
/// use std::time::Duration;
///
/// /// Somebody else's interface.
/// fn download(name: &str, on_done: impl FnOnce(usize) + Send + 'static) {
///     let size = name.len();
///     std::thread::spawn(move || on_done(size));
/// }
///
/// lamprey::run(|| {
///     let (done, size) = callback();
///     download("bread", done.into_fn());
///     let size = choose((size.wrap(Result::ok), timeout(Duration::from_secs(60)).wrap(|()| None)));
///     assert_eq!(size.sync(), Some(5));
/// });
/// ```
/// What is not `Send` does not leave its thread:
/// ```compile_fail,E0277
/// let (done, _event) = lamprey::event::callback::<std::rc::Rc<u8>>();
/// std::thread::spawn(move || done.call(std::rc::Rc::new(1)));
/// ```
#[doc(alias = "promise")]
#[doc(alias = "future")]
pub fn callback<T>() -> (Callback<T>, CallbackEvt<T>) {
    let (tx, rx) = oneshot();
    (Callback(Arc::new(Mutex::new(Some(tx)))), CallbackEvt(rx))
}

/// What fulfils a [`CallbackEvt`]: its first [call](Self::call) does. Of its clones, too, only one.
///
/// If all are dropped without a call, the event happens with an error. It may be called from hosts, parasites and OS threads,
/// which need no runtime, in destructors and while unwinding, but not in a signal handler.
pub struct Callback<T>(Arc<Mutex<Option<oneshot::Sender<T>>>>);

/// The event that a [`callback`] has been called. It happens once.
///
/// If it is dropped, or another event is chosen, the callback [sees](Callback::is_wanted) that nobody waits for it. To keep it
/// over a choice that it may lose, choose [`wait_evt`](Self::wait_evt).
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct CallbackEvt<T>(oneshot::Receiver<T>);

impl<T> Callback<T> {
    /// Fulfils the event with `value`.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, callback};
    ///
    /// let (done, event) = callback();
    /// done.call(1).unwrap();
    /// assert_eq!(done.call(2), Err(lamprey::SendError(2)));
    /// assert_eq!(event.sync(), Ok(1));
    /// ```
    ///
    /// # Errors
    /// [`SendError`] with the value if it has been called before, or nobody waits for it.
    ///
    /// # Blocking
    /// Never.
    pub fn call(&self, value: T) -> Result<(), SendError<T>> {
        let sender = self.sender().take();
        match sender {
            Some(sender) => sender.send(value),
            None => {
                coop::look();
                Err(SendError(value))
            }
        }
    }

    /// The callback as a function. What comes too late is dropped.
    pub fn into_fn(self) -> impl FnOnce(T) + use<T> {
        move |value| drop(self.call(value))
    }

    /// True if a call would fulfil the event: there was none, and the event has not been dropped.
    pub fn is_wanted(&self) -> bool {
        coop::look();
        self.sender().as_ref().is_some_and(|sender| !sender.is_refused())
    }

    /// Held for a few steps, in which no code of the program runs: so it is not poisoned, and no worker waits.
    fn sender(&self) -> MutexGuard<'_, Option<oneshot::Sender<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

awaitable!({T} CallbackEvt<T>, Result<T, RecvError>);

impl<T> Event for CallbackEvt<T> {
    type Branch = <FutureEvt<oneshot::Receiver<T>> as Event>::Branch;

    fn branch(self) -> Self::Branch {
        future_evt(self.0).branch()
    }

    fn sync(self) -> Result<T, RecvError> {
        self.0.recv()
    }
}

impl<T> CallbackEvt<T> {
    /// The same event, without giving it up if it is not chosen.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, callback};
    /// use std::time::Duration;
    ///
    /// let (done, mut event) = callback();
    /// assert!(event.wait_evt().sync_timeout(Duration::from_millis(1)).is_none());
    /// done.call(1).unwrap();
    /// assert_eq!(event.wait_evt().sync(), Ok(1));
    /// assert!(event.wait_evt().sync().is_err(), "it happens once");
    /// ```
    pub fn wait_evt(&mut self) -> FutureEvt<oneshot::RecvFuture<'_, T>> {
        self.0.recv_evt()
    }
}

impl<T> Clone for Callback<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Callback<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

impl<T> fmt::Debug for CallbackEvt<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackEvt")
    }
}
