//! [`Thread`]: what the scheduler knows of a thread (Go's `g`): one descriptor for hosts, stackful parasites,
//! a worker's root, and plain OS threads.
//!
//! # Who may touch what
//! | field | who |
//! |---|---|
//! | `sp`, `state`, `woke`, `eager`, `reason`, `on`, `since`, `is_limited`, `stack`, `older`, `newer`, `below`, `polling`, `low_water`, `room`, `attached_at`, `ready_before`, `in_a_row`, `nesting`, `penalty`, `frames`, `killed` | the home worker's kernel thread only |
//! | `link` | the thread that pushes the descriptor into an inbox, then that inbox's owner |
//! | `home`, `ask` | see [`reach`](super::cancel::reach): the home is written when the thread starts, before it can be a waiter; wakers read it |
//! | the rest | constant |
//!
//! # States (`state`)
//! ```text
//! Unstarted --start--> Runnable --block--> Blocked --wake or interrupt--> Runnable --> Finished
//!                         \--await_wake--> Committed --wake--> Runnable
//! ```
//! Runnable is running, or in the policy's run queue; `Worker::running` tells which. Committed is blocked
//! where only the wake may end the block, no timeout or cancellation.
//!
//! A thread that was interrupted (timeout, cancellation) is OPEN until its wait has ended: a wake that
//! arrives meanwhile is kept as a bit in `eager` (WAKE_PENDING) until the wait takes it (see
//! [`wait`](super::wait)). Every other wake finds its thread Blocked or Committed.

use super::cancel::frame::Frame;
use super::parasite::task::Task;
use super::reason::Wait;
#[cfg(not(loom))]
use super::scope_info::ScopeInfo;
use crate::sync_shim::{AtomicPtr, AtomicU8, Cell, left_out};
use std::ptr::{self, NonNull};

#[cfg(not(loom))]
use {
    super::hints::{Given, Hints},
    std::panic::Location,
    std::sync::Arc,
    swapstack::{PooledStack, StackPointer},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ThreadState {
    Unstarted,
    Runnable,
    Blocked,
    Committed,
    Finished,
}

/// Why a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Woke {
    /// The wake has come.
    Woken,
    /// The deadline passed; the node may still be queued.
    TimedOut,
    /// The host was cancelled; the node may still be queued.
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A kernel thread outside every runtime: blocks by parking ([`os`](super::os)).
    Os,
    /// A worker's scheduler loop on its kernel thread's own stack.
    Root,
    /// A stackful thread.
    Host,
    /// A stackful parasite.
    Parasite,
}

