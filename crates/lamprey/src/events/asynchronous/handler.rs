//! `s_wrap_handler` and `a_wrap_handler`: a panic of one of the two parts of an asynchronous event becomes its value.

use super::{AsyncEvent, Matter};
use crate::events::Event;
use crate::events::algebra::caught;
use crate::sched::panic::Panic;

/// The asynchronous event that [`AsyncEvent::s_wrap_handler`] returns.
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct SWrapHandler<A, F>(A, F);

/// The asynchronous event that [`AsyncEvent::a_wrap_handler`] returns.
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct AWrapHandler<A, F>(A, F);

impl<A, F> SWrapHandler<A, F> {
    pub(super) fn new(event: A, handler: F) -> Self {
        Self(event, handler)
    }
}

impl<A: AsyncEvent, F: FnOnce(Panic) -> A::Created> AsyncEvent for SWrapHandler<A, F> {
    type Created = A::Created;
    type Consumed = A::Consumed;

    fn parts(
        self,
    ) -> (impl FnOnce() -> A::Created, impl Event<Output = Matter<A::Consumed>, Branch: Send> + Send + 'static)
    {
        let (created, event) = self.0.parts();
        (move || caught(created).unwrap_or_else(self.1), event)
    }
}

impl<A, F> AWrapHandler<A, F> {
    pub(super) fn new(event: A, handler: F) -> Self {
        Self(event, handler)
    }
}

impl<A, F> AsyncEvent for AWrapHandler<A, F>
where
    A: AsyncEvent,
    F: FnOnce(Panic) -> A::Consumed + Send + 'static,
{
    type Created = A::Created;
    type Consumed = A::Consumed;

    fn parts(
        self,
    ) -> (impl FnOnce() -> A::Created, impl Event<Output = Matter<A::Consumed>, Branch: Send> + Send + 'static)
    {
        let (created, event) = self.0.parts();
        let handler = self.1;
        // The handler is work, wherever the panic comes from: it may block.
        let event = event.wrap(Ok).wrap_handler(Err).wrap(move |matter| match matter {
            Ok(Matter::Plain(value)) => Matter::Plain(value),
            Ok(Matter::Work(work)) => Matter::Work(Box::new(move || caught(work).unwrap_or_else(handler))),
            Err(panic) => Matter::Work(Box::new(move || handler(panic))),
        });
        (created, event)
    }
}
