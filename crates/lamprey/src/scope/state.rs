//! The state of a scope: the number of live children, the lists through which they are cancelled, and the
//! first panic.
//!
//! # States
//! | kind | how it is counted | how it is cancelled |
//! |---|---|---|
//! | host | from its spawn until its outcome is published or dropped ([`Membership`]) | through the list of hosts |
//! | stackless parasite | as long as its future and its captures live ([`Share`]) | through the list of tasks, once it has been pending |
//! | stackful parasite | as long as its closure and its captures live ([`Share`]) | through the cancel scope under which its closure runs |
//!
//! # Invariants
//! 1. `alive` is not 0 while any object lives that may borrow from outside of the scope, except for outcomes
//!    that a handle owns: handles do not outlive the scope, and a parasite's handle that is dropped early
//!    passes the outcome to [`ScopeState::adopt`].
//! 2. A listed host has not been published, and a listed task's future has not been dropped: both unlist
//!    themselves first.
//! 3. Once `is_cancelled` is set no child is listed any more: a child that starts later is cancelled at once.
//! 4. The child that takes `alive` to 0 also takes the waiter, if there is one, and must wake it; it does not
//!    touch the scope after that section. If there is no waiter, the parent does not wait yet, and will read
//!    a count of 0. While it is the waiter, the parent runs no user code
//!    ([`sched::wait`](crate::sched::wait)).
//!
//! # Who may touch what
//! `state`: any thread, in sections of [`Guarded`], which run no user code.
//!
//! # Rejected
//! * Locating the cancelled hosts after the section that unlinks them: a host that is cancelled in its last
//!   steps does not wait for the canceller, and may be freed before it is located.
//! * An atomic count beside the lists: one more read-modify-write per child.
//! * Keeping ended children until the end of the scope: a scope around an accept loop would grow for ever.
//!
//! # Checked by
//! `model::scope_state` (loom: hosts and others as children, the wait and its cancellation, with broken
//! variants), `tests/scope/children.rs`, `tests/scope/race.rs`; the way to a host: `model::reach`.

use crate::cancel::scope::CancelScope;
use crate::queue::guarded::Guarded;
use crate::queue::list::{List, Node};
use crate::queue::swept::Swept;
use crate::sched::cancel::{find_all, request_cancel, tell_all};
use crate::sched::coop;
use crate::sched::drops::drop_quietly;
use crate::sched::parasite::task::Task;
use crate::sched::parts::PartsRef;
use crate::sched::scope_info::{ScopeInfo, ScopeOrigin};
use crate::sched::thread::Thread;
use crate::sched::wait::{self, Waited};
use crate::sched::{self, Wait, Waiter};
use crate::sync_shim::left_out;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use crate::thread::{JoinError, Member, Panic, Panics};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::PoisonError;

/// The state of a scope, on its parent's stack.
pub(crate) struct ScopeState {
    state: Guarded<Children>,
    panics: Panics,
    /// Cancels the body of the scope when a child fails.
    pub(crate) body: CancelScope,
    /// Cancels the stackful parasites.
    pub(crate) parasites: CancelScope,
    /// Outcomes whose handles have been dropped.
    adopted: Mutex<Swept<Box<dyn Outcome>>>,
    /// Where it was made, and by which thread.
    origin: ScopeOrigin,
}

struct Children {
    alive: usize,
    is_cancelled: bool,
    hosts: List<Cell<*const Thread>>,
    tasks: List<Cell<*const Task>>,
    failure: Option<Panic>,
    waiter: Option<Waiter>,
}

// SAFETY: the lists and their nodes are accessed only in sections.
unsafe impl Send for Children {}

/// The handle of a child.
pub(crate) trait Outcome: Send {
    /// True once [`finish`](Self::finish) does not wait.
    fn is_there(&self) -> bool;
    /// Waits for the outcome, and drops it.
    fn finish(self: Box<Self>);
}

/// How many children are cancelled at a time.
const BATCH: usize = if cfg!(loom) { 2 } else { 128 };

