//! The scheduler kit: threads as values, for a scheduler that the program writes.
//!
//! A thread is an `async` block that makes **system calls**: it has a function called ([`nbio`], [`blio`]), starts
//! another thread ([`fork`]), lets others run ([`yield_`]), waits for a descriptor ([`epoll_wait`]), for bytes of a
//! file ([`aio_read`]) or a lock ([`lock`]), throws an exception ([`throw`]), or asks for something that its
//! scheduler has added ([`ask`]). What it will do, from where it is now on, is its [`Trace`]. [`Trace::step`] runs
//! it to its next call and hands that back as a value, a [`Call`], which owns the rest of the thread. A
//! scheduler is a loop that takes a trace from a queue, steps it, matches on the call, and puts the rest into some
//! queue: that of another kernel thread, of an event loop, of a pool.
//!
//! None of this needs the runtime: such a scheduler runs on plain kernel threads, on hosts, or on both. The idea
//! is that of *Combining Events and Threads for Scalable Network Services* (Li and Zdancewic, 2007), whose
//! threads are monads and whose traces are lazy lists.
//!
//! | in the thread | what the scheduler gets | what it does then |
//! |---|---|---|
//! | `nbio(f)`, `blio(f)` | [`Call::Nbio`], [`Call::Blio`] | [`Io::perform`] |
//! | `fork(thread)` | [`Call::Fork`] | two threads |
//! | `yield_()` | [`Call::Yield`] | others first |
//! | `ret()`, or the end | [`Call::Ret`] | nothing |
//! | `throw(e)`, `catch(..)` | [`Call::Throw`], [`Call::Catch`] | [`Throw::raise`] |
//! | `epoll_wait(fd, interest)` | [`Call::EpollWait`] | [`Epoll::add`], or [`EpollWait::ready`] |
//! | `aio_read(file, offset, buffer)` | [`Call::AioRead`] | [`Aio::add`], or [`AioRead::perform`] |
//! | `lock(m)`, `unlock(m)` | [`Call::Lock`], [`Call::Unlock`] | [`Lock::acquire`], [`Unlock::release`] |
//! | `ask(request)` | [`Call::Other`] | [`Other::downcast`], [`Asker::answer`] |
//! | `.await` of another future | [`Call::Await`] | [`Await::until_woken`] |
//! | `atomically_async(f).await`, the paper's `atomically` | none if it commits at once; after `retry` [`Call::Await`] | [`Await::until_woken`] |
//!
//! # Transactions
//! The paper's `atomically` is [`stm::atomically_async`](crate::stm::atomically_async): it needs nothing from a
//! scheduler unless it has to wait.
//! ```
//! use lamprey::stm::{TVar, atomically, atomically_async, check};
//! use lamprey::trace::{Call, Trace};
//! use std::sync::mpsc;
//!
//! let stock = TVar::new(0u32);
//! let theirs = stock.clone();
//! let trace = Trace::new(async move {
//!     let left = atomically_async(|tx| {
//!         check(theirs.get(tx)? >= 2)?;
//!         theirs.modify(tx, |n| n - 2)?;
//!         theirs.get(tx)
//!     });
//!     assert_eq!(left.await, 1);
//! });
//! let (ready, queue) = mpsc::channel();
//! let Call::Await(wait) = trace.step() else { panic!("it waits for two") };
//! assert!(wait.until_woken(move |rest| ready.send(rest).unwrap()).is_none());
//! atomically(|tx| stock.set(tx, 3));
//! assert!(matches!(queue.recv().unwrap().step(), Call::Ret));
//! ```
//!
//! # Examples
//! A scheduler for three of the calls, round-robin (the paper's Figure 11):
//! ```
//! use lamprey::trace::{Call, Trace, fork, nbio, yield_};
//! use std::collections::VecDeque;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! static SUM: AtomicU32 = AtomicU32::new(0);
//!
//! let mut ready = VecDeque::from([Trace::new(async {
//!     for n in 1..=10 {
//!         fork(async move {
//!             yield_().await;
//!             nbio(|| SUM.fetch_add(n, Ordering::Relaxed)).await;
//!         }).await;
//!     }
//! })]);
//! while let Some(trace) = ready.pop_front() {
//!     match trace.step() {
//!         Call::Nbio(io) => ready.push_back(io.perform()),
//!         Call::Fork { child, parent } => ready.extend([child, parent]),
//!         Call::Yield(rest) => ready.push_back(rest),
//!         Call::Ret => {}
//!         call => panic!("this scheduler does not know {call:?}"),
//!     }
//! }
//! assert_eq!(SUM.load(Ordering::Relaxed), 55);
//! ```

mod aio;
mod aio_read;
mod awaited;
mod call;
mod epoll;
mod exception;
mod io_call;
mod mutex;
mod other;
mod queue;
mod slot;
mod socket;
mod thread;
mod unit_call;
mod wait;

pub use self::aio::Aio;
pub use self::aio_read::{AioRead, AioReadCall, aio_read};
pub use self::awaited::Await;
pub use self::call::{Call, Descriptor, Exception};
pub use self::epoll::Epoll;
pub use self::exception::{Throw, ThrowCall, catch, or_throw, throw};
pub use self::io_call::{FunctionCall, Io, blio, nbio};
pub use self::mutex::{Lock, Mutex, Unlock, lock, unlock};
pub use self::other::{Ask, Asker, Other, Request, ask};
pub use self::queue::Queue;
pub use self::socket::{read, write_all};
pub use self::thread::Trace;
pub use self::unit_call::{Ret, UnitCall, fork, ret, yield_};
pub use self::wait::{EpollWait, EpollWaitCall, Interest, epoll_wait, when_ready};
