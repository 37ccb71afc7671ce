//! Multishots: operations that the kernel repeats by itself, so that bytes and connections are there before a call asks
//! for them. One [`Ahead`] for each socket of the kernel's, shared by the clones that this program has made of it.
//!
//! # States
//! ```text
//! idle --a call finds nothing, on a worker with a ring--> armed --the kernel's last answer--> idle
//! ```
//! While it is armed, whatever arrives goes into the queue, and calls take it from there only. While it is idle, calls
//! take what is in the queue, and then make the system call.
//!
//! # Invariants
//! 1. Nothing is lost or reordered: while it is armed no call reads the socket itself; when the last answer has come,
//!    the queue is emptied first.
//! 2. What arrives makes an edge in the [`Readiness`] of each clone, after it is in the queue; so does the last answer.
//!    So who has found the queue empty, and waits for the next edge, is woken.
//! 3. At most [`Arrival::MOST`] are in the queue, and what the kernel delivers before it has heard of that: then the
//!    operation is given up, and armed again when a call finds nothing. So who does not read is not read for.
//! 4. The kernel has a count of the [`Queue`] while it is armed. An [`Ahead`] that is dropped gives the operation up,
//!    which keeps the kernel's socket open.
//!
//! 5. It belongs to one process. In a child made by `fork` it begins anew, idle and without what has arrived: the parent's ring goes
//!    on, and gives all of that to the parent. (What is forgotten there is not given back: the buffers are in the parent's ring.)
//!
//! # A shortage of buffers
//! The kernel gives up; the next call makes the system call itself, and waits for readiness if there is nothing.

use super::buffers::{GROUP, Piece};
use super::completion::{Answer, Header, data_of_header};
use super::here::{Here, here};
use super::ring::Ring;
use crate::driver::readiness::Readiness;
use crate::kernel::fork::Process;
use crate::sync_shim::{Mutex, MutexGuard};
use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError, Weak};

/// What arrives.
pub(crate) trait Arrival: Sized + Send + 'static {
    /// How many are kept for later calls.
    const MOST: usize;
    /// Nothing comes after an error.
    const ENDS_WITH_AN_ERROR: bool;

    /// The operation that the kernel is to repeat.
    ///
    /// # Errors
    /// The kernel's, when it cannot be given buffers.
    fn entry(here: Here, socket: BorrowedFd<'_>) -> io::Result<squeue::Entry>;

    /// What an answer without an error brings; `None` for the end of a stream.
    fn of(ring: &Ring, answer: Answer) -> Option<Self>;
}

impl Arrival for Piece {
    const MOST: usize = 16;
    const ENDS_WITH_AN_ERROR: bool = true;

    fn entry(here: Here, socket: BorrowedFd<'_>) -> io::Result<squeue::Entry> {
        here.buffers()?;
        Ok(opcode::RecvMulti::new(Fd(socket.as_raw_fd()), GROUP).build())
    }

    fn of(ring: &Ring, answer: Answer) -> Option<Self> {
        let piece = Piece::new(ring.buffers().ok()?, answer.buffer()?, answer.value().ok()?);
        (answer.result > 0).then_some(piece)
    }
}

impl Arrival for OwnedFd {
    const MOST: usize = 64;
    /// Most errors of `accept` are those of one connection.
    const ENDS_WITH_AN_ERROR: bool = false;

    fn entry(_: Here, socket: BorrowedFd<'_>) -> io::Result<squeue::Entry> {
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        Ok(opcode::AcceptMulti::new(Fd(socket.as_raw_fd())).flags(flags).build())
    }

    fn of(_: &Ring, answer: Answer) -> Option<Self> {
        // SAFETY: the kernel has just opened it for this answer, which is looked at once.
        answer.value().ok().map(|fd| unsafe { Self::from_raw_fd(fd as i32) })
    }
}

/// What the kernel does ahead for one socket.
pub(crate) struct Ahead<T: Arrival>(Arc<Queue<T>>);

#[repr(C)]
struct Queue<T> {
    /// The first field: a pointer to it is one to the queue.
    header: Header,
    state: Mutex<State<T>>,
}

struct State<T> {
    arrived: VecDeque<T>,
    /// To be said once, after what has arrived.
    error: Option<Errno>,
    /// No more will come.
    has_ended: bool,
    armed: Option<Arc<Ring>>,
    /// The operation has been asked to end.
    is_to_end: bool,
    /// The next call does not arm: there were no buffers, or the program has switched it off.
    is_passed_over: bool,
    is_off: bool,
    readers: Vec<Weak<Readiness>>,
    process: Process,
}

/// What a call finds.
pub(crate) enum Found<R> {
    Arrived(R),
    End,
    /// Said once.
    Error(Errno),
    /// It will arrive: to be waited for.
    Nothing,
    /// The system call says.
    Unknown,
}

impl<T: Arrival> Ahead<T> {
    pub(crate) fn new() -> Self {
        let state = State {
            arrived: VecDeque::new(),
            error: None,
            has_ended: false,
            armed: None,
            is_to_end: false,
            is_passed_over: false,
            is_off: false,
            readers: Vec::new(),
            process: Process::this(),
        };
        Self(Arc::new(Queue { header: Header { complete: complete::<T> }, state: Mutex::new(state) }))
    }