impl ScopeState {
    pub(crate) fn new(panics: Panics, origin: ScopeOrigin) -> Self {
        let state = Children {
            alive: 0,
            is_cancelled: false,
            hosts: List::new(),
            tasks: List::new(),
            failure: None,
            waiter: None,
        };
        Self {
            state: Guarded::new(state),
            panics,
            body: CancelScope::new(),
            parasites: CancelScope::new(),
            adopted: Mutex::new(Swept::new()),
            origin,
        }
    }

    /// Adds one child.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn share(&self) -> Share {
        self.state.with(|state| state.alive += 1);
        Share(NonNull::from(self))
    }

    /// Removes one child.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_down(&self) {
        self.depart(|_| {});
    }

    /// Runs `section` and removes one child, in one section. The scope may be gone afterwards.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn depart(&self, section: impl FnOnce(&mut Children)) {
        let waiter = self.state.with(|state| {
            section(state);
            state.alive -= 1;
            if state.alive == 0 { state.waiter.take() } else { None }
        });
        if let Some(waiter) = waiter {
            // SAFETY: the section took the waiter, so this is its only wake (invariant 4).
            unsafe { waiter.wake() };
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.with(|state| state.is_cancelled)
    }

    /// Cancels all children, current and future. Calling it again does nothing, because each destructor that
    /// it runs may call it.
    pub(crate) fn cancel(&self) {
        if self.state.with(|state| std::mem::replace(&mut state.is_cancelled, true)) {
            return;
        }
        self.parasites.cancel();
        while self.cancel_some_hosts() {}
        while self.cancel_some_tasks() {}
    }

    /// Cancels up to `BATCH` hosts; true if there may be more.
    fn cancel_some_hosts(&self) -> bool {
        let is_late = left_out!(KinCall);
        let mut called = [const { None }; BATCH];
        self.state.with(|state| {
            for place in &mut called {
                let Some(node) = state.hosts.pop() else { break };
                // SAFETY: listed, so its node and its join cell live at least until this section ends
                // (invariant 2).
                let thread = unsafe { NonNull::new_unchecked(node.as_ref().value.get().cast_mut()) };
                // SAFETY: listed, so alive in this section; just unlinked, so cancelled once.
                *place = unsafe { Some(request_cancel(thread)) };
            }
            if !is_late {
                // SAFETY: listed, so alive until this section ends. Done within the section, although it is a
                // system call: a host that is cancelled in its last steps does not wait for us, and may be
                // freed after the section.
                unsafe { find_all(called.iter_mut().flatten()) };
            }
        });
        if is_late {
            // SAFETY: none; this is the model's broken variant.
            unsafe { find_all(called.iter_mut().flatten()) };
        }
        let is_full = called[BATCH - 1].is_some();
        // SAFETY: located, and cancelled just now, by this call.
        unsafe { tell_all(called.into_iter().flatten()) };
        is_full
    }

    /// Cancels up to `BATCH` tasks; true if there may be more.
    fn cancel_some_tasks(&self) -> bool {
        let mut tasks = [const { None }; BATCH];
        self.state.with(|state| {
            for place in &mut tasks {
                let Some(node) = state.tasks.pop() else { break };
                // SAFETY: listed, so the task is alive in this section (invariant 2), and after it by the
                // reference that we take.
                unsafe {
                    let task = NonNull::new_unchecked(node.as_ref().value.get().cast_mut());
                    task.as_ref().life.retain();
                    *place = Some(task);
                }
            }
        });
        let is_full = tasks[BATCH - 1].is_some();
        for task in tasks.into_iter().flatten() {
            // SAFETY: the reference is ours.
            unsafe {
                Task::cancel(task);
                Task::release(task);
            }
        }
        is_full
    }

    /// Waits until no child is left; false if the caller was cancelled while it waited, which cancels all
    /// children.
    pub(crate) fn wait(&self) -> bool {
        coop::turn();
        let take_back = |_| self.state.with(|state| state.waiter.take().is_some());
        let parts = PartsRef(&self.origin);
        let on = parts.on(Wait::Scope);
        let waited = wait::wait(on, None, |me| self.queue(me), take_back);
        if let Waited::Left(_) = waited {
            // After the wait, because the destructors that this runs may block this thread.
            self.cancel();
        }
        let must_wait = matches!(waited, Waited::Left(_) | Waited::Refused);
        if must_wait && !left_out!(KinHaste) {
            wait::wait_committed(on, |me| self.queue(me));
        }
        if waited != Waited::Done && self.state.with(|state| state.alive != 0) {
            crate::bug::bug!("a scope was woken before its last child had ended");
        }
        matches!(waited, Waited::Done | Waited::Woken | Waited::Refused)
    }

    /// Registers the caller as the waiter; false if there is nothing to wait for.
    fn queue(&self, me: Waiter) -> bool {
        self.state.with(|state| {
            let must_wait = state.alive != 0;
            state.waiter = must_wait.then_some(me);
            must_wait
        })
    }

    /// Handles a panic of a child. `None`: the scope has taken it.
    #[cold]
    pub(crate) fn failed(&self, panic: Panic) -> Option<Panic> {
        match self.panics {
            Panics::Report => return Some(panic),
            Panics::Abort => {
                crate::bug::say!("a child of a scope panicked: {panic}");
                std::process::abort();
            }
            Panics::Propagate => {}
        }
        self.note(panic);
        self.cancel();
        self.body.cancel();
        None
    }

    /// Keeps the first panic; others are reported.
    pub(crate) fn note(&self, panic: Panic) {
        let second = self.state.with(|state| {
            if state.failure.is_some() {
                return Some(panic);
            }
            state.failure = Some(panic);
            None
        });
        if let Some(second) = second {
            crate::bug::say!("another child of the scope panicked: {second}");
            drop_quietly(second);
        }
    }

    pub(crate) fn take_failure(&self) -> Option<Panic> {
        self.state.with(|state| state.failure.take())
    }

    /// Takes over the outcome of a parasite whose handle was dropped before it had ended.
    ///
    /// # Safety
    /// What the outcome borrows outlives the scope.
    pub(crate) unsafe fn adopt(&self, outcome: Box<dyn Outcome + '_>) {
        // SAFETY: `finish_adopted` drops it before the scope ends; the rest is the caller's promise.
        let outcome = unsafe { std::mem::transmute::<Box<dyn Outcome + '_>, Box<dyn Outcome>>(outcome) };
        let over = self.adopted().push(outcome, |outcome| outcome.is_there());
        over.into_iter().for_each(|outcome| outcome.finish());
    }

    fn adopted(&self) -> MutexGuard<'_, Swept<Box<dyn Outcome>>> {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called after the last child has ended: drops the remaining outcomes; false if there are none. Their
    /// destructors may start children and leave further outcomes.
    pub(crate) fn finish_adopted(&self) -> bool {
        let handles = self.adopted().take();
        let are_some = !handles.is_empty();
        handles.into_iter().for_each(|outcome| outcome.finish());
        are_some
    }
}

