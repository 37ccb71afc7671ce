//! The receiving end of an actor, and how it is run.
//!
//! # Invariants
//! A run that has begun ends in [`Inbox::run_as`], whatever its function does: return, panic, be cancelled. One that
//! has not begun ends when the inbox is dropped.

use super::Address;
use super::life::{Being, Ended, Linked, panicked};
use crate::channel::{RecvError, RecvTimeoutError, TryRecvError, bounded, mailbox};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{self, block::CancelUnwind};
use crate::scope::Cancelled;
use crate::sync_shim::watched::Mutex;
use crate::thread::Panic;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// An actor that has not been started: where it is sent to, and what it is to be [run](Inbox::run) with. Sending to
/// it never waits.
///
/// For actors that know each other, and for hosts with a name, a stack size, or a scope. [`spawn`](super::spawn()) is
/// this and a host.
///
/// # Examples
/// ```
/// use lamprey::actor::{self, Inbox};
/// use lamprey::Builder;
///
/// # lamprey::run(|| {
/// let (address, mut inbox) = actor::inbox::<u32>();
/// let sum = |numbers: &mut Inbox<u32>| numbers.iter().sum::<u32>();
/// let host = Builder::new().name("adder").spawn(move || inbox.run(sum))?;
/// address.tell(1).unwrap();
/// address.tell(2).unwrap();
/// drop(address);
/// assert_eq!(host.join().unwrap(), Ok(3));
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn inbox<M>() -> (Address<M>, Inbox<M>) {
    let ((tx, rx), being) = (mailbox::mailbox(), Arc::new(Being::new()));
    let messages = Messages::Mailbox(rx);
    (Address::new(super::address::Post::Mailbox(tx), being.clone()), Inbox { messages, being })
}

/// [`inbox`], for at most `capacity` messages that wait: who tells it more waits until there is room.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (address, mut inbox) = lamprey::actor::bounded_inbox(1);
/// address.tell("first").unwrap();
/// assert!(address.try_tell("second").is_err()); // full
/// assert_eq!(inbox.recv(), Ok("first"));
/// # });
/// ```
///
/// # Panics
/// If `capacity` is 0, or there is no memory for so many messages, as [`bounded`](crate::bounded()).
pub fn bounded_inbox<M>(capacity: usize) -> (Address<M>, Inbox<M>) {
    assert!(capacity > 0, "bounded_inbox(0): an inbox must have room for a message");
    let ((tx, rx), being) = (bounded::bounded(capacity), Arc::new(Being::new()));
    let messages = Messages::Bounded(rx);
    (Address::new(super::address::Post::Bounded(tx), being.clone()), Inbox { messages, being })
}

enum Messages<M> {
    Mailbox(mailbox::Receiver<M>),
    Bounded(bounded::Receiver<M>),
}

/// `$call` of the channel's receiver, whichever it is.
macro_rules! of {
    ($inbox:ident, $rx:ident => $call:expr) => {
        match &mut $inbox.messages {
            Messages::Mailbox($rx) => $call,
            Messages::Bounded($rx) => $call,
        }
    };
}

/// The messages of an actor: a function of this is an actor.
///
/// # Dropping
/// Messages that wait are dropped, with their [`Reply`](super::Reply)s, so who asks gets
/// [`NoReply`](super::AskError::NoReply). The actor has ended.
pub struct Inbox<M> {
    messages: Messages<M>,
    being: Arc<Being>,
}

impl<M> Inbox<M> {
    /// Takes the oldest message. Waits while there is none.
    ///
    /// # Errors
    /// [`RecvError`] if none waits and no address is left.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: it gets the
    /// error.
    pub fn recv(&mut self) -> Result<M, RecvError> {
        of!(self, rx => rx.recv())
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has taken nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub async fn recv_async(&mut self) -> Result<M, RecvError> {
        of!(self, rx => rx.recv_async().await)
    }

    /// [`recv`](Self::recv) as an event: an actor may wait for other things too.
    ///
    /// # Examples
    /// ```
    /// use lamprey::actor::{self, Inbox};
    /// use lamprey::event::{Event, choose, timeout};
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| {
    /// let (address, host) = actor::spawn(|inbox: &mut Inbox<u32>| {
    ///     let idle = timeout(Duration::from_millis(1)).wrap(|()| None);
    ///     choose((inbox.recv_evt().wrap(Result::ok), idle)).sync()
    /// });
    /// assert_eq!(host.join().unwrap(), None);
    /// # drop(address);
    /// # });
    /// ```
    pub fn recv_evt(&mut self) -> FutureEvt<impl Future<Output = Result<M, RecvError>>> {
        future_evt(self.recv_async())
    }

    /// Takes the oldest message if there is one.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&mut self) -> Result<M, TryRecvError> {
        of!(self, rx => rx.try_recv())
    }

    /// [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has taken nothing.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<M, RecvTimeoutError> {
        of!(self, rx => rx.recv_timeout(timeout))
    }

