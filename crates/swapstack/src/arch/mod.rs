//! The machine: one file for each architecture, all with the same operations.
//!
//! | operation | what it does |
//! |---|---|
//! | `switch` | saves the running context, resumes another, and passes a word to it |
//! | `jump` | the same without saving: the running context ends |
//! | `init` | writes the first frame of a context that has not run yet |
//! | `enter` | the trampoline that a fresh context starts in, where every unwinder stops |

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
pub(crate) mod machine;

#[cfg(feature = "asan")]
pub(crate) use crate::tools::asan::{init, jump, switch};
#[cfg(feature = "tsan")]
pub(crate) use crate::tools::tsan::{init, jump, switch};
#[cfg(not(any(feature = "asan", feature = "tsan")))]
pub(crate) use machine::{init, jump, switch};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("swapstack knows x86_64 and aarch64: add a file to src/arch for this machine");

#[cfg(not(target_os = "linux"))]
compile_error!("swapstack manages its stacks with Linux system calls and runs on Linux only");

use core::mem::MaybeUninit;

/// The content of the payload register: any word, be it a pointer, a number, or partly padding.
pub(crate) type Word = MaybeUninit<*mut ()>;

/// The entry function of a fresh context: gets the word of the first switch and the pointer given to `init`.
pub(crate) type Entry = unsafe extern "C" fn(word: Word, data: *mut ()) -> !;

/// The reason why this process cannot switch, if there is one. Asked once for each reservation of stacks.
pub(crate) fn obstacle() -> Option<&'static str> {
    machine::shadow_stack_is_on().then_some(
        "this process runs with a shadow stack, which does not follow context switches: turn it off \
         (GLIBC_TUNABLES=glibc.cpu.x86_shstk=off on x86-64)",
    )
}