/// The descriptor of a thread. Of a host it is the head of a larger object (`thread::join_cell`), which is
/// reached through `body`.
///
/// The fields that a switch, a block or a wake reads come first, so that they fit into one cache line per
/// thread.
#[repr(C)]
pub(crate) struct Thread {
    #[cfg(not(loom))]
    pub(crate) sp: Cell<StackPointer>,
    pub(crate) kind: Kind,
    /// Bits that keep its next block from being an ordinary one: WAKE_PENDING, CANCELLED, OPEN, BARRED.
    pub(crate) eager: Cell<u8>,
    // A wake writes `woke` and `state`, a block `state` and `reason`: as neighbours, each pair with one store.
    pub(crate) woke: Cell<Woke>,
    pub(crate) state: Cell<ThreadState>,
    pub(crate) reason: Cell<Wait>,
    pub(crate) ask: AtomicU8,
    /// The whole thread is killed; it may be shielded from that.
    pub(crate) killed: Cell<bool>,
    /// How many parasites have run on top of this thread, in the place of others, since it last ran.
    #[cfg(not(loom))]
    pub(crate) in_a_row: Cell<u8>,
    /// The shared state of its worker: see `Thread::reach`.
    pub(super) home: AtomicPtr<()>,
    /// Of an attached parasite: the thread that continues when this one blocks or ends. That thread is
    /// Runnable and in no queue.
    #[cfg(not(loom))]
    pub(crate) below: Cell<*const Thread>,
    /// The stackless parasite that is polled on this stack now; null if none. Changed by `act_for` only.
    pub(crate) polling: Cell<*mut Task>,
    pub(crate) link: Cell<*mut ()>,
    /// Address of what it waits for, while it is blocked ([`On`](super::reason::On)).
    #[cfg(not(loom))]
    pub(crate) on: Cell<*const ()>,
    /// When it blocked, by its worker's coarse clock ([`Rounds`](super::worker::rounds::Rounds)).
    #[cfg(not(loom))]
    pub(crate) since: Cell<u32>,
    /// Number of inline attaches under way on this stack. It cannot overflow: each takes some of the stack.
    #[cfg(not(loom))]
    pub(crate) nesting: Cell<u32>,
    /// Lowest address of this stack at which a parasite may be polled ([`super::parasite::attach`]); 0 until
    /// it has been computed.
    #[cfg(not(loom))]
    pub(crate) low_water: Cell<usize>,
    #[cfg(not(loom))]
    pub(crate) body: &'static Body,
    #[cfg(not(loom))]
    pub(crate) older: Cell<*const Thread>,
    #[cfg(not(loom))]
    pub(crate) newer: Cell<*const Thread>,
    #[cfg(not(loom))]
    pub(crate) stack: Cell<Option<PooledStack>>,
    /// Of a parasite: the attention word when it was attached ([`super::parasite::offer`]). Of a host: the lower half of its
    /// [`parent`](Thread::parent).
    #[cfg(not(loom))]
    pub(crate) attached_at: Cell<u32>,
    /// Of an attached parasite: how many parasites were ready when it was attached, or the one in whose place it
    /// runs ([`super::parasite`], `on_top`). Of a host: the upper half of its parent.
    #[cfg(not(loom))]
    pub(crate) ready_before: Cell<u32>,
    /// The innermost frame of its stack: what can be cancelled by itself, and what is shielded
    /// ([`super::cancel`]).
    pub(crate) frames: Cell<*const Frame>,
    /// Bytes from `low_water` to the top of the stack; 0 until that has been computed, and without a stack.
    #[cfg(not(loom))]
    pub(crate) room: Cell<u32>,
    /// A parasite that may be attached within the call that unblocks it.
    #[cfg(not(loom))]
    pub(crate) attach_inline: Cell<bool>,
    /// A parasite that has become a host: it queues with the hosts.
    #[cfg(not(loom))]
    pub(crate) inflated: Cell<bool>,
    /// How many of the next parasites that it spawns start as hosts ([`super::parasite::offer`]).
    #[cfg(not(loom))]
    pub(crate) penalty: Cell<u8>,
    /// Its wait ends at a time limit.
    #[cfg(not(loom))]
    pub(crate) is_limited: Cell<bool>,
    /// Host-local values (`thread::local`), owned by the thread itself.
    #[cfg(not(loom))]
    pub(crate) locals: Cell<*mut ()>,
    #[cfg(not(loom))]
    pub(crate) label: Label,
}

/// Identity of a host, fixed when it is spawned. (The cells are for the contexts of parasites, each of which
/// serves one parasite after the other.)
#[cfg(not(loom))]
pub(crate) struct Label {
    pub(crate) id: Cell<u64>,
    pub(crate) given: Option<Arc<Given>>,
    pub(crate) spawn_site: Cell<&'static Location<'static>>,
    /// Bytes of stack asked for.
    pub(crate) stack_size: u32,
    /// Placed on a worker by the program: cannot be stolen.
    pub(crate) pinned: Cell<bool>,
    /// It has been sent to the worker that it starts on ([`super::placement`]).
    pub(crate) is_placed: Cell<bool>,
    /// The pages of its stack that have memory are those that it has used itself ([`super::inspect::stack_use`]).
    pub(crate) is_measured: Cell<bool>,
}

/// What the object behind a descriptor can do, called by the scheduler and implemented in the room `thread`.
/// No function unwinds.
#[cfg(not(loom))]
pub(crate) struct Body {
    /// Runs the closure to its end on the current stack and keeps the outcome.
    pub(crate) run: unsafe fn(NonNull<Thread>),
    /// Called instead of `run`: drops the closure and keeps `why` as the outcome.
    pub(crate) abandon: unsafe fn(NonNull<Thread>, Abandoned),
    /// Publishes the outcome to the joiner; if the result is `Published`, the thread may already be freed
    /// on return.
    pub(crate) publish: unsafe fn(NonNull<Thread>) -> Fate,
    /// After `Unwanted`: drops the outcome (user code).
    pub(crate) dispose: unsafe fn(NonNull<Thread>),
    /// After `dispose`, or after `Empty`: frees the object.
    pub(crate) free: unsafe fn(NonNull<Thread>),
    /// Of a host that a scope waits for: that scope, until the host has left it. Called while the host is suspended, on its worker's
    /// kernel thread.
    pub(crate) scope: Option<unsafe fn(NonNull<Thread>) -> Option<ScopeInfo>>,
}

