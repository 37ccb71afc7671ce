//! The switch on AArch64 (AAPCS64).
//!
//! # A suspended context
//!
//! ```text
//!     higher addresses
//!     |  frame of the function that switched      |
//!     |  (live values spilled by the compiler)    |
//!     +-------------------------------------------+
//!     |  (padding: sp must be 16-aligned)         |  sp + 24
//!     |  resume address (label 2 of its switch)   |  sp + 16
//!     |  x19 of that function                     |  sp + 8
//!     |  x29 of that function                     |  sp  <- the StackPointer
//!     +-------------------------------------------+
//!     lower addresses: free
//! ```
//!
//! `x29` (frame pointer) and `x19` are saved by hand because LLVM reserves both and does not let an `asm!`
//! block name them as clobbered. The compiler has spilled all other live values.
//!
//! To resume it: load `sp`, load the resume address, branch to it; there, load `x29` and `x19` and drop the
//! 32 bytes. The branch is a `br`, never a `ret`: the processor predicts a `ret` from its return stack, which
//! does not follow this switch. The branch goes through `x17`, which branch target identification (BTI)
//! allows to land on the `bti j` (`hint #36`) at the label and on the `bti c` (`hint #34`) of `enter`; both
//! are no-ops on other processors.
//!
//! # A fresh context
//!
//! ```text
//!     top (16-aligned) ---------------------------+
//!     |  (padding)                                |  top - 8
//!     |  address of `enter`                       |  sp + 16
//!     |  entry function                           |  sp + 8
//!     |  data pointer                             |  sp = top - 32
//!     +-------------------------------------------+
//! ```
//!
//! `enter` takes the two arguments from the words where a suspended context has `x29` and `x19`, drops the 32
//! bytes, clears `x29` and `x30` and calls the entry function.
//!
//! # The register of the payload word
//!
//! The payload word is in `x0` on both sides.
//!
//! # Unwinding
//!
//! * By tables: `enter` carries `.cfi_undefined x30`, "no caller", so every walk ends there.
//! * By frame pointers: `enter` clears `x29`, so the entry function's frame record holds a zero, which ends
//!   the chain.
//! * A panic must not reach `enter`: the entry function is `extern "C"` and aborts first.
//!
//! # What is not saved
//!
//! FPCR and FPSR: all contexts of a thread share the rounding mode. `x18` belongs to the platform: Linux
//! programs that use it for a shadow call stack cannot switch.

use super::{Entry, Word};
use crate::context::StackPointer;
use core::arch::{asm, naked_asm};
use core::ptr::NonNull;

/// The machine's [`crate::switch`].
///
/// # Safety
/// As for [`crate::switch`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn switch(save: *mut StackPointer, to: StackPointer, word: Word) -> Word {
    let answer;
    // SAFETY: every register is an operand, clobbered, or (x29, x19, sp) saved here and restored at label 2;
    // the caller promises that `save` can be written and that `to` is a suspended context. The context is
    // published through `save` before sp leaves it. Not `nostack`, because this stack is written; not
    // `nomem`, because the contexts that run meanwhile may change all memory.
    unsafe {
        asm!(
            "adr x17, 2f",
            "stp x29, x19, [sp, #-32]!",
            "str x17, [sp, #16]",
            "mov x16, sp",
            "str x16, [x1]",
            "ldr x17, [x2, #16]",
            "mov sp, x2",
            "br x17",
            "2:",
            "hint #36",
            "ldp x29, x19, [sp], #32",
            in("x1") save,
            in("x2") to.0,
            inlateout("x0") word => answer,
            out("x20") _, out("x21") _, out("x22") _, out("x23") _, out("x24") _,
            out("x25") _, out("x26") _, out("x27") _, out("x28") _, out("x30") _,
            // The low halves of these are callee-saved, so `clobber_abi` leaves them out.
            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            clobber_abi("C"),
        );
    }
    answer
}

/// The machine's [`crate::jump`].
///
/// # Safety
/// As for [`crate::jump`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn jump(to: StackPointer, word: Word) -> ! {
    // SAFETY: the caller promises that `to` is a suspended context; nothing of this context is used again.
    unsafe {
        asm!(
            "ldr x17, [x2, #16]",
            "mov sp, x2",
            "br x17",
            in("x2") to.0,
            in("x0") word,
            options(noreturn),
        );
    }
}

/// The machine's [`crate::init`].
///
/// # Safety
/// As for [`crate::init`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn init(top: NonNull<u8>, entry: Entry, data: *mut ()) -> StackPointer {
    let top = top.as_ptr().cast::<usize>();
    // SAFETY: the caller owns the stack that ends at `top`, which is 16-aligned, and it is far
    // larger than these four words.
    unsafe {
        top.sub(2).write(enter as *const () as usize);
        top.sub(3).write(entry as usize);
        top.sub(4).cast::<*mut ()>().write(data);
        StackPointer(top.sub(4).cast())
    }
}

/// The registers with which a suspended context continues: instruction pointer, stack pointer and frame
/// pointer, as after the last instruction of its `switch`. (From there on the compiler's tables are right;
/// they do not know the words that `switch` pushes.)
///
/// # Safety
/// `to` was saved by [`switch`], and has not been resumed since.
pub(crate) unsafe fn suspended(to: StackPointer) -> (usize, usize, usize) {
    let words = to.0.cast::<usize>();
    // SAFETY: the four words that `switch` has pushed.
    unsafe { (words.add(2).read(), words.add(4).addr(), words.read()) }
}

/// The first code of a fresh context, with the word in `x0`: loads entry function and data, and calls.
///
/// # Safety
/// Only to be jumped to, on a stack that `init` has prepared and that is otherwise unused.
#[unsafe(naked)]
unsafe extern "C" fn enter() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined x30",
        "hint #34",
        "ldp x1, x16, [sp], #32",
        "mov x29, xzr",
        "mov x30, xzr",
        "blr x16",
        "brk #1",
        ".cfi_endproc",
    );
}

/// Whether the kernel checks returns of this thread against a second stack (GCS, Linux 6.13).
pub(crate) fn shadow_stack_is_on() -> bool {
    const PR_GET_SHADOW_STACK_STATUS: libc::c_int = 74;
    const PR_SHADOW_STACK_ENABLE: u64 = 1;
    let mut status = 0_u64;
    // SAFETY: the kernel writes one word; a kernel without this call returns an error.
    let answer = unsafe { libc::prctl(PR_GET_SHADOW_STACK_STATUS, &raw mut status, 0, 0, 0) };
    answer == 0 && status & PR_SHADOW_STACK_ENABLE != 0
}
