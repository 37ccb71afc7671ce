//! Lamprey's hosts and locks, as [`Threads`] and [`Condvars`].

use crate::work::locking::{Condvars, Threads};
use anyhow::Result;
use lamprey::sync::{Condvar, LockOptions, Mutex, MutexGuard, Order, Wake};
use lamprey::{Builder, JoinHandle, Runtime};
use std::marker::PhantomData;

/// Hosts with mutexes of policy `P`.
pub struct Hosts<P = Default>(PhantomData<P>);

/// The options of each mutex.
pub trait Policy: Send + 'static {
    /// The choice.
    fn options() -> LockOptions;
}

/// The default options.
pub struct Default;
/// The last waiter is served first.
pub struct Lifo;
/// An unlock switches to the waiter that it wakes.
pub struct Switch;
/// The worker that locks it first owns it.
pub struct Biased;

impl Policy for Default {
    fn options() -> LockOptions {
        LockOptions::new()
    }
}

impl Policy for Lifo {
    fn options() -> LockOptions {
        LockOptions::new().order(Order::Lifo)
    }
}

impl Policy for Switch {
    fn options() -> LockOptions {
        LockOptions::new().wake(Wake::Switch)
    }
}

impl Policy for Biased {
    fn options() -> LockOptions {
        LockOptions::new().biased(true)
    }
}

const NO_PANIC: &str = "nobody panics with a lock";

impl<P: Policy> Threads for Hosts<P> {
    type Stage = Runtime;
    type Handle = JoinHandle<()>;
    type Mutex<T: Send + 'static> = Mutex<T>;
    type Guard<'a, T: Send + 'static> = MutexGuard<'a, T>;

    fn stage(workers: usize) -> Result<Runtime> {
        super::ours::runtime(workers)
    }

    fn on<R: Send + 'static>(runtime: &Runtime, main: impl FnOnce() -> R + Send + 'static) -> R {
        runtime.run(main)
    }

    fn spawn(worker: Option<usize>, body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        match worker {
            Some(worker) => Builder::new().worker(worker).spawn(body).expect("there is such a worker"),
            None => lamprey::spawn(body),
        }
    }

    fn join(handle: JoinHandle<()>) {
        handle.join().expect("no host of a bench panics");
    }

    #[inline(always)]
    fn yield_now() {
        lamprey::yield_now();
    }

    fn mutex<T: Send + 'static>(value: T) -> Mutex<T> {
        Mutex::with_options(value, P::options())
    }

    #[inline(always)]
    fn lock<T: Send + 'static>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().expect(NO_PANIC)
    }
}

impl<P: Policy> Condvars for Hosts<P> {
    type Condvar = Condvar;

    fn condvar() -> Condvar {
        Condvar::new()
    }

    #[inline(always)]
    fn wait<'a, T: Send + 'static>(condvar: &Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T> {
        condvar.wait(guard).expect(NO_PANIC)
    }

    #[inline(always)]
    fn notify_one(condvar: &Condvar) {
        condvar.notify_one();
    }
}
