//! How much of their stacks threads use, by spawn site.
//!
//! A page of a stack has memory from when it is first touched, so the lowest page that has some tells how far down the
//! stack has ever been used ([`PooledStack::high_water`]). Nothing is counted while threads run. But stacks are used
//! again, and a page may have been touched by a thread that had the stack before. So some threads are *measured*: before
//! one begins, the memory of its stack is given back, and what has memory when it ends it has used itself. Which ones,
//! [`Sampling`](crate::sched::worker::stacks::Sampling) says; that takes some microseconds each. Of the others that are there when
//! somebody asks, the lowest page is a bound.
//!
//! `stack_look` asks the workers, and measures.
//!
//! # Rejected
//! * To fill new stacks with a pattern: touches, and so takes, all of their memory.
//! * To measure each thread when it ends: a system call, and page faults, for each.
//!
//! # Checked by
//! `tests/inspect/stacks.rs`.

use super::answers::Answers;
use crate::sched::thread::{Kind, Thread};
use crate::sync_shim::watched::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::panic::Location;

/// The threads that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    /// `None`: hosts of the runtime's own.
    pub(crate) spawn_site: Option<&'static Location<'static>>,
    pub(crate) kind: Kind,
    /// Bytes of stack asked for.
    pub(crate) size: u32,
}

/// Bytes of stack that some threads have used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    /// The number of threads.
    pub(crate) threads: usize,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

/// What is known of a site.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Uses {
    /// The number of threads that are there now.
    pub(crate) threads: usize,
    /// Measured ones, also those that have ended.
    pub(crate) measured: Used,
    /// Others: each has used at most that.
    pub(crate) bounds: Used,
    /// What others use now, where they wait.
    pub(crate) now: Used,
}

/// What the runtime knows of the use of stacks, and the question to its workers.
pub(crate) struct StackUses {
    /// What measured threads that have ended had used. (Hashed without random keys: in a simulation they would be drawn from its chance.)
    pub(super) ended: Mutex<HashMap<Site, Used, BuildHasherDefault<DefaultHasher>>>,
    pub(super) answers: Answers<(usize, Site, Uses)>,
    /// Held by who asks: one question at a time.
    pub(super) one: Mutex<()>,
}

impl Used {
    pub(super) fn add(&mut self, bytes: usize) {
        self.join(Self { threads: 1, least: bytes, most: bytes });
    }

    pub(crate) fn join(&mut self, other: Self) {
        let least = if self.threads == 0 { other.least } else { self.least.min(other.least) };
        let most = self.most.max(other.most);
        *self = if other.threads == 0 {
            *self
        } else {
            Self { threads: self.threads + other.threads, least, most }
        };
    }
}

impl Uses {
    pub(crate) fn join(&mut self, other: Self) {
        self.threads += other.threads;
        self.measured.join(other.measured);
        self.bounds.join(other.bounds);
        self.now.join(other.now);
    }
}

impl StackUses {
    pub(crate) fn new() -> Self {
        Self { ended: Mutex::default(), answers: Answers::new(), one: Mutex::new(()) }
    }
}

impl Site {
    pub(super) fn of(thread: &Thread) -> Self {
        Self { spawn_site: thread.spawn_site(), kind: thread.kind, size: thread.label.stack_size }
    }
}