    /// The messages that come, until no address is left.
    pub fn iter(&mut self) -> Iter<'_, M> {
        Iter(self)
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        match &self.messages {
            Messages::Mailbox(rx) => rx.len(),
            Messages::Bounded(rx) => rx.len(),
        }
    }

    /// True if no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs the actor here, on the calling thread: `body` is the actor. What watches the actor is told when and how it
    /// has ended.
    ///
    /// It can be called again: a new run, for new monitors and links. Within `body` it only calls the other body: that is a
    /// part of the run that is under way.
    ///
    /// # Errors
    /// [`Ended::Cancelled`] or [`Ended::Linked`] if the actor was ended from outside of it, by an
    /// [`Address`]: `body` unwinds from its current or next blocking call, or does not run.
    ///
    /// # Panics
    /// With the panic of `body`.
    ///
    /// # Cancellation
    /// A cancellation of the calling host unwinds through `body` and this call.
    ///
    /// # Blocking
    /// As `body` does. For hosts, stackful parasites and OS threads.
    pub fn run<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> Result<R, Ended> {
        self.run_as(body, |_| Ended::Returned)
    }

    fn run_as<R>(
        &mut self,
        body: impl FnOnce(&mut Self) -> R,
        how: impl FnOnce(&R) -> Ended,
    ) -> Result<R, Ended> {
        let Some(run) = self.being.begin() else { return Ok(body(self)) };
        // `how` within it: an error of the program is asked for its text.
        let ended = catch_unwind(AssertUnwindSafe(|| {
            run.token.run(|| body(self)).map(|result| {
                let how = how(&result);
                (result, how)
            })
        }));
        match ended {
            Ok(Ok((result, how))) => {
                run.end(how);
                Ok(result)
            }
            Ok(Err(Cancelled)) => {
                run.end(run.reason());
                Err(run.reason())
            }
            Err(payload) if payload.is::<CancelUnwind>() => {
                run.end(Ended::Cancelled);
                resume_unwind(payload)
            }
            Err(payload) => {
                let panic = Panic::caught(payload);
                run.end(panicked(&panic));
                panic.resume()
            }
        }
    }

    /// The child of a [`Supervisor`](crate::scope::Supervisor) that runs this actor, and runs it again when it fails.
    /// Its address stays the same: messages that wait, or come meanwhile, are for the next run. A message that was
    /// being handled is lost, and who waits for its reply gets [`NoReply`](super::AskError::NoReply).
    ///
    /// # Examples
    /// ```
    /// use lamprey::actor::{self, AskError, Inbox, Reply};
    /// use lamprey::scope::{Restart, Supervisor};
    /// # use lamprey::scope::Backoff;
    /// # use std::time::Duration;
    ///
    /// # lamprey::run(|| {
    /// let (address, inbox) = actor::inbox::<(u32, Reply<u32>)>();
    /// let supervisor = Supervisor::new()
    /// #   .backoff(Backoff::new(Duration::ZERO))
    ///     .on_failure(|_| {})
    ///     .child("divider", Restart::OnFailure, inbox.supervised(|inbox: &mut Inbox<_>| {
    ///         for (n, reply) in inbox {
    ///             let _ = reply.send(100_u32.checked_div(n).ok_or("division by zero")?);
    ///         }
    ///         Ok(())
    ///     }));
    /// let host = lamprey::spawn(move || supervisor.run());
    /// let ask = |n| address.ask(|reply| (n, reply));
    /// assert_eq!(ask(5), Ok(20));
    /// assert_eq!(ask(0), Err(AskError::NoReply)); // fails, and is started again
    /// assert_eq!(ask(4), Ok(25));
    /// drop(address); // returns, and is not started again
    /// host.join().unwrap().unwrap();
    /// # });
    /// ```
    ///
    /// # Errors
    /// Those of `body`. [`Linked`] if an actor that it was linked to has ended, which is a failure too. An actor that
    /// was [cancelled](Address::cancel) ends as a child that was cancelled, and is not started again.
    ///
    /// # Panics
    /// The child, if two threads run it at the same time, which no supervisor does.
    pub fn supervised<E: From<Linked> + fmt::Display>(
        self,
        body: impl Fn(&mut Self) -> Result<(), E> + Send + Sync,
    ) -> impl Fn() -> Result<(), E> + Send + Sync
    where
        M: Send,
    {
        let place = Mutex::new(Some(self));
        let take =
            move |inbox| std::mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), inbox);
        move || {
            let Some(mut inbox) = take(None) else { panic!("an actor was run twice at the same time") };
            let ran = catch_unwind(AssertUnwindSafe(|| {
                inbox.run_as(&body, |result| match result {
                    Ok(()) => Ended::Returned,
                    Err(error) => Ended::Failed(error.to_string().into()),
                })
            }));
            take(Some(inbox));
            match ran {
                Ok(Ok(result)) => result,
                Ok(Err(Ended::Linked)) => Err(Linked.into()),
                Ok(Err(_)) => sched::unwind_cancelled(),
                Err(payload) => resume_unwind(payload),
            }
        }
    }
}

/// See [`Inbox::iter`].
#[derive(Debug)]
pub struct Iter<'a, M>(&'a mut Inbox<M>);

impl<M> Iterator for Iter<'_, M> {
    type Item = M;

    fn next(&mut self) -> Option<M> {
        self.0.recv().ok()
    }
}

impl<'a, M> IntoIterator for &'a mut Inbox<M> {
    type Item = M;
    type IntoIter = Iter<'a, M>;

    fn into_iter(self) -> Iter<'a, M> {
        self.iter()
    }
}

impl<M> Drop for Inbox<M> {
    fn drop(&mut self) {
        let run = self.being.run();
        if !run.has_ended() {
            run.end(Ended::NotRun);
        }
    }
}

impl<M> fmt::Debug for Inbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("messages", &self.len()).finish_non_exhaustive()
    }
}
