//! The ticker: a kernel thread per runtime for what the workers cannot do while their threads compute; with
//! the [watch](super::watch) it does the work of Go's sysmon.
//!
//! * It adds a tick to each worker's attention word four times a time slice ([`super::parasite::offer`]),
//!   from the first parasite on.
//! * Every 25 ms, unless told otherwise, it looks for workers that are held up ([`super::inspect::silent`]).
//! * When all workers have slept for a while, it looks whether the program stands still
//!   ([`super::inspect::standstill`]).
//! * It prints the stack of a thread that has overflowed ([`super::inspect::overflowed`]): the thread itself
//!   is in a signal handler, which must not print it.
//!
//! It sleeps while all workers sleep. A worker whose kernel thread has slept for long within a call of the program counts as
//! one that sleeps, but it gets up without a word: so the ticker then looks once a second.
//!
//! # States (`word`)
//! ```text
//! SLOW --a worker's first parasite--> FAST       SLOW, FAST <--a worker has got up / all have slept for a while--> RESTING
//! any --the runtime ends--> OVER                 any but OVER --a thread has overflowed--> CALLED
//! ```
//!
//! # Invariants
//! 1. The word is the futex that the ticker sleeps on: the thread that changes it wakes the ticker, which
//!    reads it again. OVER and CALLED are final.
//!
//! # Orderings
//! Release in `call` pairs with the Acquire in `sleep`: the ticker sees what the handler wrote. The fences in
//! `rest` and `rewind` are a StoreLoad pair: the ticker does not rest while a worker is awake. All other
//! accesses are hints.

use crate::kernel::after_failed_wait;
use crate::sync_shim::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use rustix::io::Errno;
use std::time::Duration;

const SLOW: u32 = 0;
pub(super) const FAST: u32 = 1;
pub(super) const RESTING: u32 = 2;
pub(super) const OVER: u32 = 3;
pub(super) const CALLED: u32 = 4;

/// Operations on a futex of this process.
const WAKE: libc::c_int = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
const WAIT: libc::c_int = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;

/// Longest and shortest period between two looks for workers that are held up.
pub(super) const PERIOD: Duration = Duration::from_secs(1);
const SHORTEST_PERIOD: Duration = Duration::from_millis(5);
/// Consecutive sleeps without an awake worker after which the ticker rests.
pub(super) const PATIENCE: u32 = 3;

/// The state of a runtime's ticker.
#[derive(Debug)]
pub(crate) struct Ticker {
    /// A quarter of a time slice.
    slice: Duration,
    /// From one look for workers that are held up to the next.
    period: Duration,
    pub(super) word: AtomicU32,
    /// Some worker has had a parasite.
    is_fast: AtomicBool,
}

impl Ticker {
    /// The ticker of a runtime with this time slice, which reports a worker that is held up for
    /// `stuck_after`.
    pub(crate) fn new(slice: Duration, stuck_after: Duration) -> Self {
        let slice = (slice / 4).max(Duration::from_micros(50));
        let period = (stuck_after / 4).clamp(SHORTEST_PERIOD, PERIOD);
        Self { slice, period, word: AtomicU32::new(SLOW), is_fast: AtomicBool::new(false) }
    }

    /// A worker has its first parasite: from now on there are four ticks a time slice.
    #[cold]
    pub(super) fn hurry(&self) {
        // Relaxed: a hint.
        if !self.is_fast.swap(true, Ordering::Relaxed) {
            self.change(SLOW, FAST);
        }
    }

    /// A worker has slept: restarts the ticker if it rests.
    pub(super) fn rewind(&self) {
        // StoreLoad race: `awake`, which the caller has raised, against our look at the word; pairs with the
        // fence in `rest`.
        fence(Ordering::SeqCst);
        // Relaxed (both): ordered by the fence.
        if self.word.load(Ordering::Relaxed) == RESTING {
            let is_fast = self.is_fast.load(Ordering::Relaxed);
            self.change(RESTING, if is_fast { FAST } else { SLOW });
        }
    }

