//! Lamprey: blocking code on millions of lightweight threads and a few kernel threads.
//!
//! A **host** is a thread with a stack of its own: it runs any Rust code and may block anywhere. Switching to
//! it costs a few nanoseconds, and keeping it one page of memory. **Workers** are the kernel threads that run
//! hosts.
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
//! The guide explains it chapter by chapter: `docs/guide`, from `introduction.md` on.
//!
//! | to do | use |
//! |---|---|
//! | start a program, write a test | [`#[lamprey::main]`](macro@main), [`#[lamprey::test]`](macro@test) |
//! | run hosts | [`run`], [`run_with`], [`Runtime`], [`RuntimeBuilder`], [`Handle`] |
//! | start one, wait for it | [`spawn`], [`Builder`], [`JoinHandle`] |
//! | asynchronous computations that start at once: parasites | [`parasite`](fn@parasite), [`parasite_fn`], module [`mod@parasite`] |
//! | wait for any future, from blocking code | [`wait`] |
//! | communicate | [`channel`]; [`bounded`](mod@bounded), [`unbounded`](mod@unbounded), [`channel_of`](mod@channel_of), [`mailbox`](mod@mailbox), [`oneshot`](mod@oneshot), [`broadcast`](mod@broadcast), [`watch`](mod@watch), [`multicast`](mod@multicast), [`rpc`](mod@rpc), [`IVar`], [`MVar`](mod@mvar), [`SwapChannel`](mod@swap) |
//! | choose between communications | [`select!`], [`select_async!`], [`event`] |
//! | sockets, names, servers | [`net`] |
//! | files and directories | [`fs`] |
//! | standard input and output, pipes, descriptors of your own | [`mod@io`] |
//! | processes: children, their pipes and their ends | [`process`] |
//! | Ctrl-C and other signals | [`signal`] |
//! | calls that can only block | [`block`], [`try_block`], [`block_timeout`] |
//! | long computations | [`compute`] |
//! | time | [`sleep`], [`sleep_until`], [`sleep_async`], [`interval`], [`RateLimiter`], [`with_timeout`], [`with_deadline`], [`event::timeout`], the `*_timeout` calls |
//! | threads that end with the block that started them | [`scope()`], [`scope`](mod@scope) |
//! | hosts that own their state and are sent messages; that are started again when they fail | [`actor`], [`scope::Supervisor`] |
//! | end something early | [`JoinHandle::cancel`], [`with_timeout`], [`CancelToken`], [`shield`], [`Runtime::shutdown`] |
//! | locks, semaphores, barriers | [`sync`] |
//! | several variables changed at once | [`stm`] |
//! | a test of all that, with its network and clock, under a seed | [`sim`] |
//! | a value for each host | [`host_local!`] |
//! | replace the scheduler, add an event loop | [`Policy`], module [`policy`], [`Source`], [`suspend`] |
//! | write a scheduler | [`trace`] |
//!
//! # What to know before you use it
//! * A started host never changes its kernel thread, so it may keep references to thread-locals and values
//!   that are not `Send` across blocking calls. The thread-locals are those of the kernel thread, shared with
//!   the worker's other hosts: see *Unsound corners*. Idle workers steal hosts that have not started, so what
//!   moves into a host must be `Send`.
//! * Scheduling is cooperative. A host gives its worker up in calls of this crate that may block: whenever
//!   they wait, and every so often when they need not, such as the `recv` of a channel that always has
//!   something, the `lock` of a free [`sync::Mutex`], or the read of a file in memory. A host that only tries
//!   or looks (`try_recv` in vain, `try_lock`, `is_closed`, `len`, `is_cancelled`; a future that it polls by hand), again and
//!   again for more than 2 ms, yields too. Calls that never wait, change something and
//!   succeed (the `send` of a channel without a bound, `try_send`, `try_recv`, [`spawn`], the join of a parasite that has ended at
//!   once) do not yield, except for one join of a parasite every few milliseconds. A host that computes for
//!   long without such calls holds up the others that have started on its worker (an idle worker runs those
//!   that can run elsewhere, within about a millisecond); give such work to [`compute`].
//! * A lock of `std` held across a call that may block, whether it does or not, blocks the whole worker when
//!   another of its hosts wants the lock; so does a loop that tries without success, or only looks. Use the locks of
//!   [`sync`] there. A thread-local's `RefCell` must not stay borrowed across such a call either.
//! * A call that would block while its host is unwinding fails instead.
//! * The destructors of a kernel thread's `thread_local!`s may call this crate in any order, and block. They run outside
//!   of hosts, where the calls that start a thread beside the caller, such as [`spawn`] and [`parasite`](fn@parasite), panic; those of a
//!   [`Handle`], and [`Builder::spawn`], which returns an error, do not. (With [`std::process::exit`] see *Unsound corners*.)
//! * A child made by `fork` has none of its parent's threads: it must not use the channels and locks on which threads of the parent
//!   wait, and its parent's runtimes end there: they start nothing, and dropping them does nothing. It may start a runtime of its own, use
//!   all calls outside of runtimes, and use or drop the sockets, listeners and files that it has from its parent; the parent does not notice.
//!   What is buffered or received ahead stays with the parent. A host that calls `fork` is a plain OS thread in the child,
//!   which must end by [`std::process::exit`] or `exec`, not by a return from the host. As with `std`, fork before other threads
//!   run, or only to `exec`: a lock that one of them holds for a moment (the allocator's, `std`'s, this crate's, a socket's that both use) stays
//!   locked in the child for ever.
//! * A host that overflows its stack ends the process with a message; see [`Builder::stack_size`].
//! * `std`'s reentrant locks, such as [`stdout().lock()`](std::io::Stdout::lock), belong to the kernel
//!   thread: they do not exclude the other hosts of the same worker. Write output that must not be
//!   interleaved with one `println!`, or under a [`sync::Mutex`].
//! * Code of the program that the runtime calls ([`Policy`], [`Source`], [`Notifier`], wakers) must not
//!   block or panic, nor may its destructors: that ends the process, with a message that names the code. So does a generator of
//!   `swapstack` that is suspended within a scope, time limit, token, [`shield`] or [`HostLocal::with`].
//!
//! # Unsound corners
//! Code that is sound on kernel threads may assume that the calls of a thread end in the reverse order of
//! their beginning, and that nothing else runs on the thread during a call. Hosts of one worker break that
//! assumption for everything that is kept **for each kernel thread**, and no library can prevent it: `std`'s
//! thread-locals are safe to use, and blocking is a function call. With the following, safe code can read
//! freed memory or obtain an exclusive reference twice. None of it is needed with Lamprey.
//!
//! * **A `thread_local!` whose initialiser blocks**, or makes any other call at which a host may yield (see
//!   *What to know before you use it*). While one host initialises it, another host of the worker finds it
//!   uninitialised and does the same; the second value replaces the first, to which references exist.
//!   Initialise without such calls, or use [`host_local!`] or [`sync::OnceLock`].
//! * **Crates that set a thread-local for the duration of a call** and rely on it ("scoped" thread-locals; an
//!   "entered" context whose guard restores the previous value). If that call blocks, other hosts see the
//!   value, and restore theirs in another order. The crate's own unsafe code may rely on that being
//!   impossible.
//! * **Unsafe code that takes "one call at a time on this kernel thread" for exclusive access** (a `static`
//!   cell in a thread-local, of which a reference is taken for a call that runs code of yours). If that code
//!   blocks, another host gets a second reference. `RefCell` and `Cell` are fine: they check, or give no
//!   references.
//! * **[`std::process::exit`] in a host**, with thread-locals on its kernel thread whose destructors block:
//!   other hosts then run with thread-locals that have been destroyed. Return from `main`, or let a kernel
//!   thread do it: `std::thread::spawn(|| std::process::exit(0)).join()`.
//!   Nor may another thread call it while a signal with a handler comes for the first thread: `std` has unmapped that
//!   one's stack for handlers by then.
//! * **Coroutines of other crates** (any safe interface that switches stacks) that are suspended within a
//!   call of this crate that takes a closure, and then resumed on another thread, or leaked. Those of
//!   `swapstack` are checked; most misuse of others is detected when the call ends, and ends the process.
//! * **A borrow of a thread-local by [`LocalKey::with`](std::thread::LocalKey::with) in a generator or
//!   coroutine** that is suspended there and outlives the kernel thread of that thread-local.

