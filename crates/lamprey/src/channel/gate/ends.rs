//! How many ends a gate channel has. Changed in sections only; whoever looks at the threads that wait reads it without the lock.

use super::{Gate, Section};
use crate::sched::made::Counted;
use std::mem::offset_of;
use std::panic::Location;

impl<S> Gate<S> {
    /// The gate of a channel that has an end of each kind.
    #[track_caller]
    pub(in crate::channel) fn of_channel(state: S) -> Self {
        Self::with_ends(state, Counted::new(Location::caller(), offset_of!(Self, counted)))
    }
}

impl<S> Section<'_, S> {
    pub(in crate::channel) fn add_sender(&mut self) {
        self.counted.senders.add();
    }

    pub(in crate::channel) fn add_receiver(&mut self) {
        self.counted.receivers.add();
    }

    /// Counts a sender out; true if it was the last.
    pub(in crate::channel) fn remove_sender(&mut self) -> bool {
        self.counted.senders.remove()
    }

    /// Counts a receiver out; true if it was the last.
    pub(in crate::channel) fn remove_receiver(&mut self) -> bool {
        self.counted.receivers.remove()
    }

    pub(in crate::channel) fn senders(&self) -> u32 {
        self.counted.senders.get()
    }

    pub(in crate::channel) fn receivers(&self) -> u32 {
        self.counted.receivers.get()
    }

    /// There are ends now that are not counted.
    pub(in crate::channel) fn note_weak(&mut self) {
        self.counted.note_weak();
    }
}
