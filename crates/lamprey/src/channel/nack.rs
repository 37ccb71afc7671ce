//! `with_nack`: an event that learns when it was not chosen.
//!
//! A nack is a channel on which nothing is ever sent: it happens when the sender is dropped, for all threads
//! that wait for it. The branch owns the sender, so a nack cannot be forgotten: whatever drops the branch
//! drops it. A branch that is chosen keeps the channel open instead.

use super::{Receiver, RecvError, RecvEvt, Sender, channel_for_once};
use crate::events::algebra::awaitable;
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
use crate::events::{Event, Wrap};
use crate::sched::parts::Told as Named;
use std::cell::Cell;
use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Instant;

/// An event that `f` makes, as [`guard`](crate::event::guard) does; `f` is given a [`Nack`], an event that
/// happens if and only if the synchronisation ends without choosing this one: another branch is chosen, the
/// time is over, the thread is cancelled, or a guard panics. So a server that has begun to work for a client
/// can stop.
///
/// # Cancellation
/// Once this event has been chosen, be it by a peer, its nack never happens, even if the client is cancelled
/// just then: a thread returns the result; a future that is dropped has its value go back, or dropped. So let
/// a value that grants something give it back in its destructor.
///
/// # Examples
/// ```
/// use lamprey::event::{Event, always, never, prefer, with_nack};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     let request = with_nack(move |nack| {
///         // The server learns that no thread waits for its answer any more.
///         lamprey::spawn(move || {
///             nack.sync();
///             tx.send("given up").unwrap();
///         });
///         never()
///     });
///     prefer((request, always(()))).sync();
///     assert_eq!(rx.recv(), Ok("given up"));
/// });
/// ```
#[doc(alias = "cancel")]
#[doc(alias = "on_cancel")]
pub fn with_nack<E: Event, F: FnOnce(Nack) -> E>(f: F) -> WithNack<F> {
    WithNack(f)
}

/// See [`with_nack`].
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct WithNack<F>(F);

/// The event that another one was not chosen; see [`with_nack`]. Once it has happened it stays so: any number
/// of threads may synchronise on it, at any time. If the other one is chosen, it never happens.
#[derive(Debug, Clone)]
pub struct Nack(Receiver<Infallible>);

awaitable!({E: Event, F: FnOnce(Nack) -> E} WithNack<F>, E::Output);
awaitable!({} Nack, ());

impl<E: Event, F: FnOnce(Nack) -> E> Event for WithNack<F> {
    type Branch = Nacked<E::Branch>;

    fn branch(self) -> Self::Branch {
        let (tx, rx) = channel_for_once();
        // Before `f`, which may panic.
        let fuse = Fuse(Cell::new(Some(tx)));
        Nacked { inner: (self.0)(Nack(rx)).branch(), fuse }
    }
}

type Closed = Wrap<RecvEvt<Receiver<Infallible>>, fn(Result<Infallible, RecvError>)>;

impl Event for Nack {
    type Branch = Told;

    fn branch(self) -> Told {
        let closed: Closed = self.0.into_recv_evt().wrap(drop);
        Told(closed.branch())
    }
}

/// The branch of a [`Nack`]: that of the receive, except that it is not refused. A thread that must not wait
/// would otherwise take the refusal for the nack.
pub struct Told(<Closed as Event>::Branch);

impl Steps for Told {
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        self.0.attempt(context)
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        // SAFETY: as promised by the caller.
        unsafe { self.0.offer(choice) }
    }

    fn withdraw(&self) -> bool {
        self.0.withdraw()
    }

    fn decide(&self, won: bool) {
        self.0.decide(won);
    }

    fn tell(&self, told: &mut Named<'_>) {
        self.0.tell(told);
    }
}

impl Branch for Told {
    type Output = ();

    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<()> {
        self.0.finish(context)
    }
}

/// The sender of a nack's channel. Dropping it makes the nack happen.
struct Fuse(Cell<Option<Sender<Infallible>>>);

/// The branch of a [`WithNack`].
pub struct Nacked<B> {
    inner: B,
    fuse: Fuse,
}

impl<B: Steps> Steps for Nacked<B> {
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        self.inner.attempt(context)
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        // SAFETY: as promised by the caller.
        unsafe { self.inner.offer(choice) }
    }

    fn withdraw(&self) -> bool {
        self.inner.withdraw()
    }

    fn decide(&self, won: bool) {
        // First: the event has been chosen, even if the destructor of a part that was not chosen panics.
        if won && let Some(tx) = self.fuse.0.take() {
            tx.keep_open();
        }
        self.inner.decide(won);
        drop(self.fuse.0.take());
    }

    fn begin_rest(&self, context: &mut Context<'_>) {
        self.inner.begin_rest(context);
    }

    fn settle_rest(&self) -> bool {
        self.inner.settle_rest()
    }

    fn polls(&self) -> Polls {
        self.inner.polls()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parts(&self) -> usize {
        self.inner.parts()
    }

    fn deadline(&self) -> Option<Instant> {
        self.inner.deadline()
    }

    fn is_refused(&self) -> bool {
        self.inner.is_refused()
    }

    fn tell(&self, told: &mut Named<'_>) {
        self.inner.tell(told);
    }

    fn refuse(&self) -> bool {
        self.inner.refuse()
    }

    fn is_prompt(&self) -> bool {
        true
    }
}

impl<B: Branch> Branch for Nacked<B> {
    type Output = B::Output;

    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<B::Output> {
        self.inner.finish(context)
    }
}
