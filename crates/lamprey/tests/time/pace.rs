//! Intervals, rate limits and sleeps that are moved: on the real clock for what must not come early, on a simulated one for
//! what comes when.

use crate::common::awaiting::*;
use crate::common::{eventually, run};
use lamprey::event::{Event, choose, never, prefer, timeout};
use lamprey::{Builder, MissedTicks, RateLimiter, Runtime, channel, interval, interval_at};
use lamprey::{sleep, sleep_async, sleep_until, sleep_until_async, spawn, wait, with_timeout};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

fn milliseconds(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The time that has passed on the clock of the simulation.
fn passed() -> impl Fn() -> u128 {
    let start = lamprey::sim::now();
    move || (lamprey::sim::now() - start).as_millis()
}

fn simulated(program: impl FnOnce() + Send + 'static) {
    Runtime::simulated(1).run(program);
}

/// Three late ticks, then three more: when they are due, in periods of 10 ms after the first.
fn after_a_pause(missed: MissedTicks) -> Vec<u128> {
    let (tx, rx) = mpsc::channel();
    simulated(move || {
        let mut ticks = interval(milliseconds(10));
        ticks.set_missed_ticks(missed);
        let first = ticks.tick();
        sleep(milliseconds(35));
        for _ in 0..5 {
            tx.send((ticks.tick() - first).as_millis()).unwrap();
        }
    });
    rx.iter().collect()
}

#[test]
fn missed_ticks() {
    assert_eq!(after_a_pause(MissedTicks::Burst), [10, 20, 30, 40, 50]);
    assert_eq!(after_a_pause(MissedTicks::Delay), [10, 45, 55, 65, 75]);
    assert_eq!(after_a_pause(MissedTicks::Skip), [10, 40, 50, 60, 70]);
}

#[test]
fn an_interval_does_not_drift() {
    let start = Instant::now();
    lamprey::run(move || {
        for missed in [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay] {
            let mut ticks = interval_at(start, milliseconds(1));
            ticks.set_missed_ticks(missed);
            let mut last = None;
            for _ in 0..20 {
                let due = ticks.tick();
                assert!(due <= Instant::now(), "a tick came early");
                assert!(last.is_none_or(|last| due > last));
                if missed != MissedTicks::Delay {
                    assert_eq!((due - start).as_nanos() % 1_000_000, 0);
                }
                last = Some(due);
            }
        }
    });
}

#[test]
fn a_tick_that_is_given_up_is_still_due() {
    everywhere(|| async {
        let start = Instant::now();
        let mut ticks = interval_at(start + HOUR, milliseconds(5));
        let (_, waker) = Wakes::new();
        assert!(poll(&mut Box::pin(ticks.tick_async()), &waker).is_pending());
        ticks.reset_at(start + milliseconds(3));
        assert_eq!(choose((ticks.tick_evt(), timeout(HOUR).wrap(|()| start))).await, start + milliseconds(3));
        let lost = prefer((lamprey::event::always(None), ticks.tick_evt().wrap(Some)));
        assert_eq!(lost.await, None);
        assert_eq!(ticks.tick_async().await, start + milliseconds(8));
    });
    lamprey::run(|| {
        let mut ticks = interval(HOUR);
        let first = ticks.tick();
        assert!(with_timeout(milliseconds(1), || ticks.tick()).is_err());
        ticks.reset_immediately();
        assert!(ticks.tick() > first);
        ticks.reset_at(first);
        assert_eq!(ticks.tick(), first);
    });
}

#[test]
fn an_interval_beyond_the_clock_never_ticks() {
    lamprey::run(|| {
        let mut ticks = interval(Duration::MAX);
        ticks.tick();
        assert!(with_timeout(milliseconds(1), || ticks.tick()).is_err());
        assert_eq!(ticks.tick_evt().sync_timeout(milliseconds(1)), None);
        ticks.reset();
        assert!(wait(lamprey::with_timeout_async(milliseconds(1), ticks.tick_async())).is_err());
    });
}

#[test]
#[should_panic(expected = "the period of an interval must be longer than zero")]
fn an_interval_without_a_period() {
    interval(Duration::ZERO);
}

#[test]
fn sleeping_until_an_instant() {
    everywhere(|| async {
        let soon = Instant::now() + milliseconds(2);
        sleep_until_async(soon).await;
        assert!(Instant::now() >= soon);
        sleep_until_async(soon).await;
    });
    lamprey::run(|| {
        let soon = Instant::now() + milliseconds(2);
        sleep_until(soon);
        assert!(Instant::now() >= soon);
        sleep_until(soon);
    });
}

#[test]
fn a_sleep_is_moved_while_its_task_waits() {
    lamprey::run(|| {
        for (before, after) in [(HOUR, milliseconds(2)), (milliseconds(1), milliseconds(4))] {
            let (tx, rx) = channel();
            let asleep = lamprey::parasite(async move {
                let mut sleep = pin!(sleep_async(before));
                let (_, waker) = Wakes::new();
                let is_early = poll_pinned(sleep.as_mut(), &waker).is_pending();
                assert!(is_early || before < HOUR);
                sleep.as_mut().reset(Instant::now() + HOUR);
                assert!(!sleep.is_elapsed());
                let new = Instant::now() + after;
                sleep.as_mut().reset(new);
                assert_eq!(sleep.deadline(), Some(new));
                sleep.as_mut().await;
                assert!(Instant::now() >= new && sleep.is_elapsed());
                // A second time.
                sleep.as_mut().reset(new + after);
                sleep.await;
                assert!(Instant::now() >= new + after);
                tx.send_async(()).await.unwrap();
            });
            rx.recv().unwrap();
            asleep.join().unwrap();
        }
    });
}

/// A future that is shared: polled by one thread, and reset by another one, which keeps its waker.
#[test]
fn reset_elsewhere_it_wakes_its_task() {
    for _ in 0..20 {
        let (wakes, waker) = Wakes::new();
        let mut sleep = Box::pin(sleep_async(HOUR));
        let sleep = lamprey::run(move || {
            assert!(poll(&mut sleep, &waker).is_pending());
            let (tx, rx) = channel();
            spawn(move || {
                sleep.as_mut().reset(Instant::now() + milliseconds(1));
                tx.send(sleep).unwrap();
            });
            let sleep = rx.recv().unwrap();
            while wakes.count() == 0 {
                lamprey::sleep(milliseconds(1));
            }
            (sleep, wakes)
        });
        // The runtime has ended. On a thread without one:
        let (mut sleep, wakes) = sleep;
        let before = wakes.count();
        let waker = std::task::Waker::from(wakes.clone());
        sleep.as_mut().reset(Instant::now() + HOUR);
        assert!(poll(&mut sleep, &waker).is_pending());
        sleep.as_mut().reset(Instant::now());
        while wakes.count() == before {
            thread::sleep(milliseconds(1));
        }
        assert!(poll(&mut sleep, &waker).is_ready());
    }
}

#[test]
fn a_sleep_is_send_and_sync() {
    fn both<T: Send + Sync>(_: &T) {}
    let sleep = sleep_async(HOUR);
    both(&sleep);
    both(&interval(HOUR));
    both(&RateLimiter::new(1, HOUR));
    thread::scope(|scope| scope.spawn(|| assert!(!sleep.is_elapsed())).join().unwrap());
}

fn poll_pinned<F: Future>(future: Pin<&mut F>, waker: &std::task::Waker) -> Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(waker))
}

