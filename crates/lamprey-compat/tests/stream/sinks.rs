//! Senders as sinks.

use crate::common::run;
use futures::{FutureExt, SinkExt, StreamExt, stream};
use lamprey::{SendError, parasite, spawn, wait};
use lamprey_compat::stream::{IntoSink, IntoStream};

#[test]
fn each_kind_takes_all_values_in_order_and_closes() {
    /// All that `recv` gets of what is sent.
    fn all<R: Send + 'static>(
        (tx, mut rx): (impl IntoSink<u32> + 'static, R),
        recv: impl Fn(&mut R) -> Option<u32> + Send + 'static,
    ) {
        let receiver = spawn(move || std::iter::from_fn(|| recv(&mut rx)).collect::<Vec<_>>());
        let mut sink = tx.into_sink();
        wait(async {
            sink.send_all(&mut stream::iter(0..100).map(Ok)).await?;
            sink.close().await?;
            assert_eq!(sink.send(7).await, Err(SendError(7)));
            Ok::<_, SendError<u32>>(())
        })
        .unwrap();
        assert_eq!(receiver.join().unwrap(), Vec::from_iter(0..100));
    }
    run(2, || {
        all(lamprey::channel(), |rx| rx.recv().ok());
        all(lamprey::bounded(2), |rx| rx.recv().ok());
        all(lamprey::unbounded(), |rx| rx.recv().ok());
        all(lamprey::mailbox(), |rx| rx.recv().ok());
        all(lamprey::multicast(), |rx| rx.recv().ok());
        all(lamprey::broadcast(1000), |rx| rx.recv().ok());
        for capacity in [Some(0), Some(1), None] {
            all(lamprey::channel_of(capacity), |rx| rx.recv().ok());
        }
        all(lamprey::actor::inbox(), |inbox| inbox.recv().ok());
        all(lamprey::actor::bounded_inbox(1), |inbox| inbox.recv().ok());
        let (tx, rx) = lamprey::watch(0);
        wait((&tx).into_sink().send(5)).unwrap();
        assert_eq!(rx.get(), 5);
    });
}

#[test]
fn what_a_full_channel_cannot_take_is_kept_until_there_is_room() {
    run(1, || {
        let (tx, rx) = lamprey::bounded(1);
        let mut sink = (&tx).into_sink();
        // One in the channel, one in the sink; a third is not accepted.
        assert_eq!(wait(sink.feed(1)), Ok(()));
        assert_eq!(wait(sink.feed(2)), Ok(()));
        assert_eq!(sink.feed(3).now_or_never(), None);
        assert_eq!(sink.flush().now_or_never(), None);
        assert_eq!(rx.recv(), Ok(1));
        assert_eq!(wait(sink.flush()), Ok(()));
        assert_eq!((rx.try_recv(), rx.try_recv().ok()), (Ok(2), None));
    });
}

#[test]
fn a_value_that_is_accepted_without_being_asked_comes_back() {
    use futures::Sink;
    use std::pin::Pin;
    run(1, || {
        let (tx, rx) = lamprey::bounded(1);
        let mut sink = tx.into_sink();
        let mut sink = Pin::new(&mut sink);
        assert_eq!(sink.as_mut().start_send(1), Ok(()));
        assert_eq!(sink.as_mut().start_send(2), Ok(()));
        assert_eq!(sink.as_mut().start_send(3), Err(SendError(3)));
        assert_eq!((rx.recv(), wait(sink.flush()), rx.recv()), (Ok(1), Ok(()), Ok(2)));
    });
}

#[test]
fn a_value_that_is_kept_comes_back_when_the_receiver_goes() {
    run(1, || {
        let (tx, rx) = lamprey::channel();
        let mut sink = tx.into_sink();
        assert_eq!(wait(sink.feed(1)), Ok(()));
        assert_eq!(sink.flush().now_or_never(), None);
        drop(rx);
        assert_eq!(wait(sink.flush()), Err(SendError(1)));
        assert_eq!(wait(sink.flush()), Ok(()));
        assert_eq!(wait(sink.send(2)), Err(SendError(2)));
        assert_eq!(wait(sink.close()), Ok(()));
    });
}

#[test]
fn a_stream_is_forwarded_from_one_channel_to_another() {
    run(2, || {
        let ((tx, from), (to, rx)) = (lamprey::channel(), lamprey::bounded(3));
        let relay =
            parasite(async move { from.into_stream().map(|n: u64| Ok(n * 2)).forward(to.into_sink()).await });
        let sender = spawn(move || (0..1000).for_each(|n| tx.send(n).unwrap()));
        assert_eq!(rx.iter().sum::<u64>(), 999_000);
        sender.join().unwrap();
        assert_eq!(relay.join().unwrap(), Ok(()));
    });
}