/// Which side owns a host that has ended.
#[cfg(not(loom))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its handle owns it: the scheduler must not touch it again.
    Published,
    /// Its handle is gone: the scheduler disposes of it.
    Unwanted,
    /// Its handle is gone, and its outcome needs no destructor: the scheduler frees it.
    Empty,
}

/// Why a host was ended without running.
#[cfg(not(loom))]
pub(crate) enum Abandoned {
    /// Its runtime was shutting down.
    Shutdown,
    /// No stack could be had.
    NoStack(std::io::Error),
}

/// A wake has come for a wait that is open. Set only together with OPEN.
const WAKE_PENDING: u8 = 1;
/// Its blocking calls are to end.
const CANCELLED: u8 = 2;
/// A block has ended early, but its wait has not yet ended.
const OPEN: u8 = 8;
/// It runs code that must not switch ([`super::guard`]).
const BARRED: u8 = 4;

/// The caller named in messages about code on a root that must not switch, if no other is set.
pub(super) const SOURCE: &str = "a source";

impl Thread {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.eager.get() & CANCELLED != 0
    }

    /// True while it must not switch ([`super::guard`]).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_barred(&self) -> bool {
        self.eager.get() & BARRED != 0
    }

    pub(super) fn set_barred(&self, barred: bool) {
        let others = self.eager.get() & !BARRED;
        self.eager.set(others | if barred { BARRED } else { 0 });
    }

    /// Resets the state of a context for the next parasite that it serves.
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin_anew(&self, cancelled: bool) {
        debug_assert!(!self.is_open(), "a thread ended in the middle of a wait");
        self.killed.set(cancelled);
        self.eager.set(if cancelled { CANCELLED } else { 0 });
    }

    /// Sets whether its blocking calls end at once from now on.
    pub(crate) fn set_cancelled(&self, cancelled: bool) {
        let others = self.eager.get() & !CANCELLED;
        self.eager.set(others | if cancelled { CANCELLED } else { 0 });
    }

    /// Its block ends early: its wait is open from now on.
    pub(super) fn open(&self) {
        self.must_be_closed();
        self.eager.set(self.eager.get() | OPEN);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_open(&self) -> bool {
        self.eager.get() & OPEN != 0
    }

    /// Its open wait ends.
    pub(super) fn close(&self) {
        match self.eager.get() & (OPEN | WAKE_PENDING) {
            OPEN => self.eager.set(self.eager.get() & !OPEN),
            0 => crate::bug::bug!("a wait was closed that was not open"),
            _ => crate::bug::bug!("a thread was woken although it had taken its node out"),
        }
    }

    /// Ends the process if its wait is open: a nested block would take the wake that is pending for that
    /// wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn must_be_closed(&self) {
        if self.is_open() {
            nested();
        }
    }

    /// Keeps a wake that finds the thread neither Blocked nor Committed, for its open wait.
    #[cold]
    pub(super) fn note_wake(&self) {
        if self.eager.get() & (OPEN | WAKE_PENDING) != OPEN || self.state.get() != ThreadState::Runnable {
            crate::bug::bug!("a thread was woken that does not wait, or a second time");
        }
        self.eager.set(self.eager.get() | WAKE_PENDING);
    }

    /// True if the wake for the open wait has come; clears the bit.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take_pending_wake(&self) -> bool {
        let eager = self.eager.get();
        if left_out!(WaitKept) {
            return eager & WAKE_PENDING != 0;
        }
        self.eager.set(eager & !WAKE_PENDING);
        eager & WAKE_PENDING != 0
    }

    /// The descriptor of a kernel thread.
    #[cfg(loom)]
    pub(crate) fn os() -> Self {
        Self::of_kind(Kind::Os)
    }

    /// The descriptor of a thread of the model checker, which has started.
    #[cfg(loom)]
    pub(crate) fn of_kind(kind: Kind) -> Self {
        Self {
            kind,
            state: Cell::new(ThreadState::Runnable),
            woke: Cell::new(Woke::Woken),
            eager: Cell::new(0),
            reason: Cell::new(Wait::Suspend),
            home: AtomicPtr::new(ptr::null_mut()),
            ask: AtomicU8::new(0),
            polling: Cell::new(ptr::null_mut()),
            link: Cell::new(ptr::null_mut()),
            frames: Cell::new(ptr::null()),
            killed: Cell::new(false),
        }
    }

    /// The descriptor of a kernel thread.
    #[cfg(not(loom))]
    pub(crate) fn os() -> Self {
        Self::bare(Kind::Os, ThreadState::Runnable, &NO_BODY, Label::internal(0, 0))
    }

    /// The descriptor of a worker's root.
    #[cfg(not(loom))]
    pub(crate) fn root() -> Self {
        Self::bare(Kind::Root, ThreadState::Runnable, &NO_BODY, Label::internal(0, 0))
    }

    /// The descriptor of a host that has not started.
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn host(body: &'static Body, label: Label) -> Self {
        Self::bare(Kind::Host, ThreadState::Unstarted, body, label)
    }

    /// The descriptor of a stackful parasite.
    #[cfg(not(loom))]
    pub(crate) fn parasite(body: &'static Body, label: Label) -> Self {
        Self::bare(Kind::Parasite, ThreadState::Runnable, body, label)
    }

    /// Keeps the number of the thread that spawns it, a host; 0 if it is not known. A parasite's is in its
    /// [`Context`](super::parasite::contexts::Context).
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_parent(&self, id: u64) {
        self.attached_at.set(id as u32);
        self.ready_before.set((id >> 32) as u32);
    }

    /// The number of the thread that has spawned it, a host; 0 if it is not known.
    #[cfg(not(loom))]
    pub(crate) fn parent(&self) -> u64 {
        u64::from(self.attached_at.get()) | u64::from(self.ready_before.get()) << 32
    }

    /// True for a host or a stackful parasite.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_lamprey(&self) -> bool {
        matches!(self.kind, Kind::Host | Kind::Parasite)
    }

    /// The stackless parasite that is polled on this stack now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn polled(&self) -> Option<NonNull<Task>> {
        NonNull::new(self.polling.get())
    }

    /// A new descriptor.
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn bare(kind: Kind, state: ThreadState, body: &'static Body, label: Label) -> Self {
        Self {
            sp: Cell::new(StackPointer::NULL),
            kind,
            state: Cell::new(state),
            woke: Cell::new(Woke::Woken),
            eager: Cell::new(0),
            reason: Cell::new(Wait::Suspend),
            home: AtomicPtr::new(ptr::null_mut()),
            ask: AtomicU8::new(0),
            link: Cell::new(ptr::null_mut()),
            on: Cell::new(ptr::null()),
            since: Cell::new(0),
            is_limited: Cell::new(false),
            body,
            older: Cell::new(ptr::null()),
            newer: Cell::new(ptr::null()),
            stack: Cell::new(None),
            below: Cell::new(ptr::null()),
            polling: Cell::new(ptr::null_mut()),
            low_water: Cell::new(0),
            attached_at: Cell::new(0),
            ready_before: Cell::new(0),
            in_a_row: Cell::new(0),
            nesting: Cell::new(0),
            inflated: Cell::new(false),
            attach_inline: Cell::new(false),
            penalty: Cell::new(0),
            frames: Cell::new(ptr::null()),
            killed: Cell::new(false),
            room: Cell::new(0),
            locals: Cell::new(ptr::null_mut()),
            label,
        }
    }
}

