//! Cancel tokens: cancellation as a value that can be shared.
//!
//! A token consists of a cancel scope ([`crate::cancel::scope`]) for the threads that run under it, an
//! [`IVar`] that its cancellation fills, for the threads that wait for it, and a list of its child tokens.

use crate::cancel::level::LevelCancelled;
use crate::cancel::scope::CancelScope;
use crate::events::FutureEvt;
use crate::queue::swept::Swept;
use crate::sched::coop;
use crate::sched::coop_async::take_a_turn_async;
use crate::sync::IVar;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use crate::thread::Closure;
use crate::time::before::before;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, PoisonError, Weak};

/// Cancels all code that listens to it, once and irrevocably. Clones are the same token.
///
/// Code listens in two ways: [`run`](Self::run) (and [`run_async`](Self::run_async)) unwinds its closure from
/// the current or next blocking call; [`wait_evt`](Self::wait_evt) is an event for a choice, where the
/// program decides what to do.
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
/// Cancels nothing, even if it is the last clone: code under the token runs on.
#[doc(alias = "CancellationToken")]
#[doc(alias = "context")]
#[doc(alias = "StopSource")]
#[derive(Clone)]
pub struct CancelToken(Arc<Inner>);

struct Inner {
    cancel_scope: CancelScope,
    over: IVar<()>,
    /// The live child tokens. A child keeps its parent alive, so that an ancestor's cancellation reaches it.
    children: Mutex<Swept<Weak<Inner>>>,
    parent: Option<Arc<Inner>>,
}

/// The error of code that was cancelled by its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::of(None)
    }

    fn of(parent: Option<Arc<Inner>>) -> Self {
        let (cancel_scope, over, children) = (CancelScope::new(), IVar::new(), Mutex::new(Swept::new()));
        Self(Arc::new(Inner { cancel_scope, over, children, parent }))
    }

    /// A child token: it is cancelled with this one, and can be cancelled separately.
    #[doc(alias = "child_token")]
    #[doc(alias = "WithCancel")]
    #[must_use]
    pub fn child(&self) -> Self {
        coop::look();
        let child = Self::of(Some(self.0.clone()));
        self.0.children().push(Arc::downgrade(&child.0), |token| token.strong_count() == 0);
        // Checked after the push: `cancel` first cancels the cancel scope, and then takes the children.
        if self.0.cancel_scope.is_cancelled() {
            child.cancel();
        }
        child
    }

    /// Cancels the token and all its descendants. Calling it again does nothing.
    ///
    /// # Blocking
    /// Never: it does not wait for the cancelled code to end. May be called from hosts, parasites and OS
    /// threads.
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

    /// True once the token has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        coop::look();
        self.0.cancel_scope.is_cancelled()
    }

    /// Runs `inside` until the token is cancelled: then its current or next blocking call unwinds to here.
    ///
    /// # Errors
    /// [`Cancelled`] if the token has cancelled `inside`, or was cancelled before, in which case `inside`
    /// does not run. If `inside` returns, its value is returned.
    ///
    /// # Panics
    /// With `inside`'s own panic.
    ///
    /// # Cancellation
    /// A cancellation from outside unwinds through this call. Whether the interrupted call has taken effect
    /// is stated in that call's own documentation.
    ///
    /// # Blocking
    /// As `inside` does. For hosts, stackful parasites and OS threads; stackless parasites use
    /// [`run_async`](Self::run_async).
    #[doc(alias = "run_until_cancelled")]
    pub fn run<R>(&self, inside: impl Closure<R>) -> Result<R, Cancelled> {
        self.0.cancel_scope.run(inside).map_err(|LevelCancelled| Cancelled)
    }

    /// Polls `future` until the token is cancelled, and then drops it.
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
    /// As [`run`](Self::run). If `future` is ready and the token is cancelled at the same time, the result is
    /// returned.
    ///
    /// # Cancellation
    /// Dropping this drops `future`.
    #[doc(alias = "run_until_cancelled")]
    pub async fn run_async<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        take_a_turn_async(1).await;
        if self.0.cancel_scope.is_cancelled() {
            return Err(Cancelled);
        }
        before(future, self.wait_async(), Cancelled).await
    }

    /// Waits until the token is cancelled.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, without effect.
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
    /// Drops the chain of parents without recursion: it may be long.
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
        f.debug_struct("CancelToken")
            .field("cancelled", &self.0.cancel_scope.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}
