//! The mutex of `std`, for short sections that wait for nothing: with debug assertions it counts how many the calling kernel
//! thread has.
//!
//! A host that gives way or blocks while it has one stops its worker for ever, if another host of that worker wants
//! it: the kernel thread waits, and the host that has it does not run again. So a thread that may do so must have
//! none (`must_have_none`); [`coop`](crate::sched::coop) and the switch ask.

#[cfg(any(loom, not(debug_assertions)))]
#[cfg_attr(loom, allow(unused_imports))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(all(not(loom), debug_assertions))]
pub(crate) use counted::{Condvar, Mutex, MutexGuard, must_have_none};

#[cfg(all(not(loom), debug_assertions))]
mod counted {
    use std::cell::Cell;
    use std::ops::{Deref, DerefMut};
    use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
    use std::time::Duration;

    thread_local! {
        /// How many guards the calling kernel thread has.
        static HELD: Cell<usize> = const { Cell::new(0) };
    }

    /// Ends the process if the calling kernel thread has such a mutex.
    pub(crate) fn must_have_none() {
        // An error: the kernel thread ends, and runs no hosts.
        if HELD.try_with(Cell::get).unwrap_or(0) != 0 {
            crate::bug::bug!("a thread may give way while it has a mutex of the runtime's own");
        }
    }

    /// One guard, counted.
    struct Held;

    impl Held {
        fn one() -> Self {
            let _ = HELD.try_with(|held| held.set(held.get() + 1));
            Self
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            let _ = HELD.try_with(|held| held.set(held.get() - 1));
        }
    }

    /// [`std::sync::Mutex`].
    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

    /// [`std::sync::MutexGuard`].
    pub(crate) struct MutexGuard<'a, T> {
        guard: std::sync::MutexGuard<'a, T>,
        _held: Held,
    }

    impl<'a, T> MutexGuard<'a, T> {
        fn of(guard: std::sync::MutexGuard<'a, T>) -> Self {
            Self { guard, _held: Held::one() }
        }

        fn of_result(result: LockResult<std::sync::MutexGuard<'a, T>>) -> LockResult<Self> {
            match result {
                Ok(guard) => Ok(Self::of(guard)),
                Err(poisoned) => Err(PoisonError::new(Self::of(poisoned.into_inner()))),
            }
        }
    }

    impl<T> Mutex<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            MutexGuard::of_result(self.0.lock())
        }

        #[allow(dead_code, reason = "as std has it")]
        pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
            match self.0.try_lock() {
                Ok(guard) => Ok(MutexGuard::of(guard)),
                Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
                Err(TryLockError::Poisoned(poisoned)) => {
                    let guard = MutexGuard::of(poisoned.into_inner());
                    Err(TryLockError::Poisoned(PoisonError::new(guard)))
                }
            }
        }

        #[allow(dead_code, reason = "as std has it")]
        pub(crate) fn into_inner(self) -> LockResult<T> {
            self.0.into_inner()
        }

        #[allow(dead_code, reason = "as std has it")]
        pub(crate) fn get_mut(&mut self) -> LockResult<&mut T> {
            self.0.get_mut()
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }

    /// [`std::sync::Condvar`].
    #[derive(Debug, Default)]
    pub(crate) struct Condvar(std::sync::Condvar);

    impl Condvar {
        pub(crate) const fn new() -> Self {
            Self(std::sync::Condvar::new())
        }

        pub(crate) fn wait<'a, T>(&self, held: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
            MutexGuard::of_result(self.0.wait(held.guard))
        }

        pub(crate) fn wait_timeout<'a, T>(
            &self,
            held: MutexGuard<'a, T>,
            limit: Duration,
        ) -> LockResult<(MutexGuard<'a, T>, std::sync::WaitTimeoutResult)> {
            match self.0.wait_timeout(held.guard, limit) {
                Ok((guard, over)) => Ok((MutexGuard::of(guard), over)),
                Err(poisoned) => {
                    let (guard, over) = poisoned.into_inner();
                    Err(PoisonError::new((MutexGuard::of(guard), over)))
                }
            }
        }

        pub(crate) fn wait_while<'a, T>(
            &self,
            mut held: MutexGuard<'a, T>,
            mut has_to_wait: impl FnMut(&mut T) -> bool,
        ) -> LockResult<MutexGuard<'a, T>> {
            while has_to_wait(&mut held) {
                held = self.wait(held)?;
            }
            Ok(held)
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}