/// A child's share of a scope: keeps the scope, and what the child borrows, alive.
pub(crate) struct Share(NonNull<ScopeState>);

// SAFETY: all access through it is guarded by `ScopeState`'s locks.
unsafe impl Send for Share {}
// SAFETY: all access through it is guarded by `ScopeState`'s locks.
unsafe impl Sync for Share {}

impl Share {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn scope_state(&self) -> &ScopeState {
        // SAFETY: the scope waits for its shares.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Share {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.scope_state().count_down();
    }
}

/// A host's membership, part of its join cell. Given up by `left` or `gone`, not by a destructor.
pub(crate) struct Membership {
    node: Node<Cell<*const Thread>>,
    scope_state: NonNull<ScopeState>,
    /// Set by the member before it stops being counted; only its worker's kernel thread touches it.
    has_left: Cell<bool>,
}

impl Membership {
    /// A membership that is not entered yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(scope_state: &ScopeState) -> Self {
        Self {
            node: Node::new(Cell::new(ptr::null())),
            scope_state: NonNull::from(scope_state),
            has_left: Cell::new(false),
        }
    }

    /// The member is about to leave: nobody looks at the scope through it any more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn forget(&self) {
        self.has_left.set(true);
    }

    fn scope_state(&self) -> &ScopeState {
        // SAFETY: counted in `alive`, so the scope is alive (invariant 1).
        unsafe { self.scope_state.as_ref() }
    }
}

