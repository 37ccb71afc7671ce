//! Calls with replies: a rendezvous channel for the requests, and a oneshot with each for its reply.
//!
//! # Examples
//! A key-value store: one thread owns the map, clients call it. A request that makes no sense gets no reply;
//! a reply that takes longer can be given by another thread, so the server goes on.
//! ```
//! use lamprey::rpc::{self, CallError};
//! use std::collections::HashMap;
//!
//! #[derive(PartialEq)]
//! enum Request {
//!     Set(&'static str, String),
//!     Get(&'static str),
//!     /// The sum of all lengths, which takes a while.
//!     Size,
//! }
//!
//! fn serve(requests: rpc::Server<Request, String>) {
//!     let mut map: HashMap<&'static str, String> = HashMap::new();
//!     for (request, reply) in &requests {
//!         match request {
//!             Request::Set(key, value) => {
//!                 // An error: the client has given up meanwhile.
//!                 let _ = reply.send(map.insert(key, value).unwrap_or_default());
//!             }
//!             Request::Get(key) => match map.get(key) {
//!                 Some(value) => drop(reply.send(value.clone())),
//!                 None => drop(reply), // the client gets `NoReply`
//!             },
//!             Request::Size => {
//!                 let values: Vec<_> = map.values().cloned().collect();
//!                 lamprey::spawn(move || reply.send(values.concat().len().to_string()));
//!             }
//!         }
//!     }
//! }
//!
//! lamprey::run(|| {
//!     let (client, server) = rpc::rpc();
//!     let server = lamprey::spawn(move || serve(server));
//!     assert_eq!(client.call(Request::Set("a", "one".into())), Ok(String::new()));
//!     assert_eq!(client.call(Request::Get("a")), Ok("one".into()));
//!     assert!(matches!(client.call(Request::Get("b")), Err(CallError::NoReply)));
//!     let callers = ["three", "four"].map(|text| {
//!         let client = client.clone();
//!         lamprey::spawn(move || drop(client.call(Request::Set(text, text.into()))))
//!     });
//!     callers.into_iter().for_each(|caller| caller.join().unwrap());
//!     assert_eq!(client.call(Request::Size), Ok("12".into()));
//!     drop(client); // the server's loop ends
//!     server.join().unwrap();
//! });
//! ```
//!
//! # How a client gives up
//! It drops its end of the oneshot, which the server can see and wait for ([`Reply::abandoned_async`]): the
//! negative acknowledgement of the book on Concurrent ML.

use super::err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError};
use super::gate::opaque;
use super::iter::iterates;
use super::rendezvous::Exchange;
use super::{RecvEvt, oneshot, rendezvous};
use crate::events::{FutureEvt, future_evt};
use crate::world;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A pair for requests of type `Q` and their replies of type `A`: a client's [`call`](Client::call) waits
/// until a server has taken the request and replied to it.
///
/// A call between hosts of one worker costs two switches. Between hosts of two workers it costs two messages between
/// kernel threads, and the waking of one that sleeps. Clients that do little else are cheapest as parasites
/// ([`call_async`](Client::call_async)), which run where they are woken, or on the server's worker
/// ([`Builder::worker`](crate::Builder::worker)).
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (client, server) = lamprey::rpc();
/// lamprey::spawn(move || {
///     for (question, reply) in server.iter() {
///         let _ = reply.send(question * 2); // an error: the client has given up meanwhile
///     }
/// });
/// assert_eq!(client.call(21), Ok(42));
/// # });
/// ```
#[doc(alias = "request")]
#[doc(alias = "ask")]
#[doc(alias = "actor")]
#[track_caller]
pub fn rpc<Q, A>() -> (Client<Q, A>, Server<Q, A>) {
    let (tx, rx) = rendezvous::channel();
    (Client(tx), Server(rx))
}

type Request<Q, A> = (Q, Reply<A>);

/// The end of an [`rpc()`] pair that asks.
pub struct Client<Q, A>(rendezvous::Sender<Request<Q, A>>);

/// The end of an [`rpc()`] pair that is asked.
pub struct Server<Q, A>(rendezvous::Receiver<Request<Q, A>>);

/// The way back for the reply to one request. If it is dropped unused, the client gets
/// [`CallError::NoReply`].
#[must_use = "dropping it tells the client that there will be no reply"]
pub struct Reply<A>(oneshot::Sender<A>);

/// A call failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallError<Q> {
    /// No server is left (or the caller is unwinding and must not block). The request comes back.
    Disconnected(Q),
    /// A server took the request and will not reply: it dropped the [`Reply`].
    NoReply,
}

