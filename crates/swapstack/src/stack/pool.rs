//! The shared pool of stacks: a [`Class`] for each size, each behind a lock.
//!
//! Invariant: slow system calls (guards, trimming) run without the lock, but for those of a process whose address space is
//! exhausted ([`reclaim`]).
//!
//! [`LocalPool`]: crate::LocalPool

use super::MIN_STACK_SIZE;
use super::class::Class;
use super::guard::GuardKind;
use super::reclaim;
use super::region::{PooledStack, Region};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bytes that every pooled stack has above its nominal size: room for a runtime's data at the base, so
/// that a request for 64 KiB *and* a descriptor does not need the next class. They come out of the rounding
/// to pages.
const EXTRA: usize = 2 << 10;
/// Usable bytes of the pooled classes. Larger stacks get a mapping of their own.
pub(crate) const CLASSES: [usize; 3] = [(16 << 10) + EXTRA, (64 << 10) + EXTRA, (256 << 10) + EXTRA];
/// The class of stacks that are not pooled.
pub(crate) const LARGE: usize = CLASSES.len();

/// The smallest class whose stacks have `size` usable bytes.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn class_of(size: usize) -> usize {
    CLASSES.iter().position(|&class| size <= class).unwrap_or(LARGE)
}

/// The configuration of a [`StackPool`]. `PoolConfig::default()` fits unless there is a reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolConfig {
    guard: GuardKind,
}

impl PoolConfig {
    /// Chooses how stacks are guarded.
    #[must_use]
    pub fn guard(mut self, kind: GuardKind) -> Self {
        self.guard = kind;
        self
    }
}

/// The content of a [`StackPool`] at one moment. Counts are of stacks, sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// The kind of guard that is tried first: `Light` or `Mapped`, never `Best`.
    pub guard: GuardKind,
    /// Mappings of the pooled classes.
    pub regions: usize,
    /// The address space of these mappings. Only touched pages use memory.
    pub reserved_bytes: usize,
    /// Stacks of the pooled classes that have been made and not been unmapped. While the address space suffices none is
    /// unmapped, so this is also the largest number that was out at once (in use or in a `LocalPool`).
    pub carved: usize,
    /// Idle here, with resident memory.
    pub idle_dirty: usize,
    /// Idle here, without resident memory.
    pub idle_clean: usize,
    /// Stacks larger than every class that are in use now.
    pub large: usize,
    /// Bytes that trimming has given back so far, counted as whole slots.
    pub trimmed_bytes: usize,
}

/// A pool of stacks, cut from large reservations, which the workers of a runtime share in an `Arc`.
///
/// Three size classes (16, 64 and 256 KiB usable, and 2 KiB more for the caller's data at the base); a larger
/// stack gets a mapping of its own and loses it when it is given back. Every stack has a guard below it.
/// Memory is used only where a stack has been touched, and stays with an idle stack until
/// [`trim`](Self::trim).
///
/// # Examples
/// ```
/// use swapstack::{PoolConfig, Stack, StackPool};
///
/// let pool = StackPool::new(PoolConfig::default());
/// let stack = pool.take(50_000)?;
/// assert!(stack.size() >= 50_000);
/// pool.give(stack);
/// assert!(pool.trim() > 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct StackPool {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    guard: GuardKind,
    classes: [Mutex<Class>; CLASSES.len()],
    large: AtomicUsize,
    /// The number of large stacks requested so far, which gives the next one its colour.
    mapped_large: AtomicUsize,
    trimmed_bytes: AtomicUsize,
}

impl StackPool {
    /// An empty pool. Nothing is mapped before the first [`take`](Self::take).
    #[must_use]
    pub fn new(config: PoolConfig) -> Self {
        let inner = Inner {
            guard: config.guard,
            classes: Default::default(),
            large: AtomicUsize::new(0),
            mapped_large: AtomicUsize::new(0),
            trimmed_bytes: AtomicUsize::new(0),
        };
        let inner = Arc::new(inner);
        reclaim::add(&inner);
        Self { inner }
    }

