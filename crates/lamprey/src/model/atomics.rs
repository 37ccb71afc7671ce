//! Atomics of objects that are freed by protocol. They record the free, so an access that comes too late (or
//! that nothing orders before the free) fails the model. In a broken variant their changes are Relaxed.

use super::{Broken, is_broken};
use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering;

/// The order of a change, or Relaxed in the broken variant `what`.
fn unless(what: Broken, order: Ordering) -> Ordering {
    if is_broken(what) { Ordering::Relaxed } else { order }
}

macro_rules! mortal {
    ($name:ident, $inner:ty, $value:ty, $broken:expr, [$($change:ident)*]) => {
        /// An atomic that records when its object is freed.
        #[derive(Debug)]
        pub(crate) struct $name {
            atomic: $inner,
            gone: UnsafeCell<bool>,
        }

        impl $name {
            pub(crate) fn new(value: $value) -> Self {
                Self { atomic: <$inner>::new(value), gone: UnsafeCell::new(false) }
            }

            fn alive(&self) -> &$inner {
                // SAFETY: loom checks that no thread writes it meanwhile.
                self.gone.with(|gone| assert!(!unsafe { *gone }, "touched after it was freed"));
                &self.atomic
            }

            /// Called when the object is freed.
            pub(crate) fn free(&self) {
                // SAFETY: loom checks that all accesses came before this.
                self.gone.with_mut(|gone| assert!(!unsafe { std::mem::replace(&mut *gone, true) }, "freed twice"));
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.alive().load(order)
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.alive().store(value, order)
            }

            pub(crate) fn compare_exchange_weak(
                &self,
                from: $value,
                to: $value,
                order: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.alive().compare_exchange_weak(from, to, unless($broken, order), failure)
            }

            #[allow(dead_code, reason = "not all are changed so")]
            pub(crate) fn compare_exchange(
                &self,
                from: $value,
                to: $value,
                order: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.alive().compare_exchange(from, to, unless($broken, order), failure)
            }

            $(pub(crate) fn $change(&self, value: $value, order: Ordering) -> $value {
                self.alive().$change(value, unless($broken, order))
            })*
        }
    };
}

mortal!(AtomicU8, loom::sync::atomic::AtomicU8, u8, Broken::LifeOrder, [fetch_or fetch_and]);
mortal!(AtomicU32, loom::sync::atomic::AtomicU32, u32, Broken::RefsOrder, [fetch_or fetch_and fetch_add fetch_sub]);

/// A pointer whose stores or exchanges are Relaxed in a broken variant.
#[derive(Debug)]
pub(crate) struct AtomicPtr<T>(loom::sync::atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    pub(crate) fn new(value: *mut T) -> Self {
        Self(loom::sync::atomic::AtomicPtr::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> *mut T {
        self.0.load(order)
    }

    pub(crate) fn store(&self, value: *mut T, order: Ordering) {
        self.0.store(value, unless(Broken::Store, order));
    }

    pub(crate) fn swap(&self, value: *mut T, order: Ordering) -> *mut T {
        self.0.swap(value, unless(Broken::Exchange, order))
    }

    pub(crate) fn compare_exchange(
        &self,
        from: *mut T,
        to: *mut T,
        order: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.0.compare_exchange(from, to, unless(Broken::Exchange, order), failure)
    }

    pub(crate) fn compare_exchange_weak(
        &self,
        from: *mut T,
        to: *mut T,
        order: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.0.compare_exchange_weak(from, to, unless(Broken::Exchange, order), failure)
    }
}

/// A plain cell that loom checks, for data that one thread at a time owns.
#[derive(Debug, Default)]
pub(crate) struct Cell<T>(UnsafeCell<T>);

impl<T: Copy> Cell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub(crate) fn get(&self) -> T {
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.0.with(|value| unsafe { *value })
    }

    pub(crate) fn set(&self, value: T) {
        self.replace(value);
    }

    pub(crate) fn replace(&self, value: T) -> T {
        // SAFETY: loom checks that no other thread reads or writes it meanwhile.
        self.0.with_mut(|place| unsafe { std::mem::replace(&mut *place, value) })
    }
}
