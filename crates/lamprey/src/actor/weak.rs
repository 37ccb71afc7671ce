//! An address that does not keep its actor.

use super::Address;
use super::address::Post;
use super::life::Being;
use crate::channel::{bounded, mailbox};
use std::fmt;
use std::sync::Arc;

/// An address that does not keep its actor's inbox open, made by [`Address::downgrade`].
///
/// # Examples
/// An actor that gives its own address to others, and yet ends with the last of its users.
/// ```
/// use lamprey::actor;
///
/// # lamprey::run(|| {
/// let (address, mut inbox) = actor::inbox::<u32>();
/// let me = address.downgrade();
/// let host = lamprey::spawn(move || {
///     let sum = inbox.run(|inbox| inbox.iter().sum::<u32>());
///     (sum.unwrap(), me.upgrade().is_some())
/// });
/// address.tell(7).unwrap();
/// drop(address);
/// assert_eq!(host.join().unwrap(), (7, false));
/// # });
/// ```
pub struct WeakAddress<M> {
    post: WeakPost<M>,
    being: Arc<Being>,
}

enum WeakPost<M> {
    Mailbox(mailbox::WeakSender<M>),
    Bounded(bounded::WeakSender<M>),
}

impl<M> Address<M> {
    /// A weak address of the same actor, which does not keep its inbox open.
    ///
    /// # Blocking
    /// Never.
    pub fn downgrade(&self) -> WeakAddress<M> {
        let (post, being) = self.parts();
        let post = match post {
            Post::Mailbox(tx) => WeakPost::Mailbox(tx.downgrade()),
            Post::Bounded(tx) => WeakPost::Bounded(tx.downgrade()),
        };
        WeakAddress { post, being: being.clone() }
    }
}

impl<M> WeakAddress<M> {
    /// An address, unless the last one is gone; that is final.
    ///
    /// # Blocking
    /// Never.
    pub fn upgrade(&self) -> Option<Address<M>> {
        let post = match &self.post {
            WeakPost::Mailbox(tx) => Post::Mailbox(tx.upgrade()?),
            WeakPost::Bounded(tx) => Post::Bounded(tx.upgrade()?),
        };
        Some(Address::new(post, self.being.clone()))
    }
}

impl<M> Clone for WeakAddress<M> {
    fn clone(&self) -> Self {
        let post = match &self.post {
            WeakPost::Mailbox(tx) => WeakPost::Mailbox(tx.clone()),
            WeakPost::Bounded(tx) => WeakPost::Bounded(tx.clone()),
        };
        Self { post, being: self.being.clone() }
    }
}

impl<M> fmt::Debug for WeakAddress<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakAddress").finish_non_exhaustive()
    }
}
