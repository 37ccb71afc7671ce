//! Events: communications as first-class values (Concurrent ML; parasitic-threads-2011, 1 and 2.3.2; Reppy, Russo, Xiao 2009).
//!
//! A *channel operation* does something now. An [`Event`] is a value that stands for it: it can be kept, passed on, put together
//! with others, and nothing happens before a thread *synchronises* on it, with [`sync`](Event::sync) or `.await`. That is what lets
//! a program build "receive from whichever of these is first, but give up after a second, and tell the server if so" as a function
//! that others can use like a plain receive.
//!
//! `algebra` is how events are made and combined, `protocol` how one of many wins. The guide is `docs/events.md`.
//!
//! # Asynchronous events
//! An [`AsyncEvent`] is begun by [`a_sync`](AsyncEvent::a_sync), which does not wait, and goes on by itself. What one thread sends on one
//! channel arrives in the order of its calls, whether it waits for its sends or not.

pub(crate) mod algebra;
#[cfg(not(loom))]
mod asynchronous;
#[cfg(not(loom))]
mod ends;
pub(crate) mod protocol;

pub use algebra::{
    Always, BoxedEvent, Choose, ChooseAll, Event, Events, Guard, Nack, Never, WithNack, Wrap, always, choose,
    choose_all, guard, never, prefer, with_nack,
};
#[cfg(not(loom))]
pub use algebra::{At, FutureEvt, TriedEvt, at, future_evt, timeout};
#[cfg(not(loom))]
pub use asynchronous::{
    AChoose, AGuard, AWrap, AsyncEvent, AsyncEvents, Pending, SWrap, Spawned, a_choose, a_guard, spawn_evt,
};
pub use protocol::Synced;
