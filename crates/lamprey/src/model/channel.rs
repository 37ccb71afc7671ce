//! Rendezvous: a value is received exactly once or comes back, whichever thread times out or leaves.
//!
//! In these models every thread blocks as an OS thread, and a deadline may pass at any moment.

use super::{check, check_bounded};
use crate::channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, channel};
use crate::sync_shim::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

#[test]
fn send_meets_recv() {
    check(|| {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || tx.send(Box::new(5)));
        assert_eq!(*rx.recv().unwrap(), 5);
        sender.join().unwrap().unwrap();
    });
}

#[test]
fn two_messages_keep_their_order() {
    check_bounded(4, || {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || (1..=2).for_each(|value| tx.send(value).unwrap()));
        assert_eq!((rx.recv(), rx.recv()), (Ok(1), Ok(2)));
        sender.join().unwrap();
    });
}

#[test]
fn recv_times_out_while_send_comes() {
    check(|| {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || tx.try_send(Box::new(1)).is_ok());
        let got = rx.recv_timeout(SOON);
        let sent = sender.join().unwrap();
        assert_eq!(got.is_ok(), sent);
    });
}

#[test]
fn both_sides_time_out() {
    check_bounded(4, || {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || tx.send_timeout(Box::new(1), SOON));
        let got = rx.recv_timeout(SOON);
        match sender.join().unwrap() {
            Ok(()) => assert_eq!(*got.unwrap(), 1),
            Err(SendTimeoutError::Timeout(value) | SendTimeoutError::Disconnected(value)) => {
                assert_eq!(*value, 1);
                assert!(got.is_err());
            }
        }
    });
}

#[test]
fn sender_goes_while_recv_waits() {
    check(|| {
        let (tx, rx) = channel::<u32>();
        let sender = thread::spawn(move || drop(tx));
        assert_eq!(rx.recv(), Err(RecvError));
        sender.join().unwrap();
    });
}

#[test]
fn receiver_goes_while_send_waits() {
    check(|| {
        let (tx, rx) = channel();
        let receiver = thread::spawn(move || drop(rx));
        assert_eq!(tx.send(9), Err(SendError(9)));
        receiver.join().unwrap();
    });
}

#[test]
fn sender_goes_while_recv_times_out() {
    check(|| {
        let (tx, rx) = channel::<u32>();
        let sender = thread::spawn(move || drop(tx));
        let got = rx.recv_timeout(SOON);
        assert!(matches!(got, Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout)));
        sender.join().unwrap();
    });
}

#[test]
fn two_senders_wait_in_the_list() {
    check_bounded(3, || {
        let (tx, rx) = channel();
        let senders: Vec<_> = (1..=2)
            .map(|value| {
                let tx = tx.clone();
                thread::spawn(move || tx.send(value).unwrap())
            })
            .collect();
        drop(tx);
        assert_eq!(rx.recv().unwrap() + rx.recv().unwrap(), 3);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

#[test]
fn one_of_two_waiting_receivers_leaves() {
    check_bounded(3, || {
        let (tx, rx) = channel();
        let theirs = rx.clone();
        let leaver = thread::spawn(move || theirs.recv_timeout(SOON).ok());
        let other = thread::spawn(move || rx.recv_timeout(SOON).ok());
        let sent = tx.send_timeout(4, SOON).is_ok();
        let got = [leaver.join().unwrap(), other.join().unwrap()];
        assert_eq!(got.iter().flatten().count(), usize::from(sent));
    });
}

#[test]
fn receiver_goes_after_one_of_two_senders_left_the_list() {
    check_bounded(4, || {
        let (tx, rx) = channel();
        let theirs = tx.clone();
        let sender = thread::spawn(move || theirs.send(1));
        assert!(tx.send_timeout(2, SOON).is_err());
        drop(rx);
        assert_eq!(sender.join().unwrap(), Err(SendError(1)));
    });
}

/// With three threads that may all spin for the LOCK, the checker does not terminate above one preemption;
/// the models of pairs explore more.
#[test]
fn receiver_goes_while_two_senders_wait() {
    check_bounded(1, || {
        let (tx, rx) = channel();
        let senders: Vec<_> = (1..=2)
            .map(|value| {
                let tx = tx.clone();
                thread::spawn(move || tx.send(value))
            })
            .collect();
        drop(rx);
        for sender in senders {
            assert!(sender.join().unwrap().is_err());
        }
    });
}

#[test]
fn a_close_ends_a_send_that_waits() {
    check(|| {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || tx.send(Box::new(1)));
        assert!(rx.close());
        assert_eq!(*sender.join().unwrap().unwrap_err().0, 1);
        assert!(rx.try_recv().is_err());
    });
}

#[test]
fn a_close_comes_while_the_two_sides_meet() {
    check(|| {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || tx.send(Box::new(1)).is_ok());
        let got = rx.try_recv().is_ok();
        rx.close();
        assert_eq!(sender.join().unwrap(), got);
    });
}

#[test]
fn a_close_comes_while_a_receive_times_out() {
    check(|| {
        let (tx, rx) = channel::<u32>();
        let receiver = thread::spawn(move || rx.recv_timeout(SOON).is_err());
        tx.close(); // unless the receiver has gone before
        assert!(receiver.join().unwrap());
        assert!(tx.is_closed());
    });
}
