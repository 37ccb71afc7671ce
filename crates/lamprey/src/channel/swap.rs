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
//!
//! # How it is done
//! Each offers both to send and to receive, on one rendezvous channel; one of the two halves is chosen. What
//! is sent is a place with the value, and the way back. Whoever receives takes the other's value and answers
//! with its own, so of two that have met, either both have swapped, or (the receiver was cancelled in
//! between) the sender finds its value where it was, and offers it again. A sender that must not wait for the
//! answer takes its value back, if the receiver has not got it yet; that finds the place empty then, and has
//! met nobody.

use super::rendezvous::{self, Receiver, Sender};
use super::{RecvError, RecvEvt, RecvTimeoutError, SendError, SendEvt, TryRecvError, oneshot};
use crate::events::{BoxedEvent, Choose, Event, Wrap, choose, timeout};
use crate::sched;
use crate::sync_shim::relax;
use crate::sync_shim::watched::Mutex;
use crate::{time, world};
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};
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
pub struct SwapChannel<T> {
    tx: Sender<SwapOffer<T>>,
    rx: Receiver<SwapOffer<T>>,
}

/// How long a thread whose time is over waits for the answer of a partner that it has met: it comes after a few steps, unless
/// the partner is a future that is not polled.
const GRACE: Duration = Duration::from_millis(1);

/// A value until it is swapped, shared with the partner.
struct Mine<T>(Arc<Mutex<Option<T>>>);

struct SwapOffer<T> {
    theirs: Mine<T>,
    answer: oneshot::Sender<T>,
}

/// The result of a meeting.
enum Met<T> {
    Swapped(T),
    /// The partner has our offer, and will answer.
    Offered(oneshot::Receiver<T>),
    /// No partner: the caller unwinds and none was there, or the partner unwound and has taken its value
    /// back.
    Nobody,
}

impl<T> Mine<T> {
    fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(Some(value))))
    }

    fn share(&self) -> Self {
        Self(self.0.clone())
    }

    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the value, which must be there because the thread has just met a partner.
    fn swapped(&self) -> T {
        self.take().unwrap_or_else(|| crate::bug::bug!("a value was swapped twice"))
    }
}

/// The event of meeting a partner, who receives what `send` sends or has sent what `receive` receives.
#[expect(clippy::type_complexity, reason = "an opaque type would hide that its branches are Send")]
fn meet<T, S, R, F>(
    send: F,
    receive: R,
    mine: &Mine<T>,
) -> Choose<(
    Wrap<S, impl FnOnce(Result<(), SendError<SwapOffer<T>>>) -> Met<T> + use<T, S, R, F>>,
    Wrap<R, impl FnOnce(Result<SwapOffer<T>, RecvError>) -> Met<T> + use<T, S, R, F>>,
)>
where
    S: Event<Output = Result<(), SendError<SwapOffer<T>>>>,
    R: Event<Output = Result<SwapOffer<T>, RecvError>>,
    F: FnOnce(SwapOffer<T>) -> S,
{
    let (answer, answered) = oneshot::oneshot();
    let (ours, theirs) = (mine.share(), mine.share());
    choose((
        send(SwapOffer { theirs, answer }).wrap(move |sent| match sent {
            Ok(()) => Met::Offered(answered),
            Err(_) => Met::Nobody,
        }),
        receive.wrap(move |got| {
            let Some((offer, theirs)) =
                got.ok().and_then(|offer| offer.theirs.take().map(|theirs| (offer, theirs)))
            else {
                return Met::Nobody;
            };
            // An error means that the partner was cancelled since then; it counts as having swapped.
            let _ = offer.answer.send(ours.swapped());
            Met::Swapped(theirs)
        }),
    ))
}

impl<T> SwapChannel<T> {
    /// A new channel without waiters.
    #[track_caller]
    pub fn new() -> Self {
        let (tx, rx) = rendezvous::channel_of_offers();
        Self { tx, rx }
    }

