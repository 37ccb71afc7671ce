//! ThreadSanitizer support. It keeps a clock and a call stack for each thread, and must know which context
//! runs; otherwise it takes two contexts of one kernel thread for one, with one call stack.
//!
//! The machine's operations, each with its announcement; the sanitizer calls a context a *fiber*. The
//! announcing functions are in the sanitizer's runtime: a program with this feature links only with
//! `-Zsanitizer=thread`.
//!
//! # Invariants
//! 1. A context announces itself when it **arrives**, before anything else runs on its stack: its stack
//!    pointer has no room for its fiber, but the frame that switches away has.
//! 2. Every announcement also says that what ran before on this kernel thread happened before what runs now
//!    (flags 0). That is true, because a kernel thread runs one context at a time.
//! 3. [`FIBERS`] has the fiber of each context that was prepared and has not jumped away, by the top of its
//!    stack. If a context was left in the middle for ever, its fiber is removed when its stack is used again
//!    or unmapped: the sanitizer allows at most 8,000 at a time.

use crate::arch::{Entry, Word, machine};
use crate::context::StackPointer;
use core::cell::Cell;
use core::ffi::{c_uint, c_void};
use core::ptr::{self, NonNull};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

// SAFETY: declared as in the sanitizer's interface headers; the last one as compilers use it.
unsafe extern "C" {
    fn __tsan_get_current_fiber() -> *mut c_void;
    fn __tsan_create_fiber(flags: c_uint) -> *mut c_void;
    fn __tsan_destroy_fiber(fiber: *mut c_void);
    fn __tsan_switch_to_fiber(fiber: *mut c_void, flags: c_uint);
    fn __tsan_func_exit();
    fn __tsan_ignore_thread_begin();
    fn __tsan_ignore_thread_end();
}

/// A fiber of the sanitizer. Only [`destroy`] frees it.
struct Fiber(*mut c_void);

// SAFETY: the sanitizer lets any thread that does not run on a fiber free it.
unsafe impl Send for Fiber {}

/// The fibers of invariant 3.
static FIBERS: Mutex<BTreeMap<usize, Fiber>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The fiber of the context that this thread has jumped away from; the next context to arrive frees it.
    static OVER: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

/// Runs `f` on the list. The sanitizer ignores this section: the order that a lock of all threads imposes at
/// each start and end of a context would hide races of the program.
fn with_fibers<R>(f: impl FnOnce(&mut BTreeMap<usize, Fiber>) -> R) -> R {
    // SAFETY: begins and ends on the same fiber.
    unsafe { __tsan_ignore_thread_begin() };
    let result = f(&mut FIBERS.lock().unwrap_or_else(PoisonError::into_inner));
    // SAFETY: ends the section that this function has begun.
    unsafe { __tsan_ignore_thread_end() };
    result
}

/// Frees a fiber whose context never runs again.
fn destroy(fiber: Fiber) {
    // SAFETY: it was removed from `FIBERS`, so it is freed here only, and it does not run.
    unsafe { __tsan_destroy_fiber(fiber.0) };
}

/// The stacks between `start` and `end` are about to be unmapped.
pub(crate) fn forget(start: usize, end: usize) {
    let gone = with_fibers(|fibers| {
        let mut gone = fibers.split_off(&start);
        fibers.append(&mut gone.split_off(&end));
        gone
    });
    gone.into_values().for_each(destroy);
}

/// Frees the fiber that this thread has jumped away from, if the last switch was a jump.
fn end_the_last() {
    let over = OVER.take();
    if !over.is_null() {
        destroy(Fiber(over));
    }
}

/// # Safety
/// As for [`crate::switch`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn switch(save: *mut StackPointer, to: StackPointer, word: Word) -> Word {
    // SAFETY: the announcement is directly after the return from the switch (invariant 1); the rest is the
    // caller's promise.
    unsafe {
        let me = __tsan_get_current_fiber();
        let answer = machine::switch(save, to, word);
        __tsan_switch_to_fiber(me, 0);
        end_the_last();
        answer
    }
}

/// # Safety
/// As for [`crate::jump`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn jump(to: StackPointer, word: Word) -> ! {
    // SAFETY: only a query.
    let me = unsafe { __tsan_get_current_fiber() };
    let here = ptr::from_ref(&me).addr();
    let listed = with_fibers(|fibers| {
        // The next top above is that of this stack, unless this is a kernel thread's own stack, which is not
        // in the list.
        let (&top, fiber) = fibers.range(here..).next()?;
        if fiber.0 == me { fibers.remove(&top) } else { None }
    });
    if let Some(Fiber(me)) = listed {
        OVER.set(me);
    }
    // SAFETY: the caller's promise.
    unsafe { machine::jump(to, word) }
}

/// The data above the first frame.
#[repr(C, align(16))]
struct First {
    entry: Entry,
    data: *mut (),
    fiber: *mut c_void,
}

/// # Safety
/// As for [`crate::init`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn init(top: NonNull<u8>, entry: Entry, data: *mut ()) -> StackPointer {
    // SAFETY: the caller's promise: the stack is ours and large enough.
    unsafe {
        let fiber = __tsan_create_fiber(0);
        with_fibers(|fibers| fibers.insert(top.addr().get(), Fiber(fiber))).into_iter().for_each(destroy);
        let first = top.cast::<First>().sub(1);
        first.write(First { entry, data, fiber });
        machine::init(first.cast(), enter, first.as_ptr().cast())
    }
}

/// Announces the arrival, then calls the entry function.
///
/// # Safety
/// The entry function of a context that `init` has prepared, with its `First`.
unsafe extern "C" fn enter(word: Word, first: *mut ()) -> ! {
    // SAFETY: `first` was written by `init`. The compiler has announced the call of this function on the
    // fiber that ran before, where it would stay for ever; so its return is announced there, too.
    unsafe {
        let First { entry, data, fiber } = first.cast::<First>().read();
        __tsan_func_exit();
        __tsan_switch_to_fiber(fiber, 0);
        end_the_last();
        entry(word, data)
    }
}
