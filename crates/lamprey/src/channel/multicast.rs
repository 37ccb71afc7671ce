//! The multicast channel of the book on Concurrent ML: a stream that any number of ports read, each at its
//! own pace.
//!
//! The stream is a linked list: each link holds a message and the next link, and is written once. A port is a
//! pointer into the list, so messages live as long as a port has yet to read them.
//!
//! Invariant: `last` is the only empty link. A message is in its link before the ports are woken.

use super::err::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use super::gate::{Gate, Interrupted, Place, Section, or_cancelled};
use super::iter::iterates;
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

const PORTS: usize = 0;
const RECV: Place = Place::new(PORTS, Wait::Recv);

/// A channel where every port gets every message that is sent after the port was made. No message is lost and
/// sends never wait; memory use is bounded only by what the slowest port has not read.
/// ([`broadcast`](crate::broadcast()) has a bound instead.)
///
/// When the last sender is gone, ports get the remaining messages and then [`RecvError`]. A send without any
/// port fails.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let tx = lamprey::multicast();
/// let (mut a, mut b) = (tx.port(), tx.port());
/// tx.send("all").unwrap();
/// let mut late = tx.port();
/// drop(tx);
/// assert_eq!((a.recv(), b.recv()), (Ok("all"), Ok("all")));
/// assert!(late.recv().is_err());
/// # });
/// ```
pub fn multicast<T>() -> Sender<T> {
    Sender(Arc::new(Gate::new(Stream { last: Link::new(), senders: 1, ports: 0 })))
}

struct Stream<T> {
    last: Arc<Link<T>>,
    senders: usize,
    ports: usize,
}

/// A message and the next link, once they are written.
struct Link<T>(OnceLock<(T, Arc<Link<T>>)>);

/// The sending end of a [`multicast()`] channel, which also makes ports.
pub struct Sender<T>(Arc<Gate<Stream<T>>>);

/// A reading position in a [`multicast()`] channel. A clone reads on from the same position.
pub struct Port<T> {
    gate: Arc<Gate<Stream<T>>>,
    at: Arc<Link<T>>,
}

impl<T> Link<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self(OnceLock::new()))
    }
}

/// Frees an unread list link by link, because a recursion would be as deep as the list is long.
impl<T> Drop for Link<T> {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some((_, link)) = next.take() {
            next = Arc::into_inner(link).and_then(|mut link| link.0.take());
        }
    }
}

impl<T> Sender<T> {
    /// Sends `message` to all ports that exist now.
    ///
    /// # Errors
    /// [`SendError`] with the message if there is no port.
    ///
    /// # Blocking
    /// Never.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut content = Some((message, Link::new()));
        let old = self.0.with(|section| {
            if section.state.ports == 0 {
                return None;
            }
            let (message, next) = content.take()?;
            let old = std::mem::replace(&mut section.state.last, next.clone());
            // Cannot fail: only the last link is written, and only here.
            let _ = old.0.set((message, next));
            section.wake_all(PORTS);
            Some(old)
        });
        // Dropped outside of the lock: if the last port has gone meanwhile, this drops the message.
        drop(old);
        content.map_or(Ok(()), |(message, _)| Err(SendError(message)))
    }

    /// Makes a port that gets all messages from now on.
    pub fn port(&self) -> Port<T> {
        let at = self.0.with(|section| {
            section.state.ports += 1;
            section.state.last.clone()
        });
        Port { gate: self.0.clone(), at }
    }
}

/// One try to see whether the port's link is written.
fn read<T>(section: &mut Section<'_, Stream<T>>, at: &Link<T>) -> Option<Result<(), RecvError>> {
    if at.0.get().is_some() {
        return Some(Ok(()));
    }
    (section.state.senders == 0).then_some(Err(RecvError))
}

impl<T: Clone> Port<T> {
    /// Takes the next message, if it is there, without the lock.
    fn next(&mut self) -> Option<T> {
        let (message, next) = self.at.0.get()?;
        let (message, next) = (message.clone(), next.clone());
        self.at = next;
        Some(message)
    }

    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        loop {
            if let Some(message) = self.next() {
                return Ok(message);
            }
            or_cancelled(match self.gate.wait(RECV, deadline, |section| read(section, &self.at)) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(RecvError)) | Err(Interrupted::Unwinding) => Err(RecvTimeoutError::Disconnected),
                Err(Interrupted::TimedOut) => Err(RecvTimeoutError::Timeout),
            })?;
        }
    }

    /// Takes the next message, waiting for one if necessary.
    ///
    /// # Errors
    /// [`RecvError`] if all messages have been read and no sender is left.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; it has missed no message.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if no
    /// message is there, the call fails as if no sender were left.
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As `recv`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the next call gets the message.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub async fn recv_async(&mut self) -> Result<T, RecvError> {
        loop {
            if let Some(message) = self.next() {
                return Ok(message);
            }
            self.gate.future(RECV, |section| read(section, &self.at)).await?;
        }
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&mut self) -> FutureEvt<impl Future<Output = Result<T, RecvError>> + use<'_, T>> {
        future_evt(self.recv_async())
    }

    /// Takes the next message if there is one.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = match self.gate.with(|section| read(section, &self.at)) {
            Some(Ok(())) => self.next().ok_or(TryRecvError::Empty),
            Some(Err(RecvError)) => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        };
        coop::tried(received, Result::is_err)
    }

    /// As [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// As for `recv`.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(time::deadline(timeout))
    }

    /// An iterator over the messages, until no sender is left.
    pub fn iter(&mut self) -> Iter<'_, T> {
        Iter(self)
    }
}

super::gate::sender!("multicast::Sender", wakes PORTS);

iterates!(&mut, Port<T> where T: Clone, T, |port: &mut Port<T>| port.recv().ok());

impl<T> Clone for Port<T> {
    fn clone(&self) -> Self {
        self.gate.with(|section| section.state.ports += 1);
        Self { gate: self.gate.clone(), at: self.at.clone() }
    }
}

impl<T> Drop for Port<T> {
    fn drop(&mut self) {
        self.gate.with(|section| section.state.ports -= 1);
    }
}

impl<T> fmt::Debug for Port<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("multicast::Port")
    }
}
