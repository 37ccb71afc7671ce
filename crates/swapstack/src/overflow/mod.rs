//! Stack overflow: names the context that overflowed, then aborts.
//!
//! A context that outgrows its stack touches the guard below it, and the kernel raises SIGSEGV (or SIGBUS).
//! The handler of [`install`] runs on an alternate stack, because the normal one is full. It finds the stack
//! by the faulting address, prints one line, calls the [`before_abort`] hook, and aborts:
//!
//! ```text
//! swapstack: stack overflow in generator `walk` created at src/tree.rs:17:20: size 66976 bytes, high-water mark 66976 bytes, fault at 0x7f21c8e00ff8; give it a larger stack
//! ```
//!
//! A fault that is not on a guard, or whose thread has its stack pointer elsewhere (a wild pointer), goes to
//! the previous handler.
//!
//! Generators need no setup. A runtime calls [`install`] with a [`Describe`] that names its threads, and
//! [`arm_thread`] on each of its kernel threads.
//!
//! Invariant: the handler allocates nothing, takes no lock, and reads only data that lives as long as a stack
//! in use: the registry, the labels, and what [`Describe`] reads.

mod altstack;
mod handler;
pub(crate) mod registry;
mod report;

pub use altstack::arm_thread;
pub use report::Report;

use std::panic::Location;

/// A fault on a guard, as [`Describe`] gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The faulting address, in the guard of the stack.
    pub address: usize,
    /// The lowest usable address of the stack.
    pub limit: usize,
    /// The upper end of the stack.
    pub top: usize,
    /// The processor's state at the fault: the third argument of the signal handler. Valid while the handler
    /// runs.
    pub machine: *const libc::ucontext_t,
}

/// Writes the name of the context that has overflowed, such as `host 17 "worker" spawned at src/main.rs:4:9`;
/// returns whether it knew the context. The text is printed between "stack overflow in " and ": size ...".
///
/// Called in a signal handler, on the kernel thread that has overflowed: it must be async-signal-safe, as
/// [`install`] explains. Formatting numbers and strings into the [`Report`] is.
pub type Describe = fn(fault: &Fault, report: &mut Report) -> bool;

/// Installs the handler, once for the process, and sets the hook that names contexts.
///
/// All other faults go to the handlers that were installed before. Later calls only replace the hook, if they
/// have one; a program with two different runtimes uses the later one's. A handler that is installed
/// afterwards is called before this one.
///
/// # Safety
/// `describe` is async-signal-safe: it interrupts its thread anywhere, in the allocator or with a lock held.
/// It allocates nothing, takes no lock, does not panic, and reads nothing that the thread may be writing.
/// (`None` is always sound.)
///
/// ```compile_fail,E0133
/// swapstack::overflow::install(Some(|_fault, _report| {
///     println!("allocates, and takes the lock of standard output");
///     false
/// }));
/// ```
pub unsafe fn install(describe: Option<Describe>) {
    if let Some(describe) = describe {
        // SAFETY: the caller's promise.
        unsafe { handler::set_describe(describe) };
    }
    handler::install();
}

/// Called after the report has been printed, on the kernel thread that has overflowed; the process aborts
/// when it returns.
pub type BeforeAbort = fn(fault: &Fault);

/// Sets the hook that is called between the report and the abort, for work that takes long or may fail, such
/// as a backtrace.
///
/// # Safety
/// As for [`install`]: the hook is async-signal-safe.
pub unsafe fn before_abort(hook: BeforeAbort) {
    // SAFETY: the caller's promise.
    unsafe { handler::set_before_abort(hook) };
}

/// The lowest usable address and the upper end of the stack that holds `address`, if a generator or a pool of
/// this crate has it. Async-signal-safe. Walks a list of the process's regions of stacks.
///
/// A thread that has a stack of a runtime may be on another one: inside of a generator.
///
/// # Examples
/// ```
/// let mut generator = swapstack::Generator::new(|y, ()| {
///     let address = (&raw const y).addr();
///     y.suspend((address, swapstack::overflow::bounds_around(address).unwrap()));
/// });
/// let (address, (limit, top)) = generator.next().unwrap();
/// assert!((limit..top).contains(&address));
/// ```
pub fn bounds_around(address: usize) -> Option<(usize, usize)> {
    registry::find(address).map(|slot| (slot.limit(), slot.top))
}

/// Everything that a thread needs for the report, for threads that do not set it up themselves.
pub(crate) fn arm() -> std::io::Result<()> {
    handler::install();
    arm_thread()
}

/// The generator on a stack, for the report.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) name: &'static str,
    pub(crate) site: &'static Location<'static>,
}
