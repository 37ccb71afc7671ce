//! Channels with several receivers of each value: broadcast and watch.

use crate::found::{finds, holds};
use lamprey::broadcast::RecvError;
use lamprey::{broadcast, spawn, watch};

/// All that a receiver gets, and how many it has missed.
fn read(mut rx: broadcast::Receiver<u64>) -> (Vec<u64>, u64) {
    let (mut got, mut missed) = (Vec::new(), 0);
    loop {
        match rx.recv() {
            Ok(value) => got.push(value),
            Err(RecvError::Lagged(count)) => missed += count,
            Err(RecvError::Disconnected) => return (got, missed),
        }
        lamprey::yield_now();
    }
}

#[test]
fn each_receiver_gets_or_counts_each_value() {
    holds(|| {
        let (tx, rx) = broadcast(2);
        let other = tx.subscribe();
        let readers = [rx, other].map(|rx| spawn(move || read(rx)));
        for value in 0..8 {
            // Refused only when the last receiver is gone, which waits for the end.
            tx.send(value).unwrap();
            if value % 3 == 0 {
                lamprey::yield_now();
            }
        }
        drop(tx);
        for reader in readers {
            let (got, missed) = reader.join().unwrap();
            assert!(got.is_sorted_by(|one, next| one < next), "{got:?}");
            assert_eq!(got.len() as u64 + missed, 8);
            // The last ones are in the ring.
            assert!(got.ends_with(&[6, 7]), "{got:?}");
        }
    });
}

#[test]
fn senders_keep_their_order() {
    holds(|| {
        let (tx, rx) = broadcast(100);
        let senders = [0, 100].map(|first| {
            let tx = tx.clone();
            spawn(move || (first..first + 5).for_each(|value| _ = tx.send(value).unwrap()))
        });
        drop(tx);
        let (got, missed) = read(rx);
        assert_eq!((got.len(), missed), (10, 0));
        for first in [0, 100] {
            assert!(got.iter().filter(|value| **value / 100 * 100 == first).is_sorted(), "{got:?}");
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn a_watcher_misses_no_last_change() {
    holds(|| {
        let (tx, rx) = watch(0);
        let watchers = [rx, tx.subscribe()].map(|mut rx| {
            spawn(move || {
                let mut seen = vec![rx.get()];
                while rx.changed().is_ok() {
                    seen.push(rx.get());
                }
                seen
            })
        });
        let senders = [(); 2].map(|()| {
            let tx = tx.clone();
            spawn(move || (0..3).for_each(|_| tx.send_modify(|value| *value += 1)))
        });
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        drop(tx);
        for watcher in watchers {
            let seen = watcher.join().unwrap();
            assert!(seen.is_sorted() && seen.last() == Some(&6), "{seen:?}");
        }
    });
}

#[test]
fn a_watcher_that_wants_every_change_is_found() {
    finds("a change was not seen", || {
        let (tx, mut rx) = watch(0);
        let sender = spawn(move || (1..=3).for_each(|value| tx.send(value).unwrap()));
        let mut seen = 0;
        while rx.changed().is_ok() {
            seen += 1;
        }
        sender.join().unwrap();
        assert_eq!(seen, 3, "a change was not seen");
    });
}
