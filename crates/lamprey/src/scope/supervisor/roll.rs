//! The roll of a supervisor: the names of its children, and the children that have been added while it runs.
//!
//! Handles add and look up; the supervisor's loop admits, and strikes off who has ended for good.
//!
//! # Invariants
//! 1. A name is in the roll from the call that adds its child until that child has ended and will not be started
//!    again, and its closure has been dropped: then the name can be used again.
//! 2. The supervisor ends by [`close_if_done`](Roll::close_if_done) or by [`close`](Roll::close). After either
//!    nothing is added, and before it nothing is forgotten: so an `add` that succeeded was seen by the loop, unless
//!    the supervisor was being stopped.
//! 3. No code of the program runs within the lock.

use super::{Child, IVar};
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, PoisonError};

/// Why [`SupervisorHandle::add`](super::SupervisorHandle::add) has added nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddError {
    /// There is a child of this name.
    NameTaken(String),
    /// The supervisor has ended.
    Ended,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken(name) => {
                write!(f, "the supervisor has a child `{name}` already; give each a name of its own")
            }
            Self::Ended => f.write_str("the supervisor has ended, and starts no children any more"),
        }
    }
}

impl Error for AddError {}

pub(super) struct Roll<E>(Mutex<List<E>>);

struct List<E> {
    names: BTreeMap<Arc<str>, Entry>,
    /// Added, and not yet admitted by the loop.
    waiting: Vec<(usize, Child<'static, E>)>,
    next: usize,
    is_closed: bool,
}

/// A child of the roll.
#[derive(Clone)]
pub(super) struct Entry {
    /// Its number: children are numbered in the order in which they are added.
    pub(super) child: usize,
    /// Filled when it is struck off.
    pub(super) left: IVar<()>,
}

impl<E> Roll<E> {
    pub(super) fn new() -> Self {
        let (names, waiting) = (BTreeMap::new(), Vec::new());
        Self(Mutex::new(List { names, waiting, next: 0, is_closed: false }))
    }

    fn list(&self) -> MutexGuard<'_, List<E>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters the name of a child that the supervisor has before it runs; its number.
    pub(super) fn enter(&self, name: &Arc<str>) -> Result<usize, AddError> {
        self.list().enter(name)
    }

    /// Adds a child for the loop to admit.
    pub(super) fn add(&self, child: Child<'static, E>) -> Result<(), AddError> {
        let mut list = self.list();
        let number = list.enter(&child.name)?;
        list.waiting.push((number, child));
        Ok(())
    }

    pub(super) fn find(&self, name: &str) -> Option<Entry> {
        self.list().names.get(name).cloned()
    }

    /// In the order in which they were added.
    pub(super) fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<_> =
            self.list().names.iter().map(|(name, entry)| (entry.child, name.clone())).collect();
        names.sort_unstable_by_key(|(child, _)| *child);
        names.into_iter().map(|(_, name)| name).collect()
    }

    /// The children that have been added since the last call, with their numbers.
    pub(super) fn admit(&self) -> Vec<(usize, Child<'static, E>)> {
        std::mem::take(&mut self.list().waiting)
    }

    /// Strikes off a child that has ended for good.
    pub(super) fn leave(&self, name: &str) {
        let entry = self.list().names.remove(name);
        if let Some(entry) = entry {
            let _ = entry.left.put(()); // only who strikes it off fills it
        }
    }

    /// Ends the roll if no child waits to be admitted; false if one does.
    pub(super) fn close_if_done(&self) -> bool {
        let mut list = self.list();
        list.is_closed |= list.waiting.is_empty();
        list.is_closed
    }

    /// Ends the roll: strikes off everybody.
    pub(super) fn close(&self) {
        let mut list = self.list();
        list.is_closed = true;
        let (names, waiting) = (std::mem::take(&mut list.names), std::mem::take(&mut list.waiting));
        drop(list);
        crate::sched::drops::drop_quietly(waiting);
        for entry in names.into_values() {
            let _ = entry.left.put(());
        }
    }
}

impl<E> List<E> {
    fn enter(&mut self, name: &Arc<str>) -> Result<usize, AddError> {
        if self.is_closed {
            return Err(AddError::Ended);
        }
        if self.names.contains_key(name) {
            return Err(AddError::NameTaken(name.as_ref().to_owned()));
        }
        let child = self.next;
        self.next += 1;
        self.names.insert(name.clone(), Entry { child, left: IVar::new() });
        Ok(child)
    }
}
