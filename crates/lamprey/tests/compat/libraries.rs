//! Both directions of async: Lamprey's futures in the executors of others, and the futures of others in
//! Lamprey.

use crate::common::*;
use futures::channel::{mpsc, oneshot};
use futures::future::{join_all, select_all};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, select};
use lamprey::{
    Builder, Handle, JoinError, Receiver, Runtime, block, channel, parasite, parasite_fn, parasite_local,
    sleep_async, spawn, wait, with_timeout_async,
};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

/// Who is on the other side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Thread,
    Host,
    Stackful,
    /// A host of another runtime.
    Stranger,
}

const PEERS: [Peer; 4] = [Peer::Thread, Peer::Host, Peer::Stackful, Peer::Stranger];

static STRANGERS: LazyLock<Runtime> = LazyLock::new(|| runtime(2));

impl Peer {
    fn start(self, f: impl FnOnce() + Send + 'static) {
        match self {
            Self::Host if Handle::current().is_some() => drop(spawn(f)),
            Self::Stackful if Handle::current().is_some() => parasite_fn(f).detach(),
            Self::Stranger => drop(STRANGERS.handle().spawn(f)),
            _ => drop(thread::spawn(f)),
        }
    }
}

/// Mostly long enough for the other side to be blocked by then.
fn pause() {
    lamprey::sleep(Duration::from_micros(200));
}

/// Awaits what `make` makes in all the places of Lamprey, and on an OS thread.
#[track_caller]
fn in_lamprey<F: Future<Output = ()> + Send + 'static>(make: fn(Peer) -> F) {
    for (workers, peer) in [1, 2].into_iter().flat_map(|n| PEERS.map(|peer| (n, peer))) {
        run(workers, move || {
            parasite(make(peer)).join().unwrap();
            parasite_local(make(peer)).join().unwrap();
            Builder::new().attach_inline(true).parasite(make(peer)).unwrap().join().unwrap();
            wait(make(peer));
            spawn(move || wait(make(peer))).join().unwrap();
            parasite_fn(move || wait(make(peer))).join().unwrap();
            parasite(async move { wait(make(peer)) }).join().unwrap();
            wait(async move { wait(make(peer)) });
            block(move || wait(make(peer)));
            let crowd: Vec<_> = (0..20).map(|_| parasite(make(peer))).collect();
            wait(join_all(crowd)).into_iter().for_each(|outcome| outcome.unwrap());
        });
    }
    within(FOREVER, move || wait(make(Peer::Thread)));
}

fn tokio_alone() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

fn tokio_of_two() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap()
}

/// As [`in_others`], and in executors on a host. Those hold its worker up, as any call of the system does: so
/// `make` must need nothing of that worker. They never panic.
#[track_caller]
fn in_others_and_on_hosts<F: Future<Output = ()> + Send + 'static>(make: fn(Peer) -> F) {
    in_others(make);
    for peer in [Peer::Thread, Peer::Stranger] {
        run(1, move || {
            futures::executor::block_on(make(peer));
            tokio_alone().block_on(make(peer));
            parasite(async move { tokio_alone().block_on(make(peer)) }).join().unwrap();
            parasite_fn(move || tokio_of_two().block_on(make(peer))).join().unwrap();
            wait(async move { tokio_alone().block_on(make(peer)) });
        });
    }
}

/// Awaits what `make` makes in all the places that others have.
#[track_caller]
fn in_others<F: Future<Output = ()> + Send + 'static>(make: fn(Peer) -> F) {
    for peer in [Peer::Thread, Peer::Stranger] {
        within(FOREVER, move || {
            futures::executor::block_on(make(peer));
            for tokio in [tokio_alone(), tokio_of_two()] {
                tokio.block_on(make(peer));
                tokio.block_on(async move {
                    let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(make(peer))).collect();
                    let thread = tokio::task::spawn_blocking(move || wait(make(peer)));
                    for task in tasks.into_iter().chain([thread]) {
                        task.await.unwrap();
                    }
                });
            }
        });
    }
}

#[test]
fn a_channel_is_awaited_anywhere() {
    async fn there_and_back(peer: Peer) {
        let (tx, theirs) = channel();
        let (back, rx) = channel();
        peer.start(move || theirs.iter().for_each(|n| back.send(n * 2).unwrap()));
        for n in 0..50_u32 {
            tx.send_async(n).await.unwrap();
            assert_eq!(rx.recv_async().await, Ok(n * 2));
        }
        drop(tx);
        assert!(rx.recv_async().await.is_err());
    }
    in_lamprey(there_and_back);
    in_others_and_on_hosts(there_and_back);
}

