//! Storage of host-local values, which programs name by [`HostLocal`](crate::HostLocal).
//!
//! Invariants:
//! 1. `Thread::locals` is null or a `Box<Locals>`, touched only by the thread itself.
//! 2. A value is boxed and stays until the host ends, so a reference to it is valid for the whole closure of
//!    `HostLocal::with`, which runs on the host: a frame is open meanwhile, so that no generator is suspended
//!    within it ([`guard`](super::guard)).
//! 3. The values of a stackless parasite are in a table, under the address of its task, until it ends; only
//!    the thread that runs it touches them.

use super::parasite::task::{LOCALS, Task};
use super::thread::Thread;
use super::worker::Worker;
use crate::bug::quietly;
use crate::memory::lasting::lasting_local;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::PoisonError;

/// The values of one thread, with the addresses of their keys. They are few, so a linear search is faster
/// than a table.
#[derive(Default)]
pub(crate) struct Locals(RefCell<Vec<(usize, Box<dyn Any>)>>);

lasting_local! {
    /// The values of a kernel thread that runs no host. Those that are left when it has ended are the ones that destructors of
    /// its thread-locals have made.
    static OF_OS_THREAD: OfOsThread = OfOsThread::default();
}

#[derive(Default)]
struct OfOsThread(Locals);

impl OfOsThread {
    /// Drops each value. A panic would end the process here, so it is caught and reported, as on a host.
    fn end(&self) {
        // A destructor may make new values.
        for _ in 0..8 {
            Locals(self.0.0.take().into()).drop_each();
        }
    }
}

impl Drop for OfOsThread {
    fn drop(&mut self) {
        self.end();
    }
}

std::thread_local! {
    /// Drops the values as those of thread-locals are.
    static END: EndOfOsThread = const { EndOfOsThread };
}

struct EndOfOsThread;

impl Drop for EndOfOsThread {
    fn drop(&mut self) {
        // The process exits within `HostLocal::with`, the reference of which another thread may have.
        if !super::os::frames().is_null() {
            return;
        }
        OF_OS_THREAD.with(OfOsThread::end);
    }
}

impl Locals {
    /// The value of the key at this address; made now by `init` if there is none.
    pub(crate) fn get_or_insert<T: 'static>(&self, address: usize, init: fn() -> T) -> NonNull<T> {
        if let Some(value) = self.find(address) {
            return value;
        }
        // No borrow is held here: `init` may use other keys.
        let value: Box<dyn Any> = Box::new(init());
        self.0.borrow_mut().push((address, value));
        self.find(address).unwrap_or_else(|| crate::bug::bug!("a host-local value was lost"))
    }

    fn drop_each(self) {
        for (_, value) in self.0.into_inner() {
            quietly(|| drop(value));
        }
    }

    fn find<T: 'static>(&self, address: usize) -> Option<NonNull<T>> {
        let values = self.0.borrow();
        let mut of_key = values.iter().filter(|(key, _)| *key == address);
        // Two keys that are constants may be at one address.
        of_key.find_map(|(_, value)| value.downcast_ref().map(NonNull::from))
    }
}

/// Runs `f` as on a kernel thread without values yet; what it makes is dropped with it.
pub(super) fn set_aside<R>(f: impl FnOnce() -> R) -> R {
    struct Until(Option<Locals>);
    impl Drop for Until {
        fn drop(&mut self) {
            exchange(self.0.take().unwrap_or_default()).drop_each();
        }
    }
    fn exchange(locals: Locals) -> Locals {
        OF_OS_THREAD.with(|here| Locals(here.0.0.replace(locals.0.into_inner()).into()))
    }
    let _until = Until(Some(exchange(Locals::default())));
    f()
}

/// Calls `f` with the values of the calling thread.
pub(crate) fn with_locals<R>(f: impl FnOnce(&Locals) -> R) -> R {
    let host = Worker::current().map(Worker::running_ref).filter(|thread| thread.is_lamprey());
    let Some(thread) = host else {
        // If it has been destroyed, what is made now stays until the thread has ended.
        let _ = END.try_with(|_| ());
        return OF_OS_THREAD.with(|locals| f(&locals.0));
    };
    if let Some(task) = thread.polled() {
        // SAFETY: `polling` names the task that runs on this very stack.
        let flags = unsafe { &(*task.as_ptr()).life.flags };
        flags.set(flags.get() | LOCALS);
        let locals =
            *of_parasites().entry(task.addr().get()).or_insert_with(|| Owned(Box::into_raw(Box::default())));
        // SAFETY: invariant 3: alive until the parasite ends, and touched only by this thread, which runs it.
        return f(unsafe { &*locals.0 });
    }
    if thread.locals.get().is_null() {
        thread.locals.set(Box::into_raw(Box::<Locals>::default()).cast());
    }
    // SAFETY: invariant 1; freed only by `end`, which runs when the host's closure is over.
    f(unsafe { &*thread.locals.get().cast::<Locals>() })
}

/// Calls `f` with a value of a thread that does not run, if it has one for the key at this address.
///
/// # Safety
/// The thread is a suspended one of the calling kernel thread's worker, and stays so until `f` has returned.
#[cfg(debug_assertions)]
pub(crate) unsafe fn of_suspended<T: 'static, R>(
    thread: &Thread,
    address: usize,
    f: impl FnOnce(&T) -> R,
) -> Option<R> {
    // SAFETY: invariant 1: the thread itself does not touch them now (contract).
    let locals = unsafe { thread.locals.get().cast::<Locals>().as_ref() }?;
    // SAFETY: invariant 2: it stays until the thread ends.
    locals.find(address).map(|value| f(unsafe { value.as_ref() }))
}

/// The values of stackless parasites by the address of their task. A field in each task would cost all of
/// them a word.
static OF_PARASITES: Mutex<BTreeMap<usize, Owned>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy)]
struct Owned(*mut Locals);

// SAFETY: the values are `Send` (bound of `HostLocal::with`), because they move with their parasite from
// worker to worker; only the thread that runs it dereferences the pointer.
unsafe impl Send for Owned {}

fn of_parasites() -> MutexGuard<'static, BTreeMap<usize, Owned>> {
    OF_PARASITES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops the values of a stackless parasite that has ended.
///
/// # Safety
/// The caller holds the right to run it, and its future is gone.
#[cold]
pub(crate) unsafe fn end_of_parasite(task: NonNull<Task>) {
    for _ in 0..8 {
        let owned = of_parasites().remove(&task.addr().get());
        let Some(Owned(locals)) = owned else { return };
        // SAFETY: invariant 3: taken out of the map, so this is the only owner.
        let locals = unsafe { Box::from_raw(locals) };
        locals.drop_each();
    }
    // Values that are still made are leaked, but removed, so that the next parasite with this address does
    // not find them.
    of_parasites().remove(&task.addr().get());
}

/// Drops the values of a host or stackful parasite that has ended, on its own stack: for `drops::end_locals`, which the thread calls.
#[cold]
pub(super) fn end(thread: &Thread) {
    // A destructor may make new values; after 8 rounds the rest is leaked, so that this ends.
    for _ in 0..8 {
        let locals = thread.locals.replace(std::ptr::null_mut()).cast::<Locals>();
        if locals.is_null() {
            return;
        }
        // SAFETY: invariant 1: taken out of the descriptor, so this is the only owner.
        let locals = unsafe { Box::from_raw(locals) };
        locals.drop_each();
    }
    // Leaked, but removed, so that the next parasite on this context does not find them.
    thread.locals.set(std::ptr::null_mut());
}
