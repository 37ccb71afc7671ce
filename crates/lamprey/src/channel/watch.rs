//! The watch channel: one value that is replaced, and receivers that learn that it was.
//!
//! # Examples
//! The configuration of a server. Workers take the newest one between two requests; a worker that was busy
//! sees one change, however often the configuration was replaced meanwhile.
//! ```
//! use lamprey::event::{Event, choose};
//! use lamprey::watch;
//!
//! #[derive(Clone, PartialEq, Debug)]
//! struct Config {
//!     greeting: &'static str,
//!     log: bool,
//! }
//!
//! fn worker(mut config: watch::Receiver<Config>, requests: lamprey::Receiver<&'static str>) -> Vec<String> {
//!     let (mut replies, mut current) = (Vec::new(), config.get());
//!     loop {
//!         // `Some`: a request; `None`: the configuration has changed.
//!         let next = choose((requests.recv_evt().wrap(Some), config.changed_evt().wrap(|_| None)));
//!         match next.sync() {
//!             Some(Ok(name)) => replies.push(format!("{}, {name}", current.greeting)),
//!             Some(Err(_)) => return replies, // no more requests
//!             None => current = config.get(),
//!         }
//!     }
//! }
//!
//! lamprey::run(|| {
//!     let (config, rx) = watch(Config { greeting: "Hello", log: false });
//!     let (requests, requests_rx) = lamprey::channel();
//!     let mut observer = config.subscribe();
//!     let worker = lamprey::spawn(move || worker(rx, requests_rx));
//!     requests.send("Ada").unwrap();
//!     config.send_modify(|config| config.log = true);
//!     config.send_modify(|config| config.greeting = "Servus");
//!     assert_eq!(observer.changed(), Ok(()));
//!     assert_eq!(observer.get(), Config { greeting: "Servus", log: true });
//!     assert!(!observer.has_changed()); // both changes were seen at once
//!     drop(requests);
//!     assert_eq!(worker.join().unwrap(), ["Hello, Ada"]);
//! });
//! ```
//!
//! # How it is done
//! A version counts the replacements, so a change between two looks is seen, however many there were. The
//! value is an `Arc`: it is cloned, changed and dropped outside of the lock. While one sender works on a copy
//! of it (`send_modify`), other senders wait, so that no change gets lost.

use super::err::{RecvError, RecvTimeoutError, SendError};
use super::gate::{Gate, Interrupted, Op, Section, WaitSpec, named_future, or_cancelled};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RECEIVERS: usize = 0;
const SENDERS: usize = 1;
const CHANGED: WaitSpec = WaitSpec::new(RECEIVERS, Wait::Watch);
const TURN: WaitSpec = WaitSpec::new(SENDERS, Wait::Watch);

/// A channel that holds one value, first `value`: senders replace it, receivers get the last one and can wait
/// for the next.
///
/// A receiver that was not looking sees only the last of several changes, but never misses that there was
/// one. When the last sender is gone, a receiver still learns of a change that it has not seen, and then gets
/// [`RecvError`]; [`get`](Receiver::get) goes on to give the last value.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (tx, mut rx) = lamprey::watch("starting");
/// let server = lamprey::spawn(move || {
///     tx.send("ready").unwrap();
///     tx.send("busy").unwrap();
/// });
/// server.join().unwrap();
/// assert_eq!(rx.changed(), Ok(())); // both at once
/// assert_eq!(rx.get(), "busy");
/// assert!(rx.changed().is_err()); // the sender is gone
/// # });
/// ```
#[doc(alias = "latest")]
#[doc(alias = "signal")]
#[track_caller]
pub fn watch<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let state = WatchState { value: Arc::new(value), version: 0, is_held: false, is_closed: false };
    let gate = Arc::new(Gate::of_channel(state));
    (Sender(gate.clone()), Receiver { gate, seen: 0 })
}

