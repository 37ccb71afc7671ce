//! A limit of time on an event that has a future among its parts, and so is polled: it has happened, or it
//! has not.

use lamprey::event::{Event, always, choose, choose_all, future_evt, prefer};
use lamprey::{channel, run, sleep_async};
use std::future::pending;
use std::time::Duration;

const TRIES: u64 = 20_000;

#[test]
fn what_was_given_up_has_not_been_sent() {
    let (tx, rx) = channel();
    let receiver = std::thread::spawn(move || {
        let mut got = 0;
        loop {
            match rx.try_recv() {
                Ok(()) => got += 1,
                Err(lamprey::TryRecvError::Empty) => std::hint::spin_loop(),
                Err(lamprey::TryRecvError::Disconnected) => return got,
            }
        }
    });
    let send = |n: u64| {
        let parts = (tx.send_evt(()).wrap(|sent| sent.is_ok()), future_evt(pending()));
        choose(parts).sync_timeout(Duration::from_nanos(100 + n % 3_000))
    };
    let sent = (0..TRIES).filter(|&n| send(n) == Some(true)).count();
    drop(tx);
    assert_eq!(receiver.join().unwrap(), sent, "received, of all that were sent");
}

#[test]
fn what_has_begun_to_happen_is_waited_for_beyond_the_limit() {
    let both = || {
        let late = future_evt(async { sleep_async(Duration::from_millis(20)).await });
        choose_all((late, always(()))).sync_timeout(Duration::from_millis(1))
    };
    assert_eq!(both().map(|all| all.len()), Some(2));
    assert_eq!(run(both).map(|all| all.len()), Some(2));
}

#[test]
fn a_limit_that_has_passed_still_lets_what_is_ready_happen() {
    run(|| {
        // More than the operations that one may do before it is another's turn.
        for n in 0..5_000 {
            let now = choose((always(n), future_evt(pending()))).sync_timeout(Duration::ZERO);
            assert_eq!(now, Some(n));
        }
    });
}

/// Operations of futures give way now and then, also those that are ready; for a thread that chooses they are ready all the same.
#[test]
fn each_operation_that_is_ready_is_found_so() {
    run(|| {
        let limiter = lamprey::RateLimiter::new(u32::MAX, Duration::from_secs(1));
        let (mut one, other) = lamprey::net::UnixStream::pair().unwrap();
        std::io::Write::write_all(&mut one, &[1; 600]).unwrap();
        for _ in 0..200 {
            assert!(prefer((limiter.acquire_evt(1).wrap(|()| true), always(false))).sync());
            assert!(limiter.acquire_evt(1).poll().is_some());
            let mut byte = [0];
            assert!(prefer((other.read_evt(&mut byte).wrap(|read| read.is_ok()), always(false))).sync());
            assert!(other.read_evt(&mut byte).poll().is_some());
            let none = Duration::ZERO;
            assert!(lamprey::wait(lamprey::with_timeout_async(none, limiter.acquire_async(1))).is_ok());
        }
    });
}
