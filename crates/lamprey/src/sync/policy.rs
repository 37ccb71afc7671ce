//! What can be chosen for each lock.

use crate::bias::Bias;

/// Which of the threads that wait for a lock is served first (Dolan, Muralidharan and Gregg, *Compiler Support for
/// Lightweight Context Switching*, 2013, 5.2).
#[doc(alias = "fairness")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The one that came first: no thread starves.
    #[default]
    Fifo,
    /// The one that came last: its data is most likely in the cache. The first may wait for ever while others
    /// come.
    Lifo,
}

/// How a thread that releases a lock wakes a host of its own worker that waits for it (Dolan, Muralidharan and Gregg,
/// *Compiler Support for Lightweight Context Switching*, 2013,
/// 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wake {
    /// The thread goes on; the host is put into the run queue.
    #[default]
    Enqueue,
    /// The thread switches to the host at once and is put into the run queue itself; the host takes the lock,
    /// unless a thread of another worker is faster. A thread that cannot switch, because it unwinds or is not
    /// a host, does as with `Enqueue`.
    Switch,
}

/// The policies of a [`Mutex`](super::Mutex), [`RwLock`](super::RwLock), [`Semaphore`](super::Semaphore) or
/// [`Condvar`](super::Condvar), for their constructor `with_options`.
///
/// | option | `Mutex` | `RwLock` | `Semaphore` | `Condvar` |
/// |---|---|---|---|---|
/// | [`order`](Self::order) | yes | yes | yes | which thread `notify_one` wakes |
/// | [`wake`](Self::wake) | yes | yes | yes | no: a woken thread waits for the mutex first |
/// | [`biased`](Self::biased) | yes | no | no | no |
///
/// An option that a lock does not have is ignored by it, so one value can be used for all locks of a program.
///
/// # Examples
/// ```
/// use lamprey::sync::{Condvar, LockOptions, Mutex, Order, RwLock, Semaphore, Wake};
///
/// const LATEST_FIRST: LockOptions = LockOptions::new().order(Order::Lifo);
/// static MUTEX: Mutex<u32> = Mutex::with_options(1, LATEST_FIRST.wake(Wake::Switch));
/// static OWNED: Mutex<u32> = Mutex::with_options(2, LockOptions::new().biased(true));
/// static RWLOCK: RwLock<u32> = RwLock::with_options(3, LATEST_FIRST);
/// static SEATS: Semaphore = Semaphore::with_options(4, LATEST_FIRST);
/// static CHANGED: Condvar = Condvar::with_options(LATEST_FIRST);
///
/// lamprey::run(|| {
///     let sum = *MUTEX.lock().unwrap() + *OWNED.lock().unwrap() + *RWLOCK.read().unwrap();
///     assert_eq!(u64::from(sum) + SEATS.available_permits(), 10);
///     CHANGED.notify_one();
/// });
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[must_use]
pub struct LockOptions {
    pub(super) order: Order,
    pub(super) wake: Wake,
    biased: bool,
}

impl LockOptions {
    /// The defaults: [`Order::Fifo`], [`Wake::Enqueue`], not biased.
    pub const fn new() -> Self {
        Self { order: Order::Fifo, wake: Wake::Enqueue, biased: false }
    }

    /// Which of the threads that wait is served first. Of all four locks.
    pub const fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// How a host of the same worker is woken. Of [`Mutex`](super::Mutex), [`RwLock`](super::RwLock) and
    /// [`Semaphore`](super::Semaphore).
    pub const fn wake(mut self, wake: Wake) -> Self {
        self.wake = wake;
        self
    }

    /// Whether a [`Mutex`](super::Mutex) belongs to the first worker that takes it (Dolan, Muralidharan and Gregg, *Compiler
    /// Support for Lightweight Context Switching*, 2013,
    /// 6.3). While only hosts and parasites of that worker take it, they need no atomic read-modify-write.
    /// The first thread from elsewhere takes the mutex away from the worker for good, which costs some
    /// microseconds; from then on it is as other mutexes.
    #[doc(alias = "BiasedLocking")]
    pub const fn biased(mut self, biased: bool) -> Self {
        self.biased = biased;
        self
    }

    crate::sync_shim::const_fn! {
        pub(super) const fn bias(self) -> Bias {
            if self.biased { Bias::new() } else { Bias::shared() }
        }
    }
}
