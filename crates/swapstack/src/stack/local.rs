//! A worker's own stacks: last in, first out, without locks.
//!
//! Invariant: every stack in `cached[class]` is idle, of that class, and guarded. A list is not borrowed
//! while code runs that could call this pool again.

use super::pool::{CLASSES, Inner, LARGE, StackPool, class_of};
use super::region::PooledStack;
use std::cell::UnsafeCell;
use std::io;
use std::sync::Arc;

/// The number of stacks that are fetched from the shared pool at once.
const REFILL: usize = 16;
/// A list of this length hands its older half to the shared pool.
const FULL: usize = 64;

/// A worker's cache of stacks in front of the shared [`StackPool`].
///
/// The stack that was given last is taken first, because it is still in the cache. Not `Sync`, so that no
/// operation needs an atomic instruction; its drop hands its stacks to the shared pool.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use swapstack::{LocalPool, PoolConfig, Stack, StackPool};
///
/// let local = LocalPool::new(Arc::new(StackPool::new(PoolConfig::default())));
/// let stack = local.take(16 << 10)?;
/// let top = stack.top();
/// local.give(stack);
/// assert_eq!(local.take(16 << 10)?.top(), top);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct LocalPool {
    cached: [UnsafeCell<Vec<PooledStack>>; CLASSES.len()],
    shared: Arc<StackPool>,
    /// The address of the shared pool's `Inner`, to recognise its stacks by.
    home: *const Inner,
}

// SAFETY: `home` is only compared, and all other fields are Send.
unsafe impl Send for LocalPool {}

impl LocalPool {
    /// An empty cache in front of `shared`.
    #[must_use]
    pub fn new(shared: Arc<StackPool>) -> Self {
        let cached = std::array::from_fn(|_| UnsafeCell::new(Vec::with_capacity(FULL)));
        let home = Arc::as_ptr(&shared.inner);
        Self { cached, shared, home }
    }

    /// The pool behind this one.
    #[must_use]
    pub fn shared(&self) -> &Arc<StackPool> {
        &self.shared
    }

    /// A stack with at least `size` usable bytes.
    ///
    /// # Errors
    /// As for [`StackPool::take`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take(&self, size: usize) -> io::Result<PooledStack> {
        let class = class_of(size);
        if class != LARGE {
            // SAFETY: this type is not Sync and `pop` calls nothing, so this is the only borrow.
            if let Some(stack) = unsafe { (*self.cached[class].get()).pop() } {
                return Ok(stack);
            }
        }
        self.take_shared(class, size)
    }

    #[cold]
    #[inline(never)]
    fn take_shared(&self, class: usize, size: usize) -> io::Result<PooledStack> {
        if class == LARGE {
            return self.shared.take(size);
        }
        let mut batch = Vec::with_capacity(REFILL);
        self.shared.take_batch(class, REFILL, &mut batch)?;
        let first = batch.pop();
        // SAFETY: not Sync, and `append` does not call this pool, so this is the only borrow.
        unsafe { (*self.cached[class].get()).append(&mut batch) };
        first.ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// Takes a stack back. No context may run on it any more, and nothing on it may be in use.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn give(&self, stack: PooledStack) {
        let class = stack.class();
        if class != LARGE && stack.is_of(self.home) {
            // SAFETY: not Sync, and the borrow ends before anything else is called.
            let cached = unsafe { &mut *self.cached[class].get() };
            if cached.len() < FULL
                && let Some(place) = cached.spare_capacity_mut().first_mut()
            {
                // Not `push`, which is a call because it may grow the list.
                place.write(stack);
                // SAFETY: the next element has just been written.
                unsafe { cached.set_len(cached.len() + 1) };
                return;
            }
        }
        self.give_shared(class, stack);
    }

    #[cold]
    #[inline(never)]
    fn give_shared(&self, class: usize, stack: PooledStack) {
        if class == LARGE || !stack.is_of(self.home) {
            return self.shared.give(stack);
        }
        // SAFETY: not Sync; the shared pool is called during the borrow, and does not call this pool.
        let cached = unsafe { &mut *self.cached[class].get() };
        // The older half has been idle longest, so its cache lines are the coldest.
        self.shared.give_batch(class, cached.drain(..FULL / 2));
        cached.push(stack);
    }

    /// Hands all idle stacks to the shared pool, where other workers can take them.
    pub fn flush(&self) {
        for (class, cached) in self.cached.iter().enumerate() {
            // SAFETY: not Sync; the shared pool does not call this pool.
            self.shared.give_batch(class, unsafe { (*cached.get()).drain(..) });
        }
    }

    /// Hands all idle stacks over and gives the memory of all idle stacks of the shared pool back to the
    /// system. Returns the number of bytes, see [`StackPool::trim`].
    pub fn trim(&self) -> usize {
        self.flush();
        self.shared.trim()
    }
}

impl Drop for LocalPool {
    fn drop(&mut self) {
        self.flush();
    }
}
