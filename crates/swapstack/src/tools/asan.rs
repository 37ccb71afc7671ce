//! AddressSanitizer support. It must know on which stack the program runs; otherwise it reports accesses to
//! other stacks as overflows and loses the "fake stack" of their locals.
//!
//! The machine's operations, each with its announcement. The announcing functions are in the sanitizer's
//! runtime: a program with this feature links only with `-Zsanitizer=address` (or with a C linker's
//! `-fsanitize=address`).
//!
//! The limits of a target stack come from the registry; an address that is not in it counts as this thread's
//! own stack. So contexts on stacks that are neither a pool's nor a generator's must not be used with this
//! feature.

use crate::arch::{Entry, Word, machine};
use crate::context::StackPointer;
use crate::overflow::registry;
use core::cell::Cell;
use core::ffi::c_void;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{self, NonNull};

// SAFETY: declared as in the sanitizer's interface headers.
unsafe extern "C" {
    fn __sanitizer_start_switch_fiber(fake_stack: *mut *mut c_void, bottom: *const c_void, size: usize);
    fn __sanitizer_finish_switch_fiber(
        fake_stack: *mut c_void,
        old_bottom: *mut *const c_void,
        old_size: *mut usize,
    );
    fn __asan_unpoison_memory_region(start: *const c_void, size: usize);
}

/// The start and the size of the stack around `address`.
fn bounds(address: usize) -> (usize, usize) {
    if let Some(slot) = registry::find(address) {
        return (slot.limit(), slot.top - slot.limit());
    }
    OWN.get()
}

thread_local! {
    /// The start and the size of this thread's own stack, (0, 0) before the first switch.
    static OWN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Records this thread's own stack at its first switch, which it does from that stack: the query needs more
/// stack than a small one has.
fn note_own() {
    if OWN.get() == (0, 0) {
        OWN.set(thread_stack());
    }
}

fn thread_stack() -> (usize, usize) {
    let mut attributes = MaybeUninit::uninit();
    let (mut start, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the first call initialises `attributes`, the second reads it, and the third destroys it.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 {
            libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut size);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
        }
    }
    (start.addr(), size)
}

/// Marks `limit..top` as accessible for the sanitizer.
pub(crate) fn unpoison(limit: usize, top: usize) {
    // SAFETY: changes only the sanitizer's shadow memory.
    unsafe { __asan_unpoison_memory_region(limit as *const c_void, top - limit) };
}

/// # Safety
/// As for [`crate::switch`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn switch(save: *mut StackPointer, to: StackPointer, word: Word) -> Word {
    note_own();
    let (bottom, size) = bounds(to.0.addr());
    let mut fake_stack = ptr::null_mut();
    // SAFETY: the announcements are directly before the switch and directly after the return from it; the
    // rest is the caller's promise.
    unsafe {
        __sanitizer_start_switch_fiber(&mut fake_stack, bottom as *const c_void, size);
        let answer = machine::switch(save, to, word);
        __sanitizer_finish_switch_fiber(fake_stack, ptr::null_mut(), ptr::null_mut());
        answer
    }
}

/// # Safety
/// As for [`crate::jump`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn jump(to: StackPointer, word: Word) -> ! {
    let (bottom, size) = bounds(to.0.addr());
    // SAFETY: announced directly before the jump; without a place to save it, this context's fake stack is
    // destroyed.
    unsafe {
        __sanitizer_start_switch_fiber(ptr::null_mut(), bottom as *const c_void, size);
        machine::jump(to, word)
    }
}

/// Moves a value that a context passes on at its end to the far end of its own stack, which contains `own`,
/// because locals are on the fake stack, which [`jump`] destroys. A value that is too large for that, or on a
/// stack that is not registered, stays in place.
///
/// # Safety
/// The context is at the base of its stack, and uses no more than half of it from here to the jump.
pub(crate) unsafe fn off_fake_stack<V>(value: &mut ManuallyDrop<V>, own: usize) -> &mut ManuallyDrop<V> {
    let Some(slot) = registry::find(own) else { return value };
    let limit = slot.limit();
    let place = limit.next_multiple_of(align_of::<V>());
    if place + size_of::<V>() > limit + (own - limit) / 2 {
        return value;
    }
    unpoison(place, place + size_of::<V>());
    let place = ptr::with_exposed_provenance_mut::<ManuallyDrop<V>>(place);
    // SAFETY: aligned, on the caller's stack, below all its frames. The value is moved: the original is not
    // dropped.
    unsafe {
        place.copy_from_nonoverlapping(value, 1);
        &mut *place
    }
}

/// The data above the first frame.
#[repr(C, align(16))]
struct First {
    entry: Entry,
    data: *mut (),
}

/// # Safety
/// As for [`crate::init`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn init(top: NonNull<u8>, entry: Entry, data: *mut ()) -> StackPointer {
    // SAFETY: the caller's promise: the stack is ours and large enough. Memory that earlier contexts left
    // poisoned is unpoisoned first.
    unsafe {
        let first = top.cast::<First>().sub(1);
        if let Some(slot) = registry::find(top.addr().get() - 1) {
            unpoison(slot.limit(), top.addr().get());
        }
        first.write(First { entry, data });
        machine::init(first.cast(), enter, first.as_ptr().cast())
    }
}

/// Announces the arrival, then calls the entry function.
///
/// # Safety
/// The entry function of a context that `init` has prepared, with its `First`.
unsafe extern "C" fn enter(word: Word, first: *mut ()) -> ! {
    // SAFETY: `first` was written by `init`, and a fresh context has no fake stack yet.
    unsafe {
        __sanitizer_finish_switch_fiber(ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let First { entry, data } = first.cast::<First>().read();
        entry(word, data)
    }
}
