//! An operation that a future waits for. The record, and all that the entry names, belong to the ring until the last
//! answer, so the future may be dropped at any time.
//!
//! # States
//! ```text
//! Waiting --the answer--> Done --polled--> (the future has what was kept)
//!         --dropped-----> Abandoned --the answer--> freed, with what was kept
//! ```
//!
//! # Invariants
//! * There are two counts: the future's, and the kernel's until the last answer.
//! * `kept` is the kernel's until the answer. Then it is taken once: by the poll, or by whoever brings the answer to an
//!   abandoned record.
//! * The file is given back with the answer, before the future is polled: it may have been forgotten, and whoever
//!   closes the file waits for that.

use super::completion::{Answer, Header, data_of_header};
use super::here::Here;
use super::ring::Ring;
use crate::sched::record::io::KernelWait;
use crate::sched::{self, Wait, coop, wakers};
use crate::sync_shim::watched::{Mutex, MutexGuard};
use io_uring::squeue;
use std::fs::File;
use std::future::Future;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

/// What an operation of a future needs until the answer, besides the file.
pub(crate) trait Kept: Send + 'static {
    /// What it was made of.
    type Given;

    /// The operation was not performed.
    fn give_back(self) -> Self::Given;

    /// The answer says that the operation was not performed.
    fn is_given_up(answer: Answer) -> bool {
        answer.is_given_up()
    }

    /// Nobody waits for the answer any more: undoes what the operation has done.
    fn abandoned(self, answer: Answer)
    where
        Self: Sized,
    {
        let _ = answer;
    }
}

#[repr(C)]
struct Record<K> {
    /// The first field: a pointer to it is one to the record.
    header: Header,
    ring: Arc<Ring>,
    /// What it is, for the recorder.
    io: KernelWait,
    state: Mutex<State<K>>,
}

enum State<K> {
    Waiting(K, OfFile, Option<Waker>),
    Abandoned(K, OfFile),
    Done(K, Answer),
    Taken,
}

/// The file that the operation is about, if that is open already.
type OfFile = Option<Arc<File>>;

/// A future: the kernel's answer to an operation, with what was kept for it.
#[must_use]
pub(crate) struct Performed<K: Kept>(Arc<Record<K>>);

/// Begins an operation. What `K` keeps behind pointers is the kernel's until the answer.
///
/// # Safety
/// The entry names only `file` and what `kept` keeps, and that stays in place when `kept` is moved.
pub(super) unsafe fn begin<K: Kept>(here: Here, file: OfFile, kept: K, entry: squeue::Entry) -> Performed<K> {
    let io = KernelWait::new(Wait::File, file.as_ref().map_or(-1, |file| file.as_raw_fd()));
    io.begins();
    let record = Arc::new(Record {
        header: Header { complete: complete::<K> },
        ring: here.shared(),
        io,
        state: Mutex::new(State::Waiting(kept, file, None)),
    });
    let kernels = Arc::into_raw(Arc::clone(&record)).cast_mut().cast::<Header>();
    // SAFETY: from an `Arc`, so not null.
    let data = data_of_header(unsafe { NonNull::new_unchecked(kernels) });
    // SAFETY: what the entry names is in the record (contract), which the kernel's count keeps until its answer.
    unsafe { here.keep_back(entry.user_data(data)) };
    Performed(record)
}

/// # Safety
/// The header of a `Record<K>`; the caller has the kernel's count, and this is the last answer.
unsafe fn complete<K: Kept>(header: NonNull<Header>, answer: Answer) {
    // SAFETY: the kernel's count (contract); the header is the record's first field.
    let record = unsafe { Arc::from_raw(header.as_ptr().cast::<Record<K>>()) };
    let mut state = record.state();
    match std::mem::replace(&mut *state, State::Taken) {
        State::Waiting(kept, file, waker) => {
            *state = State::Done(kept, answer);
            drop(state);
            drop(file);
            waker.into_iter().for_each(wakers::wake);
        }
        State::Abandoned(kept, file) => {
            drop(state);
            drop(file);
            kept.abandoned(answer);
        }
        State::Done(..) | State::Taken => crate::bug::bug!("an operation with two answers"),
    }
}

impl<K> Record<K> {
    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Kept> Future for Performed<K> {
    type Output = (K, Answer);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        coop::look_by_poll(context);
        let waker = context.waker().clone();
        sched::note(context, self.0.io.wait);
        let mut state = self.0.state();
        let before = match &mut *state {
            State::Waiting(_, _, place) => place.replace(waker),
            _ => match std::mem::replace(&mut *state, State::Taken) {
                State::Done(kept, answer) => {
                    self.0.io.ends(answer.result);
                    return Poll::Ready((kept, answer));
                }
                _ => panic!("a future was polled after it was ready"),
            },
        };
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl<K: Kept> Drop for Performed<K> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let before = match std::mem::replace(&mut *state, State::Taken) {
            State::Waiting(kept, file, waker) => {
                *state = State::Abandoned(kept, file);
                drop(state);
                self.give_up();
                return drop(waker);
            }
            before => before,
        };
        drop(state);
        if let State::Done(kept, answer) = before {
            kept.abandoned(answer);
        }
    }
}

impl<K: Kept> Performed<K> {
    /// An operation that the kernel does not have yet is withdrawn: it has no effect.
    fn give_up(&self) {
        // SAFETY: from an `Arc`, so not null.
        let header = unsafe { NonNull::new_unchecked(Arc::as_ptr(&self.0).cast_mut().cast::<Header>()) };
        self.0.ring.leave(data_of_header(header), self.0.clone());
    }
}
