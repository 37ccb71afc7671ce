//! The hosts of the checker: a host is a loom thread that runs only while it holds the **baton** of its
//! worker, so that hosts of a worker run one at a time, as on one kernel thread. The root is the loom thread
//! that plays the worker.
//!
//! Blocking, waking, interrupting and cancelling a host is the real code (`sched::blocking`,
//! `sched::cancel`), and so is the inbox. This file replaces the rest of `sched::switch`: the queue of ready
//! hosts, and the switch, which passes the baton. Only the baton orders what the hosts of a worker do, so an
//! access from another kernel thread is found.

use crate::sched::block::CancelUnwind;
use crate::sched::os;
use crate::sched::parasite::task::Form;
use crate::sched::thread::Woke;
use crate::sched::thread::{Kind, Thread, ThreadState};
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::{Cell, Parker, thread};
use loom::sync::mpsc::{Receiver, Sender, channel};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};

/// A host or the root. `descriptor` comes first, so that a pointer to it is a pointer to the player.
#[repr(C)]
struct Player {
    descriptor: Thread,
    give: Sender<()>,
    /// Not dropped after a failure: its drop would call loom.
    take: ManuallyDrop<Receiver<()>>,
}

impl Player {
    fn new(kind: Kind) -> NonNull<Self> {
        let (give, take) = channel();
        let take = ManuallyDrop::new(take);
        NonNull::from(Box::leak(Box::new(Self { descriptor: Thread::of_kind(kind), give, take })))
    }

    fn of<'a>(thread: NonNull<Thread>) -> &'a Self {
        // SAFETY: all threads of a worker of the checker are players, which stay until the end of the run.
        unsafe { thread.cast().as_ref() }
    }
}

/// The part of a worker that is about hosts.
pub(crate) struct Hosts {
    root: Option<NonNull<Player>>,
    running: Cell<Option<NonNull<Thread>>>,
    ready: RefCell<VecDeque<NonNull<Thread>>>,
    all: RefCell<Vec<NonNull<Player>>>,
}

impl Hosts {
    pub(crate) fn new(are_there: bool) -> Self {
        let root = are_there.then(|| Player::new(Kind::Root));
        Self {
            root,
            running: Cell::new(root.map(NonNull::cast)),
            ready: RefCell::new(VecDeque::new()),
            all: RefCell::new(root.into_iter().collect()),
        }
    }

    fn root(&self) -> NonNull<Thread> {
        self.root.expect("a worker with hosts").cast()
    }

    /// Frees the players when the run is over without a failure.
    fn free(&self) {
        for player in self.all.take() {
            // SAFETY: made by `Player::new`; the loom threads of all hosts have been joined.
            unsafe { ManuallyDrop::into_inner(Box::from_raw(player.as_ptr()).take) };
        }
    }
}

/// Sent to the loom thread that is a host of the worker.
struct OnWorker(*const Worker, NonNull<Thread>);

// SAFETY: the host accesses its worker only while it holds the baton.
unsafe impl Send for OnWorker {}

impl OnWorker {
    /// The whole life of a host: the closure's result, `None` if it was cancelled.
    fn live<R>(self, body: impl FnOnce() -> R, publish: impl FnOnce(NonNull<Thread>)) -> Option<R> {
        let player = Player::of(self.1);
        player.take.recv().unwrap();
        // SAFETY: the worker exists until its hosts have been joined, and the caller holds the baton.
        let worker = unsafe { &*self.0 };
        Worker::be(worker);
        player.descriptor.reach().begin(worker.remote_ptr());
        let is_asked = player.descriptor.reach().is_asked();
        let result = if is_asked { None } else { caught(body) };
        worker.part(&player.descriptor);
        player.descriptor.state.set(ThreadState::Finished);
        publish(self.1);
        worker.pass_to(worker.pick());
        result
    }
}