#[test]
fn hosts_and_parasites_are_joined_anywhere() {
    async fn join(_: Peer) {
        let host = STRANGERS.handle().spawn(|| {
            pause();
            1
        });
        assert_eq!(host.await.unwrap(), 1);
        let panics = STRANGERS.handle().spawn(|| std::panic::resume_unwind(Box::new(2)));
        assert!(matches!(panics.await, Err(JoinError::Panicked(payload)) if payload.is::<i32>()));
        let parasites = STRANGERS.handle().spawn(|| {
            let stackless = parasite(async {
                sleep_async(Duration::from_micros(300)).await;
                3
            });
            let stackful = parasite_fn(|| {
                pause();
                4
            });
            (stackless, stackful, parasite(async { 5 }))
        });
        let (stackless, stackful, ready) = parasites.await.unwrap();
        assert_eq!(stackful.await.unwrap(), 4);
        assert_eq!(stackless.await.unwrap() + ready.await.unwrap(), 8);
    }
    in_lamprey(join);
    in_others_and_on_hosts(join);
}

#[test]
fn a_handle_that_is_dropped_in_a_foreign_task_cancels() {
    async fn cancel(_: Peer) {
        let (tx, rx) = channel::<()>();
        let waits = STRANGERS.handle().spawn(|| parasite(async move { rx.recv_async().await }));
        let mut waits = waits.await.unwrap();
        assert!(futures::poll!(&mut waits).is_pending());
        drop(waits);
        // If it was running at that moment, it may take one more value before it ends.
        let sent = [tx.send_async(()).await, tx.send_async(()).await];
        assert!(sent[1].is_err(), "the receiver went with the parasite");
    }
    in_others_and_on_hosts(cancel);
    in_lamprey(cancel);
}

#[test]
fn time_passes_anywhere() {
    async fn sleep(_: Peer) {
        sleep_async(Duration::from_micros(500)).await;
        let (_tx, rx) = channel::<()>();
        assert!(with_timeout_async(Duration::from_micros(500), rx.recv_async()).await.is_err());
    }
    in_lamprey(sleep);
    in_others(sleep);
}

#[test]
fn tokio_selects_among_channels_of_ours_and_its_own() {
    async fn choose(peer: Peer) {
        let (tx, rx) = channel();
        let (their_tx, mut their_rx) = tokio::sync::mpsc::unbounded_channel();
        peer.start(move || {
            for n in 0..100_u32 {
                if n % 2 == 0 { tx.send(n).unwrap() } else { their_tx.send(n).unwrap() }
            }
        });
        let mut sum = 0;
        let (mut ours, mut theirs) = (true, true);
        while ours || theirs {
            tokio::select! {
                value = rx.recv_async(), if ours => value.map_or_else(|_| ours = false, |n| sum += n),
                value = their_rx.recv(), if theirs => value.map_or_else(|| theirs = false, |n| sum += n),
            }
        }
        assert_eq!(sum, 4950);
    }
    in_others_and_on_hosts(choose);
    in_lamprey(choose);
}

#[test]
fn tokio_s_own_tasks_and_timers_are_awaited_here() {
    static TOKIO: LazyLock<tokio::runtime::Runtime> = LazyLock::new(tokio_of_two);
    async fn theirs(_: Peer) {
        let (tx, rx) = channel();
        let task = TOKIO.spawn(async move {
            tokio::time::sleep(Duration::from_micros(300)).await;
            tx.send_async(7).await.unwrap();
            8
        });
        assert_eq!((rx.recv_async().await, task.await.unwrap()), (Ok(7), 8));
    }
    in_lamprey(theirs);
}

#[test]
fn channels_of_the_futures_crate() {
    in_lamprey(|peer| async move {
        let (once, value) = oneshot::channel();
        let (tx, rx) = mpsc::unbounded();
        peer.start(move || {
            pause();
            once.send(5).unwrap();
            (0..50_u32).for_each(|n| tx.unbounded_send(n).unwrap());
        });
        assert_eq!(value.await, Ok(5));
        assert_eq!(rx.fold(0, |sum, n| async move { sum + n }).await, 1225);
        let (dropped, value) = oneshot::channel::<()>();
        peer.start(move || drop(dropped));
        assert!(value.await.is_err());
    });
}

