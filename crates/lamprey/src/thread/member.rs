//! What a host belongs to.

use super::JoinError;
use crate::sched::thread::Thread;
use std::ptr::NonNull;

/// What a host belongs to beside its handle: nothing, or a scope.
pub(crate) trait Member {
    /// What outlives the membership.
    type Group: Copy;
    /// The object is there; the host has not been given to a scheduler.
    fn enter(&self, thread: NonNull<Thread>);
    /// The host is about to be published, and may be its handle's alone after that.
    fn leave(&self) -> Self::Group;
    /// After `leave`: it has been published, and the handle has it.
    fn left(group: Self::Group);
    /// Nobody has the host but the scheduler, and its outcome has been dropped.
    fn gone(&self);
    /// It has ended without a result: the error for its handle.
    fn failed(&self, error: JoinError) -> JoinError;
}