    /// True if its thread has ended, or is told to, or could not be started.
    pub(super) fn is_over(&self) -> bool {
        // Relaxed: a hint.
        self.word.load(Ordering::Relaxed) == OVER
    }

    /// Tells the ticker's thread to end.
    pub(super) fn end(&self) {
        // Relaxed: carries no data.
        self.word.store(OVER, Ordering::Relaxed);
        self.wake();
    }

    /// Makes the ticker print what [`super::inspect::overflowed`] holds; false if the ticker has ended.
    /// Async-signal-safe.
    pub(super) fn call(&self) -> bool {
        loop {
            // Relaxed (both): a guess, which the CAS checks.
            let word = self.word.load(Ordering::Relaxed);
            if word == OVER {
                return false;
            }
            // Release pairs with the Acquire in `sleep`.
            if self.word.compare_exchange(word, CALLED, Ordering::Release, Ordering::Relaxed).is_ok() {
                self.wake();
                return true;
            }
        }
    }

    fn change(&self, from: u32, to: u32) {
        // Relaxed: carries no data.
        if self.word.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.wake();
        }
    }

    fn wake(&self) {
        // SAFETY: a futex wake uses the address as a key and does not read or write it.
        unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), WAKE, 1_usize) };
    }

    /// Stops ticking until a worker has slept, unless more than `idle` of those that are awake have got up just now.
    pub(super) fn rest(&self, awake: &AtomicUsize, idle: usize) {
        // Relaxed: a hint.
        let word = self.word.load(Ordering::Relaxed);
        if word != SLOW && word != FAST {
            return;
        }
        self.change(word, RESTING);
        // StoreLoad race: the word against our look at `awake`; pairs with the fence in `rewind`.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if awake.load(Ordering::Relaxed) > idle {
            self.change(RESTING, word);
        }
    }

    /// Sleeps until the next tick, or until the word changes; returns the word. While the ticker rests it sleeps for `rest`.
    pub(super) fn sleep(&self, rest: Option<Duration>) -> u32 {
        // Relaxed: a hint; the futex compares it again, and it is loaded again below.
        let word = self.word.load(Ordering::Relaxed);
        let period = match word {
            SLOW => Some(self.period),
            FAST => Some(self.pause()),
            RESTING => rest,
            _ => None,
        };
        if word != OVER && word != CALLED {
            let timeout = period.map(|period| libc::timespec {
                tv_sec: period.as_secs().cast_signed(),
                tv_nsec: i64::from(period.subsec_nanos()),
            });
            let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            let (address, wait, word) = (self.word.as_ptr(), WAIT, word as usize);
            // SAFETY: the word is alive, and the timeout is a valid `timespec` or null. The call returns at
            // once if the word has changed.
            let answer = unsafe { libc::syscall(libc::SYS_futex, address, wait, word, timeout) };
            if answer != 0 {
                after_early_end();
            }
        }
        // Acquire pairs with the Release in `call`.
        self.word.load(Ordering::Acquire)
    }

    /// Length of a sleep while there are parasites.
    fn pause(&self) -> Duration {
        self.slice.min(self.period)
    }

    /// Sleeps from one look to the next.
    pub(super) fn pauses_in_period(&self, word: u32) -> u32 {
        if word == FAST { count(self.period, self.pause()) } else { 1 }
    }

    /// Sleeps from one tick to the next.
    pub(super) fn pauses_in_slice(&self) -> u32 {
        count(self.slice, self.pause())
    }
}

/// After a wait that nobody has ended.
fn after_early_end() {
    match Errno::from_io_error(&std::io::Error::last_os_error()) {
        // The word has changed, or the time is over.
        Some(Errno::AGAIN | Errno::TIMEDOUT) | None => {}
        Some(error) => after_failed_wait("futex", error),
    }
}

/// How often `part` is in `whole`, at least once.
fn count(whole: Duration, part: Duration) -> u32 {
    u32::try_from(whole.as_nanos() / part.as_nanos()).unwrap_or(u32::MAX).max(1)
}
