//! The implementation of [`event`](crate::event): `algebra` has the constructors and combinators of events,
//! `protocol` the commit of one among many offers, `asynchronous` the events that are started without
//! waiting. (`with_nack` is built on a channel: `channel/nack.rs`.)

pub(crate) mod algebra;
#[cfg(not(loom))]
mod asynchronous;
#[cfg(not(loom))]
pub(crate) mod calls;
#[cfg(not(loom))]
mod ends;
pub(crate) mod protocol;
#[cfg(not(loom))]
pub(crate) mod select;

pub use algebra::{
    Always, BoxedEvent, Choose, ChooseAll, Event, Events, Guard, Never, Wrap, WrapHandler, always, choose,
    choose_all, guard, never, prefer,
};
#[cfg(not(loom))]
pub use algebra::{At, FutureEvt, TriedEvt, at, future_evt, timeout};
#[cfg(not(loom))]
pub use asynchronous::{
    AChoose, AGuard, ATrans, AWrap, AWrapHandler, AsyncEvent, AsyncEvents, Pending, SWrap, SWrapHandler,
    SpawnFn, Spawned, a_choose, a_guard, spawn_evt,
};
pub use protocol::Synced;