    /// A stack with at least `size` usable bytes (and at least [`MIN_STACK_SIZE`]).
    ///
    /// # Errors
    /// If there is no address space, mapping or guard left (see [`GuardKind`]), or if the size is larger than
    /// any address space. The message says which limit was met.
    pub fn take(&self, size: usize) -> io::Result<PooledStack> {
        let class = class_of(size);
        if class == LARGE {
            return self.inner.map_large(size);
        }
        let mut taken = Vec::with_capacity(1);
        self.take_batch(class, 1, &mut taken)?;
        taken.pop().ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// Appends up to `count` stacks of `class` to `into`: at least one, or returns an error.
    pub(crate) fn take_batch(
        &self,
        class: usize,
        count: usize,
        into: &mut Vec<PooledStack>,
    ) -> io::Result<()> {
        let had = into.len();
        let mut bare = Vec::new();
        reclaim::with_room(|| {
            match self.inner.lock(class).take(&self.inner, class, had + count, into, &mut bare) {
                Err(error) if into.len() == had && bare.is_empty() => Err(error),
                _ => Ok(()),
            }
        })?;
        while let Some(stack) = bare.pop() {
            if let Err(error) = reclaim::install_guard(&stack) {
                bare.push(stack);
                self.inner.lock(class).unguarded.append(&mut bare);
                return if into.len() > had { Ok(()) } else { Err(error) };
            }
            into.push(stack);
        }
        Ok(())
    }

    /// Takes a stack back. No context may run on it any more, and nothing on it may be in use.
    pub fn give(&self, stack: PooledStack) {
        if stack.is_of(Arc::as_ptr(&self.inner)) {
            self.inner.give(stack);
        }
        // A stack of another pool goes back to that pool when it is dropped.
    }

    pub(crate) fn give_batch(&self, class: usize, stacks: impl Iterator<Item = PooledStack>) {
        self.inner.lock(class).dirty.extend(stacks);
    }

    /// Gives the memory of all idle stacks back to the system, neighbours together, and returns the number of
    /// bytes (whole slots: less was resident).
    ///
    /// Address space and guards stay. Takes about 0.1 us for a stack whose neighbours are idle too, and 1 us
    /// for a single one; other threads can take and give meanwhile.
    pub fn trim(&self) -> usize {
        (0..CLASSES.len()).map(|class| self.inner.trim(class)).sum()
    }

    /// Begins a period: idle stacks that were not needed at any moment of the period before may be
    /// [trimmed](Self::trim_unneeded) in this one.
    pub fn begin_period(&self) {
        for class in 0..CLASSES.len() {
            let mut lists = self.inner.lock(class);
            lists.unneeded = lists.fewest;
            lists.fewest = lists.dirty.len();
        }
    }

    /// Gives the memory of at most `most` idle stacks back that were not needed in the whole period before;
    /// returns their number. The cost per stack is that of [`trim`](Self::trim).
    ///
    /// # Examples
    /// ```
    /// use swapstack::{PoolConfig, StackPool};
    ///
    /// let pool = StackPool::new(PoolConfig::default());
    /// let (one, other) = (pool.take(16 << 10)?, pool.take(16 << 10)?);
    /// (pool.give(one), pool.give(other));
    /// pool.begin_period();
    /// pool.give(pool.take(16 << 10)?); // one of the two is needed
    /// pool.begin_period();
    /// assert_eq!(pool.trim_unneeded(usize::MAX), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn trim_unneeded(&self, most: usize) -> usize {
        let mut left = most;
        for class in 0..CLASSES.len() {
            left -= self.inner.trim_unneeded(class, left);
        }
        most - left
    }

    /// The present content of the pool.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        let mut stats = PoolStats {
            guard: self.inner.guard.resolve(),
            regions: 0,
            reserved_bytes: 0,
            carved: 0,
            idle_dirty: 0,
            idle_clean: 0,
            // Relaxed: statistics; nothing is decided by them.
            large: self.inner.large.load(Relaxed),
            // Relaxed: statistics.
            trimmed_bytes: self.inner.trimmed_bytes.load(Relaxed),
        };
        for class in 0..CLASSES.len() {
            let lists = self.inner.lock(class);
            stats.regions += lists.regions;
            stats.reserved_bytes += lists.reserved_bytes;
            stats.carved += lists.carved;
            stats.idle_dirty += lists.dirty.len();
            stats.idle_clean += lists.clean.len();
        }
        stats
    }
}

