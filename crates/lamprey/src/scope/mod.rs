//! Structured concurrency: threads that end before the block that started them, and their early cancellation.
//!
//! | to do | use |
//! |---|---|
//! | start children that may borrow, and wait for all of them | [`scope`](scope()), [`Scope`] |
//! | let a child's panic affect that child only | [`isolate`], [`scope_with`] |
//! | the first that succeeds | [`race`] |
//! | the results of all | [`join_all`] |
//! | cancel any code that runs under a token | [`CancelToken`] |
//! | restart children that fail | [`Supervisor`] |

// Reading order: `state` (the scope's record of its children), this file, `host`, `parasite`, `all`,
// `token`, `supervisor`.

mod all;
mod host;
mod parasite;
mod state;
pub mod supervisor;
mod token;

pub use all::{join_all, race};
pub use host::ScopedJoinHandle;
pub use parasite::ScopedParasite;
pub use supervisor::{Backoff, Restart, Strategy, Supervisor, SupervisorError, SupervisorHandle};
pub use token::{CancelToken, Cancelled};

use self::state::ScopeState;
use crate::cancel::level::LevelCancelled;
use crate::sched::block::CancelUnwind;
use crate::sched::scope_info::ScopeOrigin;
#[cfg(not(loom))]
use crate::sched::worker::Worker;
use crate::sched::{self, coop};
use crate::thread::{Panic, Panics};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

/// Starts children that may borrow from outside of the scope. [`scope()`] passes it to its closure.
///
/// It can be shared with the children, which can then start siblings.
#[doc(alias = "nursery")]
#[doc(alias = "errgroup")]
#[doc(alias = "JoinSet")]
#[doc(alias = "TaskTracker")]
#[doc(alias = "WaitGroup")]
pub struct Scope<'scope, 'env: 'scope> {
    scope_state: ScopeState,
    /// Created while its thread unwinds: it starts no children.
    is_moot: bool,
    // Both lifetimes are invariant, as in std: a longer 'scope would let a handle escape, a shorter 'env
    // would let children borrow from inside the body.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

/// Runs `body`, waits until all children that were started on the [`Scope`] have ended, and returns `body`'s
/// value.
///
/// Children may borrow what lives longer than the scope, because the scope never returns or unwinds before
/// they have ended: not after a panic, a cancellation or a forgotten handle.
///
/// * If a child **panics**, the other children and the body are cancelled, and the scope panics with that
///   payload once all have ended ([`Panics::Propagate`]; [`isolate`] and [`scope_with`] choose other
///   policies).
/// * If the body panics, or the calling thread is **cancelled** in the body or while it waits for the
///   children, the scope cancels the children, waits for them, and then unwinds.
/// * [`Scope::cancel`] cancels the children only.
/// * If a generator of `swapstack` is **suspended** in the body, the process aborts with a message, because
///   another thread could resume it and leave the scope; unless the generator was also resumed in the body.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let mut squares = vec![0; 100];
/// lamprey::scope(|s| {
///     for (n, square) in squares.iter_mut().enumerate() {
///         s.spawn(move || *square = n * n);
///     }
/// }); // all of them have ended
/// assert_eq!(squares.iter().sum::<usize>(), 328_350);
/// # });
/// ```
/// A child cannot borrow what ends with the body:
/// ```compile_fail,E0597
/// lamprey::scope(|s| {
///     let inner = String::new();
///     s.spawn(|| println!("{inner}"));
/// });
/// ```
/// A handle cannot leave the scope:
/// ```compile_fail
/// let text = String::new();
/// let handle = lamprey::scope(|s| s.spawn(|| text.len()));
/// ```
/// A child cannot capture what is not [`Send`]:
/// ```compile_fail,E0277
/// let shared = std::rc::Rc::new(1);
/// lamprey::scope(|s| {
///     s.spawn(|| println!("{shared}"));
/// });
/// ```
///
/// # Panics
/// With the first panic of the body or a child. Further panics are reported on standard error.
///
/// # Cancellation
/// The scope always waits for its children, also when the caller is cancelled. A child that never unwinds (it
/// computes for ever, or is [shielded](crate::shield)) keeps the scope from ending.
///
/// # Blocking
/// A host or stackful parasite switches away until the children have ended; an OS thread parks (it starts
/// children with [`Scope::spawn_in`]). A stackless parasite blocks the host that polls it: use
/// [`parasite_fn`](crate::parasite_fn) there. In a destructor while a host unwinds, the scope must not wait,
/// so it starts nothing: children are dropped without running.
#[doc(alias = "nursery")]
#[doc(alias = "errgroup")]
#[doc(alias = "JoinSet")]
#[doc(alias = "TaskTracker")]
#[doc(alias = "WaitGroup")]
#[track_caller]
pub fn scope<'env, T>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    scope_with(Panics::Propagate, body)
}

