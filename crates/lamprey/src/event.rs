//! Events: communications as first-class values (Concurrent ML; Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
//! *Lightweight Asynchrony Using Parasitic Threads*, 2011, 1 and 2.3.2; Reppy,
//! Russo, Xiao 2009).
//!
//! A *channel operation* takes effect when it is called. An [`Event`] is a value that describes one: it can
//! be stored, passed on and combined with others, and nothing happens until a thread *synchronises* on it,
//! with [`sync`](Event::sync) or `.await`. A program can thus build "receive from whichever of these is ready
//! first, but give up after a second, and then notify the server" as a function that others use like a plain
//! receive.
//!
//! The guide is `docs/guide/events.md`.
//!
//! # Asynchronous events
//! [`a_sync`](AsyncEvent::a_sync) starts an [`AsyncEvent`] without waiting for it. What one thread sends on
//! one channel arrives in the order of its calls, whether it waits for its sends or not.

#[cfg(not(loom))]
pub use crate::channel::callback::{Callback, CallbackEvt, callback};
pub use crate::channel::nack::{Nack, WithNack, with_nack};
pub use crate::events::Synced;
#[cfg(not(loom))]
pub use crate::events::{
    AChoose, AGuard, ATrans, AWrap, AWrapHandler, AsyncEvent, AsyncEvents, Pending, SWrap, SWrapHandler,
    SpawnFn, Spawned, a_choose, a_guard, spawn_evt,
};
pub use crate::events::{
    Always, BoxedEvent, Choose, ChooseAll, Event, Events, Guard, Never, Wrap, WrapHandler, always, choose,
    choose_all, guard, never, prefer,
};
#[cfg(not(loom))]
pub use crate::events::{At, FutureEvt, TriedEvt, at, future_evt, timeout};