fn caught<R>(body: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => Some(result),
        Err(payload) if payload.is::<CancelUnwind>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// The root's handle of a host.
pub(crate) struct Host<R> {
    loom: thread::JoinHandle<Option<R>>,
    thread: NonNull<Thread>,
}

impl<R> Host<R> {
    pub(crate) fn thread(&self) -> NonNull<Thread> {
        self.thread
    }

    fn descriptor(&self) -> &Thread {
        &Player::of(self.thread).descriptor
    }

    pub(crate) fn state(&self) -> ThreadState {
        self.descriptor().state.get()
    }

    /// After the host's end: its result, `None` if it was cancelled.
    pub(crate) fn join(self) -> Option<R> {
        assert!(self.state() == ThreadState::Finished);
        self.loom.join().unwrap()
    }
}

impl Worker {
    /// Runs `body` on the calling thread as the root of a worker with hosts, all of which `body` ends.
    pub(crate) fn with_hosts<R>(body: impl FnOnce(&Worker) -> R) -> R {
        let remote = WorkerShared::with(Some(Parker::of_current()));
        Self::play(&remote, |worker| {
            let result = body(worker);
            assert!(worker.remote.inbox.close().next().is_none(), "something was sent, and nobody is there");
            assert!(worker.hosts.ready.borrow().is_empty());
            worker.hosts.free();
            result
        })
    }

    pub(crate) fn has_hosts(&self) -> bool {
        self.hosts.root.is_some()
    }

    /// Root: creates a host, which runs when the root lets it.
    pub(crate) fn host<R: 'static>(&self, body: impl FnOnce() -> R + 'static) -> Host<R> {
        self.host_of(body, |_| {})
    }

    /// [`host`](Self::host) that calls `publish` after the host's end; its object may be freed after that.
    pub(crate) fn host_of<R: 'static>(
        &self,
        body: impl FnOnce() -> R + 'static,
        publish: impl FnOnce(NonNull<Thread>) + 'static,
    ) -> Host<R> {
        let player = Player::new(Kind::Host);
        let thread = player.cast::<Thread>();
        self.hosts.all.borrow_mut().push(player);
        self.enqueue_woken(thread);
        let place = OnWorker(self, thread);
        Host { loom: thread::spawn(move || place.live(body, publish)), thread }
    }

    /// Root: takes in the messages that were sent.
    pub(crate) fn take_in(&self) {
        self.remote.ring();
        for entry in self.remote.inbox.take() {
            // SAFETY: it came out of this worker's inbox.
            unsafe { self.receive(entry) };
        }
    }

    /// Root: lets the ready hosts run.
    pub(crate) fn run_ready(&self) {
        while self.run_one() {}
    }

    /// Runs one ready host; false if none is ready.
    fn run_one(&self) -> bool {
        let next = self.pop_ready();
        next.inspect(|&next| self.switch_to(self.running_ref(), next)).is_some()
    }

    /// Root: the loop of a worker, until this host has ended.
    pub(crate) fn run_until_ended<R>(&self, host: &Host<R>) {
        loop {
            self.take_in();
            if self.run_one() {
                if !self.hosts.ready.borrow().is_empty() {
                    // A host that has yielded waits for a message that another kernel thread is about to
                    // send.
                    thread::yield_now();
                }
                continue;
            }
            if host.state() == ThreadState::Finished {
                return;
            }
            self.remote.idle.as_ref().unwrap().park();
        }
    }

    /// Root: ends a block early, if the host is blocked.
    pub(crate) fn interrupt_host<R>(&self, host: &Host<R>, why: Woke) {
        // SAFETY: a host of this worker.
        unsafe { self.interrupt(host.thread(), why) };
    }

    /// Root: cancels a host.
    pub(crate) fn cancel_host<R>(&self, host: &Host<R>) {
        if host.state() != ThreadState::Finished {
            // SAFETY: a host of this worker that has not ended.
            unsafe { self.cancel(host.thread()) };
        }
    }

    pub(crate) fn running(&self) -> NonNull<Thread> {
        // Without hosts the caller is an OS thread.
        self.hosts.running.get().unwrap_or_else(os::current)
    }

    pub(crate) fn running_ref(&self) -> &Thread {
        // SAFETY: the caller's own descriptor, or that of a player, which stays until the end of the run.
        unsafe { self.running().as_ref() }
    }

    pub(crate) fn is_on_root(&self) -> bool {
        self.has_hosts() && self.running() == self.hosts.root()
    }

    pub(crate) fn may_run_destructors(&self) -> bool {
        !self.is_on_root()
    }

    pub(crate) fn is_ending(&self) -> bool {
        false
    }

    pub(crate) fn attach_ready(&self) {}

    pub(crate) fn wake_parasite(&self, _: &Thread, _: Form) {
        unreachable!("no host here is a parasite")
    }

    /// # Safety
    /// As for the real `admit`.
    pub(crate) unsafe fn admit(&self, _: NonNull<Thread>) {
        unreachable!("hosts are started where they are made")
    }

    pub(crate) fn enqueue_woken(&self, thread: NonNull<Thread>) -> bool {
        self.hosts.ready.borrow_mut().push_back(thread);
        false
    }

    pub(crate) fn give_way_to_root(&self, me: &Thread) {
        self.enqueue_woken(self.running());
        self.switch_to(me, self.hosts.root());
        // Another kernel thread does what it waits for: this lets the checker run that thread, and the root
        // take in messages.
        thread::yield_now();
    }

    pub(crate) fn switch_away(&self, me: &Thread) {
        self.switch_to(me, self.pick());
    }

    fn pop_ready(&self) -> Option<NonNull<Thread>> {
        self.hosts.ready.borrow_mut().pop_front()
    }

    /// The root comes after each host, and takes in the messages that were sent.
    fn pick(&self) -> NonNull<Thread> {
        self.hosts.root()
    }

    fn pass_to(&self, next: NonNull<Thread>) {
        self.hosts.running.set(Some(next));
        Player::of(next).give.send(()).unwrap();
    }

    /// Returns when another player passes the baton to `me`.
    fn switch_to(&self, me: &Thread, next: NonNull<Thread>) {
        assert!(!ptr::eq(me, next.as_ptr()), "a thread was picked while it ran");
        // Derived from the whole object, as it was allocated; `me` is only its first field.
        let me = Player::of(self.running());
        self.pass_to(next);
        me.take.recv().unwrap();
    }
}
