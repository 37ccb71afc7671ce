//! A rate limiter counts exactly: tokens taken one by one are as many as those taken at once, whatever the rate.

use lamprey::sim::now;
use lamprey::{RateLimiter, Runtime, sleep};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
/// Most of them do not divide a second into whole nanoseconds.
const RATES: [u32; 8] = [1, 3, 7, 10, 999, 1000, 1013, 65_537];

/// On a clock that stands still while nobody sleeps.
fn simulated(program: impl FnOnce() + Send + 'static) {
    Runtime::simulated(1).run(program);
}

fn taken_one_by_one(limiter: &RateLimiter) -> u32 {
    (0..).find(|_| !limiter.try_acquire(1)).unwrap()
}

#[test]
fn a_burst_one_by_one_is_the_burst() {
    simulated(|| {
        for rate in RATES {
            for burst in [1, 3, rate, 1009] {
                let limiter = RateLimiter::new(rate, SECOND).with_burst(burst);
                for left in (0..burst).rev() {
                    assert!(limiter.try_acquire(1), "{rate}: {left} of {burst} left");
                    assert_eq!(limiter.available(), left, "{rate}");
                }
                assert!(!limiter.try_acquire(1), "{rate}: more than {burst}");
            }
        }
    });
}

/// Never more than the rate, and no token less at any moment.
#[test]
fn tokens_come_at_their_moments() {
    simulated(|| {
        for rate in RATES {
            let begin = now();
            let limiter = RateLimiter::new(rate, SECOND);
            assert!(limiter.try_acquire(rate));
            let emptied = now();
            let mut taken = 0;
            for pause in (1..400).map(|n| Duration::from_nanos(1_000_000_007 * n % 2_000_000)) {
                sleep(pause);
                let least = whole_tokens(now() - emptied, rate).min(taken + rate);
                taken += taken_one_by_one(&limiter);
                let most = whole_tokens(now() - begin, rate);
                assert!((least..=most).contains(&taken), "{rate}: {taken} instead of {least} to {most}");
            }
        }
    });
}

/// The tokens that have come in that time.
fn whole_tokens(time: Duration, rate: u32) -> u32 {
    (time.as_nanos() * u128::from(rate) / SECOND.as_nanos()).try_into().unwrap()
}
