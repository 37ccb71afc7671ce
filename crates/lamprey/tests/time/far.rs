//! Both ends of the range of times: whoever waits for nothing, or until an instant that has passed, goes on at once; whoever
//! waits for longer than any clock counts waits until another wakes or cancels it. On the real clock and on a simulated one.

mod rows;

use crate::common::{FOREVER, run, within};
use lamprey::event::{Event, at};
use lamprey::{
    JoinError, MissedTicks, Runtime, TimedOut, interval, interval_at, sleep, spawn, with_deadline,
    with_timeout,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const MOMENT: Duration = Duration::from_millis(1);
const YEAR: Duration = Duration::from_secs(365 * 86_400);

/// A wait that nothing ends but its limit.
struct Row {
    name: &'static str,
    wait: fn(Duration),
}

/// Times that nobody lives to see. They surround the ends of the numbers that hold times somewhere.
fn far() -> Vec<Duration> {
    let seconds = [1 << 34, 1 << 40, i64::MAX as u64 - 100_000, i64::MAX as u64, 1 << 63, u64::MAX];
    let mut all: Vec<_> = seconds.into_iter().map(Duration::from_secs).collect();
    all.extend([Duration::from_nanos(u64::MAX), Duration::from_nanos(1 << 63), 600 * YEAR, 20_000 * YEAR]);
    all.extend([Duration::from_micros(u64::MAX), Duration::from_millis(u64::MAX), Duration::MAX]);
    all.extend([Duration::from_millis((1 << 36) + 1), Duration::MAX - Duration::from_nanos(1)]);
    // About each level of the wheels, of which a tick is 2^16 ns.
    all.extend((7..11).map(|level| Duration::from_nanos((1 << (6 * level)) + (1 << 22))));
    all.retain(|time| *time > Duration::from_secs(3600));
    all
}

/// The wait has begun, is not over, and ends when it is cancelled.
fn waits_until_cancelled(row: &Row, time: Duration) {
    let (begun, wait) = (Arc::new(AtomicBool::new(false)), row.wait);
    let begins = begun.clone();
    let host = spawn(move || {
        begins.store(true, Ordering::Relaxed);
        wait(time);
    });
    while !begun.load(Ordering::Relaxed) {
        sleep(MOMENT);
    }
    sleep(MOMENT);
    assert!(!host.is_finished(), "{}: {time:?} were over at once", row.name);
    host.cancel();
    let error = host.join().expect_err("it was cancelled");
    assert!(matches!(error, JoinError::Cancelled(_)), "{}: {time:?}: {error:?}", row.name);
}

fn on_both_clocks(program: impl Fn(bool) + Clone + Send + 'static) {
    let real = program.clone();
    run(1, move || real(false));
    within(FOREVER, move || Runtime::simulated(1).run(move || program(true)));
}

#[test]
fn far_times_are_waited_until_another_ends_it() {
    on_both_clocks(|is_simulated| {
        for row in rows::all(is_simulated) {
            far().into_iter().for_each(|time| waits_until_cancelled(row, time));
        }
    });
}

#[test]
fn no_time_is_over_at_once() {
    on_both_clocks(|is_simulated| {
        for row in rows::all(is_simulated) {
            for time in [Duration::ZERO, Duration::from_nanos(1)] {
                let begin = lamprey::sim::now();
                (row.wait)(time);
                let passed = lamprey::sim::now() - begin;
                assert!(!is_simulated || passed < Duration::from_millis(5), "{}: {passed:?}", row.name);
            }
        }
    });
}

/// The waits that the clock can represent end then, and not before.
#[test]
fn a_simulated_clock_goes_on_for_millennia() {
    within(FOREVER, || {
        for years in [583, 585, 1090, 9000] {
            // Sockets keep their limits as 64 bits of nanoseconds; what is longer has no end.
            for row in rows::all(true).filter(|row| years < 584 || !row.name.contains("Socket")) {
                let passed = Runtime::simulated(1).run(|| {
                    let begin = lamprey::sim::now();
                    (row.wait)(years * YEAR);
                    lamprey::sim::now() - begin
                });
                assert!(passed >= years * YEAR, "{} was over after {passed:?}", row.name);
                assert!(passed < years * YEAR + Duration::from_secs(1), "{} took {passed:?}", row.name);
            }
        }
    });
}

fn is_a_deadlock(program: impl FnOnce() + Send + 'static) {
    let run = AssertUnwindSafe(|| Runtime::simulated(1).run(program));
    let payload = catch_unwind(run).expect_err("nobody ends this");
    let text = payload.downcast_ref::<String>().expect("a text");
    assert!(text.contains("deadlock"), "{text}");
}

/// What comes after the end of the simulated clock never comes, and who waits for it alone is told so.
#[test]
fn behind_the_end_of_a_simulated_clock_nothing_comes() {
    within(FOREVER, || {
        for time in [20_000 * YEAR, Duration::from_secs(1 << 40), Duration::MAX] {
            let all_wait = move || {
                let hosts: Vec<_> = rows::all(true).map(|row| spawn(move || (row.wait)(time))).collect();
                hosts.into_iter().for_each(|host| host.join().unwrap());
            };
            is_a_deadlock(all_wait);
        }
        is_a_deadlock(|| {
            (0..4).for_each(|_| sleep(2_499 * YEAR));
            let mut ticks = interval(YEAR);
            (0..100).for_each(|_| _ = ticks.tick());
        });
    });
}

/// Nor does a call on the blocking pool look for ever at a clock that stands still.
#[test]
fn a_call_that_waits_behind_the_end_is_told_so() {
    if crate::common::role().is_some() {
        let far = Duration::from_secs(1 << 40);
        Runtime::simulated(1).run(|| lamprey::block(|| lamprey::wait(lamprey::sleep_async(far))));
    }
    let (output, text) = crate::common::rerun("a_call_that_waits_behind_the_end_is_told_so", "waits");
    assert!(!output.status.success() && text.contains("never ends"), "{text}");
}

#[test]
fn instants_that_have_passed_are_over_at_once() {
    on_both_clocks(|_| {
        let now = lamprey::sim::now();
        let long_ago = [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(1), YEAR, 100 * YEAR];
        for past in long_ago.into_iter().filter_map(|time| now.checked_sub(time)) {
            lamprey::sleep_until(past);
            at(past).sync();
            lamprey::wait(lamprey::sleep_until_async(past));
            assert!(with_deadline(past, || sleep(Duration::MAX)).is_err());
            let sleeps = lamprey::with_deadline_async(past, lamprey::sleep_async(Duration::MAX));
            assert!(lamprey::wait(sleeps).is_err());
            // Each tick since then is due, one, or as many as are asked for.
            for missed in [MissedTicks::Burst, MissedTicks::Delay, MissedTicks::Skip] {
                let mut ticks = interval_at(past, Duration::MAX);
                ticks.set_missed_ticks(missed);
                assert_eq!(ticks.tick(), past);
                assert!(with_timeout(MOMENT, || ticks.tick()).is_err());
                let mut ticks = interval_at(past, Duration::from_nanos(1));
                ticks.set_missed_ticks(missed);
                (0..10).for_each(|_| _ = ticks.tick());
            }
        }
    });
}

#[test]
fn intervals_of_far_periods_tick_once() {
    on_both_clocks(|_| {
        let late = |wait: &mut dyn FnMut()| assert!(with_timeout(MOMENT, wait).is_err());
        for period in far() {
            for missed in [MissedTicks::Burst, MissedTicks::Delay, MissedTicks::Skip] {
                let mut ticks = interval(period);
                ticks.set_missed_ticks(missed);
                sleep(Duration::from_millis(6));
                ticks.tick();
                late(&mut || _ = ticks.tick());
                late(&mut || _ = ticks.tick_evt().sync());
                late(&mut || _ = lamprey::wait(ticks.tick_async()));
                ticks.reset();
                late(&mut || _ = ticks.tick());
                ticks.reset_immediately();
                ticks.tick();
            }
        }
    });
}

#[test]
fn limits_within_limits() {
    on_both_clocks(|_| {
        for time in far() {
            // The nearer one of two ends the wait, wherever it is.
            let inner = with_timeout(time, || with_timeout(MOMENT, || sleep(time)));
            assert_eq!(inner, Ok(Err(TimedOut)));
            let outer = with_timeout(MOMENT, || with_timeout(time, || with_timeout(time, || sleep(time))));
            assert_eq!(outer, Err(TimedOut));
            assert_eq!(with_timeout(time, || 1), Ok(1));
        }
    });
}

/// A thousand far ones neither delay nor lose near ones.
#[test]
fn far_ones_do_not_disturb_near_ones() {
    on_both_clocks(|_| {
        let hosts: Vec<_> = (0..1000_u32)
            .map(|n| {
                spawn(move || {
                    let time = Duration::from_micros(1 << (n % 60));
                    let begin = lamprey::sim::now();
                    let over = with_timeout(Duration::from_millis(20), || sleep(time)).is_ok();
                    let passed = lamprey::sim::now() - begin;
                    assert!(passed >= time.min(Duration::from_millis(20)));
                    assert!(!over || passed >= time);
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn a_shutdown_may_wait_for_ever() {
    for time in far() {
        within(FOREVER, move || {
            let runtime = Runtime::builder().workers(1).build().unwrap();
            runtime.run(|| drop(spawn(|| sleep(Duration::MAX))));
            assert!(runtime.shutdown(time).is_empty());
        });
    }
    for time in [Duration::ZERO, Duration::from_nanos(1)] {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        drop(runtime.run(|| spawn(|| sleep(Duration::MAX))));
        drop(within(FOREVER, move || runtime.shutdown(time)));
    }
}

/// Beside far deadlines a worker sleeps, and does not look at them again and again.
#[test]
fn far_times_cost_no_cpu() {
    use rustix::time::{ClockId, clock_gettime};
    // In a process of its own: the others compute.
    if crate::common::role().is_none() {
        let (output, text) = crate::common::rerun("far_times_cost_no_cpu", "far");
        assert!(output.status.success(), "{text}");
        return;
    }
    let used = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    };
    lamprey::run(move || {
        let hosts: Vec<_> =
            rows::all(false).map(|row| spawn(|| (row.wait)(Duration::from_secs(1 << 36)))).collect();
        sleep(Duration::from_millis(300));
        let (begin, before) = (Instant::now(), used());
        sleep(Duration::from_secs(1));
        let (passed, spent) = (begin.elapsed(), used() - before);
        assert!(spent < passed / 2, "{spent:?} of {passed:?} were spent by waiting");
        hosts.iter().for_each(|host| host.cancel());
        hosts.into_iter().for_each(|host| drop(host.join()));
    });
}
