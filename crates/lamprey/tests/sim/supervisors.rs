//! Supervisors on the clock of the simulation: strategies, restarts, their intensity.

use crate::found::{finds, holds};
use lamprey::scope::{Backoff, Restart, Strategy, Supervisor};
use lamprey::sync::Mutex;
use lamprey::{sleep, yield_now};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Which children are started again when the middle one of three fails once.
fn restarts(strategy: Strategy) -> [u32; 3] {
    let starts = [const { AtomicU32::new(0) }; 3];
    let mut supervisor =
        Supervisor::<String>::typed().strategy(strategy).backoff(Backoff::new(SECOND)).on_failure(|_| ());
    for (number, count) in starts.iter().enumerate() {
        supervisor = supervisor.child(number.to_string(), Restart::OnFailure, move || {
            let first = count.fetch_add(1, Relaxed) == 0;
            if number == 1 && first {
                sleep(SECOND);
                return Err("once".to_owned());
            }
            sleep(10 * SECOND);
            Ok(())
        });
    }
    supervisor.run().unwrap();
    starts.map(|count| count.into_inner() - 1)
}

#[test]
fn strategies_restart_exactly_their_group() {
    for (strategy, expected) in [
        (Strategy::OneForOne, [0, 1, 0]),
        (Strategy::OneForAll, [1, 1, 1]),
        (Strategy::RestForOne, [0, 1, 1]),
    ] {
        holds(move || assert_eq!(restarts(strategy), expected));
    }
}

/// A child that fails every so often; returns how often it ran before the supervisor gave up.
fn fails_every(period: Duration, most: u32) -> Option<u32> {
    let runs = AtomicU32::new(0);
    let ended = Supervisor::<String>::typed()
        .limit(3, 10 * SECOND)
        .backoff(Backoff::new(Duration::ZERO))
        .on_failure(|_| ())
        .child("fails", Restart::OnFailure, || {
            sleep(period);
            if runs.fetch_add(1, Relaxed) + 1 == most { Ok(()) } else { Err("again".to_owned()) }
        })
        .run();
    ended.is_err().then(|| runs.into_inner())
}

#[test]
fn the_limit_counts_restarts_within_its_window() {
    holds(|| {
        // Three restarts are allowed in ten seconds, the fourth is not.
        assert_eq!(fails_every(SECOND, 100), Some(4));
        // Never four within ten seconds.
        assert_eq!(fails_every(5 * SECOND, 100), None);
    });
}

#[test]
fn cancelled_it_ends_the_last_child_first() {
    holds(|| {
        let order = Mutex::new(Vec::new());
        struct Ends<'a>(&'a Mutex<Vec<u32>>, u32);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                lamprey::shield(|| self.0.lock().unwrap().push(self.1));
            }
        }
        let order_ref = &order;
        let run = || {
            let mut supervisor = Supervisor::<String>::typed().on_failure(|_| ());
            for number in 0..3 {
                supervisor = supervisor.child(number.to_string(), Restart::Always, move || {
                    let _ends = Ends(order_ref, number);
                    sleep(Duration::MAX);
                    Ok(())
                });
            }
            supervisor.run()
        };
        assert!(lamprey::with_timeout(SECOND, run).is_err());
        assert_eq!(*order.lock().unwrap(), [2, 1, 0]);
    });
}

/// Relies on another child, and is not restarted with it.
#[test]
fn a_strategy_that_is_too_weak_is_found() {
    finds("of another run", || {
        let epoch = AtomicU32::new(0);
        let _ = Supervisor::<String>::typed()
            .strategy(Strategy::OneForOne)
            .backoff(Backoff::new(Duration::from_micros(5)))
            .on_failure(|_| ())
            .child("server", Restart::OnFailure, || {
                let run = epoch.fetch_add(1, Relaxed);
                sleep(Duration::from_micros(10));
                if run == 0 { Err("once".to_owned()) } else { Ok(()) }
            })
            .child("client", Restart::OnFailure, || {
                let served_by = epoch.load(Relaxed);
                for _ in 0..10 {
                    sleep(Duration::from_micros(3));
                    yield_now();
                }
                lamprey::shield(|| assert_eq!(epoch.load(Relaxed), served_by, "of another run"));
                Ok(())
            })
            .limit(1, SECOND)
            .run()
            .map_err(|error| panic!("{error}"));
    });
}
