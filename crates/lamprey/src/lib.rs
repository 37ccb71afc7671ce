//! Lamprey: plain blocking code, millions of threads of control, a few kernel threads.
//!
//! A **host** is a thread with a stack of its own: it runs any Rust code and blocks anywhere, and costs a few
//! nanoseconds to switch to and one page of memory to keep. **Workers** are the kernel threads that run hosts.
//!
//! ```
//! lamprey::run(|| {
//!     let (tx, rx) = lamprey::channel();
//!     for n in 0..100u64 {
//!         let tx = tx.clone();
//!         lamprey::spawn(move || tx.send(n * n).unwrap()); // blocks this host only
//!     }
//!     drop(tx);
//!     assert_eq!(rx.iter().sum::<u64>(), 328_350);
//! });
//! ```
//!
//! | to do | use |
//! |---|---|
//! | run hosts | [`run`], [`Runtime`], [`Handle`] |
//! | start one, wait for it | [`spawn`], [`Builder`], [`JoinHandle`] |
//! | communicate | [`channel`]; [`bounded`](mod@bounded), [`mailbox`](mod@mailbox), [`oneshot`](mod@oneshot), [`broadcast`](mod@broadcast), [`watch`](mod@watch), [`multicast`](mod@multicast), [`rpc`](mod@rpc), [`IVar`], [`MVar`], [`SwapChannel`] |
//! | choose between communications | [`event`] |
//! | sockets and files | [`net`], [`fs`] |
//! | calls that can only block | [`block`] |
//! | time | [`sleep`], the `*_timeout` calls |
//! | threads that end with the block that started them | [`scope()`], [`scope`](mod@scope) |
//! | end something early | [`JoinHandle::cancel`], [`with_timeout`], [`CancelToken`], [`shield`], [`Runtime::shutdown`] |
//! | locks, semaphores, barriers | [`sync`] |
//! | a value for each host | [`host_local!`] |
//! | replace the scheduler, add an event loop | [`Policy`], [`Source`], [`suspend`] |
//!
//! # What to know before trusting it
//! * A host that has started never changes its kernel thread, so thread-locals, `errno` and values that are not `Send`
//!   behave as on a kernel thread. Hosts that have not started are taken by idle workers, so what moves into a host must
//!   be `Send`.
//! * Hosts of one worker take turns at blocking calls only. A host that computes for long holds up the others of its
//!   worker; give such work to [`block`].
//! * A lock of `std` held across a blocking call blocks the whole worker when another of its hosts wants it.
//! * Crates that rely on last-in-first-out nesting of scoped thread-locals see other hosts' scopes in between.
//! * A call that would block while its host is unwinding fails instead.
//! * A host that outgrows its stack ends the process with a message; see [`Builder::stack_size`].

// Under the checker only the protocols are built; what only the scheduler uses of them is idle there.
#![cfg_attr(loom, allow(dead_code))]

#[cfg(not(loom))]
pub(crate) mod awaitable;
mod bug;
pub(crate) mod channel;
pub mod event;
pub(crate) mod queue;
pub(crate) mod sched;
pub mod sync;
pub(crate) mod sync_shim;
pub(crate) mod thread;
pub(crate) mod time;

#[cfg(not(loom))]
pub mod fs;
#[cfg(not(loom))]
mod io;
#[cfg(not(loom))]
pub mod net;
#[cfg(not(loom))]
mod overflow;
#[cfg(not(loom))]
pub mod parasite;
#[cfg(not(loom))]
pub mod process;
#[cfg(not(loom))]
mod runtime;
#[cfg(not(loom))]
pub mod scope;

#[cfg(all(test, loom))]
mod model;

/// The README's programs, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Those of the chapter on parasites.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/parasites.md")]
struct Parasites;

/// Those of the chapter on events.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/events.md")]
struct Events;

/// Those of the chapter on how threads end.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/threads-that-end-well.md")]
struct ThreadsThatEndWell;

pub use channel::{
    IntoIter, Iter, Receiver, RecvError, RecvEvt, RecvTimeoutError, SendError, SendEvt, SendTimeoutError,
    Sender, TryIter, TryRecvError, TrySendError, bounded, channel, oneshot,
};
pub use sched::Wait;

#[cfg(not(loom))]
pub use {
    channel::{
        IVar, MVar, NotNow, SwapChannel, broadcast, channel_attach_inline, mailbox, multicast, rpc, watch,
    },
    io::{block, block_async},
    parasite::{ParasiteHandle, parasite, parasite_fn, parasite_fn_local, parasite_local, wait},
    runtime::{Handle, Runtime, RuntimeBuilder, run},
    sched::policy::{Hybrid, Policy, Ready, Unstarted, Why},
    sched::source::{Notifier, Source},
    sched::stats::Stats,
    scope::{CancelToken, Cancelled, Scope, scope},
    thread::{
        Abandoned, Builder, HostLocal, JoinError, JoinHandle, Panic, Panics, Stack, Survivor, ThreadInfo,
        ThreadKind, WakeToken, YieldNow, current, is_cancelled, shield, spawn, suspend, yield_now,
        yield_now_async,
    },
    time::{Sleep, TimedOut, sleep, sleep_async, with_deadline, with_timeout, with_timeout_async},
};
