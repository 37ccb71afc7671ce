//! Servers: a host for each connection of a listener.
//!
//! | file | what |
//! |---|---|
//! | this one | [`Serving`], how a listener serves, and what stops it |
//! | `accepting` | the loop that accepts, and the host of a connection |
//! | `listener` | what a listener has for it |
//! | `load` | on which worker a connection is served |
//! | `held_up` | why new connections wait |
//!
//! One thread accepts and hands each connection over to the worker that serves the fewest; `docs/rationale.md` says
//! why it is not one for each worker.

mod accepting;
mod held_up;
pub(in crate::net) mod listener;
mod load;

pub use held_up::HeldUp;
pub use listener::Listener;
pub(super) use listener::serves;

use self::accepting::Server;
use self::held_up::{Observer, Reports};
use self::load::WorkerLoad;
use crate::io::closed::is_closed;
use crate::sched;
use crate::scope::{CancelToken, Cancelled, Scope};
use crate::sync::Semaphore;
use crate::thread::{Builder, Handle};
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// How a listener serves: what its `serving` returns, to be set up and then started by [`serve`](Self::serve).
///
/// # Examples
/// At most a thousand connections at once; when `stop` is cancelled, those that are open have ten seconds left:
/// ```
/// use lamprey::{CancelToken, net::{TcpListener, TcpStream}, scope};
/// use std::{io::{Read, Write}, time::Duration};
///
/// lamprey::run(|| -> std::io::Result<()> {
///     let listener = TcpListener::bind("127.0.0.1:0")?;
///     let (address, stop) = (listener.local_addr()?, CancelToken::new());
///     scope(|s| {
///         s.spawn(|| {
///             let mut text = String::new();
///             TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
///             assert_eq!(text, "hello");
///             stop.cancel();
///         });
///         let serving = listener.serving().limit(1000).until(&stop).finish_within(Duration::from_secs(10));
///         serving.serve(s, |mut stream, _| stream.write_all(b"hello").unwrap())
///     })
/// })?;
/// # std::io::Result::Ok(())
/// ```
#[must_use = "it serves nobody before `serve`"]
pub struct Serving<'a, L> {
    listener: &'a L,
    limit: usize,
    until: Option<CancelToken>,
    finish_within: Option<Duration>,
    builder: Builder,
    runtime: Option<Handle>,
    shared: Option<Arc<Semaphore>>,
    observer: Option<Observer<'a>>,
    /// Where the connections' hosts say that they were spawned.
    site: &'static Location<'static>,
}

impl<'a, L: Listener> Serving<'a, L> {
    #[track_caller]
    pub(super) fn new(listener: &'a L) -> Self {
        Self {
            listener,
            limit: usize::MAX,
            until: None,
            finish_within: None,
            builder: Builder::new(),
            runtime: None,
            shared: None,
            observer: None,
            site: Location::caller(),
        }
    }

    /// At most so many connections at once; further ones wait in the kernel's queue. The default is no limit but that
    /// of the process's descriptors. A connection counts until its handler has ended.
    #[doc(alias = "max_connections")]
    pub fn limit(mut self, connections: usize) -> Self {
        self.limit = connections;
        self
    }

    /// One limit for several servers: each connection takes one permit of `seats` when it has been accepted, and gives it back when
    /// its handler has ended. While there is none, each of the servers keeps one connection waiting (a stop of the server closes it),
    /// and further ones wait in the kernel's queue.
    pub fn share_limit(mut self, seats: &Arc<Semaphore>) -> Self {
        self.shared = Some(seats.clone());
        self
    }

    /// Stops when `stop` is cancelled: no more connections are accepted, those that are open go on. (The listener still
    /// listens: what connects then waits for the next `serve` or `accept`, or is refused once the listener is closed.)
    #[doc(alias = "graceful_shutdown")]
    pub fn until(mut self, stop: &CancelToken) -> Self {
        self.until = Some(stop.clone());
        self
    }

    /// After a stop [`serve`](Self::serve) waits until the open connections have ended. Handlers that have not when
    /// `time` has passed are cancelled: they unwind from the call that they block in. (Without this `serve` returns at
    /// once, and the scope waits for them.)
    pub fn finish_within(mut self, time: Duration) -> Self {
        self.finish_within = Some(time);
        self
    }

    /// The connections' hosts have the name, the hints and the stack size of `builder`. (They are placed by the server:
    /// on the worker that serves the fewest.)
    pub fn hosts(mut self, builder: Builder) -> Self {
        self.builder = builder;
        self
    }

    /// The runtime in which the handlers run; by default that of the calling host. Servers outside of a host need it.
    pub fn runtime(mut self, runtime: &Handle) -> Self {
        self.runtime = Some(runtime.clone());
        self
    }

