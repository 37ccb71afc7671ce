//! Which kinds of hosts compute for long: hints for [`placement`](super::placement), hence Relaxed.

use super::thread::Body;
use crate::sync_shim::{AtomicUsize, Ordering};
use std::ptr;

/// Kinds that are remembered; others of the same place are forgotten.
const SLOTS: usize = 256;
const IS_LONG: usize = 1;

/// What is known of the kinds of hosts: the address of a [`Body`], odd if hosts of that kind compute for
/// long.
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
        // Relaxed (both): a hint. It is written only where it changes: others read the line at each start.
        if self.slot(body).load(Ordering::Relaxed) != kind {
            self.slot(body).store(kind, Ordering::Relaxed);
        }
    }
}

const _: () = assert!(align_of::<Body>() > IS_LONG);
