//! The worker of the checker: the part of one that [`Task`] needs, around the real [`ReadyQueue`], inbox,
//! life and completion. It is `sched::worker` and `sched::parasite::attach` of that build; its hosts are in
//! `model::host`.
//!
//! A loom thread plays a worker within [`Worker::play`]; [`Worker::run`] replaces the worker's loop. A
//! [`Parasite`] is a block with a task and any future. Its memory is kept until the run is over;
//! `model::atomics` checks when the protocol would free it.

use super::cancel::reach::Reach;
use super::completion::Completion;
use super::parasite::finish::{finish, finish_cancelled};
use super::parasite::life::{Life, Turn};
use super::parasite::ready_queue::{ReadyQueue, ReadyShared};
use super::parasite::task::{Form, Task, TaskBody};
use super::remote_message::RemoteMessage;
use super::thread::Thread;
use super::waiter::Waiter;
use super::who::Who;
use crate::model::host::Hosts;
pub(crate) use crate::model::wait_cell::{wait, wait_or};
use crate::model::{Broken, is_broken};
use crate::queue::inbox::Inbox;
use crate::sync_shim::{AtomicUsize, Cell, Ordering, Parker, UnsafeCell, thread_local};
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::{Context, Waker};

thread_local! {
    static CURRENT: std::cell::Cell<*const Worker> = std::cell::Cell::new(ptr::null());
}

/// The worker's shared state.
pub(crate) struct WorkerShared {
    pub(crate) inbox: Inbox<Waiter>,
    /// Changed after each send and before each read of the inbox. Loom does not reorder a plain load with a
    /// CAS if the CAS's thread has loaded before; it does reorder two changes. (Relaxed: nothing may rely on
    /// it.)
    touched: AtomicUsize,
    /// For a worker with hosts: where its root waits when no host is ready.
    pub(crate) idle: Option<Parker>,
    pub(super) ready: Arc<ReadyShared>,
}

impl WorkerShared {
    pub(crate) fn new() -> Arc<Self> {
        Self::with(None)
    }

    pub(crate) fn with(idle: Option<Parker>) -> Arc<Self> {
        Arc::new(Self { inbox: Inbox::new(), touched: AtomicUsize::new(0), idle, ready: ReadyShared::new() })
    }

    /// All workers belong to one runtime.
    pub(crate) fn runtime(&self) -> *const () {
        ptr::null()
    }

    /// # Safety
    /// Another reference lasts until this call ends.
    pub(crate) unsafe fn retain(remote: NonNull<Self>) -> Arc<Self> {
        // SAFETY: the state lives in an `Arc`, and is alive by the contract.
        unsafe {
            Arc::increment_strong_count(remote.as_ptr());
            Arc::from_raw(remote.as_ptr())
        }
    }

    /// # Safety
    /// As for the real `deliver`.
    pub(crate) unsafe fn deliver(&self, entry: Waiter) -> Result<(), Waiter> {
        // SAFETY: as promised by the caller.
        let sent = unsafe { self.inbox.push(entry) };
        self.ring();
        if let Some(idle) = &self.idle {
            idle.unpark();
        }
        sent
    }

    /// # Safety
    /// As for the real `send`.
    pub(crate) unsafe fn send(remote: NonNull<Self>, message: NonNull<RemoteMessage>) {
        // SAFETY: as promised by the caller.
        unsafe {
            let remote = Self::retain(remote);
            if let Err(entry) = remote.deliver(Waiter::message(message)) {
                super::parasite::finish::refused_by_inbox(entry);
            }
        }
    }

    pub(crate) fn ring(&self) {
        // Relaxed: nothing may rely on it (see the field).
        self.touched.fetch_add(1, Ordering::Relaxed);
    }
}

impl Thread {
    /// As the real one.
    pub(crate) fn reach(&self) -> Reach<'_, WorkerShared> {
        Reach::new(&self.home, &self.ask)
    }
}

/// A worker that a loom thread plays.
pub(crate) struct Worker {
    pub(crate) remote: Arc<WorkerShared>,
    ready: ReadyQueue,
    pub(super) caller: Cell<&'static str>,
    pub(crate) hosts: Hosts,
}

