//! Valgrind support: registers stacks, so that Valgrind does not take a switch for a frame of several
//! megabytes.
//!
//! A client request is a sequence of instructions that is a no-op on the processor and that Valgrind
//! recognises: the address of six words in one register, the answer in another. Outside of Valgrind the
//! answer is the default, 0.

use std::arch::asm;

const STACK_REGISTER: usize = 0x1501;
const STACK_DEREGISTER: usize = 0x1502;

/// Registers `limit..top` as a stack. Returns its id for [`deregister`].
pub(crate) fn register(limit: usize, top: usize) -> usize {
    request([STACK_REGISTER, limit, top - 1, 0, 0, 0])
}

/// Ends the registration of stack `id`.
pub(crate) fn deregister(id: usize) {
    request([STACK_DEREGISTER, id, 0, 0, 0, 0]);
}

#[cfg(target_arch = "x86_64")]
fn request(words: [usize; 6]) -> usize {
    let answer;
    // SAFETY: four rotations that add up to two full turns of rdi, and an exchange of rbx with itself: on the
    // processor only the flags change. Valgrind reads `words` and writes rdx.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inout("rdi") 0_usize => _,
            in("rax") words.as_ptr(),
            inlateout("rdx") 0_usize => answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(target_arch = "aarch64")]
fn request(words: [usize; 6]) -> usize {
    let answer;
    // SAFETY: four rotations that add up to two full turns of x12, and an `orr` of x10 with itself: on the
    // processor nothing changes. Valgrind reads `words` and writes x3.
    unsafe {
        asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
            inout("x12") 0_usize => _,
            in("x4") words.as_ptr(),
            inlateout("x3") 0_usize => answer,
            options(nostack),
        );
    }
    answer
}
