//! The address of an actor.

use super::life::{Being, Ended, Monitor, link};
use super::{AskError, AskTimeoutError, Reply};
use crate::channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TrySendError};
use crate::channel::{bounded, mailbox};
use crate::events::{FutureEvt, future_evt};
use crate::world;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Where an actor is sent messages of type `M`; clones are of the same actor. Used from hosts, parasites, OS threads
/// and the tasks of other executors alike.
///
/// # Dropping
/// When the last address is dropped, the actor's inbox gives what waits there and then ends, and the actor usually
/// with it. So an actor that keeps an address of itself keeps a [weak](Self::downgrade) one, or has to end by a message.
pub struct Address<M> {
    post: Post<M>,
    being: Arc<Being>,
}

pub(super) enum Post<M> {
    Mailbox(mailbox::Sender<M>),
    Bounded(bounded::Sender<M>),
}

/// `$call` of the channel's sender, whichever it is.
macro_rules! of {
    ($address:ident, $tx:ident => $call:expr, mailbox $free:expr) => {
        match &$address.post {
            Post::Mailbox($tx) => $free,
            Post::Bounded($tx) => $call,
        }
    };
}

impl<M> Address<M> {
    pub(super) fn new(post: Post<M>, being: Arc<Being>) -> Self {
        Self { post, being }
    }

    pub(super) fn parts(&self) -> (&Post<M>, &Arc<Being>) {
        (&self.post, &self.being)
    }

    /// Puts a message into the actor's inbox. That it is there does not mean that the actor will handle it: it may
    /// end before.
    ///
    /// # Errors
    /// [`SendError`] with the message if the actor is gone.
    ///
    /// # Cancellation
    /// The commit point is the moment when the message is in the inbox; then the call returns. A host that is
    /// cancelled before that unwinds from here, and the message is dropped.
    ///
    /// # Blocking
    /// Never, unless the inbox is [bounded](super::bounded_inbox) and full: then a host switches away, and an OS thread
    /// parks.
    #[doc(alias = "cast")]
    #[doc(alias = "send")]
    pub fn tell(&self, message: M) -> Result<(), SendError<M>> {
        of!(self, tx => tx.send(message), mailbox tx.send(message))
    }

    /// [`tell`](Self::tell) for async code.
    ///
    /// # Errors
    /// As [`tell`](Self::tell).
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the message has not been sent, and is dropped with it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub async fn tell_async(&self, message: M) -> Result<(), SendError<M>> {
        of!(self, tx => tx.send_async(message).await, mailbox tx.send(message))
    }

    /// [`tell`](Self::tell) as an event. If another is chosen, `message` is dropped with it.
    pub fn tell_evt(&self, message: M) -> FutureEvt<impl Future<Output = Result<(), SendError<M>>>> {
        future_evt(self.tell_async(message))
    }

    /// [`tell`](Self::tell), if the inbox has room.
    ///
    /// # Errors
    /// [`TrySendError`] with the message.
    pub fn try_tell(&self, message: M) -> Result<(), TrySendError<M>> {
        of!(self, tx => tx.try_send(message), mailbox tx.send(message).map_err(TrySendError::from))
    }

    /// [`tell`](Self::tell), waiting at most `timeout` for room.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the message.
    ///
    /// # Cancellation
    /// As [`tell`](Self::tell).
    pub fn tell_timeout(&self, message: M, timeout: Duration) -> Result<(), SendTimeoutError<M>> {
        of!(self, tx => tx.send_timeout(message, timeout), mailbox tx.send(message).map_err(SendTimeoutError::from))
    }