// The checker builds only the protocols; what only the scheduler uses of them is unused there.
#![cfg_attr(loom, allow(dead_code))]

pub(crate) mod bias;
mod bug;
mod cancel;
pub(crate) mod channel;
pub(crate) mod driver;
pub mod event;
mod events;
pub(crate) mod kernel;
pub(crate) mod memory;
pub(crate) mod queue;
pub(crate) mod sched;
pub(crate) mod sleep;
pub mod stm;
pub mod sync;
pub(crate) mod sync_shim;
pub(crate) mod thread;
pub(crate) mod time;
pub(crate) mod world;

#[cfg(not(loom))]
pub mod actor;
#[cfg(not(loom))]
pub mod fs;
#[cfg(not(loom))]
pub mod io;
#[cfg(not(loom))]
pub mod net;
#[cfg(not(loom))]
mod overflow;
#[cfg(not(loom))]
mod pace;
#[cfg(not(loom))]
pub mod parasite;
/// The part that the checker builds.
#[cfg(loom)]
pub(crate) mod parasite {
    pub(crate) mod reify;
    pub(crate) use crate::sched::worker::wait;
}
#[cfg(not(loom))]
pub mod inspect;
#[cfg(not(loom))]
pub mod process;
#[cfg(not(loom))]
mod runtime;
#[cfg(not(loom))]
pub mod scope;
#[cfg(not(loom))]
pub mod signal;
#[cfg(not(loom))]
pub mod sim;
#[cfg(not(loom))]
pub mod trace;
/// The part that the checker builds.
#[cfg(loom)]
pub(crate) mod signal {
    pub(crate) mod pending;
}
/// The part that the checker builds.
#[cfg(loom)]
pub(crate) mod scope {
    pub(crate) mod state;
}

