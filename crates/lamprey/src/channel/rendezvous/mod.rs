//! The rendezvous channel: a sender and a receiver meet, and the value moves. On a [swap channel](super::swap) two swappers meet, and
//! the values change places.
//!
//! | file | what |
//! |---|---|
//! | `wait_node` | what a waiting thread or future shows to its peer: a word and a place for the value |
//! | `wait_queue` | how a sender and a receiver find each other: one word, changed in one atomic step |
//! | `deal` | the meeting itself: moves the value and wakes the peer |
//! | `exchange` | the channel, and a send or a receive as a call |
//! | `future` | a send or a receive as a future |
//! | `offer` | a send or a receive as an event |
//! | `ends` | the public ends |
//!
//! # Why a call is no future
//! All three share the wait queue and `deal`, which moves the value and wakes the peer; they differ in where
//! the operation is between arrival and end. A call has it in registers and on its stack: what comes next is
//! the next line, and its node goes with its frame. A future keeps it in a field, because each poll starts
//! anew, and has to be ready to be dropped in between. An offer must not take a peer before its choice has. A
//! host that makes each call as a future and waits for it pays about ten times as much for a message
//! (`lamprey-bench run pingpong`, variant `awaited`).

mod deal;
mod ends;
mod exchange;
mod future;
mod offer;
pub(super) mod wait_node;
mod wait_queue;

#[cfg(not(loom))]
pub use ends::channel_attach_inline;
pub(crate) use ends::channel_for_once;
pub(super) use ends::full;
pub use ends::{IntoIter, Iter, Receiver, Sender, TryIter, channel};
pub(super) use exchange::{Chan, Ended};
#[cfg(not(loom))]
pub(super) use future::Exchange;
pub(super) use offer::{End, Offer};
pub use offer::{RecvEvt, SendEvt};
pub(crate) use wait_node::{At, NodeHead, NodeState, WaitNode};
pub(super) use wait_queue::Side;
pub(crate) use wait_queue::slot;