#[test]
fn a_burst_and_then_the_rate() {
    simulated(|| {
        let (limiter, passed) = (RateLimiter::new(100, Duration::from_secs(1)).with_burst(5), passed());
        let mut times = Vec::new();
        for _ in 0..9 {
            limiter.acquire(1);
            times.push(passed());
        }
        assert_eq!(times, [0, 0, 0, 0, 0, 10, 20, 30, 40]);
        sleep(milliseconds(30));
        assert_eq!(limiter.available(), 3);
        assert!(limiter.try_acquire(3) && !limiter.try_acquire(1));
        sleep(HOUR);
        assert_eq!(limiter.available(), 5);
        // More than the bucket holds: at once, and the others pay.
        limiter.acquire(25);
        let start = passed();
        limiter.acquire(1);
        assert_eq!(passed() - start, 210);
    });
}

#[test]
fn those_that_wait_are_served_in_order() {
    simulated(|| {
        let limiter = Arc::new(RateLimiter::new(1, milliseconds(10)).with_burst(10));
        limiter.acquire(10);
        let order = Arc::new(Mutex::new(Vec::new()));
        let hosts: Vec<_> = [10, 1, 3, 1]
            .into_iter()
            .enumerate()
            .map(|(place, n)| {
                let (limiter, order) = (limiter.clone(), order.clone());
                let host = spawn(move || {
                    limiter.acquire(n);
                    order.lock().unwrap().push(place);
                });
                sleep(milliseconds(1));
                host
            })
            .collect();
        assert!(!limiter.try_acquire(0), "others wait");
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
    });
}

