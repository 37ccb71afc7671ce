//! The senders of channels.

use super::IntoSink;
use lamprey::actor::Address;
use lamprey::{
    SendError, TrySendError, bounded, broadcast, channel_of, mailbox, multicast, unbounded, watch,
};

/// Implements it for a sender and a reference to it.
macro_rules! takes {
    ([$($bound:tt)*] $sender:ty, |$tx:ident, $value:ident| $now:expr, $later:expr) => {
        takes!(impl [$($bound)*] $sender, |$tx, $value| $now, $later);
        takes!(impl [$($bound)*] &$sender, |$tx, $value| $now, $later);
    };
    (impl [$($bound:tt)*] $sender:ty, |$tx:ident, $value:ident| $now:expr, $later:expr) => {
        impl<T: Send $($bound)*> IntoSink<T> for $sender {
            fn send_now(&self, $value: T) -> Result<(), TrySendError<T>> {
                let $tx = self;
                $now
            }

            async fn send_later(self, $value: T) -> (Self, Result<(), SendError<T>>) {
                let $tx = &self;
                let sent = $later;
                (self, sent)
            }
        }
    };
}

/// For kinds whose sends may wait.
macro_rules! waits {
    ($sender:ty) => {
        takes!([] $sender, |tx, value| tx.try_send(value), tx.send_async(value).await);
    };
}

/// For kinds whose sends never wait.
macro_rules! never_waits {
    ([$($bound:tt)*] $sender:ty) => {
        takes!([$($bound)*] $sender, |tx, value| tx.send(value).map(drop).map_err(TrySendError::from),
            tx.send(value).map(drop));
    };
}

waits!(lamprey::Sender<T>);
waits!(bounded::Sender<T>);
waits!(channel_of::Sender<T>);
takes!([] Address<T>, |tx, value| tx.try_tell(value), tx.tell_async(value).await);
never_waits!([] unbounded::Sender<T>);
never_waits!([] mailbox::Sender<T>);
never_waits!([+ Sync] broadcast::Sender<T>);
never_waits!([+ Sync] multicast::Sender<T>);
never_waits!([+ Sync] watch::Sender<T>);
