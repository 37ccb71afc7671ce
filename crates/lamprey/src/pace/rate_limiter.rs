//! `RateLimiter`: at most so many in a time, with bursts. A token bucket.
//!
//! # Invariants
//! * The bucket is one time: when it will be full if nobody takes anything. A token less in it is a moment later. It is a count of
//!   ticks, `rate` of which are a nanosecond: a token is a whole number of them, so what is taken one by one is what is taken at once.
//!   It has 128 bits, as an `Instant` ends where some rates have not let their second token through, and saturates: whoever is owed
//!   more than that never gets it.
//! * Whoever waits for tokens is counted in `waiting`, and takes them only with the only permit of `turn`; nobody takes tokens at once while
//!   that count is not 0. So they go to those who wait in order of arrival, and one that asks for many is not overtaken by those that
//!   ask for few. (A host that is unwinding must not wait for its turn: it goes first.)
//! * Tokens are taken in the step that returns them, never before: a wait that is given up has taken nothing.

use crate::event::Event;
use crate::events::future_evt;
use crate::parasite::wait;
use crate::sched::coop_async::take_a_turn_async;
use crate::sched::{coop, must_not_block};
use crate::sleep::{sleep_until, sleep_until_async};
use crate::sync::Semaphore;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use crate::time::far_away;
use crate::world;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Lets through at most so many in a time: a token bucket.
///
/// The bucket holds at most `burst` tokens and is full at first. It is filled at the rate; each [`acquire`](Self::acquire)
/// takes tokens out, and waits while there are too few. Threads are served in order of arrival, also those that ask for many.
///
/// It has no thread and no timer of its own, and costs nothing while nobody waits.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
/// use lamprey::RateLimiter;
///
/// lamprey::run(|| {
///     let requests = RateLimiter::new(1000, Duration::from_secs(1)).with_burst(5);
///     let start = Instant::now();
///     for _ in 0..15 {
///         requests.acquire(1); // 5 at once, then one each millisecond
///     }
///     assert!(start.elapsed() >= Duration::from_millis(10));
/// });
/// ```
#[doc(alias = "Throttle")]
#[doc(alias = "Limiter")]
#[doc(alias = "governor")]
pub struct RateLimiter {
    rate: u32,
    per: Duration,
    burst: u32,
    /// Where the bucket's time begins.
    begin: Instant,
    bucket: Mutex<Bucket>,
    turn: Semaphore,
}

struct Bucket {
    /// In ticks since the limiter's `begin`.
    full_at: u128,
    /// How many threads and futures are in line.
    waiting: usize,
}

/// A place in line.
struct InLine<'a>(&'a RateLimiter);

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.bucket().waiting -= 1;
    }
}

impl RateLimiter {
    /// Lets `rate` through in each `per`, of which all may come at once (for another number see
    /// [`with_burst`](Self::with_burst)).
    ///
    /// # Panics
    /// If `rate` or `per` is zero.
    #[track_caller]
    pub fn new(rate: u32, per: Duration) -> Self {
        assert!(rate > 0, "the rate of a RateLimiter must be more than 0");
        assert!(per > Duration::ZERO, "the time of a RateLimiter's rate must be longer than zero");
        let bucket = Mutex::new(Bucket { full_at: 0, waiting: 0 });
        Self { rate, per, burst: rate, begin: world::now(), bucket, turn: Semaphore::new(1) }
    }

    /// Lets at most `burst` through at once.
    ///
    /// # Panics
    /// If `burst` is zero.
    #[must_use]
    #[track_caller]
    pub fn with_burst(mut self, burst: u32) -> Self {
        assert!(burst > 0, "the burst of a RateLimiter must be more than 0");
        self.burst = burst;
        self
    }

    /// Takes `n` tokens; waits until there are so many, and until all that came before have theirs.
    ///
    /// If `n` is more than the burst, it waits for a full bucket, and the bucket then owes the rest: the next ones wait for as
    /// much longer, and the rate is kept.
    ///
    /// # Cancellation
    /// The commit point is when the tokens are taken, which is the last thing that this call does. A host that is cancelled
    /// before unwinds from here and has taken none.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks. A host that is unwinding blocks its worker, and does not wait
    /// until it is its turn.
    #[doc(alias = "until_ready")]
    #[doc(alias = "Wait")]
    pub fn acquire(&self, n: u32) {
        coop::call(coop::MESSAGE);
        if self.try_acquire(n) {
            return;
        }
        if !must_not_block() {
            return wait(self.acquire_async(n));
        }
        // Those in line may be hosts of this worker, which do not get on meanwhile.
        loop {
            // The bucket's lock is held in this statement only.
            let Err(at) = self.bucket().take(self, n) else { return };
            sleep_until(at.unwrap_or_else(far_away));
        }
    }

