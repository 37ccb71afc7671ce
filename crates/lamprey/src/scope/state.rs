//! What a scope knows of its children: how many are not gone yet, how to reach each of them, and the first
//! panic.
//!
//! # States
//! | kind | how it is counted | how it is cancelled |
//! |---|---|---|
//! | host | from its spawn to the end of its object, or to its published outcome ([`Membership`]) | through the list of hosts |
//! | stackless parasite | as long as its future, and what it captured, is there ([`Share`]) | through the list of tasks, once it has been pending |
//! | stackful parasite | as above | by a cancel scope that its closure runs on |
//!
//! # Invariants
//! 1. `alive` is not 0 while anything is there that may borrow from outside of the scope, but for outcomes
//!    whose handle is there, too: handles do not outlive the scope, and a parasite's that is dropped early
//!    comes to [`ScopeState::adopt`].
//! 2. A listed host has not been published, and a listed task's future has not been dropped: both unlist
//!    themselves first.
//! 3. Once `is_cancelled` is set nobody is listed any more: who comes later is cancelled at once.
//! 4. Who takes `alive` to 0 and finds the waiter owes it the wake; it touches the scope no more after that
//!    section. If there is no waiter, the parent has not yet come to wait, and will see 0. While it is the
//!    waiter it runs no code of the program ([`sched::wait`](crate::sched::wait)).
//!
//! # Who may touch what
//! `state`: in sections of [`Guarded`], which run no code of the program.
//!
//! # Rejected
//! * To look for the hosts that are cancelled after the section that takes them off the list: one that is
//!   asked in its last steps waits for nobody, and may be freed before it is looked for.
//! * An atomic count beside the lists: a read-modify-write more for each child.
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
use crate::sched::parasite::task::Task;
use crate::sched::thread::Thread;
use crate::sched::wait::{self, Waited};
use crate::sched::{self, Wait, Waiter};
use crate::sync_shim::left_out;
use crate::thread::{JoinError, Member, Panic, Panics, quietly};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module's text.
pub(crate) struct ScopeState {
    state: Guarded<Children>,
    panics: Panics,
    /// Trips the body of the scope, when a child fails.
    pub(crate) body: CancelScope,
    /// Trips the stackful parasites.
    pub(crate) parasites: CancelScope,
    /// Outcomes that nobody asks for any more.
    adopted: Mutex<Swept<Box<dyn Outcome>>>,
}

struct Children {
    alive: usize,
    is_cancelled: bool,
    hosts: List<Cell<*const Thread>>,
    tasks: List<Cell<*const Task>>,
    failure: Option<Panic>,
    waiter: Option<Waiter>,
}

// SAFETY: the lists and their nodes are reached in sections only.
unsafe impl Send for Children {}

/// The handle of a child.
pub(crate) trait Outcome: Send {
    /// True once dropping it does not wait.
    fn is_there(&self) -> bool;
    /// Waits for the outcome, and drops it.
    fn finish(self: Box<Self>);
}

/// Children that are told to end at a time.
const BATCH: usize = if cfg!(loom) { 2 } else { 128 };