#[cold]
#[inline(never)]
fn nested() -> ! {
    crate::bug::bug!("a thread has blocked or yielded although a wake is owed to it")
}

#[cfg(not(loom))]
impl Label {
    /// The name that it was given.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        self.given.as_ref()?.name.as_ref()
    }

    /// What the program has said of it.
    pub(crate) fn hints(&self) -> &Hints {
        self.given.as_ref().map_or(&Hints::NONE, |given| &given.hints)
    }

    /// The label of a thread that the program has not spawned; 0 where there is no id or no stack.
    #[track_caller]
    pub(super) fn internal(id: u64, stack_size: u32) -> Self {
        Self {
            id: Cell::new(id),
            given: None,
            spawn_site: Cell::new(Location::caller()),
            stack_size,
            pinned: Cell::new(true),
            is_placed: Cell::new(false),
            is_measured: Cell::new(false),
        }
    }
}

/// The body of descriptors that the scheduler never starts: roots and OS threads.
#[cfg(not(loom))]
static NO_BODY: Body = Body {
    run: |_| crate::bug::bug!("a thread without a closure was run"),
    abandon: |_, _| crate::bug::bug!("a thread without a closure was abandoned"),
    publish: |_| crate::bug::bug!("a thread without a closure was published"),
    dispose: |_| crate::bug::bug!("a thread without a closure was disposed of"),
    free: |_| crate::bug::bug!("a thread without a closure was freed"),
    scope: None,
};

#[cfg(not(loom))]
/// An entry of the stealable queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry(pub(crate) NonNull<Thread>);

// SAFETY: an unstarted thread is a closure that is `Send` and its descriptor, which only the owner of the
// entry touches before the thread starts.
#[cfg(not(loom))]
unsafe impl Send for Entry {}
