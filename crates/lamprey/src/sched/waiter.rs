//! A waiter in one word: what it names is told by [`who`](super::who), and how it is woken by `wake`.

use std::ptr::NonNull;

/// Names who is to be woken: a host of any runtime, an OS thread, a stackless parasite, or whoever is behind
/// a foreign [`Waker`](std::task::Waker). One word; the low bits say which.
///
/// Of a thread: valid while it is inside the blocking call that made it. Of a parasite: while its node is
/// queued, or has been taken out and not yet released; or as long as a reference is held
/// ([`keep`](Self::keep)). Of a waker: owned by whoever has the word last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter(pub(super) NonNull<()>);

// SAFETY: another kernel thread may only wake, whose contract covers the access.
unsafe impl Send for Waiter {}
// SAFETY: as above.
unsafe impl Sync for Waiter {}