    /// The awaitable form of [`acquire`](Self::acquire).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// # lamprey::run(|| {
    /// let limiter = lamprey::RateLimiter::new(10, Duration::from_secs(3600));
    /// lamprey::wait(limiter.acquire_async(10));
    /// assert!(!limiter.try_acquire(10));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it takes nothing, and the next one in line has its turn. As long as it is
    /// first in line, neither ready nor dropped nor polled again when it is woken, the others wait behind it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub async fn acquire_async(&self, n: u32) {
        take_a_turn_async(1).await;
        let Some(_in_line) = self.take_or_wait(n) else { return };
        // The semaphore is never closed; and a future does not fail because its host is unwinding.
        let _turn = self.turn.acquire_async(1).await;
        loop {
            let Err(at) = self.bucket().take(self, n) else { return };
            sleep_until_async(at.unwrap_or_else(far_away)).await;
        }
    }

    /// Takes `n` tokens, or a place in line.
    fn take_or_wait(&self, n: u32) -> Option<InLine<'_>> {
        let mut bucket = self.bucket();
        if bucket.waiting == 0 && bucket.take(self, n).is_ok() {
            return None;
        }
        bucket.waiting += 1;
        Some(InLine(self))
    }

    /// [`acquire`](Self::acquire) as an event.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    ///
    /// # lamprey::run(|| {
    /// let limiter = lamprey::RateLimiter::new(1, Duration::from_secs(3600));
    /// limiter.acquire(1);
    /// let too_long = timeout(Duration::from_millis(2)).wrap(|()| false);
    /// assert!(!choose((limiter.acquire_evt(1).wrap(|()| true), too_long)).sync());
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If another event is chosen, no token is taken.
    pub fn acquire_evt(&self, n: u32) -> impl Event<Output = ()> + '_ {
        future_evt(self.acquire_async(n))
    }

    /// [`acquire_evt`](Self::acquire_evt) that owns a handle of the limiter, so that a function can return it.
    pub fn acquire_owned_evt(self: &Arc<Self>, n: u32) -> impl Event<Output = ()> + use<> {
        let limiter = self.clone();
        future_evt(async move { limiter.acquire_async(n).await })
    }

    /// Takes `n` tokens if that is possible at once: there are so many, and nobody waits for some.
    ///
    /// # Blocking
    /// Never.
    #[doc(alias = "check")]
    #[doc(alias = "Allow")]
    pub fn try_acquire(&self, n: u32) -> bool {
        let taken = {
            let mut bucket = self.bucket();
            bucket.waiting == 0 && bucket.take(self, n).is_ok()
        };
        coop::tried(taken, |taken| !taken)
    }

    /// The tokens in the bucket now: another thread may take them next.
    pub fn available(&self) -> u32 {
        coop::look();
        let missing = self.bucket().full_at.saturating_sub(self.now());
        let there = self.cost(self.burst).saturating_sub(missing);
        (there / self.per.as_nanos()) as u32
    }

    /// The ticks in which `n` tokens come. (Of at most 126 bits: a `Duration` has 94.)
    fn cost(&self, n: u32) -> u128 {
        self.per.as_nanos() * u128::from(n)
    }

    /// In ticks.
    fn now(&self) -> u128 {
        world::now().saturating_duration_since(self.begin).as_nanos() * u128::from(self.rate)
    }

    /// The first moment at which so many ticks have passed. `None`: later than the clock can tell.
    fn instant(&self, ticks: u128) -> Option<Instant> {
        let nanos = ticks.div_ceil(self.rate.into());
        let second = 1_000_000_000;
        let seconds = u64::try_from(nanos / second).ok()?;
        self.begin.checked_add(Duration::new(seconds, (nanos % second) as u32))
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bucket {
    /// Takes `n` tokens, or says when there will be enough. (`None`: later than the clock can tell.)
    fn take(&mut self, limiter: &RateLimiter, n: u32) -> Result<(), Option<Instant>> {
        let now = limiter.now();
        // What may be missing from a full bucket.
        let may_miss = limiter.cost(limiter.burst).saturating_sub(limiter.cost(n));
        if self.full_at.saturating_sub(now) > may_miss {
            return Err(limiter.instant(self.full_at - may_miss));
        }
        self.full_at = now.max(self.full_at).saturating_add(limiter.cost(n));
        Ok(())
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter")
            .field("rate", &self.rate)
            .field("per", &self.per)
            .field("burst", &self.burst)
            .field("available", &self.available())
            .finish()
    }
}
