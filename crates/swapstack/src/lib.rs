//! Contexts: many stacks in one kernel thread, and switching between them in less than a nanosecond.
//!
//! Three layers, each usable without the ones above it:
//!
//! | layer | what it gives | how |
//! |---|---|---|
//! | [`Generator`] | functions that hand out values on the way, safe and typed | [`resume`](Generator::resume), [`suspend`](Yielder::suspend), [`Iterator`] |
//! | [`StackPool`], [`LocalPool`] | guarded stacks, a million of them if need be | [`take`](LocalPool::take), [`give`](LocalPool::give), [`trim`](LocalPool::trim) |
//! | [`switch`], [`jump`], [`init`] | the bare context switch, `unsafe` | one inlined `asm!` block |
//!
//! This crate knows no scheduler, no threads and no events. The runtime `lamprey` is built on it.
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
//! A [`Generator`] owns what it works on and goes wherever its owner puts it; a [scoped](Generator::scoped)
//! one may borrow and is over when the call that lends it returns.
//!
//! # The switch
//!
//! A suspended context is one pointer: its own stack pointer, with the address to go on at on top of
//! the stack. [`switch`] claims to destroy every register, so the compiler saves what is
//! live at that place and nothing else; one word crosses in a register, in both directions. Larger values
//! cross with the functions of [`payload`].
//!
//! It is inlined into its caller, and whatever lies between the caller's loop and the switch should be too: a
//! function that is entered on one stack and returns on another defeats the processor's
//! prediction of returns, which costs ten times as much as the switch.
//!
//! # Stacks
//!
//! Pools cut stacks from large reservations of address space: one page of memory for each stack
//! that is used a little, and no more than a few dozen mappings for a million of them. Below each is a guard.
//! Who brings stacks of their own implements [`Stack`] and lets [`conformance::check`] look at them.
//!
//! # When things go wrong
//!
//! * **Overflow**: the guard is hit, one line says whose stack it was, how large and made where, and the
//!   process aborts. See [`overflow`].
//! * **Panic**: comes out of the [`resume`](Generator::resume) that ran the generator. In bare contexts, it
//!   must be caught before the entry function ends; otherwise it aborts the process.
//! * **No memory, no mappings, no guards**: an `Err` that names the limit.
//!
//! Backtraces, debuggers and profilers that start inside a context stop at its entry function.
//!
//! # What a context must not do
//!
//! * Run on one kernel thread first and on another later. The compiler may have kept the address of a
//!   thread-local, and code may hold things that are not `Send`. Generators cannot be moved; bare contexts
//!   are up to you.
//! * Wait (switch away) while it or its thread unwinds: the panic count belongs to the kernel thread.
//!   Generators refuse.
//! * Keep a scoped thread-local of others' making set across a switch: the next context sees it.
//! * Outlast a thread-local that it has borrowed. A generator that is suspended inside of a
//!   [`LocalKey::with`] must be over before its thread ends: `with` trusts the order of calls on one stack,
//!   and destructors of thread-locals run in no order that this crate could see or enforce. No compiler
//!   notices, and what is read then is freed. Do not suspend there; take what you need out of the
//!   thread-local (a clone, an `Rc`).
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
