//! Puts an implementation of [`Stack`] to the test.

use crate::stack::guard::kernel_can_read;
use crate::stack::{MIN_STACK_SIZE, Stack, page_size};
use crate::{StackPointer, init, jump, switch};
use std::ptr::NonNull;

/// Checks what can be checked of the promises that an implementation of [`Stack`] makes, and panics at the
/// first that is broken. Meant for tests: runs a context on the stack, writes all of its memory, and moves
/// the value.
///
/// That nobody else uses the memory, and that it stays valid if the value is leaked, cannot be seen from
/// outside.
///
/// # Panics
/// A promise is broken; the message says which.
///
/// # Examples
/// ```
/// use swapstack::{PoolConfig, StackPool, conformance};
///
/// let pool = StackPool::new(PoolConfig::default());
/// conformance::check(|| pool.take(16 << 10).unwrap());
/// ```
pub fn check<S: Stack>(mut make: impl FnMut() -> S) {
    let stack = make();
    let (limit, top) = (stack.limit(), stack.top());
    check_shape(limit, top);
    let moved = Box::new(stack);
    assert_eq!((moved.limit(), moved.top()), (limit, top), "the addresses change when the value is moved");
    check_memory(limit, top);
    check_guard(limit);
    check_context(&*moved);
    check_disjoint(&*moved, &make());
    drop(moved);
    check_memory_of(&make());
}

fn check_shape(limit: NonNull<u8>, top: NonNull<u8>) {
    assert!(limit < top, "limit {limit:p} is not below top {top:p}");
    assert!(top.addr().get().is_multiple_of(16), "top {top:p} is not 16-aligned");
    let size = top.addr().get() - limit.addr().get();
    assert!(size >= MIN_STACK_SIZE, "{size} bytes are less than MIN_STACK_SIZE ({MIN_STACK_SIZE})");
}

fn check_memory_of<S: Stack>(stack: &S) {
    check_shape(stack.limit(), stack.top());
    check_memory(stack.limit(), stack.top());
}

/// Every word can be written and keeps its value until the last is written.
fn check_memory(limit: NonNull<u8>, top: NonNull<u8>) {
    // What contexts were in the middle of when they left for ever is still marked as off limits.
    #[cfg(feature = "asan")]
    crate::tools::asan::unpoison(limit.addr().get(), top.addr().get());
    let words = (top.addr().get() - limit.addr().get()) / size_of::<usize>();
    let first = top.cast::<usize>();
    for index in 1..=words {
        // SAFETY: the implementation promises that this is usable; that is what is tested.
        unsafe { first.sub(index).write(index) };
    }
    for index in 1..=words {
        // SAFETY: as above.
        let found = unsafe { first.sub(index).read() };
        assert_eq!(found, index, "the word {index} words below top does not keep its value");
    }
}

/// The page below the limit must not be accessible: asks the kernel, which answers without a signal.
fn check_guard(limit: NonNull<u8>) {
    const WORD: usize = size_of::<u64>();
    assert!(kernel_can_read(limit), "the lowest word at {limit:p} cannot be read");
    for distance in [WORD, page_size()] {
        // SAFETY: not followed, only shown to the kernel.
        let below = unsafe { limit.sub(distance) };
        assert!(!kernel_can_read(below), "{distance} bytes below limit {limit:p} is no guard");
    }
}

/// # Safety
/// `back` is a place that holds a suspended context.
unsafe extern "C" fn answers(word: usize, back: *mut ()) -> ! {
    let local = std::hint::black_box([word; 64]);
    // SAFETY: `back` is where `check_context` has saved itself.
    unsafe { jump(*back.cast::<StackPointer>(), local.iter().sum()) }
}

fn check_context<S: Stack>(stack: &S) {
    // AddressSanitizer asks the registry where a stack ends.
    #[cfg(feature = "asan")]
    let _known = crate::overflow::registry::Registration::of_stack(
        stack.limit().addr().get(),
        stack.top().addr().get(),
        std::ptr::null(),
    );
    let mut main = StackPointer::NULL;
    // SAFETY: the stack is not in use, and outlives the context, which ends with its jump.
    let answer = unsafe { switch(&raw mut main, init(stack.top(), answers, (&raw mut main).cast()), 3) };
    assert_eq!(answer, 3 * 64, "a context on this stack computes nonsense");
}

fn check_disjoint<S: Stack>(one: &S, other: &S) {
    let apart = one.top() <= other.limit() || other.top() <= one.limit();
    assert!(apart, "two stacks that live at the same time overlap");
}
