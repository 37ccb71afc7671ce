//! `a_trans`: an asynchronous event as a synchronous one, which is over when it has been begun.
//!
//! A synchronous choice must be able to give the event up until it is chosen, and begins it in the step that comes after that,
//! where `wrap`s run: so it is `always`, wrapped in `a_sync`.

use super::{AsyncEvent, Pending};
use crate::events::algebra::awaitable;
use crate::events::{Always, Event, Wrap, always};

/// The event that [`AsyncEvent::a_trans`] returns.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct ATrans<A>(A);

/// What `a_sync` gives.
type Begun<A> = (<A as AsyncEvent>::Created, Pending<<A as AsyncEvent>::Consumed>);

awaitable!({A: AsyncEvent} ATrans<A>, Begun<A>);

impl<A> ATrans<A> {
    pub(super) fn new(event: A) -> Self {
        Self(event)
    }
}

impl<A: AsyncEvent> Event for ATrans<A> {
    type Branch = <Wrap<Always<A>, fn(A) -> Begun<A>> as Event>::Branch;

    fn branch(self) -> Self::Branch {
        let begin: fn(A) -> Begun<A> = A::a_sync;
        always(self.0).wrap(begin).branch()
    }
}