impl Worker {
    /// Runs `body` on the calling thread as the worker of this shared state.
    pub(crate) fn play<R>(remote: &Arc<WorkerShared>, body: impl FnOnce(&Worker) -> R) -> R {
        let worker = Self {
            remote: remote.clone(),
            ready: ReadyQueue::new(remote.ready.clone()),
            caller: Cell::new(super::thread::SOURCE),
            hosts: Hosts::new(remote.idle.is_some()),
        };
        Self::be(&raw const worker);
        let result = body(&worker);
        Self::be(ptr::null());
        result
    }

    /// Puts the calling loom thread on the kernel thread of `worker`.
    pub(crate) fn be(worker: *const Self) {
        CURRENT.with(|current| current.set(worker));
    }

    pub(crate) fn current() -> Option<&'static Self> {
        // SAFETY: used within `play` only, and no caller keeps it.
        CURRENT.with(|current| unsafe { current.get().as_ref() })
    }

    pub(crate) fn remote_ptr(&self) -> *const WorkerShared {
        Arc::as_ptr(&self.remote)
    }

    pub(crate) fn shared_ptr(&self) -> *const () {
        ptr::null()
    }

    pub(crate) fn spend(&self) -> bool {
        true
    }

    pub(crate) fn bring(&self, task: NonNull<Task>, _: Form) {
        self.push_ready(Waiter::task(task));
    }

    /// The checker counts nothing.
    pub(crate) fn count_sent(&self, _: u64) {}

    pub(crate) fn push_ready(&self, parasite: Waiter) {
        assert!(self.ready.push(parasite));
    }

    pub(crate) fn make_attachable(&self, parasite: Waiter) {
        self.push_ready(parasite);
    }

    pub(crate) fn make_cancelled(&self, task: NonNull<Task>) {
        self.make_attachable(Waiter::task(task));
    }

    /// Takes in messages and runs what is ready, until there is nothing left.
    pub(crate) fn run(&self) {
        loop {
            self.remote.ring();
            for entry in self.remote.inbox.take() {
                let Who::Task(task) = entry.who() else { unreachable!("only tasks are sent") };
                // SAFETY: it came out of this worker's inbox.
                unsafe { Task::receive(task, self) };
            }
            if let Some(task) = self.ready.pop_task() {
                self.run_task(task);
            } else if let Some(task) = self.ready.pop_given_way() {
                self.run_task(task);
            } else {
                return;
            }
        }
    }

    /// The end of the worker: what comes later goes back to its sender.
    pub(crate) fn leave(&self) {
        self.remote.ring();
        for entry in self.remote.inbox.close() {
            super::parasite::finish::refused_by_inbox(entry);
        }
    }

    /// The steps of a monitor for a worker that is busy.
    pub(crate) fn relieve(&self, remote: &WorkerShared) {
        let mut taken = Vec::with_capacity(4);
        remote.ready.take(&mut taken);
        taken.into_iter().for_each(|task| self.push_ready(Waiter::task(task)));
        self.run();
    }

    /// Asserts that everything that was taken counts as not pending.
    pub(crate) fn assert_nothing_pending(&self) {
        self.ready.settle();
        assert_eq!(self.ready.pending.get(), 0);
    }

    /// The steps of the real `run_task`.
    fn run_task(&self, task: NonNull<Task>) {
        // SAFETY: the caller holds the right to run.
        unsafe {
            if task.as_ref().life.begin() == Turn::Drop {
                return finish_cancelled(task);
            }
            self.poll(task);
        }
    }

    /// # Safety
    /// The caller holds the right to run, which has begun.
    unsafe fn poll(&self, task: NonNull<Task>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if (task.as_ref().body.poll)(task) {
                return finish(task);
            }
            match task.as_ref().life.end() {
                Turn::Again if is_broken(Broken::Again) => {}
                Turn::Again => self.give_way(task),
                Turn::Drop => finish_cancelled(task),
                Turn::Idle | Turn::Run => {}
            }
        }
    }

    fn give_way(&self, task: NonNull<Task>) {
        if is_broken(Broken::Link) {
            // SAFETY: alive by the right to run.
            unsafe { task.as_ref() }.link.set(ptr::null_mut());
            return self.push_ready(Waiter::task(task));
        }
        self.ready.give_way(task);
    }
}

