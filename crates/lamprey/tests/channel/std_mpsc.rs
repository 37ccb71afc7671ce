//! The contract of `std::sync::mpsc::sync_channel(0)`, restated: whoever replaces one by the other keeps it.
//! From OS threads, as there, and the same bodies from hosts.
//!
//! Differs: a send that races with the receiver's end may not be accepted and dropped there (here it comes
//! back); a `try_send` never succeeds without a receiver that waits; the receiver can be cloned.

use crate::common::{FOREVER, run, within};
use lamprey::{RecvError, RecvTimeoutError, TryRecvError, TrySendError, channel};
use std::time::{Duration, Instant};

/// A thread, of the kind that the test runs on.
enum Thread<T> {
    Os(std::thread::JoinHandle<T>),
    Host(lamprey::JoinHandle<T>),
}

fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Thread<T> {
    match lamprey::Handle::current() {
        Some(_) => Thread::Host(lamprey::spawn(f)),
        None => Thread::Os(std::thread::spawn(f)),
    }
}

impl<T> Thread<T> {
    fn join(self) -> T {
        match self {
            Self::Os(thread) => thread.join().unwrap(),
            Self::Host(host) => host.join().unwrap(),
        }
    }
}

macro_rules! contract {
    ($($(#[$attribute:meta])* fn $name:ident() $body:block)+) => {
        mod on_os_threads {
            use super::*;
            $($(#[$attribute])* #[test] fn $name() { within(FOREVER, super::$name) })+
        }
        mod on_hosts {
            use super::*;
            $($(#[$attribute])* #[test] fn $name() { [1, 2].into_iter().for_each(|workers| run(workers, super::$name)) })+
        }
        $(fn $name() $body)+
    };
}

contract! {
    fn one_value() {
        let (tx, rx) = channel();
        let thread = spawn(move || tx.send(1).unwrap());
        assert_eq!(rx.recv(), Ok(1));
        thread.join();
    }

    fn an_owned_value() {
        let (tx, rx) = channel();
        let thread = spawn(move || tx.send(Box::new(1)).unwrap());
        assert_eq!(*rx.recv().unwrap(), 1);
        thread.join();
    }

    fn dropping_both_ends_unused() {
        let (tx, rx) = channel::<Box<u8>>();
        drop(tx);
        drop(rx);
        let (tx, rx) = channel::<Box<u8>>();
        drop(rx);
        drop(tx);
    }

    fn a_send_without_a_receiver_fails() {
        let (tx, rx) = channel();
        drop(rx);
        assert_eq!(tx.send(1).unwrap_err().0, 1);
    }

    fn a_shared_send_without_a_receiver_fails() {
        let (tx, rx) = channel();
        let other = tx.clone();
        drop(rx);
        assert!(tx.send(1).is_err() && other.send(2).is_err());
    }

    fn a_receive_after_the_last_sender_fails() {
        let (tx, rx) = channel::<u8>();
        drop(tx.clone());
        drop(tx);
        assert_eq!(rx.recv(), Err(RecvError));
    }

    fn a_blocked_receive_fails_when_the_sender_goes() {
        let (tx, rx) = channel::<u8>();
        let thread = spawn(move || rx.recv());
        lamprey::sleep(Duration::from_millis(2));
        drop(tx);
        assert_eq!(thread.join(), Err(RecvError));
    }

    fn a_blocked_send_fails_when_the_receiver_goes() {
        let (tx, rx) = channel();
        let other = tx.clone();
        let threads = [spawn(move || tx.send(1)), spawn(move || other.send(2))];
        lamprey::sleep(Duration::from_millis(2));
        drop(rx);
        assert!(threads.into_iter().all(|thread| thread.join().is_err()));
    }

    fn a_try_receive_tells_empty_from_disconnected() {
        let (tx, rx) = channel::<u8>();
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        drop(tx);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    }

    fn a_try_send_tells_full_from_disconnected() {
        let (tx, rx) = channel();
        assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
        drop(rx);
        assert_eq!(tx.try_send(1), Err(TrySendError::Disconnected(1)));
    }

    fn a_try_send_reaches_a_receiver_that_waits() {
        let (tx, rx) = channel();
        let thread = spawn(move || rx.recv());
        while tx.try_send(1).is_err() {
            lamprey::yield_now();
        }
        assert_eq!(thread.join(), Ok(1));
    }

    fn ten_thousand_values_in_order() {
        let (tx, rx) = channel();
        let thread = spawn(move || (0..10_000).for_each(|n| tx.send(n).unwrap()));
        assert!((0..10_000).all(|n| rx.recv() == Ok(n)));
        assert_eq!(rx.recv(), Err(RecvError));
        thread.join();
    }

    fn values_of_many_senders() {
        let (tx, rx) = channel();
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let tx = tx.clone();
                spawn(move || (0..500).for_each(|_| tx.send(1).unwrap()))
            })
            .collect();
        drop(tx);
        assert_eq!(rx.iter().sum::<u32>(), 4000);
        threads.into_iter().for_each(Thread::join);
    }

    fn a_receive_with_a_timeout() {
        let (tx, rx) = channel();
        let start = Instant::now();
        assert_eq!(rx.recv_timeout(Duration::from_millis(3)), Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= Duration::from_millis(3));
        let thread = spawn(move || tx.send(1).unwrap());
        assert_eq!(rx.recv_timeout(FOREVER), Ok(1));
        thread.join();
        assert_eq!(rx.recv_timeout(FOREVER), Err(RecvTimeoutError::Disconnected));
    }

    fn receives_with_short_timeouts_get_everything() {
        let (tx, rx) = channel();
        let thread = spawn(move || {
            for n in 0..200 {
                if n % 20 == 0 {
                    lamprey::sleep(Duration::from_millis(1));
                }
                tx.send(1).unwrap();
            }
        });
        let mut got = 0;
        loop {
            match rx.recv_timeout(Duration::from_micros(100)) {
                Ok(n) => got += n,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        assert_eq!(got, 200);
        thread.join();
    }

    fn a_timeout_of_no_end() {
        let (tx, rx) = channel();
        let thread = spawn(move || {
            lamprey::sleep(Duration::from_millis(1));
            tx.send(1).unwrap();
        });
        assert_eq!(rx.recv_timeout(Duration::MAX), Ok(1));
        thread.join();
    }

    fn iteration() {
        let (tx, rx) = channel();
        let (total, sum) = channel();
        let thread = spawn(move || total.send(rx.iter().sum::<u32>()));
        (1..=3).for_each(|n| tx.send(n).unwrap());
        drop(tx);
        assert_eq!(sum.recv(), Ok(6));
        thread.join().unwrap();
    }

    fn iteration_that_is_broken_off() {
        let (tx, rx) = channel();
        let thread = spawn(move || {
            let mut count = 0;
            for n in &rx {
                if count >= 3 {
                    break;
                }
                count += n;
            }
            count
        });
        (0..3).for_each(|_| tx.send(1).unwrap());
        tx.send(1).unwrap();
        assert_eq!(thread.join(), 3);
        assert!(tx.send(9).is_err());
    }

    fn owned_and_trying_iteration() {
        let (tx, rx) = channel();
        assert_eq!(rx.try_iter().count(), 0);
        let thread = spawn(move || (0..3).for_each(|n| tx.send(n).unwrap()));
        assert_eq!(rx.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
        thread.join();
    }

    fn a_channel_of_channels() {
        let (tx, rx) = channel();
        let thread = spawn(move || {
            let (inner, values) = channel();
            tx.send(values).unwrap();
            inner.send(5).unwrap();
        });
        assert_eq!(rx.recv().unwrap().recv(), Ok(5));
        thread.join();
    }

    fn a_receiver_in_hand_when_its_thread_panics() {
        let (tx, rx) = channel::<u8>();
        let thread = spawn(move || {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                let _rx = rx;
                std::panic::resume_unwind(Box::new(()));
            }))
            .is_err()
        });
        assert!(thread.join());
        assert!(tx.send(1).is_err());
    }

    fn rendezvous_one_hundred_times_without_waiting_long() {
        for n in 0..100 {
            let (tx, rx) = channel();
            let thread = spawn(move || tx.send(n));
            assert_eq!(rx.recv(), Ok(n));
            thread.join().unwrap();
        }
    }
}