    /// The event of meeting a partner.
    #[expect(clippy::type_complexity, reason = "an opaque type would hide that its branches are Send")]
    fn meet_evt<'a>(
        &'a self,
        mine: &Mine<T>,
    ) -> Choose<(
        Wrap<
            SendEvt<&'a Sender<SwapOffer<T>>>,
            impl FnOnce(Result<(), SendError<SwapOffer<T>>>) -> Met<T> + use<'a, T>,
        >,
        Wrap<
            RecvEvt<&'a Receiver<SwapOffer<T>>>,
            impl FnOnce(Result<SwapOffer<T>, RecvError>) -> Met<T> + use<'a, T>,
        >,
    )> {
        meet(|offer| self.tx.send_evt(offer), self.rx.recv_evt(), mine)
    }

    /// Completes a meeting. `None` if there was no partner, or it was cancelled, or has not answered by the deadline; our
    /// value is then in its slot.
    fn end(met: Met<T>, mine: &mut Mine<T>, deadline: Option<Instant>) -> Option<T> {
        match met {
            Met::Swapped(value) => Some(value),
            Met::Offered(answered) if sched::must_not_block() => Self::end_at_once(answered, mine),
            Met::Offered(answered) => Self::answer(answered, mine, deadline),
            Met::Nobody => None,
        }
    }

    /// Waits for the partner's answer. A thread that is cancelled meanwhile, or whose time is over, takes its value back;
    /// if the partner has taken it already, they have swapped.
    fn answer(
        mut answered: oneshot::Receiver<T>,
        mine: &mut Mine<T>,
        deadline: Option<Instant>,
    ) -> Option<T> {
        let until = deadline.map(|at| at.max(world::now() + GRACE));
        let unwinding = match catch_unwind(AssertUnwindSafe(|| answered.recv_until(until))) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(RecvTimeoutError::Disconnected)) => return None,
            Ok(Err(RecvTimeoutError::Timeout)) => None,
            Err(payload) => Some(payload),
        };
        let Some(value) = mine.take() else { return Self::end_at_once(answered, mine) };
        if let Some(payload) = unwinding {
            drop(value);
            resume_unwind(payload);
        }
        // The partner may still come to the old place, and finds it empty.
        *mine = Mine::new(value);
        None
    }

    /// For a caller that must not wait: takes its own value back, unless the partner has it. In that case the
    /// partner, on another kernel thread, is a few steps away from its answer.
    #[cold]
    fn end_at_once(mut answered: oneshot::Receiver<T>, mine: &Mine<T>) -> Option<T> {
        let mut spins = 0;
        mine.take().or_else(|| {
            loop {
                match answered.try_recv() {
                    Err(TryRecvError::Empty) => relax(&mut spins),
                    answer => return answer.ok(),
                }
            }
        })
    }

    fn swap_shared(&self, mine: &mut Mine<T>) -> T {
        loop {
            let met = self.meet_evt(mine).sync();
            if let Some(value) = Self::end(met, mine, None) {
                return value;
            }
            if sched::must_not_block() {
                return mine.swapped();
            }
        }
    }

    /// Gives `value` to a partner and returns the partner's, waiting for one if necessary.
    ///
    /// # Cancellation
    /// The commit point is the moment when one of the two has the other's value. A host that is cancelled
    /// before that unwinds from here, and `value` is dropped. A host that is cancelled later returns the
    /// value that it got, and unwinds at its next blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: unless
    /// a partner is there whose value it can take at once, it gets `value` back.
    pub fn swap(&self, value: T) -> T {
        self.swap_shared(&mut Mine::new(value))
    }

    /// Swaps like [`swap`](Self::swap), but waits at most `limit` for a partner, and a millisecond for its answer.
    ///
    /// # Errors
    /// `value` itself if no partner came.
    ///
    /// # Cancellation
    /// As for `swap`.
    pub fn swap_timeout(&self, value: T, limit: Duration) -> Result<T, T> {
        let (mut mine, deadline) = (Mine::new(value), time::deadline(limit));
        loop {
            let left = deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(world::now()));
            let met = choose((self.meet_evt(&mine).wrap(Some), timeout(left).wrap(|()| None))).sync();
            if let Some(value) = met.and_then(|met| Self::end(met, &mut mine, deadline)) {
                return Ok(value);
            }
            if sched::must_not_block() || deadline.is_some_and(|at| at <= world::now()) {
                return Err(mine.swapped());
            }
        }
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
        let mine = Mine::new(value);
        async move {
            loop {
                match self.meet_evt(&mine).await {
                    Met::Swapped(value) => return value,
                    Met::Nobody => {}
                    Met::Offered(answered) => {
                        if let Ok(value) = answered.await {
                            return value;
                        }
                    }
                }
            }
        }
    }

    /// [`swap`](Self::swap) as an event. If another event is chosen, `value` has not been swapped, and is
    /// dropped with this one.
    ///
    /// # Cancellation
    /// As for [`swap`](Self::swap).
    ///
    /// # Blocking
    /// After meeting its partner it waits, if necessary by blocking the thread, for the answer. That comes
    /// at once, unless the partner is a future that is not polled, or withdraws in that moment because it is cancelled or its time is
    /// over: then this swap waits for another partner, and the other events of its choice, a timeout among them, are not
    /// asked any more. Where that matters, use [`swap_timeout`](Self::swap_timeout). A task of a single-threaded executor that
    /// swaps with another task of it must use [`swap_async`](Self::swap_async). Two swaps on one channel in
    /// one [`choose_all`](crate::event::choose_all) may meet each other, and then wait for ever: each waits
    /// for an answer from its own caller.
    pub fn swap_evt(&self, value: T) -> BoxedEvent<'_, T>
    where
        T: Send,
    {
        let mut mine = Mine::new(value);
        self.meet_evt(&mine)
            .wrap(move |met| Self::end(met, &mut mine, None).unwrap_or_else(|| self.swap_shared(&mut mine)))
            .boxed()
    }
}

impl<T: Send + 'static> SwapChannel<T> {
    /// [`swap_evt`](Self::swap_evt) that owns a handle of the channel, so that a function can return it.
    pub fn into_swap_evt(self, value: T) -> BoxedEvent<'static, T> {
        let (mut mine, tx, rx) = (Mine::new(value), self.tx.clone(), self.rx.clone());
        meet(move |offer| tx.into_send_evt(offer), rx.into_recv_evt(), &mine)
            .wrap(move |met| Self::end(met, &mut mine, None).unwrap_or_else(|| self.swap_shared(&mut mine)))
            .boxed()
    }
}

impl<T> Clone for SwapChannel<T> {
    fn clone(&self) -> Self {
        Self { tx: self.tx.clone(), rx: self.rx.clone() }
    }
}

impl<T> Default for SwapChannel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for SwapChannel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SwapChannel")
    }
}