impl Member for Membership {
    type Group = NonNull<ScopeState>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn enter(&self, thread: NonNull<Thread>) {
        self.node.value.set(thread.as_ptr());
        let is_late = self.scope_state().state.with(|state| {
            state.alive += 1;
            if !state.is_cancelled {
                // SAFETY: the node is new, at its final address, and unlinked before its memory ends.
                unsafe { state.hosts.push(NonNull::from(&self.node)) };
            }
            state.is_cancelled
        });
        if is_late {
            // SAFETY: the host has not started, and the caller owns it.
            unsafe { sched::cancel::ask(thread) };
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave(&self) -> NonNull<ScopeState> {
        // SAFETY: listed there, if at all.
        self.scope_state().state.with(|state| unsafe { state.hosts.remove(NonNull::from(&self.node)) });
        self.forget();
        self.scope_state
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn left(group: NonNull<ScopeState>) {
        // SAFETY: counted in `alive` until this call.
        unsafe { group.as_ref() }.count_down();
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn gone(&self) {
        self.forget();
        // SAFETY: listed there, if at all.
        self.scope_state().depart(|state| unsafe {
            state.hosts.remove(NonNull::from(&self.node));
        });
    }

    const IS_ONE: bool = true;

    fn scope(&self) -> Option<ScopeInfo> {
        (!self.has_left.get()).then(|| self.scope_state().origin.info())
    }

    #[cold]
    fn failed(&self, error: JoinError) -> JoinError {
        let panic = match error {
            JoinError::Panicked(panic) => panic,
            JoinError::NoStack(refused) if self.scope_state().panics != Panics::Report => Panic::caught(
                Box::new(format!("a child of a scope never ran, no stack could be had: {}", refused.error())),
            ),
            error => return error,
        };
        self.scope_state().failed(panic).map_or_else(JoinError::cancelled, JoinError::Panicked)
    }
}

/// The list node of a stackless parasite, part of its future and pinned with it.
pub(crate) struct Reached(Node<Cell<*const Task>>);

// SAFETY: the node is accessed only in sections of its scope.
unsafe impl Send for Reached {}
// SAFETY: the node is accessed only in sections of its scope.
unsafe impl Sync for Reached {}

impl Reached {
    pub(crate) fn new() -> Self {
        Self(Node::new(Cell::new(ptr::null())))
    }

    /// True if it has been listed.
    pub(crate) fn has_entered(&self) -> bool {
        !self.0.value.get().is_null()
    }

    /// Lists the task, once; false if the scope has been cancelled.
    ///
    /// # Safety
    /// `self` does not move until [`leave`](Self::leave), which is called before the task's future is gone.
    pub(crate) unsafe fn enter(&self, scope_state: &ScopeState, task: NonNull<Task>) -> bool {
        scope_state.state.with(|state| {
            if !state.is_cancelled && !self.0.is_linked() {
                self.0.value.set(task.as_ptr());
                // SAFETY: the node does not move and is unlinked before its memory ends (contract).
                unsafe { state.tasks.push(NonNull::from(&self.0)) };
            }
            !state.is_cancelled
        })
    }

    pub(crate) fn leave(&self, scope_state: &ScopeState) {
        // SAFETY: listed there, if at all.
        scope_state.state.with(|state| unsafe { state.tasks.remove(NonNull::from(&self.0)) });
    }
}