    /// Calls `observer`, on the thread that accepts, when new connections have to wait, and every ten seconds for as
    /// long as that lasts.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::{CancelToken, net::TcpListener};
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// # let (listener, stop) = (TcpListener::bind("127.0.0.1:0")?, CancelToken::new());
    /// # stop.cancel();
    /// let serving = listener.serving().until(&stop).on_held_up(|why| eprintln!("my server: {why}"));
    /// # lamprey::scope(|s| serving.serve(s, |_, _| ()))
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn on_held_up(mut self, observer: impl FnMut(&HeldUp<'_>) + Send + 'a) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Accepts connections, and calls `handler` for each, on a host of its own in `scope`.
    ///
    /// It returns when it is stopped: [`until`](Self::until)'s token is cancelled, the listener is closed, or the scope is
    /// cancelled (which cancels the handlers as well), or the runtime ends or has ended. Otherwise the handlers that run go on, and `scope` waits for them.
    ///
    /// While the process is out of descriptors, or the machine out of memory, it tries again less and less often, as
    /// `accept_with_backoff` does.
    ///
    /// The handler is shared by the connections' hosts, so what it captures must be:
    /// ```compile_fail,E0277
    /// # lamprey::run(|| {
    /// let listener = lamprey::net::TcpListener::bind("127.0.0.1:0")?;
    /// let served = std::cell::Cell::new(0);
    /// lamprey::scope(|s| listener.serving().serve(s, |_, _| served.set(served.get() + 1)))
    /// # });
    /// ```
    ///
    /// # Errors
    /// An error of the listener after which no `accept` will succeed. `NotConnected` outside of a host without
    /// [`runtime`](Self::runtime); `InvalidInput` for a [`limit`](Self::limit) of 0, or a stack size that cannot be.
    ///
    /// # Panics
    /// With the panic of the observer. A panic of a *handler* ends its connection only: its stream is dropped, the panic
    /// is reported as that of a host that nobody joins ([`Panics`](crate::Panics) of the runtime), and the server goes on,
    /// whatever the policy of the scope is.
    ///
    /// # Cancellation
    /// A thread that is cancelled in here accepts no more, and unwinds. No connection is lost that had been accepted: its
    /// handler runs on, until the scope cancels it.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn serve<'scope, F>(self, scope: &'scope Scope<'scope, '_>, handler: F) -> io::Result<()>
    where
        F: Fn(L::Stream, L::Address) + Send + Sync + 'scope,
    {
        if !sched::on_host() {
            // A level does not interrupt an OS thread in `poll(2)`.
            return crate::parasite::wait(self.serve_async(scope, handler));
        }
        let finish_within = self.finish_within;
        let (server, mut start) = self.start(scope, handler)?;
        let (until, over) = (start.until.take(), start.over.0.clone());
        let mut accept = || over.run(|| server.accept_all(start.listener, &mut start.reports));
        let ended = match until {
            Some(until) => until.run(accept).and_then(|ended| ended),
            None => accept(),
        };
        drop(start);
        ended_well(ended)?;
        finish_within.map_or(Ok(()), |time| server.finish(time))
    }

    /// The awaitable form of [`serve`](Self::serve). It is no event: what it has accepted stays accepted when something else
    /// is chosen.
    ///
    /// # Errors
    /// As for `serve`.
    ///
    /// # Cancellation
    /// Dropping the future stops the server. The handlers run on, until the scope cancels them.
    pub async fn serve_async<'scope, F>(self, scope: &'scope Scope<'scope, '_>, handler: F) -> io::Result<()>
    where
        F: Fn(L::Stream, L::Address) + Send + Sync + 'scope,
    {
        let finish_within = self.finish_within;
        let (server, mut start) = self.start(scope, handler)?;
        let (until, over) = (start.until.take(), start.over.0.clone());
        let accepting = over.run_async(server.accept_all_async(start.listener, &mut start.reports));
        let ended = match until {
            Some(until) => until.run_async(accepting).await.and_then(|ended| ended),
            None => accepting.await,
        };
        drop(start);
        ended_well(ended)?;
        match finish_within {
            Some(time) => server.finish_async(time).await,
            None => Ok(()),
        }
    }

    /// Checks what was set, and begins to watch for the end of the scope.
    fn start<'scope, 'env, F>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        handler: F,
    ) -> io::Result<(Server<'scope, 'env, F>, Start<'a, L>)> {
        if self.limit == 0 {
            let text = "a server with a limit of 0 connections serves nobody: set at least 1";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let runtime = self.runtime.or_else(Handle::current).ok_or_else(|| {
            let text = "a server was started outside of a host: name its runtime (`Serving::runtime`)";
            io::Error::new(io::ErrorKind::NotConnected, text)
        })?;
        self.builder.asked_stack_size()?;
        let limit = u32::try_from(self.limit).unwrap_or(u32::MAX).min(Semaphore::MAX_PERMITS);
        let over = Ends(CancelToken::new());
        watch(scope, &runtime, Ends(over.0.clone()))?;
        let server = Server {
            scope,
            load: Arc::new(WorkerLoad::new(runtime.workers())),
            runtime,
            builder: self.builder,
            handler: Arc::new(handler),
            limit,
            seats: Arc::new(Semaphore::new(limit)),
            shared: self.shared,
            site: self.site,
            cut: self.finish_within.map(|_| CancelToken::new()),
        };
        let reports = Reports::new(self.observer);
        Ok((server, Start { listener: self.listener, until: self.until, reports, over }))
    }
}

/// What the accepting loop has of its own.
struct Start<'a, L> {
    listener: &'a L,
    until: Option<CancelToken>,
    reports: Reports<'a>,
    over: Ends,
}

/// Ends the accepting loop, and the host that watches the scope.
struct Ends(CancelToken);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Starts a child of the scope whose end ends the accepting loop: the body of a scope is not told of a cancellation.
fn watch<'scope>(scope: &'scope Scope<'scope, '_>, runtime: &Handle, over: Ends) -> io::Result<()> {
    let watch = move || {
        let over = over;
        over.0.wait();
    };
    scope.spawn_in(runtime, Builder::new().name("end of a server"), watch).map(drop)
}

/// The result of a server whose loop has ended like that: to be stopped is no error.
fn ended_well(ended: Result<io::Result<()>, Cancelled>) -> io::Result<()> {
    match ended {
        Ok(Err(error)) if is_closed(&error) => Ok(()),
        Ok(result) => result,
        Err(Cancelled) => Ok(()),
    }
}

impl<L> fmt::Debug for Serving<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("limit", &self.limit).finish_non_exhaustive()
    }
}