#[cfg(all(test, loom))]
mod model;

/// The README's programs, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(doctest)]
mod guide;

pub use channel::{
    IntoIter, Iter, Receiver, RecvError, RecvEvt, RecvTimeoutError, SendError, SendEvt, SendTimeoutError,
    Sender, TryIter, TryRecvError, TrySendError, bounded, channel, oneshot,
};
pub use sched::Wait;

/// What the macros expand to.
#[cfg(not(loom))]
#[doc(hidden)]
pub mod __select {
    #[cfg(not(feature = "macros"))]
    pub use crate::__select_error as error;
    pub use crate::events::select::{Arms, NoArms, Or, any};
    pub use crate::events::{Event, choose, future_evt, prefer};
    pub use crate::sleep::with_timeout_async;
    #[cfg(feature = "macros")]
    pub use lamprey_macros::select_error as error;
}

/// What the attributes expand to.
#[cfg(not(loom))]
#[doc(hidden)]
pub mod __start {
    pub use crate::runtime::start::main;
    pub use crate::runtime::testing::{Simulations, Test, builder, limit};
}

#[cfg(all(not(loom), feature = "macros"))]
pub use runtime::{main, test};

#[cfg(not(loom))]
pub use {
    cancel::{is_cancelled, shield, with_deadline, with_timeout},
    channel::{
        MVar, Receives, Sends, SwapChannel, broadcast, channel_attach_inline, channel_of, mailbox, multicast,
        mvar, rpc, swap, unbounded, watch,
    },
    driver::{
        Io, PoolFull, block, block_async, block_timeout, compute, compute_async, try_block, try_block_async,
    },
    events::calls::{block_evt, compute_evt},
    pace::{Interval, MissedTicks, RateLimiter, interval, interval_at},
    parasite::{ParasiteHandle, parasite, parasite_fn, parasite_fn_local, parasite_local, wait},
    runtime::{Runtime, RuntimeBuilder, run, run_with},
    sched::policy::{self, Hybrid, Policy, Ready, Unstarted, Why},
    sched::source::{Helper, Notifier, Source},
    sched::stats::{Stats, ThreadPoolStats},
    scope::{CancelToken, Cancelled, Scope, scope},
    sleep::{
        Sleep, sleep, sleep_async, sleep_until, sleep_until_async, with_deadline_async, with_timeout_async,
    },
    sync::ivar::{self, IVar},
    thread::Handle,
    thread::{
        Abandoned, Builder, Closure, HostLocal, JoinError, JoinHandle, JoinedThread, NoStack, Panic, Panics,
        Stack, Survivor, ThreadInfo, ThreadKind, WakeToken, YieldNow, current, spawn, suspend, suspend_async,
        yield_now, yield_now_async,
    },
    time::TimedOut,
};
