//! Both ends of the range of each limit: what is far away waits and neither overflows, panics nor comes at once; zero and
//! what has passed are over at once. In real time, and in a simulation, whose clock gets there sooner.

use crate::common::{FOREVER, run, within};
use lamprey::event::{Event, at, choose, never, timeout};
use lamprey::net::UnixStream;
use lamprey::stm::{TVar, atomically_timeout, check};
use lamprey::sync::{Barrier, Condvar, IVar, Mutex, OnceLock, Semaphore, WaitGroup};
use lamprey::{
    MVar, MissedTicks, Runtime, bounded, broadcast, channel, interval, mailbox, oneshot, parasite_fn, rpc,
    scope, sleep, sleep_async, sleep_until, spawn, unbounded, wait, watch, with_deadline, with_timeout,
    with_timeout_async,
};
use std::io::Read;
use std::time::{Duration, Instant};

/// Each waits for this long, and for nothing that comes.
type Wait = (&'static str, fn(Duration));

const WAITS: &[Wait] = &[
    ("sleep", sleep),
    ("sleep_async", |d| wait(sleep_async(d))),
    ("timeout", |d| timeout(d).sync()),
    ("choose", |d| choose((never(), timeout(d))).sync()),
    ("with_timeout", |d| over(with_timeout(d, || sleep(Duration::MAX)))),
    ("with_timeout_async", |d| over(wait(with_timeout_async(d, sleep_async(Duration::MAX))))),
    ("channel recv", |d| over(with_ends(channel::<u8>(), |(_, rx)| rx.recv_timeout(d)))),
    ("channel send", |d| over(with_ends(channel(), |(tx, _)| tx.send_timeout(1, d)))),
    ("bounded recv", |d| over(with_ends(bounded::<u8>(1), |(_, rx)| rx.recv_timeout(d)))),
    ("bounded send", |d| {
        let (tx, _rx) = bounded(1);
        tx.send(0).unwrap();
        over(tx.send_timeout(1, d));
    }),
    ("unbounded", |d| over(with_ends(unbounded::<u8>(), |(_, rx)| rx.recv_timeout(d)))),
    ("mailbox", |d| over(with_ends(mailbox::<u8>(), |(_, rx)| rx.recv_timeout(d)))),
    ("oneshot", |d| over(with_ends(oneshot::<u8>(), |(_, rx)| rx.recv_timeout(d)))),
    ("broadcast", |d| over(with_ends(broadcast::<u8>(1), |(_, rx)| rx.recv_timeout(d)))),
    ("watch", |d| over(with_ends(watch(1), |(_, rx)| rx.changed_timeout(d)))),
    ("rpc call", |d| over(with_ends(rpc::<u8, u8>(), |(client, _)| client.call_timeout(1, d).is_ok()))),
    ("MVar take", |d| over(MVar::<u8>::empty().take_timeout(d))),
    ("IVar get", |d| over(IVar::<u8>::new().get_timeout(d))),
    ("OnceLock", |d| over(OnceLock::<u8>::new().wait_timeout(d))),
    ("Semaphore", |d| over(Semaphore::new(0).acquire_timeout(1, d))),
    ("Barrier", |d| over(Barrier::new(2).wait_timeout(d))),
    ("WaitGroup", |d| {
        let group = WaitGroup::new();
        let _member = group.member();
        over(group.wait_timeout(d));
    }),
    ("Condvar", |d| over(Condvar::new().wait_timeout(Mutex::new(()).lock().unwrap(), d))),
    ("atomically", |d| {
        let never = TVar::new(false);
        over(atomically_timeout(d, |tx| check(never.get(tx)?)));
    }),
    ("host join", |d| over(spawn(|| sleep(Duration::MAX)).join_timeout(d))),
    ("parasite join", |d| over(parasite_fn(|| sleep(Duration::MAX)).join_timeout(d))),
    ("scope", |d| {
        scope(|s| {
            let mut child = s.spawn(|| sleep(Duration::MAX));
            over(child.join_timeout(d));
            child.cancel();
        });
    }),
    ("interval", |d| {
        let mut ticks = interval(d.max(Duration::from_nanos(1)));
        for missed in [MissedTicks::Burst, MissedTicks::Delay, MissedTicks::Skip] {
            ticks.set_missed_ticks(missed);
            ticks.reset();
        }
        ticks.tick();
    }),
];

/// Whatever it has found.
fn over<R>(_: R) {}

fn with_ends<E, R>(mut ends: E, call: impl FnOnce(&mut E) -> R) -> R {
    call(&mut ends)
}

/// From three years to what no clock counts; around the ends of 32, 36, 63 and 64 bits of several units.
fn far() -> Vec<Duration> {
    let mut far =
        vec![Duration::MAX, Duration::MAX - Duration::from_nanos(1), Duration::from_nanos(u64::MAX)];
    let seconds =
        [u64::MAX, u64::MAX / 2, i64::MAX as u64, i64::MAX as u64 - 100_000, 1 << 40, 1 << 34, 3 << 25];
    far.extend(seconds.map(Duration::from_secs));
    far.extend([u64::MAX, i64::MAX as u64, 1 << 36, (1 << 36) - 1].map(Duration::from_millis));
    far.extend([u64::MAX, i64::MAX as u64, 1 << 47].map(Duration::from_micros));
    far
}

/// For a time that is no time compared with those that are far.
fn waits(name: &str, far: Duration, moment: Duration, call: impl FnOnce() + Send) {
    assert!(with_timeout(moment, call).is_err(), "{name} for {far:?} was over at once");
}

#[test]
fn what_is_far_away_waits() {
    run(2, || {
        for far in far() {
            scope(|s| {
                for &(name, call) in WAITS {
                    s.spawn(move || waits(name, far, Duration::from_millis(20), || call(far)));
                }
            });
        }
    });
}

#[test]
fn what_is_far_away_waits_in_a_simulation() {
    within(FOREVER, || {
        Runtime::simulated(1).run(|| {
            for far in far() {
                for &(name, call) in WAITS {
                    waits(name, far, Duration::from_secs(1 << 20), || call(far));
                }
            }
        });
    });
}

#[test]
fn no_time_at_all_is_over_at_once() {
    fn all() {
        for time in [Duration::ZERO, Duration::from_nanos(1)] {
            for &(name, call) in WAITS {
                assert!(with_timeout(FOREVER, || call(time)).is_ok(), "{name} for {time:?} waits");
            }
        }
    }
    run(1, all);
    within(FOREVER, || Runtime::simulated(1).run(all));
}

#[test]
fn moments_that_have_passed_and_those_that_never_come() {
    run(1, || {
        let now = Instant::now();
        let past = [Duration::from_nanos(1), Duration::from_secs(1), Duration::from_secs(3600)];
        for then in past.into_iter().filter_map(|ago| now.checked_sub(ago)) {
            sleep_until(then);
            at(then).sync();
            assert!(with_deadline(then, || sleep(Duration::MAX)).is_err());
            assert!(choose((at(then).wrap(|()| true), timeout(Duration::MAX).wrap(|()| false))).sync());
        }
        for then in far().into_iter().filter_map(|far| now.checked_add(far)) {
            let moment = Duration::from_millis(5);
            waits("sleep_until", then - now, moment, || sleep_until(then));
            waits("at", then - now, moment, || at(then).sync());
            waits("with_deadline", then - now, moment, || over(with_deadline(then, || sleep(Duration::MAX))));
        }
    });
}

/// Limits within limits: the nearest decides, whatever the others are.
#[test]
fn the_nearest_of_nested_limits_decides() {
    run(1, || {
        for far in far() {
            let inner = with_timeout(far, || with_timeout(Duration::from_millis(1), || sleep(far)));
            assert!(matches!(inner, Ok(Err(_))));
            let outer = with_timeout(Duration::from_millis(1), || with_timeout(far, || sleep(far)));
            assert!(outer.is_err());
        }
    });
}

#[test]
fn the_limit_of_a_socket_is_far_away() {
    run(1, || {
        for far in far() {
            let (mut near, _other) = UnixStream::pair().unwrap();
            near.set_read_timeout(Some(far)).unwrap();
            waits("read", far, Duration::from_millis(5), || over(near.read(&mut [0])));
        }
        let (near, _other) = UnixStream::pair().unwrap();
        assert_eq!(
            near.set_read_timeout(Some(Duration::ZERO)).unwrap_err().kind(),
            std::io::ErrorKind::InvalidInput
        );
    });
}

#[test]
fn the_end_of_a_runtime_has_a_limit_that_is_far_away() {
    for far in far() {
        within(FOREVER, move || {
            let runtime = Runtime::builder().workers(1).build().unwrap();
            over(runtime.handle().spawn(|| sleep(Duration::MAX)));
            assert!(runtime.shutdown(far).is_empty());
        });
    }
}

/// Many that are far away neither delay nor lose those that are near.
#[test]
fn near_ones_among_far_ones() {
    fn near_and_far() {
        let near = |n| {
            spawn(move || with_timeout(FOREVER, || sleep(Duration::from_micros(1_u64 << (n % 17)))).is_ok())
        };
        let far = |n| {
            let time = Duration::from_micros(1_u64 << (35 + n % 25));
            spawn(move || with_timeout(Duration::from_millis(100), || sleep(time)).is_err())
        };
        let hosts: Vec<_> = (0..2_000).map(|n| if n % 4 == 0 { near(n) } else { far(n) }).collect();
        assert!(hosts.into_iter().all(|host| host.join().unwrap()));
    }
    run(2, near_and_far);
    within(FOREVER, || Runtime::simulated(1).run(near_and_far));
}
