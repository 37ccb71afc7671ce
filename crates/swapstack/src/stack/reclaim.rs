//! Guards and address space of idle stacks, for stacks that would have none: a process has a limited number of mapped guards
//! ([`guard`](super::guard)) and may have limited address space, and what idle stacks have counts, of whatever size and pool.
//!
//! Invariant: a stack without a guard is in the list `unguarded` of its class, or in the hands of one function that puts it there.

use super::guard::GuardKind;
use super::pool::{CLASSES, Inner};
use super::region::PooledStack;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::thread;

/// Guards that are taken at a time: about a microsecond each.
const SOME: usize = 64;

/// Attempts to lock the list of pools, which nobody holds for long.
const TRIES: usize = 1000;

/// The pools of the process that have not been dropped.
static POOLS: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// A pool has been made.
pub(super) fn add(pool: &Arc<Inner>) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.retain(|pool| pool.strong_count() != 0);
    pools.push(Arc::downgrade(pool));
}

/// All pools. None where the list is locked for ever: in a child made by `fork` meanwhile.
fn pools() -> Vec<Arc<Inner>> {
    let upgrade = |pools: &[Weak<Inner>]| pools.iter().filter_map(Weak::upgrade).collect();
    for _ in 0..TRIES {
        match POOLS.try_lock() {
            Ok(pools) => return upgrade(&pools),
            Err(TryLockError::Poisoned(poisoned)) => return upgrade(&poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    Vec::new()
}

/// Calls `map`. If the process has no address space or no mapping left, the regions whose stacks are all idle are unmapped, and it
/// is called once more.
pub(super) fn with_room<T>(mut map: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match map() {
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
            // Unmapped under the lock of its class: whoever fails at the same moment waits for that lock, and finds the room.
            for pool in pools() {
                (0..CLASSES.len()).for_each(|class| pool.lock(class).unmap_idle());
            }
            map()
        }
        done => done,
    }
}

/// Installs the guard of a stack. If the process has no guard left, idle stacks lose theirs.
pub(super) fn install_guard(stack: &PooledStack) -> io::Result<()> {
    loop {
        match stack.install_guard() {
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                if !take_guards() {
                    return Err(error);
                }
            }
            done => return done,
        }
    }
}

/// Takes the guards of some idle stacks of the class that has the most; false if none was taken.
fn take_guards() -> bool {
    let pools = pools();
    // Where guards are light, those of single stacks may be mapped; which ones is not known.
    let mapped = pools.iter().filter(|pool| pool.guard_kind().resolve() == GuardKind::Mapped);
    let classes =
        mapped.flat_map(|pool| (0..CLASSES.len()).map(move |class| (pool.idle(class), pool, class)));
    let Some((idle, pool, class)) = classes.max_by_key(|(idle, ..)| *idle) else { return false };
    idle != 0 && pool.unguard(class, SOME) != 0
}

impl Inner {
    /// Takes the guards and the memory of up to `most` idle stacks; returns of how many.
    fn unguard(&self, class: usize, most: usize) -> usize {
        let (mut guarded, mut bare, mut count) = (Vec::new(), Vec::new(), 0);
        let mut idle = self.take_idle(class, most);
        // The lowest first: the kernel joins what is mapped anew with what lies below, and would have to divide it again.
        idle.sort_unstable_by_key(PooledStack::top_address);
        for stack in idle {
            match stack.without_guard() {
                Ok(stack) => {
                    count += 1;
                    bare.extend(stack);
                }
                Err(stack) => guarded.push(stack),
            }
        }
        self.put_back(class, guarded, bare);
        count
    }
}
