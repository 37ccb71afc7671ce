//! Channels. One file for each kind.
//!
//! | kind | values kept | senders, receivers | a send waits for |
//! |---|---|---|---|
//! | [`rendezvous`] | none | many, many | a receiver |
//! | [`bounded`](mod@bounded) | n | many, many | a free slot |
//! | `unbounded` | all | many, many | nothing |
//! | `mailbox` | all | many, one | nothing |
//! | [`oneshot`](mod@oneshot) | one, once | one, one | nothing |
//! | `broadcast` | the last n, for each receiver | many, many | nothing; a slow receiver learns what it missed |
//! | `multicast` | all, for each receiver | many, many | nothing |
//! | `watch` | the last | many, many | nothing |
//! | `mvar` | one | any thread | that it is empty |
//! | `swap` | none | any thread | a partner |
//! | `rpc` | none | many, many | the reply |
//!
//! `swap` is a rendezvous whose sides are one, `rpc` is built on it, all others but the oneshot on [`gate`].
//! When the last sender is gone, receivers get what is kept and then an error. When the last receiver is
//! gone, sends fail and give the value back. In both cases all threads that wait are woken. `close` does the same while both
//! sides are there. `sends` has what all kinds have in common, `channel_of` chooses the kind by a number. (`IVar`, a value
//! that is written once, is in `sync`.)
//!
//! [`err`] has the errors of all kinds.

#[cfg(not(loom))]
mod asynchronous;
pub mod bounded;
#[cfg(not(loom))]
pub mod broadcast;
#[cfg(not(loom))]
pub(crate) mod callback;
#[cfg(not(loom))]
pub mod channel_of;
#[cfg(not(loom))]
mod chunks;
#[cfg(not(loom))]
mod ends_of_kinds;
mod err;
pub(crate) mod gate;
mod iter;
#[cfg(not(loom))]
pub mod mailbox;
#[cfg(not(loom))]
pub mod multicast;
#[cfg(not(loom))]
pub mod mvar;
pub(crate) mod nack;
pub mod oneshot;
#[cfg(not(loom))]
mod owned;
mod rendezvous;
#[cfg(not(loom))]
pub mod rpc;
#[cfg(not(loom))]
mod sends;
pub mod swap;
#[cfg(not(loom))]
pub mod unbounded;
#[cfg(not(loom))]
pub mod watch;

pub use bounded::bounded;
#[cfg(not(loom))]
pub use broadcast::broadcast;
#[cfg(not(loom))]
pub use channel_of::channel_of;
pub use err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub(crate) use gate::PendingWake;
#[cfg(not(loom))]
pub use mailbox::mailbox;
#[cfg(not(loom))]
pub use multicast::multicast;
#[cfg(not(loom))]
pub use mvar::MVar;
pub use oneshot::oneshot;
#[cfg(not(loom))]
pub use rendezvous::channel_attach_inline;
pub(crate) use rendezvous::{At, NodeHead, NodeState, WaitNode, channel_for_once, slot};
pub use rendezvous::{IntoIter, Iter, Receiver, RecvEvt, SendEvt, Sender, TryIter, channel};
#[cfg(not(loom))]
pub use rpc::rpc;
#[cfg(not(loom))]
pub use sends::{Receives, Sends};
#[cfg_attr(loom, allow(unused_imports, reason = "of the models' own kinds only its model uses it"))]
pub use swap::SwapChannel;
#[cfg(not(loom))]
pub use unbounded::unbounded;
#[cfg(not(loom))]
pub use watch::watch;
