//! Which kinds of hosts compute for long. A *kind* is the type of a host's closure, known by the address of
//! its [`Body`].
//!
//! All entries are hints for [`placement`](super::placement), so every access is Relaxed.

use super::thread::Body;
use crate::sync_shim::{AtomicUsize, Ordering};
use std::ptr;

/// Slots of the table. Two kinds that hash to one slot replace each other.
const SLOTS: usize = 256;
const IS_LONG: usize = 1;

/// Per slot, the address of a [`Body`] that was noted last; its lowest bit is set if hosts of that kind
/// compute for long.
#[derive(Debug)]
pub(super) struct Kinds([AtomicUsize; SLOTS]);

impl Kinds {
    pub(super) fn new() -> Self {
        Self([const { AtomicUsize::new(0) }; SLOTS])
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slot(&self, body: &'static Body) -> &AtomicUsize {
        let address = ptr::from_ref(body).addr();
        &self.0[((address / align_of::<Body>()) ^ (address / (align_of::<Body>() * SLOTS))) % SLOTS]
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_short(&self, body: &'static Body) -> bool {
        // Relaxed: a hint.
        self.slot(body).load(Ordering::Relaxed) == ptr::from_ref(body).addr()
    }

    pub(super) fn is_long(&self, body: &'static Body) -> bool {
        // Relaxed: a hint.
        self.slot(body).load(Ordering::Relaxed) == ptr::from_ref(body).addr() | IS_LONG
    }

    pub(super) fn note(&self, body: &'static Body, is_long: bool) {
        let kind = ptr::from_ref(body).addr() | if is_long { IS_LONG } else { 0 };
        // Relaxed (both): a hint. Stored only when it changes: other workers read the cache line at each
        // start.
        if self.slot(body).load(Ordering::Relaxed) != kind {
            self.slot(body).store(kind, Ordering::Relaxed);
        }
    }
}

const _: () = assert!(align_of::<Body>() > IS_LONG);
