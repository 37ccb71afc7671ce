//! The signal handler: reports faults on guards, and passes all others to the previous handler.

use super::registry::{self, Slot};
use super::{BeforeAbort, Describe, Fault, Report};
use crate::stack::resident_bytes;
use std::fmt::Write;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::{mem, ptr};

/// The naming hook: a [`Describe`], or null.
static DESCRIBE: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// The hook before the abort: a [`BeforeAbort`], or null.
static BEFORE_ABORT: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// The handlers before ours, for SIGSEGV and SIGBUS.
static PREVIOUS: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The maximum distance of a stack pointer below its guard for a fault to count as an overflow, for code of
/// compilers that do not touch the stack page by page.
const STRIDE_OF_FOREIGN_CODE: usize = 64 << 10;

/// # Safety
/// As for [`super::install`].
pub(super) unsafe fn set_describe(describe: Describe) {
    // Release: pairs with the Acquire load in `describe`.
    DESCRIBE.store(describe as *mut (), Release);
}

/// # Safety
/// As for [`super::before_abort`].
pub(super) unsafe fn set_before_abort(hook: BeforeAbort) {
    // Release: pairs with the Acquire load in `report_and_abort`.
    BEFORE_ABORT.store(hook as *mut (), Release);
}

pub(super) fn install() {
    // The old handlers are saved before ours is installed, because ours may run at once.
    let mut first = false;
    PREVIOUS.get_or_init(|| {
        first = true;
        SIGNALS.map(|signal| {
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: only reads; `old` has room for the answer, and all zeros is a valid value.
            unsafe {
                libc::sigaction(signal, ptr::null(), old.as_mut_ptr());
                old.assume_init()
            }
        })
    });
    if first {
        SIGNALS.iter().for_each(|&signal| take_over(signal));
    }
}

fn take_over(signal: libc::c_int) {
    // SAFETY: all zeros is a valid value: no flags, empty mask.
    let mut action = unsafe { mem::zeroed::<libc::sigaction>() };
    action.sa_sigaction = on_fault as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: `on_fault` has the signature for SA_SIGINFO and is async-signal-safe.
    unsafe { libc::sigaction(signal, &action, ptr::null_mut()) };
}

/// # Safety
/// Called only by the kernel, as a handler with SA_SIGINFO.
unsafe extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, machine: *mut libc::c_void) {
    // SAFETY: the kernel passes valid pointers to a handler with SA_SIGINFO.
    let (address, from_kernel, sp) =
        unsafe { ((*info).si_addr().addr(), (*info).si_code > 0, stack_pointer(machine.cast())) };
    if from_kernel && let Some(slot) = registry::find(address) {
        let lowest = slot.guard.saturating_sub(STRIDE_OF_FOREIGN_CODE);
        if (slot.guard..slot.limit()).contains(&address) && (lowest..slot.top).contains(&sp) {
            report_and_abort(address, &slot, machine.cast());
        }
    }
    // SAFETY: the arguments are those of this call.
    unsafe { pass_on(signal, info, machine, from_kernel) };
}

/// The stack pointer of the interrupted code.
///
/// # Safety
/// `machine` is the third argument of a signal handler.
unsafe fn stack_pointer(machine: *const libc::ucontext_t) -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise.
    let sp = unsafe { (*machine).uc_mcontext.gregs[libc::REG_RSP as usize] };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller's promise.
    let sp = unsafe { (*machine).uc_mcontext.sp };
    sp as usize
}

fn report_and_abort(address: usize, slot: &Slot, machine: *const libc::ucontext_t) -> ! {
    let fault = Fault { address, limit: slot.limit(), top: slot.top, machine };
    let mut report = Report::new();
    // Writing to a `Report` never fails.
    let _ = write!(report, "\nswapstack: stack overflow in ");
    // SAFETY: a label lives as long as its stack is used, and this stack is in use.
    if let Some(label) = unsafe { slot.label.as_ref() } {
        let _ = write!(report, "generator `{}` created at {}", label.name, label.site);
    } else if !describe(&fault, &mut report) {
        let _ = write!(report, "a context without a name");
    }
    let (size, used) = (fault.top - fault.limit, resident_bytes(fault.limit, fault.top));
    let _ = write!(report, ": size {size} bytes, high-water mark {used} bytes, ");
    let _ = writeln!(report, "fault at {address:#x}; give it a larger stack");
    report.print();
    // Acquire: pairs with the Release store in `set_before_abort`.
    let hook = BEFORE_ABORT.load(Acquire);
    if !hook.is_null() {
        // SAFETY: only `set_before_abort` stores here, and it stores a `BeforeAbort`.
        unsafe { mem::transmute::<*mut (), BeforeAbort>(hook)(&fault) };
    }
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

fn describe(fault: &Fault, report: &mut Report) -> bool {
    // Acquire: pairs with the Release store in `set_describe`.
    let hook = DESCRIBE.load(Acquire);
    if hook.is_null() {
        return false;
    }
    // SAFETY: only `set_describe` stores here, and it stores a `Describe`.
    let hook = unsafe { mem::transmute::<*mut (), Describe>(hook) };
    hook(fault, report)
}

/// Does what would happen without this module.
///
/// # Safety
/// The arguments are those of a signal handler that has nothing else to do.
unsafe fn pass_on(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    machine: *mut libc::c_void,
    from_kernel: bool,
) {
    let index = usize::from(signal == SIGNALS[1]);
    let Some(previous) = PREVIOUS.get().map(|all| all[index]) else { return };
    match previous.sa_sigaction {
        // A signal that was sent with `kill` can be ignored. A real fault would repeat if it were ignored:
        // the kernel kills the process then, and so does this.
        libc::SIG_IGN if !from_kernel => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all zeros is SIG_DFL without flags. A fault is raised again when this handler returns;
            // a signal that was sent is sent again and stays pending until then.
            unsafe {
                let default = mem::zeroed::<libc::sigaction>();
                libc::sigaction(signal, &default, ptr::null_mut());
                if !from_kernel {
                    libc::raise(signal);
                }
            }
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            type WithInfo = unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: the code that installed it with SA_SIGINFO promised this signature.
            unsafe { mem::transmute::<usize, WithInfo>(handler)(signal, info, machine) }
        }
        handler => {
            // SAFETY: the code that installed it without SA_SIGINFO promised this signature.
            unsafe { mem::transmute::<usize, unsafe extern "C" fn(libc::c_int)>(handler)(signal) }
        }
    }
}
