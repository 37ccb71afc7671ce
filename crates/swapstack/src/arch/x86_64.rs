//! The switch on x86-64 (System V).
//!
//! # A suspended context
//!
//! A suspended context is one pointer, its stack pointer, and three words on its stack. The compiler has
//! spilled all other live values into the frame above, because the `asm!` block clobbers every register.
//!
//! ```text
//!     higher addresses
//!     |  frame of the function that switched      |
//!     |  (live values spilled by the compiler)    |
//!     +-------------------------------------------+
//!     |  rbp of that function                     |  sp + 16
//!     |  rbx of that function                     |  sp + 8
//!     |  resume address (label 2 of its switch)   |  sp  <- the StackPointer
//!     +-------------------------------------------+
//!     lower addresses: free
//! ```
//!
//! `rbp` and `rbx` are pushed by hand because LLVM reserves both (frame pointer, base pointer) and does not
//! let an `asm!` block name them as clobbered.
//!
//! To resume it: load `rsp`, pop the resume address, jump to it; there, pop `rbx` and `rbp`. The jump is
//! never a `ret`: the processor predicts a `ret` from its return stack, which does not follow this switch,
//! and one misprediction costs more than the whole switch.
//!
//! # A fresh context
//!
//! ```text
//!     top (16-aligned) ---------------------------+
//!     |  0: where a return address would be       |  top - 8
//!     |  0: where a saved rbp would be            |  top - 16
//!     |  entry function                           |  sp + 16
//!     |  data pointer                             |  sp + 8
//!     |  address of `enter`                       |  sp = top - 40
//!     +-------------------------------------------+
//! ```
//!
//! The first switch pops the address of [`enter`] as the resume address. `enter` pops the two arguments,
//! which leaves `rsp` at `top - 16`, clears `rbp` and calls the entry function: a `call`, so that the frame
//! of the entry function has the alignment of the ABI.
//!
//! # The register of the payload word
//!
//! The payload word is in `rdi` on both sides: the argument of one `switch` is the result of the other side's
//! `switch`, or the first argument of its entry function.
//!
//! # Unwinding
//!
//! * By tables (backtraces, panics, gdb, `perf --call-graph dwarf`): a frame that has switched away looks
//!   like any other, because the compiler's tables describe it at the label. `enter` carries `.cfi_undefined
//!   rip`, which means "no caller", so every walk ends there, below the entry function.
//! * By frame pointers (`perf --call-graph fp`, with `-Cforce-frame-pointers=yes`): `enter` clears `rbp`, so
//!   the entry function saves a zero, which ends the chain.
//! * A panic must not reach `enter`: the entry function is `extern "C"` and aborts first.
//! * A sampling profiler that interrupts between the first push and the last pop sees a frame that is off by
//!   the pushed words: for about two nanoseconds a sample may be cut short.
//!
//! # What is not saved
//!
//! MXCSR and the x87 control word: all contexts of a thread share the rounding mode. The direction flag must
//! be clear, as the ABI demands at every call. Shadow stacks (CET) do not follow the switch: pools refuse to
//! hand out stacks in a process that has them enabled.

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
    // SAFETY: every register is an operand, clobbered, or (rbp, rbx, rsp) saved here and restored at label 2;
    // the caller promises that `save` can be written and that `to` is a suspended context. The context is
    // published through `save` before rsp leaves it. Not `nostack`, because the pushes would overwrite a red
    // zone; not `nomem`, because the contexts that run meanwhile may change all memory.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "push rbp",
            "push rbx",
            "push rax",
            "mov [rsi], rsp",
            "mov rsp, rdx",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbx",
            "pop rbp",
            in("rsi") save,
            in("rdx") to.0,
            inlateout("rdi") word => answer,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
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
            "mov rsp, rdx",
            "pop rax",
            "jmp rax",
            in("rdx") to.0,
            in("rdi") word,
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
    // larger than these five words.
    unsafe {
        top.sub(1).write(0);
        top.sub(2).write(0);
        top.sub(3).write(entry as usize);
        top.sub(4).cast::<*mut ()>().write(data);
        top.sub(5).write(enter as *const () as usize);
        StackPointer(top.sub(5).cast())
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
    // SAFETY: the three words that `switch` has pushed.
    unsafe { (words.read(), words.add(3).addr(), words.add(2).read()) }
}

/// The first code of a fresh context, with the word in `rdi`: loads entry function and data, and calls.
///
/// # Safety
/// Only to be jumped to, on a stack that `init` has prepared and that is otherwise unused.
#[unsafe(naked)]
unsafe extern "C" fn enter() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "pop rsi",
        "pop rax",
        "xor ebp, ebp",
        "call rax",
        "ud2",
        ".cfi_endproc",
    );
}

/// Whether the kernel checks returns of this thread against a second stack (CET, Linux 6.6).
pub(crate) fn shadow_stack_is_on() -> bool {
    const ARCH_SHSTK_STATUS: libc::c_int = 0x5005;
    const ARCH_SHSTK_SHSTK: u64 = 1;
    let mut features = 0_u64;
    // SAFETY: the kernel writes one word; a kernel without this call returns an error.
    let status = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SHSTK_STATUS, &raw mut features) };
    status == 0 && features & ARCH_SHSTK_SHSTK != 0
}
