//! A conformance test for implementations of [`Stack`].

use crate::stack::guard::kernel_can_read;
use crate::stack::{MIN_STACK_SIZE, Stack, page_size};
use crate::{StackPointer, init, jump, switch};
use std::ptr::NonNull;

/// Tests the promises of an implementation of [`Stack`], as far as a test can, and panics at the first broken
/// one. Meant for tests: runs a context on the stack, writes all of its memory, and moves the value.
///
/// It cannot test that no other code uses the memory, nor that the memory stays valid if the value is leaked.
///
/// # Panics
/// If a promise is broken; the message names it.
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

/// Checks that every word can be written and keeps its value until the last one is written.
fn check_memory(limit: NonNull<u8>, top: NonNull<u8>) {
    // Contexts that jumped away in the middle of a call have left memory poisoned.
    #[cfg(feature = "asan")]
    crate::tools::asan::unpoison(limit.addr().get(), top.addr().get());
    let words = (top.addr().get() - limit.addr().get()) / size_of::<usize>();
    let first = top.cast::<usize>();
    for index in 1..=words {
        // SAFETY: the implementation promises that this is usable, which is what the test checks.
        unsafe { first.sub(index).write(index) };
    }
    for index in 1..=words {
        // SAFETY: the implementation promises that this is usable, which is what the test checks.
        let found = unsafe { first.sub(index).read() };
        assert_eq!(found, index, "the word {index} words below top does not keep its value");
    }
}

/// Checks that the page below the limit is not accessible: asks the kernel, which answers without a signal.
fn check_guard(limit: NonNull<u8>) {
    const WORD: usize = size_of::<u64>();
    assert!(kernel_can_read(limit), "the lowest word at {limit:p} cannot be read");
    for distance in [WORD, page_size()] {
        // SAFETY: the pointer is not dereferenced, only passed to the kernel.
        let below = unsafe { limit.sub(distance) };
        assert!(!kernel_can_read(below), "{distance} bytes below limit {limit:p} is no guard");
    }
}

/// # Safety
/// `back` points at the suspended context of `check_context`.
unsafe extern "C" fn answers(word: usize, back: *mut ()) -> ! {
    let local = std::hint::black_box([word; 64]);
    // SAFETY: `check_context` has saved itself at `back`.
    unsafe { jump(*back.cast::<StackPointer>(), local.iter().sum()) }
}

fn check_context<S: Stack>(stack: &S) {
    // AddressSanitizer gets the bounds of a stack from the registry.
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
