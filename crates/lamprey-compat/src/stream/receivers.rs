//! The receivers of channels.

use super::{IntoStream, Next};
use lamprey::{actor, bounded, broadcast, channel_of, mailbox, multicast, rpc, unbounded, watch};

/// Implements it for a receiver and for a reference to it (`&` or `&mut`, whichever receiving takes), by a function from the
/// reference to an `Option` of the next item.
macro_rules! gives {
    ([$($generics:tt)*] $receiver:ty, & $($mut:ident)?, $item:ty, |$rx:ident| $next:expr) => {
        impl<$($generics)*> IntoStream for $receiver {
            type Item = $item;

            async fn next_item(self) -> Next<Self> {
                let $($mut)? rx = self;
                let next = {
                    let $rx = & $($mut)? rx;
                    $next
                };
                next.map_or(Next::End, |item| Next::Item(item, rx))
            }
        }

        impl<$($generics)*> IntoStream for & $($mut)? $receiver {
            type Item = $item;

            async fn next_item(self) -> Next<Self> {
                let $rx = self;
                let next = $next;
                next.map_or(Next::End, |item| Next::Item(item, $rx))
            }
        }
    };
}
pub(super) use gives;

gives!([T: Send] lamprey::Receiver<T>, &, T, |rx| rx.recv_async().await.ok());
gives!([T: Send] bounded::Receiver<T>, &, T, |rx| rx.recv_async().await.ok());
gives!([T: Send] unbounded::Receiver<T>, &, T, |rx| rx.recv_async().await.ok());
gives!([T: Send] channel_of::Receiver<T>, &, T, |rx| rx.recv_async().await.ok());
gives!([T: Send] mailbox::Receiver<T>, &mut, T, |rx| rx.recv_async().await.ok());
gives!([T: Send] actor::Inbox<T>, &mut, T, |rx| rx.recv_async().await.ok());
gives!([T: Send + Sync + Clone] multicast::Receiver<T>, &mut, T, |rx| rx.recv_async().await.ok());
gives!([Q: Send, A: Send] rpc::Server<Q, A>, &, (Q, rpc::Reply<A>), |rx| rx.recv_async().await.ok());
gives!([T: Send + Sync + Clone] watch::Receiver<T>, &mut, T, |rx| {
    rx.changed_async().await.ok().map(|()| rx.get())
});
gives!([T: Send + Sync + Clone] broadcast::Receiver<T>, &mut, Result<T, broadcast::RecvError>, |rx| {
    match rx.recv_async().await {
        Err(broadcast::RecvError::Disconnected) => None,
        received => Some(received),
    }
});