struct WatchState<T> {
    value: Arc<T>,
    version: u64,
    /// A `send_modify` is under way.
    is_held: bool,
    /// No change comes any more: no sender is left.
    is_closed: bool,
}

/// The sending end of a [`watch()`] channel.
pub struct Sender<T>(Arc<Gate<WatchState<T>>>);

/// The receiving end of a [`watch()`] channel. A clone has seen what its original has seen.
pub struct Receiver<T> {
    gate: Arc<Gate<WatchState<T>>>,
    seen: u64,
}

/// Replaces the value, and returns the old one, to be dropped outside of the lock.
fn replace<T>(section: &mut Section<'_, WatchState<T>>, value: Arc<T>) -> Arc<T> {
    section.state.version += 1;
    section.wake_all(RECEIVERS);
    std::mem::replace(&mut section.state.value, value)
}

/// The exclusive right of a `send_modify` to change the value, which ends also if it unwinds.
struct ModifyGuard<'a, T>(&'a Gate<WatchState<T>>);

impl<T> Drop for ModifyGuard<'_, T> {
    fn drop(&mut self) {
        self.0.with(|section| {
            section.state.is_held = false;
            section.offer(SENDERS, 1);
        });
    }
}

impl<T> Sender<T> {
    /// Replaces the value.
    ///
    /// # Errors
    /// [`SendError`] with `value` if there is no receiver; there may be one later
    /// ([`subscribe`](Self::subscribe)).
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits unwinds from here; the value has then not been sent, and is
    /// dropped.
    ///
    /// # Blocking
    /// Only while another sender is inside [`send_modify`](Self::send_modify): a host switches away, an OS
    /// thread parks. A host that is unwinding from a panic does not wait: the value comes back as if there
    /// were no receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut value = Some(Arc::new(value));
        let sent = self.0.wait(TURN, None, |section| {
            if section.receivers() == 0 {
                // A grant of the right to change the value goes to the next sender.
                section.offer(SENDERS, usize::from(!section.state.is_held));
                return Some(None);
            }
            if section.state.is_held || section.reserved(SENDERS) > 0 {
                return None;
            }
            let old = replace(section, value.take()?);
            section.offer(SENDERS, 1);
            Some(Some(old))
        });
        drop(sent);
        let unsent = value.map(|value| match Arc::try_unwrap(value) {
            Ok(value) => SendError(value),
            Err(_) => crate::bug::bug!("a value that was not sent is shared"),
        });
        or_cancelled(unsent.map_or(Ok(()), Err))
    }

    /// A new receiver, which has seen the value that is there now.
    pub fn subscribe(&self) -> Receiver<T> {
        let seen = self.0.with(|section| {
            section.add_receiver();
            section.state.version
        });
        Receiver { gate: self.0.clone(), seen }
    }

    /// How many receivers there are now.
    pub fn receiver_count(&self) -> usize {
        coop::look();
        self.0.with(|section| section.receivers() as usize)
    }
}

impl<T: Clone> Sender<T> {
    /// Changes the value: `change` gets a copy of it, which then replaces it. No other sender changes it in
    /// between. It is replaced also if there is no receiver. If `change` panics, nothing has changed.
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits for other senders unwinds from here, before `change` is
    /// called.
    ///
    /// # Panics
    /// With the panic of `change`; and if the caller is a host that is unwinding from a panic while another
    /// sender is inside `send_modify`.
    ///
    /// # Blocking
    /// While another sender is inside its own `send_modify`. One that is called within `change` on the same
    /// channel waits for ever.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = lamprey::watch(vec![1]);
    /// tx.send_modify(|list| list.push(2));
    /// assert_eq!(rx.get(), [1, 2]);
    /// ```
    pub fn send_modify(&self, change: impl FnOnce(&mut T)) {
        let turn = self.0.wait(TURN, None, |section| {
            if section.state.is_held || section.reserved(SENDERS) > 0 {
                return None;
            }
            section.state.is_held = true;
            Some(section.state.value.clone())
        });
        let Ok(old) = turn else {
            panic!("a host that is unwinding must not wait for its turn to change a value")
        };
        let turn = ModifyGuard(&self.0);
        let mut value = T::clone(&old);
        change(&mut value);
        let value = Arc::new(value);
        let replaced = self.0.with(|section| replace(section, value));
        drop(turn);
        drop((old, replaced));
    }