/// A call with a timeout failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallTimeoutError<Q> {
    /// No server is left. The request comes back.
    Disconnected(Q),
    /// No server took the request in time. It comes back.
    NotTaken(Q),
    /// A server took the request and will not reply: it dropped the [`Reply`].
    NoReply,
    /// A server took the request and did not reply in time. It can see that the client has given up.
    Timeout,
}

impl<Q, A> Client<Q, A> {
    /// Sends `request` and waits for the reply.
    ///
    /// # Errors
    /// [`CallError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here: the request has then not been taken, or the server can see that
    /// the client has given up. A reply that has come by then is returned, and the host unwinds at its next
    /// blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[doc(alias = "request")]
    #[doc(alias = "ask")]
    pub fn call(&self, request: Q) -> Result<A, CallError<Q>> {
        let (reply, answer) = Reply::pair();
        self.0.send((request, reply)).map_err(|SendError((request, _))| CallError::Disconnected(request))?;
        answer.recv().map_err(|RecvError| CallError::NoReply)
    }

    /// [`call`](Self::call) for async code.
    ///
    /// # Errors
    /// [`CallError`].
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the request has not been taken, or the server can
    /// see that the client has given up.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn call_async(&self, request: Q) -> CallFuture<'_, Q, A> {
        let (reply, answer) = Reply::pair();
        CallFuture { send: Exchange::send(&self.0.0, (request, reply)), is_sent: false, answer }
    }

    /// [`call`](Self::call) as an event. If another is chosen, the request has not been taken and is dropped,
    /// or the server can see that the client has given up.
    pub fn call_evt(&self, request: Q) -> FutureEvt<CallFuture<'_, Q, A>> {
        future_evt(self.call_async(request))
    }

    /// Closes the channel: calls fail from now on, also those whose request waits, which comes back; servers get the error that
    /// they get when no client is left. Requests that have been taken can still be replied to. False if it was closed already, by
    /// such a call or because a side is gone.
    pub fn close(&self) -> bool {
        self.0.close()
    }

    /// True if no request will be taken any more: the channel has been [closed](Self::close), or a side is gone.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// [`call`](Self::call), waiting at most `timeout` in all.
    ///
    /// # Errors
    /// [`CallTimeoutError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and the server can see that the client has given up.
    pub fn call_timeout(&self, request: Q, timeout: Duration) -> Result<A, CallTimeoutError<Q>> {
        let begin = world::now();
        let (reply, mut answer) = Reply::pair();
        self.0.send_timeout((request, reply), timeout).map_err(|error| match error {
            SendTimeoutError::Timeout((request, _)) => CallTimeoutError::NotTaken(request),
            SendTimeoutError::Disconnected((request, _)) => CallTimeoutError::Disconnected(request),
        })?;
        answer.recv_timeout(timeout.saturating_sub(world::now().saturating_duration_since(begin))).map_err(
            |error| match error {
                RecvTimeoutError::Timeout => CallTimeoutError::Timeout,
                RecvTimeoutError::Disconnected => CallTimeoutError::NoReply,
            },
        )
    }
}

/// The future of [`Client::call_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct CallFuture<'a, Q, A> {
    send: Exchange<'a, Request<Q, A>, true>,
    is_sent: bool,
    answer: oneshot::Receiver<A>,
}

impl<Q, A> Future for CallFuture<'_, Q, A> {
    type Output = Result<A, CallError<Q>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: of the fields `send` alone is pinned, and it is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if !this.is_sent {
            // SAFETY: pinned with the whole: nothing moves it out, and there is no `Drop`.
            let sent = ready!(unsafe { Pin::new_unchecked(&mut this.send) }.poll(cx));
            sent.map_err(|SendError((request, _))| CallError::Disconnected(request))?;
            this.is_sent = true;
        }
        Pin::new(&mut this.answer).poll(cx).map_err(|RecvError| CallError::NoReply)
    }
}

