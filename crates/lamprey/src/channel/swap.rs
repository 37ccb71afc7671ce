//! The swap channel of the book on Concurrent ML: two threads meet and each gets the other's value.
//!
//! # Examples
//! Two buffers that go back and forth. One thread fills a buffer while another empties the other one; when
//! both are ready they swap, so neither allocates and neither copies.
//! ```
//! use lamprey::SwapChannel;
//!
//! const BLOCKS: u32 = 4;
//!
//! /// Fills a buffer for each block and gives it away for an empty one.
//! fn produce(place: &SwapChannel<Vec<u32>>) {
//!     let mut buffer = Vec::with_capacity(8);
//!     for block in 0..BLOCKS {
//!         buffer.extend((0..8).map(|n| block * 8 + n));
//!         buffer = place.swap(buffer); // waits for the consumer
//!         assert!(buffer.is_empty() && buffer.capacity() == 8);
//!     }
//! }
//!
//! /// Gives an empty buffer away for each full one.
//! fn consume(place: &SwapChannel<Vec<u32>>) -> u32 {
//!     let (mut buffer, mut sum) = (Vec::with_capacity(8), 0);
//!     for _ in 0..BLOCKS {
//!         buffer = place.swap(buffer);
//!         sum += buffer.drain(..).sum::<u32>();
//!     }
//!     sum
//! }
//!
//! lamprey::run(|| {
//!     let place = SwapChannel::new();
//!     let sum = lamprey::scope(|s| {
//!         s.spawn(|| produce(&place));
//!         s.spawn(|| consume(&place)).join().unwrap()
//!     });
//!     assert_eq!(sum, (0..BLOCKS * 8).sum::<u32>());
//! });
//! ```

// A swap channel is a rendezvous of one side: each waits with its value in its node, and whoever comes second puts its own value there
// and takes the one that it finds. So the meeting is the swap, for both, and nobody waits for an answer.
//
// Rejected: Concurrent ML's construction (each offers both to send and to receive, and whoever receives answers). Between meeting and
// answer either can be cancelled, and the other, whose choice is made by then, is back where it began, but without its other events.
//
// Checked by: `model::swap` (loom, with broken variants), `tests/channel/family/swaps.rs`, `tests/sim/choices.rs`.

use super::rendezvous::{Chan, End, Ended, Offer, SendEvt, Side, full};
use crate::events::Event;
use crate::events::algebra::awaitable;
use crate::sync_shim::Arc;
use crate::time;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem::MaybeUninit;
use std::panic::Location;
use std::time::{Duration, Instant};

/// Threads swap values in pairs here: [`swap`](Self::swap) waits for a partner. Clones share the same
/// partners.
///
/// It has no sides, so it is never closed: if no partner comes, a swap waits for ever.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let place = lamprey::SwapChannel::new();
/// let other = place.clone();
/// let host = lamprey::spawn(move || other.swap("theirs"));
/// assert_eq!(place.swap("ours"), "theirs");
/// assert_eq!(host.join().unwrap(), "ours");
/// # });
/// ```
#[doc(alias = "Exchanger")]
#[doc(alias = "exchange")]
pub struct SwapChannel<T>(pub(super) Arc<Chan<T>>);

impl<T> SwapChannel<T> {
    /// A new channel without waiters.
    #[track_caller]
    pub fn new() -> Self {
        Self(Arc::new(Chan::for_swaps(Location::caller())))
    }

    /// The partner's value, or ours if none has come.
    fn exchange(&self, value: T, deadline: Option<Instant>) -> Result<T, T> {
        match self.0.exchange(Side::Swapper, MaybeUninit::new(value), deadline) {
            // SAFETY: a swapper's slot is full.
            Ended::Met(slot) => Ok(unsafe { full(slot) }),
            // SAFETY: as above.
            Ended::Closed(slot) | Ended::TimedOut(slot) => Err(unsafe { full(slot) }),
        }
    }

    /// Gives `value` to a partner and returns the partner's, waiting for one if necessary.
    ///
    /// # Cancellation
    /// The commit point is the moment when the two meet: both have swapped then, even while this call is blocked. A host that is
    /// cancelled before that unwinds from here, and `value` is dropped. A host that is cancelled later returns the value that it
    /// got, and unwinds at its next blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: unless
    /// a partner is there, it gets `value` back.
    pub fn swap(&self, value: T) -> T {
        self.exchange(value, None).unwrap_or_else(|ours| ours)
    }

    /// Swaps like [`swap`](Self::swap), but waits at most `limit` for a partner.
    ///
    /// # Errors
    /// `value` itself if no partner came.
    ///
    /// # Cancellation
    /// As for `swap`.
    pub fn swap_timeout(&self, value: T, limit: Duration) -> Result<T, T> {
        self.exchange(value, time::deadline(limit))
    }

    /// [`swap`](Self::swap) for async code.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has met no partner and `value` is dropped, or it has
    /// just swapped and the partner's value is dropped.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn swap_async(&self, value: T) -> impl Future<Output = T> + use<'_, T> {
        self.swap_evt(value).into_future()
    }

    /// [`swap`](Self::swap) as an event. If another event is chosen, `value` has not been swapped, and is
    /// dropped with this one.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose, timeout};
    /// use std::time::Duration;
    /// # lamprey::run(|| {
    /// let place = lamprey::SwapChannel::new();
    /// let swapped = choose((place.swap_evt(1).wrap(Some), timeout(Duration::from_millis(1)).wrap(|()| None)));
    /// assert_eq!(swapped.sync(), None);
    /// # });
    /// ```
    pub fn swap_evt(&self, value: T) -> SwapEvt<&Self> {
        SwapEvt(SendEvt::new(self, value))
    }

    /// [`swap_evt`](Self::swap_evt) that owns a handle of the channel, so that a function can return it.
    pub fn into_swap_evt(self, value: T) -> SwapEvt<Self> {
        SwapEvt(SendEvt::new(self, value))
    }
}

/// The event of [`SwapChannel::swap_evt`].
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct SwapEvt<S: End>(SendEvt<S>);

awaitable!({S: End} SwapEvt<S>, S::Output);

impl<S: End> Event for SwapEvt<S> {
    type Branch = Offer<S>;

    fn branch(self) -> Offer<S> {
        self.0.branch()
    }

    /// A lone swap event is a plain swap.
    fn sync(self) -> S::Output {
        self.0.sync()
    }
}

impl<S: End> fmt::Debug for SwapEvt<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SwapEvt")
    }
}

impl<T> Clone for SwapChannel<T> {
    fn clone(&self) -> Self {
        self.0.counted.senders.add();
        Self(self.0.clone())
    }
}

impl<T> Drop for SwapChannel<T> {
    fn drop(&mut self) {
        // Whoever waits has a handle, so there is nobody to wake.
        self.0.counted.senders.remove();
    }
}

impl<T> Default for SwapChannel<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for SwapChannel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SwapChannel")
    }
}
