//! The policies of a mutex.

use super::Mutex;
use crate::bias::Bias;
use crate::sync::{Order, Wake};

/// Makes mutexes with other policies than the default ones.
///
/// # Examples
/// ```
/// use lamprey::sync::{Mutex, MutexOptions, Order, Wake};
///
/// static LATEST_FIRST: Mutex<u32> = MutexOptions::new().order(Order::Lifo).mutex(0);
/// static HANDED_OVER: Mutex<u32> = MutexOptions::new().wake(Wake::Switch).mutex(0);
/// assert_eq!(*LATEST_FIRST.lock().unwrap() + *HANDED_OVER.lock().unwrap(), 0);
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[must_use]
pub struct MutexOptions {
    order: Order,
    wake: Wake,
    biased: bool,
}

impl MutexOptions {
    /// The default ones.
    pub const fn new() -> Self {
        Self { order: Order::Fifo, wake: Wake::Enqueue, biased: false }
    }

    /// Who goes first.
    pub const fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// How a host of the same worker is woken.
    pub const fn wake(mut self, wake: Wake) -> Self {
        self.wake = wake;
        self
    }

    /// Whether the mutex belongs to the first worker that takes it (swapstack-taco-2013, 6.3). While only
    /// hosts and parasites of that worker take it, they need no atomic steps; the first one from elsewhere
    /// takes it away from the worker for good, which costs some microseconds, and from then on it is as other
    /// mutexes.
    pub const fn biased(mut self, biased: bool) -> Self {
        self.biased = biased;
        self
    }

    crate::sync_shim::const_fn! {
        /// A mutex with these policies.
        pub const fn mutex<T>(self, value: T) -> Mutex<T> {
            Mutex::of(value, self.order, self.wake, if self.biased { Bias::new() } else { Bias::shared() })
        }
    }
}