/// Replaces `attach::acting_as`, without names and values.
pub(crate) fn acting_as(_: NonNull<Task>, f: impl FnOnce()) {
    f();
}

type Work = Pin<Box<dyn Future<Output = ()>>>;

/// A task with its future.
#[repr(C)]
struct Block {
    task: Task,
    home: Arc<WorkerShared>,
    work: UnsafeCell<Option<Work>>,
    /// The address range of the future.
    place: Range<usize>,
    freed: UnsafeCell<bool>,
}

// SAFETY: loom finds accesses that the protocol does not allow.
unsafe impl Send for Block {}
// SAFETY: loom finds accesses that the protocol does not allow.
unsafe impl Sync for Block {}

fn block<'a>(task: NonNull<Task>) -> &'a Block {
    // SAFETY: except for a waiting thread's, every task of the checker is the head of a block, which is kept
    // until the run is over.
    unsafe { task.cast::<Block>().as_ref() }
}

/// The home of a task, which the real runtime gets from the slab.
pub(crate) fn home_of(task: NonNull<Task>) -> NonNull<WorkerShared> {
    NonNull::from(&*block(task).home)
}

const BODY: TaskBody = TaskBody {
    poll: |task| {
        block(task).work.with_mut(|work| {
            // SAFETY: loom checks that no other thread is here meanwhile.
            let work = unsafe { &mut *work };
            let future = work.as_mut().expect("polled after its end");
            let ready = Task::with_context(task, |cx| future.as_mut().poll(cx)).is_ready();
            if ready {
                *work = None;
            }
            ready
        })
    },
    cancel: |task| {
        // SAFETY: loom checks that no other thread accesses it meanwhile.
        block(task).work.with_mut(|work| drop(unsafe { (*work).take() }.expect("dropped twice")));
    },
    dispose: |_| {},
    is_plain: false,
    free: |task| {
        let block = block(task);
        block.task.life.free();
        // SAFETY: loom checks that no thread writes it meanwhile.
        block.work.with(|work| assert!(unsafe { &*work }.is_none(), "freed with its future"));
        // SAFETY: loom checks that all accesses came before this.
        block.freed.with_mut(|freed| unsafe { *freed = true });
    },
    inflate: |_, _| unreachable!("nothing is inflated here"),
    outcome: 0,
    size: 0,
    elsewhere: |task| block(task).place.clone(),
    name: || "a parasite of the checker",
    named: None,
};

static BODY_HERE: TaskBody = BODY;

/// The body of a parasite at which its worker may look when it is over: a block stays readable until its slab receives it.
static BODY_OUTSIDE: TaskBody = TaskBody {
    free: |task| {
        let block = block(task);
        // SAFETY: loom checks that no thread writes it meanwhile.
        block.work.with(|work| assert!(unsafe { &*work }.is_none(), "freed with its future"));
        // SAFETY: loom checks that nobody else writes it meanwhile.
        block
            .freed
            .with_mut(|freed| assert!(!std::mem::replace(unsafe { &mut *freed }, true), "freed twice"));
    },
    ..BODY
};

/// A handle of a parasite, which can also inspect it outside of the protocol.
#[derive(Clone)]
pub(crate) struct Parasite(Arc<Block>);

impl Parasite {
    /// A parasite that its creator is about to run.
    pub(crate) fn new<W>(worker: &Worker, is_shared: bool, work: W) -> Self
    where
        W: Future<Output = ()> + 'static,
    {
        Self::in_life(&worker.remote, &BODY_HERE, Life::running(is_shared), work)
    }

    /// A parasite as by [`new`](Self::new), at which its worker may look when it is over.
    pub(crate) fn in_sight<W>(worker: &Worker, is_shared: bool, work: W) -> Self
    where
        W: Future<Output = ()> + 'static,
    {
        Self::in_life(&worker.remote, &BODY_OUTSIDE, Life::running(is_shared), work)
    }