impl Inner {
    pub(super) fn lock(&self, class: usize) -> MutexGuard<'_, Class> {
        // No code under this lock can panic halfway through a change.
        self.classes[class].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn guard_kind(&self) -> GuardKind {
        self.guard
    }

    /// The number of idle stacks that have guards.
    pub(super) fn idle(&self, class: usize) -> usize {
        let lists = self.lock(class);
        lists.dirty.len() + lists.clean.len()
    }

    /// Takes up to `most` idle stacks: those without memory, then those that have been idle longest.
    pub(super) fn take_idle(&self, class: usize, most: usize) -> Vec<PooledStack> {
        let mut lists = self.lock(class);
        let clean = lists.clean.len().min(most);
        let dirty = lists.dirty.len().min(most - clean);
        let mut idle: Vec<_> = lists.clean.drain(..clean).collect();
        idle.extend(lists.dirty.drain(..dirty));
        lists.fewest = lists.fewest.min(lists.dirty.len());
        idle
    }

    /// Gives stacks back that were taken while they were idle: some as they were, some without guards and memory.
    pub(super) fn put_back(&self, class: usize, idle: Vec<PooledStack>, mut unguarded: Vec<PooledStack>) {
        let mut lists = self.lock(class);
        lists.dirty.extend(idle);
        lists.unguarded.append(&mut unguarded);
    }

    fn map_large(self: &Arc<Self>, size: usize) -> io::Result<PooledStack> {
        // Relaxed: only a count.
        let mapped = self.mapped_large.fetch_add(1, Relaxed);
        let size = size.max(MIN_STACK_SIZE);
        let region =
            reclaim::with_room(|| Region::map(1, size, LARGE, mapped, self.guard, Arc::downgrade(self)))?;
        // SAFETY: the region is new, so slot 0 has no stack yet.
        let stack = unsafe { region.slot(0) };
        // Relaxed: statistics.
        self.large.fetch_add(1, Relaxed);
        reclaim::install_guard(&stack)?;
        Ok(stack)
    }

    pub(crate) fn give(&self, stack: PooledStack) {
        let class = stack.class();
        if class == LARGE {
            // Relaxed: statistics.
            self.large.fetch_sub(1, Relaxed);
            stack.unmap();
        } else {
            self.lock(class).dirty.push(stack);
        }
    }

    fn trim(&self, class: usize) -> usize {
        let mut lists = self.lock(class);
        (lists.fewest, lists.unneeded) = (0, 0);
        let idle = std::mem::take(&mut lists.dirty);
        drop(lists);
        self.clean(class, idle)
    }

    fn trim_unneeded(&self, class: usize, most: usize) -> usize {
        let idle: Vec<_> = {
            let mut lists = self.lock(class);
            let count = lists.unneeded.min(lists.dirty.len()).min(most);
            lists.unneeded -= count;
            lists.fewest = lists.fewest.saturating_sub(count);
            // The stacks that have been idle longest.
            lists.dirty.drain(..count).collect()
        };
        let count = idle.len();
        if count != 0 {
            self.clean(class, idle);
        }
        count
    }

    /// Gives the memory of idle stacks back, and puts them where they are taken last.
    fn clean(&self, class: usize, mut idle: Vec<PooledStack>) -> usize {
        // Highest address first: the clean list is popped from its end, so low addresses are reused first,
        // and the page table pages of high addresses stay unused.
        idle.sort_unstable_by_key(|stack| std::cmp::Reverse(stack.top_address()));
        let bytes = idle.chunk_by(|high, low| low.span().1 == high.span().0).map(give_memory_back).sum();
        self.lock(class).clean.append(&mut idle);
        // Relaxed: statistics.
        self.trimmed_bytes.fetch_add(bytes, Relaxed);
        bytes
    }
}

/// Frees the pages of a run of neighbours (highest first) in one call; their guards stay.
fn give_memory_back(run: &[PooledStack]) -> usize {
    let (Some(last), Some(first)) = (run.first(), run.last()) else { return 0 };
    let (start, end) = (first.span().0, last.span().1);
    // SAFETY: the caller owns these slots, all of which are idle; their contents are not needed.
    let status = unsafe { libc::madvise(start as *mut _, end - start, libc::MADV_DONTNEED) };
    // Locked memory cannot be given back.
    if status == 0 { end - start } else { 0 }
}
