//! A host's membership in a scope.

use super::JoinError;
use crate::sched::scope_info::ScopeInfo;
use crate::sched::thread::Thread;
use std::ptr::NonNull;

/// The membership that a host's join cell holds: in no scope (`()`), or in one.
pub(crate) trait Member {
    /// What [`leave`](Self::leave) returns, for use after the join cell may be gone.
    type Group: Copy;
    /// Called when the join cell is initialized, before a scheduler has the host.
    fn enter(&self, thread: NonNull<Thread>);
    /// Called before the outcome is published; after that the handle may free the join cell.
    fn leave(&self) -> Self::Group;
    /// Called after `leave`, when the outcome has been published to the handle.
    fn left(group: Self::Group);
    /// Called instead of `left` for a detached host, when its outcome has been dropped.
    fn gone(&self);
    /// True of a membership in a scope.
    const IS_ONE: bool;
    /// The scope, until the member has left it. Called while the member is suspended, on its worker's kernel thread.
    fn scope(&self) -> Option<ScopeInfo>;
    /// The host has ended without a result; returns the error for its handle.
    fn failed(&self, error: JoinError) -> JoinError;
}
