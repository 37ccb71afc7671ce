//! Receivers as [`Stream`](futures_core::Stream)s, senders as [`Sink`](futures_sink::Sink)s: [`IntoStream`] and [`IntoSink`].
//!
//! | of | `into_stream` gives |
//! |---|---|
//! | [`Receiver`](lamprey::Receiver), [`bounded`](lamprey::bounded::Receiver), [`unbounded`](lamprey::unbounded::Receiver), [`channel_of`](lamprey::channel_of::Receiver), [`mailbox`](lamprey::mailbox::Receiver), [`multicast`](lamprey::multicast::Receiver), [`actor::Inbox`](lamprey::actor::Inbox) | the values, until no sender is left |
//! | [`broadcast`](lamprey::broadcast::Receiver) | `Result`s: `Lagged` where some were missed |
//! | [`watch`](lamprey::watch::Receiver) | the value after each change; for the one before the first change, call `get` |
//! | [`rpc::Server`](lamprey::rpc::Server) | requests, each with its `Reply` |
//! | [`Interval`](lamprey::Interval) | the instants of the ticks, without end |
//! | [`Signals`](lamprey::signal::Signals), [`io::Lines`](lamprey::io::Lines), [`fs::ReadDir`](lamprey::fs::ReadDir) | `io::Result`s of signals, lines, entries |
//! | [`Async`](crate::Async) of a listener | `io::Result`s of connections |
//!
//! Each also of a reference, shared where receiving takes `&self` and exclusive elsewhere: the stream then borrows, and may be dropped and made
//! anew.
//!
//! Senders of all kinds of channels, and the addresses of actors, are sinks, by value and by reference.
//!
//! # Examples
//! ```
//! use futures::{SinkExt, StreamExt};
//! use lamprey_compat::stream::{IntoSink, IntoStream};
//!
//! lamprey::run(|| {
//!     let (tx, rx) = lamprey::bounded(2);
//!     let sender = lamprey::parasite(async move {
//!         let mut numbers = futures::stream::iter(1..=9).map(Ok);
//!         tx.into_sink().send_all(&mut numbers).await
//!     });
//!     let even = rx.into_stream().filter(|n| std::future::ready(n % 2 == 0));
//!     assert_eq!(lamprey::wait(even.collect::<Vec<_>>()), [2, 4, 6, 8]);
//!     sender.join().unwrap().unwrap();
//! });
//! ```
//!
//! # Cost
//! One allocation for each stream and each sink, and none for a value that is there. A value that has to be waited for costs what a wait of
//! each boxed future costs: a clone of the waker, in a box. `stream_in_place` and `sink_in_place` cost neither, and have to be pinned.

// | file | content |
// |---|---|
// | `receiving` | `IntoStream`, `ReceiverStream`: one future after the other, in one place |
// | `receivers`, `others` | for receivers of channels, and for what else gives values |
// | `sending`, `senders` | the same for sinks |

mod others;
mod receivers;
mod receiving;
mod senders;
mod sending;

pub use receiving::{IntoStream, Next, ReceiverStream};
pub use sending::{IntoSink, SenderSink};
