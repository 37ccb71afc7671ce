//! A suspended context and the three operations on it.
//!
//! Invariant: a [`StackPointer`] that is not NULL is resumed at most once. After that it is stale, until its
//! context saves itself again.

use crate::arch;
use core::fmt;
use core::mem;
use core::ptr::{self, NonNull};

/// A suspended context: its stack pointer, with the resume address on top of the stack.
///
/// One word, which may be copied, but resumed only once: [`switch`] and [`jump`] use it up.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StackPointer(pub(crate) *mut u8);

impl StackPointer {
    /// No context.
    pub const NULL: Self = Self(ptr::null_mut());

    /// Whether this is [`NULL`](Self::NULL).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address, to store in an `AtomicPtr` or to print.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub fn as_ptr(self) -> *mut u8 {
        self.0
    }

    /// The inverse of [`as_ptr`](Self::as_ptr).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub fn from_ptr(address: *mut u8) -> Self {
        Self(address)
    }
}

/// The registers with which a suspended context continues, for an unwinder: those right after its `switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suspended {
    /// The instruction pointer.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The frame pointer, if the code keeps one.
    pub fp: usize,
}

impl StackPointer {
    /// The registers with which this context continues.
    ///
    /// # Safety
    /// It was saved by [`switch`], and has not been resumed since.
    #[must_use]
    pub unsafe fn suspended(self) -> Suspended {
        // SAFETY: the caller's promise is the contract of the machine's function.
        let (pc, sp, fp) = unsafe { arch::machine::suspended(self) };
        Suspended { pc, sp, fp }
    }
}

impl Default for StackPointer {
    fn default() -> Self {
        Self::NULL
    }
}

impl fmt::Debug for StackPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StackPointer({:p})", self.0)
    }
}

/// Saves the running context in `*save`, resumes `to` and passes `word` to it.
///
/// Returns when this context is resumed, with the word that it is passed then.
///
/// It is inlined into its caller, and all code between the caller's loop and this call should be inlined,
/// too: a `ret` across a switch is mispredicted, and costs ten times as much as the switch.
///
/// # Safety
/// * `save` is valid for a write; it may be on the stack of either context. It is written before this stack
///   is left, but another kernel thread may resume the saved context only after this thread has arrived at
///   `to` (publish it from there).
/// * `to` comes from [`init`] or from a `switch` that has not been resumed since, and its stack still exists.
/// * A context that has run on one kernel thread stays on that thread, unless nothing on its stack depends on
///   the thread. (The compiler keeps addresses of thread-locals across this call.)
/// * This context is resumed with `switch` or `jump`, not with a [`payload`](crate::payload) function and a
///   type that has padding.
/// * No panic is unwinding on this thread, unless the caller takes care of the panic count.
///
/// # Examples
/// ```
/// use swapstack::{PoolConfig, Stack, StackPointer, StackPool, init, jump, switch};
///
/// unsafe extern "C" fn double(word: usize, data: *mut ()) -> ! {
///     // SAFETY: `data` is `main` below, which waits for exactly this jump.
///     unsafe { jump(*data.cast::<StackPointer>(), word * 2) }
/// }
///
/// let stack = StackPool::new(PoolConfig::default()).take(16 << 10)?;
/// let mut main = StackPointer::NULL;
/// // SAFETY: the stack is ours, is used by this one context and outlives it.
/// let answer = unsafe {
///     let fresh = init(stack.top(), double, (&raw mut main).cast());
///     switch(&raw mut main, fresh, 21)
/// };
/// assert_eq!(answer, 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn switch(save: *mut StackPointer, to: StackPointer, word: usize) -> usize {
    debug_assert!(!to.is_null(), "switch to StackPointer::NULL");
    // SAFETY: the caller's promise is the contract of the machine's function.
    let answer = unsafe { arch::switch(save, to, carry(word)) };
    // SAFETY: the caller promises that this context is resumed with a whole word.
    unsafe { answer.assume_init() }.expose_provenance()
}

/// Ends the running context without unwinding, resumes `to` and passes `word` to it.
///
/// Nothing on the stack that is left is dropped, and other contexts may use that stack as soon as `to` runs.
///
/// # Safety
/// As for [`switch`] with respect to `to`. Nothing on this stack needs a destructor or is used again.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn jump(to: StackPointer, word: usize) -> ! {
    debug_assert!(!to.is_null(), "jump to StackPointer::NULL");
    // SAFETY: the caller's promise is the contract of the machine's function.
    unsafe { arch::jump(to, carry(word)) }
}

/// Prepares a fresh context on the stack that ends at `top`: the first [`switch`] or [`jump`] to the
/// result calls `entry(word, data)` on it.
///
/// Nothing runs yet, and a context that is never resumed needs no clean-up.
///
/// # Safety
/// * `top` is 16-aligned and is the upper end of a stack (see [`Stack`](crate::Stack)) that no other code
///   uses until the context has ended.
/// * `entry` does not return, as its type says. A panic that leaves it aborts the process.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn init(
    top: NonNull<u8>,
    entry: unsafe extern "C" fn(word: usize, data: *mut ()) -> !,
    data: *mut (),
) -> StackPointer {
    debug_assert!(top.as_ptr().addr().is_multiple_of(16), "stack top {top:p} is not 16-aligned");
    // SAFETY: a `usize` and a `Word` are passed in the same register.
    let entry = unsafe { mem::transmute::<unsafe extern "C" fn(usize, *mut ()) -> !, arch::Entry>(entry) };
    // SAFETY: the caller's promise is the contract of the machine's function.
    unsafe { arch::init(top, entry, data) }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn carry(word: usize) -> arch::Word {
    arch::Word::new(ptr::with_exposed_provenance_mut(word))
}