    /// A clone of the value.
    #[doc(alias = "borrow")]
    #[doc(alias = "borrow_and_update")]
    pub fn get(&self) -> T {
        get(&self.0)
    }
}

fn get<T: Clone>(gate: &Gate<WatchState<T>>) -> T {
    coop::look();
    let value = gate.with(|section| section.state.value.clone());
    Arc::unwrap_or_clone(value)
}

impl<T: Clone> Receiver<T> {
    /// A clone of the last value. It does not count as seen: only [`changed`](Self::changed) does that.
    pub fn get(&self) -> T {
        get(&self.gate)
    }
}

/// One look whether there has been a change, which then counts as seen.
fn changed<T>(section: &mut Section<'_, WatchState<T>>, seen: &mut u64) -> Option<Result<(), RecvError>> {
    if *seen != section.state.version {
        *seen = section.state.version;
        return Some(Ok(()));
    }
    section.state.is_closed.then_some(Err(RecvError))
}

/// [`changed`] as an operation with a name.
struct ChangedOp<'a>(&'a mut u64);

impl<T> Op<WatchState<T>> for ChangedOp<'_> {
    type Output = Result<(), RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, WatchState<T>>) -> Option<Self::Output> {
        changed(section, self.0)
    }
}

named_future! {
    /// The future of [`Receiver::changed_async`].
    ChangedFuture<'a, T>(WatchState<T>, ChangedOp<'a>) -> Result<(), RecvError>
}

impl<T> Receiver<T> {
    fn changed_until(&mut self, deadline: Option<Instant>) -> Result<(), RecvTimeoutError> {
        let seen = &mut self.seen;
        or_cancelled(match self.gate.wait(CHANGED, deadline, |section| changed(section, seen)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(RecvError)) | Err(Interrupted::Unwinding) => Err(RecvTimeoutError::Disconnected),
            Err(Interrupted::TimedOut) => Err(RecvTimeoutError::Timeout),
        })
    }

    /// Returns once there has been a change since the last such call (or since the receiver was made).
    ///
    /// # Errors
    /// [`RecvError`] if there was none and no sender is left.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has missed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: the
    /// call fails as if no sender were left.
    pub fn changed(&mut self) -> Result<(), RecvError> {
        self.changed_until(None).map_err(|_| RecvError)
    }

    /// [`changed`](Self::changed) for async code.
    ///
    /// # Errors
    /// As `changed`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the next call sees the change.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn changed_async(&mut self) -> ChangedFuture<'_, T> {
        let Self { gate, seen } = self;
        ChangedFuture(gate.future(CHANGED, ChangedOp(seen)))
    }

    /// [`changed`](Self::changed) as an event.
    pub fn changed_evt(&mut self) -> FutureEvt<ChangedFuture<'_, T>> {
        future_evt(self.changed_async())
    }

    /// [`changed`](Self::changed), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has missed nothing.
    pub fn changed_timeout(&mut self, timeout: Duration) -> Result<(), RecvTimeoutError> {
        self.changed_until(time::deadline(timeout))
    }

    /// True if [`changed`](Self::changed) would return at once because of a change. It stays unseen.
    pub fn has_changed(&self) -> bool {
        coop::look();
        self.gate.with(|section| section.state.version != self.seen)
    }
}

super::gate::sender!("watch::Sender", wakes RECEIVERS);

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.gate.with(|section| section.add_receiver());
        Self { gate: self.gate.clone(), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // A sender that waits for another sender sees this when it is woken.
        self.gate.with(|section| section.remove_receiver());
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("watch::Receiver")
    }
}
