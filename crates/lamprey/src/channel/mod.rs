//! Channels. One file for each kind; so far: rendezvous.
//!
//! [`rendezvous`] is the public face, [`meeting`] the protocol by which two threads find each other, [`err`] what can
//! go wrong.

mod err;
mod meeting;
mod rendezvous;

pub use err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub use rendezvous::{IntoIter, Iter, Receiver, Sender, TryIter, channel};
