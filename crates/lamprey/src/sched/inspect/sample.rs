//! A sample of a thread: its registers and a copy of its stack, from which [`super::unwind`] computes its
//! calls.
//!
//! The kernel makes the copy: `process_vm_readv`, from the process to itself. It is a plain system call, so a
//! signal handler may make it at any instruction, and memory that is not mapped or not readable ends the copy
//! instead of the process. So the caller need not know which stack it is, where it ends, and whether it is
//! being freed: a copy that goes past the end of a stack stops at the guard page of the next one, or holds
//! bytes that no frame refers to.
//!
//! # Rejected
//! * `_Unwind_Backtrace` on the thread itself: the thread may be interrupted inside the unwinder, and the
//!   unwinder cannot start at every instruction.
//! * Reading between the bounds that the scheduler knows: they are wrong for generators, and for the
//!   instructions around a switch.

use crate::kernel::own_memory;
use std::mem::MaybeUninit;

/// Most bytes of a stack that are copied.
pub(in crate::sched) const MOST: usize = 64 << 10;

/// The smallest size of a page. (On machines with larger pages a smaller step does no harm.)
const PAGE: usize = 4096;

/// The registers that unwinding starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::sched) struct Registers {
    pub(in crate::sched) pc: usize,
    pub(in crate::sched) sp: usize,
    pub(in crate::sched) fp: usize,
    /// The link register, 0 on machines without one.
    pub(in crate::sched) lr: usize,
}

impl Registers {
    /// The registers of the code that a signal handler has interrupted.
    ///
    /// # Safety
    /// `machine` is the third argument of a signal handler that was installed with `SA_SIGINFO`.
    pub(in crate::sched) unsafe fn interrupted(machine: *const libc::ucontext_t) -> Self {
        // SAFETY: the kernel's argument to a handler with `SA_SIGINFO` (contract).
        let machine = unsafe { &(*machine).uc_mcontext };
        #[cfg(target_arch = "x86_64")]
        {
            let register = |number: libc::c_int| machine.gregs[number as usize] as usize;
            Self {
                pc: register(libc::REG_RIP),
                sp: register(libc::REG_RSP),
                fp: register(libc::REG_RBP),
                lr: 0,
            }
        }
        #[cfg(target_arch = "aarch64")]
        Self {
            pc: machine.pc as usize,
            sp: machine.sp as usize,
            fp: machine.regs[29] as usize,
            lr: machine.regs[30] as usize,
        }
    }

    /// The registers of a suspended thread.
    ///
    /// # Safety
    /// The contract of [`swapstack::StackPointer::suspended`].
    pub(in crate::sched) unsafe fn suspended(sp: swapstack::StackPointer) -> Self {
        // SAFETY: the contract of `StackPointer::suspended` is this function's.
        let swapstack::Suspended { pc, sp, fp, .. } = unsafe { sp.suspended() };
        Self { pc, sp, fp, lr: 0 }
    }
}

/// Registers, and the bytes of the stack from the stack pointer on. Large: for a static or a box.
pub(in crate::sched) struct Sample {
    pub(in crate::sched) registers: Registers,
    length: usize,
    bytes: [u8; MOST],
}

impl Sample {
    pub(in crate::sched) const fn empty() -> Self {
        Self { registers: Registers { pc: 0, sp: 0, fp: 0, lr: 0 }, length: 0, bytes: [0; MOST] }
    }

    /// An empty sample, made on the heap directly.
    pub(in crate::sched) fn boxed() -> Box<Self> {
        // SAFETY: integers only, for which zero is valid.
        unsafe { Box::new_zeroed().assume_init() }
    }

    /// Copies the stack from the stack pointer on. Async-signal-safe.
    pub(in crate::sched) fn take(&mut self, registers: Registers) {
        self.registers = registers;
        self.length = read_own(registers.sp, &mut self.bytes);
    }

    /// How many bytes could be copied.
    #[cfg(test)]
    pub(in crate::sched) fn len(&self) -> usize {
        self.length
    }

    /// The word at an address of the thread's stack, if it has been copied.
    pub(in crate::sched) fn word(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address).ok()?.checked_sub(self.registers.sp)?;
        let word = self.bytes[..self.length].get(offset..offset.checked_add(8)?)?;
        Some(u64::from_ne_bytes(word.try_into().ok()?))
    }

    /// The words that have been copied.
    pub(in crate::sched) fn words(&self) -> impl Iterator<Item = usize> {
        let words = self.bytes[..self.length].chunks_exact(size_of::<usize>());
        words.map(|word| usize::from_ne_bytes(word.try_into().unwrap_or_default()))
    }

    /// A made-up sample.
    #[cfg(test)]
    pub(in crate::sched) fn made_up(registers: Registers, bytes: &[u8]) -> Box<Self> {
        let mut this = Self::boxed();
        this.registers = registers;
        this.length = bytes.len().min(MOST);
        this.bytes[..this.length].copy_from_slice(&bytes[..this.length]);
        this
    }
}

/// Copies this process's memory from `address` on until `into` is full, or up to the first page that cannot
/// be read. Returns the number of bytes copied. Async-signal-safe.
pub(in crate::sched) fn read_own(address: usize, into: &mut [u8]) -> usize {
    // Another thread may write these bytes at the same time, which is why no reference is ever made to them.
    let mut done = 0;
    while done < into.len() {
        let Some(from) = address.checked_add(done) else { break };
        let asked = (into.len() - done).min(STEP * PAGE - from % PAGE);
        let copied = read_step(from, &mut into[done..done + asked]);
        done += copied;
        if copied < asked {
            break;
        }
    }
    done
}

/// Pages that one system call copies.
const STEP: usize = own_memory::PIECES;

fn read_step(address: usize, into: &mut [u8]) -> usize {
    // The kernel copies whole pieces or nothing of a piece, so no piece crosses a page boundary.
    let mut pieces = [const { MaybeUninit::<libc::iovec>::uninit() }; STEP];
    let (mut count, mut start, end) = (0, address, address.saturating_add(into.len()));
    while start < end && count < STEP {
        let next = (start / PAGE * PAGE).saturating_add(PAGE).min(end);
        pieces[count]
            .write(libc::iovec { iov_base: std::ptr::without_provenance_mut(start), iov_len: next - start });
        (count, start) = (count + 1, next);
    }
    // SAFETY: the first `count` have been written.
    own_memory::copy(unsafe { pieces[..count].assume_init_ref() }, into)
}