#[test]
fn who_gives_up_takes_nothing_and_lets_the_next_one_pass() {
    simulated(|| {
        let limiter = Arc::new(RateLimiter::new(1, milliseconds(10)));
        limiter.acquire(1);
        let passed = passed();
        let (first, second, third) = {
            let shared = || limiter.clone();
            let (a, b, c) = (shared(), shared(), shared());
            let first = spawn(move || a.acquire(1_000_000));
            sleep(milliseconds(1));
            let second = spawn(move || choose((b.acquire_evt(1), timeout(milliseconds(3)))).sync());
            let third = spawn(move || wait(c.acquire_async(1)));
            (first, second, third)
        };
        sleep(milliseconds(4));
        first.cancel();
        second.join().unwrap();
        third.join().unwrap();
        assert!(first.join().is_err());
        assert_eq!(passed(), 10);
        assert_eq!(limiter.acquire_evt(1).sync_timeout(milliseconds(9)), None);
        limiter.acquire(1);
        assert_eq!(passed(), 20);
        let either = choose((limiter.acquire_evt(1), never()));
        either.sync();
        assert_eq!(passed(), 30);
    });
}

#[test]
fn the_rate_is_kept_by_many_threads() {
    everywhere(|| async {
        let (limiter, start) =
            (RateLimiter::new(10_000, Duration::from_secs(1)).with_burst(10), Instant::now());
        for _ in 0..60 {
            limiter.acquire_async(1).await;
        }
        assert!(start.elapsed() >= milliseconds(5), "60 in {:?}", start.elapsed());
    });
    lamprey::run(|| {
        let (limiter, start) =
            (Arc::new(RateLimiter::new(1000, Duration::from_secs(1)).with_burst(1)), Instant::now());
        let hosts: Vec<_> = (0..31)
            .map(|_| {
                let limiter = limiter.clone();
                spawn(move || limiter.acquire(1))
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert!(start.elapsed() >= milliseconds(30));
    });
}

#[test]
fn extreme_rates() {
    let slow = RateLimiter::new(1, Duration::MAX).with_burst(u32::MAX);
    assert!(slow.try_acquire(u32::MAX));
    assert!(format!("{slow:?}").contains("available"));
    let fast = RateLimiter::new(u32::MAX, Duration::from_nanos(1)).with_burst(1);
    fast.acquire(1);
    fast.acquire(u32::MAX);
}

#[test]
fn a_loop_over_ticks_or_tokens_that_are_there_lets_others_run() {
    run(1, || {
        // The others come to an end only if they run while the loop does.
        let until_others_run = |mut step: Box<dyn FnMut()>| {
            let ran = Arc::new(AtomicBool::new(false));
            let other = spawn({
                let ran = ran.clone();
                move || ran.store(true, Ordering::Relaxed)
            });
            while !ran.load(Ordering::Relaxed) {
                step();
            }
            other.join().unwrap();
        };
        let mut ticks = interval(Duration::from_nanos(1));
        until_others_run(Box::new(move || _ = ticks.tick()));
        let limiter = RateLimiter::new(u32::MAX, Duration::from_nanos(1));
        until_others_run(Box::new(move || limiter.acquire(1)));
    });
}

#[test]
fn such_a_loop_is_cancelled() {
    run(1, || {
        let mut ticks = interval(Duration::from_nanos(1));
        let ended = lamprey::with_timeout(Duration::from_millis(2), || {
            loop {
                ticks.tick();
            }
        });
        assert_eq!(ended, Err::<(), _>(lamprey::TimedOut));
        let limiter = RateLimiter::new(u32::MAX, Duration::from_nanos(1));
        let ended = lamprey::with_timeout(Duration::from_millis(2), || {
            loop {
                limiter.acquire(1);
            }
        });
        assert_eq!(ended, Err::<(), _>(lamprey::TimedOut));
    });
}

#[test]
fn tokens_that_are_there_are_never_refused() {
    let limiter = RateLimiter::new(u32::MAX, Duration::from_secs(1));
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..100_000).for_each(|_| assert!(limiter.try_acquire(1))));
        }
    });
}

#[test]
fn a_destructor_during_an_unwind_gets_its_tokens() {
    struct Limited<'a>(&'a RateLimiter);
    impl Drop for Limited<'_> {
        fn drop(&mut self) {
            self.0.acquire(1);
        }
    }
    run(1, || {
        let limiter = Arc::new(RateLimiter::new(1, Duration::from_millis(2)));
        let theirs = limiter.clone();
        let waiting = spawn({
            let limiter = limiter.clone();
            move || (0..3).for_each(|_| limiter.acquire(1))
        });
        let host = spawn(move || {
            let _limited = Limited(&theirs);
            theirs.acquire(1);
            panic!("on purpose");
        });
        assert!(host.join().is_err());
        waiting.join().unwrap();
    });
}

