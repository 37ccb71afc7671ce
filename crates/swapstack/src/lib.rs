//! Contexts: many stacks in one kernel thread, and switches between them in less than a nanosecond.
//!
//! Three layers, each usable without the ones above it:
//!
//! | layer | what it gives | how |
//! |---|---|---|
//! | [`Generator`] | functions that yield values while they run, safe and typed | [`resume`](Generator::resume), [`suspend`](Yielder::suspend), [`Iterator`] |
//! | [`StackPool`], [`LocalPool`] | guarded stacks, a million of them if necessary | [`take`](LocalPool::take), [`give`](LocalPool::give), [`trim`](LocalPool::trim) |
//! | [`switch`], [`jump`], [`init`] | the bare context switch, `unsafe` | one inlined `asm!` block |
//!
//! This crate has no scheduler, no threads and no events. The runtime `lamprey` is built on it.
//!
//! # Generators
//!
//! ```
//! use swapstack::{Generator, Yielder};
//!
//! enum Tree {
//!     Leaf,
//!     Node(Box<Tree>, u32, Box<Tree>),
//! }
//!
//! fn walk(tree: &Tree, out: &Yielder<(), u32>) {
//!     if let Tree::Node(left, value, right) = tree {
//!         walk(left, out);
//!         out.suspend(*value);
//!         walk(right, out);
//!     }
//! }
//!
//! let leaf = || Box::new(Tree::Leaf);
//! let tree = Tree::Node(Box::new(Tree::Node(leaf(), 1, leaf())), 2, leaf());
//! assert!(Generator::scoped(|out, ()| walk(&tree, out), |values| values.eq([1, 2])));
//! assert!(Generator::new(move |out, ()| walk(&tree, out)).eq([1, 2]));
//! ```
//!
//! A [`Generator`] owns its data and can be moved; a [scoped](Generator::scoped) one may borrow, and ends
//! when the call that lends it returns.
//!
//! # The switch
//!
//! A suspended context is one pointer: its stack pointer, with the resume address on top of the stack.
//! [`switch`] clobbers every register, so the compiler saves only what is live at that place; one word is
//! passed in a register, in both directions. The functions of [`payload`] pass larger values.
//!
//! It is inlined into its caller, and the code between the caller's loop and the switch should be, too: a
//! function that is entered on one stack and returns on another defeats the processor's return prediction,
//! which costs ten times as much as the switch.
//!
//! # Stacks
//!
//! Pools cut stacks from large reservations of address space. A stack that uses little costs one page of
//! memory, and a million stacks need no more than a few dozen mappings. Below each stack is a guard. A
//! program with stacks of its own implements [`Stack`] and tests them with [`conformance::check`].
//!
//! # When things go wrong
//!
//! * **Overflow**: the guard is hit, one line names the generator, its size and where it was created, and the
//!   process aborts. See [`overflow`].
//! * **Panic**: comes out of the [`resume`](Generator::resume) that ran the generator. In bare contexts, it
//!   must be caught before the entry function ends; otherwise it aborts the process.
//! * **No memory, no mappings, no guards**: an `Err` that names the limit.
//!
//! Backtraces, debuggers and profilers that start inside a context stop at its entry function.
//!
//! # What a context must not do
//!
//! * Move from one kernel thread to another. The compiler may have kept the address of a thread-local, and
//!   code may hold values that are not `Send`. Generators cannot be moved to another thread; for bare
//!   contexts the caller is responsible.
//! * Switch away while it or its thread unwinds: the panic count belongs to the kernel thread. Generators
//!   refuse.
//! * Set a scoped thread-local of another library across a switch: the next context sees it.
//! * Outlive a thread-local that it has borrowed. A generator that is suspended inside a [`LocalKey::with`]
//!   must end before its thread does: `with` relies on the order of calls on one stack, and destructors of
//!   thread-locals run in an order that this crate can neither see nor enforce. The compiler does not notice,
//!   and the generator reads freed memory. Do not suspend there; take what you need out of the thread-local
//!   (a clone, an `Rc`).
//!
//! [`LocalKey::with`]: std::thread::LocalKey::with
//!
//! # Features
//!
//! * `valgrind`: registers stacks with Valgrind.
//! * `asan`: announces switches to AddressSanitizer (needs its runtime: `-Zsanitizer=address`).
//! * `tsan`: the same for ThreadSanitizer (`-Zsanitizer=thread`).
//!
//! # Machines
//!
//! Linux on x86-64 and AArch64. MXCSR, x87 control word, FPCR: shared by all contexts of a thread.

mod arch;
pub mod conformance;
mod context;
pub mod generator;
pub mod overflow;
pub mod payload;
pub mod stack;
mod tools;

pub use context::{StackPointer, Suspended, init, jump, switch};
pub use generator::{DefaultStack, Generator, GeneratorBuilder, Resumed, ScopedGenerator, Yielder};
pub use stack::{GuardKind, LocalPool, MIN_STACK_SIZE, PoolConfig, PoolStats, PooledStack, Stack, StackPool};
