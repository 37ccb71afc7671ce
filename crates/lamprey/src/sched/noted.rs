//! Where locks, and what futures wait for, were made: with debug assertions, as it takes memory in each lock and parasite.

#[cfg(all(debug_assertions, not(loom)))]
use super::made::Made;
#[cfg(not(loom))]
use super::made::Origin;
use super::reason::{On, Wait};
#[cfg(all(debug_assertions, not(loom)))]
use crate::sync_shim::{AtomicPtr, AtomicU32, Ordering};
#[cfg(all(debug_assertions, not(loom)))]
use std::panic::Location;

/// [`Made`] of an object that is to stay small, such as a lock: with debug assertions. Without them it has no size, and nothing to tell.
#[derive(Debug)]
pub(crate) struct MadeInDebug {
    #[cfg(all(debug_assertions, not(loom)))]
    made: Made,
}

impl MadeInDebug {
    /// Of an object that the caller makes.
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self {
            #[cfg(all(debug_assertions, not(loom)))]
            made: Made::new(Location::caller(), 0),
        }
    }

    /// Its number, unique in the process.
    #[cfg(all(debug_assertions, not(loom)))]
    pub(crate) fn number(&self) -> u32 {
        self.made.number()
    }

    /// `reason`, for the object that has this part.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn on(&self, reason: Wait) -> On {
        #[cfg(all(debug_assertions, not(loom)))]
        return reason.on_made(&self.made);
        #[cfg(not(all(debug_assertions, not(loom))))]
        reason.on(self)
    }
}

/// [`MadeInDebug`] of memory that is used for one object after the other.
pub(crate) struct MadeAgainInDebug(std::cell::Cell<MadeInDebug>);

impl MadeAgainInDebug {
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self(std::cell::Cell::new(MadeInDebug::new()))
    }

    /// The memory is an object now that the caller makes.
    ///
    /// # Safety
    /// Nobody else reaches the object yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) unsafe fn begin(&self) {
        self.0.set(MadeInDebug::new());
    }

    /// `reason`, for the object.
    ///
    /// # Safety
    /// The object is not over, and will not be as long as the result is used.
    pub(crate) unsafe fn on(&self, reason: Wait) -> On {
        // SAFETY: written only when nobody else reaches the object (`begin`).
        unsafe { &*self.0.as_ptr() }.on(reason)
    }
}

/// What a future has waited for last, as its task notes it: with debug assertions. The object itself may have gone since.
#[derive(Debug)]
pub(crate) struct Noted {
    #[cfg(all(debug_assertions, not(loom)))]
    site: AtomicPtr<Location<'static>>,
    #[cfg(all(debug_assertions, not(loom)))]
    number: AtomicU32,
}

impl Noted {
    pub(crate) const fn new() -> Self {
        Self {
            #[cfg(all(debug_assertions, not(loom)))]
            site: AtomicPtr::new(std::ptr::null_mut()),
            #[cfg(all(debug_assertions, not(loom)))]
            number: AtomicU32::new(0),
        }
    }

    /// Notes the object that the caller is about to wait for, which it borrows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn note(&self, on: On) {
        #[cfg(all(debug_assertions, not(loom)))]
        {
            // SAFETY: alive, as the caller borrows it.
            let made = unsafe { super::reason::object(on.what) }.map(|(made, _)| made);
            let site = made.map_or(std::ptr::null(), |made| made.site());
            // Relaxed (both): for reports; a site is a constant. Atomic because another kernel thread may poll a part of the future.
            self.site.store(site.cast_mut(), Ordering::Relaxed);
            self.number.store(made.map_or(0, Made::number), Ordering::Relaxed);
        }
        #[cfg(not(all(debug_assertions, not(loom))))]
        let _: On = on;
    }

    /// Where the object was made, and its number; `None` if that is not known.
    #[cfg(not(loom))]
    pub(super) fn get(&self) -> Option<Origin> {
        #[cfg(debug_assertions)]
        {
            // Relaxed (both): for reports; no data travels with them.
            let (site, number) = (self.site.load(Ordering::Relaxed), self.number.load(Ordering::Relaxed));
            // SAFETY: null, or a constant.
            unsafe { site.as_ref() }.map(|site| (site, number))
        }
        #[cfg(not(debug_assertions))]
        None
    }
}