opaque!(CallFuture<'a, Q, A>);

impl<Q, A> Server<Q, A> {
    /// Takes a request. Waits while there is none.
    ///
    /// # Errors
    /// [`RecvError`] if no client is left.
    ///
    /// # Cancellation
    /// The commit point is the moment when a client gives its request. A host that is cancelled before that
    /// unwinds from here, and has taken nothing; after it the request is returned, and the host unwinds at
    /// its next blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn recv(&self) -> Result<(Q, Reply<A>), RecvError> {
        self.0.recv()
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As `recv`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the request goes to another server, or waits for one,
    /// also when its client has given up meanwhile ([`Reply::is_abandoned`]).
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn recv_async(&self) -> impl Future<Output = Result<(Q, Reply<A>), RecvError>> + use<'_, Q, A> {
        self.0.recv_async()
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&self) -> RecvEvt<&rendezvous::Receiver<(Q, Reply<A>)>> {
        self.0.recv_evt()
    }

    /// [`recv_evt`](Self::recv_evt) that owns the server, so that a function can return it.
    pub fn into_recv_evt(self) -> RecvEvt<rendezvous::Receiver<(Q, Reply<A>)>> {
        self.0.into_recv_evt()
    }

    /// Takes a request if a client waits with one.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<(Q, Reply<A>), TryRecvError> {
        self.0.try_recv()
    }

    /// [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// A host that is cancelled before a client gives its request unwinds from here, and has taken nothing.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<(Q, Reply<A>), RecvTimeoutError> {
        self.0.recv_timeout(timeout)
    }

    /// Closes the channel, as [`Client::close`]: for a server that ends while it still replies to what it has taken.
    ///
    /// # Examples
    /// ```
    /// use lamprey::rpc::CallError;
    /// # lamprey::run(|| {
    /// let (client, server) = lamprey::rpc::<u32, u32>();
    /// let first = client.clone();
    /// let first = lamprey::spawn(move || first.call(1));
    /// let (request, reply) = server.recv().unwrap();
    /// server.close();
    /// assert_eq!(client.call(2), Err(CallError::Disconnected(2)));
    /// reply.send(request * 2).unwrap();
    /// assert_eq!(first.join().unwrap(), Ok(2));
    /// # });
    /// ```
    pub fn close(&self) -> bool {
        self.0.close()
    }

    /// True if no request will come any more: the channel has been [closed](Self::close), or a side is gone.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// The requests that come, until no client is left.
    pub fn iter(&self) -> Iter<'_, Q, A> {
        Iter(self)
    }
}

impl<A> Reply<A> {
    /// A reply, and where it comes.
    pub(crate) fn pair() -> (Self, oneshot::Receiver<A>) {
        let (tx, rx) = oneshot::oneshot();
        (Self(tx), rx)
    }

    /// Gives the client its reply.
    ///
    /// # Errors
    /// [`SendError`] with the reply if the client has given up.
    ///
    /// # Blocking
    /// Never.
    pub fn send(self, answer: A) -> Result<(), SendError<A>> {
        self.0.send(answer)
    }

    /// True if the client has given up.
    pub fn is_abandoned(&self) -> bool {
        self.0.is_closed()
    }

    /// Ready once the client has given up.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. In blocking code: `lamprey::wait(reply.abandoned_async())`.
    pub fn abandoned_async(&mut self) -> oneshot::ClosedFuture<'_, A> {
        self.0.closed_async()
    }

    /// [`abandoned_async`](Self::abandoned_async) as an event.
    pub fn abandoned_evt(&mut self) -> FutureEvt<oneshot::ClosedFuture<'_, A>> {
        future_evt(self.abandoned_async())
    }
}

impl<Q, A> Clone for Client<Q, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

iterates!(&, Server<Q, A>, (Q, Reply<A>), |server: &Server<Q, A>| server.recv().ok());

impl<Q, A> Clone for Server<Q, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q> CallError<Q> {
    fn text(&self) -> &'static str {
        match self {
            Self::Disconnected(_) => "no server is left",
            Self::NoReply => "the server will not reply",
        }
    }
}

impl<Q> CallTimeoutError<Q> {
    fn text(&self) -> &'static str {
        match self {
            Self::Disconnected(_) => "no server is left",
            Self::NotTaken(_) => "no server took the request in time",
            Self::NoReply => "the server will not reply",
            Self::Timeout => "the server did not reply in time",
        }
    }
}

impl<Q> fmt::Display for CallError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<Q> fmt::Display for CallTimeoutError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<Q> fmt::Debug for CallError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallError({self})")
    }
}

impl<Q> fmt::Debug for CallTimeoutError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallTimeoutError({self})")
    }
}

impl<Q> Error for CallError<Q> {}
impl<Q> Error for CallTimeoutError<Q> {}

impl<Q, A> fmt::Debug for Client<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rpc::Client")
    }
}

impl<Q, A> fmt::Debug for Server<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rpc::Server")
    }
}

impl<A> fmt::Debug for Reply<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rpc::Reply")
    }
}