    /// Whoever waits for `readiness` waits for this, too.
    pub(crate) fn serve(&self, readiness: &Arc<Readiness>) {
        let mut state = self.0.state();
        state.readers.retain(|reader| reader.strong_count() != 0);
        state.readers.push(Arc::downgrade(readiness));
        readiness.set_served(state.armed.is_some());
    }

    /// Switches it off, or on again. What has arrived is still there for calls.
    pub(crate) fn set_on(&self, on: bool) {
        let mut state = self.0.state();
        state.is_off = !on;
        if !on {
            self.0.give_up(&mut state);
        }
    }

    /// True if nothing would be lost with this.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.0.state();
        state.arrived.is_empty() && state.armed.is_none()
    }

    /// Gives what has arrived to `take`, which must take something; arms if there is nothing.
    pub(crate) fn find<R>(
        &self,
        socket: BorrowedFd<'_>,
        take: impl FnOnce(&mut VecDeque<T>) -> R,
    ) -> Found<R> {
        let mut state = self.0.state();
        if !state.arrived.is_empty() {
            return Found::Arrived(take(&mut state.arrived));
        }
        if let Some(error) = state.error.take() {
            return Found::Error(error);
        }
        if state.has_ended {
            return Found::End;
        }
        if state.armed.is_some() {
            return Found::Nothing;
        }
        if std::mem::take(&mut state.is_passed_over) || state.is_off {
            return Found::Unknown;
        }
        // A thread that unwinds cannot wait for what the kernel receives.
        let ring = here().filter(|_| !crate::sched::must_not_block());
        match ring.map(|here| self.arm(&mut state, here, socket)) {
            Some(Ok(())) => Found::Nothing,
            Some(Err(_)) | None => Found::Unknown,
        }
    }

    fn arm(&self, state: &mut State<T>, here: Here, socket: BorrowedFd<'_>) -> io::Result<()> {
        let entry = T::entry(here, socket)?.user_data(self.0.data());
        std::mem::forget(Arc::clone(&self.0)); // the kernel's count
        // SAFETY: the queue stays for the kernel's count. The socket is open until the kernel has taken the entry, which
        // it does now: it may be closed by another thread after that.
        unsafe { here.push(&entry) };
        here.submit();
        (state.armed, state.is_to_end) = (Some(here.shared()), false);
        state.set_served(true);
        Ok(())
    }
}

impl<T: Arrival> Drop for Ahead<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_off = true;
        self.0.give_up(&mut state);
        let left = std::mem::take(&mut state.arrived);
        drop(state);
        drop(left);
    }
}

impl<T> Queue<T> {
    fn data(self: &Arc<Self>) -> u64 {
        // SAFETY: from an `Arc`, so not null.
        data_of_header(unsafe { NonNull::new_unchecked(Arc::as_ptr(self).cast_mut().cast::<Header>()) })
    }

    /// Asks the kernel to end the operation, once.
    fn give_up(self: &Arc<Self>, state: &mut State<T>) {
        if let Some(ring) = &state.armed
            && !std::mem::replace(&mut state.is_to_end, true)
        {
            ring.cancel_from_anywhere(self.data());
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.process.is_this() {
            state.begin_anew();
        }
        state
    }
}

impl<T> State<T> {
    /// In a child made by `fork`.
    #[cold]
    fn begin_anew(&mut self) {
        std::mem::forget((std::mem::take(&mut self.arrived), self.armed.take()));
        (self.process, self.is_to_end) = (Process::this(), false);
        self.set_served(false);
    }

    fn set_served(&self, on: bool) {
        self.readers.iter().filter_map(Weak::upgrade).for_each(|reader| reader.set_served(on));
    }
}

/// # Safety
/// The header of a `Queue<T>`; the caller has the kernel's count if this is the last answer.
unsafe fn complete<T: Arrival>(header: NonNull<Header>, answer: Answer) {
    let queue = header.as_ptr().cast::<Queue<T>>();
    // SAFETY: the kernel's count (contract); the header is the queue's first field. The second count is for this call.
    let queue = unsafe {
        if answer.is_to_go_on() {
            Arc::increment_strong_count(queue);
        }
        Arc::from_raw(queue)
    };
    let mut state = queue.state();
    let refused = take_in(&mut state, answer);
    if !answer.is_to_go_on() {
        state.armed = None;
        state.set_served(false);
    } else if state.arrived.len() >= T::MOST {
        queue.give_up(&mut state);
    }
    let readers: Vec<_> = state.readers.iter().filter_map(Weak::upgrade).collect();
    drop(state);
    drop(refused);
    readers.iter().for_each(|reader| reader.edge_unseen(true, false));
}

/// Keeps what an answer brings; returns it if nobody will want it.
fn take_in<T: Arrival>(state: &mut State<T>, answer: Answer) -> Option<T> {
    let ring = state.armed.clone()?;
    match -answer.result {
        error if error > 0 => match error {
            libc::ECANCELED | libc::EINTR => {}
            libc::ENOBUFS | libc::EMFILE | libc::ENFILE | libc::ENOMEM => state.is_passed_over = true,
            error => {
                state.has_ended |= T::ENDS_WITH_AN_ERROR;
                state.error = Some(Errno::from_raw_os_error(error));
            }
        },
        _ => match T::of(&ring, answer) {
            Some(arrived) if state.readers.iter().all(|reader| reader.strong_count() == 0) => {
                return Some(arrived);
            }
            Some(arrived) => state.arrived.push_back(arrived),
            None => state.has_ended = true,
        },
    }
    None
}
