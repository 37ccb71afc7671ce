//! What a thread waits for that is not one object: the branches of a choice, what a future waits for, a scope. It is told when
//! somebody looks at the thread, so a wait costs nothing for it but a pointer.

#[cfg(not(loom))]
use super::made::Origin;
use super::reason::{On, PARTS, TAGS, Wait};
#[cfg(not(loom))]
use super::scope_info::ScopeInfo;
use super::scope_info::ScopeOrigin;
use std::ptr;

/// One of the things that a thread waits for.
#[cfg_attr(loom, allow(dead_code, reason = "the models do not look at it"))]
pub(crate) enum Part {
    On(On),
    /// What a future has noted of its last wait.
    #[cfg(not(loom))]
    Noted(Wait, Option<Origin>),
    #[cfg(not(loom))]
    Scope(ScopeInfo),
}

/// Whoever is told of the parts.
pub struct Told<'a>(pub(crate) &'a mut dyn FnMut(Part));

impl Told<'_> {
    pub(crate) fn tell(&mut self, on: impl Into<On>) {
        (self.0)(Part::On(on.into()));
    }
}

/// What can tell its parts. No method runs code of the program, blocks, or changes anything: the thread that waits is suspended meanwhile.
pub(crate) trait Parts {
    fn tell(&self, told: &mut Told<'_>);
}

/// What a thread that waits refers to: on its stack, until the wait has ended.
#[repr(align(8))]
pub(crate) struct PartsRef<'a>(pub(crate) &'a dyn Parts);

const _: () = assert!(align_of::<PartsRef<'_>>() > TAGS);

impl PartsRef<'_> {
    /// `reason`, for these parts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn on(&self, reason: Wait) -> On {
        On { reason, what: ptr::from_ref(self).cast::<()>().map_addr(|address| address | PARTS) }
    }
}

/// The parts behind the address that a thread waits for, if it waits for some.
///
/// # Safety
/// `what` is of an [`On`] with which a thread has blocked that has not returned from that yet.
#[cfg(not(loom))]
pub(super) unsafe fn parts<'a>(what: *const ()) -> Option<&'a dyn Parts> {
    (what.addr() & TAGS == PARTS).then(|| {
        let parts = what.map_addr(|address| address & !TAGS).cast::<PartsRef<'_>>();
        // SAFETY: the tag says what it points to; on the stack of the thread (contract).
        unsafe { &*parts }.0
    })
}

impl Parts for ScopeOrigin {
    #[cfg(not(loom))]
    fn tell(&self, told: &mut Told<'_>) {
        (told.0)(Part::Scope(self.info()));
    }

    #[cfg(loom)]
    fn tell(&self, _: &mut Told<'_>) {}
}