impl ScopeState {
    pub(crate) fn new(panics: Panics) -> Self {
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
        }
    }

    /// One child more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn share(&self) -> Share {
        self.state.with(|state| state.alive += 1);
        Share(NonNull::from(self))
    }

    /// One child less.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_down(&self) {
        self.depart(|_| {});
    }

    /// A section, and one child less. The scope may be gone after it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn depart(&self, section: impl FnOnce(&mut Children)) {
        let waiter = self.state.with(|state| {
            section(state);
            state.alive -= 1;
            if state.alive == 0 { state.waiter.take() } else { None }
        });
        if let Some(waiter) = waiter {
            // SAFETY: taken out in the section: the one wake (invariant 4).
            unsafe { waiter.wake() };
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.with(|state| state.is_cancelled)
    }

    /// Cancels all children, those that are there and those to come. Again it does nothing: destructors that
    /// it runs may call it, as many as there are children.
    pub(crate) fn cancel(&self) {
        if self.state.with(|state| std::mem::replace(&mut state.is_cancelled, true)) {
            return;
        }
        self.parasites.cancel();
        while self.cancel_some_hosts() {}
        while self.cancel_some_tasks() {}
    }

    /// True if there may be more.
    fn cancel_some_hosts(&self) -> bool {
        let is_late = left_out!(KinCall);
        let mut called = [const { None }; BATCH];
        self.state.with(|state| {
            for place in &mut called {
                let Some(node) = state.hosts.pop() else { break };
                // SAFETY: listed, so neither its node nor its object goes before this section ends (invariant
                // 2).
                let thread = unsafe { NonNull::new_unchecked(node.as_ref().value.get().cast_mut()) };
                // SAFETY: as above.
                *place = unsafe { Some(request_cancel(thread)) };
            }
            if !is_late {
                // SAFETY: as above. In this section, though it is a system call: a host that was called off
                // in its last steps does not wait for us, and is gone after it.
                unsafe { find_all(called.iter_mut().flatten()) };
            }
        });
        if is_late {
            // SAFETY: the broken variant.
            unsafe { find_all(called.iter_mut().flatten()) };
        }
        let is_full = called[BATCH - 1].is_some();
        // SAFETY: found, and called off just now.
        unsafe { tell_all(called.into_iter().flatten()) };
        is_full
    }

    /// True if there may be more.
    fn cancel_some_tasks(&self) -> bool {
        let mut tasks = [const { None }; BATCH];
        self.state.with(|state| {
            for place in &mut tasks {
                let Some(node) = state.tasks.pop() else { break };
                // SAFETY: listed, so the task is there (invariant 2), and from here on by the reference that
                // we take.
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

    /// Waits until no child is left; false if the caller was cancelled meanwhile, and all children with it.
    pub(crate) fn wait(&self) -> bool {
        coop::turn_if_due();
        let take_back = |_| self.state.with(|state| state.waiter.take().is_some());
        let waited = wait::wait(Wait::Scope, None, |me| self.queue(me), take_back);
        if let Waited::Left(_) = waited {
            // Only now: the destructors that this runs may block this very thread.
            self.cancel();
        }
        let must_wait = matches!(waited, Waited::Left(_) | Waited::Refused);
        if must_wait && !left_out!(KinHaste) {
            wait::wait_committed(Wait::Scope, |me| self.queue(me));
        }
        if waited != Waited::Done && self.state.with(|state| state.alive != 0) {
            crate::bug::bug!("a scope was woken before its last child had ended");
        }
        matches!(waited, Waited::Done | Waited::Woken | Waited::Refused)
    }

    /// Leaves the caller as the waiter; false if there is nothing to wait for.
    fn queue(&self, me: Waiter) -> bool {
        self.state.with(|state| {
            let must_wait = state.alive != 0;
            state.waiter = must_wait.then_some(me);
            must_wait
        })
    }

    /// A panic of a child. `None`: it is the scope's now.
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
            quietly(|| drop(second));
        }
    }

    pub(crate) fn take_failure(&self) -> Option<Panic> {
        self.state.with(|state| state.failure.take())
    }

    /// Takes over the outcome of a parasite whose handle was dropped before it was there.
    ///
    /// # Safety
    /// What it borrows outlives the scope.
    pub(crate) unsafe fn adopt(&self, outcome: Box<dyn Outcome + '_>) {
        // SAFETY: `finish_adopted` drops it before the scope ends; the rest is the caller's promise.
        let outcome = unsafe { std::mem::transmute::<Box<dyn Outcome + '_>, Box<dyn Outcome>>(outcome) };
        let over = self.adopted().push(outcome, |outcome| outcome.is_there());
        over.into_iter().for_each(|outcome| outcome.finish());
    }

    fn adopted(&self) -> MutexGuard<'_, Swept<Box<dyn Outcome>>> {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After the last child: drops what outcomes are left; false if there are none. Their destructors may
    /// start children and leave outcomes in their turn.
    pub(crate) fn finish_adopted(&self) -> bool {
        let handles = self.adopted().take();
        let are_some = !handles.is_empty();
        handles.into_iter().for_each(|outcome| outcome.finish());
        are_some
    }
}

/// A child's share of a scope: as long as it is there, the scope is, and what it borrows.
pub(crate) struct Share(NonNull<ScopeState>);

// SAFETY: what is reached through it is guarded.
unsafe impl Send for Share {}
// SAFETY: as above.
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

/// What a host's object holds of its scope. Its share is given up by the object's end, not by a destructor.
pub(crate) struct Membership {
    node: Node<Cell<*const Thread>>,
    scope_state: NonNull<ScopeState>,
}

impl Membership {
    /// One child more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(scope_state: &ScopeState) -> Self {
        Self { node: Node::new(Cell::new(ptr::null())), scope_state: NonNull::from(scope_state) }
    }

    fn scope_state(&self) -> &ScopeState {
        // SAFETY: counted (invariant 1).
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
                // SAFETY: fresh, in its place, and unlisted before that ends.
                unsafe { state.hosts.push(NonNull::from(&self.node)) };
            }
            state.is_cancelled
        });
        if is_late {
            // SAFETY: the caller's own, and not started.
            unsafe { sched::cancel::ask(thread) };
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave(&self) -> NonNull<ScopeState> {
        // SAFETY: listed there, if at all.
        self.scope_state().state.with(|state| unsafe { state.hosts.remove(NonNull::from(&self.node)) });
        self.scope_state
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn left(group: NonNull<ScopeState>) {
        // SAFETY: counted until this.
        unsafe { group.as_ref() }.count_down();
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn gone(&self) {
        // SAFETY: listed there, if at all.
        self.scope_state().depart(|state| unsafe {
            state.hosts.remove(NonNull::from(&self.node));
        });
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

/// How a stackless parasite is reached: a part of its future, pinned with it.
pub(crate) struct Reached(Node<Cell<*const Task>>);

// SAFETY: the node is reached in sections of its scope only.
unsafe impl Send for Reached {}
// SAFETY: as above.
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
    /// It stays where it is until [`leave`](Self::leave), which comes before the task's future is gone.
    pub(crate) unsafe fn enter(&self, scope_state: &ScopeState, task: NonNull<Task>) -> bool {
        scope_state.state.with(|state| {
            if !state.is_cancelled && !self.0.is_linked() {
                self.0.value.set(task.as_ptr());
                // SAFETY: as promised by the caller.
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
