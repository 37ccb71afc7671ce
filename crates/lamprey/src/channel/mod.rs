//! Channels. One file for each kind; so far: rendezvous.
//!
//! [`rendezvous`] is the public face, [`exchange`] what a send or receive does (`future`: its awaitable form), [`meeting`] the
//! protocol by which two threads find each other, [`party`] what a waiting one shows to the other, [`offer`] both as events, [`err`] what can go wrong.

mod err;
mod exchange;
mod future;
mod meeting;
mod offer;
mod party;
mod rendezvous;

pub use err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub use offer::{RecvEvt, SendEvt};
#[cfg(not(loom))]
pub use rendezvous::channel_attach_inline;
pub use rendezvous::{IntoIter, Iter, Receiver, Sender, TryIter, channel};
