//! What can be chosen for each lock.

/// Who goes first of those who wait for a lock (swapstack-taco-2013, 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Who came first: nobody starves.
    #[default]
    Fifo,
    /// Who came last: its data is most likely in the cache. Who came first may wait for ever while others
    /// come.
    Lifo,
}

/// How a thread that lets a lock go wakes a host of its own worker that waits for it (swapstack-taco-2013,
/// 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wake {
    /// It goes on; the host waits for its turn in the run queue.
    #[default]
    Enqueue,
    /// It switches to the host at once, which takes the lock (unless a thread of another worker is faster),
    /// and waits for its own turn in the run queue. If it cannot, because it unwinds or is not a host itself,
    /// as with `Enqueue`.
    Switch,
}
