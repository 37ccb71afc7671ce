//! Atomics of objects that are freed by protocol: they know when that has happened, so that a touch that is
//! too late (or that nothing orders before the end) is a failure of the model; and a broken variant makes
//! their changes Relaxed.

use super::{Broken, is_broken};
use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering;

/// The order of a change, or Relaxed in the variant that leaves `what` out.
fn unless(what: Broken, order: Ordering) -> Ordering {
    if is_broken(what) { Ordering::Relaxed } else { order }
}

macro_rules! mortal {
    ($name:ident, $inner:ty, $value:ty, $broken:expr, [$($change:ident)*]) => {
        /// See the module's text.
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
                // SAFETY: loom checks that nobody writes it meanwhile.
                self.gone.with(|gone| assert!(!unsafe { *gone }, "touched after it was freed"));
                &self.atomic
            }

            /// Whoever frees the object says so.
            pub(crate) fn free(&self) {
                // SAFETY: loom checks that all who have touched it did so before.
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

/// A pointer whose stores, or whose exchanges, are Relaxed in a broken variant.
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

/// A plain cell that loom watches, for what one party at a time has.
#[derive(Debug, Default)]
pub(crate) struct Cell<T>(UnsafeCell<T>);

impl<T: Copy> Cell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub(crate) fn get(&self) -> T {
        // SAFETY: loom checks it.
        self.0.with(|value| unsafe { *value })
    }

    pub(crate) fn set(&self, value: T) {
        self.replace(value);
    }

    pub(crate) fn replace(&self, value: T) -> T {
        // SAFETY: as above.
        self.0.with_mut(|place| unsafe { std::mem::replace(&mut *place, value) })
    }
}