#[test]
fn async_channel_and_async_lock() {
    in_lamprey(|peer| async move {
        let (tx, rx) = async_channel::bounded(1);
        let barrier = Arc::new(async_lock::Barrier::new(2));
        let count = Arc::new(async_lock::Mutex::new(0));
        let (theirs, their_count) = (barrier.clone(), count.clone());
        peer.start(move || {
            wait(theirs.wait());
            for n in 0..50_u32 {
                wait(tx.send(n)).unwrap();
                *wait(their_count.lock()) += 1;
            }
        });
        barrier.wait().await;
        let mut sum = 0;
        while let Ok(n) = rx.recv().await {
            let mut count = count.lock().await;
            sleep_async(Duration::from_micros(1)).await; // a lock of theirs, held over a wait of ours
            *count += 1;
            sum += n;
        }
        assert_eq!((sum, *count.lock().await), (1225, 100));
    });
}

#[test]
fn tokio_sync() {
    use tokio::sync::{Notify, Semaphore, broadcast, mpsc, oneshot, watch};
    in_lamprey(|peer| async move {
        let (tx, mut rx) = mpsc::channel(1);
        let (shout, mut heard) = broadcast::channel(100);
        let (set, mut seen) = watch::channel(0);
        let (once, value) = oneshot::channel();
        let (permits, notify) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
        let (their_permits, theirs) = (permits.clone(), notify.clone());
        peer.start(move || {
            wait(theirs.notified());
            for n in 0..50_u32 {
                wait(tx.send(n)).unwrap();
                shout.send(n).unwrap();
                their_permits.add_permits(1);
            }
            set.send(9).unwrap();
            once.send(1).unwrap();
        });
        notify.notify_one();
        let mut sum = 0;
        while let Some(n) = rx.recv().await {
            assert_eq!(heard.recv().await, Ok(n));
            permits.acquire().await.unwrap().forget();
            sum += n;
        }
        assert_eq!((sum, value.await), (1225, Ok(1)));
        assert!(seen.wait_for(|&n| n == 9).await.is_ok());
    });
}

/// Channels whose senders are hosts or threads; each sends `values` numbers.
fn sources(peer: Peer, channels: u32, values: u32) -> Vec<Receiver<u32>> {
    let source = |first: u32| {
        let (tx, rx) = channel();
        peer.start(move || (0..values).for_each(|n| tx.send(first * values + n).unwrap()));
        rx
    };
    (0..channels).map(source).collect()
}

#[test]
fn many_nodes_of_one_parasite() {
    in_lamprey(|peer| async move {
        let receivers = sources(peer, 30, 3);
        let mut sum = 0;
        for value in join_all(receivers.iter().map(|rx| rx.recv_async())).await {
            sum += value.unwrap();
        }
        let mut some: FuturesUnordered<_> = receivers.iter().map(|rx| rx.recv_async()).collect();
        while let Some(value) = some.next().await {
            sum += value.unwrap();
        }
        let (value, _, rest) = select_all(receivers.iter().map(|rx| Box::pin(rx.recv_async()))).await;
        sum += value.unwrap();
        // What the losers have been given goes back into their channels, or is received by those that are
        // awaited on.
        let kept: Vec<_> = rest.into_iter().step_by(2).collect();
        let kept_values = kept.len();
        for value in join_all(kept).await {
            sum += value.unwrap();
        }
        let mut left = 30 - 1 - kept_values;
        for rx in &receivers {
            while let Ok(value) = rx.recv_async().await {
                sum += value;
                left -= 1;
            }
        }
        assert_eq!((sum, left), ((0..90).sum(), 0));
    });
}

#[test]
fn a_select_loses_nothing() {
    in_lamprey(|peer| async move {
        let [first, second] = <[_; 2]>::try_from(sources(peer, 2, 100)).unwrap();
        let mut sum = 0;
        let other = loop {
            let mut one = pin!(first.recv_async().fuse());
            let mut two = pin!(second.recv_async().fuse());
            let (which, value) = select! { value = one => (0, value), value = two => (1, value) };
            match value {
                Ok(n) => sum += n,
                Err(_) => break if which == 0 { &second } else { &first },
            }
        };
        while let Ok(n) = other.recv_async().await {
            sum += n;
        }
        assert_eq!(sum, (0..200).sum::<u32>());
    });
}

#[test]
fn one_task_is_both_sides() {
    async fn alone(_: Peer) {
        let (tx, rx) = channel();
        for n in 0..20 {
            let (sent, got) = futures::join!(tx.send_async(n), rx.recv_async());
            assert_eq!((sent, got), (Ok(()), Ok(n)));
            let (got, sent) = futures::join!(rx.recv_async(), tx.send_async(n));
            assert_eq!((sent, got), (Ok(()), Ok(n)));
        }
    }
    in_lamprey(alone);
    in_others_and_on_hosts(alone);
}