    /// A parasite that its creator is about to send to its home.
    pub(crate) fn sent<W>(home: &Arc<WorkerShared>, is_shared: bool, work: W) -> Self
    where
        W: Future<Output = ()> + 'static,
    {
        Self::in_life(home, &BODY_OUTSIDE, Life::sent(is_shared), work)
    }

    fn in_life<W>(home: &Arc<WorkerShared>, body: &'static TaskBody, life: Life, work: W) -> Self
    where
        W: Future<Output = ()> + 'static,
    {
        let work = Box::pin(work);
        Self(Arc::new(Block {
            task: Task { link: Cell::new(ptr::null_mut()), body, life, completion: Completion::new() },
            home: home.clone(),
            place: place_of(&work),
            work: UnsafeCell::new(Some(work)),
            freed: UnsafeCell::new(false),
        }))
    }

    fn task(&self) -> NonNull<Task> {
        // Derived from the whole block, whose head the task is.
        NonNull::from(&*self.0).cast()
    }

    /// Sends it home, as in `parasite::send`.
    pub(crate) fn send(&self) {
        super::parasite::notify::post(self.task());
    }

    /// The worker ends, and cancels it, as a carrier does.
    pub(crate) fn reap(&self, worker: &Worker) {
        // SAFETY: blocks are kept until the run is over; the worker is its home.
        unsafe { Task::cancel_on(self.task(), Some(worker)) }
    }

    /// The worker looks at it, as for a dump, and gives it a number.
    pub(crate) fn look(&self, worker: &Worker) {
        // SAFETY: the worker is its home; blocks are kept until the run is over.
        unsafe { Task::look_at(self.task(), worker, |task| task.life.number(|| 1)) };
    }

    /// The handle, which has not been dropped, is asked for the number.
    pub(crate) fn number(&self) {
        self.0.task.life.number(|| 1);
    }

    /// The first poll, as in `parasite`.
    pub(crate) fn start(&self, worker: &Worker) {
        // SAFETY: a new life is running, which is the right to run; this is called once.
        unsafe { worker.poll(self.task()) }
    }

    /// A waker with a reference, made before the start.
    pub(crate) fn waker(&self) -> Waker {
        Task::with_context(self.task(), |cx| cx.waker().clone())
    }

    /// Cancels through the handle.
    pub(crate) fn cancel(&self) {
        // SAFETY: the handle's reference lasts until `detach`.
        unsafe { Task::cancel(self.task()) }
    }

    /// Drops the handle's reference.
    pub(crate) fn detach(&self) {
        // SAFETY: alive by the handle's reference; after DONE the object is the handle's.
        unsafe {
            if !self.0.task.completion.detach() {
                Task::drop_owner(self.task());
            }
        }
    }

    /// The steps of `parasite` for a parasite that ends in its first poll: polls it, and frees it without a
    /// handle.
    pub(crate) fn run_at_once(&self) {
        let task = self.task();
        // SAFETY: a new life is running, which is the right to run; apart from references, only this thread
        // has the task.
        unsafe {
            assert!((task.as_ref().body.poll)(task));
            let life = &task.as_ref().life;
            if life.is_referenced() {
                life.finish();
                if !life.drop_owner() {
                    return;
                }
            }
            (task.as_ref().body.free)(task);
        }
    }

    /// True if the memory was freed.
    pub(crate) fn is_freed(&self) -> bool {
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.0.freed.with(|freed| unsafe { *freed })
    }
}

/// The address range of a future.
pub(crate) fn place_of<F>(future: &Pin<Box<F>>) -> Range<usize> {
    let from = (&raw const **future).addr();
    from..from + size_of::<F>()
}

/// Calls `poll` once with a context whose waker does nothing.
pub(crate) fn with_strange_context<R>(poll: impl FnOnce(&mut Context<'_>) -> R) -> R {
    poll(&mut Context::from_waker(Waker::noop()))
}