    /// Sends a question, and waits for the reply. `question` makes the message, of the [`Reply`] that the actor is to
    /// send it with.
    ///
    /// Two actors that ask each other wait for ever, as two threads do that lock two locks in different orders: ask
    /// in one direction, and tell in the other.
    ///
    /// # Examples
    /// ```
    /// use lamprey::actor::{self, Inbox, Reply};
    ///
    /// # lamprey::run(|| {
    /// struct Square(u64, Reply<u64>);
    ///
    /// let (address, _host) = actor::spawn(|inbox: &mut Inbox<Square>| {
    ///     for Square(n, reply) in inbox {
    ///         let _ = reply.send(n * n);
    ///     }
    /// });
    /// assert_eq!(address.ask(|reply| Square(9, reply)), Ok(81));
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`AskError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here: the message has then not been sent, or the actor can see that nobody
    /// waits ([`Reply::is_abandoned`]). A reply that has come by then is returned, and the host unwinds at its next
    /// blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[doc(alias = "call")]
    pub fn ask<A>(&self, question: impl FnOnce(Reply<A>) -> M) -> Result<A, AskError> {
        let (reply, answer) = Reply::pair();
        self.tell(question(reply)).map_err(|SendError(_)| AskError::Gone)?;
        answer.recv().map_err(|RecvError| AskError::NoReply)
    }

    /// [`ask`](Self::ask) for async code. `question` is called at once.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the message has not been sent, or the actor can see that nobody
    /// waits.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn ask_async<A>(
        &self,
        question: impl FnOnce(Reply<A>) -> M,
    ) -> impl Future<Output = Result<A, AskError>> {
        let (reply, mut answer) = Reply::pair();
        let message = question(reply);
        async move {
            let sent = self.tell_async(message).await;
            sent.map_err(|SendError(_)| AskError::Gone)?;
            answer.recv_async().await.map_err(|RecvError| AskError::NoReply)
        }
    }

    /// [`ask`](Self::ask) as an event. If another is chosen, the message has not been sent, or the actor can see that
    /// nobody waits.
    pub fn ask_evt<A>(
        &self,
        question: impl FnOnce(Reply<A>) -> M,
    ) -> FutureEvt<impl Future<Output = Result<A, AskError>>> {
        future_evt(self.ask_async(question))
    }

    /// [`ask`](Self::ask), waiting at most `timeout` in all.
    ///
    /// # Examples
    /// ```
    /// use lamprey::actor::{self, AskTimeoutError, Inbox, Reply};
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| {
    /// let (address, _host) = actor::spawn(|inbox: &mut Inbox<Reply<u64>>| {
    ///     let _question = inbox.recv();
    ///     lamprey::sleep(Duration::MAX);
    /// });
    /// let asked = address.ask_timeout(|reply| reply, Duration::from_millis(5));
    /// assert!(matches!(asked, Err(AskTimeoutError::Timeout)));
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`AskTimeoutError`].
    ///
    /// # Cancellation
    /// As [`ask`](Self::ask).
    ///
    /// # Blocking
    /// As [`ask`](Self::ask).
    pub fn ask_timeout<A>(
        &self,
        question: impl FnOnce(Reply<A>) -> M,
        timeout: Duration,
    ) -> Result<A, AskTimeoutError> {
        let begin = world::now();
        let (reply, mut answer) = Reply::pair();
        self.tell_timeout(question(reply), timeout).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => AskTimeoutError::Timeout,
            SendTimeoutError::Disconnected(_) => AskTimeoutError::Gone,
        })?;
        let left = timeout.saturating_sub(world::now().saturating_duration_since(begin));
        answer.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => AskTimeoutError::Timeout,
            RecvTimeoutError::Disconnected => AskTimeoutError::NoReply,
        })
    }

    /// Waits for the end of the actor: of the run that is, or is to begin, or was the last.
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.being.run())
    }

    /// Lets the two actors end together: when one of them has ended, in whatever way, the other is ended as by
    /// [`cancel`](Self::cancel). (In Erlang, an actor that ends well leaves those that it is linked to alone. Here, use
    /// a [monitor](Self::monitor) for that.)
    ///
    /// A link is between the runs that are, or are to begin: a [supervised](super::Inbox::supervised) actor that is
    /// started again has no links. If one of the two has ended already, the other is ended at once.
    ///
    /// # Examples
    /// ```
    /// use lamprey::actor::{self, Ended, Inbox};
    ///
    /// # lamprey::run(|| {
    /// let (reader, _reader) = actor::spawn(|inbox: &mut Inbox<()>| drop(inbox.recv()));
    /// let (writer, _writer) = actor::spawn(|_: &mut Inbox<()>| lamprey::sleep(std::time::Duration::MAX));
    /// reader.link(&writer);
    /// reader.tell(()).unwrap(); // it ends
    /// assert_eq!(writer.monitor().wait(), Ended::Linked);
    /// # });
    /// ```
    ///
    /// # Blocking
    /// Never: it does not wait for an end.
    pub fn link<N>(&self, other: &Address<N>) {
        link(&self.being.run(), &other.being.run());
    }

    /// Ends the actor: its function unwinds from its current or next blocking call; if it has not begun, it does not
    /// run. [`monitor`](Self::monitor) waits for it. Does nothing if it has ended.
    ///
    /// # Blocking
    /// Never: it does not wait for the end.
    pub fn cancel(&self) {
        self.being.run().cancel(Ended::Cancelled);
    }

    /// How many messages wait that the actor has not taken out yet.
    pub fn len(&self) -> usize {
        of!(self, tx => tx.len(), mailbox tx.len())
    }

    /// True if no messages wait.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

// Not derived: that would ask for `M: Clone`.
impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        let post = match &self.post {
            Post::Mailbox(tx) => Post::Mailbox(tx.clone()),
            Post::Bounded(tx) => Post::Bounded(tx.clone()),
        };
        Self { post, being: self.being.clone() }
    }
}

impl<M> fmt::Debug for Address<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("ended", &self.monitor().try_wait()).finish_non_exhaustive()
    }
}