/// A [`scope()`] in which a child's panic cancels nothing: joining its handle returns the panic, and a panic
/// that is not joined is reported.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let fine = lamprey::scope::isolate(|s| {
///     let bad = s.spawn(|| panic!("this one"));
///     let good = s.spawn(|| 7);
///     assert!(bad.join().is_err());
///     good.join().unwrap()
/// });
/// assert_eq!(fine, 7);
/// # });
/// ```
///
/// # Panics
/// With the body's own panic.
#[doc(alias = "supervisorScope")]
#[track_caller]
pub fn isolate<'env, T>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    scope_with(Panics::Report, body)
}

/// A [`scope()`] with a policy for the panics of its children.
///
/// # Examples
/// ```
/// use lamprey::{Panics, scope::scope_with};
/// # lamprey::run(|| {
/// let n = scope_with(Panics::Abort, |s| s.spawn(|| 7).join().unwrap()); // a panic in there would end the process
/// assert_eq!(n, 7);
/// # });
/// ```
/// The caller chooses what a panic does: a batch keeps the documents that can be read; of a transaction, all
/// parts succeed or none.
/// ```
/// use lamprey::{Panics, scope::scope_with};
/// use std::panic::{AssertUnwindSafe, catch_unwind};
///
/// /// The numbers in each document, which children parse at the same time.
/// fn sums(documents: &[&str], panics: Panics) -> Vec<Option<i32>> {
///     scope_with(panics, |s| {
///         let children: Vec<_> = documents
///             .iter()
///             .map(|text| {
///                 // Children borrow what lives longer than the scope.
///                 s.spawn(move || text.split(' ').map(|word| word.parse::<i32>().unwrap()).sum())
///             })
///             .collect();
///         children.into_iter().map(|child| child.join().ok()).collect()
///     })
/// }
///
/// lamprey::run(|| {
///     let documents = ["1 2 3", "four", "5 6"];
///     // A panic stays with its child.
///     assert_eq!(sums(&documents, Panics::Report), [Some(6), None, Some(11)]);
///     // The first panic cancels the other children, and leaves the scope once all have ended.
///     let all_or_none = catch_unwind(AssertUnwindSafe(|| sums(&documents, Panics::Propagate)));
///     assert!(all_or_none.is_err());
///     assert_eq!(sums(&documents[..1], Panics::Propagate), [Some(6)]);
/// });
/// ```
#[doc(alias = "nursery")]
#[doc(alias = "errgroup")]
#[doc(alias = "JoinSet")]
#[track_caller]
pub fn scope_with<'env, T>(
    panics: Panics,
    body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
) -> T {
    let scope = Scope {
        scope_state: ScopeState::new(panics, ScopeOrigin::new(Location::caller(), owner())),
        is_moot: sched::must_not_block(),
        _scope: PhantomData,
        _env: PhantomData,
    };
    let left = scope.scope_state.body.catch(|| body(&scope));
    let left = left.map_err(|payload| scope.body_unwound(payload));
    let mut was_awaited = scope.scope_state.wait();
    // Destructors of outcomes may start children.
    while scope.scope_state.finish_adopted() {
        was_awaited &= scope.scope_state.wait();
    }
    if let Some(panic) = scope.scope_state.take_failure() {
        panic.resume();
    }
    match left {
        // When the runtime shuts down, it may have cancelled the children before this thread.
        Ok(Ok(value)) if was_awaited && !sched::cancel::is_about_to_end() => value,
        Ok(Ok(_)) | Err(Unwound) => sched::unwind_cancelled(),
        Ok(Err(LevelCancelled)) => crate::bug::bug!("a scope was given up without a reason"),
    }
}

/// The number of the calling thread, for who looks at the scope.
fn owner() -> u64 {
    #[cfg(not(loom))]
    return Worker::current().map_or(0, Worker::spawner);
    #[cfg(loom)]
    0
}

/// The body unwound: it panicked, or was cancelled from outside of the scope.
struct Unwound;

impl<'scope> Scope<'scope, '_> {
    /// Cancels the children, and keeps the body's payload if it is a panic.
    #[cold]
    fn body_unwound(&self, payload: Box<dyn Any + Send>) -> Unwound {
        if !payload.is::<CancelUnwind>() {
            self.scope_state.note(Panic::caught(payload));
        }
        self.scope_state.cancel();
        Unwound
    }

    /// Cancels all children, current and future, as [`JoinHandle::cancel`](crate::JoinHandle::cancel) does.
    /// The body goes on.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// lamprey::scope(|s| {
    ///     for _ in 0..100 {
    ///         s.spawn(|| lamprey::sleep(std::time::Duration::MAX));
    ///     }
    ///     s.cancel();
    /// });
    /// # });
    /// ```
    ///
    /// # Blocking
    /// Never. May be called from the body, from children and from other threads.
    pub fn cancel(&'scope self) {
        self.scope_state.cancel();
    }

    /// True once [`cancel`](Self::cancel) has been called, or a child has failed.
    pub fn is_cancelled(&'scope self) -> bool {
        coop::look();
        self.scope_state.is_cancelled()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("cancelled", &self.scope_state.is_cancelled()).finish_non_exhaustive()
    }
}
