//! The event loop of a worker on io_uring: a [`Source`] that has the kernel perform operations, and sleeps until some
//! are done.
//!
//! | file | content |
//! |---|---|
//! | `ring`, `here` | the two queues that a worker shares with the kernel; what the worker itself does with them |
//! | `help` | what an idle worker does with those of one that computes |
//! | `completion` | for whom a completion is |
//! | `call`, `future` | an operation for which a thread blocks; one that a future waits for |
//! | `op` | the operations, one a file |
//! | `place` | how many may keep a thread of the kernel's |
//! | `ahead`, `buffers` | multishots: what the kernel receives and accepts before a call asks for it |
//! | `probe` | whether this process may use io_uring |
//!
//! # Operations, and readiness
//! A thread that has to wait for a socket or a file has the kernel do the whole operation. What else waits for sockets
//! (futures, which may be dropped at any time, choices, threads outside of workers, datagrams) waits for readiness, as
//! with [`Epoll`]; an `Epoll` is a part of this source, and the ring watches it. So both back-ends have one meaning of
//! readiness, and one implementation of it.
//!
//! # When the kernel is entered
//! Entries are collected while threads run, and given to the kernel together when the worker looks for events (about
//! every 50 us) or sleeps. That is one system call for many operations, where each operation of its own is one.
//!
//! # Rejected
//! * Readiness by multishot polls of the ring: an entry is the owner's to add, so another thread could not register,
//!   move or remove a descriptor; a poll keeps its file open, so a socket dropped on another worker would stay
//!   connected until its owner enters the kernel.
//! * A ring that only its owner may enter (`SINGLE_ISSUER`, `DEFER_TASKRUN`): no other worker could serve it while its
//!   own computes. Measured in a loop that does nothing but echo: within the noise of the ring that
//!   is used here.
//! * To submit each operation at once: one system call each, as many as without io_uring.
//!
//! # Checked by
//! `model::entries`, `model::service`; `tests/io`, `tests/net` and `tests/uring` (with both back-ends: `LAMPREY_IO`), `uring::tests` (a queue that is full,
//! completions that overflow), under AddressSanitizer: `tests/uring/cancel.rs`, which ends operations at each moment.

pub(crate) mod ahead;
pub(crate) mod buffers;
mod call;
mod completion;
mod future;
mod help;
pub(crate) mod here;
pub(crate) mod op;
mod place;
pub(crate) mod probe;
pub(crate) mod ring;

use super::epoll::{Epoll, Fetched};
use super::service::Right;
use crate::kernel::REST;
use crate::sched::source::{Helper, Notifier, Source};
use completion::{BELL, Completion, WATCH, dispatch};
use here::Here;
use ring::Ring;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use completion::Answer;
pub(crate) use future::{Kept, Performed};

/// The event loop of io_uring: one ring for each worker. [`Io`](crate::Io) says when a runtime uses it.
#[derive(Debug)]
pub struct Uring {
    ring: Arc<Ring>,
    epoll: Epoll,
    /// The ring watches the epoll instance.
    is_watching: bool,
    /// The ring watches the bell.
    is_listening: bool,
    /// The bell has rung since the last wait.
    notified: bool,
    /// Which of the epoll instance's events have been fetched. (The ring says once that there are some.)
    fetched: Fetched,
    found: Vec<Completion>,
}

impl Uring {
    /// An event loop for the calling kernel thread, which must be that of the worker that will own it.
    ///
    /// # Errors
    /// `Unsupported`, or the kernel's, if io_uring cannot be used here; the kernel's when it is out of descriptors or
    /// memory.
    pub fn new() -> io::Result<Self> {
        probe::probe()?;
        let epoll = Epoll::new()?;
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        Ok(Self {
            ring: Ring::install(bell)?,
            epoll,
            is_watching: false,
            is_listening: false,
            notified: false,
            fetched: Fetched::All,
            found: Vec::new(),
        })
    }

    fn here(&self) -> Here {
        match here::of_thread() {
            Some(here) if std::ptr::eq(&*here, &*self.ring) => here,
            _ => crate::bug::bug!("an event loop on another kernel thread than that of its worker"),
        }
    }

    /// Dispatches what the kernel has done, and the events of the epoll instance if it has some.
    fn serve(&mut self, right: &mut Right<'_, Completion>) {
        self.found.append(&mut right.kept);
        self.ring.take(&mut self.found);
        for (which, goes_on) in self.found.iter().filter_map(Completion::of_source) {
            if which == WATCH {
                (self.is_watching, self.fetched) = (goes_on, Fetched::Some);
            } else {
                (self.is_listening, self.notified) = (goes_on, true);
            }
        }
        dispatch(&mut self.found);
        match self.fetched {
            Fetched::All => self.epoll.is_served(),
            Fetched::Some | Fetched::Failed => self.fetched = self.epoll.poll_many(),
        }
        self.watch();
    }

    /// Has the ring watch the epoll instance, and the bell.
    fn watch(&mut self) {
        let here = self.here();
        if !std::mem::replace(&mut self.is_watching, true) {
            let entry = op::poll::readable_again_and_again(&self.epoll).user_data(WATCH);
            // SAFETY: the instance is closed after the ring has retired (`drop`).
            unsafe { here.push(&entry) };
        }
        if !std::mem::replace(&mut self.is_listening, true) {
            let entry = op::poll::readable_again_and_again(&self.ring.bell).user_data(BELL);
            // SAFETY: closed after the ring has retired, or later: notifiers have it, too.
            unsafe { here.push(&entry) };
        }
    }
}

impl Source for Uring {
    fn poll(&mut self) {
        let here = self.here();
        here.submit_if_needed();
        // Otherwise a helper is about to do it.
        if let Some(mut right) = here.service.try_hold() {
            self.serve(&mut right);
        }
    }

    fn active(&self) -> bool {
        self.epoll.active()
            || self.ring.in_flight() > usize::from(self.is_watching) + usize::from(self.is_listening)
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        self.watch();
        let here = self.here();
        let mut right = here.service.hold();
        let must_look = std::mem::take(&mut self.notified) || !right.kept.is_empty();
        match self.fetched {
            Fetched::All if !must_look => here.wait(timeout),
            // The ring does not tell of them again.
            Fetched::Failed if !must_look => here.wait(Some(timeout.unwrap_or(REST).min(REST))),
            _ => here.submit_if_needed(),
        }
        self.serve(&mut right);
        self.notified = false;
    }

    fn notifier(&self) -> Option<Notifier> {
        let bell = Arc::clone(&self.ring.bell);
        Some(Notifier::new(move || super::epoll::ring(&bell)))
    }

    fn helper(&self) -> Option<Helper> {
        let (epoll, ring) = (self.epoll.helper(), Arc::downgrade(&self.ring));
        Some(Helper::new(move || {
            epoll.iter().for_each(Helper::help);
            if let Some(ring) = ring.upgrade() {
                help::help(&ring);
            }
        }))
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        self.ring.retire();
    }
}

#[cfg(test)]
mod tests;
