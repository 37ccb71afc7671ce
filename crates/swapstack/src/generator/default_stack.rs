//! The default stacks of generators: a pool of the process, with a cache for each thread.

use crate::stack::{LocalPool, PoolConfig, PooledStack, Stack, StackPool, Token};
use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;
use std::sync::{Arc, LazyLock};

static SHARED: LazyLock<Arc<StackPool>> = LazyLock::new(|| Arc::new(StackPool::new(PoolConfig::default())));

thread_local! {
    static LOCAL: LocalPool = LocalPool::new(Arc::clone(&SHARED));
}

/// A stack from the pool that all generators of the process share. Its drop gives it back.
pub struct DefaultStack(ManuallyDrop<PooledStack>);

impl DefaultStack {
    /// A stack with at least `size` usable bytes.
    ///
    /// # Errors
    /// As for [`StackPool::take`].
    pub fn take(size: usize) -> io::Result<Self> {
        // In a thread whose locals have been destroyed, the shared pool is used.
        let taken = LOCAL.try_with(|local| local.take(size)).unwrap_or_else(|_| SHARED.take(size));
        Ok(Self(ManuallyDrop::new(taken?)))
    }

    /// The pool of all default stacks, to inspect or trim.
    #[must_use]
    pub fn pool() -> &'static StackPool {
        &SHARED
    }
}

// SAFETY: `PooledStack` keeps the promises.
unsafe impl Stack for DefaultStack {
    fn top(&self) -> NonNull<u8> {
        self.0.top()
    }

    fn limit(&self) -> NonNull<u8> {
        self.0.limit()
    }

    fn label_word(&self, token: Token) -> Option<&AtomicPtr<()>> {
        self.0.label_word(token)
    }
}

impl Drop for DefaultStack {
    fn drop(&mut self) {
        // SAFETY: `self.0` is not used again.
        let mut stack = Some(unsafe { ManuallyDrop::take(&mut self.0) });
        // In a thread whose locals have been destroyed, dropping the stack gives it to the shared pool.
        let _ = LOCAL.try_with(|local| stack.take().map(|stack| local.give(stack)));
    }
}