#[test]
fn numbers_beyond_the_clock_are_kept() {
    let limiter = RateLimiter::new(1, Duration::from_secs(1 << 30)).with_burst(u32::MAX);
    assert_eq!(limiter.available(), u32::MAX);
    assert!(limiter.try_acquire(u32::MAX));
    assert!(!limiter.try_acquire(1));
}

#[test]
fn a_sleep_without_a_deadline_can_be_given_one_while_a_task_waits() {
    run(2, || {
        let sleep = Arc::new(Mutex::new(Box::pin(lamprey::sleep_async(Duration::MAX))));
        let polled = Arc::new(AtomicBool::new(false));
        let waiting = lamprey::parasite({
            let (sleep, polled) = (sleep.clone(), polled.clone());
            std::future::poll_fn(move |context| {
                let poll = sleep.lock().unwrap().as_mut().poll(context);
                polled.store(true, Ordering::Relaxed);
                poll
            })
        });
        eventually("it waits", || polled.load(Ordering::Relaxed));
        sleep.lock().unwrap().as_mut().reset(Instant::now() + Duration::from_millis(1));
        waiting.join().unwrap();
    });
}

/// Rates of which the clock does not see the second token, and bursts as large as there are: what goes through at once is the burst, and
/// nothing more.
#[test]
fn limits_hold_at_both_ends_of_their_range() {
    let far = [1_u64 << 34, 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX].map(Duration::from_secs);
    for per in far.into_iter().chain([Duration::MAX]) {
        for (rate, burst) in [(1, 1), (1, 2), (3, 2), (1, 1000), (1, u32::MAX), (2, u32::MAX)] {
            let limiter = RateLimiter::new(rate, per).with_burst(burst);
            assert_eq!(limiter.available(), burst, "{rate} in {per:?}, {burst} at once");
            assert!(limiter.try_acquire(burst - 1) && limiter.try_acquire(1));
            assert!(!limiter.try_acquire(1), "{rate} in {per:?}, {burst} at once: one more");
            assert_eq!(limiter.available(), 0);
            assert!(with_timeout(Duration::from_millis(1), || limiter.acquire(1)).is_err());
        }
        // One that owes for longer than the clock can tell, many times.
        let limiter = RateLimiter::new(1, per);
        limiter.acquire(u32::MAX);
        assert!(!limiter.try_acquire(1) && limiter.available() == 0);
    }
    for (rate, per) in
        [(u32::MAX, Duration::from_nanos(1)), (1, Duration::from_nanos(1)), (u32::MAX, Duration::MAX)]
    {
        let limiter = RateLimiter::new(rate, per).with_burst(u32::MAX);
        assert!(limiter.try_acquire(u32::MAX), "{rate} in {per:?}");
    }
}

/// A destructor that waits for a limiter holds up its worker, as documented, but nobody who only tries.
#[test]
fn others_try_while_a_host_that_unwinds_waits() {
    struct Acquires(Arc<RateLimiter>, Arc<AtomicUsize>);
    impl Drop for Acquires {
        fn drop(&mut self) {
            self.1.store(1, Ordering::SeqCst);
            self.0.acquire(1);
            self.1.store(2, Ordering::SeqCst);
        }
    }
    run(2, || {
        let limiter = Arc::new(RateLimiter::new(1, Duration::from_secs(2)));
        limiter.acquire(1);
        let state = Arc::new(AtomicUsize::new(0));
        let waits = Acquires(limiter.clone(), state.clone());
        let unwinds = Builder::new().worker(1).spawn(move || {
            let _waits = waits;
            panic!("on purpose");
        });
        let tries = Builder::new().worker(0).spawn(move || {
            let mut tries = 0;
            // No more tries than these: they would take what the destructor waits for.
            while state.load(Ordering::SeqCst) != 2 && tries < 4 {
                if state.load(Ordering::SeqCst) == 1 {
                    let _ = limiter.try_acquire(1);
                    tries += 1;
                }
                lamprey::yield_now();
            }
            tries
        });
        assert_eq!(tries.unwrap().join().unwrap(), 4, "a try waited until the destructor had its turn");
        assert!(unwinds.unwrap().join().is_err());
    });
}
