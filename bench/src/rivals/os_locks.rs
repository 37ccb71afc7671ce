//! OS threads with the locks of libc, std and parking_lot: on one core for one worker, on all for more.

use super::pthread;
use super::threads::cores;
use crate::work::locking::{Condvars, Threads};
use anyhow::Result;
use std::thread::{self, JoinHandle};

/// libc's locks.
pub struct Pthread;
/// std's locks.
pub struct Std;
/// parking_lot's locks.
pub struct ParkingLot;

/// The common part, with the paths of the types as parameters. The kernel decides where a thread runs.
macro_rules! on_os_threads {
    ($mutex:ident, $guard:ident of $($library:ident)::+) => {
        type Stage = ();
        type Handle = JoinHandle<()>;
        type Mutex<T: Send + 'static> = $($library)::+::$mutex<T>;
        type Guard<'a, T: Send + 'static> = $($library)::+::$guard<'a, T>;

        fn stage(workers: usize) -> Result<()> {
            cores(workers)
        }

        fn on<R: Send + 'static>(_: &(), main: impl FnOnce() -> R + Send + 'static) -> R {
            main()
        }

        fn spawn(_: Option<usize>, body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
            thread::spawn(body)
        }

        fn join(handle: JoinHandle<()>) {
            handle.join().expect("no thread of a bench panics");
        }

        fn yield_now() {
            thread::yield_now();
        }

        fn mutex<T: Send + 'static>(value: T) -> Self::Mutex<T> {
            Self::Mutex::new(value)
        }
    };
}

/// The common part of condition variables.
macro_rules! condvars {
    ($condvar:ident of $($library:ident)::+) => {
        type Condvar = $($library)::+::$condvar;

        fn condvar() -> Self::Condvar {
            Self::Condvar::new()
        }

        #[inline(always)]
        fn notify_one(condvar: &Self::Condvar) {
            condvar.notify_one();
        }
    };
}

const NO_PANIC: &str = "nobody panics with a lock";

impl Threads for Pthread {
    on_os_threads!(Mutex, Guard of pthread);

    #[inline(always)]
    fn lock<T: Send + 'static>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
        mutex.lock()
    }
}

impl Condvars for Pthread {
    condvars!(Condvar of pthread);

    #[inline(always)]
    fn wait<'a, T: Send + 'static>(condvar: &Self::Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T> {
        condvar.wait(guard)
    }
}

impl Threads for Std {
    on_os_threads!(Mutex, MutexGuard of std::sync);

    #[inline(always)]
    fn lock<T: Send + 'static>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
        mutex.lock().expect(NO_PANIC)
    }
}

impl Condvars for Std {
    condvars!(Condvar of std::sync);

    #[inline(always)]
    fn wait<'a, T: Send + 'static>(condvar: &Self::Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T> {
        condvar.wait(guard).expect(NO_PANIC)
    }
}

impl Threads for ParkingLot {
    on_os_threads!(Mutex, MutexGuard of parking_lot);

    #[inline(always)]
    fn lock<T: Send + 'static>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
        mutex.lock()
    }
}

impl Condvars for ParkingLot {
    condvars!(Condvar of parking_lot);

    #[inline(always)]
    fn wait<'a, T: Send + 'static>(
        condvar: &Self::Condvar,
        mut guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T> {
        condvar.wait(&mut guard);
        guard
    }
}
