//! Stacks: the trait [`Stack`], and the pools ([`StackPool`], [`LocalPool`]).
//!
//! ```text
//!     LocalPool   one for each worker, no locks, last in first out
//!        |  batches
//!     StackPool   shared: dirty list, clean list, slots not carved yet
//!        |  carve: install the guard, choose the colour
//!     region      one large mapping, cut into equal slots, one stack each
//! ```

mod class;
pub(crate) mod guard;
mod local;
mod pool;
mod reclaim;
mod region;

pub use guard::GuardKind;
pub use local::LocalPool;
pub use pool::{PoolConfig, PoolStats, StackPool};
pub use region::PooledStack;
pub(crate) use region::slot_at;

use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

/// The minimum size, in bytes, for a context that starts and may print a panic message.
pub const MIN_STACK_SIZE: usize = 8 << 10;

/// Memory that a context can run on.
///
/// # Safety
/// An implementation promises, as long as the value lives and wherever it is moved:
/// * `limit` and `top` always return the same addresses, `limit < top`, and `top` is 16-aligned.
/// * The bytes from `limit` up to `top` can be read and written, and no other code uses them.
/// * There are at least [`MIN_STACK_SIZE`] of them.
/// * An access to the page right below `limit` raises SIGSEGV or SIGBUS and does nothing else. (Rust code
///   touches its stack page by page on the way down, so one page is enough.)
/// * The memory stays valid for ever if the value is leaked.
///
/// [`conformance::check`](crate::conformance::check) tests an implementation.
pub unsafe trait Stack {
    /// The upper end: one past the highest byte. Stacks grow down from here.
    fn top(&self) -> NonNull<u8>;

    /// The lower end: the lowest usable byte. The guard is below.
    fn limit(&self) -> NonNull<u8>;

    /// The word in which a pool stores a stack's label: the overflow handler dereferences it. Other crates
    /// can neither call nor implement this, because they have no token.
    ///
    /// ```compile_fail,E0061
    /// use swapstack::{DefaultStack, Stack};
    ///
    /// DefaultStack::take(1)?.label_word();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// ```compile_fail,E0603
    /// use swapstack::{DefaultStack, Stack};
    ///
    /// DefaultStack::take(1)?.label_word(swapstack::stack::token::Token);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(hidden)]
    fn label_word(&self, _: Token) -> Option<&AtomicPtr<()>> {
        None
    }
}

mod token {
    /// Proof that the caller is this crate: other crates cannot name it.
    #[derive(Clone, Copy, Debug)]
    pub struct Token;
}
pub(crate) use token::Token;

/// The number of bytes of `stack` that have been written since its memory was last given back, rounded up to
/// pages: the resident part, by `mincore`.
///
/// A recycled stack still has the pages of earlier contexts, so this is an upper bound for the present one.
/// Pages that the kernel has swapped out do not count.
#[must_use]
pub fn high_water<S: Stack + ?Sized>(stack: &S) -> usize {
    resident_bytes(stack.limit().as_ptr().addr(), stack.top().as_ptr().addr())
}

/// The number of bytes from the lowest resident page in `limit..top` up to `top`. Calls only `mincore`, so
/// that the overflow report may use it.
pub(crate) fn resident_bytes(limit: usize, top: usize) -> usize {
    let page = page_size();
    let mut from = limit & !(page - 1);
    let mut resident = [0_u8; 64];
    while from < top {
        let bytes = (top - from).min(page * resident.len());
        // SAFETY: `resident` has one byte for each page of the range; the call only inspects the range.
        let status = unsafe { libc::mincore(from as *mut _, bytes, resident.as_mut_ptr()) };
        if status != 0 {
            return 0;
        }
        let pages = bytes.div_ceil(page);
        if let Some(first) = resident[..pages].iter().position(|flags| flags & 1 != 0) {
            return top - (from + first * page).max(limit);
        }
        from += pages * page;
    }
    0
}

/// The size of a page of memory, in bytes.
pub(crate) fn page_size() -> usize {
    // SAFETY: only reads a constant of the C library.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}
