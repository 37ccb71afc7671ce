//! Cancellation as a value: what is cancelled need not be known to who cancels.
//!
//! A token is a cancel scope ([`crate::cancel::scope`]) for the threads that run under it, a variable that is
//! full once it has been cancelled for those who wait for that, and the tokens that were made from it.

use crate::cancel::level::LevelCancelled;
use crate::cancel::scope::CancelScope;
use crate::events::FutureEvt;
use crate::queue::swept::Swept;
use crate::sync::IVar;
use crate::time::before::before;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Cancels whatever has been told to listen to it, once and for all. Clones are the same token.
///
/// Code listens in two ways: [`run`](Self::run) (and [`run_async`](Self::run_async)) ends what is inside at
/// its next blocking point; [`wait_evt`](Self::wait_evt) is an event for a choice, where the program itself
/// decides what to do.
///
/// # Examples
/// ```
/// use lamprey::{CancelToken, Cancelled, channel, spawn};
/// use lamprey::event::{Event, choose};
///
/// lamprey::run(|| {
///     let token = CancelToken::new();
///     let (theirs, other) = (token.clone(), token.child());
///     let (tx, rx) = channel::<u32>();
///     let ends = spawn(move || theirs.run(|| rx.recv()));
///     let decides = spawn(move || {
///         let (_tx, rx) = channel::<u32>();
///         choose((rx.recv_evt().wrap(|n| n.unwrap()), other.wait_evt().wrap(|()| 42))).sync()
///     });
///     token.cancel();
///     assert_eq!(ends.join().unwrap(), Err(Cancelled));
///     assert_eq!(decides.join().unwrap(), 42);
///     drop(tx);
/// });
/// ```
///
/// # Dropping
/// Cancels nothing, also where it is the last clone: what runs under the token runs on.
#[doc(alias = "CancellationToken")]
#[doc(alias = "context")]
#[doc(alias = "StopSource")]
#[derive(Clone)]
pub struct CancelToken(Arc<Inner>);

struct Inner {
    cancel_scope: CancelScope,
    over: IVar<()>,
    /// Those that are there: a child holds its parent, so that the way down to it is not lost.
    children: Mutex<Swept<Weak<Inner>>>,
    parent: Option<Arc<Inner>>,
}

/// What was run under a token has been cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::of(None)
    }

    fn of(parent: Option<Arc<Inner>>) -> Self {
        let (cancel_scope, over, children) = (CancelScope::new(), IVar::new(), Mutex::new(Swept::new()));
        Self(Arc::new(Inner { cancel_scope, over, children, parent }))
    }

    /// A token that is cancelled with this one, and may be cancelled before it.
    #[doc(alias = "child_token")]
    #[doc(alias = "WithCancel")]
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::of(Some(self.0.clone()));
        self.0.children().push(Arc::downgrade(&child.0), |token| token.strong_count() == 0);
        // After it has been entered: `cancel` first cuts, and then takes the children.
        if self.is_cancelled() {
            child.cancel();
        }
        child
    }

    /// Cancels it, and all that were made from it. Again it does nothing.
    ///
    /// # Blocking
    /// Never: what is cancelled ends by itself, soon. From hosts, parasites and OS threads.
    pub fn cancel(&self) {
        let mut tokens = vec![self.0.clone()];
        while let Some(token) = tokens.pop() {
            if !token.cancel_scope.cancel() {
                continue;
            }
            let _ = token.over.put(());
            let children = token.children().take();
            tokens.extend(children.iter().filter_map(Weak::upgrade));
        }
    }

    /// True once it has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel_scope.is_cancelled()
    }

    /// Runs `inside` until the token is cancelled: then the blocking call that it is in, or comes to next,
    /// unwinds to here.
    ///
    /// # Errors
    /// [`Cancelled`] if that has ended it, or if the token was cancelled before: then `inside` has not run at
    /// all. If `inside` returns, its value counts.
    ///
    /// # Panics
    /// With `inside`'s own panic.
    ///
    /// # Cancellation
    /// What is cancelled further out goes through here. The call that is cut short has happened or not, as
    /// its own documentation says.
    ///
    /// # Blocking
    /// As `inside` does. From hosts, stackful parasites and OS threads; a stackless parasite has
    /// [`run_async`](Self::run_async).
    #[doc(alias = "run_until_cancelled")]
    pub fn run<R>(&self, inside: impl FnOnce() -> R) -> Result<R, Cancelled> {
        self.0.cancel_scope.run(inside).map_err(|LevelCancelled| Cancelled)
    }

    /// Drives `future` until the token is cancelled: then it is dropped.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let token = lamprey::CancelToken::new();
    /// let theirs = token.clone();
    /// let parasite = lamprey::parasite(async move { theirs.run_async(std::future::pending::<()>()).await });
    /// token.cancel();
    /// assert_eq!(parasite.join().unwrap(), Err(lamprey::Cancelled));
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run). If both come together, the result counts.
    ///
    /// # Cancellation
    /// Dropping this drops `future`. What that means is up to `future`.
    #[doc(alias = "run_until_cancelled")]
    pub async fn run_async<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        if self.is_cancelled() {
            return Err(Cancelled);
        }
        before(future, self.wait_async(), Cancelled).await
    }

    /// Waits until it is cancelled.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and nothing has happened.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[doc(alias = "cancelled")]
    #[doc(alias = "Done")]
    pub fn wait(&self) {
        self.0.over.get_ref();
    }

    /// The awaitable form of [`wait`](Self::wait).
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    #[doc(alias = "cancelled")]
    #[doc(alias = "Done")]
    pub async fn wait_async(&self) {
        self.0.over.get_ref_async().await;
    }

    /// [`wait`](Self::wait) as an event.
    #[doc(alias = "cancelled")]
    #[doc(alias = "Done")]
    pub fn wait_evt(&self) -> FutureEvt<impl Future<Output = ()> + use<>> {
        let token = self.clone();
        crate::events::future_evt(async move { token.wait_async().await })
    }
}

impl Inner {
    fn children(&self) -> MutexGuard<'_, Swept<Weak<Inner>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    /// Without recursion: a chain of tokens may be long.
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(mut inner) = parent.and_then(Arc::into_inner) {
            parent = inner.parent.take();
        }
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}
