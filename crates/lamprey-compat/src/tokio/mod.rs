//! tokio's context on Lamprey's threads: crates that insist on tokio run there, unchanged.
//!
//! [`tokio`](tokio()) makes a future that is polled by Lamprey, or by any other executor, while the calls of the future find a runtime
//! of tokio: its timers, its sockets, its `spawn`. The runtime is started when it is first needed. It has one kernel thread, which
//! waits for sockets and timers, wakes those who wait for them, and runs what is given to `tokio::spawn`.
//!
//! ```
//! use std::time::Duration;
//!
//! lamprey::run(|| {
//!     // From blocking code.
//!     let word = lamprey_compat::tokio(async {
//!         tokio::time::sleep(Duration::from_millis(1)).await;
//!         "blocking"
//!     });
//!     assert_eq!(word.wait(), "blocking");
//!     // From async code, on a parasite.
//!     let parasite = lamprey::parasite(lamprey_compat::tokio(async {
//!         tokio::time::timeout(Duration::from_millis(1), std::future::pending::<()>()).await.is_err()
//!     }));
//!     assert!(parasite.join().unwrap());
//! });
//! ```
//!
//! The argument is the future, and what needs the context is called within it: `tokio(tokio::time::sleep(d))` calls `sleep` before
//! anything is entered, and panics on a kernel thread that has not polled such a future before; `tokio(async { sleep(d).await })` does
//! not. Write the whole path, `lamprey_compat::tokio(..)`: an import of that name hides the crate `tokio`.
//!
//! # What runs where
//!
//! | the code | runs |
//! |---|---|
//! | the future, its destructors, and what it calls | on the thread that polls it: a host in `wait`, a parasite on its worker |
//! | `tokio::spawn` | on tokio's thread. A task there that blocks holds up all timers and sockets of tokio: it uses `_async` forms |
//! | `tokio::task::spawn_blocking`, `tokio::fs`, names of hosts | on threads of tokio's pool for blocking calls |
//! | `tokio::task::block_in_place(f)` | `f` runs at once, where it was called. A host may block in it, its worker goes on |
//! | `tokio::task::spawn_local` | panics, as outside of a `LocalSet`; `lamprey::parasite_local` does what it is for |
//! | `LocalSet::run_until(f)` | its tasks run where the future is polled, and must not block the host |
//! | `Handle::block_on(f)`, `Runtime::block_on(f)` | `f` is polled where it was called, and the **whole worker** waits for it. Use [`Tokio::wait`] |
//!
//! A host may block in the middle of a poll, by any call of Lamprey. Only not where tokio has set a scoped thread-local, because the other
//! hosts of the worker would see it, and set it back in another order: in the `scope` of a `tokio::task_local!`, in a task of a
//! `LocalSet`, in `block_on`. There, use `.await`.
//!
//! # How it is done
//!
//! tokio finds its runtime through a thread-local of the kernel thread. `Handle::enter` sets it, and its guard sets it back; tokio
//! panics if guards end in another order than they began, and hosts that share a kernel thread would end theirs in any order. So the
//! context is entered once on each kernel thread that polls such a future, and stays: its guard is forgotten. That is sound, because
//! a started host never changes its kernel thread. What tokio sets and sets back
//! by itself, as `Runtime::block_on` does, goes back to this context.
//!
//! A kernel thread that has a context already (a task of tokio's own polls the future) keeps that one.
//!
//! Within the future tokio's cooperative budget is off where Lamprey polls, as it is on every thread outside of tokio's tasks. So a loop
//! over operations of `tokio::sync` that are always ready does not give way: put a [`lamprey::yield_now_async`] into it.
//!
//! # What it costs
//! About 10 ns for each poll. A wait that is ended by tokio's thread costs a wake across kernel threads, some microseconds
//! (`interop/examples/tokio_cost.rs` measures both; the guide's chapter *Crates that need tokio* has figures).
//!
//! # Panics
//! If the runtime cannot be started, the poll panics with the reason. To have that as an error, call [`handle`] first.
//!
//! # The end of the process
//! Nothing ends the runtime but the end of the process: its tasks are not dropped then, as with threads of `std`. In a child made by
//! `fork` without `exec` tokio's thread is missing, and nothing that waits for it is woken.
//!
//! # In a simulation
//! tokio's thread is outside of it: a run that waits for its timers or sockets cannot be replayed, and fails with the report of a
//! deadlock if the wake does not come at once.

mod context;

pub use context::{RuntimeIsSet, enter, handle, set_runtime};

use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// A future that is polled in tokio's context; see the [module](self).
///
/// Nothing happens before it is polled. A constructor that asks for the context belongs into the future.
///
/// # Examples
/// ```
/// use tokio::net::{TcpListener, TcpStream};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// lamprey::run(|| {
///     let said = lamprey_compat::tokio(async {
///         let listener = TcpListener::bind("127.0.0.1:0").await?;
///         let address = listener.local_addr()?;
///         // A task on tokio's thread.
///         tokio::spawn(async move { TcpStream::connect(address).await?.write_all(b"hello").await });
///         let mut text = String::new();
///         listener.accept().await?.0.read_to_string(&mut text).await?;
///         std::io::Result::Ok(text)
///     });
///     assert_eq!(said.wait().unwrap(), "hello");
/// });
/// ```
///
/// # Panics
/// The poll panics if tokio's runtime cannot be started.
///
/// # Cancellation
/// Whoever drops the future ends it. Its destructors find the context, too. What it has given to `tokio::spawn` goes on, as there.
pub fn tokio<F: Future>(future: F) -> Tokio<F> {
    Tokio { future }
}

pin_project! {
    /// What [`tokio`](tokio()) returns.
    #[must_use = "a future does nothing before it is polled: `.wait()` or `.await`"]
    #[derive(Debug)]
    pub struct Tokio<F> {
        #[pin]
        future: F,
    }

    impl<F> PinnedDrop for Tokio<F> {
        fn drop(this: Pin<&mut Self>) {
            // The future is dropped after this: destructors of sqlx and others call `Handle::current`.
            context::enter_if_started();
        }
    }
}

impl<F: Future> Tokio<F> {
    /// Blocks the calling thread until the future is ready: [`lamprey::wait`].
    ///
    /// # Panics
    /// With the future's own panic, and if tokio's runtime cannot be started; on a host that is unwinding, if the future is not ready at
    /// once.
    ///
    /// # Cancellation
    /// A cancelled thread drops the future and unwinds from here.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. Not in a task of tokio: there, `.await` it.
    pub fn wait(self) -> F::Output {
        lamprey::wait(self)
    }
}

impl<F: Future> Future for Tokio<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        enter();
        let future = self.project().future;
        if context::is_ours() {
            // Hosts that block in the middle of a poll may set back tokio's budget in any order. One that stays exhausted would let
            // no future of tokio become ready.
            pin!(::tokio::task::coop::unconstrained(future)).poll(cx)
        } else {
            future.poll(cx)
        }
    }
}
