//! [`Waiter`]: one word that names a thread, task or waker to be woken. [`who`](super::who) decodes it,
//! `wake` wakes it.

use std::ptr::NonNull;

/// What a wake is for: a host of any runtime, an OS thread, a stackless parasite, or a foreign
/// [`Waker`](std::task::Waker). A tagged pointer; the low bits say which (`who::Who`).
///
/// How long it is valid:
/// * a thread: while it is inside the blocking call that made the word;
/// * a parasite: while its node is queued, and from then until the code that took the node out has woken or
///   released it; or as long as a reference is held ([`keep`](Self::keep));
/// * a foreign waker: the word owns it, or a share of it ([`many`](Self::many)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter(pub(super) NonNull<()>);

// SAFETY: another kernel thread can only wake through the word, and the contract of `wake` requires that the
// target is alive.
unsafe impl Send for Waiter {}
// SAFETY: a shared word gives no access but to copy it.
unsafe impl Sync for Waiter {}
